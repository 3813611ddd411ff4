"""Benchmark workloads as formulas: scenario documents of any size.

``chain(n, hops)``: ``n`` disjoint chains of links, each fed by a constant-rate source at 90 % of
the links' rate. No transport and no loss: the event queue, queues and wires alone. A chain-second
has 750,000 packets, and as many packet-hops times ``hops``.

``dumbbell(n)``: ``n`` NewReno flows over one bottleneck that gives each of them 10 Mbps, whatever
``n`` is, so that the cost of a packet-hop shows only how the engine scales with the number of
flows, links and pending events. :data:`COUNTS` has what other simulators count in the same work.
"""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

COUNTS: dict[tuple[int, float], dict[str, int]] = {
    (1, 600): {"csg-htsim": 492_274, "ns-2.35": 493_858},
    (10, 60): {"csg-htsim": 499_919, "ns-2.35": 500_681},
    (100, 6): {"csg-htsim": 497_533, "ns-2.35": 497_600},
    (1000, 1): {"csg-htsim": 799_856},
}
"""Data packets sent in ``dumbbell(n, seconds)`` by other simulators, for (n, seconds)."""


def chain(n: int, hops: int = 10, seconds: float = 0.4) -> Document:
    """``n`` chains of ``hops`` links of 10 Gbps, 10 us, 100 packets; sources of 9 Gbps, 1500 B."""
    hosts: list[str] = []
    routers: list[str] = []
    links: list[Document] = []
    flows: list[Document] = []
    for i in range(n):
        inner = [f"R{i}-{hop}" for hop in range(hops - 1)]
        nodes = [f"A{i}", *inner, f"B{i}"]
        hosts += [nodes[0], nodes[-1]]
        routers += inner
        links += [
            {"id": f"L{i}-{hop}", "between": [nodes[hop], nodes[hop + 1]]} for hop in range(hops)
        ]
        flows.append(
            {
                "id": f"F{i}",
                "from": nodes[0],
                "to": nodes[-1],
                "start": f"{1000 * i // n} ns",
                "udp": {"source": {"kind": "cbr", "rate": "9 Gbps", "write": "1500 B"}},
            }
        )
    return {
        "name": f"bench/chain-{n}x{hops}",
        "hosts": hosts,
        "routers": routers,
        "defaults": {
            "link": {
                "rate": "10 Gbps",
                "delay": "10 us",
                "queue": {"kind": "droptail", "limit": "100 packets"},
            }
        },
        "links": links,
        "flows": flows,
        "stop": {"when": "time", "at_latest": f"{round(seconds * 1e9)} ns"},
        "record": "none",
    }


CLASSIC: Document = {
    "sender": "classic",
    # The other simulators open with a SYN, too.
    "handshake": "three-way",
    "initial_window": 10,
    "initial_ssthresh": 40,
    "cc": "reno",
    "recovery": "newreno",
    "rto": {"kind": "rfc6298", "min": "250 ms"},
}
MODERN: Document = {"preset": "linux-cubic"}
SIZES: Document = {"segment": "1460 B", "header": "40 B", "ack": "40 B", "receiver": "immediate"}


def dumbbell(n: int, seconds: float, tcp: Document = CLASSIC) -> Document:
    """``n`` flows without end, usually NewReno, over a bottleneck of ``n`` times 10 Mbps."""

    def queue(packets: int) -> Document:
        # The limits of the other simulators count the packet in transmission.
        limit = f"{1500 * packets} B"
        return {"kind": "droptail", "limit": limit, "counts": "waiting-and-in-service"}

    return {
        "name": f"bench/dumbbell-{n}",
        "topology": {
            "kind": "dumbbell",
            "leaves": n,
            "access": {
                "rate": "100 Mbps",
                "delay": [f"{1 + i} ms" for i in range(min(n, 10))],
                "queue": queue(1000),
            },
            "bottleneck": {"rate": f"{10 * n} Mbps", "delay": "10 ms", "queue": queue(16 * n)},
            "egress": {"rate": "100 Mbps", "delay": "1 ms", "queue": queue(1000)},
        },
        "flows": [
            {
                "id": "F",
                "count": n,
                "from": "S*",
                "to": "D*",
                "start": {"kind": "spread", "over": "40 ms"},
                "tcp": {**tcp, **SIZES},
            }
        ],
        "stop": {"when": "time", "at_latest": f"{seconds} s"},
        "record": "none",
    }


def written_out(document: Document) -> Document:
    """A dumbbell with all its nodes, links and flows written out one by one."""
    topology, (template,) = document["topology"], document["flows"]
    n = topology["leaves"]

    def link(name: str, ends: list[str], block: Document, i: int = 0) -> Document:
        own = {k: v[i % len(v)] if isinstance(v, list) else v for k, v in block.items()}
        return {"id": name, "between": ends, **own}

    access = [link(f"access{i + 1}", [f"S{i + 1}", "R1"], topology["access"], i) for i in range(n)]
    egress = [link(f"egress{i + 1}", ["R2", f"D{i + 1}"], topology["egress"]) for i in range(n)]
    flows = [
        {
            "id": f"F{i + 1}",
            "from": f"S{i + 1}",
            "to": f"D{i + 1}",
            "start": f"{40_000_000 * i // n} ns",
            "tcp": template["tcp"],
        }
        for i in range(n)
    ]
    return {
        **{key: value for key, value in document.items() if key != "topology"},
        "hosts": [f"{side}{i + 1}" for side in "SD" for i in range(n)],
        "routers": ["R1", "R2"],
        "links": [*access, link("bottleneck", ["R1", "R2"], topology["bottleneck"]), *egress],
        "flows": flows,
    }
