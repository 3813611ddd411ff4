//! Figures of runs as rows of a table: a line of JSON for each run.

use crate::figures::Figure;
use serde_json::Value;

/// Which figures a row holds, and what they are called there.
///
/// That is said from outside. So what a figure is called and where it stands is defined in one place for
/// tables, files and sweeps.
#[derive(Debug)]
pub struct Layout {
    run: Vec<Column>,
    flows: Vec<Column>,
    links: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    /// Its name as JSON, with the colon.
    head: Vec<u8>,
    /// The keys that lead to its value.
    path: Vec<String>,
}

impl Layout {
    /// A layout as JSON text: `run`, `flows` and `links`, each an object of paths by the name of the column.
    ///
    /// A path is a list of keys into the summary, into a flow of it, or into a direction of a link of it;
    /// `id` is the name of the flow or link, and `direction` that of the direction.
    pub fn read(json: &str) -> Result<Self, String> {
        let layout: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let [run, flows, links] = ["run", "flows", "links"].map(|part| columns(&layout[part]));
        Ok(Self { run, flows, links })
    }

    /// Appends the row of a run that was done. What has no value is left out.
    pub fn done(&self, text: &mut Vec<u8>, key: &str, seed: u64, summary: &Figure<'_>) {
        start(text, key, seed, "done");
        figures(text, &self.run, summary, &[]);
        text.extend_from_slice(b",\"flows\":[");
        for (id, flow) in summary.get("flows").members() {
            entry(text, &self.flows, flow, &[("id", Figure::Word(id))]);
        }
        text.extend_from_slice(b"],\"links\":[");
        for (id, ways) in summary.get("links").members() {
            for (direction, way) in ways.members() {
                let place = [("id", Figure::Word(id)), ("direction", Figure::Word(direction))];
                entry(text, &self.links, way, &place);
            }
        }
        text.extend_from_slice(b"]}\n");
    }

    /// Appends the row of a run that failed: no figures, but the reason.
    pub fn failed(&self, text: &mut Vec<u8>, key: &str, seed: u64, error: &str) {
        start(text, key, seed, "failed");
        text.extend_from_slice(b",\"error\":");
        Figure::Word(error).write(text);
        text.extend_from_slice(b"}\n");
    }
}

fn columns(part: &Value) -> Vec<Column> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let column = |(name, path): (&String, &Value)| Column {
        head: format!("{}:", Value::from(&**name)).into_bytes(),
        path: path.as_array().into_iter().flatten().map(text).collect(),
    };
    part.as_object().into_iter().flatten().map(column).collect()
}

fn start(text: &mut Vec<u8>, key: &str, seed: u64, status: &str) {
    for (name, figure) in
        [("{\"key\":", key.into()), (",\"seed\":", seed.into()), (",\"status\":", status.into())]
    {
        text.extend_from_slice(name.as_bytes());
        Figure::write(&figure, text);
    }
}

/// Appends an element of a list: what an entry of a summary says, and the place where it stands.
fn entry(text: &mut Vec<u8>, columns: &[Column], entry: &Figure<'_>, place: &[(&str, Figure<'_>)]) {
    if text.last() != Some(&b'[') {
        text.push(b',');
    }
    let before = text.len();
    figures(text, columns, entry, place);
    // In the place of the first comma, if there is one.
    match text.get_mut(before) {
        Some(comma) => *comma = b'{',
        None => text.push(b'{'),
    }
    text.push(b'}');
}

/// Appends figures, each with a comma before it.
fn figures(
    text: &mut Vec<u8>,
    columns: &[Column],
    entry: &Figure<'_>,
    place: &[(&str, Figure<'_>)],
) {
    for column in columns {
        let named = place.iter().find(|(name, _)| column.path == [*name]);
        let value = match named {
            Some((_, own)) => own,
            None => column.path.iter().fold(entry, |inner, key| inner.get(key)),
        };
        if *value != Figure::None {
            text.push(b',');
            text.extend_from_slice(&column.head);
            value.write(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::group;
    use serde_json::json;

    fn layout() -> Layout {
        let layout = json!({
            "run": {"end": ["end_s"], "missing": ["no", "such"]},
            "flows": {"id": ["id"], "rtt": ["rtt_s", "mean"]},
            "links": {"used": ["utilization"], "id": ["id"], "direction": ["direction"]},
        });
        Layout::read(&layout.to_string()).unwrap()
    }

    fn rows(text: &[u8]) -> Vec<Value> {
        let lines = std::str::from_utf8(text).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn each_figure_stands_under_the_name_of_its_column() {
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
        let mut text = Vec::new();
        layout().done(&mut text, "k1", 7, &run(1.0));
        layout().done(&mut text, "k2", 8, &group! {"end_s": 2.5});
        let links = json!([
            {"id": "L", "direction": "forward", "used": 1.0},
            {"id": "L", "direction": "backward", "used": 0.25},
        ]);
        let flows = json!([{"id": "F1", "rtt": 0.5}, {"id": "F\""}]);
        let first = json!({
            "key": "k1", "seed": 7, "status": "done", "end": 1.0, "flows": flows, "links": links,
        });
        let second = json!({
            "key": "k2", "seed": 8, "status": "done", "end": 2.5, "flows": [], "links": [],
        });
        assert_eq!(rows(&text), [first, second]);
    }

    #[test]
    fn a_run_that_failed_says_why_in_one_line() {
        let mut text = Vec::new();
        layout().failed(&mut text, "k", 1, "two\nlines");
        let row = json!({"key": "k", "seed": 1, "status": "failed", "error": "two\nlines"});
        assert_eq!(rows(&text), [row]);
    }
}
