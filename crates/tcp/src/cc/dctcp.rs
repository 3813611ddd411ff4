//! DCTCP: a mark cuts the window by as much as there is congestion, not by half.
//!
//! Source: Alizadeh and others, "Data center TCP (DCTCP)", SIGCOMM 2010; RFC 8257. The receiver echoes each mark as it
//! comes. Once per window of data the sender looks how much of it was marked, and follows that slowly:
//!
//! ```text
//! alpha := (1 - g) alpha + g · marked / delivered        cut by marks: cwnd := cwnd (1 - alpha / 2)
//! ```
//!
//! All else is [Reno](super::reno), the cut after a loss, too (RFC 8257 section 3.5). How often marks cut (once per
//! window), and the least window, are matters of the sender.
//!
//! `arithmetic: linux` is that of `tcp_dctcp.c`: whole segments; alpha in 1/1024, and at the end of its fall zero.
//!
//! DEVIATION: a loss within a reduction by marks does not cut once more. Linux halves the threshold there, too
//! (`dctcp_state`); RFC 8257 section 3.5 asks for the reaction of RFC 5681, which is one for each window of data.
//!
//! DEVIATION: messages of the handshake and data sent again are never marked, as in RFC 3168; RFC 8257 section 3.6 leaves
//! that open.

use super::growth::COUNTING;
use super::reno::Reno;
use super::{AckEvent, CongestionControl, LossEvent, Signal, Window};
use ackclock_units::param::{Choice, Chosen, Clash, Entry, Kind, Param, help};

/// Weight of what was marked last.
pub(super) const G: Param =
    Param::new("g", Kind::Real, "0.0625", "Weight of the newest window of data (RFC 8257 4.2).")
        .at_least("0.0009765625")
        .at_most("1");
/// Alpha before anything has arrived.
pub(super) const INITIAL_ALPHA: Param = Param::new(
    "initial_alpha",
    Kind::Real,
    "1",
    "Initial estimate of the fraction of marked data.",
)
.at_least("0")
.at_most("1");

pub(super) static ENTRY: Entry = Entry {
    name: "dctcp",
    summary: help(
        "For data centres: reduces the window in proportion to the fraction of marked packets.",
    ),
    references: &[
        "Alizadeh and others 2010",
        "RFC 8257",
        "Linux, `tcp_dctcp.c`, for `arithmetic: linux`",
    ],
    params: &[
        G,
        INITIAL_ALPHA,
        Param::new(
            "decrease_from",
            Kind::Choice(&[
                Choice::new("flight", "half of the data in flight (RFC 5681 equation 4)"),
                Choice::new("cwnd", "half of the window (Linux)"),
            ]),
            "flight",
            "What a loss halves.",
        ),
        COUNTING,
        Param::new(
            "arithmetic",
            Kind::Choice(&[
                Choice::new("real", "windows and alpha are real numbers"),
                Choice::new("linux", "whole segments, and alpha in 1/1024"),
            ]),
            "real",
            "How the window is computed.",
        ),
    ],
    label: "DCTCP",
    check: Some(g_is_a_power),
    ..Entry::BLANK
};

/// A weight that is a shift of binary digits.
fn shift(g: f64) -> Option<u32> {
    (0..=10).find(|digits| g * f64::from(1 << digits) == 1.0)
}

fn g_is_a_power(chosen: &Chosen) -> Result<(), Clash> {
    let g = chosen.real("g");
    if chosen.word("arithmetic") != "linux" || shift(g).is_some() {
        return Ok(());
    }
    Err(Clash {
        param: "g",
        message: format!("`g` ({g}) is not a power of 1/2, as `arithmetic: linux` has it"),
        hint: Some("for example 0.0625, which is 1/16".into()),
    })
}

/// Options and state of one flow.
#[derive(Debug, Clone)]
pub struct Dctcp {
    reno: Reno,
    alpha: Alpha,
    /// SND.NXT at the end of the window of data before.
    end: u64,
    /// Data of this one that arrived, and that arrived marked, in the window's unit.
    delivered: f64,
    marked: f64,
}

/// The part of the data that is marked.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Alpha {
    Real {
        g: f64,
        value: f64,
    },
    /// 1/1024ths.
    Whole {
        shift: u32,
        value: u32,
    },
}

impl Alpha {
    fn update(&mut self, delivered: f64, marked: f64) {
        match self {
            Self::Real { g, value } => *value = (1.0 - *g) * *value + *g * marked / delivered,
            Self::Whole { shift, value } => {
                // What is too small to be shifted falls at once.
                let fall = *value >> *shift;
                *value -= if fall == 0 { *value } else { fall };
                let rise = ((marked as u64) << (10 - *shift)) / (delivered as u64).max(1);
                *value = (*value + rise as u32).min(1024);
            }
        }
    }

    /// What is left of a window.
    fn left(self, cwnd: f64) -> f64 {
        match self {
            Self::Real { value, .. } => cwnd * (1.0 - value / 2.0),
            Self::Whole { value, .. } => cwnd - ((cwnd as u64 * u64::from(value)) >> 11) as f64,
        }
    }
}

impl Dctcp {
    pub(super) fn new(chosen: &Chosen) -> Self {
        let (g, value) = (chosen.real("g"), chosen.real("initial_alpha"));
        let alpha = match chosen.word("arithmetic") {
            "linux" => Alpha::Whole {
                shift: shift(g).expect("a power of 1/2"),
                value: (value * 1024.0).round() as u32,
            },
            _ => Alpha::Real { g, value },
        };
        Self { reno: Reno::new(chosen), alpha, end: 0, delivered: 0.0, marked: 0.0 }
    }
}

impl CongestionControl for Dctcp {
    fn on_sample(&mut self, _window: &mut Window, ack: &AckEvent) {
        self.delivered += ack.newly_acked;
        self.marked += ack.sender.marked().unwrap_or(0.0);
        let over = match self.alpha {
            Alpha::Real { .. } => ack.una > self.end,
            Alpha::Whole { .. } => ack.una >= self.end,
        };
        if over && self.delivered > 0.0 {
            self.alpha.update(self.delivered, self.marked);
            self.end = ack.nxt;
            self.delivered = 0.0;
            self.marked = 0.0;
        }
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) {
        self.reno.on_ack(window, ack);
    }

    fn on_loss(&mut self, window: &Window, loss: &LossEvent) -> Option<f64> {
        let after_loss = self.reno.on_loss(window, loss);
        match loss.signal {
            Signal::Ecn => Some(self.alpha.left(window.cwnd)),
            Signal::Gap | Signal::Timeout => after_loss,
        }
    }

    fn exact_ecn(&self) -> bool {
        true
    }

    fn counts_segments(&self) -> bool {
        self.reno.counts_segments()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SenderFacts;
    use super::*;
    use ackclock_units::Time;
    use ackclock_units::param::Value;

    fn chosen(g: f64, arithmetic: &str) -> Chosen {
        Chosen {
            kind: "dctcp".into(),
            values: vec![
                ("g".into(), Value::Real(g)),
                ("initial_alpha".into(), Value::Real(1.0)),
                ("decrease_from".into(), Value::Word("cwnd".into())),
                ("counting".into(), Value::Word("bytes".into())),
                ("arithmetic".into(), Value::Word(arithmetic.into())),
            ],
        }
    }

    #[derive(Debug)]
    struct Marked(f64);

    impl SenderFacts for Marked {
        fn marked(&self) -> Option<f64> {
            Some(self.0)
        }
    }

    /// Windows of ten segments, acknowledged one by one, of which this many are marked; alpha after each.
    fn alphas(cc: &mut Dctcp, windows: &[u32]) -> Vec<f64> {
        let mut window = Window { cwnd: 10.0, ssthresh: 10.0, segment: 1.0 };
        let mut una = cc.end;
        let run = windows.iter().map(|marked| {
            for i in 0..10 {
                una += 1;
                let ack = AckEvent {
                    newly_acked: 1.0,
                    una,
                    nxt: una + 10,
                    sender: &Marked(f64::from(u32::from(i < *marked))),
                    ..AckEvent::default()
                };
                cc.on_sample(&mut window, &ack);
            }
            match cc.alpha {
                Alpha::Real { value, .. } => value,
                Alpha::Whole { value, .. } => f64::from(value),
            }
        });
        run.collect()
    }

    #[test]
    fn alpha_follows_the_marked_part_once_per_window() {
        let mut cc = Dctcp::new(&chosen(0.0625, "real"));
        // Half of the data are marked in each window, whichever of them an observation holds.
        let values = alphas(&mut cc, &[5; 200]);
        assert!((values[199] - 0.5).abs() < 0.05, "{values:?}");
        // A window takes 15/16 of what is too much.
        let mut cc = Dctcp::new(&chosen(0.0625, "real"));
        let values = alphas(&mut cc, &[0; 12]);
        let falls: Vec<f64> = values.windows(2).map(|pair| pair[1] / pair[0]).collect();
        assert!(
            falls.iter().all(|fall| (fall - 0.9375).abs() < 1e-12 || *fall == 1.0),
            "{falls:?}"
        );
        assert!(falls.iter().filter(|fall| **fall != 1.0).count() >= 9, "{falls:?}");
    }

    /// By hand: 1024 - 64 = 960; ... ; below 16 the shift is nothing, and all is taken.
    #[test]
    fn linux_has_alpha_in_1024ths_and_lets_it_fall_to_zero() {
        let mut alpha = Alpha::Whole { shift: 4, value: 1024 };
        alpha.update(10.0, 0.0);
        assert_eq!(alpha, Alpha::Whole { shift: 4, value: 960 });
        // 3 of 10: (3 << 6) / 10 = 19.
        alpha.update(10.0, 3.0);
        assert_eq!(alpha, Alpha::Whole { shift: 4, value: 919 });
        alpha = Alpha::Whole { shift: 4, value: 15 };
        alpha.update(10.0, 0.0);
        assert_eq!(alpha, Alpha::Whole { shift: 4, value: 0 });
        alpha = Alpha::Whole { shift: 4, value: 1024 };
        alpha.update(10.0, 10.0);
        assert_eq!(alpha, Alpha::Whole { shift: 4, value: 1024 });
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_and_a_loss_by_half() {
        let window = Window { cwnd: 101.0, ssthresh: 10.0, segment: 1.0 };
        let loss = LossEvent {
            now: Time::from_secs(1),
            signal: Signal::Gap,
            flight: 101.0,
            limit: f64::INFINITY,
            transmissions: 1,
        };
        let mark = LossEvent { signal: Signal::Ecn, ..loss };
        let mut cc = Dctcp::new(&chosen(0.0625, "real"));
        cc.alpha = Alpha::Real { g: 0.0625, value: 0.25 };
        assert_eq!(cc.on_loss(&window, &mark), Some(101.0 * 0.875));
        assert_eq!(cc.on_loss(&window, &loss), Some(50.5));
        let mut cc = Dctcp::new(&chosen(0.0625, "linux"));
        cc.alpha = Alpha::Whole { shift: 4, value: 256 };
        // 101 · 256 / 2048 = 12.6.
        assert_eq!(cc.on_loss(&window, &mark), Some(89.0));
        assert_eq!(cc.on_loss(&window, &loss), Some(50.0));
    }

    #[test]
    fn the_weight_must_be_a_shift_where_linux_shifts() {
        assert!(g_is_a_power(&chosen(0.1, "real")).is_ok());
        assert!(g_is_a_power(&chosen(0.125, "linux")).is_ok());
        assert_eq!(g_is_a_power(&chosen(0.1, "linux")).unwrap_err().param, "g");
    }
}
