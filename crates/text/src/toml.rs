//! TOML 1.1, with the places of keys and values.

use crate::node::{Budget, Entry, Map, Node, Value, normal_key};
use crate::places::Places;
use crate::{Problem, scalar::integer};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) fn read(text: &str) -> Result<Option<Node>, Vec<Problem>> {
    let places = Places::new(text);
    let table = DeTable::parse(text).map_err(|error| vec![explain(&error, &places)])?;
    if table.get_ref().is_empty() {
        return Ok(None);
    }
    let mut reader = Reader { places, budget: Budget::default(), problems: Vec::new() };
    let root = reader.table(table.get_ref(), 0);
    let place = reader.places.of(0);
    match root {
        Ok(map) if reader.problems.is_empty() => {
            Ok(Some(Node { value: Value::Map(Arc::new(map)), place }))
        }
        Ok(_) => Err(reader.problems),
        Err(problem) => Err(vec![problem]),
    }
}

fn explain(error: &toml::de::Error, places: &Places) -> Problem {
    let place = error.span().map(|span| places.of(span.start));
    if error.message().contains("recursion") {
        return Problem::too_deep(place);
    }
    Problem::new(format!("not valid TOML: {}", error.message().replace('\n', ", ")), place)
}

struct Reader {
    places: Places,
    budget: Budget,
    problems: Vec<Problem>,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Map, Problem> {
        let mut map = Map::default();
        for (name, value) in table {
            let written = name.get_ref().as_ref();
            let place = self.places.of(name.span().start);
            let node = self.node(value, depth + 1)?;
            let key = normal_key(written);
            if let Some(first) = map.get(&key) {
                Problem::duplicate(&mut self.problems, written, place, first.place);
                continue;
            }
            let entry = Entry::new(written, &key, place, node);
            map.insert(key, entry);
        }
        Ok(map)
    }

    fn node(&mut self, spanned: &Spanned<DeValue<'_>>, depth: usize) -> Result<Node, Problem> {
        let place = self.places.of(spanned.span().start);
        self.budget.take(1, depth, place)?;
        let value = match spanned.get_ref() {
            DeValue::String(text) => Value::Text(text.as_ref().into()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(number) => {
                integer(number.as_str(), number.radix(), &number.to_string())
            }
            DeValue::Float(number) => Value::Real(number.as_str().parse().unwrap_or(f64::INFINITY)),
            DeValue::Datetime(moment) => {
                let message = "a date or a time of day has no meaning here";
                self.problems.push(Problem::new(message, place).value(moment.to_string()));
                Value::Null
            }
            DeValue::Array(items) => {
                let items = items.iter().map(|item| self.node(item, depth + 1));
                Value::List(Arc::new(items.collect::<Result<_, _>>()?))
            }
            DeValue::Table(table) => Value::Map(Arc::new(self.table(table, depth)?)),
        };
        Ok(Node { value, place })
    }
}
