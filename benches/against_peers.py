"""Compares the speed with that of other simulators on the dumbbells: ``make bench-peers``.

ns-2 (the program ``ns``), ns-3 (Debian's ``libns3-dev``) and htsim (the folder ``sim`` of
Broadcom/csg-htsim, in ``HTSIM``), each where it is there. All do the same work in turn, several
times, each in a process of its own. A machine that is busy or slow slows all, so the ratio is what
to read; the counts of packets say whether the work is the same. Set-up is not counted: ns-3, htsim
and we measure the events alone, and of ns-2, whose set-up grows with the square of the flows, a run
of no length is taken out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ackclock.bench.workloads import MOST_DIFFERENCE, dumbbell

PEERS = Path(__file__).with_name("peers")
SECONDS = {1: 600.0, 10: 60.0, 100: 6.0, 1000: 1.0, 10_000: 1.0}
"""Simulated time by flows; for ns-3 a tenth, or the bench would take an hour."""
LONGER = {("ns-2", 1000): 10.0}
"""Seconds that differ. ns-2's senders have no handshake: they send more in the first second, so
that the work is the same only in the long run."""
PROMISED = {
    ("ns-2", 10): 11.5,
    ("ns-2", 100): 19.0,
    ("ns-2", 1000): 38.0,
    ("ns-3", 10): 200.0,
    ("htsim", 10): 5.5,
    ("htsim", 100): 5.0,
    ("htsim", 1000): 8.5,
    ("htsim", 10_000): 9.0,
}
"""How many times as long as ours a packet of theirs takes at least, by flows."""
HTSIM = [
    *("eventlist", "tcppacket", "pipe", "queue", "tcp", "mtcp", "loggers", "logfile", "config"),
    *("network", "route", "sent_packets", "ndppacket", "trigger", "eth_pause_packet"),
    "fairpullqueue",
]
"""Sources of the library that the driver needs."""
NS3 = [f"ns3-{part}" for part in ["core", "network", "internet", "point-to-point", "applications"]]
NOTHING_S = 1e-4

Run = Callable[[int, float], tuple[float, int]]
"""Seconds of CPU of the events of a run with these flows and seconds, and data packets sent."""


@dataclass
class Pair:
    """One workload of a peer and of ours, in turn."""

    peer: str
    flows: int
    seconds: float
    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    sent: tuple[int, int] = (0, 0)

    def ratio(self) -> tuple[float, float]:
        """By the least and by the median of the rounds."""
        rounds = [a / b for a, b in zip(self.theirs, self.ours, strict=True)]
        return min(self.theirs) / min(self.ours), statistics.median(rounds)


def reported(program: Path) -> Run:
    """A program that prints what it counts and measures."""

    def run(flows: int, seconds: float) -> tuple[float, int]:
        command = [program, str(flows), f"{seconds:g}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        return figures["cpu_s"], figures["sent"]

    return run


def ns2(program: str) -> Run:
    """The script of ns-2, which prints its packets only."""

    def whole(flows: int, seconds: float) -> tuple[float, int]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [program, PEERS / "dumbbell.tcl", str(flows), f"{seconds:g}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, int(done.stdout)

    def run(flows: int, seconds: float) -> tuple[float, int]:
        spent, sent = whole(flows, seconds)
        return spent - whole(flows, NOTHING_S)[0], sent

    return run


def ours(program: Path, folder: Path) -> Run:
    """Our engine."""

    def run(flows: int, seconds: float) -> tuple[float, int]:
        path = folder / f"{flows}-{seconds:g}.json"
        if not path.exists():
            path.write_text(json.dumps(dumbbell(flows, seconds)))
        done = subprocess.run([program, path], capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        return figures["cpu_s"], figures["segments_sent"]

    return run


def compiled(name: str, words: list[str], folder: Path) -> Path:
    """A driver, compiled with these words after its name."""
    program = folder / name.partition(".")[0]
    command = ["g++", "-O3", "-DNDEBUG", "-std=c++17", "-w", "-o", program, PEERS / name, *words]
    subprocess.run(command, check=True)
    return program


def peers(folder: Path) -> dict[str, Run]:
    """The other simulators that are here; says which are not."""
    found: dict[str, Run] = {}
    missing = []
    if program := shutil.which("ns"):
        found["ns-2"] = ns2(program)
    else:
        missing.append("ns-2 (no program `ns`)")
    compiler = shutil.which("g++")
    source = Path(os.environ.get("HTSIM", ""))
    if compiler and (source / "tcp.cpp").exists():
        files = [str(source / f"{name}.cpp") for name in HTSIM]
        found["htsim"] = reported(compiled("dumbbell_htsim.cpp", [f"-I{source}", *files], folder))
    else:
        missing.append("htsim (HTSIM is not the folder `sim` of its source, or there is no g++)")
    words = ns3_words()
    if compiler and words:
        found["ns-3"] = reported(compiled("dumbbell_ns3.cc", words, folder))
    else:
        missing.append("ns-3 (libns3-dev or g++ is not installed)")
    if missing:
        print(f"Not compared: {'; '.join(missing)}.", file=sys.stderr)
    return found


def ns3_words() -> list[str]:
    """What the compiler needs for ns-3; nothing where that is not installed."""
    if shutil.which("pkg-config") is None:
        return []
    command = ["pkg-config", "--cflags", "--libs", *NS3]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return []
    # Debian's files name libraries of which the packages need not be installed.
    return [word for word in done.stdout.split() if word[0] != "/" or Path(word).exists()]


def measure(found: dict[str, Run], own: Run, flows: list[int], rounds: int) -> list[Pair]:
    """Runs everything, ``rounds`` times in turn."""
    pairs = []
    for n in flows:
        for peer in found:
            if (peer == "ns-3" and n > 10) or (peer == "ns-2" and n > 1000):
                continue  # too long: an hour, or the set-up alone
            seconds = SECONDS[n] / 10 if peer == "ns-3" else SECONDS[n]
            pairs.append(Pair(peer, n, LONGER.get((peer, n), seconds)))
    for _ in range(rounds):
        for pair in pairs:
            theirs, sent = found[pair.peer](pair.flows, pair.seconds)
            mine, my_sent = own(pair.flows, pair.seconds)
            # A packet's time: where one sends more, it has done more.
            pair.theirs.append(1e9 * theirs / sent)
            pair.ours.append(1e9 * mine / my_sent)
            pair.sent = (sent, my_sent)
    return pairs


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", type=Path, help="the ackclock-bench program")
    parser.add_argument(
        "--flows", type=int, nargs="+", choices=SECONDS, default=[10, 100, 1000],
        help="default 10 100 1000",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default 5)")
    parser.add_argument(
        "--only", nargs="+", choices=("ns-2", "ns-3", "htsim"), help="these peers only"
    )
    options = parser.parse_args()
    table = Table(title="CPU for a data packet on the dumbbell and its ACK, in turn")
    table.add_column("workload", no_wrap=True)
    for name in ("theirs, ns", "ours, ns", "ratio", "by rounds", "their packets", "ours", "limit"):
        table.add_column(name, justify="right")
    kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = peers(folder)
        if options.only:
            found = {name: run for name, run in found.items() if name in options.only}
        if not found:
            return 2
        own = ours(options.program, folder)
        for pair in measure(found, own, options.flows, options.rounds):
            least, median = pair.ratio()
            promised = PROMISED.get((pair.peer, pair.flows), 0.0)
            sent, my_sent = pair.sent
            same = abs(my_sent / sent - 1) <= MOST_DIFFERENCE
            good = least >= promised and same
            kept = kept and good
            table.add_row(
                f"{pair.peer}, {pair.flows:,} flows, {pair.seconds:g} s",
                f"{min(pair.theirs):.0f}",
                f"{min(pair.ours):.0f}",
                f"{least:.1f}",
                f"{median:.1f}",
                f"{sent:,}",
                f"{my_sent:,}",
                "OTHER WORK" if not same else f"{'within' if good else 'BELOW'} {promised:g}",
            )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
