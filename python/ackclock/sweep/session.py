"""Simulates what is missing of a plan and keeps it."""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.sweep import table as tables
from ackclock.sweep.executor import Batch, Executor, LocalExecutor, Receipt, Run
from ackclock.sweep.plan import cores
from ackclock.sweep.results import SweepResults
from ackclock.sweep.store import RESULTS, Store

if TYPE_CHECKING:
    from ackclock.sweep.plan import Plan

# A batch lasts about this long: what a process does between two orders, and between two news.
_BATCH_S = 0.25
_MOST_IN_BATCH = 500
# Journals of complete batches become a part this often.
_PART_S = 10.0
_NEWS_S = 0.2


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        done: Runs that are stored, those of earlier calls included.
        failed: Those among them that failed.
        total: Runs of the study.
        simulated: Runs that this call has simulated.
        wall_s: Seconds since it began to simulate.
        left_s: Seconds that it will still take, as far as can be told; None at first.
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
    progress: Callable[[SweepProgress], None] | None = None,
    executor: Executor | None = None,
) -> SweepResults:
    """Simulate what is missing of a plan and write the table; see `Study.run`."""
    with _folder(out) as path:
        with _Session(plan, Store(path), workers, force, executor) as session:
            missing = session.missing(retry_failed=retry_failed)
            try:
                session.simulate(missing, progress)
            except KeyboardInterrupt:
                session.stop()
                raise SweepInterrupted(session.results(complete=False)) from None
            results = session.results(complete=True)
        results.path = None if out is None else path
        return results


def outlook(
    plan: Plan,
    out: str | PathLike[str],
    workers: int | None = None,
    *,
    force: bool = False,
    probe_s: float = 2.0,
) -> Outlook:
    """Estimate what the missing runs of a plan take, from a few of them, which are kept.

    Args:
        plan: The plan.
        out: Folder of the sweep.
        workers: Processes that simulate.
        force: Use a folder of another study.
        probe_s: No further probe starts after this many seconds.
    """
    with _Session(plan, Store(Path(out)), workers, force, None) as session:
        before = len(session.statuses)
        missing = session.missing(retry_failed=False)
        started = time.perf_counter()
        wall: list[float] = []
        for runs in _slices(missing, session.capacity):
            if wall and (time.perf_counter() - started > probe_s or len(wall) >= 8 * len(runs)):
                break
            wall += [receipt.wall_s for receipt in session.simulate(runs, None)]
        statuses = list(session.statuses.values())
        wall = wall or session.store.durations()
        mean = sum(wall) / len(wall) if wall else None
        left = len(plan) - session.stored_runs()
        return Outlook(
            total=len(plan),
            done=session.stored_runs(),
            failed=sum(session.statuses.get(key) == "failed" for key in plan.keys),
            probed=len(statuses) - before,
            run_s=mean,
            left_s=None if mean is None else left * mean / session.capacity,
        )


def status(plan: Plan, out: str | PathLike[str]) -> Outlook:
    """Say what is there of a plan, without simulating or writing anything."""
    store = Store(Path(out))
    statuses = store.statuses() if store.exists() else {}
    found = [statuses[key] for key in plan.keys if key in statuses]
    wall = store.durations()
    mean = sum(wall) / len(wall) if wall else None
    left = None if mean is None else (len(plan) - len(found)) * mean / cores()
    return Outlook(len(plan), len(found), found.count("failed"), 0, mean, left)


@contextmanager
def _folder(out: str | PathLike[str] | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="ackclock-sweep-") as folder:
        yield Path(folder)


def _slices(indexes: Sequence[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(indexes), size):
        yield list(indexes[start : start + size])


class _Session:
    """A plan, its folder held by a lock, and what simulates."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        workers: int | None,
        force: bool,
        executor: Executor | None,
    ) -> None:
        self.plan = plan
        self.store = store
        self.statuses: dict[str, str] = {}
        self._workers = cores() if workers is None else workers
        self._force = force
        self._given = executor
        self._executor = executor
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
            self.store.prepare(self.plan, self._planned)
            self.statuses = self.store.statuses()
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

    def stored_runs(self) -> int:
        """Runs of the plan that are stored."""
        return sum(key in self.statuses for key in self.plan.keys)

    def missing(self, *, retry_failed: bool) -> list[int]:
        """Return one run for each key that is to be simulated.

        They come in the order of their keys, which is as good as random: so the first ones tell
        how long all will take, and what an interrupted sweep has lies all over the study.
        """
        wanted: dict[str, int] = {}
        for index, key in enumerate(self.plan.keys):
            state = self.statuses.get(key)
            if state is None or (retry_failed and state == "failed"):
                wanted.setdefault(key, index)
        return [wanted[key] for key in sorted(wanted)]

    def simulate(
        self, indexes: Sequence[int], progress: Callable[[SweepProgress], None] | None
    ) -> list[Receipt]:
        """Simulate runs; return when all are stored."""
        if not indexes:
            return []
        executor = self._start()
        started = time.perf_counter()
        news = _News(self, len(indexes), started, progress)
        receipts: list[Receipt] = []
        pending: dict[Future[list[Receipt]], Batch] = {}
        left = list(reversed(indexes))
        size = 1
        while left or pending:
            while left and len(pending) < executor.capacity:
                # Towards the end smaller ones, so that no process waits for another.
                fair = math.ceil(len(left) / (2 * executor.capacity))
                batch = self._batch([left.pop() for _ in range(min(size, fair))])
                pending[executor.submit(batch)] = batch
            finished, _ = wait(pending, timeout=_NEWS_S, return_when=FIRST_COMPLETED)
            for future in finished:
                batch = pending.pop(future)
                got = future.result()
                self._open.append(batch.journal)
                self.statuses |= {receipt.key: receipt.status for receipt in got}
                receipts += got
            if receipts:
                took = (time.perf_counter() - started) * executor.capacity / len(receipts)
                size = max(1, min(8 * size, int(_BATCH_S / took), _MOST_IN_BATCH))
            if time.monotonic() - self._settled > _PART_S:
                self._settle()
            news.tell(receipts)
        news.tell(receipts, now=True)
        return receipts

    def stop(self) -> None:
        """End what simulates; what has been finished stays."""
        if self._executor is not None and self._given is None:
            self._executor.close()
            self._executor = None

    def results(self, *, complete: bool) -> SweepResults:
        """Return what is stored of the plan; write the table if that is all of it."""
        self.stop()
        self.store.settle()
        self.store.merge()
        stored = self.store.stored()
        identity = self.plan.study.identity()
        results = SweepResults.of(stored, self._planned, identity, self.store.path)
        if complete:
            tables.write(results.table, self.store.path / RESULTS)
        return results

    def _start(self) -> Executor:
        if self._executor is None:
            self._executor = LocalExecutor(self._workers, self._descriptor)
        return self._executor

    def _batch(self, indexes: list[int]) -> Batch:
        plan = self.plan
        runs = tuple(Run(plan.keys[i], plan.seeds[i], plan.document(i)) for i in indexes)
        return Batch(self.store.journal(next(self._names)), self.store.log, runs)

    def _settle(self) -> None:
        self.store.settle(self._open)
        self._open = []
        self._settled = time.monotonic()


class _News:
    """Tells progress a few times a second."""

    def __init__(
        self,
        session: _Session,
        wanted: int,
        started: float,
        progress: Callable[[SweepProgress], None] | None,
    ) -> None:
        self._progress = progress
        self._session = session
        self._wanted = wanted
        self._started = started
        self._last = -math.inf
        # Counted once: a study may have a million runs.
        self._runs: dict[str, int] = {}
        for key in session.plan.keys:
            self._runs[key] = self._runs.get(key, 0) + 1
        before = session.statuses
        self._done = sum(count for key, count in self._runs.items() if key in before)
        self._failed = sum(n for key, n in self._runs.items() if before.get(key) == "failed")
        self._told = 0

    def tell(self, receipts: Sequence[Receipt], *, now: bool = False) -> None:
        if self._progress is None:
            return
        wall_s = time.perf_counter() - self._started
        if not now and wall_s - self._last < _NEWS_S:
            return
        self._last = wall_s
        for receipt in receipts[self._told :]:
            self._done += self._runs.get(receipt.key, 0)
            self._failed += self._runs.get(receipt.key, 0) * (receipt.status == "failed")
        self._told = len(receipts)
        left = (self._wanted - len(receipts)) * wall_s / len(receipts) if receipts else None
        total = len(self._session.plan)
        done = min(self._done, total)
        self._progress(SweepProgress(done, self._failed, total, len(receipts), wall_s, left))
