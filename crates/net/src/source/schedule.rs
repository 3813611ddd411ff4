//! Writes at given times.

use super::{Streams, Writes};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "schedule",
    summary: help("Writes at given times; the last one ends the flow."),
    references: &[],
    params: &[Param::required(
        "writes",
        Kind::Rows(&[
            Param::required("at", Kind::Time, "When, from the start of the flow."),
            Param::required("size", Kind::Size, "Bytes; over UDP a packet on the wire.")
                .at_least("1 B")
                .at_most("1000000000 B"),
        ]),
        "What is written when, in order of time; the writes together are what the flow sends.",
    )],
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let times: Vec<u64> = chosen.rows("writes").iter().map(|row| row.int("at_ns")).collect();
    let clash = |message: &str| {
        let hint = Some("for example `writes: [[0 s, 10 kB], [200 ms, 5 kB]]`".into());
        Err(Clash { param: "writes", message: message.into(), hint })
    };
    match times.windows(2).position(|pair| pair[0] >= pair[1]) {
        _ if times.is_empty() => clash("there is no write"),
        Some(row) => clash(&format!("write {} is not after the one before it", row + 2)),
        None => Ok(()),
    }
}

/// The writes that are left.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Time,
    left: std::vec::IntoIter<(Time, u32)>,
}

impl Schedule {
    pub(super) fn new(chosen: &Chosen, _streams: Streams<'_>) -> Self {
        let write = |row: &Chosen| (Time::from_ns(row.int("at_ns")), row.int("size_bytes") as u32);
        let left: Vec<_> = chosen.rows("writes").iter().map(write).collect();
        Self { start: Time::ZERO, left: left.into_iter() }
    }

    fn next(&self) -> Time {
        self.left.as_slice().first().map_or(Time::NEVER, |(at, _)| self.start + *at)
    }
}

impl Writes for Schedule {
    fn start(&mut self, now: Time) -> Time {
        self.start = now;
        self.next()
    }

    fn write(&mut self, _now: Time) -> (u32, Time) {
        let bytes = self.left.next().map_or(0, |(_, bytes)| bytes);
        (bytes, self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_engine::Stream;
    use ackclock_units::param::Value;

    fn chosen(writes: &[(u64, u64)]) -> Chosen {
        let row = |&(at, size): &(u64, u64)| {
            let values = [("at_ns", at), ("size_bytes", size)];
            let values = values.map(|(name, value)| (name.into(), Value::Int(value)));
            Chosen { kind: String::new(), values: values.into() }
        };
        let rows = Value::Rows(writes.iter().map(row).collect());
        Chosen { kind: "schedule".into(), values: vec![("writes".into(), rows)] }
    }

    #[test]
    fn writes_come_when_they_are_due() {
        let streams = |purpose: &str| Stream::new(1, purpose);
        let mut source = Schedule::new(&chosen(&[(0, 10), (500, 20)]), &streams);
        let start = Time::from_ms(7);
        assert_eq!(source.start(start), start);
        assert_eq!(source.write(start), (10, start + Time::from_ns(500)));
        assert_eq!(source.write(start + Time::from_ns(500)), (20, Time::NEVER));
    }

    #[test]
    fn their_times_grow() {
        assert!(check(&chosen(&[(0, 1), (5, 1)])).is_ok());
        assert!(check(&chosen(&[])).is_err());
        let clash = check(&chosen(&[(0, 1), (5, 1), (5, 1)])).unwrap_err();
        assert_eq!(clash.message, "write 3 is not after the one before it");
    }
}
