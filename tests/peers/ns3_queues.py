"""Compares the queue disciplines with those of ns-3, with classic senders, which have no SACK.

``python tests/peers/ns3_queues.py`` runs each discipline on a dumbbell in both programs, from
several starts and delays, and prints how many segments of a run leave the bottleneck in the same
order at the same nanoseconds before the first difference, and goodput, mean queue, mean wait and
drops of a measured interval beside each other, with Welch's t of the means, as a table of Markdown.
``--only pie`` takes one discipline, ``--runs 10`` more runs. The sender of ns-3 has its departures
from RFC 6582 mended by ``ns3_queues.cc``; ``--own`` leaves it as it is. ``--least 0.5`` fails if
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

import numpy as np

from ackclock import Scenario, run
from ackclock.metrics import queue_series, select, step_mean

PROGRAM = Path(__file__).with_suffix(".cc")
MODULES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control",
           "bridge", "stats", "mobility", "propagation")  # fmt: skip
FLOWS, RATE_BPS, DELAY_S, ACCESS_BPS = 4, 10e6, 0.01, 100e6
FROM_S, UNTIL_S = 10.0, 60.0
SEGMENT, HEADERS, PPP = 1000, 40, 2
"""Bytes of data, of TCP and IP, and of the link, which the disciplines of ns-3 do not count."""

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
    "handshake": {"kind": "three-way", "syn": "46 B", "syn_ack": "46 B", "ack": "42 B"},
    "initial_window": 2,
    "initial_ssthresh": 20,
    "receive_window": "1000 packets",
    "receiver": "immediate",
    "rto": {"kind": "rfc6298", "min": "1 s", "initial": "1 s"},
    "cc": {"kind": "reno", "arithmetic": "whole"},
    "flight": "highest",
    "recovery": {"kind": "newreno", "exit_window": "ssthresh", "grow_on_exit": True},
}


@dataclass(frozen=True)
class Discipline:
    """A queue in both programs."""

    theirs: str
    attributes: str
    ours: dict[str, Any]


CODEL = {"square_root": "newton", "above": "after-interval"}
RED = {"kind": "red", "limit": "100 packets", "min": "5 packets", "max": "15 packets",
       "weight": 0.002, "max_p": 0.1, "mean_packet": f"{SEGMENT + HEADERS} B",
       "spacing": "wait", "first": "passed", "short_queue": "passed",
       "idle": "sampled"}  # fmt: skip
RED_THERE = (
    f"MaxSize=100p;MinTh=5;MaxTh=15;QW=0.002;LInterm=10;MeanPktSize={SEGMENT + HEADERS};"
    "LinkBandwidth=10Mbps;LinkDelay=10ms"
)
PIE = {"limit": "1000 packets", "surge": False, "mtu": f"{SEGMENT + HEADERS + PPP} B"}
TURNS = {"quantum": f"{SEGMENT + HEADERS + PPP} B", "queues": "by-flow"}
DISCIPLINES = {
    "droptail": Discipline(
        "FifoQueueDisc", "MaxSize=50p", {"kind": "droptail", "limit": "50 packets"}
    ),
    "red": Discipline("RedQueueDisc", RED_THERE, RED),
    "red-floyd": Discipline(
        "RedQueueDisc", f"{RED_THERE};AdaptMaxP=true;Bottom=0.01", {**RED, "adaptive": "floyd"}
    ),
    "red-feng": Discipline(
        "RedQueueDisc",
        f"{RED_THERE};FengAdaptive=true",
        {**RED, "adaptive": "feng", "least_max_p": 0, "most_max_p": 1},
    ),
    "codel": Discipline(
        "CoDelQueueDisc", "MaxSize=1000p", {"kind": "codel", "limit": "1000 packets", **CODEL}
    ),
    "pie": Discipline(
        "PieQueueDisc",
        "MaxSize=1000p;MaxBurstAllowance=150ms",
        {"kind": "pie", "during_burst": "held", **PIE},
    ),
    "fq-codel": Discipline(
        "FqCoDelQueueDisc",
        "MaxSize=1000p",
        {"kind": "fq-codel", "limit": "1000 packets", "ecn": False, **TURNS, **CODEL},
    ),
    "fq-pie": Discipline(
        "FqPieQueueDisc",
        # Short queues are often calm, and the two programs grant bursts anew by different rules.
        "MaxSize=1000p;MaxBurstAllowance=0ms;UseEcn=false",
        {"kind": "fq-pie", "burst": "0 s", **PIE, **TURNS},
    ),
    "cobalt": Discipline(
        "CobaltQueueDisc",
        "MaxSize=1000p",
        {"kind": "cobalt", "limit": "1000 packets", "ecn": False},
    ),
}


@dataclass
class Figures:
    """Of one run, in the measured interval."""

    goodput_bps: float
    mean_packets: float
    mean_wait_s: float
    drops: float


@dataclass(frozen=True)
class Run:
    """Figures, and a row for each segment that left: nanosecond, flow, sequence number."""

    figures: Figures
    segments: np.ndarray


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
    starts_ns: tuple[int, ...]
    delays_ns: tuple[int, ...]

    @staticmethod
    def drawn(seed: int) -> Network:
        """The network of a seed: starts within a second, delays of 1 to 20 ms.

        They are drawn to the nanosecond, so that arrivals at the same moment are rare.
        """
        draw = random.Random(f"queues {seed}")
        return Network(
            seed,
            tuple(round(draw.uniform(0.1e9, 1.1e9)) for _ in range(FLOWS)),
            tuple(round(draw.uniform(0.001e9, 0.02e9)) for _ in range(FLOWS)),
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


def theirs(program: Path, queue: Discipline, network: Network, own: bool = False) -> Run:
    """What ns-3 measures."""
    file = program.with_name("packets")
    arguments = {
        "disc": f"ns3::{queue.theirs}",
        "attributes": queue.attributes,
        "defaults": ";".join(f"ns3::{name}={value}" for name, value in SENDER.items()),
        "starts": ",".join(map(str, network.starts_ns)),
        "delays": ",".join(map(str, network.delays_ns)),
        "rate": RATE_BPS,
        "delay": DELAY_S,
        "access": ACCESS_BPS,
        "mtu": SEGMENT + HEADERS,
        "from": FROM_S,
        "until": UNTIL_S,
        "run": network.seed,
        "own": str(own).lower(),
        "packets": file,
    }
    command = [str(program), *(f"--{name}={value}" for name, value in arguments.items())]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    segments = np.fromfile(file, dtype=np.int64, sep=" ").reshape(-1, 3)
    return Run(Figures(**{name: found[name] for name in UNITS}), segments)


def document(queue: Discipline, network: Network) -> dict[str, Any]:
    """Our scenario."""
    deep = {"kind": "droptail", "limit": "10000 packets"}

    def link(name: str, ends: list[str], rate_bps: float, delay_ns: int) -> dict[str, Any]:
        rate = f"{rate_bps:.0f} bps"
        return {"id": name, "between": ends, "rate": rate, "delay": f"{delay_ns} ns"}

    flows = range(FLOWS)
    return {
        "name": "peers/queues",
        "seed": network.seed,
        "ties": "first-come",
        "hosts": [f"{side}{flow}" for flow in flows for side in "SD"],
        "routers": ["L", "R"],
        "links": [
            link("bottleneck", ["L", "R"], RATE_BPS, round(DELAY_S * 1e9))
            | {"forward": {"queue": queue.ours}, "backward": {"queue": deep}},
            *(
                link(f"s{flow}", [f"S{flow}", "L"], ACCESS_BPS, network.delays_ns[flow])
                | {"queue": deep}
                for flow in flows
            ),
            *(
                link(f"d{flow}", ["R", f"D{flow}"], ACCESS_BPS, 1_000_000) | {"queue": deep}
                for flow in flows
            ),
        ],
        "flows": [
            {"id": f"F{flow}", "from": f"S{flow}", "to": f"D{flow}", "tcp": TCP,
             "start": f"{network.starts_ns[flow]} ns"}
            for flow in flows
        ],
        "record": {"kind": "none", **dict.fromkeys(("transmissions", "queue", "drops"), "changes")},
        "stop": {"when": "time", "at_latest": f"{UNTIL_S} s"},
    }  # fmt: skip


def ours(queue: Discipline, network: Network) -> Run:
    """What Ackclock measures."""
    results = run(Scenario.from_dict(document(queue, network)))
    on = {"link": "bottleneck", "direction": "forward"}
    sent_s, entered_s, flows, seqs = select(
        results, "transmissions", ("time_s", "entered_s", "flow", "seq"), kind="data", **on
    )
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
    figures = Figures(
        goodput_bps=8 * SEGMENT * new / (UNTIL_S - FROM_S),
        mean_packets=float(step_mean(changed_s, waiting, FROM_S, UNTIL_S)),
        mean_wait_s=float((sent_s - entered_s)[within].mean()),
        drops=int(((lost_s >= FROM_S) & (lost_s < UNTIL_S)).sum()),
    )
    numbers = np.array([int(name[1:]) for name in flows.tolist()])
    return Run(figures, np.column_stack([np.rint(1e9 * sent_s).astype(np.int64), numbers, seqs]))


def alike(one: Run, other: Run) -> tuple[int, int]:
    """Segments that are the same from the start on, and all of the shorter run."""
    length = min(len(one.segments), len(other.segments))
    differ = (one.segments[:length] != other.segments[:length]).any(axis=1)
    return (int(differ.argmax()) if differ.any() else length), length


def verdict(band: list[float], found: list[float]) -> str:
    """Whether our mean is in their band; if not, how far outside, and whether the ranges meet."""
    low, high, middle = min(band), max(band), mean(found)
    if low <= middle <= high:
        return "inside"
    away = max(low - middle, middle - high)
    meet = min(found) <= high and max(found) >= low
    share = away / (low if middle < low else high)
    return f"{'ranges meet, mean ' if meet else ''}{share:.1%} outside"


def welch(them: list[float], us: list[float]) -> str:
    """Welch's t of two means, where there is a spread."""
    if len(us) < 2 or len(them) < 2:
        return ""
    error = np.sqrt(np.var(them, ddof=1) / len(them) + np.var(us, ddof=1) / len(us))
    return f"{(mean(us) - mean(them)) / error:+.2f}" if error > 0.0 else ""


def rows(name: str, them: list[Run], us: list[Run]) -> list[str]:
    """Lines of the table for one discipline."""
    same = ", ".join(f"{k} of {n}" for k, n in map(alike, them, us))
    lines = [f"| {name} | the same segments | {same} | | | |"]
    for key, (label, factor) in UNITS.items():
        band, found = ([asdict(each.figures)[key] * factor for each in side] for side in (them, us))
        ranges = [f"{min(side):.4g} to {max(side):.4g}" for side in (band, found)]
        middle = f"{mean(found):.4g} ({ranges[1]})"
        cells = [name, label, ranges[0], middle, verdict(band, found), welch(band, found)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(DISCIPLINES), nargs="+", default=list(DISCIPLINES))
    parser.add_argument("--runs", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default 1)")
    parser.add_argument("--own", action="store_true", help="the sender of ns-3 as it is")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this share")
    options = parser.parse_args()
    ns3 = folder()
    if ns3 is None or shutil.which("g++") is None:
        print("Skipped: there is no ns-3 (`pip install ns3`), or no g++.", file=sys.stderr)
        return 0
    print("| Queue | Figure | ns-3.44 | Ours | | t |")
    print("| --- | --- | --- | --- | --- | --- |")
    lines = []
    with tempfile.TemporaryDirectory() as into:
        program = compiled(ns3, Path(into))
        for name in options.only:
            queue = DISCIPLINES[name]
            networks = [Network.drawn(options.seed + number) for number in range(options.runs)]
            them = [theirs(program, queue, each, options.own) for each in networks]
            us = [ours(queue, each) for each in networks]
            found = rows(name, them, us)
            print("\n".join(found), flush=True)
            lines += found[1:]
    meet = sum("inside" in line or "meet" in line for line in lines)
    print(f"{meet} of {len(lines)} figures have ranges that meet", file=sys.stderr)
    return 0 if meet >= options.least * len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
