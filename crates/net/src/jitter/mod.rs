//! Jitter: propagation delays that differ from packet to packet.
//!
//! Source: the delays of tc-netem(8), which draws the delay of each packet from a distribution around a mean. Each law
//! says by how much a packet travels longer than the link's `delay`, or shorter; a delay that would be negative is
//! drawn again, so that the law is the one under the condition that there is none. The delay follows the transmission.
//!
//! DEVIATION: netem cuts negative delays to zero, and holds packets before they are transmitted. By default packets
//! keep their order here, as they do on one path; netem lets them overtake each other.
//!
//! To add a law: a new file with an [`Entry`] and a type that implements [`Delays`], and one line in [`registry!`]
//! below.

mod exponential;
mod normal;
mod pareto;
mod script;
mod uniform;

use crate::packet::Packet;
use crate::script::Context;
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Entry, Kind, Param, help};
use ackclock_units::registry;

static NONE: Entry = Entry {
    name: "none",
    summary: help("Every packet has exactly the propagation delay of the link."),
    references: &[],
    params: &[],
    ..Entry::BLANK
};

const REORDER: Param = Param::new(
    "reorder",
    Kind::Flag,
    "false",
    "Whether packets may be reordered (tc-netem); otherwise none arrives before its predecessor.",
);

/// The longest that a packet is kept: longer than any run.
const LONGEST_NS: f64 = 3.0e18;

/// A law of delays with its rule about the order of packets.
#[derive(Debug, Clone)]
pub struct Jitter {
    model: Model,
    /// Packets may overtake each other.
    pub reorders: bool,
}

/// Says how long packets travel.
pub trait Delays {
    /// A packet arrives at the link; it may wait, or be dropped.
    fn comes(&mut self, _packet: &Packet) {}

    /// Nanoseconds by which this packet, whose transmission begins, travels longer than usual; negative for shorter.
    fn extra_ns(&mut self, packet: &Packet) -> f64;
}

registry! {
    /// Any law of delays.
    enum Model: Delays [context: Context<'_>], a "jitter" beside NONE {
        Uniform: uniform as uniform::Uniform,
        Normal: normal as normal::Normal,
        Exponential: exponential as exponential::Exponential,
        Pareto: pareto as pareto::Pareto,
        Script: script as script::Script,
    }
    fn comes(&mut self, packet: &Packet);
    fn extra_ns(&mut self, packet: &Packet) -> f64;
}

impl Jitter {
    /// The law that a scenario chose; nothing for `none`.
    pub fn new(chosen: &Chosen, context: Context<'_>) -> Option<Self> {
        if chosen.kind == NONE.name {
            return None;
        }
        // Packets that a script holds are overtaken: that is what it is for.
        let reorders = chosen.find(REORDER.name).is_none() || chosen.flag(REORDER.name);
        Some(Self { model: Model::new(chosen, context), reorders })
    }

    /// A packet arrives at the link.
    pub fn comes(&mut self, packet: &Packet) {
        self.model.comes(packet);
    }

    /// How long a packet travels whose transmission begins, where it usually takes `usual`.
    pub fn delay(&mut self, usual: Time, packet: &Packet) -> Time {
        let usual_ns = usual.as_ns() as f64;
        loop {
            let ns = usual_ns + self.model.extra_ns(packet);
            if ns >= 0.0 {
                return Time::from_ns(ns.min(LONGEST_NS).round() as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind as PacketKind;
    use ackclock_engine::Stream;
    use ackclock_units::param::Value;

    /// Mean and standard deviation in ms of delays around 20 ms, the least and the largest of them.
    fn figures(kind: &str, values: &[(&str, Value)], usual_ms: u64) -> [f64; 4] {
        let values = values.iter().map(|(name, value)| ((*name).into(), value.clone()));
        let reorder = [("reorder".to_owned(), Value::Flag(true))];
        let chosen = Chosen { kind: kind.into(), values: values.chain(reorder).collect() };
        let context = Context { stream: Stream::new(1, kind), flow: &|_| 0 };
        let mut jitter = Jitter::new(&chosen, context).expect("a law");
        let packet = Packet::new(PacketKind::Data, 0, 1500);
        let mut draw = || jitter.delay(Time::from_ms(usual_ms), &packet).as_secs() * 1e3;
        let draws: Vec<f64> = (0..200_000).map(|_| draw()).collect();
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        let squares = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        let least = draws.iter().copied().fold(f64::INFINITY, f64::min);
        [mean, (squares / count).sqrt(), least, draws.into_iter().fold(0.0, f64::max)]
    }

    fn ms(value: u64) -> Value {
        Value::Int(value * 1_000_000)
    }

    #[test]
    fn laws_have_their_means_and_deviations() {
        // Standard errors are below 0.03 ms.
        let near = |x: f64, y: f64| assert!((x - y).abs() < 0.1, "{x} and {y}");
        let [mean, deviation, least, most] = figures("uniform", &[("spread_ns", ms(6))], 20);
        near(mean, 20.0);
        near(deviation, 6.0 / 3.0_f64.sqrt());
        assert!((14.0..14.01).contains(&least) && (25.99..=26.0).contains(&most));
        let [mean, deviation, ..] = figures("normal", &[("deviation_ns", ms(5))], 20);
        near(mean, 20.0);
        near(deviation, 5.0);
        let [mean, deviation, least, _] = figures("exponential", &[("mean_ns", ms(4))], 20);
        near(mean, 24.0);
        near(deviation, 4.0);
        assert!((20.0..20.01).contains(&least));
        // The least extra delay is mean (shape - 1) / shape; with shape 3 the deviation is mean / sqrt 3.
        let pareto = [("mean_ns", ms(6)), ("shape", Value::Real(3.0))];
        let [mean, deviation, least, _] = figures("pareto", &pareto, 20);
        near(mean, 26.0);
        assert!((deviation - 6.0 / 3.0_f64.sqrt()).abs() < 0.6, "{deviation}");
        assert!((24.0..24.01).contains(&least));
    }

    #[test]
    fn no_delay_is_negative() {
        // Half a normal law: the mean is deviation sqrt(2 / pi).
        let [mean, _, least, _] = figures("normal", &[("deviation_ns", ms(5))], 0);
        assert!((mean - 5.0 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.05, "{mean}");
        assert!(least >= 0.0);
        let [mean, _, least, most] = figures("uniform", &[("spread_ns", ms(6))], 2);
        assert!((mean - 4.0).abs() < 0.05 && least >= 0.0 && most <= 8.0, "{mean} {least} {most}");
    }
}
