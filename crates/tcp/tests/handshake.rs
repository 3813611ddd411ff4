//! Handshakes of the classic sender, message by message.

mod setup;

use ackclock_tcp::cc::Cc;
use ackclock_tcp::classic::{Classic, Recovery, Sender, Setup};
use ackclock_tcp::{Cause, Connection, Ends, Handshake, Message, Receiver, Reply};
use ackclock_units::Time;
use ackclock_units::param::{Chosen, Value};
use setup::{chosen, setup, word};

/// A connection whose timer waits 1 s, with a first window of four segments of 1000 bytes.
fn connection(handshake: &Chosen) -> Connection {
    let recovery = [
        ("later_data", word("unsent")),
        ("threshold", Value::Int(3)),
        ("guard", word("recover")),
        ("repeat", word("once")),
        ("limited_transmit", Value::Flag(false)),
        ("count_after_timeout", word("anew")),
    ];
    let reno = [
        ("decrease_from", word("cwnd")),
        ("counting", word("capped-bytes")),
        ("arithmetic", word("real")),
    ];
    let sender = Sender::new(Setup {
        initial_window: 4.0,
        initial_ssthresh: 64_000.0,
        handshake: Handshake::new(handshake),
        ..setup(Recovery::new(&chosen("tahoe", &recovery)), Cc::new(&chosen("reno", &reno)))
    });
    let receiver = Receiver::new(&chosen("immediate", &[("buffer", word("bytes"))]));
    let mut connection = Connection::Classic(Classic::of(sender, receiver));
    connection.start(Time::ZERO);
    connection
}

fn first_segment() -> Connection {
    connection(&chosen("first-segment", &[("size_bytes", Value::Int(40))]))
}

fn sent(connection: &mut Connection, now: Time) -> Vec<(u32, u16, Cause)> {
    std::iter::from_fn(|| connection.poll_transmit(now))
        .map(|segment| (segment.seq, segment.payload, segment.cause))
        .collect()
}

const SYN: (u32, u16, Cause) = (0, 40, Cause::Handshake(Message::Syn));

/// The receiver's answer to the first segment reaches the sender.
fn answer(connection: &mut Connection, sent: Time, now: Time) -> Option<Time> {
    match connection.on_message(sent, Message::Syn, sent) {
        Some(Reply::Ack(ack)) => connection.on_ack(now, ack.fields, ack.ece),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_handshake_data_leave_at_once() {
    let mut connection = connection(&chosen("none", &[]));
    assert_eq!(sent(&mut connection, Time::ZERO).len(), 4);
}

#[test]
fn the_ack_of_the_first_segment_opens_the_initial_window() {
    let mut connection = first_segment();
    assert_eq!(connection.window().cwnd, 1000.0);
    assert_eq!(sent(&mut connection, Time::ZERO), [SYN]);
    let rtt = Time::from_ms(80);
    assert_eq!(answer(&mut connection, Time::ZERO, rtt), Some(rtt));
    assert_eq!(connection.window().cwnd, 4000.0);
    let segments = sent(&mut connection, rtt);
    assert_eq!(segments[0], (0, 1000, Cause::New));
    assert_eq!(segments.len(), 4);
    // The first segment is not data.
    assert_eq!(connection.stats().segments_sent, 4);
    // A second answer is a duplicate of the first, and does not open the window again.
    assert_eq!(answer(&mut connection, Time::ZERO, Time::from_ms(90)), None);
    assert_eq!(sent(&mut connection, Time::from_ms(90)), []);
}

#[test]
fn the_loss_of_the_first_segment_is_a_loss_like_any_other() {
    let mut connection = first_segment();
    assert_eq!(sent(&mut connection, Time::ZERO), [SYN]);
    let now = connection.next_timer();
    assert_eq!(now, Time::from_secs(1));
    assert_eq!(connection.on_timer(now), None);
    assert_eq!(sent(&mut connection, now), [SYN]);
    assert_eq!(connection.next_timer(), Time::from_secs(2));
    let then = now + Time::from_ms(80);
    answer(&mut connection, now, then);
    let window = connection.window();
    assert_eq!((window.cwnd, window.ssthresh), (1000.0, 2000.0));
    assert_eq!(sent(&mut connection, then), [(0, 1000, Cause::New)]);
    assert_eq!(connection.stats().timeouts, 1);
}

fn three_way(repetitions: u64) -> Connection {
    waiting(3, 0, repetitions)
}

fn waiting(timeout_s: u64, linear: u64, repetitions: u64) -> Connection {
    let bytes = |name, value| (name, Value::Int(value));
    connection(&chosen(
        "three-way",
        &[
            bytes("syn_bytes", 60),
            bytes("syn_ack_bytes", 56),
            bytes("ack_bytes", 52),
            ("timeout_ns", Value::Int(timeout_s * 1_000_000_000)),
            ("linear_timeouts", Value::Int(linear)),
            ("repetitions", Value::Int(repetitions)),
        ],
    ))
}

const LONG_SYN: (u32, u16, Cause) = (0, 60, Cause::Handshake(Message::Syn));

#[test]
fn three_messages_and_then_the_data() {
    let mut connection = three_way(5);
    assert_eq!(sent(&mut connection, Time::ZERO), [LONG_SYN]);
    let half = Time::from_ms(40);
    assert_eq!(
        connection.on_message(Time::ZERO, Message::Syn, Time::ZERO),
        Some(Reply::Message(Message::SynAck, 56, Time::ZERO))
    );
    let rtt = half.times(2);
    assert_eq!(connection.on_answer(rtt, Time::ZERO), Some(rtt));
    let messages = sent(&mut connection, rtt);
    assert_eq!(messages[..2], [(0, 52, Cause::Handshake(Message::Ack)), (0, 1000, Cause::New)]);
    assert_eq!(messages.len(), 5);
    assert_eq!(connection.on_message(rtt, Message::Ack, rtt), None);
    // A second SYN-ACK changes nothing.
    assert_eq!(connection.on_answer(rtt + half, Time::ZERO), None);
    assert_eq!(sent(&mut connection, rtt + half), []);
}

/// Linux 6.18 was seen to send SYNs that nobody answers after these seconds.
#[test]
fn linux_waits_five_times_equally_long_before_it_doubles() {
    let mut connection = waiting(1, 4, 10);
    let mut now = Time::ZERO;
    for after in [1, 2, 3, 4, 5, 7, 11, 19] {
        assert_eq!(sent(&mut connection, now), [LONG_SYN]);
        assert_eq!(connection.next_timer(), Time::from_secs(after));
        now = connection.next_timer();
        connection.on_timer(now);
    }
}

#[test]
fn a_lost_syn_is_sent_again_after_doubled_waits_and_then_given_up() {
    let mut connection = three_way(2);
    let mut now = Time::ZERO;
    for wait in [3, 6, 12] {
        assert_eq!(sent(&mut connection, now), [LONG_SYN]);
        assert_eq!(connection.next_timer(), now + Time::from_secs(wait));
        now = connection.next_timer();
        connection.on_timer(now);
    }
    assert_eq!(sent(&mut connection, now), []);
    assert_eq!(connection.next_timer(), Time::NEVER);
    // Such a loss does not count as one of data.
    let mut connection = three_way(2);
    sent(&mut connection, Time::ZERO);
    connection.on_timer(Time::from_secs(3));
    sent(&mut connection, Time::from_secs(3));
    connection.on_answer(Time::from_ms(3080), Time::from_secs(3));
    let window = connection.window();
    assert_eq!((window.cwnd, window.ssthresh), (4000.0, 64_000.0));
    assert_eq!(sent(&mut connection, Time::from_ms(3080)).len(), 5);
}
