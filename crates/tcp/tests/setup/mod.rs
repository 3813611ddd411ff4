//! What the tests of the classic sender begin with.

use ackclock_tcp::cc::Cc;
use ackclock_tcp::classic::{Recovery, Restart, Setup, TimerRules};
use ackclock_tcp::rto::Rto;
use ackclock_tcp::{Data, Handshake};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Value};

pub fn word(text: &str) -> Value {
    Value::Word(text.into())
}

pub fn chosen(kind: &str, values: &[(&str, Value)]) -> Chosen {
    let values = values.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Chosen { kind: kind.into(), values }
}

/// A sender without end, of segments of 1000 bytes, with a first window of eight, whose timer waits 1 s.
pub fn setup(recovery: Recovery, cc: Cc) -> Setup {
    Setup {
        segment: 1000,
        data: Data { given: Some(u64::MAX), whole_segments: false },
        nagle: false,
        restarts_idle: false,
        grow_only_if_cwnd_limited: false,
        initial_window: 8.0,
        initial_ssthresh: f64::INFINITY,
        receive_window: u64::MAX,
        window_in_segments: false,
        fills_window: false,
        ssthresh_floor: 2.0,
        whole_ssthresh: false,
        idle_timer: false,
        ignores_zero_ack: false,
        timer: TimerRules { restart: Restart::OnAck, backs_off_at_start: false },
        send_delay: Time::ZERO,
        flight_to_highest: false,
        flight_in_window: true,
        handshake: Handshake::new(&chosen("none", &[])),
        ecn: false,
        cc,
        recovery,
        rto: Rto::new(&chosen("fixed", &[("timeout_ns", Value::Int(1_000_000_000))])),
    }
}
