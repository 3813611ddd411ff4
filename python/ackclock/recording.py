"""Where the records of a run go while it is in progress: into memory, or onto the disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from ackclock import _core, record_stream, summaries
from ackclock.record_stream import DiskFullError, RecordStream
from ackclock.results import Results
from ackclock.run_directory import FILES, RunDirectory, Unfinished
from ackclock.scenario import Scenario
from ackclock.uninterrupted import uninterrupted

MEMORY_LIMIT = 2 << 30
"""Records of a run without a directory may take this many bytes; a scenario can say otherwise."""

_NO_LIMIT = (1 << 63) - 1

_ALL_AFTER_EVENTS = 30_000_000
"""All tables are written after this many events, some ten seconds, however few rows they have."""

_PACKED = 0.25
"""What Parquet files take of the size of their columns, about."""

_LARGE_BYTES = 1e9
"""Records of this size on the disk are worth a word before the run."""

_LESS = (
    "To record less: --set record=none, --set record.transmissions=off, or "
    "--set 'record.queue=every 10 ms'."
)


class _InMemory:
    """Keeps all records in memory."""

    def __init__(self, scenario: Scenario, threads: int) -> None:
        self.simulation = _core.Simulation(scenario.handle, threads=threads)
        self._scenario = scenario
        self._categories = self.simulation.categories()
        self._limit = scenario.head["record"]["limit_bytes"]
        if self._limit is None:
            self._limit = MEMORY_LIMIT
            self.simulation.limit_records(MEMORY_LIMIT)

    def warnings(self) -> list[str]:
        """Return what is to be said before the run."""
        hops, size = self.simulation.outlook()
        if size <= self._limit:
            return []
        return [
            f"up to about {_about(hops)} packet-hops with {_amount(size)} of records; they are "
            f"kept in memory, and the run ends when they reach {_amount(self._limit)}. With "
            f"run(..., directory=...) they go to the disk. {_LESS}"
        ]

    def pause_at(self) -> tuple[int, int]:
        """Return the rows of records and the number of events at which a turn is to end."""
        return _NO_LIMIT, _NO_LIMIT

    def after_turn(self) -> bool:
        """Look after the records; returns whether there is room for more."""
        return True

    def spool(self) -> BinaryIO:
        """Return an empty file for text that need not be kept."""
        return BytesIO()

    def results(self, output: _core.Output, summary: dict[str, Any], log: str) -> Results:
        """Return the results of the run that has ended."""
        categories = self._categories
        return Results.of_run(summary, self._scenario, output.tables(), categories, log)

    def save(self, results: Results) -> None:
        """Let the run directory take its place: there is none."""

    def why_stopped(self, summary: dict[str, Any]) -> str | None:
        """Return why there was no room for more records, and what to do; None if there was."""
        if summary["stop_reason"] != "record-limit":
            return None
        return (
            f"the records reached their limit of {_amount(self._limit)} at {summary['end_s']:.6g} "
            f"s, and the run ended there. With run(..., directory=...) they go to the disk; "
            f"`record.limit` sets the limit. {_LESS}"
        )


class _OnDisk:
    """Writes records into a run directory during the run; methods as in `_InMemory`."""

    most_rows = record_stream.HELD_ROWS

    def __init__(
        self, scenario: Scenario, target: RunDirectory, unfinished: Unfinished, threads: int
    ) -> None:
        self.simulation = _core.Simulation(scenario.handle, threads=threads)
        self._scenario = scenario
        self._target = target
        self._unfinished = unfinished
        self._about = {
            "producer": f"ackclock {_core.version()}",
            "scenario": scenario.name,
            "seed": str(scenario.seed),
        }
        self._stream = RecordStream(
            unfinished.path / FILES.records,
            self.simulation.categories(),
            self._about,
            scenario.head["record"],
            writers=threads,
        )
        # Not by the clock: the same run makes the same files.
        self._all_at = _ALL_AFTER_EVENTS
        self._full: str | None = None

    def close(self) -> None:
        self._stream.close()

    def warnings(self) -> list[str]:
        hops, size = self.simulation.outlook()
        limit = self._scenario.head["record"]["limit_bytes"]
        packed = _PACKED * min(size, size if limit is None else limit)
        free = record_stream.room(self._unfinished.path) - record_stream.RESERVE_BYTES
        estimate = (
            f"up to about {_about(hops)} packet-hops; their records may take {_amount(packed)}"
        )
        if size and packed > free:
            return [
                f"{estimate}, and {_amount(max(0, free))} can be used on the disk; the run ends "
                f"when these are used up. {_LESS}"
            ]
        if packed > _LARGE_BYTES:
            return [f"{estimate} on the disk. {_LESS}"]
        return []

    def pause_at(self) -> tuple[int, int]:
        return self.most_rows, self._all_at

    def after_turn(self) -> bool:
        rows, _ = self.simulation.recorded()
        if self.simulation.events >= self._all_at:
            self._all_at += _ALL_AFTER_EVENTS
            least = 1
        elif rows >= self.most_rows:
            least = record_stream.LEAST_ROWS
        else:
            return True
        try:
            with uninterrupted():
                self._stream.write(self.simulation.take_records(least))
        except DiskFullError as error:
            self._full = str(error)
            return False
        finally:
            self._unfinished.keep = self._stream.has_parts
        return True

    def spool(self) -> BinaryIO:
        # Without a name; where each file has one, not in a folder that is going to be renamed.
        folder = self._unfinished.path if os.name == "posix" else None
        return cast("BinaryIO", TemporaryFile(dir=folder))

    def results(self, output: _core.Output, summary: dict[str, Any], log: str) -> Results:
        about = {**self._about, "digest": summary["digest"]}
        try:
            self._stream.finish(output.tables(), about)
        except DiskFullError as error:
            self._full = str(error)
            summary["stop_reason"] = "disk-full"
            summary["finished"] = False
        return Results.in_folder(summary, self._scenario, self._unfinished.path, log)

    def save(self, results: Results) -> None:
        target = self._target
        if results.summary["stop_reason"] in _PARTS and target.is_run():
            # A part must not take the place of a whole.
            target = RunDirectory(target.path.with_name(f"{target.path.name}-partial"))
            target.require_free(self._scenario.name, self._scenario.seed, force=True)
        results.complete(self._unfinished, target)

    def why_stopped(self, summary: dict[str, Any]) -> str | None:
        at = f"at {summary['end_s']:.6g} s, and the run ended there; what was written is kept"
        if self._full is not None:
            return f"{self._full}: records ended {at}. {_LESS}"
        if summary["stop_reason"] == "record-limit":
            limit = self._scenario.head["record"]["limit_bytes"]
            return (
                f"the records reached their limit of {_amount(limit)} {at}; "
                f"`record.limit` sets the limit. {_LESS}"
            )
        return None


Keeper = _InMemory | _OnDisk
"""Keeps the records of a run, its `simulation`."""


@contextmanager
def keeper(
    scenario: Scenario,
    directory: str | PathLike[str] | None,
    *,
    force: bool,
    other_settings: bool,
    threads: int,
) -> Iterator[Keeper]:
    """Give a keeper in memory, or one in a run directory; see `ackclock.run`.

    Raises:
        InputError: the directory cannot be written.
        OSError: the same.
    """
    if directory is None:
        yield _InMemory(scenario, threads)
        return
    target = RunDirectory(directory)
    settings = None if other_settings else scenario.fingerprint
    target.require_free(scenario.name, scenario.seed, settings, force=force)
    with target.unfinished(force=force) as unfinished:
        onto_disk = _OnDisk(scenario, target, unfinished, threads)
        try:
            yield onto_disk
        finally:
            onto_disk.close()


_PARTS = ("interrupted", "disk-full", "controller-fault")
"""Why runs end that would go further another time."""


def end(keeper: Keeper, scenario: Scenario) -> tuple[_core.Output, dict[str, Any]]:
    """End a run; returns what it gave and its summary."""
    # Verdicts on files are added to the entries of their flows.
    if not scenario.is_large or scenario.files:
        output = keeper.simulation.finish()
        return output, json.loads(output.summary)
    lines = keeper.spool()
    output = keeper.simulation.finish(lines.write)
    summary = json.loads(output.summary)
    summaries.put_rows(summary, lines)
    return output, summary


def _about(count: float) -> str:
    return f"{float(f'{count:.1g}'):,.0f}"


def _amount(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
