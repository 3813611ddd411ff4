"""Measures what small runs cost in sweeps: ``make bench-sweep``.

The run is one flow over a dumbbell of 10 Mbps for 10 s, in 100 combinations with 20 seeds each. Its
processor time is measured in one call of the engine, and in a sweep with one worker. The same study
with runs of a nanosecond shows what comes beside the events; its instructions are counted by
callgrind where that is installed. Each figure of a sweep is the difference of a long and a short
one, so start-up drops out; it is printed by itself.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import callgrind
from rich.console import Console
from rich.table import Table

from ackclock import _core
from ackclock.bench.workloads import dumbbell
from ackclock.sweep import Study, figures

SEEDS = 20
MOMENT = 1e-9
"""Seconds of a run without events."""
LIMITS = {
    "runs a CPU second, one call of the engine": (900, 600),
    "runs a CPU second, sweep": (800, 500),
    "instructions of a worker beside the events": (0.4e6, 0.6e6),
    "instructions of the program beside the workers": (0.6e6, 1.0e6),
}
"""Goal, and what must be."""


def simulate(seconds: float, combinations: int) -> tuple[float, float]:
    """Run the study; return the processor time of this process and of the worker."""
    rates = [f"{9500 + i} kbps" for i in range(combinations)]
    study = Study(
        dumbbell(1, seconds), grid={"topology.bottleneck.rate": rates}, replications=SEEDS
    )
    before = [_cpu(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    with tempfile.TemporaryDirectory() as folder:
        study.run(Path(folder) / "sweep", workers=1)
    own, children = (_cpu(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own - before[0], children - before[1]


def _cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def in_one_call(rounds: int) -> float:
    """Return runs a CPU second of the engine alone."""
    keys = [str(seed) for seed in range(200)]
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        _core.rows([(json.dumps(dumbbell(1, 10)), 1, keys)], figures.LAYOUT)
        best = min(best, time.process_time() - started)
    return len(keys) / best


def in_a_sweep(rounds: int) -> tuple[float, float]:
    """Return runs a CPU second of a whole sweep without start-up, and the start-up in seconds."""
    simulate(MOMENT, 1)  # loads what sweeps need
    short, long = (
        min(sum(simulate(10, combinations)) for _ in range(rounds)) for combinations in (5, 55)
    )
    rate = 50 * SEEDS / (long - short)
    return rate, short - 5 * SEEDS / rate


def instructions() -> tuple[float, float]:
    """Return instructions per run beside the events: of a worker, and of the program."""
    counts = [_count(combinations) for combinations in (5, 105)]
    worker, program = ((long - short) / (100 * SEEDS) for short, long in zip(*counts, strict=True))
    return worker, program


def _count(combinations: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = [sys.executable, __file__, "--study", str(combinations)]
        subprocess.run([*callgrind.command(folder), *own], check=True, capture_output=True)
        found = callgrind.counts(folder)
    worker = sum(count for command, count in found if "ackclock.sweep.worker" in command)
    return worker, sum(count for command, count in found if "--study" in command)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="times to measure (default 3)")
    parser.add_argument("--no-instructions", action="store_true", help="do not run callgrind")
    parser.add_argument(
        "--study", type=int, metavar="N", help="only run N combinations of a moment"
    )
    options = parser.parse_args()
    if options.study:
        callgrind.stretch_time()
        simulate(MOMENT, options.study)
        return 0
    found: list[float | None] = [in_one_call(options.rounds)]
    rate, start_s = in_a_sweep(options.rounds)
    found.append(rate)
    if options.no_instructions or not callgrind.is_there():
        found += [None, None]
    else:
        found += instructions()
    table = Table(title=f"Small runs; a sweep takes {start_s:.2f} s of CPU to start and end")
    for heading in ("", "measured", "goal", "must"):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    met = True
    for (name, (goal, must)), value in zip(LIMITS.items(), found, strict=True):
        shown = "-" if value is None else f"{value:,.0f}"
        table.add_row(name, shown, f"{goal:,.0f}", f"{must:,.0f}")
        met &= value is None or (value >= must if goal > must else value <= must)
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
