//! Gilbert–Elliott loss: bursts.
//!
//! Source: Gilbert 1960, Elliott 1963, in the notation of Hasslinger and Hohlfeld, "The Gilbert-Elliott
//! model for packet loss in real time services on the Internet", 2008. A chain of two states takes a step
//! before each packet: from good to bad with probability p, back with probability r. The share of packets
//! lost is (p (1 - h) + r (1 - k)) / (p + r), with k and h the chances to get through.

use super::{APPLIES_TO, AT, Losses};
use crate::packet::Packet;
use crate::script::Context;
use ackclock_engine::Stream;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};

pub(super) static ENTRY: Entry = Entry {
    name: "gilbert-elliott",
    summary: help(
        "Losses in bursts: a good and a bad state, each with a loss probability of its own.",
    ),
    references: &["Gilbert 1960", "Elliott 1963", "Hasslinger and Hohlfeld 2008"],
    params: &[
        Param::required("p", Kind::Real, "Probability of going from good to bad.")
            .at_least("0")
            .at_most("1"),
        Param::required("r", Kind::Real, "Probability of going from bad to good.")
            .at_least("0")
            .at_most("1"),
        Param::new("loss_good", Kind::Real, "0", "Probability of loss in the good state.")
            .at_least("0")
            .at_most("1"),
        Param::new("loss_bad", Kind::Real, "1", "Probability of loss in the bad state.")
            .at_least("0")
            .at_most("1"),
        AT,
        APPLIES_TO,
    ],
    ..Entry::BLANK
};

/// Parameters, state and random stream.
#[derive(Debug, Clone)]
pub(super) struct GilbertElliott {
    p: f64,
    r: f64,
    loss: [f64; 2],
    bad: bool,
    stream: Stream,
}

impl GilbertElliott {
    pub(super) fn new(chosen: &Chosen, context: Context<'_>) -> Self {
        Self {
            p: chosen.real("p"),
            r: chosen.real("r"),
            loss: [chosen.real("loss_good"), chosen.real("loss_bad")],
            bad: false,
            stream: context.stream,
        }
    }
}

impl Losses for GilbertElliott {
    fn loses(&mut self, _packet: &Packet) -> bool {
        let turns = if self.bad { self.r } else { self.p };
        self.bad ^= self.stream.uniform() < turns;
        self.stream.uniform() < self.loss[usize::from(self.bad)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_and_the_length_of_bursts_are_those_of_the_chain() {
        let mut model = GilbertElliott {
            p: 0.02,
            r: 0.25,
            loss: [0.0, 1.0],
            bad: false,
            stream: Stream::new(1, "test"),
        };
        let packet = Packet::new(crate::packet::Kind::Data, 0, 1500);
        let lost: Vec<bool> = (0..1_000_000).map(|_| model.loses(&packet)).collect();
        let share = lost.iter().filter(|&&l| l).count() as f64 / lost.len() as f64;
        // p / (p + r) = 0.0741; the standard error is about 0.0007.
        assert!((share - 0.02 / 0.27).abs() < 0.003, "share {share}");
        let bursts = lost.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
        let length = share * lost.len() as f64 / bursts;
        assert!((length - 4.0).abs() < 0.1, "mean burst {length}");
    }
}
