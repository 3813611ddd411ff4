//! The order of events that are due at the same time.
//!
//! The default order is (time, entity). It does not depend on how events come into being, so engine
//! shortcuts (fused links, walked links) cannot change a result. The other two orders exist to
//! imitate simulators whose published figures depend on theirs, and to test how much a result
//! depends on the order at all.

use ackclock_units::param::{Choice, Chosen, Entry, Kind, Param, help};

/// Orders of simultaneous events that a scenario can name.
pub static ENTRIES: &[&Entry] = &[&ENTITY, &FIRST_COME, &RANDOM];

static ENTITY: Entry = Entry {
    name: "entity",
    summary: help("Links before timers, each in file order; independent of engine internals."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};

static FIRST_COME: Entry = Entry {
    name: "first-come",
    summary: help("In the order in which the events were scheduled, as Bene, ns-2 and ns-3 do."),
    references: &[],
    params: &[
        Param::new(
            "sends",
            Kind::Choice(&[
                Choice::new(
                    "direct",
                    "a host's packet enters its link within the event that made it",
                ),
                Choice::new(
                    "queued",
                    "it is an event of its own: all that was due at that moment comes first (Bene)",
                ),
            ]),
            "direct",
            "When a packet that a host sends enters its link.",
        ),
        Param::new(
            "clock",
            Kind::Choice(&[
                Choice::new("exact", "events of the same nanosecond are simultaneous"),
                Choice::defect(
                    "double",
                    "a clock of 64-bit floating-point seconds that adds up waits (Bene): its rounding \
                     errors order the events of one nanosecond, and few of them are simultaneous",
                ),
            ]),
            "exact",
            "What decides that events are simultaneous.",
        ),
    ],
    ..Entry::BLANK
};

static RANDOM: Entry = Entry {
    name: "random",
    summary: help(
        "In seeded random order, including packets of one burst; shows which results depend on ties.",
    ),
    references: &[],
    params: &[Param::new(
        "seed",
        Kind::Count,
        "1",
        "Seed of the order, apart from the run's seed.",
    )],
    ..Entry::BLANK
};

/// Numbers given to events when they are scheduled; equal times are ordered by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ties {
    /// All numbers are equal: the entity decides.
    Entity,
    /// Counts up.
    FirstCome {
        /// The last number given.
        count: u64,
    },
    /// Counts up, after the rounding errors of a floating-point clock.
    FloatingClock,
    /// A keyed hash of the count.
    Random {
        /// Key of the hash.
        seed: u64,
        /// Events numbered so far.
        count: u64,
    },
}

impl Ties {
    /// The order that a scenario chose.
    pub fn new(chosen: &Chosen) -> Self {
        match chosen.kind.as_str() {
            "entity" => Self::Entity,
            "first-come" if chosen.word("clock") == "double" => Self::FloatingClock,
            "first-come" => Self::FirstCome { count: 0 },
            "random" => Self::Random { seed: chosen.int("seed"), count: 0 },
            other => panic!("no order of simultaneous events is named `{other}`"),
        }
    }

    /// Whether packets that hosts send are events of their own.
    pub fn queues_sends(chosen: &Chosen) -> bool {
        chosen.kind == "first-come" && chosen.word("sends") == "queued"
    }

    /// The number of the next event, below 2^40. The floating-point clock belongs to a queue of its own.
    #[inline]
    pub fn number(&mut self) -> u64 {
        match self {
            Self::Entity | Self::FloatingClock => 0,
            Self::FirstCome { count } => {
                *count += 1;
                *count
            }
            Self::Random { seed, count } => {
                *count += 1;
                ackclock_math::random::mix(*seed ^ count.wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 24
            }
        }
    }

    /// The number of an event that was scheduled before the run began, the `rank`-th of them.
    pub(crate) fn planned(&mut self, rank: u32) -> u64 {
        let number = self.number();
        if matches!(self, Self::FirstCome { .. }) { u64::from(rank) } else { number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_counts_and_random_stays_within_forty_bits() {
        let mut ties = Ties::FirstCome { count: 0 };
        assert!(ties.number() < ties.number());
        let mut ties = Ties::Random { seed: 7, count: 0 };
        let numbers: Vec<u64> = (0..1000).map(|_| ties.number()).collect();
        assert!(numbers.iter().all(|&n| n < 1 << 40));
        assert!(numbers.windows(2).any(|w| w[0] > w[1]));
        assert!(numbers.windows(2).any(|w| w[0] < w[1]));
    }
}
