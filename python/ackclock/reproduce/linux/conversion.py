"""Scenarios of the kernel's measured network as scenario documents.

The network: host `A` sends through the bottleneck `L`, which has its rate, half of the round-trip
time and the measured buffer in packets that wait, to router `R`, and from there without delay to
`B0`, `B1`, ..., one host a flow. ACKs come back without transmission time; what a flow has of
extra round-trip time is all on the way of its ACKs. Random loss and scripted drops stand before
the queue; where there are both, the drops have an ideal link `S` of their own before `L`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ackclock.reproduce.linux.oracle import KernelFlow, KernelScenario, Rule

BOTTLENECK = "L"
SENDER = "A"
ALGORITHMS = ("reno", "cubic", "bbr")
_SCRIPT = "S"
_NO_LIMIT = "100 Tbps"
_WITHOUT_END = {"limit": "unlimited"}
_SYN = 60
_HANDSHAKE_ACK = 52
_HOSTS_S = 2e-5
"""What the two hosts take of a round trip: ten microseconds each, the order of magnitude of a
packet's way through a host. Without, flows with round-trip times of whole milliseconds keep step
for ever."""

_APPLICATION_S = 1e-4
"""What the application takes from the return of `connect` to its first write, the order of
magnitude of a wake-up: the handshake's ACK has left by then."""

_MORE_THAN_ENOUGH = 2
"""Flows without end write this many times what the link carries."""

_LARGEST_WRITE = 1_000_000_000
_CALL = 262_144
_NEXT_CALL_S = 1e-9
_SEND_BUFFER = 16 * 1024 * 1024
"""The application writes 256 KiB a call, at first until the buffer is full."""


class UnsupportedError(Exception):
    """A scenario that cannot be expressed; the message says why."""


def document(
    scenario: KernelScenario, seed: int = 1, ack_jitter: str | None = None
) -> dict[str, Any]:
    """Return the document of a scenario.

    With `ack_jitter` each ACK comes late by a random time with this mean, as on
    hosts that have more to do.

    Raises:
        UnsupportedError: something of it has no counterpart.
    """
    if reasons := unsupported(scenario):
        raise UnsupportedError("; ".join(reasons))
    numbers = range(len(scenario.flows))
    return {
        "name": f"linux/{scenario.name}",
        "seed": seed,
        "ties": "first-come",
        "defaults": {
            "link": {"rate": _NO_LIMIT, "delay": "0 ms", "queue": _WITHOUT_END},
            "tcp": _tcp(scenario),
        },
        "hosts": [SENDER, *(f"B{number}" for number in numbers)],
        "routers": ["R", *([_SCRIPT] if _has_both(scenario) else [])],
        "links": list(_links(scenario, ack_jitter)),
        "flows": [_flow(scenario, number) for number in numbers],
        "stop": {"when": "time", "at_latest": _s(scenario.duration_s)},
        "record": {"kind": "none", **dict.fromkeys(sorted(tables(scenario)), "changes")},
    }


def tables(scenario: KernelScenario) -> frozenset[str]:
    """Record tables that the figures of a scenario are taken from."""
    bulk = {"queue", "transmissions"} if scenario.bulk else set()
    return frozenset({"cwnd", "rtt", "packets", "drops", "marks", "events", *bulk})


def unsupported(scenario: KernelScenario) -> list[str]:
    """Return what of a scenario has no counterpart; nothing if it can run."""
    reasons = [f"no {flow.cc}" for flow in scenario.flows if flow.cc not in ALGORITHMS]
    if scenario.gso_segs != 1:
        reasons.append("segments leave one by one, not in GSO trains")
    return list(dict.fromkeys(reasons))


def _has_both(scenario: KernelScenario) -> bool:
    return bool(scenario.loss and (scenario.drop or scenario.rdrop))


def _links(scenario: KernelScenario, ack_jitter: str | None) -> Iterator[dict[str, Any]]:
    drops = _script("drop", [("data", scenario.drop), ("retransmissions", scenario.rdrop)])
    forward: dict[str, Any] = {"queue": _queue(scenario)}
    first = SENDER
    if _has_both(scenario):
        yield {"id": _SCRIPT, "between": [SENDER, _SCRIPT], "forward": {"loss": drops}}
        first = _SCRIPT
    elif drops:
        forward["loss"] = drops
    if scenario.loss:
        forward["loss"] = _random(scenario.loss, "data")
    if scenario.hold:
        forward["jitter"] = {
            "kind": "script",
            "hold": [
                {"flow": flow_id(rule.flow), "data": [rule.index], "by": f"{rule.hold_us} us"}
                for rule in scenario.hold
            ],
        }
    backward: dict[str, Any] = {"rate": _NO_LIMIT, "queue": _WITHOUT_END}
    if scenario.adrop:
        backward["loss"] = _script("drop", [("acks", scenario.adrop)])
    yield {
        "id": BOTTLENECK,
        "between": [first, "R"],
        "rate": f"{round(scenario.rate_mbps * 1e6)} bps",
        "delay": _s(scenario.rtt_ms / 2e3),
        "forward": forward,
        "backward": backward,
    }
    for number, flow in enumerate(scenario.flows):
        back: dict[str, Any] = {"delay": _s(flow.extra_rtt_ms / 1e3 + _HOSTS_S)}
        if ack_jitter is not None:
            back["jitter"] = {"kind": "exponential", "mean": ack_jitter}
        if scenario.ack_loss:
            back["loss"] = _random(scenario.ack_loss, "acks")
        yield {"id": f"L{number}", "between": ["R", f"B{number}"], "backward": back}


def _queue(scenario: KernelScenario) -> dict[str, Any]:
    limit = f"{scenario.buffer_pkts} packets"
    if scenario.ecn_threshold_pkts:
        mark_from = f"{scenario.ecn_threshold_pkts} packets"
        return {"kind": "threshold", "limit": limit, "mark_from": mark_from}
    return {"kind": "droptail", "limit": limit, "counts": "waiting", "admission": "fits"}


def _random(share: float, whom: str) -> dict[str, Any]:
    return {"kind": "bernoulli", "p": share, "at": "entry", "applies_to": whom}


def _script(verb: str, what: Iterable[tuple[str, tuple[Rule, ...]]]) -> dict[str, Any]:
    """Return the model that drops packets by their numbers; nothing without rules."""
    rows: dict[int, dict[str, Any]] = {}
    for key, rules in what:
        for rule in rules:
            row = rows.setdefault(rule.flow, {"flow": flow_id(rule.flow)})
            row.setdefault(key, []).append(rule.index)
    for row in rows.values():
        row.update({key: sorted(value) for key, value in row.items() if key != "flow"})
    return {"kind": "script", "at": "entry", verb: list(rows.values())} if rows else {}


def _tcp(scenario: KernelScenario) -> dict[str, Any]:
    """Return what all flows of a scenario have in common: the kernel that was measured."""
    return {
        "segment": f"{scenario.mss} B",
        "header": f"{scenario.mtu - scenario.mss} B",
        "ack": f"{scenario.ack_bytes} B",
        "handshake": {
            "kind": "three-way",
            "syn": f"{_SYN} B",
            "syn_ack": f"{_SYN} B",
            "ack": f"{_HANDSHAKE_ACK} B",
            "timeout": "1 s",
        },
        "receiver": "immediate" if scenario.every_segment_acked else "linux",
        "timers": "linux",
        "ecn": bool(scenario.ecn_threshold_pkts),
    }


def _flow(scenario: KernelScenario, number: int) -> dict[str, Any]:
    flow = scenario.flows[number]
    tcp: dict[str, Any] = {"preset": f"linux-{flow.cc}"}
    made: dict[str, Any] = {
        "id": flow_id(number),
        "from": SENDER,
        "to": f"B{number}",
        "start": _s(flow.start_s),
        "tcp": tcp,
    }
    if flow.stop_s < scenario.duration_s:
        made["stop"] = _s(flow.stop_s)
    tcp["source"] = _writes(scenario, flow)
    return made


def flow_id(number: int) -> str:
    """Return the name of a flow in the document."""
    return f"F{number}"


def _writes(scenario: KernelScenario, flow: KernelFlow) -> dict[str, Any]:
    """Return what the application writes, and when from the start of the flow.

    It writes when `connect` has returned.
    """
    propagation_s = (scenario.rtt_ms + flow.extra_rtt_ms) / 1e3
    connected_s = propagation_s + _HOSTS_S + _SYN * 8e-6 / scenario.rate_mbps + _APPLICATION_S
    rows: list[tuple[float, int]] = []
    if flow.offered is not None:
        writes: dict[float, int] = {}
        for at, size in flow.writes or ((0.0, flow.offered),):
            writes[max(connected_s, at)] = writes.get(max(connected_s, at), 0) + size
        for at, size in writes.items():
            rows += _in_calls(at, size)
    else:
        lasts_s = min(flow.stop_s, scenario.duration_s) - flow.start_s
        enough = round(_MORE_THAN_ENOUGH * scenario.rate_mbps * 1e6 / 8 * lasts_s)
        rows += _in_calls(connected_s, min(enough, _SEND_BUFFER))
        # The rest finds room when the first data are acknowledged.
        later_s = 3 * connected_s
        while (left := enough - sum(size for _, size in rows)) > 0:
            rows.append((later_s, min(left, _LARGEST_WRITE)))
            later_s += _NEXT_CALL_S
    return {"kind": "schedule", "writes": [[_s(at), f"{size} B"] for at, size in rows]}


def _in_calls(at: float, size: int) -> list[tuple[float, int]]:
    """Return a write as the calls that it is made of, which are one for the sender's clock."""
    calls = range(-(-size // _CALL))
    return [(at + i * _NEXT_CALL_S, min(_CALL, size - i * _CALL)) for i in calls]


def _s(time: float) -> str:
    """Return seconds as whole nanoseconds."""
    return f"{round(time * 1e9)} ns"
