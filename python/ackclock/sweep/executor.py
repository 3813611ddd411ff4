"""What simulates: batches go in, receipts come out. Here: processes on this machine.

An executor knows no study and no table. It gets batches of keys and documents, has each finished
run written to the batch's journal, and hands out receipts. Another one (a cluster) needs the three
members of `Executor` and a file system that it shares with the store.

Processes rather than threads, so that a run that ends its process (a bug in the engine, memory
that the system takes back) costs that run and no other: the process has told which one it was, and
the rest of the batch goes to a new process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Protocol

from ackclock.errors import AckclockError
from ackclock.sweep import figures, worker

# After so many processes that ended before they began with a run, none will.
_MOST_IN_VAIN = 3


@dataclass(frozen=True)
class Run:
    """A run to simulate: its key, its seed, its document as JSON text."""

    key: str
    seed: int
    document: str


@dataclass(frozen=True)
class Batch:
    """Runs that are simulated one after the other.

    Attributes:
        journal: The file that gets a line for each finished run; no other batch writes there.
        log: The file that gets a line for each start and end.
        runs: The runs.
    """

    journal: Path
    log: Path
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Receipt:
    """A run that is over and stands in the journal: `done` or `failed`, and how long it took."""

    key: str
    status: str
    wall_s: float


class Executor(Protocol):
    """Something that simulates batches."""

    @property
    def capacity(self) -> int:
        """How many batches it works on at a time."""
        ...

    def submit(self, batch: Batch) -> Future[list[Receipt]]:
        """Take a batch; the future holds one receipt for each of its runs."""
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

    def __init__(self, workers: int, inherit: int | None = None) -> None:
        self.capacity = workers
        self._inherit = inherit
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="sweep")
        self._guard = threading.Lock()
        self._idle: list[_Process] = []
        self._all: list[_Process] = []
        self._closed = False
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
            self._closed = True
            processes = list(self._all)
        for process in processes:
            process.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for process in processes:
            process.release()

    def _start(self) -> _Process:
        with self._guard:
            if self._closed:
                raise ExecutorClosedError
            process = _Process(self._inherit)
            self._all.append(process)
            return process

    def _work(self, batch: Batch) -> list[Receipt]:
        receipts: list[Receipt] = []
        left = batch.runs
        in_vain = 0
        while left:
            process = self._take()
            got, broken = process.work(replace(batch, runs=left))
            receipts += got
            left = left[len(got) :]
            if broken is None:
                self._give_back(process)
                continue
            if self._closed:
                raise ExecutorClosedError
            process.stop()
            process.release()
            with self._guard:
                self._all.remove(process)
            if not broken.started:
                # Somebody may have ended an idle process; one that never works is another matter.
                in_vain = 0 if got else in_vain + 1
                if in_vain == _MOST_IN_VAIN:
                    raise AckclockError(f"a worker process cannot simulate: {broken.reason}")
                continue
            receipts.append(_failure(batch, left[0], broken))
            left = left[1:]
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
    """A process ended: why, whether a run had been started, and how long ago."""

    reason: str
    started: bool
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
            pass_fds=[] if inherit is None else [inherit],
            # Ctrl-C on the terminal is for the parent.
            process_group=0,
        )
        self.pid = self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def work(self, batch: Batch) -> tuple[list[Receipt], _Broken | None]:
        """Have a batch simulated; return the receipts, and what happened if it is not complete."""
        assert self._process.stdin is not None and self._process.stdout is not None
        order = {
            "journal": str(batch.journal),
            "log": str(batch.log),
            "runs": [[run.key, run.seed, run.document] for run in batch.runs],
        }
        receipts: list[Receipt] = []
        started: float | None = None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return [], _Broken(self._last_words(), False, 0.0)
        for line in self._process.stdout:
            what, *words = line.decode().split()
            if what == "end":
                return receipts, None
            if what == "start":
                started = time.perf_counter()
            else:
                receipts.append(Receipt(words[0], what, float(words[1])))
                started = None
        since = 0.0 if started is None else time.perf_counter() - started
        return receipts, _Broken(self._last_words(), started is not None, since)

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
            return said[said.index("panicked at") :].split("\nnote:")[0].strip()
        if said:
            return said.splitlines()[-1]
        if status < 0:
            return f"the process was ended by {signal.Signals(-status).name}"
        return f"the process ended with status {status}"


def _failure(batch: Batch, run: Run, broken: _Broken) -> Receipt:
    """Write the row of a run whose process ended, in the place of that process."""
    row = figures.failed(run.key, run.seed, broken.reason)
    # The process may have left half a line.
    with worker.appending(batch.journal) as journal, worker.appending(batch.log) as log:
        worker.append(journal, "\n" + json.dumps(row, ensure_ascii=False) + "\n")
        worker.append(log, worker.entry("failed", run.key, f"{broken.wall_s:.6f}"))
    return Receipt(run.key, "failed", broken.wall_s)
