"""Runs a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock._core import Simulation
    from ackclock.results import Results
    from ackclock.scenario import Scenario

# Control comes back to Python this often, for progress and for Ctrl-C.
_TURN_S = 0.05


@dataclass(frozen=True)
class Progress:
    """How far a run is. Times are simulated seconds, except `wall_s`, which the clock measured."""

    now_s: float
    stop_s: float
    events: int
    packet_hops: int
    flows_done: int
    flows_total: int
    wall_s: float


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run. `results` holds what was simulated until then, marked as unfinished."""

    def __init__(self, results: Results) -> None:
        super().__init__("the run was interrupted")
        self.results = results


def run(scenario: Scenario, progress: Callable[[Progress], None] | None = None) -> Results:
    """Simulate a scenario to its end.

    Args:
        scenario: what to run.
        progress: called about twenty times a second with how far the run is.

    Returns:
        The results. `summary["wall_s"]` is the time the simulation itself took.

    Raises:
        RunInterrupted: Ctrl-C (a `KeyboardInterrupt`); carries the results so far. A second Ctrl-C
            while these are put together raises a plain `KeyboardInterrupt`.
    """
    import json
    import platform

    from ackclock import _core, received_files
    from ackclock.results import Results

    # Before the run: a file that has gone is no surprise for the end of it.
    contents = [file.read() for file in scenario.files]
    log = _RunLog()
    log.note(
        f"ackclock {_core.version()}, Python {platform.python_version()}, {platform.platform()}"
    )
    log.note(f"scenario {scenario.name}, seed {scenario.seed}")
    for override in scenario.overrides:
        log.note(override)
    for warning in scenario.warnings:
        log.warn(warning.render())

    simulation = _core.Simulation(scenario.handle)
    started = time.perf_counter()
    interrupted = False
    try:
        _advance(simulation, progress, started)
    except KeyboardInterrupt:
        interrupted = True
    wall_s = time.perf_counter() - started

    output = simulation.finish()
    summary = json.loads(output.summary)
    summary["wall_s"] = wall_s
    log.note(
        f"{'interrupted' if interrupted else summary['stop_reason']} at {summary['end_s']:.6g} s: "
        f"{summary['events']} events, {summary['packet_hops']} packet-hops in {wall_s:.3f} s"
    )
    log.note(f"digest {summary['digest']}")
    results = Results.of_run(summary, scenario, output.tables(), output.categories(), log.text())
    received_files.verify(scenario.files, contents, results)
    if interrupted:
        raise RunInterrupted(results)
    return results


def _advance(
    simulation: Simulation, progress: Callable[[Progress], None] | None, started: float
) -> None:
    """Run in turns of about `_TURN_S` until done."""
    done = False
    while not done:
        done = simulation.advance(_TURN_S)
        if progress is not None:
            progress(_state(simulation, time.perf_counter() - started))


def _state(simulation: Simulation, wall_s: float) -> Progress:
    return Progress(
        simulation.now_s,
        simulation.stop_s,
        simulation.events,
        simulation.packet_hops,
        simulation.flows_done,
        simulation.flows_total,
        wall_s,
    )


class _RunLog:
    """Lines for the run directory's `log.txt`, also given to the logger `ackclock`."""

    def __init__(self) -> None:
        # Not at the top: these take a third of the time in which the whole package is imported.
        from datetime import UTC, datetime
        from logging import getLogger

        self._logger = getLogger("ackclock")
        self._started = time.perf_counter()
        self._lines = [f"started {datetime.now(UTC).isoformat(timespec='seconds')}"]

    def note(self, message: str) -> None:
        self._add(message)
        self._logger.info(message)

    def warn(self, message: str) -> None:
        self._add(f"warning: {message}")
        self._logger.warning(message)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def _add(self, message: str) -> None:
        self._lines.append(f"{time.perf_counter() - self._started:9.3f} s  {message}")
