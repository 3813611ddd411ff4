"""Instructions of a run that Dask carries, against one on this machine: ``make bench-cluster``.

Program, scheduler, worker and the process in which the worker simulates are counted by callgrind,
beside the program and the process of a local sweep, each with few runs and with many: the
difference is what a run costs, without start-up. What goes by the clock is slowed down as much as
callgrind slows the processor down. All together Dask may take 5 % more.

It takes some minutes. Exit status 1 if Dask takes more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import callgrind

from ackclock.bench.workloads import dumbbell
from ackclock.sweep import DaskExecutor, Study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))
from dask_cluster import Cluster

SEEDS = 20
MOST = 1.05
SIMULATES = "ackclock.sweep.worker"
PARTS = {SIMULATES: "simulates", "--study": "program", "worker": "worker", "scheduler": "scheduler"}
"""Words of a command line, and what they stand for."""


def study(combinations: int) -> Study:
    """Return the study of `make bench-sweep`."""
    rates = [f"{9500 + i} kbps" for i in range(combinations)]
    return Study(dumbbell(1, 10), grid={"topology.bottleneck.rate": rates}, replications=SEEDS)


def simulate(combinations: int, address: str) -> None:
    """Run it, on Dask if there is an address; this is what callgrind counts."""
    if not address:
        callgrind.stretch_time()
        study(combinations).run(workers=1)
        return
    with DaskExecutor(address, timeout_s=600) as executor:
        callgrind.stretch_time()
        while not executor.workers:
            time.sleep(1)
        study(combinations).run(executor=executor)


def count(combinations: int, *, on_dask: bool) -> Counter[str]:
    """Return the instructions of each part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = callgrind.command(folder)
        program = [*before, sys.executable, __file__, "--study", str(combinations)]
        if not on_dask:
            subprocess.run(program, check=True, stdout=-3, stderr=-3)
            return _parts(folder, 2)
        slow = "import sys; sys.path.insert(0, {!r}); import callgrind; callgrind.stretch_time()"
        slow = slow.format(str(Path(__file__).parent))
        cluster = Cluster(folder, before=before, preload=slow)
        try:
            cluster.worker()
            subprocess.run([*program, "--on", cluster.address], check=True, stdout=-3, stderr=-3)
        finally:
            cluster.close(patience_s=300)
        return _parts(folder, 4)


def _parts(folder: Path, processes: int) -> Counter[str]:
    """Add up what has been counted, when that many processes have ended."""
    deadline = time.monotonic() + 300
    while True:
        found: Counter[str] = Counter()
        for command, instructions in callgrind.counts(folder):
            part = next((part for words, part in PARTS.items() if words in command), None)
            # Others, such as `uname`, run once only.
            if part is not None:
                found[part] += instructions
        if len(found) == processes:
            return found
        assert time.monotonic() < deadline, f"processes do not end: {dict(found)}"
        time.sleep(1)


def main() -> int:
    """Compare; 1 if Dask takes too much."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--runs", type=int, default=600, help="runs that are counted (default 600)")
    parser.add_argument("--study", type=int, metavar="N", help="only run N combinations")
    parser.add_argument("--on", default="", metavar="ADDRESS", help="the same on a scheduler")
    options = parser.parse_args()
    if options.study:
        simulate(options.study, options.on)
        return 0
    if not callgrind.is_there():
        print("Not counted: instructions (they need valgrind)")
        return 0
    few, many = 5, 5 + options.runs // SEEDS
    totals = []
    for on_dask in (False, True):
        short, long = (count(combinations, on_dask=on_dask) for combinations in (few, many))
        run = {part: (long[part] - short[part]) / (SEEDS * (many - few)) for part in long}
        totals.append(sum(run.values()))
        shown = ", ".join(f"{part} {cost / 1e6:.2f}" for part, cost in sorted(run.items()))
        place = "Dask" if on_dask else "here"
        print(
            f"       million instructions per run, {place}: {totals[-1] / 1e6:.2f} ({shown})",
            flush=True,
        )
    ratio = totals[1] / totals[0]
    good = ratio <= MOST
    print(f"{'ok   ' if good else 'WRONG'}  instructions per run, Dask to here: {ratio:.3f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
