"""Benchmark workloads as formulas: scenario documents of any size.

``chain(n, hops)``: ``n`` disjoint chains of links, each fed by a constant-rate source at 90 % of
the links' rate. No transport and no loss: the event queue, queues and wires alone. A chain-second
has 750,000 packets, and as many packet-hops times ``hops``.
"""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


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
