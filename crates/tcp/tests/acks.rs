//! The classic sender under ACKs of any order and number, and timers at any time: it neither panics
//! nor sends without end, and its window stays a window.

mod setup;

use ackclock_tcp::cc::Cc;
use ackclock_tcp::classic::{Recovery, Sender};
use ackclock_units::Time;
use ackclock_units::param::Value;
use proptest::prelude::*;
use setup::{chosen, word};

const SEGMENTS: u64 = 64;

fn recovery(kind: &str) -> Recovery {
    let word = |(name, value)| (name, word(value));
    let words = [
        ("later_data", "unsent"),
        ("resends", "oldest"),
        ("guard", "recover"),
        ("repeat", "once"),
        ("exit_window", "flight"),
        ("count_after_timeout", "anew"),
        ("inflation", "window"),
        ("partial_timer", "each"),
        ("repaired", "sent"),
    ];
    let mut values: Vec<_> = words.into_iter().map(word).collect();
    values.extend([
        ("threshold", Value::Int(3)),
        ("limited_transmit", Value::Flag(true)),
        ("grow_on_exit", Value::Flag(false)),
        ("burst", Value::Null),
    ]);
    Recovery::new(&chosen(kind, &values))
}

fn growth() -> Cc {
    Cc::new(&chosen(
        "aimd",
        &[
            ("increase", Value::Real(1.0)),
            ("decrease", Value::Real(0.5)),
            ("decrease_from", word("flight")),
            ("counting", word("capped-bytes")),
            ("whole_segments", Value::Flag(false)),
        ],
    ))
}

#[derive(Debug, Clone)]
enum Step {
    /// An ACK of this share of all that was sent, or of fewer or more bytes.
    Ack { of_1000: u64, off_by: i64 },
    /// The same ACK again, this often.
    Again(u8),
    /// The retransmission timer.
    Timer,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..=1000_u64, prop_oneof![Just(0), -1500..1500_i64])
            .prop_map(|(of_1000, off_by)| Step::Ack { of_1000, off_by }),
        2 => (1..6_u8).prop_map(Step::Again),
        1 => Just(Step::Timer),
    ];
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_acks_leave_a_sender_that_works(
        kind in prop::sample::select(vec!["timeout", "tahoe", "reno", "newreno"]),
        steps in steps(),
    ) {
        let mut settings = setup::setup(recovery(kind), growth());
        settings.receive_window = SEGMENTS * 1000;
        let mut sender = Sender::new(settings);
        sender.start(Time::ZERO);
        let (mut now, mut sent, mut last) = (Time::ZERO, 0_u64, 0_u64);
        for step in steps {
            for polled in 0.. {
                let Some(segment) = sender.poll_transmit(now) else { break };
                sent = sent.max(u64::from(segment.seq) + 1000);
                prop_assert!(polled <= 2 * SEGMENTS, "one event sends {polled} segments");
            }
            now += Time::from_ms(1);
            match step {
                Step::Ack { of_1000, off_by } => {
                    // Nobody acknowledges what was never sent.
                    last = (sent * of_1000 / 1000).saturating_add_signed(off_by).min(sent);
                    sender.on_ack(now, last, Time::ZERO, false);
                }
                Step::Again(count) => {
                    for _ in 0..count {
                        sender.on_ack(now, last, Time::ZERO, false);
                    }
                }
                Step::Timer => {
                    let due = sender.next_timer();
                    if due < Time::from_ms(1 << 40) {
                        now = now.max(due);
                        sender.on_timer(now);
                    }
                }
            }
            let window = sender.window();
            prop_assert!(window.cwnd.is_finite() && window.cwnd >= window.segment, "{window:?}");
            prop_assert!(window.ssthresh >= 2.0 * window.segment, "{window:?}");
        }
    }
}
