//! Documents as text, for Python: plain data, and the places of its values.

use ackclock_sim::document::{self, Checked, LISTS, Listed};
use ackclock_text::{Format, Node, Place, Problem, Step, Tree, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use serde_json::Map;
use std::collections::{BTreeMap, HashMap};

/// Line and column, from 1.
type Position = (u32, u32);

/// Message, value to show, hint, path and place of each problem.
type Problems<'py> = Vec<Bound<'py, PyTuple>>;

fn position(place: Place) -> Position {
    (place.line, place.column)
}

/// A document that was read from text.
#[pyclass(module = "ackclock._core", frozen)]
pub struct Text {
    tree: Tree,
}

impl Text {
    /// Checks the document. Elements of its lists become values when the check comes to them.
    pub fn check(&self) -> Checked {
        let root = self.tree.root();
        let Value::Map(map) = root.value() else { return document::check(&root.json()) };
        // What is too deep is found by a look at the whole.
        if self.tree.depth() > document::MOST_LEVELS {
            return document::check(&root.json());
        }
        let mut rest = Map::new();
        let mut listed = BTreeMap::new();
        for entry in map.iter() {
            let name = LISTS.into_iter().find(|name| *name == entry.key);
            match (name, entry.node.value()) {
                (Some(name), Value::List(list)) => {
                    let nodes: Vec<Node<'_>> = list.iter().collect();
                    let (count, get) =
                        (nodes.len(), Box::new(move |index: usize| nodes[index].json()));
                    listed.insert(name, Listed { count, get });
                }
                _ => {
                    rest.insert(entry.key.to_owned(), entry.node.json());
                }
            }
        }
        document::check_listed(rest, listed)
    }
}

/// Reads a text in the format `yaml`, `json` or `toml`. Answers the document (None for a text that
/// holds nothing, and for one with problems) and all problems: message, value, hint, path, place.
#[pyfunction]
pub fn read_text<'py>(
    py: Python<'py>,
    text: &str,
    format: &str,
) -> PyResult<(Option<Text>, Problems<'py>)> {
    let format = match format {
        "json" => Format::Json,
        "toml" => Format::Toml,
        _ => Format::Yaml,
    };
    match py.detach(|| ackclock_text::read(text, format)) {
        Ok(tree) => Ok((tree.map(|tree| Text { tree }), Vec::new())),
        Err(problems) => {
            let problems = problems.into_iter().map(|problem| in_python(py, problem));
            Ok((None, problems.collect::<PyResult<_>>()?))
        }
    }
}

/// The value of an unquoted scalar of YAML: None, bool, int, float or str.
#[pyfunction]
pub fn scalar<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Writer::default().value(py, ackclock_text::scalar(text))
}

fn in_python<'py>(py: Python<'py>, problem: Problem) -> PyResult<Bound<'py, PyTuple>> {
    let path: Vec<Bound<'py, PyAny>> = problem
        .path
        .iter()
        .map(|step| match step {
            Step::Key(key) => key.as_ref().into_bound_py_any(py),
            Step::Index(index) => index.into_bound_py_any(py),
        })
        .collect::<PyResult<_>>()?;
    let place =
        problem.place.map(|place| (Some(place.line), Some(place.column))).unwrap_or_default();
    (problem.message, problem.value, problem.hint, PyTuple::new(py, path)?, place).into_pyobject(py)
}

fn steps(path: &Bound<'_, PyTuple>) -> PyResult<Vec<Step>> {
    path.iter()
        .map(|step| match step.extract::<usize>() {
            Ok(index) => Ok(Step::Index(index)),
            Err(_) => Ok(Step::Key(step.extract::<String>()?.into())),
        })
        .collect()
}

#[pymethods]
impl Text {
    /// The document as dicts, lists and scalars; a YAML alias gives a copy of its value.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Writer::default().value(py, self.tree.root().value())
    }

    /// Line and column of the value (or of its key) at `path`, or of the innermost value around it.
    #[pyo3(signature = (path, key=false))]
    fn locate(&self, path: &Bound<'_, PyTuple>, key: bool) -> PyResult<Position> {
        Ok(position(self.tree.root().locate(&steps(path)?, key)))
    }

    /// Whether there is a value at `path`.
    fn holds(&self, path: &Bound<'_, PyTuple>) -> PyResult<bool> {
        Ok(self.tree.root().holds(&steps(path)?))
    }

    /// Whether it is a mapping.
    fn is_mapping(&self) -> bool {
        matches!(self.tree.root().value(), Value::Map(_))
    }

    /// The value at `path`; None where there is none.
    fn at<'py>(&self, py: Python<'py>, path: &Bound<'_, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let mut steps = steps(path)?.into_iter();
        let found = steps.try_fold(self.tree.root(), |node, step| Some(node.child(&step)?.1));
        Writer::default().value(py, found.map_or(Value::Null, Node::value))
    }

    /// Whether one of these words is a key, or part of a text; may say so without need.
    fn mentions(&self, words: Vec<String>) -> bool {
        words.iter().any(|word| self.tree.mentions(word))
    }

    /// The document as nodes: `make(value, position, keys, written)` of each, from the inside out.
    fn nodes<'py>(&self, py: Python<'py>, make: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Nodes { make, writer: Writer::default() }.node(py, self.tree.root())
    }
}

/// Makes Python values.
#[derive(Default)]
struct Writer<'t> {
    /// Keys occur many times: one object is enough.
    keys: HashMap<&'t str, Py<PyString>>,
}

impl<'t> Writer<'t> {
    fn value<'py>(&mut self, py: Python<'py>, value: Value<'t>) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Null => Ok(py.None().into_bound(py)),
            Value::Bool(flag) => flag.into_bound_py_any(py),
            Value::Integer(number) => number.into_bound_py_any(py),
            Value::Natural(number) => number.into_bound_py_any(py),
            Value::Real(number) => number.into_bound_py_any(py),
            // Base 0 would refuse leading zeros.
            Value::Beyond(text) if text.starts_with("0x") || text.starts_with("0o") => {
                py.get_type::<PyInt>().call1((text, 0))
            }
            Value::Beyond(text) => py.get_type::<PyInt>().call1((text,)),
            Value::Text(text) => text.into_bound_py_any(py),
            Value::List(items) => {
                let list = PyList::empty(py);
                for item in items.iter() {
                    list.append(self.value(py, item.value())?)?;
                }
                Ok(list.into_any())
            }
            Value::Map(map) => {
                let dict = PyDict::new(py);
                for entry in map.iter() {
                    dict.set_item(self.key(py, entry.key), self.value(py, entry.node.value())?)?;
                }
                Ok(dict.into_any())
            }
        }
    }

    fn key<'py>(&mut self, py: Python<'py>, key: &'t str) -> Bound<'py, PyString> {
        let made = self.keys.entry(key).or_insert_with(|| PyString::new(py, key).unbind());
        made.bind(py).clone()
    }
}

/// Makes nodes of Python.
struct Nodes<'a, 'py, 't> {
    make: &'a Bound<'py, PyAny>,
    writer: Writer<'t>,
}

impl<'py, 't> Nodes<'_, 'py, 't> {
    fn node(&mut self, py: Python<'py>, node: Node<'t>) -> PyResult<Bound<'py, PyAny>> {
        let keys = PyDict::new(py);
        let written = PyDict::new(py);
        let value = match node.value() {
            Value::List(items) => {
                let list = PyList::empty(py);
                for item in items.iter() {
                    list.append(self.node(py, item)?)?;
                }
                list.into_any()
            }
            Value::Map(map) => {
                let dict = PyDict::new(py);
                for entry in map.iter() {
                    let name = self.writer.key(py, entry.key);
                    keys.set_item(&name, position(entry.place))?;
                    if let Some(text) = entry.written {
                        written.set_item(&name, text)?;
                    }
                    dict.set_item(name, self.node(py, entry.node)?)?;
                }
                dict.into_any()
            }
            value => self.writer.value(py, value)?,
        };
        self.make.call1((value, position(node.place()), keys, written))
    }
}
