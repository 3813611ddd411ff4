"""Runs a scenario."""

from __future__ import annotations

import time
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from ackclock.errors import AckclockError, flag_of, function_of, rendered, whole_number

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock._core import Simulation
    from ackclock.controllers.faults import ControllerError
    from ackclock.recording import Keeper
    from ackclock.results import Results
    from ackclock.scenario import Scenario

# Control comes back to Python this often, for progress and for Ctrl-C.
_TURN_S = 0.05


class Progress(NamedTuple):
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


class RunStoppedError(AckclockError):
    """A run ended early, as there was no room for its records. `results` holds what there is."""

    def __init__(self, message: str, results: Results) -> None:
        super().__init__(message)
        self.results = results


def run(
    scenario: Scenario | str | Path,
    progress: Callable[[Progress], None] | None = None,
    *,
    directory: str | PathLike[str] | None = None,
    force: bool = False,
    other_settings: bool = False,
    threads: int = 1,
) -> Results:
    """Simulate a scenario to its end.

    Args:
        scenario: what to run: a scenario, or what `Scenario.load` takes.
        progress: called about twenty times per second with how far the run is.
        directory: a run directory to write. Records go there while the run goes on, so that memory
            stays small however long it is. Default: none; records are kept in memory, up to 2 GiB
            unless the scenario's `record.limit` says otherwise. A run that is interrupted does not
            take the place of a complete one; it goes to `DIRECTORY-partial` then.
        force: replace a run directory of another scenario or with other settings, and the records
            that a run that died has left beside it (`DIRECTORY.partial`).
        other_settings: replace a run directory of the same name and seed whatever its settings.
        threads: how many threads run the parts of a large network side by side. The results do not
            depend on it. What cannot be divided runs in one thread, and a warning says why
            (docs/performance.md). Many runs are better made with `Study` in processes.

    Returns:
        The results. `summary["wall_s"]` is the time the simulation itself took.

    Raises:
        RunInterrupted: Ctrl-C (a `KeyboardInterrupt`); carries the results so far. A second Ctrl-C
            while these are put together raises a plain `KeyboardInterrupt`.
        RunStoppedError: the records reached their limit, or the disk is full; carries the results
            so far.
        ControllerError: a congestion control in Python failed (an `InputError`); carries the
            results so far.
        InputError: something is in the place of the directory that is not replaced, another
            process writes there, or the number of threads is not one.
        AckclockError: the disk has no room for the summary; records that were written stay in
            `DIRECTORY.partial`.
        OSError: the place cannot be written to.

    Example:
        >>> import ackclock
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> {name: round(flow["finish_s"], 2) for name, flow in results.summary["flows"].items()}
        {'probe': 0.4, 'no-probe': 0.49}
    """
    from ackclock import recording
    from ackclock.scenario import Scenario

    threads = whole_number("threads", threads, MOST_THREADS)
    force, other_settings = flag_of("force", force), flag_of("other_settings", other_settings)
    function_of("progress", progress)
    scenario = Scenario.of(scenario)
    # Before the run: a file that has gone must not come as a surprise at its end.
    contents = [file.read() for file in scenario.files]
    log = _new_log(scenario)
    with recording.keeper(
        scenario, directory, force=force, other_settings=other_settings, threads=threads
    ) as keeper:
        for warning in keeper.warnings():
            log.warn(warning)
        simulation = keeper.simulation
        fewer = fewer_threads(simulation, threads)
        if fewer:
            log.warn(fewer)
        started = time.perf_counter()
        end, fault = _advance(keeper, progress, started)
        wall_s = time.perf_counter() - started
        if (again := fewer_threads(simulation, threads)) and again != fewer:
            log.warn(again)
        output, summary = recording.end(keeper, scenario)
        if end is not None and summary["stop_reason"] == "interrupted":
            summary["stop_reason"] = end
        summary["wall_s"] = wall_s
        log.note(
            f"{summary['stop_reason']} at {summary['end_s']:.6g} s: {summary['events']} events, "
            f"{summary['packet_hops']} packet-hops in {wall_s:.3f} s"
        )
        log.note(f"digest {summary['digest']}")
        results = keeper.results(output, summary, log.text())
        if contents:
            from ackclock import received_files

            received_files.verify(scenario.files, contents, results)
        keeper.save(results)
    if fault is not None:
        fault.results = results
        raise fault
    if end == "interrupted":
        raise RunInterrupted(results)
    if stopped := keeper.why_stopped(summary):
        raise RunStoppedError(stopped, results)
    return results


MOST_THREADS = 256
"""More than there are cores make no run faster."""


def fewer_threads(simulation: Simulation, threads: int) -> str | None:
    """Why fewer threads than asked for run a simulation, as a warning; None where it has all."""
    used, reason = simulation.threads()
    if used >= threads:
        return None
    if used > 1:
        return f"{used} threads run the network instead of {threads}: it cannot be divided further"
    return f"one thread runs the network instead of {threads}: {reason}"


def _advance(
    keeper: Keeper, progress: Callable[[Progress], None] | None, started: float
) -> tuple[str | None, ControllerError | None]:
    """Run in turns of about `_TURN_S` until done; returns why it ended before, in a word."""
    simulation = keeper.simulation
    calls = simulation.calls()
    if calls is None:
        return _advance_all(keeper, progress, started), None
    from ackclock.controllers.faults import ControllerError
    from ackclock.controllers.watching import watching

    with watching(calls):
        try:
            return _advance_all(keeper, progress, started), None
        except ControllerError as error:
            return "controller-fault", error


def _advance_all(
    keeper: Keeper, progress: Callable[[Progress], None] | None, started: float
) -> str | None:
    simulation = keeper.simulation
    done = False
    try:
        while not done:
            done = simulation.advance(_TURN_S, *keeper.pause_at())
            if not keeper.after_turn():
                return "disk-full"
            if progress is not None:
                progress(_state(simulation, time.perf_counter() - started))
    except KeyboardInterrupt:
        return "interrupted"
    return None


def _new_log(scenario: Scenario) -> _RunLog:
    import platform

    from ackclock import _core

    log = _RunLog()
    # Not `platform.platform()`, which starts a process to ask for the processor's name.
    system = f"{platform.system()}-{platform.release()}-{platform.machine()}"
    log.note(f"ackclock {_core.version()}, Python {platform.python_version()}, {system}")
    log.note(f"scenario {scenario.name}, seed {scenario.seed}")
    for override in scenario.overrides:
        log.note(override)
    for warning in rendered(scenario.warnings):
        log.warn(warning)
    return log


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
