"""Holds the queue disciplines against ns-3 with classic senders, which have no SACK.

``python tests/peers/ns3_queues.py`` runs each discipline on a dumbbell in both programs, from
several starts and delays, and prints goodput, mean queue, mean wait and drops of a measured
interval beside each other, as a table of Markdown. ``--only pie`` takes one discipline,
``--runs 10`` more runs. ``--limited-transmit`` lets both senders use it. ``--least 0.5`` fails if
fewer than this share of the figures have ranges that meet.

It needs ns-3 as ``pip install ns3`` installs it (version 3.44 is what it was written for) for the
Python that runs it, or ``NS3`` as the folder with ``include`` and ``lib64``, and g++, which
compiles ``ns3_queues.cc`` once. Without them there is nothing to do, and a message says so.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from ackclock import Scenario, run
from ackclock.metrics import queue_series, select, step_mean

PROGRAM = Path(__file__).with_suffix(".cc")
MODULES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control",
           "bridge", "stats", "mobility", "propagation")  # fmt: skip
FLOWS, RATE_BPS, DELAY_S, ACCESS_BPS = 4, 10e6, 0.01, 100e6
FROM_S, UNTIL_S = 10.0, 60.0
SEGMENT, HEADERS, PPP = 1000, 40, 2
"""Bytes of data, of TCP and IP, and of the link, which the discipline of ns-3 does not count."""

SENDER = {
    "TcpL4Protocol::SocketType": "ns3::TcpNewReno",
    "TcpL4Protocol::RecoveryType": "ns3::TcpClassicRecovery",
    "TcpSocketBase::Sack": "false",
    "TcpSocketBase::LimitedTransmit": "false",
    "TcpSocketBase::Timestamp": "false",
    "TcpSocketBase::MinRto": "1s",
    "TcpSocket::SegmentSize": str(SEGMENT),
    "TcpSocket::InitialCwnd": "2",
    "TcpSocket::InitialSlowStartThreshold": str(20 * SEGMENT),
    "TcpSocket::DelAckCount": "1",
    "TcpSocket::RcvBufSize": "1000000",
    "TcpSocket::SndBufSize": "2000000",
}
"""Attributes of ns-3. Slow start ends early: the queue is compared, not the repair of overflow."""

TCP = {
    "preset": "newreno",
    "segment": f"{SEGMENT} B",
    "header": f"{HEADERS + PPP} B",
    "ack": f"{HEADERS + PPP} B",
    "handshake": {"kind": "three-way", "syn": "58 B", "syn_ack": "58 B", "ack": "42 B"},
    "initial_window": 2,
    "initial_ssthresh": 20,
    "receive_window": "1000 packets",
    "receiver": "immediate",
    "rto": {"kind": "rfc6298", "min": "1 s", "initial": "1 s"},
}
AS_NS3 = {
    "kind": "newreno",
    "guard": "outstanding",
    "exit_window": "ssthresh",
    "grow_on_exit": True,
}
"""The rules of recovery that ns-3.44 has otherwise than RFC 6582, as far as there are options."""


@dataclass(frozen=True)
class Discipline:
    """A queue in both programs."""

    theirs: str
    attributes: str
    ours: dict[str, Any]


CODEL = {"square_root": "newton", "above": "after-interval"}
DISCIPLINES = {
    "droptail": Discipline(
        "FifoQueueDisc", "MaxSize=50p", {"kind": "droptail", "limit": "50 packets"}
    ),
    "red": Discipline(
        "RedQueueDisc",
        f"MaxSize=100p;MinTh=5;MaxTh=15;QW=0.002;LInterm=10;MeanPktSize={SEGMENT + HEADERS};"
        "LinkBandwidth=10Mbps;LinkDelay=10ms",
        {"kind": "red", "limit": "100 packets", "min": "5 packets", "max": "15 packets",
         "weight": 0.002, "max_p": 0.1, "mean_packet": f"{SEGMENT + HEADERS} B",
         "spacing": "wait", "first": "passed", "short_queue": "passed", "idle": "sampled"},
    ),
    "codel": Discipline(
        "CoDelQueueDisc", "MaxSize=1000p", {"kind": "codel", "limit": "1000 packets", **CODEL}
    ),
    "pie": Discipline(
        "PieQueueDisc",
        "MaxSize=1000p;MaxBurstAllowance=150ms",
        {"kind": "pie", "limit": "1000 packets", "during_burst": "held", "surge": False,
         "mtu": f"{SEGMENT + HEADERS + PPP} B"},
    ),
    "fq-codel": Discipline(
        "FqCoDelQueueDisc",
        "MaxSize=1000p",
        {"kind": "fq-codel", "limit": "1000 packets", "ecn": False, "quantum": "1500 B",
         "queues": "by-flow", **CODEL},
    ),
}  # fmt: skip


@dataclass
class Figures:
    """Of one run, in the measured interval."""

    goodput_bps: float
    mean_packets: float
    mean_wait_s: float
    drops: float


UNITS = {
    "goodput_bps": ("goodput, Mbps", 1e-6),
    "mean_packets": ("mean packets", 1.0),
    "mean_wait_s": ("mean wait, ms", 1e3),
    "drops": ("drops", 1.0),
}


@dataclass(frozen=True)
class Network:
    """What differs between runs."""

    seed: int
    starts_s: tuple[float, ...]
    delays_s: tuple[float, ...]

    @staticmethod
    def drawn(seed: int) -> Network:
        """The network of a seed: starts within a second, delays of 1 to 20 ms."""
        draw = random.Random(f"queues {seed}")
        return Network(
            seed,
            tuple(round(draw.uniform(0.1, 1.1), 6) for _ in range(FLOWS)),
            tuple(round(draw.uniform(0.001, 0.02), 6) for _ in range(FLOWS)),
        )


def folder() -> Path | None:
    """Where ns-3 is installed."""
    if given := os.environ.get("NS3"):
        return Path(given)
    found = importlib.util.find_spec("ns3")
    places = found.submodule_search_locations if found else None
    return Path(next(iter(places))) if places else None


def compiled(ns3: Path, into: Path) -> Path:
    """The program, compiled."""
    libraries = [
        f"-l{next((ns3 / 'lib64').glob(f'libns3*-{name}.so')).stem[3:]}" for name in MODULES
    ]
    program = into / "ns3_queues"
    command = ["g++", "-std=c++20", "-O1", f"-I{ns3 / 'include'}", str(PROGRAM), "-o", str(program),
               f"-L{ns3 / 'lib64'}", f"-Wl,-rpath,{ns3 / 'lib64'}", *libraries]  # fmt: skip
    subprocess.run(command, check=True)
    return program


def theirs(program: Path, queue: Discipline, network: Network, limited: bool) -> Figures:
    """What ns-3 measures."""
    sender = SENDER | {"TcpSocketBase::LimitedTransmit": str(limited).lower()}
    arguments = {
        "disc": f"ns3::{queue.theirs}",
        "attributes": queue.attributes,
        "defaults": ";".join(f"ns3::{name}={value}" for name, value in sender.items()),
        "starts": ",".join(map(str, network.starts_s)),
        "delays": ",".join(map(str, network.delays_s)),
        "rate": RATE_BPS,
        "delay": DELAY_S,
        "access": ACCESS_BPS,
        "from": FROM_S,
        "until": UNTIL_S,
        "run": network.seed,
    }
    command = [str(program), *(f"--{name}={value}" for name, value in arguments.items())]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    return Figures(**{name: found[name] for name in UNITS})


def document(queue: Discipline, network: Network, tcp: dict[str, Any]) -> dict[str, Any]:
    """Our scenario.

    The device below a discipline of ns-3 holds one packet more, which waits while the one before it
    is transmitted: as long as the link is busy that is a delay of one transmission.
    """
    extra_s = 8 * (SEGMENT + HEADERS + PPP) / RATE_BPS
    deep = {"kind": "droptail", "limit": "10000 packets"}

    def link(name: str, ends: list[str], rate_bps: float, delay_s: float) -> dict[str, Any]:
        delay = f"{round(delay_s * 1e9)} ns"
        return {"id": name, "between": ends, "rate": f"{rate_bps:.0f} bps", "delay": delay}

    flows = range(FLOWS)
    return {
        "name": "peers/queues",
        "seed": network.seed,
        "hosts": [f"{side}{flow}" for flow in flows for side in "SD"],
        "routers": ["L", "R"],
        "links": [
            link("bottleneck", ["L", "R"], RATE_BPS, DELAY_S)
            | {
                "forward": {"queue": queue.ours, "delay": f"{round((DELAY_S + extra_s) * 1e9)} ns"},
                "backward": {"queue": deep},
            },
            *(
                link(f"s{flow}", [f"S{flow}", "L"], ACCESS_BPS, network.delays_s[flow])
                | {"queue": deep}
                for flow in flows
            ),
            *(
                link(f"d{flow}", ["R", f"D{flow}"], ACCESS_BPS, 0.001) | {"queue": deep}
                for flow in flows
            ),
        ],
        "flows": [
            {"id": f"F{flow}", "from": f"S{flow}", "to": f"D{flow}", "tcp": tcp,
             "start": f"{round(network.starts_s[flow] * 1e9)} ns"}
            for flow in flows
        ],
        "record": {"kind": "none", **dict.fromkeys(("transmissions", "queue", "drops"), "changes")},
        "stop": {"when": "time", "at_latest": f"{UNTIL_S} s"},
    }  # fmt: skip


def ours(queue: Discipline, network: Network, tcp: dict[str, Any]) -> Figures:
    """What Ackclock measures."""
    results = run(Scenario.from_dict(document(queue, network, tcp)))
    on = {"link": "bottleneck", "direction": "forward"}
    sent_s, entered_s = select(results, "transmissions", ("time_s", "entered_s"), **on)
    within = (sent_s >= FROM_S) & (sent_s < UNTIL_S)
    (lost_s,) = select(results, "drops", ("time_s",), **on)
    changed_s, waiting = queue_series(results, "bottleneck", "forward", "queue_packets")
    new = 0
    for flow in range(FLOWS):
        seen: dict[int, float] = {}
        for time_s, seq in zip(
            *(each.tolist() for each in select(results, "transmissions", ("time_s", "seq"),
                                               link=f"d{flow}", flow=f"F{flow}", kind="data")),
            strict=True,
        ):  # fmt: skip
            seen.setdefault(seq, time_s)
        new += sum(FROM_S <= time_s < UNTIL_S for time_s in seen.values())
    return Figures(
        goodput_bps=8 * SEGMENT * new / (UNTIL_S - FROM_S),
        mean_packets=float(step_mean(changed_s, waiting, FROM_S, UNTIL_S)),
        mean_wait_s=float((sent_s - entered_s)[within].mean()),
        drops=int(((lost_s >= FROM_S) & (lost_s < UNTIL_S)).sum()),
    )


def verdict(band: list[float], found: list[float]) -> str:
    """Whether our mean is in their band; if not, how far outside, and whether the ranges meet."""
    low, high, middle = min(band), max(band), mean(found)
    if low <= middle <= high:
        return "inside"
    away = max(low - middle, middle - high)
    meet = min(found) <= high and max(found) >= low
    share = away / (low if middle < low else high)
    return f"{'ranges meet, mean ' if meet else ''}{share:.1%} outside"


def rows(name: str, them: list[Figures], us: list[list[Figures]]) -> list[str]:
    """Lines of the table for one discipline."""
    lines = []
    for key, (label, factor) in UNITS.items():
        band = [asdict(each)[key] * factor for each in them]
        cells = [name, label, f"{min(band):.4g} to {max(band):.4g}"]
        for found in us:
            values = [asdict(each)[key] * factor for each in found]
            cells.append(f"{mean(values):.4g} ({min(values):.4g} to {max(values):.4g})")
            cells.append(verdict(band, values))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(DISCIPLINES), nargs="+", default=list(DISCIPLINES))
    parser.add_argument("--runs", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default 1)")
    parser.add_argument("--limited-transmit", action="store_true", help="RFC 3042, in both")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this share")
    options = parser.parse_args()
    ns3 = folder()
    if ns3 is None or shutil.which("g++") is None:
        print("Skipped: there is no ns-3 (`pip install ns3`), or no g++.", file=sys.stderr)
        return 0
    print("| Queue | Figure | ns-3.44 | Ours, RFC 6582 | | Ours, recovery as ns-3 | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    lines = []
    with tempfile.TemporaryDirectory() as into:
        program = compiled(ns3, Path(into))
        for name in options.only:
            queue = DISCIPLINES[name]
            networks = [Network.drawn(options.seed + number) for number in range(options.runs)]
            limited = {"limited_transmit": options.limited_transmit}
            them = [theirs(program, queue, each, options.limited_transmit) for each in networks]
            kinds = [TCP | {"recovery": rules | limited} for rules in ({"kind": "newreno"}, AS_NS3)]
            us = [[ours(queue, network, tcp) for network in networks] for tcp in kinds]
            found = rows(name, them, us)
            print("\n".join(found), flush=True)
            lines += found
    meet = sum(
        "inside" in line.split(" | ")[-1] or "meet" in line.split(" | ")[-1] for line in lines
    )
    print(f"{meet} of {len(lines)} figures have ranges that meet", file=sys.stderr)
    return 0 if meet >= options.least * len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
