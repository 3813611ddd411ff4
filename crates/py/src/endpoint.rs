//! One end of a connection, driven by hand. Times are nanoseconds.

use crate::scenario::Scenario;
use ackclock_sim::endpoint::{self, CongestionState, Flags, Form, Info, Injected, Note, Packet};
use ackclock_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One end of a connection; the caller is the other one, and the clock.
#[pyclass(module = "ackclock._core")]
pub struct Endpoint {
    end: endpoint::Endpoint,
}

#[pymethods]
impl Endpoint {
    /// An end of the first flow of a scenario: ValueError if its sender cannot be driven by hand.
    #[new]
    fn new(scenario: &Scenario) -> PyResult<Self> {
        match endpoint::endpoint(scenario.get()) {
            Some(end) => Ok(Self { end }),
            None => Err(PyValueError::new_err("only flows of the modern sender can be driven")),
        }
    }

    /// The handshake begins.
    fn open(&mut self, now: u64) {
        self.end.open(Time::from_ns(now));
    }

    /// The handshake is over: the message of `stamp` was answered, with the other end's window in bytes.
    fn establish(&mut self, now: u64, stamp: u64, window: u64) {
        self.end.establish(Time::from_ns(now), Time::from_ns(stamp), window);
    }

    /// The application writes; nothing is joined to that if it `ends` a record, and with `more` to come the rest of
    /// a segment waits.
    #[pyo3(signature = (now, bytes, ends = false, more = false))]
    fn write(&mut self, now: u64, bytes: u64, ends: bool, more: bool) {
        self.end.write(Time::from_ns(now), bytes, ends, more);
    }

    /// The application closes.
    fn close(&mut self, now: u64) {
        self.end.close(Time::from_ns(now));
    }

    /// Whether small segments wait for ACKs (Nagle).
    fn set_nagle(&mut self, now: u64, waits: bool) {
        self.end.set_nagle(Time::from_ns(now), waits);
    }

    /// Whether small segments wait for more data.
    fn set_cork(&mut self, now: u64, corked: bool) {
        self.end.set_cork(Time::from_ns(now), corked);
    }

    /// Whether the local queue refuses every packet from now on.
    fn refuse(&mut self, refuses: bool) {
        self.end.refuse(refuses);
    }

    /// A packet arrives. `ack` is None without an ACK, `echo` without timestamps.
    #[pyo3(signature = (now, *, ack, window, blocks, ece, echo, seq, payload, fin, push, marked, cwr, stamp))]
    #[allow(clippy::too_many_arguments, reason = "the fields of a packet, by name")]
    fn inject(
        &mut self,
        now: u64,
        ack: Option<u64>,
        window: u32,
        blocks: Vec<(u64, u64)>,
        ece: bool,
        echo: Option<u64>,
        seq: u64,
        payload: u64,
        fin: bool,
        push: bool,
        marked: bool,
        cwr: bool,
        stamp: u64,
    ) {
        let mut note = Note::new(blocks);
        note.window = Some(window);
        let echo = echo.map_or(Time::NEVER, Time::from_ns);
        let stamp = Time::from_ns(stamp);
        let flags = Flags::NONE
            .with_if(fin, Flags::FIN)
            .with_if(push, Flags::PUSH)
            .with_if(marked, Flags::MARKED)
            .with_if(cwr, Flags::REDUCED);
        let packet = Injected { seq, payload, flags, ack, note, ece, echo, stamp };
        self.end.inject(Time::from_ns(now), &packet);
    }

    /// When something happens by itself; None for never.
    fn next_timer(&self) -> Option<u64> {
        let next = self.end.next_timer();
        (next != Time::NEVER).then(|| next.as_ns())
    }

    /// The time has come that was asked for.
    fn on_timer(&mut self, now: u64) {
        self.end.on_timer(Time::from_ns(now));
    }

    /// The packets that were sent since, as dicts.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.end.take().iter().map(|packet| described(py, packet)).collect()
    }

    /// Bytes that have arrived in order, a FIN included.
    fn received(&self) -> u64 {
        self.end.received()
    }

    /// What it says of itself, by the names of `struct tcp_info`.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tcp_info(py, &self.end.info())
    }
}

fn described<'py>(py: Python<'py>, packet: &Packet) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let note = packet.note.unwrap_or_default();
    dict.set_item("time", packet.time.as_ns())?;
    dict.set_item("syn", packet.form == Form::Syn)?;
    dict.set_item("seq", packet.seq)?;
    dict.set_item("payload", packet.payload)?;
    dict.set_item("fin", packet.flags.has(Flags::FIN))?;
    dict.set_item("push", packet.flags.has(Flags::PUSH))?;
    dict.set_item("cwr", packet.flags.has(Flags::REDUCED))?;
    dict.set_item("ece", packet.ece)?;
    dict.set_item("ect", packet.flags.has(Flags::CAPABLE))?;
    dict.set_item("ack", packet.ack)?;
    dict.set_item("blocks", note.blocks().to_vec())?;
    dict.set_item("window", note.window)?;
    dict.set_item("echo", packet.echo.as_ns())?;
    Ok(dict)
}

/// An infinite threshold, as Linux writes it (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u64 = 0x7fff_ffff;

fn tcp_info<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let us = |time: Time| time.as_ns() / 1000;
    let state = match info.state {
        CongestionState::Open => 0,
        CongestionState::Disorder => 1,
        CongestionState::Cwr => 2,
        CongestionState::Recovery => 3,
        CongestionState::Loss => 4,
    };
    let fields: [(&str, u64); 26] = [
        ("snd_cwnd", info.cwnd as u64),
        ("snd_ssthresh", if info.ssthresh < 1e9 { info.ssthresh as u64 } else { INFINITE }),
        ("ca_state", state),
        ("unacked", u64::from(info.packets_out)),
        ("sacked", u64::from(info.sacked_out)),
        ("lost", u64::from(info.lost_out)),
        ("retrans", u64::from(info.retrans_out)),
        ("reordering", u64::from(info.reordering)),
        ("reord_seen", u64::from(info.reordering_events)),
        ("rtt", us(info.srtt)),
        ("rttvar", us(info.rttvar)),
        ("min_rtt", info.min_rtt.map_or(u64::from(u32::MAX), us)),
        ("rto", us(info.rto)),
        ("delivered", info.delivered),
        ("total_retrans", info.retransmissions),
        ("data_segs_out", info.segments_sent),
        ("bytes_sent", info.bytes_sent),
        ("bytes_acked", info.bytes_acked),
        ("notsent_bytes", info.unsent),
        ("retransmits", u64::from(info.timeouts)),
        ("probes", u64::from(info.window_probes)),
        ("backoff", u64::from(info.backoff)),
        ("dsack_dups", info.repeated),
        ("snd_wnd", info.receive_window),
        ("snd_mss", info.mss),
        ("pacing_rate", info.pacing_rate.map_or(u64::MAX, |rate| rate / 8)),
    ];
    let dict = PyDict::new(py);
    for (name, value) in fields {
        dict.set_item(format!("tcpi_{name}"), value)?;
    }
    Ok(dict)
}
