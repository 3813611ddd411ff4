"""Scenarios of the kernel's measured network as scenario documents.

The network: host `A` sends through the bottleneck `L`, which has its rate, half of the round-trip
time and the measured buffer in packets that wait, to router `R`, and from there without delay to
`B0`, `B1`, ..., one host a flow. ACKs come back without transmission time; what a flow has of
extra round-trip time is all on the way of its ACKs. Random loss and scripted drops stand before
the queue.
"""

from __future__ import annotations

from typing import Any

from ackclock.reproduce.linux.oracle import KernelFlow, KernelScenario

BOTTLENECK = "L"
SENDER = "A"
ALGORITHMS = ("reno",)
_NO_LIMIT = "100 Tbps"
_WITHOUT_END = {"limit": "unlimited"}


class UnsupportedError(Exception):
    """A scenario that cannot be expressed; the message says why."""


def document(scenario: KernelScenario, seed: int = 1) -> dict[str, Any]:
    """Return the document of a scenario.

    Raises:
        UnsupportedError: something of it has no counterpart.
    """
    if reasons := unsupported(scenario):
        raise UnsupportedError("; ".join(reasons))
    receivers = [f"B{number}" for number in range(len(scenario.flows))]
    return {
        "name": f"linux/{scenario.name}",
        "seed": seed,
        "defaults": {
            "link": {"rate": _NO_LIMIT, "delay": "0 ms", "queue": _WITHOUT_END},
            "tcp": _tcp(scenario),
        },
        "hosts": [SENDER, *receivers],
        "routers": ["R"],
        "links": [
            _bottleneck(scenario),
            *(
                {
                    "id": f"L{number}",
                    "between": ["R", receiver],
                    "backward": {"delay": _ms(flow.extra_rtt_ms)},
                }
                for number, (receiver, flow) in enumerate(
                    zip(receivers, scenario.flows, strict=True)
                )
            ),
        ],
        "flows": [_flow(scenario, number) for number in range(len(scenario.flows))],
        "stop": {"when": "time", "at_latest": _ms(scenario.duration_s * 1e3)},
        "record": {
            table: "changes" if table in tables(scenario) else "off"
            for table in (
                *("cwnd", "rtt", "queue", "transmissions", "packets", "drops", "marks"),
                *("routes", "events", "rto", "waiting"),
            )
        },
    }


def tables(scenario: KernelScenario) -> frozenset[str]:
    """Record tables that the figures of a scenario are taken from."""
    bulk = {"rtt", "queue", "transmissions"} if scenario.bulk else {"rtt"}
    return frozenset({"cwnd", "packets", "drops", "marks", *bulk})


def unsupported(scenario: KernelScenario) -> list[str]:
    """Return what of a scenario has no counterpart; nothing if it can run."""
    reasons = [f"no {flow.cc}" for flow in scenario.flows if flow.cc not in ALGORITHMS]
    if scenario.gso_segs != 1:
        reasons.append("segments leave one by one: no GSO trains")
    if any(flow.stop_s < scenario.duration_s for flow in scenario.flows):
        reasons.append("a flow is cut off")
    if any(len({size for _, size in flow.writes}) > 1 for flow in scenario.flows):
        reasons.append("writes of different sizes")
    if scenario.hold:
        reasons.append("packets that are held")
    if scenario.ack_loss or scenario.rdrop or scenario.ecn_threshold_pkts:
        reasons.append("not yet")
    if scenario.drop and scenario.loss:
        reasons.append("not yet")
    return list(dict.fromkeys(reasons))


def _bottleneck(scenario: KernelScenario) -> dict[str, Any]:
    forward: dict[str, Any] = {
        "queue": {
            "kind": "droptail",
            "limit": f"{scenario.buffer_pkts} packets",
            "counts": "waiting",
            "admission": "fits",
        }
    }
    backward: dict[str, Any] = {"rate": _NO_LIMIT, "queue": _WITHOUT_END}
    if scenario.loss:
        forward["loss"] = {"kind": "bernoulli", "p": scenario.loss, "at": "entry"}
    if scenario.drop:
        numbers = sorted(rule.index + 2 for rule in scenario.drop)
        forward["loss"] = {"kind": "packets", "numbers": numbers, "at": "entry"}
    if scenario.adrop:
        numbers = sorted(rule.index + 1 for rule in scenario.adrop)
        backward["loss"] = {"kind": "packets", "numbers": numbers, "at": "entry"}
    return {
        "id": BOTTLENECK,
        "between": [SENDER, "R"],
        "rate": f"{round(scenario.rate_mbps * 1e6)} bps",
        "delay": _ms(scenario.rtt_ms / 2),
        "forward": forward,
        "backward": backward,
    }


def _tcp(scenario: KernelScenario) -> dict[str, Any]:
    """Return what all flows of a scenario have in common."""
    return {
        "sender": "classic",
        "segment": f"{scenario.mss} B",
        "header": f"{scenario.mtu - scenario.mss} B",
        "ack": f"{scenario.ack_bytes} B",
        "handshake": {
            "kind": "three-way",
            "syn": "60 B",
            "syn_ack": "60 B",
            "ack": "52 B",
            "timeout": "1 s",
        },
        "recovery": {"kind": "newreno"},
        "receiver": "immediate" if scenario.every_segment_acked or not scenario.bulk else "delayed",
        "window_unit": "segments",
        "unused_window": "grows",
        "cc": {"kind": "reno", "counting": "bytes", "decrease_from": "cwnd"},
    }


def _flow(scenario: KernelScenario, number: int) -> dict[str, Any]:
    flow = scenario.flows[number]
    made: dict[str, Any] = {
        "id": flow_id(number),
        "from": SENDER,
        "to": f"B{number}",
        "start": _ms(flow.start_s * 1e3),
    }
    if flow.offered is not None:
        made["send"] = f"{flow.offered} B"
    tcp: dict[str, Any] = {}
    if flow.writes:
        tcp["source"] = _writes(flow)
    if tcp:
        made["tcp"] = tcp
    return made


def flow_id(number: int) -> str:
    """Return the name of a flow in the document."""
    return f"F{number}"


def _writes(flow: KernelFlow) -> dict[str, Any]:
    (first, size), (second, _) = flow.writes[:2]
    gap = second - first
    return {
        "kind": "on-off",
        "rate": "8 bps",
        "write": f"{size} B",
        "on": "1 ms",
        "off": _ms(gap * 1e3 - 1),
        "remainder": "restart",
    }


def _ms(time: float) -> str:
    """Return milliseconds as whole nanoseconds."""
    return f"{round(time * 1e6)} ns"
