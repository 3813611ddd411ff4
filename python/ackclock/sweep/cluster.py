"""Simulates on other machines, with Dask distributed (`pip install 'ackclock[cluster]'`).

Batches go to the workers of a Dask scheduler, and the lines of journal and log come back: only this
program writes to the folder of the sweep, so nobody shares a file system with it.

On a worker, a process of its own simulates, the same as on this machine. So a run that ends its
process costs that process and not the worker. A batch whose workers die nevertheless is halved
until it is known which run they die of.
"""

from __future__ import annotations

import logging
import pickle
import re
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.errors import AckclockError, InputError, real_of
from ackclock.sweep import worker
from ackclock.sweep.executor import LocalExecutor, failure
from ackclock.sweep.model import Batch, Receipt, Runs, parted
from ackclock.sweep.plan import engine

if TYPE_CHECKING:
    from distributed import Future as Remote

# As text, so that it can be asked of a machine that cannot import this.
_ENGINE = "__import__('ackclock.sweep.plan', fromlist=['engine']).engine()"
# How often a worker looks whether anybody still waits for what it does.
_LOOK_S = 0.25
# A batch more than a worker can begin with, so that none waits for the next one.
_AHEAD = 2
_IMPATIENCE_S = 1.0


# What Dask talks over between processes.
_SCHEMES = ("tcp", "tls", "ucx", "ws", "wss")


class ClusterError(AckclockError):
    """The cluster cannot simulate."""


class DaskExecutor:
    """The workers of a Dask scheduler.

    >>> with DaskExecutor("tcp://10.0.0.1:8786") as executor:
    ...     study.run("my-sweep", executor=executor)

    Workers may come and go. Each must have this version of Ackclock; the scheduler needs none.

    Args:
        address: Of the scheduler.
        timeout_s: How long to try to reach it.

    Raises:
        ClusterError: nobody answers there, Dask is not installed here, or Ackclock not there.
        InputError: this is not an address, or not one that can be used here; or not a time.
    """

    # It takes some milliseconds to send a batch.
    batch_s = 2.0

    def __init__(self, address: str, timeout_s: float = 10.0) -> None:
        _require_address(address)
        timeout_s = real_of("timeout_s", timeout_s, 0)
        try:
            from distributed import Client
        except ImportError:
            raise ClusterError(
                "Dask is not installed here: pip install 'ackclock[cluster]'"
            ) from None
        # A lost connection is an error of ours; Dask would note it with a traceback before.
        noted = logging.getLogger("distributed.batched")
        if noted.level == logging.NOTSET:
            noted.setLevel(logging.WARNING)
        self.address = address
        self._threads, self._asked = 0, float("-inf")
        # Parts of batches: those that can go any time, and single runs whose worker has died.
        self._waiting: list[tuple[_Order, tuple[Runs, ...]]] = []
        self._suspects: list[tuple[_Order, tuple[Runs, ...]]] = []
        self._flying, self._alone = 0, False
        self._guard = threading.Lock()
        try:
            # Its methods answer at once here, and are typed as if they did not.
            self._client: Any = Client(address, timeout=timeout_s, set_as_default=False)
        except OSError:
            raise ClusterError(f"no Dask scheduler responds at {address}") from None
        except (TypeError, ValueError, RuntimeError, ImportError) as error:
            # So Dask answers where a transport is not installed or, as TLS, not configured.
            raise InputError(
                f"{address!r} cannot be used here: {_reason(error)}; an address that needs nothing "
                "but Dask is tcp://HOST:8786"
            ) from None
        self.closed = False
        try:
            self._require_engine()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> DaskExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now; each simulates a batch at a time."""
        if time.monotonic() - self._asked > _IMPATIENCE_S:
            try:
                self._threads = sum(self._client.nthreads().values())
            except OSError:
                raise self._gone() from None
            self._asked = time.monotonic()
        return self._threads

    @property
    def capacity(self) -> int:
        """How many batches it takes at a time."""
        return _AHEAD * max(1, self.workers)

    def submit(self, batch: Batch) -> Future[list[Receipt]]:
        """Take a batch."""
        order = _Order(batch)
        with self._guard:
            self._waiting.append((order, batch.runs))
        self._fly()
        return order

    def close(self) -> None:
        """Leave the cluster; its workers give up what they do for this program."""
        self.closed = True
        self._client.close()

    def _require_engine(self) -> None:
        """Compare the engines of workers with the one here."""
        for name, found in self._client.run(eval, _ENGINE, on_error="return").items():
            place = f"the worker {name}"
            if isinstance(found, ImportError):
                raise ClusterError(_lacking(place, found))
            if isinstance(found, Exception):
                raise ClusterError(f"{place} cannot simulate: {_reason(found)}")
            _require_same(place, found)

    def _fly(self) -> None:
        """Send what may go: all that waits, or suspects, one by one and nothing beside them."""
        going: list[tuple[_Order, tuple[Runs, ...]]] = []
        with self._guard:
            if self._suspects and not self._flying:
                going.append(self._suspects.pop())
                self._alone = True
            elif not self._suspects and not self._alone:
                going, self._waiting = self._waiting, []
            self._flying += len(going)
        for order, runs in going:
            limits = (order.batch.time_limit_s, order.batch.memory_limit)
            packed = pickle.dumps((runs, *limits))
            name = f"ackclock-{uuid.uuid4()}"
            remote = self._client.submit(_errand(), engine(), packed, key=name, pure=False)
            order.parts[name] = remote
            if order.done():  # cancelled meanwhile
                remote.cancel()
            # Called in one thread, one after the other.
            remote.add_done_callback(partial(self._back, order, runs))

    def _back(self, order: _Order, runs: tuple[Runs, ...], remote: Remote) -> None:
        """A part of a batch is over; go on with what waited for it."""
        try:
            if not order.done():
                self._take(order, runs, remote)
        finally:
            with self._guard:
                self._flying -= 1
                self._alone = False
            order.part_is_over(str(remote.key))
            self._fly()

    def _take(self, order: _Order, runs: tuple[Runs, ...], remote: Remote) -> None:
        """Store what came back, or find out why nothing did."""
        from distributed import KilledWorker

        try:
            place, own, answer = remote.result()
            _require_same(f"the worker {place}", own)
            order.write(answer)
        except KilledWorker as error:
            # Whatever a worker has taken dies with it: only a run that was alone is to blame.
            if sum(map(len, runs)) > 1:
                parts, into = parted(runs, sum(map(len, runs)) // 2), self._waiting
            elif not self._alone:
                parts, into = [runs], self._suspects
            else:
                order.fail(runs[0], f"the workers that began with it ended: {_reason(error)}")
                return
            with self._guard:
                into += [(order, part) for part in parts]
            order.expected += len(parts)
        except ImportError as error:
            order.give_up(ClusterError(_lacking("a worker", error)))
        except AckclockError as error:
            order.give_up(error)
        except (CancelledError, OSError):
            order.give_up(self._gone())
        except Exception as error:
            order.give_up(ClusterError(f"a worker cannot simulate: {_reason(error)}"))

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"the scheduler at {self.address} is gone; runs that are done are kept, the same "
            "command goes on where a scheduler answers"
        )


class _Order(Future[list[Receipt]]):
    """A batch on its way, in one part or several."""

    def __init__(self, batch: Batch) -> None:
        super().__init__()
        self.batch = batch
        self.parts: dict[str, Remote] = {}
        self.expected = 1
        self._receipts: list[Receipt] = []
        # Who cancels may rely on it that nothing is written from then on.
        self._guard = threading.Lock()

    def cancel(self) -> bool:
        with self._guard:
            cancelled = super().cancel()
        self._drop()
        return cancelled

    def write(self, answer: Answer) -> None:
        with self._guard:
            if not self.done():
                for path, data in (
                    (self.batch.journal, answer.journal),
                    (self.batch.log, answer.log),
                ):
                    with worker.appending(path) as file:
                        worker.append(file, data)
                self._receipts += answer.receipts

    def fail(self, runs: Runs, reason: str) -> None:
        with self._guard:
            if not self.done():
                self._receipts.append(failure(self.batch, runs, reason, 0.0))

    def give_up(self, error: AckclockError) -> None:
        with self._guard:
            if not self.done():
                self.set_exception(error)
        self._drop()

    def part_is_over(self, key: str) -> None:
        self.parts.pop(key, None)
        with self._guard:
            self.expected -= 1
            if not self.expected and not self.done():
                self.set_result(self._receipts)

    def _drop(self) -> None:
        for remote in list(self.parts.values()):
            remote.cancel()


def _require_address(address: object) -> None:
    """Check an address before Dask does, which leaves half a client behind where it is wrong."""
    text = address if isinstance(address, str) else ""
    scheme, _, place = text.rpartition("://")
    port = place.rpartition(":")[2]
    whole = re.fullmatch(r"[^/\s]+:[0-9]{1,5}/?", place) and 0 < int(port.rstrip("/")) < 1 << 16
    if not (scheme == "inproc" or (whole and scheme in (*_SCHEMES, ""))):
        raise InputError(f"{address!r} is not the address of a scheduler, such as tcp://HOST:8786")


def _reason(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _lacking(place: str, error: ImportError) -> str:
    return f"{place} lacks a part of Ackclock ({_reason(error)}); here is {engine()}"


def _require_same(place: str, other: str) -> None:
    if other != engine():
        raise ClusterError(
            f"{place} has another version: {other}; here is {engine()}. Install the same one in "
            "all places: results of two engines are never mixed"
        )


# What follows is called on the workers.


def _errand() -> Callable[[str, bytes], tuple[str, str, Answer | None]]:
    """Return what a worker is to do.

    A function within a function travels as its code. So scheduler and workers can read it that lack
    Ackclock; one that could not would end, and take blame and work to the next one.
    """

    def errand(wanted: str, packed: bytes) -> tuple[str, str, Answer | None]:
        import pickle

        from distributed import get_worker

        from ackclock.sweep.plan import engine

        own, place = engine(), get_worker().address
        if own != wanted:
            return place, own, None
        from ackclock.sweep import cluster

        return place, own, cluster.simulate(*pickle.loads(packed))

    return errand


class Answer(NamedTuple):
    """What a worker made of runs."""

    receipts: list[Receipt]
    journal: bytes
    log: bytes


# Processes that have nothing to do.
_idle: list[LocalExecutor] = []


def simulate(
    runs: tuple[Runs, ...], time_limit_s: float | None, memory_limit: int | None
) -> Answer:
    """Simulate runs on a worker."""
    with tempfile.TemporaryDirectory(prefix="ackclock-") as folder:
        journal, log = Path(folder, "journal"), Path(folder, "log")
        batch = Batch(journal, log, runs, time_limit_s, memory_limit)
        try:
            executor = _idle.pop()
        except IndexError:
            executor = LocalExecutor(1)
        try:
            receipts = _wait(executor.submit(batch))
        except BaseException:
            executor.close()
            raise
        _idle.append(executor)
        return Answer(receipts, journal.read_bytes(), log.read_bytes())


def _wait(future: Future[list[Receipt]]) -> list[Receipt]:
    """Return the receipts, unless nobody waits for them any more: no run goes on unwatched."""
    from distributed import get_worker

    here = get_worker()
    key = here.get_current_task()
    while True:
        try:
            return future.result(_LOOK_S)
        except TimeoutError:
            if future.done():
                raise
            task = here.state.tasks.get(key)
            alive = here.status.name in ("running", "paused")
            if not alive or task is None or task.state != "executing":
                raise CancelledError from None
