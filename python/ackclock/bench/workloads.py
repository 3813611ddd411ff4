"""Benchmark workloads as formulas: scenario documents of any size, for any simulator.

``chain(n)``: ``n`` disjoint chains of links, each fed by a constant-rate source at 90 % of the
links' rate. No transport and no loss: the event queue, queues and wires alone. A chain-second has
750,000 packets, and as many packet-hops times the links of a chain.

``dumbbell(n)``: ``n`` flows over one bottleneck that gives each of them 10 Mbps, whatever ``n`` is,
so that the cost of a packet-hop shows only how the engine scales with the number of flows, links
and pending events.

``clos(leaves, spines, hosts)``: a flow from each host of a leaf-spine network to one under another
leaf, all links of 10 Gbps, each flow over a spine that a hash chooses.

:data:`COUNTS` has what other simulators count in the same work.
"""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

COUNTS: dict[tuple[str, str, float], dict[str, int]] = {
    ("dumbbell", "1", 600): {"csg-htsim": 492_274, "ns-2.35": 493_858},
    ("dumbbell", "10", 60): {"csg-htsim": 499_919, "ns-2.35": 500_681},
    ("dumbbell", "100", 6): {"csg-htsim": 497_533, "ns-2.35": 497_600},
    ("dumbbell", "1000", 1): {"csg-htsim": 799_856},
    ("clos", "8x4x8", 0.02): {"csg-htsim": 449_506},
    ("clos", "32x16x32", 0.002): {"csg-htsim": 679_261},
}
"""Data packets that other simulators send with drop-tail queues and NewReno.

By workload, size and seconds.
"""

MOST_DIFFERENCE = 0.015
"""How far our counts may be from theirs; these differ by up to 1 % themselves."""


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


SENDERS: dict[str, Document] = {
    "newreno": {
        "sender": "classic",
        # The other simulators open with a SYN, too.
        "handshake": "three-way",
        "initial_window": 10,
        "initial_ssthresh": 40,
        "cc": "reno",
        "recovery": "newreno",
        "rto": {"kind": "rfc6298", "min": "250 ms"},
        "receiver": "immediate",
    },
    "cubic": {"preset": "linux-cubic", "receiver": "immediate"},
    "bbr": {"preset": "linux-bbr", "receiver": "immediate"},
}
"""What sends, by word; all but the first are modern senders."""

SIZES: Document = {"segment": "1460 B", "header": "40 B", "ack": "40 B"}

QUEUES: dict[str, Document] = {
    # The limits of the other simulators count the packet in transmission.
    "droptail": {"kind": "droptail", "counts": "waiting-and-in-service"},
    "codel": {"kind": "codel"},
    "fq-codel": {"kind": "fq-codel"},
}
"""Queue disciplines by word."""

RECORDS: dict[str, Any] = {
    "none": "none",
    "cwnd": {"kind": "none", "cwnd": "changes", "rtt": "changes"},
    "all": "all",
}
"""What is recorded, by word."""


def queue(packets: int, kind: str = "droptail") -> Document:
    """A queue for this many packets of 1500 B."""
    limit = f"{1500 * packets} B" if kind == "droptail" else f"{packets} packets"
    return {**QUEUES[kind], "limit": limit}


def mix(state: int) -> int:
    """One step of SplitMix64 (Steele, Lea, Flood 2014)."""
    word = (1 << 64) - 1
    z = (state + 0x9E3779B97F4A7C15) & word
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & word
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & word
    return z ^ z >> 31


def dumbbell(n: int, seconds: float, sender: str = "newreno", kind: str = "droptail") -> Document:
    """``n`` flows without end over a bottleneck of ``n`` times 10 Mbps with such a queue."""
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
            "bottleneck": {
                "rate": f"{10 * n} Mbps",
                "delay": "10 ms",
                "queue": queue(16 * n, kind),
            },
            "egress": {"rate": "100 Mbps", "delay": "1 ms", "queue": queue(1000)},
        },
        "flows": [
            {
                "id": "F",
                "count": n,
                "from": "S*",
                "to": "D*",
                "start": {"kind": "spread", "over": "40 ms"},
                "tcp": {**SENDERS[sender], **SIZES},
            }
        ],
        "stop": {"when": "time", "at_latest": f"{round(seconds * 1e9)} ns"},
        "record": "none",
    }


def clos(
    leaves: int,
    spines: int,
    hosts: int,
    seconds: float,
    sender: str = "newreno",
    kind: str = "droptail",
) -> Document:
    """A flow without end from each host i to host i + n/2 + 1 of n, on a leaf-spine network."""
    n = leaves * hosts
    flows: list[Document] = []
    for i in range(n):
        target = (i + n // 2 + 1) % n
        here, there = (f"leaf{1 + host // hosts}" for host in (i, target))
        ways = [[here], [there]]
        if here != there:
            spine, other = (f"spine{1 + mix(each) % spines}" for each in (i, i + n))
            ways = [[here, spine, there], [there, other, here]]
        flows.append(
            {
                "id": f"F{i + 1}",
                "from": f"H{i + 1}",
                "to": f"H{target + 1}",
                "path": ways[0],
                "ack_path": ways[1],
                "start": f"{100_000 * i // n} ns",
                "tcp": {**SENDERS[sender], **SIZES},
            }
        )
    link = {"rate": "10 Gbps", "delay": "1 us", "queue": queue(100, kind)}
    return {
        "name": f"bench/clos-{leaves}x{spines}x{hosts}",
        "topology": {
            "kind": "leaf-spine",
            "leaves": leaves,
            "spines": spines,
            "hosts": hosts,
            "access": link,
        },
        "flows": flows,
        "stop": {"when": "time", "at_latest": f"{round(seconds * 1e9)} ns"},
        "record": "none",
    }
