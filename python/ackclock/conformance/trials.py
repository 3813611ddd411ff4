"""Trials: an algorithm on a network, run in another process, and the figures of the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import AckclockError


@dataclass(frozen=True)
class Trial:
    """One run: the name of the network, the algorithm, and in which process it is to be.

    Attributes:
        network: Name of the network.
        who: Name of the algorithm.
        process: Place among the processes, for a run that must not share one with another run.
        guarded: Whether the first window below one segment ends the run, so that its line is known.
    """

    network: str
    who: str
    process: int | None = None
    guarded: bool = False


Figures = dict[str, Any]


def run_all(
    trials: Iterable[Trial],
    algorithms: dict[str, Any],
    workers: int,
    done: Callable[[int, int], None] | None = None,
) -> dict[Trial, Figures]:
    """Run trials in processes; return the figures of each.

    Args:
        trials: What to run.
        algorithms: Value of `cc` for each name.
        workers: Number of processes, at least two.
        done: Called with how many trials are done, and of how many.
    """
    todo = list(trials)
    places = [[t for t in todo if t.process == place] for place in range(workers)]
    shared = [trial for trial in todo if trial.process is None]
    guard = threading.Lock()
    found: dict[Trial, Figures] = {}
    processes = [_Process(place) for place in range(workers)]

    def work(place: int) -> None:
        while True:
            with guard:
                mine = places[place] or shared
                if not mine:
                    return
                trial = mine.pop(0)
            figures = processes[place].run(trial, algorithms[trial.who])
            with guard:
                found[trial] = figures
                if done is not None:
                    done(len(found), len(todo))

    pool = ThreadPoolExecutor(workers)
    try:
        for future in [pool.submit(work, place) for place in range(workers)]:
            future.result()
    finally:
        # After Ctrl-C this ends what the threads wait for.
        for process in processes:
            process.close()
        pool.shutdown(cancel_futures=True)
    return found


class _Process:
    """A process with a seed of hashes of its own: what depends on that shows."""

    def __init__(self, place: int) -> None:
        package = str(Path(__file__).resolve().parents[2])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ackclock.conformance.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                "PYTHONHASHSEED": str(place + 1),
            },
            process_group=0,
            text=True,
        )

    def run(self, trial: Trial, cc: Any) -> Figures:
        """Run one trial."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {"network": trial.network, "cc": cc, "guarded": trial.guarded}
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            status = self._process.wait()
            raise AckclockError(
                f"the process of the trial '{trial.network}' has ended with status {status}"
            )
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
