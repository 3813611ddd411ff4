"""Runs a scenario many times, each time with another seed: a sweep without axes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.replications import Replications
    from ackclock.scenario import Scenario
    from ackclock.sweep import SweepProgress


class ReplicationsInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped replications. `replications` holds those that were done, marked as partial."""

    def __init__(self, replications: Replications) -> None:
        super().__init__("the replications were interrupted")
        self.replications = replications


class ReplicationsFailedError(AckclockError):
    """Some replications failed. `replications` holds the others, and the reasons (`failures`)."""

    def __init__(self, replications: Replications) -> None:
        seed, why = next(iter(replications.failures.items()))
        count = len(replications.failures)
        super().__init__(
            f"{count} of {replications.asked} replications failed; the first one, with seed "
            f"{seed}: {why}"
        )
        self.replications = replications


def replicate(
    scenario: Scenario | str | Path,
    count: int,
    first_seed: int = 1,
    workers: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
    *,
    time_limit_s: float | None = None,
) -> Replications:
    """Run a scenario with the seeds `first_seed`, `first_seed` + 1, ... on all cores.

    Each replication is the run that `ackclock.run` makes of the scenario with that seed, down to
    the last digit, whatever the number of workers; only nothing is recorded.

    Args:
        scenario: What to run: a scenario, or what `Scenario.load` takes; its own seed and what it
            records do not matter.
        count: Number of replications, 1 to 1,000,000.
        first_seed: Seed of the first one.
        workers: Processes; default as many as there are cores for this process.
        progress: Called a few times per second with how far the work is.
        time_limit_s: A replication that takes longer is given up; above 0, by default no limit.

    Returns:
        The figures of all flows in all replications.

    Raises:
        InputError: a count, seed, time limit or number of workers that makes no sense.
        ReplicationsFailedError: replications failed (their process ended, they took too long, a
            controller in Python failed); carries the others.
        ReplicationsInterrupted: Ctrl-C (a `KeyboardInterrupt`); carries what was done, from the
            first seed on without a gap.

    Example:
        >>> import ackclock
        >>> lossy = ackclock.Scenario.load("bene/reliability-text-fixed")
        >>> runs = ackclock.replicate(lossy, 200, workers=1)
        >>> runs.arrays["finish_s"].shape
        (200, 1)
    """
    from ackclock.replications import Replications
    from ackclock.scenario import Scenario
    from ackclock.sweep import Study, SweepInterrupted

    scenario = Scenario.of(scenario)
    study = Study.of_seeds(scenario, first_seed, count)
    started = time.perf_counter()
    try:
        results = study.run(None, workers, progress=progress, time_limit_s=time_limit_s)
    except SweepInterrupted as interruption:
        wall_s = time.perf_counter() - started
        done = Replications.of_sweep(scenario, interruption.results, wall_s)
        raise ReplicationsInterrupted(done) from None
    replications = Replications.of_sweep(scenario, results, time.perf_counter() - started)
    if replications.failures:
        raise ReplicationsFailedError(replications)
    return replications
