//! Documents as text, for Python: plain data, and the places of its values.

use ackclock_text::{Format, Node, Place, Problem, Step, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    root: Node,
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
        Ok(root) => Ok((root.map(|root| Text { root }), Vec::new())),
        Err(problems) => {
            let problems = problems.into_iter().map(|problem| in_python(py, problem));
            Ok((None, problems.collect::<PyResult<_>>()?))
        }
    }
}

/// The value of an unquoted scalar of YAML: None, bool, int, float or str.
#[pyfunction]
pub fn scalar<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    Writer::default().value(py, &ackclock_text::scalar(text))
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
        Writer::default().value(py, &self.root.value)
    }

    /// Line and column of the value (or of its key) at `path`, or of the innermost value around it.
    #[pyo3(signature = (path, key=false))]
    fn locate(&self, path: &Bound<'_, PyTuple>, key: bool) -> PyResult<Position> {
        Ok(position(self.root.locate(&steps(path)?, key)))
    }

    /// Whether there is a value at `path`.
    fn holds(&self, path: &Bound<'_, PyTuple>) -> PyResult<bool> {
        Ok(self.root.holds(&steps(path)?))
    }

    /// The document as nodes: `make(value, position, keys, written)` of each, from the inside out.
    fn nodes<'py>(&self, py: Python<'py>, make: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Nodes { make, writer: Writer::default() }.node(py, &self.root)
    }
}

/// Makes Python values.
#[derive(Default)]
struct Writer {
    /// Keys occur many times: one object is enough.
    keys: BTreeMap<Arc<str>, Py<PyString>>,
}

impl Writer {
    fn value<'py>(&mut self, py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Null => Ok(py.None().into_bound(py)),
            Value::Bool(flag) => flag.into_bound_py_any(py),
            Value::Integer(number) => number.into_bound_py_any(py),
            Value::Natural(number) => number.into_bound_py_any(py),
            Value::Real(number) => number.into_bound_py_any(py),
            // Base 0 would refuse leading zeros.
            Value::Beyond(text) if text.starts_with("0x") || text.starts_with("0o") => {
                py.get_type::<PyInt>().call1((text.as_ref(), 0))
            }
            Value::Beyond(text) => py.get_type::<PyInt>().call1((text.as_ref(),)),
            Value::Text(text) => text.as_ref().into_bound_py_any(py),
            Value::List(items) => {
                let list = PyList::empty(py);
                for item in items.iter() {
                    list.append(self.value(py, &item.value)?)?;
                }
                Ok(list.into_any())
            }
            Value::Map(map) => {
                let dict = PyDict::new(py);
                for (key, entry) in map.iter() {
                    dict.set_item(self.key(py, key), self.value(py, &entry.node.value)?)?;
                }
                Ok(dict.into_any())
            }
        }
    }

    fn key<'py>(&mut self, py: Python<'py>, key: &Arc<str>) -> Bound<'py, PyString> {
        let known = self.keys.get(key).map(|known| known.bind(py).clone());
        known.unwrap_or_else(|| {
            let made = PyString::new(py, key);
            self.keys.insert(Arc::clone(key), made.clone().unbind());
            made
        })
    }
}

/// Makes nodes of Python.
struct Nodes<'a, 'py> {
    make: &'a Bound<'py, PyAny>,
    writer: Writer,
}

impl<'py> Nodes<'_, 'py> {
    fn node(&mut self, py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let keys = PyDict::new(py);
        let written = PyDict::new(py);
        let value = match &node.value {
            Value::List(items) => {
                let list = PyList::empty(py);
                for item in items.iter() {
                    list.append(self.node(py, item)?)?;
                }
                list.into_any()
            }
            Value::Map(map) => {
                let dict = PyDict::new(py);
                for (key, entry) in map.iter() {
                    let name = self.writer.key(py, key);
                    keys.set_item(&name, position(entry.place))?;
                    if let Some(text) = &entry.written {
                        written.set_item(&name, text.as_ref())?;
                    }
                    dict.set_item(name, self.node(py, &entry.node)?)?;
                }
                dict.into_any()
            }
            value => self.writer.value(py, value)?,
        };
        self.make.call1((value, position(node.place), keys, written))
    }
}
