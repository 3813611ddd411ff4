//! A rate from a table of times and rates.
//!
//! A transmission during which the rate changes continues at the new one: a packet is sent when the integral of the rate
//! since its begin is its size. Fractions of a nanosecond are carried over, so that a table of one rate is a link of
//! that rate to the nanosecond.

use super::{Begun, Rates};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Clash, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "table",
    summary: help("A rate that changes at given times."),
    references: &[],
    params: &[
        Param::required(
            "steps",
            Kind::Rows(&[
                Param::required("at", Kind::Time, "Time from which the rate applies."),
                Param::required("rate", Kind::Rate, "Rate; 0 bps carries nothing.")
                    .at_least("0 bps")
                    .at_most("100 Tbps"),
            ]),
            "The rates in order of time, the first from 0 s on.",
        ),
        Param::optional(
            "repeat",
            Kind::Time,
            "",
            "Time after which the table repeats; by default the last rate stays.",
        ),
    ],
    check: Some(check),
    ..Entry::BLANK
};

fn check(chosen: &Chosen) -> Result<(), Clash> {
    let rows = chosen.rows("steps");
    let times: Vec<u64> = rows.iter().map(|row| row.int("at_ns")).collect();
    let clash = |param, message: String| {
        let hint = "for example `steps: [[0 s, 10 Mbps], [5 s, 2 Mbps]]`, `repeat: 10 s`";
        Err(Clash { param, message, hint: Some(hint.into()) })
    };
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return clash("steps", "the table is empty".into());
    };
    if *first != 0 {
        return clash("steps", "nothing is said about the rate at 0 s".into());
    }
    if let Some(row) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
        return clash("steps", format!("step {} is not after the one before it", row + 2));
    }
    let mut rates = rows.iter().map(|row| row.int("rate_bps"));
    match chosen.optional_int("repeat_ns") {
        Some(repeat) if repeat <= *last => {
            clash("repeat", "the table begins again before its last step".into())
        }
        Some(_) if rates.clone().all(|rate| rate == 0) => {
            clash("steps", "the link never carries anything".into())
        }
        None if rates.next_back() == Some(0) => {
            clash("steps", "the last rate stays, and at 0 bps nothing ever moves again".into())
        }
        _ => Ok(()),
    }
}

/// Bits in a nanosecond at 1 bit/s are the unit: a byte is 8 * 10^9 of them.
const BYTE: u128 = 8_000_000_000;

/// The steps, and how far time has come.
#[derive(Debug, Clone)]
pub struct Table {
    /// Begin in ns, and rate.
    steps: Vec<(u64, u64)>,
    /// Length of a round in ns.
    repeat: Option<u64>,
    /// What a round carries.
    round: u128,
    /// Begin of this round.
    base: u64,
    /// The present step.
    step: usize,
}

impl Table {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let step = |row: &Chosen| (row.int("at_ns"), row.int("rate_bps"));
        let steps: Vec<_> = chosen.rows("steps").iter().map(step).collect();
        let repeat = chosen.optional_int("repeat_ns");
        let mut table = Self { steps, repeat, round: 0, base: 0, step: 0 };
        table.round = repeat.map_or(0, |length| table.carried_in_round(length));
        table
    }

    /// What is carried in a round until so long after its begin.
    fn carried_in_round(&self, until: u64) -> u128 {
        let ends = self.steps[1..].iter().map(|step| step.0).chain([u64::MAX]);
        let spans = self.steps.iter().zip(ends);
        let spans = spans.take_while(|((begin, _), _)| *begin < until);
        spans
            .map(|((begin, rate), end)| u128::from(*rate) * u128::from(end.min(until) - begin))
            .sum()
    }

    /// Begin and end of the present step.
    fn end_of_step(&self) -> u64 {
        match (self.steps.get(self.step + 1), self.repeat) {
            (Some((next, _)), _) => self.base + next,
            (None, Some(repeat)) => self.base + repeat,
            (None, None) => u64::MAX,
        }
    }

    fn next_step(&mut self) {
        self.step += 1;
        if self.step == self.steps.len() {
            self.step = 0;
            self.base += self.repeat.expect("the last step without a repetition has no end");
        }
    }
}

impl Rates for Table {
    fn finish(&mut self, begun: Begun) -> (Time, u64) {
        let mut now = begun.at.as_ns();
        if let Some(repeat) = self.repeat
            && now - self.base >= repeat
        {
            self.base += (now - self.base) / repeat * repeat;
            self.step = 0;
        }
        let mut left = u128::from(begun.bytes) * BYTE + u128::from(begun.carry);
        loop {
            let end = self.end_of_step();
            if end <= now {
                self.next_step();
                continue;
            }
            if now == self.base
                && let Some(repeat) = self.repeat
                && left > self.round
            {
                // Whole rounds at once.
                let rounds = (left - 1) / self.round;
                left -= rounds * self.round;
                self.base += rounds as u64 * repeat;
                now = self.base;
                continue;
            }
            let rate = u128::from(self.steps[self.step].1);
            let carries = rate * u128::from(end - now);
            if left <= carries {
                return (Time::from_ns(now + (left / rate) as u64), (left % rate) as u64);
            }
            left -= carries;
            now = end;
        }
    }

    fn offered_bytes(&self, _: Time) -> Option<f64> {
        None
    }

    /// Of a round; of a table that does not begin again, until its last step.
    fn mean_bps(&self) -> f64 {
        let (last, rate) = self.steps[self.steps.len() - 1];
        match self.repeat.unwrap_or(last) {
            0 => rate as f64,
            length => self.carried_in_round(length) as f64 / length as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial::{Rounding, Serial};
    use ackclock_units::param::Value;

    fn chosen(steps: &[(u64, u64)], repeat: Option<u64>) -> Chosen {
        let row = |&(at, rate): &(u64, u64)| {
            let values = [("at_ns", at), ("rate_bps", rate)];
            let values = values.map(|(name, value)| (name.into(), Value::Int(value)));
            Chosen { kind: String::new(), values: values.into() }
        };
        let rows = Value::Rows(steps.iter().map(row).collect());
        let repeat = repeat.map_or(Value::Null, Value::Int);
        let values = vec![("steps".into(), rows), ("repeat_ns".into(), repeat)];
        Chosen { kind: "table".into(), values }
    }

    fn ends(steps: &[(u64, u64)], repeat: Option<u64>, begins: &[(u64, u16)]) -> Vec<u64> {
        let mut table = Table::new(&chosen(steps, repeat));
        let begun = |(at, bytes)| Begun { at: Time::from_ns(at), bytes, waited: false, carry: 0 };
        begins.iter().map(|&one| table.finish(begun(one)).0.as_ns()).collect()
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn one_rate_is_a_link_of_that_rate() {
        for rate in [1, 3_333_333, 10_485_760, 999_999_999_989] {
            let mut table = Table::new(&chosen(&[(0, rate)], None));
            let serial = Serial::new(rate, Rounding::Carried);
            let (mut now, mut carry, mut its) = (0, 0, 0);
            for bytes in [40, 1500, 1, 999, 65_535] {
                let (ns, rest) = serial.time(bytes, its);
                (now, its) = (now + ns, rest);
                let at = Time::from_ns(now - ns);
                let (end, rest) = table.finish(Begun { at, bytes, waited: true, carry });
                carry = rest;
                assert_eq!(end.as_ns(), now, "{rate} bps");
            }
        }
    }

    #[test]
    fn a_transmission_goes_on_at_the_new_rate() {
        // 1000 bytes are 8 ms at 1 Mbps: half of it in 4 ms, the rest in 1 ms.
        let steps = [(0, 1_000_000), (4 * MS, 4_000_000)];
        assert_eq!(ends(&steps, None, &[(0, 1000), (6 * MS, 1000)]), [5 * MS, 8 * MS]);
        // Nothing moves at 0 bps.
        let steps = [(0, 1_000_000), (4 * MS, 0), (10 * MS, 1_000_000)];
        assert_eq!(ends(&steps, None, &[(0, 1000), (20 * MS, 1000)]), [14 * MS, 28 * MS]);
        // 0.75 Mbps on the average: 8 ms of 3 for each round of 4 ms carry 3000 bits.
        let steps = [(0, 1_000_000), (2 * MS, 500_000)];
        assert_eq!(ends(&steps, Some(4 * MS), &[(0, 375), (5 * MS, 125)]), [4 * MS, 6 * MS]);
        assert_eq!(ends(&steps, Some(4 * MS), &[(0, 37_500)]), [400 * MS]);
        assert_eq!(ends(&steps, Some(4 * MS), &[(4_000_001 * MS, 125)]), [4_000_002 * MS]);
    }

    #[test]
    fn its_mean_rate_is_that_of_a_round_or_until_the_last_step() {
        let steps = [(0, 8_000_000), (2 * MS, 0)];
        let table = Table::new(&chosen(&steps, Some(4 * MS)));
        assert_eq!(table.mean_bps(), 4e6);
        let table = Table::new(&chosen(&[(0, 8_000_000), (2 * MS, 4_000_000)], None));
        assert_eq!(table.mean_bps(), 8e6);
    }

    #[test]
    fn tables_without_an_answer_are_refused() {
        let fails =
            |steps: &[(u64, u64)], repeat| check(&chosen(steps, repeat)).unwrap_err().message;
        assert!(check(&chosen(&[(0, 1), (5, 2)], Some(6))).is_ok());
        assert_eq!(fails(&[], None), "the table is empty");
        assert_eq!(fails(&[(1, 5)], None), "nothing is said about the rate at 0 s");
        assert_eq!(fails(&[(0, 5), (0, 6)], None), "step 2 is not after the one before it");
        assert_eq!(
            fails(&[(0, 5), (9, 6)], Some(9)),
            "the table begins again before its last step"
        );
        assert_eq!(fails(&[(0, 0)], Some(9)), "the link never carries anything");
        assert!(fails(&[(0, 5), (3, 0)], None).starts_with("the last rate stays"));
    }
}
