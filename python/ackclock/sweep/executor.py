"""What simulates: batches go in, receipts come out. Here: processes on this machine.

An executor knows no study and no table. It gets batches of keys and documents, has each finished
run written to the batch's journal, and hands out receipts. `ackclock.sweep.cluster` has one that
works on other machines.

Processes rather than threads, so that a run that ends its process (a bug in the engine, memory that
the system takes back) costs that run and no other: the process has reported which one it was. That
run is tried once more, and what is left of the batch goes to a new process.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from ackclock.errors import AckclockError
from ackclock.sweep import figures, worker
from ackclock.sweep.model import Batch, Receipt, Runs, parted

# After this many processes that ended before they began with a run, none will.
_MOST_IN_VAIN = 3
# A run that ends its process while it is alone is begun once more: memory may have been short
# because of something else, or somebody may have ended the process.
_MOST_DEATHS = 2
# Runs that are simulated in one call take about this long: the most that a kill can cost a process,
# apart from a run that takes longer itself.
_TURN_S = 0.05


class Executor(Protocol):
    """Something that simulates batches."""

    @property
    def capacity(self) -> int:
        """How many batches it takes at a time; this may change."""
        ...

    @property
    def batch_s(self) -> float:
        """How long a batch should last, seconds."""
        ...

    def submit(self, batch: Batch) -> Future[list[Receipt]]:
        """Take a batch; the future holds receipts for all of its runs.

        Once the future is cancelled, nothing is written any more.
        """
        ...

    def close(self) -> None:
        """Stop at once; runs in the middle are given up. What is in journals stays."""
        ...


class LocalExecutor:
    """Processes on this machine.

    Args:
        workers: How many.
        inherit: Descriptor of a lock that the processes hold as long as they live.
    """

    # What a process does between two orders, and between two news.
    batch_s = 0.25

    def __init__(self, workers: int, inherit: int | None = None) -> None:
        self.capacity = workers
        self._inherit = inherit
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="sweep")
        self._guard = threading.Lock()
        self._idle: list[_Process] = []
        self._all: list[_Process] = []
        self.closed = False
        # They take a moment to start, which passes while the work is prepared.
        self._idle += [self._start() for _ in range(workers)]

    @property
    def processes(self) -> list[int]:
        """Ids of the processes that are alive."""
        return [process.pid for process in self._all if process.is_alive()]

    def submit(self, batch: Batch) -> Future[list[Receipt]]:
        """Take a batch."""
        return self._pool.submit(self._work, batch)

    def close(self) -> None:
        """Stop all processes at once."""
        with self._guard:
            self.closed = True
            processes = list(self._all)
        for process in processes:
            process.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for process in processes:
            process.release()

    def _start(self) -> _Process:
        with self._guard:
            if self.closed:
                raise ExecutorClosedError
            process = _Process(self._inherit)
            self._all.append(process)
            return process

    def _work(self, batch: Batch) -> list[Receipt]:
        receipts: list[Receipt] = []
        left = batch.runs
        deaths, alone, in_vain = 0, False, 0
        while left:
            process = self._take()
            # One by one after a death, so that it shows which run it was.
            got, broken = process.work(batch, left, 0.0 if alone else _TURN_S)
            receipts += got
            _, left = parted(left, sum(len(receipt.keys) for receipt in got))
            if got:
                deaths = 0
            if broken is None:
                self._give_back(process)
                continue
            if self.closed:
                raise ExecutorClosedError
            process.stop()
            process.release()
            with self._guard:
                self._all.remove(process)
            if not broken.begun:
                # Somebody may have ended an idle process; one that never works is another matter.
                in_vain = 0 if got else in_vain + 1
                if in_vain == _MOST_IN_VAIN:
                    raise AckclockError(f"a worker process cannot simulate: {broken.reason}")
                continue
            alone = True
            deaths += broken.begun == 1
            if deaths == _MOST_DEATHS:
                receipts.append(failure(batch, left[0], broken.reason, broken.wall_s))
                _, left = parted(left, 1)
                deaths = 0
        return receipts

    def _take(self) -> _Process:
        with self._guard:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _give_back(self, process: _Process) -> None:
        with self._guard:
            self._idle.append(process)


class ExecutorClosedError(Exception):
    """The executor was closed before the batch was done."""


@dataclass(frozen=True)
class _Broken:
    """A process ended: why, how many runs it had begun together, and how long ago."""

    reason: str
    begun: int
    wall_s: float


class _Process:
    def __init__(self, inherit: int | None) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `stop`
        package = str(Path(__file__).resolve().parents[2])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            # -P: a file `json.py` in the current folder is none of our modules.
            [sys.executable, "-P", "-m", "ackclock.sweep.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            pass_fds=[] if inherit is None or os.name == "nt" else [inherit],
            # Ctrl-C on the terminal is for the parent.
            process_group=0,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def work(
        self, batch: Batch, runs: Sequence[Runs], turn_s: float
    ) -> tuple[list[Receipt], _Broken | None]:
        """Have runs of a batch simulated; return receipts, and what happened if not all are done.

        Args:
            batch: Where the results go.
            runs: The runs.
            turn_s: How long runs are simulated in one call; 0 for one by one.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {
            "journal": str(batch.journal),
            "log": str(batch.log),
            "runs": [[one.document, one.first_seed, one.keys] for one in runs],
            "turn_s": turn_s,
            "time_limit_s": batch.time_limit_s,
            "memory_limit": batch.memory_limit,
        }
        keys = iter([key for one in runs for key in one.keys])
        receipts: list[Receipt] = []
        begun, since = 0, 0.0
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return [], _Broken(self._last_words(), 0, 0.0)
        for line in self._process.stdout:
            what, *words = line.decode().split()
            if what == "end":
                return receipts, None
            count = int(words[1])
            if what == "start":
                begun, since = begun + count, time.perf_counter()
                continue
            begun -= count
            if what != "back":
                over = tuple(itertools.islice(keys, count))
                receipts.append(Receipt(over, what, float(words[2])))
        wall_s = time.perf_counter() - since if begun else 0.0
        return receipts, _Broken(self._last_words(), begun, wall_s)

    def stop(self) -> None:
        """End the process: it ends by itself when its input does."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def release(self) -> None:
        """Close what is left of a process that has ended."""
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _last_words(self) -> str:
        """Return why the process ended: what it wrote, else how the system ended it."""
        status = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        if "panicked at" in said:
            return said[said.index("panicked at") :].split("\n  hint:")[0].strip()
        if said:
            lines = said.splitlines()
            # Rust goes on after it.
            return next((line for line in lines if "memory allocation of" in line), lines[-1])
        if status < 0:
            return f"the process was ended by {signal.Signals(-status).name}"
        return f"the process ended with status {status}"


def failure(batch: Batch, runs: Runs, reason: str, wall_s: float) -> Receipt:
    """Write the line of a run whose process ended, in the place of that process."""
    key = runs.keys[0]
    if batch.memory_limit is not None and "memory" in reason.lower():
        reason += f" (the limit of memory is {batch.memory_limit} bytes)"
    # The process may have left half a line.
    with worker.appending(batch.journal) as journal, worker.appending(batch.log) as log:
        worker.append(journal, b"\n" + figures.failed(key, runs.first_seed, reason))
        worker.append(log, worker.entry("failed", key, 1, f"{wall_s:.6f}"))
    return Receipt((key,), "failed", wall_s)
