//! What several parts of a network record, put into the order in which one thread would have recorded it.
//!
//! Rows are written in the order of events, which is that of their moments. So each part notes the moment of its rows, and
//! rows of all parts are merged by them.

use crate::sampling::Sampled;
use crate::store::Store;
use ackclock_units::Time;

/// The place of an event among all of a run: its time, its entity, and, where two parts share an event, whose rows come
/// first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

const ENTITY_BITS: u32 = 20;
const END: u64 = (1 << (64 - ENTITY_BITS)) - 2;

impl Moment {
    /// Numbers of entities that can be distinguished.
    pub const ENTITIES: usize = 1 << (ENTITY_BITS - 1);

    /// That of an event; `first` for the part whose rows come before those of another one.
    #[inline]
    pub fn new(time: Time, entity: u32, first: bool) -> Self {
        debug_assert!(time.as_ns() < END && (entity as usize) < Self::ENTITIES);
        Self::of(time.as_ns(), entity, !first)
    }

    /// After all events: what is counted of a channel then.
    pub fn at_end(channel: u32) -> Self {
        Self::of(END, channel, false)
    }

    /// After that: the last row of a subject that is sampled.
    pub(crate) fn of_last_row(subject: usize) -> Self {
        Self::of(END + 1, subject as u32, false)
    }

    #[inline]
    fn of(time: u64, entity: u32, second: bool) -> Self {
        Self((time << ENTITY_BITS) | (u64::from(entity) << 1) | u64::from(second))
    }
}

/// The numbers of packets in the whole network.
#[derive(Debug)]
pub struct Numbers {
    count: i64,
    /// By part, and by the number there.
    parts: Vec<Vec<i64>>,
}

impl Numbers {
    /// For this many parts.
    pub fn new(parts: usize) -> Self {
        Self { count: 0, parts: vec![Vec::new(); parts] }
    }

    /// Numbers the packets that all parts have made, by the events in which they were.
    pub(crate) fn add(&mut self, made: &[Vec<Moment>]) {
        let mut rest: Vec<_> = made.iter().map(|made| made.iter().copied().peekable()).collect();
        while let Some((part, until)) = next(rest.iter_mut().map(|rest| rest.peek().copied())) {
            while rest[part].next_if(|moment| *moment <= until).is_some() {
                self.parts[part].push(self.count);
                self.count += 1;
            }
        }
    }

    /// The number of a packet that has this one in its part.
    #[inline]
    fn of(&self, number: i64) -> i64 {
        let parts = self.parts.len() as i64;
        self.parts[(number % parts) as usize][(number / parts) as usize]
    }
}

/// Which part comes next, and until which moment; `heads` are the next moments of all.
fn next(heads: impl Iterator<Item = Option<Moment>>) -> Option<(usize, Moment)> {
    let mut first = None;
    let mut second = Moment(u64::MAX);
    for (part, head) in heads.enumerate() {
        let Some(head) = head else { continue };
        match first {
            Some((_, least)) if head >= least => second = second.min(head),
            Some((_, least)) => {
                second = second.min(least);
                first = Some((part, head));
            }
            None => first = Some((part, head)),
        }
    }
    // Where moments are equal, which those of two parts never are, the first part goes on.
    first.map(|(part, least)| (part, least.max(Moment(second.0.saturating_sub(1)))))
}

/// Rows with the moments at which they were written: runs of rows of one event.
#[derive(Debug, Default)]
pub(crate) struct Moments(Vec<(Moment, u32)>);

impl Moments {
    #[inline]
    pub fn add(&mut self, moment: Moment) {
        match self.0.last_mut() {
            Some((last, rows)) if *last == moment => *rows += 1,
            _ => self.0.push((moment, 1)),
        }
    }
}

impl<R: Sampled> Store<R> {
    /// Takes the rows of all parts, in the order of their moments.
    pub(crate) fn absorb(&mut self, mut parts: Vec<&mut Self>, numbers: &Numbers) {
        let mut heads: Vec<_> = parts
            .iter()
            .map(|part| {
                let moments = part.moments.iter().flat_map(|moments| moments.0.iter().copied());
                (moments.peekable(), part.rows.chunks().flatten().copied())
            })
            .collect();
        while let Some((part, until)) =
            next(heads.iter_mut().map(|(moments, _)| moments.peek().map(|(moment, _)| *moment)))
        {
            let (moments, rows) = &mut heads[part];
            while let Some((_, count)) = moments.next_if(|(moment, _)| *moment <= until) {
                for mut row in rows.by_ref().take(count as usize) {
                    row.renumber(|number| numbers.of(number));
                    self.rows.push(row);
                }
            }
        }
        drop(heads);
        for part in &mut parts {
            part.rows.clear();
            if let Some(moments) = &mut part.moments {
                moments.0.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, EventRow, Keep, Recorder, flow_event};

    #[test]
    fn rows_of_parts_come_in_the_order_of_their_moments() {
        let keep = |name: &str| if name == "events" { Keep::All } else { Keep::None };
        let mut parts: Vec<Columns> = (0..3).map(|part| Columns::of_part(keep, part, 3)).collect();
        let moments = [(5, 1, 0), (5, 1, 1), (5, 0, 2), (9, 4, 1), (9, 4, 1), (2, 7, 2)];
        let mut expected: Vec<(Moment, i64)> = Vec::new();
        let mut written = moments;
        written.sort_unstable();
        for (seq, (ms, entity, part)) in written.into_iter().enumerate() {
            let (time, seq) = (Time::from_ms(ms), seq as i64);
            let moment = Moment::new(time, entity, part == 0);
            parts[part].at(moment);
            parts[part].event(EventRow { time, flow: 0, event: flow_event::START, seq });
            expected.push((moment, seq));
        }
        expected.sort_unstable();
        let mut all = Columns::new(keep);
        all.absorb(&mut parts.iter_mut().collect::<Vec<_>>(), &mut Numbers::new(3));
        let tables = all.finish();
        let seq = &tables[0].1[3];
        let wanted = expected.iter().map(|(_, seq)| *seq).collect();
        assert_eq!(*seq, ("seq", crate::Column::I64(wanted)));
    }

    #[test]
    fn packets_are_numbered_in_the_order_in_which_they_were_made() {
        let at = |ms| Moment::new(Time::from_ms(ms), 0, false);
        let mut numbers = Numbers::new(2);
        numbers.add(&[vec![at(1), at(1), at(4)], vec![at(2), at(3)]]);
        numbers.add(&[vec![at(7)], vec![at(6), at(8)]]);
        assert_eq!(numbers.parts, [vec![0, 1, 4, 6], vec![2, 3, 5, 7]]);
        assert_eq!([0, 2, 4, 6, 1, 3].map(|number| numbers.of(number)), [0, 1, 4, 6, 2, 3]);
    }
}
