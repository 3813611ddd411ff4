"""Sweeps of 2,000 runs on Dask, in order and with all that can end: ``make bench-cluster``.

A scheduler and two workers are started on this machine, each a process of its own. The rows must
have the same bytes as those of local processes: undisturbed, with a worker that is killed at 40 %
of the runs, and with the program killed at 40 % and started again. Of a study with a run that ends
its process, or every worker that begins with it, only that run may be a failed row. No run may be
simulated twice but those that were lost, and undisturbed there may be at most 100 submissions.
Processor time is shown only: on a busy machine a run lasts longer and has more of what Dask does by
the clock. `cluster_instructions.py` holds the cost of a run against a limit.

It takes some minutes. Exit status 1 if something is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ackclock.bench.workloads import dumbbell
from ackclock.sweep import DaskExecutor, Study

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))
from dask_cluster import DEADLY, Cluster

COMBINATIONS = 20
LOST_AT = 0.4
MOST_SUBMISSIONS = 100
TICK = os.sysconf("SC_CLK_TCK")
COMMAND = [sys.executable, "-c", "from ackclock.cli.app import program; program()", "sweep"]


class Bench:
    """The study, its rows as local processes make them, and what was not as it must be."""

    def __init__(self, folder: Path, runs: int, seconds: float) -> None:
        self.folder, self.runs = folder, runs
        self.base = dumbbell(1, seconds)
        rates = [f"{9500 + i} kbps" for i in range(COMBINATIONS)]
        self.parts = {
            "grid": {"topology.bottleneck.rate": rates},
            "replications": runs // COMBINATIONS,
        }
        self.study = Study(self.base, **self.parts)
        self.keys = self.study.plan(2).keys
        self.rows = b""
        self.wrong = 0

    def check(self, what: str, good: bool, figure: object = "") -> None:
        """Print a line."""
        print(
            f"{'ok   ' if good else 'WRONG'}  {what}{f': {figure}' if figure else ''}", flush=True
        )
        self.wrong += not good

    def complete(self, what: str, name: str) -> None:
        """Check the rows of a folder and how often each run is reported as done."""
        folder = self.folder / name
        self.check(f"{what}: rows", (folder / "results.parquet").read_bytes() == self.rows)
        place = {key: index for index, key in enumerate(self.keys)}
        done: Counter[int] = Counter()
        for words in map(str.split, (folder / "log.txt").read_text().splitlines()):
            if words[2] == "done":
                done.update(range(place[words[3]], place[words[3]] + int(words[4])))
        once = len(done) == self.runs and set(done.values()) == {1}
        self.check(f"{what}: each run once", once)

    def locally(self) -> float:
        """Run on this machine; returns the seconds of processor time of a run."""
        before = _children()
        self.study.run(self.folder / "here", workers=2)
        self.rows = (self.folder / "here/results.parquet").read_bytes()
        return (_children() - before) / self.runs

    def undisturbed(self, local_s: float) -> None:
        """Compare processor time and count submissions."""
        with self.cluster("calm") as (cluster, executor):
            workers = cluster.started
            before = sum(map(_cpu, workers))
            sent = 0
            submit = executor._client.submit

            def counting(*args: Any, **options: Any) -> Any:
                nonlocal sent
                sent += 1
                return submit(*args, **options)

            executor._client.submit = counting
            self.study.run(self.folder / "calm", executor=executor)
            ratio = (sum(map(_cpu, workers)) - before) / self.runs / local_s
        self.complete("two workers", "calm")
        print(f"       two workers: {ratio:.2f} of the processor time of local ones", flush=True)
        self.check("two workers: submissions", sent <= MOST_SUBMISSIONS, sent)

    def worker_killed(self) -> None:
        """Kill a worker."""
        with self.cluster("hurt") as (cluster, executor):
            victims = cluster.started[:1]

            def kill(state: Any) -> None:
                if victims and state.simulated >= LOST_AT * self.runs:
                    victims.pop().kill()

            self.study.run(self.folder / "hurt", executor=executor, progress=kill)
        self.check("a worker killed: it was", not victims)
        self.complete("a worker killed", "hurt")

    def program_killed(self) -> None:
        """Kill the program and start it again."""
        (self.folder / "base.json").write_text(json.dumps(self.base))
        study = {"study": self.base["name"], "base": "base.json", **self.parts}
        (self.folder / "study.yaml").write_text(json.dumps(study))
        with self.cluster("again") as (cluster, _):
            command = [*COMMAND, "study.yaml", "--on", cluster.address, "--out", "again", "--json"]
            first = subprocess.Popen(command, cwd=self.folder, stdout=-3, stderr=-3)
            log = self.folder / "again/log.txt"
            while first.poll() is None and _reported(log) < LOST_AT * self.runs:
                time.sleep(0.02)
            first.kill()
            self.check("the program killed: it was", first.wait() == -9, f"{_reported(log)} runs")
            subprocess.run(command, cwd=self.folder, check=True, stdout=-3)
        self.complete("the program killed", "again")

    def run_ends_its_process(self) -> None:
        """One run needs more memory than it may."""
        large = {"flows": [{**self.base["flows"][0], "count": 20_000}], "topology.leaves": 20_000}
        number = self.runs // 2
        sizes: dict[str, Any] = {
            f"n{i}": large if i == number else {"stop.events": 10**9 + i} for i in range(self.runs)
        }
        study = Study(self.base, grid={"size": sizes})
        with self.cluster("large") as (_, executor):
            results = study.run(executor=executor, memory_limit=64_000_000)
        states = results.table["status"].to_pylist()
        failed = [index for index, state in enumerate(states) if state == "failed"]
        self.check("a run that ends its process is the one failed row", failed == [number], failed)

    def worker_dies_of_it(self) -> None:
        """One run ends each worker that begins with it."""
        place = self.folder / "deadly"
        place.mkdir()
        cluster = Cluster(place, allowed_failures=0)
        number = self.runs // 3
        try:
            cluster.worker(DEADLY.format(key=self.keys[number]), nanny=True)
            cluster.worker(DEADLY.format(key=self.keys[number]), nanny=True)
            with DaskExecutor(cluster.address) as executor:
                results = self.study.run(executor=executor)
        finally:
            cluster.close()
        states = results.table["status"].to_pylist()
        failed = [index for index, state in enumerate(states) if state == "failed"]
        self.check("a run that workers die of is the one failed row", failed == [number], failed)

    @contextmanager
    def cluster(self, name: str) -> Any:
        """A scheduler with two workers."""
        place = self.folder / f"cluster-{name}"
        place.mkdir()
        cluster = Cluster(place)
        try:
            cluster.started = [cluster.worker(), cluster.worker()]
            with DaskExecutor(cluster.address) as executor:
                while sum(executor._client.nthreads().values()) < 2:
                    time.sleep(0.05)
                yield cluster, executor
        finally:
            cluster.close()


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu(process: subprocess.Popen[bytes]) -> float:
    """The processor time of a process and of the children that it has now or had, seconds."""
    total = 0.0
    waiting = [str(process.pid)]
    while waiting:
        folder = Path("/proc") / waiting.pop()
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) / TICK
        for thread in (folder / "task").iterdir():
            waiting += (thread / "children").read_text().split()
    return total


def _reported(log: Path) -> int:
    lines = log.read_text().splitlines() if log.exists() else []
    return sum(int(words[4]) for words in map(str.split, lines) if words[2:3] == ["done"])


def main() -> int:
    """Measure; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Sweeps on Dask, whatever ends")
    parser.add_argument("--runs", type=int, default=2000, help="runs of the study")
    parser.add_argument("--seconds", type=float, default=40.0, help="simulated seconds of a run")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), chosen.runs, chosen.seconds)
        local_s = bench.locally()
        print(f"       {chosen.runs} runs, {local_s * 1000:.1f} ms of processor time each, locally")
        bench.undisturbed(local_s)
        bench.worker_killed()
        bench.program_killed()
        bench.run_ends_its_process()
        bench.worker_dies_of_it()
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
