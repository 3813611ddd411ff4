//! Figures of many runs as columns: what a table with a row for each run holds.

use crate::figures::Figure;
use serde_json::Value;

/// Columns of runs, filled with the figures of one after the other.
///
/// Which columns there are is said from outside. So what a figure is called and where it stands is
/// defined in one place for tables, files and sweeps.
#[derive(Debug)]
pub struct Rows {
    run: Columns,
    flows: Columns,
    links: Columns,
}

impl Rows {
    /// Empty columns.
    ///
    /// `layout` has `run`, `flows` and `links`, each an object of paths by the name of the column. A path is
    /// a list of keys into the summary, into a flow of it, or into a direction of a link of it; `id` is the
    /// name of the flow or link, and `direction` that of the direction.
    pub fn new(layout: &Value) -> Self {
        let columns = |part: &str| Columns::new(&layout[part]);
        Self { run: columns("run"), flows: columns("flows"), links: columns("links") }
    }

    /// Adds a run.
    pub fn push(&mut self, summary: &Figure<'_>) {
        self.run.push(summary, &[]);
        for (id, flow) in summary.get("flows").members() {
            self.flows.push(flow, &[("id", Figure::Word(id))]);
        }
        for (id, ways) in summary.get("links").members() {
            for (direction, way) in ways.members() {
                let place = [("id", Figure::Word(id)), ("direction", Figure::Word(direction))];
                self.links.push(way, &place);
            }
        }
    }

    /// One list of values for each column, as JSON; those of flows and of links stand under these words.
    pub fn into_json(self) -> String {
        let [mut run, flows, links] = [self.run, self.flows, self.links].map(Columns::into_json);
        run.extend([
            format!("\"flows\":{{{}}}", flows.join(",")),
            format!("\"links\":{{{}}}", links.join(",")),
        ]);
        format!("{{{}}}", run.join(","))
    }
}

#[derive(Debug, Default)]
struct Columns(Vec<Column>);

#[derive(Debug)]
struct Column {
    name: String,
    /// The keys that lead to its value.
    path: Vec<String>,
    /// The values so far as JSON, each with a comma before it.
    values: Vec<u8>,
}

impl Columns {
    fn new(layout: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let keys = |path: &Value| path.as_array().into_iter().flatten().map(text).collect();
        let column = |(name, path): (&String, &Value)| Column {
            name: name.clone(),
            path: keys(path),
            values: Vec::new(),
        };
        Self(layout.as_object().into_iter().flatten().map(column).collect())
    }

    /// Adds what an entry of a summary says, and the place where it stands.
    fn push(&mut self, entry: &Figure<'_>, place: &[(&str, Figure<'_>)]) {
        for column in &mut self.0 {
            let named = place.iter().find(|(name, _)| column.path == [*name]);
            let value = match named {
                Some((_, own)) => own,
                None => column.path.iter().fold(entry, |inner, key| inner.get(key)),
            };
            column.values.push(b',');
            value.write(&mut column.values);
        }
    }

    fn into_json(self) -> Vec<String> {
        let list = |column: &Column| {
            let values = String::from_utf8_lossy(column.values.get(1..).unwrap_or_default());
            format!("{}:[{values}]", Value::from(&*column.name))
        };
        self.0.iter().map(list).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::group;
    use serde_json::json;

    #[test]
    fn each_figure_stands_under_the_name_of_its_column() {
        let layout = json!({
            "run": {"end": ["end_s"], "missing": ["no", "such"]},
            "flows": {"id": ["id"], "rtt": ["rtt_s", "mean"]},
            "links": {"id": ["id"], "direction": ["direction"], "used": ["utilization"]},
        });
        let run = |end: f64| {
            group! {
                "end_s": end,
                "flows": group! {"F1": group! {"rtt_s": group! {"mean": 0.5}}, "F\"": group! {}},
                "links": group! {
                    "L": group! {
                        "forward": group! {"utilization": 1.0},
                        "backward": group! {"utilization": 0.25},
                    },
                },
            }
        };
        let mut rows = Rows::new(&layout);
        rows.push(&run(1.0));
        rows.push(&run(2.5));
        let found: Value = serde_json::from_str(&rows.into_json()).unwrap();
        assert_eq!(
            found,
            json!({
                "end": [1.0, 2.5],
                "missing": [null, null],
                "flows": {"id": ["F1", "F\"", "F1", "F\""], "rtt": [0.5, null, 0.5, null]},
                "links": {
                    "id": ["L", "L", "L", "L"],
                    "direction": ["forward", "backward", "forward", "backward"],
                    "used": [1.0, 0.25, 1.0, 0.25],
                },
            })
        );
    }
}
