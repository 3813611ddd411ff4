"""Random networks that both ns-2 and Ackclock can run, and their scenario documents."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

ACK_BYTES = HEADER_BYTES = 40
AMPLE = 100_001
RATES_KBPS = (400, 500, 800, 1000, 1600, 2000, 2500, 4000, 5000, 8000, 10_000)
ACCESS_KBPS = (5000, 10_000, 20_000, 50_000, 100_000)
SENDERS = {
    "tahoe": "TCP",
    "reno": "TCP/Reno",
    "newreno": "TCP/Newreno",
    "vegas": "TCP/Vegas",
}
"""Senders by the name of their recovery here, and their agents in ns-2."""


@dataclass
class Link:
    """A full-duplex link; only its first direction may drop."""

    ends: tuple[str, str]
    kbps: int
    delay_us: int
    limit: int = AMPLE
    """As ns-2 counts, which drops a packet that would fill it; so does the profile."""


@dataclass
class Flow:
    """A flow between hosts of its own."""

    name: str
    sender: str
    start_us: int
    packet_bytes: int
    window: int
    packets: int | None
    """None: without end."""
    delayed_acks: bool
    kept: tuple[int, int, int]
    """Alpha, beta and gamma of Vegas."""
    phase: float = 0.0
    """Where ns-2 lets the clock of its timer tick, as a fraction of a tick."""

    @property
    def opens(self) -> bool:
        """Whether packet 0 stands for a handshake; with Vegas it is data as all others."""
        return self.sender != "vegas"

    def was_never_written(self, number: int) -> bool:
        """Whether a packet of this number lies beyond the end of the file."""
        return self.packets is not None and number >= self.packets + self.opens


@dataclass
class Network:
    """Routers in a row, and flows that join and leave it."""

    seed: int
    seconds: int
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)


def random_network(seed: int, senders: list[str], files: bool) -> Network:
    """The network of a seed; with ``files``, flows send a number of packets and end."""
    draw = random.Random(f"{seed} {' '.join(senders)} {files}")
    routers = draw.choice((2, 2, 2, 3))
    network = Network(seed, draw.randint(15, 45))
    for left in range(routers - 1):
        kbps = draw.choice(RATES_KBPS)
        limit = draw.choice((draw.randint(3, 12), draw.randint(8, 60)))
        ends = (f"r{left}", f"r{left + 1}")
        network.links.append(Link(ends, kbps, 1000 * draw.randint(2, 60), limit))
    for number in range(draw.randint(1, 4)):
        enters = draw.randrange(routers - 1)
        leaves = draw.randint(enters + 1, routers - 1)
        ends = [(f"s{number}", f"r{enters}"), (f"r{leaves}", f"d{number}")]
        for each in ends:
            delay = 100 * draw.randint(1, 200)
            network.links.append(Link(each, draw.choice(ACCESS_KBPS), delay))
        alpha = draw.randint(1, 6)
        network.flows.append(
            Flow(
                name=f"F{number}",
                sender=draw.choice(senders),
                start_us=100 * draw.randint(0, 40_000),
                packet_bytes=draw.choice((1000, 1000, 512, 1460)),
                window=draw.choice((20, 10_000, draw.randint(8, 100))),
                packets=draw.randint(1, 400) if files else None,
                delayed_acks=draw.random() < 0.3,
                kept=(alpha, alpha + draw.randint(0, 6), draw.randint(1, 6)),
            )
        )
    return network


def document(network: Network) -> dict[str, Any]:
    """The scenario of a network."""
    hosts = [host for flow in network.flows for host in (f"s{flow.name[1:]}", f"d{flow.name[1:]}")]
    nodes = {node for link in network.links for node in link.ends}
    return {
        "name": "ns2-peer",
        "profile": "ns-2.35",
        "hosts": hosts,
        "routers": sorted(nodes - set(hosts)),
        "links": [_link(link) for link in network.links],
        "flows": [_flow(flow) for flow in network.flows],
        "record": {"kind": "none", "drops": "changes", "packets": "changes"},
        "stop": {"when": "time", "at_latest": f"{network.seconds} s"},
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "id": "-".join(link.ends),
        "between": list(link.ends),
        "rate": f"{link.kbps} kbps",
        "delay": f"{link.delay_us} us",
        "forward": {"queue": {"kind": "droptail", "limit": f"{link.limit} packets"}},
        "backward": {"queue": {"kind": "droptail", "limit": f"{AMPLE} packets"}},
    }


def _flow(flow: Flow) -> dict[str, Any]:
    tcp: dict[str, Any] = {
        "segment": f"{flow.packet_bytes} B",
        "recovery": flow.sender,
        "receive_window": f"{flow.window} packets",
        "receiver": "delayed" if flow.delayed_acks else "immediate",
        "rto": {"kind": "ticks", "phase": f"{flow.phase * 1e7:.0f} ns"},
    }
    if flow.sender == "vegas":
        if flow.delayed_acks:
            tcp["receiver"] = {"kind": "delayed", "first_ack": "at-once"}
        alpha, beta, gamma = flow.kept
        tcp["cc"] = {"kind": "vegas", "alpha": alpha, "beta": beta, "gamma": gamma}
        tcp |= {"header": "0 B", "handshake": "none"}
    number = flow.name[1:]
    found = {
        "id": flow.name,
        "from": f"s{number}",
        "to": f"d{number}",
        "start": f"{flow.start_us} us",
        "tcp": tcp,
    }
    if flow.packets is not None:
        found["send"] = f"{flow.packets * flow.packet_bytes} B"
    return found
