"""Simulates what is missing of a plan and keeps it."""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ackclock.errors import InputError, flag_of, function_of, refuse
from ackclock.sweep import table as tables
from ackclock.sweep import worker
from ackclock.sweep.executor import Executor, LocalExecutor
from ackclock.sweep.model import Batch, Receipt
from ackclock.sweep.plan import Plan, cores, processes
from ackclock.sweep.results import SweepResults
from ackclock.sweep.shards import Shard
from ackclock.sweep.store import Store
from ackclock.uninterrupted import uninterrupted

# Its functions are made when it is imported, and unknown to checkers of types.
pc: Any = pyarrow.compute

_MOST_IN_BATCH = 20_000
# Journals of complete batches become a part this often.
_PART_S = 10.0
_NEWS_S = 0.2


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        done: Runs that are stored, those of earlier calls included.
        failed: Those among them that failed.
        total: Runs of the study, or of the shard.
        simulated: Runs that this call has simulated.
        wall_s: Seconds since it began to simulate.
        left_s: Seconds that it will still take, as far as can be estimated; None at first.
    """

    done: int
    failed: int
    total: int
    simulated: int
    wall_s: float
    left_s: float | None


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a sweep. `results` holds the runs that are done."""

    def __init__(self, results: SweepResults) -> None:
        super().__init__("the sweep was interrupted")
        self.results = results


@dataclass(frozen=True)
class Outlook:
    """What a study needs.

    Attributes:
        total: Runs of the study.
        done: Runs that are stored, failed ones included.
        failed: Those among them that failed.
        probed: Runs that were simulated for this outlook; they are stored.
        run_s: Mean wall time of a run, seconds; None where none is known.
        left_s: Estimate of the time that the missing runs take, seconds.
    """

    total: int
    done: int
    failed: int
    probed: int
    run_s: float | None
    left_s: float | None

    @property
    def missing(self) -> int:
        """Runs that are not stored."""
        return self.total - self.done


def run(
    plan: Plan,
    out: str | PathLike[str] | None,
    workers: int | None = None,
    *,
    retry_failed: bool = False,
    force: bool = False,
    time_limit_s: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
    executor: Executor | None = None,
    shard: Shard | None = None,
) -> SweepResults:
    """Simulate what is missing of a plan and write the table; see `Study.run`."""
    function_of("progress", progress)
    retry_failed = flag_of("retry_failed", retry_failed)
    limits = (time_limit_s, memory_limit)
    kept = None if out is None else nullcontext(out)
    with kept or tempfile.TemporaryDirectory(prefix="ackclock-sweep-") as folder:
        store = Store(folder)
        with _Session(plan, store, workers, force, executor, limits, shard) as session:
            try:
                missing = session.missing(retry_failed=retry_failed)
                if not missing and (written := session.written()) is not None:
                    return written
                session.simulate(missing, progress)
            except KeyboardInterrupt:
                session.stop()
                raise SweepInterrupted(session.results(keep=out is not None)) from None
            results = session.results(keep=out is not None)
        results.path = None if out is None else store.path
        return results


def outlook(
    plan: Plan,
    out: str | PathLike[str],
    workers: int | None = None,
    *,
    force: bool = False,
    time_limit_s: float | None = None,
    memory_limit: int | None = None,
    executor: Executor | None = None,
    probe_s: float = 2.0,
) -> Outlook:
    """Estimate what the missing runs of a plan take, from a few of them, which are kept.

    Args:
        plan: The plan.
        out: Folder of the sweep.
        workers: Processes that simulate.
        force: Use a folder of another study.
        time_limit_s: A run that takes longer is given up.
        memory_limit: Bytes that a process may take.
        executor: What simulates, instead of processes on this machine.
        probe_s: No further probe starts after this many seconds.
    """
    limits = (time_limit_s, memory_limit)
    with _Session(plan, Store(out), workers, force, executor, limits) as session:
        missing = session.missing(retry_failed=False)
        started = time.perf_counter()
        probed, wall_s = 0, 0.0
        while missing and probed < 8 * session.capacity:
            if probed and time.perf_counter() - started > probe_s:
                break
            some = [one for _ in range(session.capacity) for one in _take(missing, 1)]
            wall_s += sum(receipt.wall_s for receipt in session.simulate(some, None))
            probed += len(some)
        mean = wall_s / probed if probed else session.store.mean_duration()
        return _outlook(session.states(), probed, mean, session.capacity)


def status(plan: Plan, out: str | PathLike[str]) -> Outlook:
    """Say what is there of a plan, without simulating or writing anything."""
    store = Store(out)
    states = np.zeros(len(plan), np.int8)
    if store.exists():
        states = store.states(tables.key_column(plan.keys))
    return _outlook(states, 0, store.mean_duration(), cores())


def _outlook(states: np.ndarray, probed: int, mean: float | None, capacity: int) -> Outlook:
    """Return what a study needs, by what is stored of each run and the mean time of one."""
    done, failed = (states != tables.MISSING).sum(), (states == tables.FAILED).sum()
    left_s = None if mean is None else (len(states) - done) * mean / capacity
    return Outlook(len(states), int(done), int(failed), probed, mean, left_s)


def _take(missing: list[range], most: int) -> list[range]:
    """Take this many runs off the end of a list."""
    taken: list[range] = []
    while missing and most:
        last = missing.pop()
        own, rest = last[:most], last[most:]
        taken.append(own)
        most -= len(own)
        if rest:
            missing.append(rest)
    return taken


def _finished(over: SimpleQueue[Future[list[Receipt]]]) -> list[Future[list[Receipt]]]:
    """Return the batches that are over, after a while also if there is none.

    Unlike `concurrent.futures.wait` this takes no lock of a future.
    """
    found: list[Future[list[Receipt]]] = []
    try:
        found.append(over.get(timeout=_NEWS_S))
        while True:
            found.append(over.get_nowait())
    except Empty:
        return found


class _Session:
    """A plan, its folder held by a lock, and what simulates."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        workers: int | None,
        force: bool,
        executor: Executor | None,
        limits: tuple[float | None, int | None],
        shard: Shard | None = None,
    ) -> None:
        self.plan = plan
        self.store = store
        if getattr(executor, "closed", False) is True:
            raise InputError("`executor` was closed before; needed is an open one")
        if isinstance(executor, type) or not (executor is None or hasattr(executor, "capacity")):
            refuse("executor", executor, "a `DaskExecutor`, or another `ackclock.sweep.Executor`")
        self._workers = processes(workers)
        self._force = flag_of("force", force)
        self._given = executor
        self._executor = executor
        worker.require_limits(*limits, here=executor is None)
        self._limits = limits
        self._shard = shard
        self._open: list[Path] = []
        self._names = itertools.count()
        self._settled = time.monotonic()

    def __enter__(self) -> _Session:
        identity = self.plan.study.identity()
        # Before the folder is made, and again when nobody else can change it.
        self.store.require(identity, force=self._force)
        self._lock = self.store.lock()
        self._descriptor = self._lock.__enter__()
        try:
            self.store.require(identity, force=self._force)
            self._planned = tables.planned(self.plan)
            self.store.prepare(identity, self._planned)
            keys = self._planned["key"].combine_chunks()
            # Equal runs are simulated in the place of the first one.
            self.first = tables.firsts(keys)
            self._stored = self.store.states(keys)
            self.own = np.ones(len(self.plan), bool)
            if self._shard is not None:
                part = self._shard.part(self._ranges(self.own))
                self.own[:] = False
                for runs in part:
                    self.own[runs.start : runs.stop] = True
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.stop()
        finally:
            self._lock.__exit__(None, None, None)

    @property
    def capacity(self) -> int:
        """How many batches are simulated at a time."""
        return self._workers if self._given is None else self._given.capacity

    def states(self) -> np.ndarray:
        """What is stored of each run of the plan."""
        return self._stored[self.first]

    def missing(self, *, retry_failed: bool) -> list[range]:
        """Return what is to be simulated, each key once: runs of one combination in each range.

        Combinations come in the order of a key, which is as good as random: so the first ones show
        how long all will take, and what an interrupted sweep has lies all over the study.
        """
        wanted = self._stored == tables.MISSING
        if retry_failed:
            wanted |= self._stored == tables.FAILED
        return self._ranges(wanted & self.own)[::-1]

    def _ranges(self, wanted: np.ndarray) -> list[range]:
        """Return runs, each key once, as ranges within combinations, these in the order of keys."""
        runs = np.flatnonzero(wanted & (self.first == np.arange(len(wanted))))
        begins = np.diff(runs, prepend=-2) != 1
        begins |= runs % self.plan.study.replications == 0
        starts = runs[begins]
        stops = runs[np.append(begins[1:], True)[: len(runs)]] + 1
        order = pc.sort_indices(self._planned["key"].take(pa.array(starts))).to_numpy()
        return [range(*pair) for pair in np.stack((starts, stops), 1)[order].tolist()]

    def simulate(
        self, missing: list[range], progress: Callable[[SweepProgress], None] | None
    ) -> list[Receipt]:
        """Simulate runs, the last ones of a list first; return when all are stored."""
        left = list(missing)
        count = sum(map(len, left))
        if not count:
            return []
        executor = self._start()
        news = _News(self, count, time.perf_counter(), progress)
        receipts: list[Receipt] = []
        pending: dict[Future[list[Receipt]], tuple[Batch, list[range]]] = {}
        try:
            self._feed(executor, left, pending, receipts, news)
        finally:
            # Nobody writes to the folder any more when the lock is gone.
            for future in pending:
                future.cancel()
        news.report(now=True)
        return receipts

    def _feed(
        self,
        executor: Executor,
        left: list[range],
        pending: dict[Future[list[Receipt]], tuple[Batch, list[range]]],
        receipts: list[Receipt],
        news: _News,
    ) -> None:
        count = sum(map(len, left))
        done, busy_s, size = 0, 0.0, 1
        over: SimpleQueue[Future[list[Receipt]]] = SimpleQueue()
        while left or pending:
            capacity = executor.capacity
            while left and len(pending) < capacity:
                # Towards the end smaller ones, so that no process waits for another.
                fair = math.ceil(count / (2 * capacity))
                some = _take(left, min(size, fair))
                count -= sum(map(len, some))
                batch = self._batch(some)
                # Ctrl-C within the lock of a future would leave it locked, and the thread that
                # has the results would wait for it, and we for the thread.
                with uninterrupted():
                    future = executor.submit(batch)
                    pending[future] = batch, some
                    future.add_done_callback(over.put)
            finished = _finished(over)
            for future in finished:
                batch, some = pending.pop(future)
                got = future.result()
                self._open.append(batch.journal)
                places = {
                    key: run
                    for runs in some
                    for key, run in zip(self.plan.keys[runs.start : runs.stop], runs, strict=True)
                }
                for receipt in got:
                    runs = [places[key] for key in receipt.keys]
                    self._stored[runs] = tables.DONE if receipt.status == "done" else tables.FAILED
                    news.add(runs, receipt)
                    done += len(runs)
                    busy_s += receipt.wall_s
                receipts += got
            if finished and busy_s:
                # By the time of the runs themselves: a batch may have waited for its turn.
                size = max(1, min(8 * size, int(executor.batch_s * done / busy_s), _MOST_IN_BATCH))
            if time.monotonic() - self._settled > _PART_S:
                self._settle()
            news.report()

    def stop(self) -> None:
        """End what simulates; what has been finished stays."""
        if self._executor is not None and self._given is None:
            self._executor.close()
            self._executor = None

    def results(self, *, keep: bool) -> SweepResults:
        """Return what is stored of the plan.

        Args:
            keep: Tidy the folder up, and write the table if nothing is missing: the folder is not
                going to be removed.
        """
        self.stop()
        identity = self.plan.study.identity()
        if keep:
            self.store.merge()
            if (self.states() != tables.MISSING).all():
                return SweepResults.write(self.store, self._planned, identity)
        # Without a folder that stays, all that is stored is read before it goes.
        stored = self.store.open() if keep else tables.Stored([], self.store.stored())
        return SweepResults.of(stored, self._planned, identity, self.store.path)

    def written(self) -> SweepResults | None:
        """Return the results of the plan that stand in the folder, if they do."""
        identity = self.plan.study.identity()
        return SweepResults.written(self._planned, identity, self.store.path)

    def _start(self) -> Executor:
        if self._executor is None:
            self._executor = LocalExecutor(self._workers, self._descriptor)
        return self._executor

    def _batch(self, some: list[range]) -> Batch:
        journal = self.store.journal(next(self._names))
        runs = tuple(self.plan.runs(indexes) for indexes in some)
        return Batch(journal, self.store.log, runs, *self._limits)

    def _settle(self) -> None:
        self.store.settle(self._open)
        self._open = []
        self._settled = time.monotonic()


class _News:
    """Reports progress a few times per second."""

    def __init__(
        self,
        session: _Session,
        wanted: int,
        started: float,
        progress: Callable[[SweepProgress], None] | None,
    ) -> None:
        self._progress = progress
        self._wanted = wanted
        self._started = started
        self._last = -math.inf
        self._total = int(session.own.sum())
        # Equal runs, of which one is simulated.
        self._alike = np.bincount(session.first[session.own], minlength=len(session.first))
        before = session.states()[session.own]
        self._done = int((before != tables.MISSING).sum())
        self._failed = int((before == tables.FAILED).sum())
        self._simulated = 0

    def add(self, runs: list[int], receipt: Receipt) -> None:
        alike = int(self._alike[runs].sum())
        self._done += alike
        self._failed += alike * (receipt.status == "failed")
        self._simulated += len(runs)

    def report(self, *, now: bool = False) -> None:
        if self._progress is None:
            return
        wall_s = time.perf_counter() - self._started
        if not now and wall_s - self._last < _NEWS_S:
            return
        self._last = wall_s
        simulated = self._simulated
        left_s = (self._wanted - simulated) * wall_s / simulated if simulated else None
        done = min(self._done, self._total)
        self._progress(SweepProgress(done, self._failed, self._total, simulated, wall_s, left_s))
