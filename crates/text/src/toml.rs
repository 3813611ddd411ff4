//! TOML 1.1, with the places of keys and values.

use crate::builder::Builder;
use crate::places::Places;
use crate::{Place, Problem, Tree, Value, scalar::integer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) fn read(text: &str) -> Result<Option<Tree>, Vec<Problem>> {
    let places = Places::new(text);
    let table = DeTable::parse(text).map_err(|error| vec![explain(&error, &places)])?;
    if table.get_ref().is_empty() {
        return Ok(None);
    }
    let mut reader = Reader { places, builder: Builder::default(), problems: Vec::new() };
    let place = reader.places.of(0);
    reader.table(table.get_ref(), place).map_err(|problem| vec![problem])?;
    match reader.builder.finish() {
        Ok(tree) if reader.problems.is_empty() => Ok(tree),
        Ok(_) => Err(reader.problems),
        Err(duplicates) => Err([reader.problems, duplicates].concat()),
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
    builder: Builder,
    problems: Vec<Problem>,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>, place: Place) -> Result<(), Problem> {
        self.builder.start(true, place)?;
        for (name, value) in table {
            self.builder.key(name.get_ref(), self.places.of(name.span().start));
            self.node(value)?;
        }
        self.builder.end();
        Ok(())
    }

    fn node(&mut self, spanned: &Spanned<DeValue<'_>>) -> Result<(), Problem> {
        let place = self.places.of(spanned.span().start);
        let spelled;
        let value = match spanned.get_ref() {
            DeValue::String(text) => Value::Text(text),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(number) => {
                spelled = number.to_string();
                integer(number.as_str(), number.radix(), &spelled)
            }
            DeValue::Float(number) => Value::Real(number.as_str().parse().unwrap_or(f64::INFINITY)),
            DeValue::Datetime(moment) => {
                let message = "a date or a time of day has no meaning here";
                self.problems.push(Problem::new(message, place).value(moment.to_string()));
                Value::Null
            }
            DeValue::Array(items) => {
                self.builder.start(false, place)?;
                for item in items {
                    self.node(item)?;
                }
                self.builder.end();
                return Ok(());
            }
            DeValue::Table(table) => return self.table(table, place),
        };
        self.builder.scalar(value, place).map(|_| ())
    }
}
