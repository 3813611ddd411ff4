"""The networks on which a congestion control is tried, and what is measured on each.

One bottleneck of 20 Mbps, a round trip of 40 ms, and a buffer of one bandwidth-delay product (67
packets) unless a network says otherwise; what each asks follows RFC 9743 (evaluating new congestion
control) and the metrics of RFC 5166.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RATE_BPS = 20e6
SUBJECT = "subject"
"""Stands for the algorithm that is tried in the flows of a network."""


@dataclass(frozen=True)
class Network:
    """A network with flows.

    Attributes:
        name: One word.
        title: What it is, for people.
        seconds: Simulated time.
        flows: Congestion control of each flow, `SUBJECT` for the one that is tried.
        starts: When each flow starts, seconds.
        delays_ms: Delay of the access link of each flow; 1 ms more than the shortest round trip.
        link: What the bottleneck has beside its rate, delay and buffer, or in their place.
        tcp: What the flows have beside their congestion control.
        settled_s: From when on rates are measured.
    """

    name: str
    title: str
    seconds: float = 30.0
    flows: tuple[str, ...] = (SUBJECT,)
    starts: tuple[float, ...] = (0.0,)
    delays_ms: tuple[int, ...] = (1,)
    link: Mapping[str, Any] = field(default_factory=dict)
    tcp: Mapping[str, Any] = field(default_factory=dict)
    settled_s: float = 10.0

    def document(self, cc: Any) -> dict[str, Any]:
        """Return the scenario with this congestion control in the place of `SUBJECT`."""
        flows = []
        for i, (name, start) in enumerate(zip(self.flows, self.starts, strict=True), 1):
            tcp = {**self.tcp, "cc": cc if name == SUBJECT else name}
            ends = {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "start": f"{start} s"}
            flows.append({**ends, "tcp": tcp})
        bottleneck = {"rate": "20 Mbps", "delay": "18 ms", "queue": {"limit": "1 BDP"}}
        access = {"rate": "1 Gbps", "delay": [f"{ms} ms" for ms in self.delays_ms]}
        return {
            "name": f"check-cc/{self.name}",
            "topology": {
                "kind": "dumbbell",
                "leaves": len(flows),
                "access": {**access, "queue": {"limit": "unlimited"}},
                "bottleneck": bottleneck | dict(self.link),
            },
            "flows": flows,
            "stop": {"when": "time", "at_latest": f"{self.seconds} s"},
            "record": {"kind": "none", "packets": "changes", "cwnd": "changes"},
        }


DOWN_S, UP_S, BACK_S = 10.0, 13.0, 20.0
"""The outage, and when its traces must be gone."""
LOSS_S = 10.0
"""When packets are lost for 2 ms; when the overload begins."""
JOINS_S = 15.0
"""When the second flow starts whose convergence is measured."""
OVERLOAD_BPS = 1e6
MARKS_FROM = 40
"""Packets in the queue from which on the link marks, of the 67 of a bandwidth-delay product."""

_UNTIL_S = 40.0


def _down(from_s: float, to_s: float) -> list[list[dict[str, str]]]:
    """Return the changes of a link that is down for a while."""
    return [[{"at": f"{from_s} s", "state": "down"}, {"at": f"{to_s} s", "state": "up"}]]


CHECKED: tuple[Network, ...] = (
    Network("alone", "Alone on an empty path"),
    Network(
        "loss",
        "A few packets lost at 10 s, in a buffer of 4 BDP",
        link={
            "queue": {"limit": "4 BDP"},
            "changes": _down(LOSS_S, LOSS_S + 0.002),
        },
        seconds=15.0,
    ),
    Network(
        "overload",
        "The link drops from 20 to 1 Mbps at 10 s, with room for 20 packets",
        link={
            "queue": {"limit": "20 packets"},
            "changes": [[{"at": f"{LOSS_S} s", "rate": f"{OVERLOAD_BPS:.0f} bps"}]],
        },
        settled_s=15.0,
    ),
    Network(
        "outage",
        "The link is down from 10 to 13 s",
        link={"changes": _down(DOWN_S, UP_S)},
        settled_s=BACK_S,
    ),
    Network(
        "reordering",
        "Delays differ by up to 4 ms, so that packets overtake each other",
        link={"jitter": {"kind": "uniform", "spread": "2 ms", "reorder": True}},
    ),
    Network(
        "application",
        "The application writes 2 Mbps",
        tcp={"source": {"kind": "cbr", "rate": "2 Mbps"}},
        settled_s=1.0,
    ),
    Network(
        "idle",
        "The application writes 10 Mbps for 5 s, then nothing for 5 s, and so on",
        tcp={"source": {"kind": "on-off", "rate": "10 Mbps", "on": "5 s", "off": "5 s"}},
        settled_s=0.0,
    ),
    Network(
        "small-buffer",
        "2 Mbps with room for 3 packets",
        link={"rate": "2 Mbps", "queue": {"limit": "3 packets"}},
    ),
    Network("bytes", "Alone, with a sender that counts bytes", tcp={"sender": "classic"}),
)
"""Networks of the conformance suite alone; those of the scorecard are used by it, too."""

SCORED: tuple[Network, ...] = (
    Network("itself", "Four flows of it", _UNTIL_S, (SUBJECT,) * 4, (0.0, 1.0, 2.0, 3.0), (1,) * 4),
    Network("cubic", "Beside CUBIC", _UNTIL_S, (SUBJECT, "cubic"), (0.0, 0.137), (1, 1)),
    Network("bbr", "Beside BBR", _UNTIL_S, (SUBJECT, "bbr"), (0.0, 0.137), (1, 1)),
    Network(
        "rtt",
        "Round trips of 40 and 120 ms",
        _UNTIL_S,
        (SUBJECT, SUBJECT),
        (0.0, 0.137),
        (1, 41),
    ),
    Network(
        "random-loss",
        "Alone, 1 % of packets lost at random",
        link={"loss": {"kind": "bernoulli", "p": 0.01}},
    ),
    Network(
        "marks",
        "Alone with ECN, in a queue that marks from 40 packets on",
        link={
            "queue": {
                "kind": "threshold",
                "mark_from": f"{MARKS_FROM} packets",
                "limit": "4 BDP",
            }
        },
        tcp={"ecn": True},
    ),
    Network("joins", "A second flow starts at 15 s", 60.0, (SUBJECT,) * 2, (0.0, JOINS_S), (1, 1)),
)

ALL = {network.name: network for network in (*CHECKED, *SCORED)}
