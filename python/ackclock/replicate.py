"""Runs a scenario many times, each time with another seed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ackclock.replications import Replications
    from ackclock.scenario import Scenario

# Control comes back to Python this often, for progress and for Ctrl-C.
_TURN_S = 0.2
_MOST_TURN = 100_000
# Seeds are 64 bits wide in the simulator; files and other programs count on 63.
_SEEDS = 2**63


@dataclass(frozen=True)
class ReplicationProgress:
    """How far replications are: `done` of `total`; `wall_s` is what the clock measured."""

    done: int
    total: int
    wall_s: float


class ReplicationsInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped replications. `replications` holds those that were done, marked as partial."""

    def __init__(self, replications: Replications) -> None:
        super().__init__("the replications were interrupted")
        self.replications = replications


def replicate(
    scenario: Scenario,
    count: int,
    first_seed: int = 1,
    workers: int | None = None,
    progress: Callable[[ReplicationProgress], None] | None = None,
) -> Replications:
    """Run a scenario with the seeds `first_seed`, `first_seed` + 1, ... on all cores.

    Each replication is the run that `ackclock.run` makes of the scenario with that seed, down to
    the last digit, whatever the number of workers; only nothing is recorded.

    Args:
        scenario: What to run; its own seed and what it records do not matter.
        count: Number of replications, at least 1.
        first_seed: Seed of the first one.
        workers: Threads; default as many as there are cores for this process.
        progress: Called a few times a second with how far the work is.

    Returns:
        The figures of all flows in all replications.

    Raises:
        InputError: a count, seed or number of workers that makes no sense.
        ReplicationsInterrupted: Ctrl-C (a `KeyboardInterrupt`); carries what was done. It comes
            between two replications: one that takes long is waited for.
    """
    from ackclock import _core
    from ackclock.replications import Replications

    workers = _cores() if workers is None else workers
    _require(count, first_seed, workers)
    started = time.perf_counter()
    parts: list[dict[str, np.ndarray]] = []
    done, turn, interrupted = 0, workers, False
    try:
        while done < count:
            before = time.perf_counter()
            turn = min(turn, count - done)
            parts.append(_core.replicate(scenario.handle, first_seed + done, turn, workers))
            done += turn
            now = time.perf_counter()
            # At most eight times the turn before: the first ones may have been quick by chance.
            wanted = turn * min(8.0, _TURN_S / (now - before + 1e-6))
            turn = max(workers, min(int(wanted), _MOST_TURN))
            if progress is not None:
                progress(ReplicationProgress(done, count, now - started))
    except KeyboardInterrupt:
        interrupted = True
    replications = Replications.of_runs(scenario, parts, count, time.perf_counter() - started)
    if interrupted:
        raise ReplicationsInterrupted(replications)
    return replications


def _require(count: int, first_seed: int, workers: int) -> None:
    from ackclock.errors import InputError

    if count < 1:
        raise InputError(f"{count} replications: take at least 1")
    if first_seed < 0 or first_seed + count > _SEEDS:
        raise InputError(f"seeds from {first_seed} on: they go from 0 to {_SEEDS - 1}")
    if workers < 1:
        raise InputError(f"{workers} workers: take at least 1")


def _cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
