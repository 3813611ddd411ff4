"""Compares the speed of the engine with that of ns-2 on the dumbbells: ``make bench-ns2``.

Both do the same work in turn, several times, each in a process of its own. A machine that is busy
or slow slows both, so the ratio is what to read. The cost of setting ns-2 up, which grows with the
square of the flows, is measured by a run of no length and taken out.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ackclock.bench.workloads import COUNTS, dumbbell

SCRIPT = Path(__file__).with_name("dumbbell.tcl")
NOTHING_S = 1e-4
PROMISED = {10: 4.5, 100: 7.8, 1000: 18.3}
"""How many times as long as ours a packet-hop of ns-2 takes at least, by flows."""


def ns2(program: str, flows: int, seconds: float) -> tuple[float, int]:
    """Seconds of CPU of a run of ns-2, and the data packets that it sent."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, SCRIPT, str(flows), f"{seconds:g}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, int(done.stdout)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="the ackclock-bench program")
    parser.add_argument("--flows", type=int, nargs="+", default=[10, 100], help="default 10 100")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default 5)")
    options = parser.parse_args()
    program = shutil.which("ns")
    if program is None:
        print("ns-2 is not installed: there is no program `ns`.", file=sys.stderr)
        return 2
    table = Table(title="Cost of a packet-hop against ns-2, in turn")
    table.add_column("workload", no_wrap=True)
    for name in ("ns-2, ns (least, median)", "ours", "ratio", "packets of ns-2", "ours", "limit"):
        table.add_column(name, justify="right")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dumbbell.json"
        for flows, seconds in COUNTS:
            if flows not in options.flows:
                continue
            path.write_text(json.dumps(dumbbell(flows, seconds)))
            theirs, ours, sent = [], [], 0
            for _ in range(options.rounds):
                spent, sent = ns2(program, flows, seconds)
                setup, _ = ns2(program, flows, NOTHING_S)
                done = subprocess.run(
                    [options.program, path], capture_output=True, text=True, check=True
                )
                run = json.loads(done.stdout)
                # Where ns-2 sends more packets, it has done more.
                hops = run["packet_hops"] * sent / run["segments_sent"]
                theirs.append(1e9 * (spent - setup) / hops)
                ours.append(1e9 * run["cpu_s"] / run["packet_hops"])
            both = [(min(each), statistics.median(each)) for each in (theirs, ours)]
            ratios = [a / b for a, b in zip(*both, strict=True)]
            promised = PROMISED.get(flows, 0.0)
            above = min(ratios) >= promised
            kept = kept and above
            table.add_row(
                f"dumbbell {flows:,}, {seconds:g} s",
                *(f"{least:.0f}, {median:.0f}" for least, median in both),
                ", ".join(f"{ratio:.1f}" for ratio in ratios),
                f"{sent:,}",
                f"{run['segments_sent']:,}",
                f"{'within' if above else 'BELOW'} {promised:g}",
            )
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
