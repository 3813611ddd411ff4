"""Figures and traces of one repetition.

They are taken from the emulator's log of packets, or from what the sender's kernel says of itself:
windows, round-trip times, goodput.
"""

from __future__ import annotations

import csv
import io
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from form import Scenario
from kernel import Raw

_RECORD = struct.Struct("<QQIIHHHBBBBHI")
ARRIVED, DROP_TAIL, DROP_RANDOM, DROP_LIST, STARTED, DELIVERED, MARKED = range(1, 8)
_SEES = (ARRIVED, DROP_TAIL, DROP_RANDOM, DROP_LIST)
_WORDS = {
    ARRIVED: "send", DROP_TAIL: "dropq", DROP_RANDOM: "droprand", DROP_LIST: "drop",
    MARKED: "mark",
}  # fmt: skip
_FORWARD, _SYN, _SYN_FIN_RST = 0, 2, 7
_QUANTILES = (5, 50, 95, 99)
_KEPT = (
    "t_ms", "cwnd", "ssthresh", "srtt_us", "ca_state", "unacked", "total_retrans", "delivered",
)  # fmt: skip
_LATE_US = {"bulk": (1100, 20_000)}
_LATE_SHORT_US = (1100, 4000)
_WINDOW_LIMITED_MS = 50
MOST_SAMPLES = {"bulk": 500}
_MOST_SHORT = 700


@dataclass(frozen=True)
class Event:
    """A line of the emulator's log."""

    time: int
    seq: int
    ack: int
    length: int
    payload: int
    kind: int
    forward: bool
    flow: int
    flags: int

    @property
    def pure_ack(self) -> bool:
        """Whether it is an ACK without data, SYN, FIN or RST."""
        return not self.payload and not self.flags & _SYN_FIN_RST


@dataclass
class _Counts:
    data: int = 0
    again: int = 0
    acks: int = 0
    highest: int | None = None
    by_kind: Counter[int] = field(default_factory=Counter)

    def see(self, event: Event) -> None:
        """Count a data packet that came to the emulator; numbers wrap at 32 bits."""
        self.data += 1
        end = (event.seq + event.payload) & 0xFFFFFFFF
        beyond = 0 if self.highest is None else (end - self.highest) & 0xFFFFFFFF
        if self.highest is not None and (beyond == 0 or beyond > 0x7FFFFFFF):
            self.again += 1
        else:
            self.highest = end


def events(log: bytes) -> list[Event]:
    """Read a log in the order of time; starts of transmissions carry the time they should have."""
    found = [
        Event(time, seq, ack, length, payload, kind, direction == _FORWARD, flow, flags)
        for time, _, seq, ack, length, payload, _, kind, direction, flow, flags, _, _ in (
            _RECORD.iter_unpack(log)
        )
    ]
    return sorted(found, key=lambda event: event.time)


def analyse(scenario: Scenario, repetition: int, raw: Raw) -> dict[str, Any]:
    """Return all figures of a repetition, and whether it is valid."""
    log = events(raw.log)
    counts = _counted(scenario, log)
    flows = [_flow(scenario, number, counts[number], raw) for number in range(len(counts))]
    return {
        "name": scenario["name"],
        "rep": repetition,
        "valid": _valid(scenario, raw, flows),
        "emu": raw.emulator,
        "max_packet": max((event.length for event in log), default=0),
        **_bottleneck(scenario, raw.began_ns, log),
        "flows": flows,
    }


def _valid(scenario: Scenario, raw: Raw, flows: list[dict[str, Any]]) -> bool:
    most_p99, most = _LATE_US.get(scenario["kind"], _LATE_SHORT_US)
    late = raw.emulator["late_us"]
    undisturbed = late["p99_le"] <= most_p99 and late["max"] <= most
    whole = not raw.emulator["log_full"]
    single = not raw.emulator["fwd"]["over_mtu"] and not raw.emulator["rev"]["over_mtu"]
    free = all(
        flow["rwnd_limited_ms"] <= _WINDOW_LIMITED_MS and flow["snd_mss"] == scenario["mss"]
        for flow in flows
    )
    return undisturbed and whole and single and free


def _bottleneck(scenario: Scenario, began_ns: int, log: list[Event]) -> dict[str, Any]:
    """Utilisation and queue of the data path within the window of measurement."""
    start = began_ns + int(scenario["warmup_s"] * 1e9)
    end = began_ns + int(scenario["duration_s"] * 1e9)
    bits_per_s = scenario["rate_mbps"] * 1e6
    held: Counter[int] = Counter()
    busy_ns, waiting, since = 0.0, 0, start
    for event in log:
        if not event.forward or event.kind not in (ARRIVED, STARTED):
            continue
        if event.kind == STARTED and start <= event.time < end:
            busy_ns += event.length * 8e9 / bits_per_s
        if event.time >= start and (span := min(event.time, end) - since) > 0:
            held[waiting] += span
            since = min(event.time, end)
        waiting += 1 if event.kind == ARRIVED else -1
    total = held.total()
    mean = sum(queue * span for queue, span in held.items()) / total if total else 0.0
    result: dict[str, Any] = {"queue_pkts_mean": round(mean, 3)}
    for percent in _QUANTILES:
        result[f"queue_pkts_p{percent}"] = _quantile(held, percent / 100)
    result["utilisation"] = round(busy_ns / (end - start), 4)
    return result


def _quantile(held: Counter[int], level: float) -> int | None:
    reached = 0
    for queue in sorted(held):
        reached += held[queue]
        if reached >= level * held.total():
            return queue
    return None


def _counted(scenario: Scenario, log: list[Event]) -> list[_Counts]:
    counts = [_Counts() for _ in scenario["flows"]]
    for event in log:
        if event.flow >= len(counts):
            continue
        if not event.forward:
            counts[event.flow].acks += event.kind == DELIVERED and event.pure_ack
        elif event.payload:
            counts[event.flow].by_kind[event.kind] += 1
            if event.kind in _SEES:
                counts[event.flow].see(event)
    return counts


def rows(text: str) -> list[dict[str, str]]:
    """Return the samples of a flow."""
    return list(csv.DictReader(io.StringIO(text)))


def _flow(scenario: Scenario, number: int, counts: _Counts, raw: Raw) -> dict[str, Any]:
    flow, source, sink = scenario["flows"][number], raw.sources[number], raw.sinks[number]
    samples = rows(raw.samples[number])
    start = max(scenario["warmup_s"], flow["start"]) * 1e3
    end = min(scenario["duration_s"], flow["stop"]) * 1e3
    inside = [row for row in samples if start <= float(row["t_ms"]) < end]

    def mean(column: str, unit: float = 1.0) -> float | None:
        if not inside:
            return None
        return round(sum(float(row[column]) for row in inside) / len(inside) / unit, 3)

    result = {
        "cc": flow["cc"],
        "goodput_mbps_window": _goodput(inside),
        "data_pkts_sent": counts.data,
        "retransmits_wire": counts.again,
        "retransmits_kernel": source["retrans"],
        "drops_tail": counts.by_kind[DROP_TAIL],
        "drops_rand": counts.by_kind[DROP_RANDOM],
        "drops_list": counts.by_kind[DROP_LIST],
        "ce_marks": counts.by_kind[MARKED],
        "acks": counts.acks,
        "mean_srtt_ms_kernel": mean("srtt_us", 1e3),
        "min_rtt_ms_kernel": round(source["min_rtt_us"] / 1e3, 3),
        "mean_cwnd_pkts_kernel": mean("cwnd"),
        "max_cwnd_pkts_kernel": max((int(row["cwnd"]) for row in samples), default=0),
        "dsack_dups": source["dsack_dups"],
        "reord_seen": source["reord_seen"],
        "rwnd_limited_ms": round(source["rwnd_limited_us"] / 1e3, 1),
        "sndbuf_limited_ms": round(source["sndbuf_limited_us"] / 1e3, 1),
        "snd_mss": source["snd_mss"],
        "delivered_ce": source["delivered_ce"],
        "final_cwnd": source["final_cwnd"],
        "handshake_ms": round((source["established_ns"] - source["connect_ns"]) / 1e6, 3),
    }
    if flow.get("size") or flow.get("writes"):
        done = bool(source["done_ns"])
        for name, at in (("fct_ms", sink["eof_ns"]), ("acked_all_ms", source["done_ns"])):
            result[name] = round((at - source["connect_ns"]) / 1e6, 3) if done else None
    return result


def _goodput(inside: list[dict[str, str]]) -> float | None:
    if len(inside) < 2:
        return None
    acked = [int(inside[i]["bytes_acked"]) for i in (0, -1)]
    time_ms = [float(inside[i]["t_ms"]) for i in (0, -1)]
    if time_ms[0] == time_ms[1]:
        return None
    return round((acked[1] - acked[0]) * 8 / ((time_ms[1] - time_ms[0]) * 1e3), 4)


def packet_trace(scenario: Scenario, raw: Raw) -> Iterator[str]:
    """Give the packets at the sender's side of the emulator: data on arrival, ACKs on delivery.

    Numbers are relative to the sender's first. The trace names no flow: it is for scenarios with
    one.
    """
    yield "t_ms,dir,ev,seq,ack,len"
    first: int | None = None
    for event in events(raw.log):
        if event.flow >= len(scenario["flows"]):
            continue
        time = f"{(event.time - raw.began_ns) / 1e6:.3f}"
        if event.forward and event.kind in _WORDS:
            if event.flags & _SYN or first is None:
                first = event.seq
            seq = (event.seq - first) & 0xFFFFFFFF
            yield f"{time},>,{_WORDS[event.kind]},{seq},,{event.payload}"
        elif not event.forward and event.kind == DELIVERED and first is not None:
            yield f"{time},<,ack,,{(event.ack - first) & 0xFFFFFFFF},{event.payload}"


def window_trace(scenario: Scenario, raw: Raw, number: int) -> Iterator[str]:
    """Give samples of a sender's state; of short transfers only those that changed."""
    every = [[row[name] for name in _KEPT] for row in rows(raw.samples[number])]
    step = max(1, -(-len(every) // MOST_SAMPLES.get(scenario["kind"], _MOST_SHORT)))
    yield ",".join(_KEPT)
    before = None
    for row in every[::step]:
        if scenario["kind"] == "bulk" or row[1:] != before:
            yield ",".join(row)
            before = row[1:]
