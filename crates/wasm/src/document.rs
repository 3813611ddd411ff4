//! Texts of scenarios: values for the simulator, and places for an editor.

use crate::reader;
use ackclock_sim::document::{self, Checked};
use ackclock_sim::model::Scenario;
use ackclock_text::{Node, Step, Tree, Value as Read, read_yaml};
use serde_json::{Value, json};

/// A text that was read.
#[derive(Default)]
pub struct Document {
    tree: Option<Tree>,
    /// The document, if it can be run.
    pub checked: Option<Checked>,
}

impl Document {
    /// Reads and checks a text; what is wrong with it, and what is probably not meant, as JSON.
    pub fn of(text: &str) -> (Self, Value) {
        let tree = match read_yaml(text) {
            Ok(tree) => tree,
            Err(problems) => {
                let problems = problems.iter().map(|problem| {
                    let place = problem.place.map(|place| (place.line, place.column));
                    json!({
                        "message": problem.message,
                        "value": problem.value,
                        "hint": problem.hint,
                        "path": "",
                        "line": place.map(|place| place.0),
                        "column": place.map(|place| place.1),
                    })
                });
                let problems = problems.collect::<Value>();
                return (Self::default(), json!({ "problems": problems, "warnings": [] }));
            }
        };
        let root = tree.as_ref().map(Tree::root);
        let data = root.map_or(Value::Null, Node::json);
        let mut checked = document::check(&data);
        let place = |problem: &document::Problem| placed(root, &data, problem);
        let mut problems: Vec<Value> = checked.problems.iter().map(place).collect();
        let warnings: Value = checked.warnings.iter().map(place).collect();
        if let Some(scenario) = &checked.scenario {
            for problem in programs(scenario) {
                problems.push(placed(root, &data, &problem));
            }
        }
        if !problems.is_empty() {
            checked.scenario = None;
        }
        problems.sort_by_key(|problem| (problem["line"].as_u64(), problem["column"].as_u64()));
        let answer = json!({ "problems": problems, "warnings": warnings });
        let checked = checked.scenario.is_some().then_some(checked);
        (Self { tree, checked }, answer)
    }

    /// All values with their places: `[path, line, column, value]`, null for lists and mappings.
    pub fn outline(&self) -> Value {
        let mut found = Vec::new();
        if let Some(tree) = &self.tree {
            walk(tree.root(), &mut Vec::new(), &mut found);
        }
        Value::Array(found)
    }
}

/// What only Python can run: congestion control and queues that are programs.
fn programs(scenario: &Scenario) -> Vec<document::Problem> {
    use document::Step::{Index, Key};
    let flows = scenario.flows.iter().enumerate().filter(|(_, flow)| reader::is_program(flow));
    let links = scenario.links.iter().enumerate().filter(|(_, link)| {
        [&link.forward, &link.backward].iter().any(|way| way.queue.kind == "python")
    });
    let found = flows
        .map(|(place, _)| ("algorithms", "flows", place, vec!["tcp", "cc"]))
        .chain(links.map(|(place, _)| ("queues", "links", place, vec!["queue"])));
    let problem = |(what, list, place, inner): (&str, &str, usize, Vec<&str>)| document::Problem {
        path: [Key(list.into()), Index(place)]
            .into_iter()
            .chain(inner.into_iter().map(|key| Key(key.into())))
            .collect(),
        value: Value::Null,
        message: format!("{what} in Python do not run in a browser"),
        allowed: None,
        hint: Some("run this scenario with `ackclock run`".into()),
    };
    found.map(problem).collect()
}

fn placed(root: Option<Node<'_>>, data: &Value, problem: &document::Problem) -> Value {
    let steps: Vec<Step> = problem
        .path
        .iter()
        .map(|step| match step {
            document::Step::Key(key) => Step::Key(key.as_str().into()),
            document::Step::Index(index) => Step::Index(*index),
        })
        .collect();
    let unknown = problem.message.starts_with("unknown key");
    let file = unknown && steps.last() == Some(&Step::Key("file".into()));
    let place = root.map(|root| root.locate(&steps, unknown));
    let hint =
        if file { Some("files cannot be read in a browser") } else { problem.hint.as_deref() };
    json!({
        "path": described(data, &problem.path),
        "value": problem.value,
        "message": problem.message,
        "allowed": problem.allowed,
        "hint": hint,
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
    })
}

/// A path as `--set` writes it, with names in the place of numbers: `links.L1.rate`.
fn described(data: &Value, path: &[document::Step]) -> String {
    let (mut words, mut inner) = (Vec::new(), Some(data));
    for step in path {
        match step {
            document::Step::Key(key) => {
                inner = inner.and_then(|value| value.get(key));
                words.push(key.clone());
            }
            document::Step::Index(index) => {
                inner = inner.and_then(|value| value.get(index));
                let id = inner.and_then(|value| value.get("id")?.as_str());
                words.push(id.map_or_else(|| index.to_string(), str::to_owned));
            }
        }
    }
    words.join(".")
}

fn walk(node: Node<'_>, path: &mut Vec<Value>, found: &mut Vec<Value>) {
    let inner = match node.value() {
        Read::List(_) | Read::Map(_) => Value::Null,
        _ => node.json(),
    };
    found.push(json!([path, node.place().line, node.place().column, inner]));
    match node.value() {
        Read::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index.into());
                walk(item, path, found);
                path.pop();
            }
        }
        Read::Map(map) => {
            for entry in map.iter() {
                path.push(entry.key.into());
                walk(entry.node, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: two\nhosts: [A, B]\nlinks: [{id: L1, between: [A, B], rate: 1 Mbps, delay: 1 ms}]\n\
                        flows: [{id: F1, from: A, to: B, send: 1 MB}]\n\
                        stop: {at_latest: 9 s}\n";

    #[test]
    fn problems_have_lines_and_paths_with_names() {
        let (document, answer) = Document::of(&GOOD.replace("1 Mbps", "1 Mbpz"));
        assert!(document.checked.is_none());
        let problem = &answer["problems"][0];
        assert_eq!(problem["path"], "links.L1.rate");
        assert_eq!((&problem["line"], &problem["column"]), (&json!(3), &json!(41)));
    }

    #[test]
    fn a_text_that_is_not_yaml_is_a_problem_with_a_line() {
        let (_, answer) = Document::of("name: [a\nb: 1");
        assert!(answer["problems"][0]["line"].is_u64(), "{answer}");
    }

    #[test]
    fn an_outline_leads_to_each_value() {
        let (document, answer) = Document::of(GOOD);
        assert_eq!(answer["problems"], json!([]));
        let outline = document.outline();
        let rows = outline.as_array().expect("a list");
        assert!(rows.contains(&json!([["links", 0, "rate"], 3, 41, "1 Mbps"])), "{outline}");
    }

    #[test]
    fn programs_and_files_are_refused() {
        let cc = "tcp: {cc: {kind: python, class: Mine, source: pass}}";
        let (document, answer) = Document::of(&GOOD.replace("send: 1 MB", cc));
        assert!(document.checked.is_none());
        assert_eq!(answer["problems"][0]["path"], "flows.F1.tcp.cc");
        let queue = "delay: 1 ms, queue: {kind: python, class: Mine, source: pass}";
        let (_, answer) = Document::of(&GOOD.replace("delay: 1 ms", queue));
        assert_eq!(answer["problems"][0]["path"], "links.L1.queue", "{answer}");
        let (_, answer) = Document::of(&GOOD.replace("1 MB", "{file: x.bin}"));
        assert!(!answer["problems"].as_array().expect("a list").is_empty());
    }
}
