"""The folder of a sweep: what has been simulated, safe from whatever ends the program.

    study.json       the study this folder belongs to
    plan.parquet     key, axes, replication and seed of all runs
    results.parquet  one row per run; there when all runs are
    parts/           rows of finished runs, whatever study they were simulated for
    journal/         rows of runs that finished lately, a line of JSON each
    log.txt          a line for each start and end of runs: time, process, what, key of the first
                     one, how many, seconds; `back` takes a start back
    lock             held by the sweep that works here

A run counts as finished when its line is in a journal. From time to time the lines of complete
batches become a part; the part is in place, and on disk, before their journals are removed. So
whatever ends the program, a finished run is in a journal or a part, or in both, which does no harm.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import locks
from ackclock.errors import AckclockError, InputError, path_of
from ackclock.files import SWEEP, require_folder_above, write_text
from ackclock.results import ResultsError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ackclock.sweep.plan import Plan
    from ackclock.sweep.table import Stored

STUDY, PLAN, RESULTS = SWEEP, "plan.parquet", "results.parquet"
PARTS, JOURNAL, LOG, LOCK = "parts", "journal", "log.txt", "lock"
_FORMAT = "ackclock sweep 2"
# More parts are made one: a sweep that is continued often must not rewrite all of it each time.
_MOST_PARTS = 50
# Processes of a sweep that was killed hold its lock until they notice, a moment later.
_PATIENCE_S = 3.0
# So many bytes of the log say how long runs take: it has lines for each of a million runs.
_LATELY = 1_000_000


class SweepBusyError(AckclockError):
    """Another sweep works in the folder."""


class Store:
    """The folder of a sweep.

    Attributes:
        path: Where it is or will be.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path_of("out", path)

    def exists(self) -> bool:
        """Return whether a sweep is here."""
        return (self.path / STUDY).is_file()

    def require(self, identity: dict[str, Any], *, force: bool = False) -> None:
        """Check that a study may work here: the place is free, or the study's own.

        A study is the same as long as it only grows: more values, more replications.

        Raises:
            InputError: something else is here; it says what, and how to go on.
        """
        shown = f"'{self.path}'"
        if not os.path.lexists(self.path):
            require_folder_above(self.path)
            return
        if not self.path.is_dir():
            raise InputError(f"{shown} exists and is not a folder; choose another place (--out)")
        if not self.exists():
            if not self._is_begun():
                raise InputError(
                    f"{shown} exists and holds no sweep; it is left alone, "
                    "choose another place (--out)"
                )
            return
        reason = difference(self.identity(), identity)
        if reason and not force:
            raise InputError(
                f"{shown} holds the sweep of another study: {reason}. Choose another place "
                "(--out), or continue here with `force` (--force): runs that both studies have are "
                "kept, and the table becomes that of this study"
            )

    def _is_begun(self) -> bool:
        """Whether the folder holds no more than a sweep makes before it says what its study is.

        It may be about to do so in another process, or was ended before.
        """
        names = {entry.name for entry in self.path.iterdir()}
        unfinished = tuple(f".{name}." for name in (PLAN, STUDY))
        others = {name for name in names if not name.startswith(unfinished)}
        return not names or (LOCK in names and others <= {LOCK, PARTS, JOURNAL, PLAN})

    def identity(self) -> dict[str, Any]:
        """Return the study that this folder belongs to.

        Raises:
            InputError: the folder is damaged, or of another version.
        """
        place = self.path / STUDY
        try:
            found = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read '{place}': {error}") from None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise InputError(
                f"'{place}' is of another version of the program; choose another place (--out)"
            )
        return found

    @contextmanager
    def lock(self) -> Iterator[int]:
        """Hold the folder; give the descriptor that processes of the sweep inherit.

        The system takes the lock back when the last process that has the descriptor is gone,
        however it went.

        Raises:
            SweepBusyError: another sweep works here.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                locks.take(descriptor, patience_s=_PATIENCE_S)
            except OSError:
                raise SweepBusyError(self._busy()) from None
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())
            yield descriptor
        finally:
            os.close(descriptor)

    def is_busy(self) -> bool:
        """Return whether a sweep works here at this moment."""
        try:
            descriptor = os.open(self.path / LOCK, os.O_RDONLY)
        except OSError:
            return False
        try:
            locks.take(descriptor, shared=True)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _busy(self) -> str:
        try:
            process, host = (self.path / LOCK).read_text(encoding="utf-8").split()
        except (OSError, ValueError):
            process, host = "?", "?"
        return (
            f"another sweep is running in '{self.path}' (process {process} on {host}); wait for "
            "it, watch it (--status), or choose another place (--out)"
        )

    def prepare(self, identity: dict[str, Any], planned: pa.Table) -> None:
        """Make the folder that of a study and its plan. To be called with the lock held."""
        from ackclock.sweep import table

        for name in (PARTS, JOURNAL):
            (self.path / name).mkdir(exist_ok=True)
        place = self.path / PLAN
        if self.exists() and place.is_file() and table.holds(place, planned):
            return
        # In this order, what stands beside `study.json` is never of another study.
        (self.path / RESULTS).unlink(missing_ok=True)
        table.write(planned, place)
        identity = {"format": _FORMAT, **identity, "runs": planned.num_rows}
        text = json.dumps(identity, ensure_ascii=False, indent=1) + "\n"
        write_text(self.path / STUDY, text)

    def journal(self, number: int) -> Path:
        """Return the journal of a batch of this process."""
        return self.path / JOURNAL / f"{os.getpid()}-{number}.jsonl"

    @property
    def log(self) -> Path:
        """The log of starts and ends."""
        return self.path / LOG

    def parts(self) -> list[Path]:
        """Return the parts, oldest first.

        Those of a version of the program that kept other columns are left alone: keys of its runs
        are not keys of today's.
        """
        from ackclock.sweep import table

        return [path for path in self._all_parts() if table.is_stored(path)]

    def _all_parts(self) -> list[Path]:
        return sorted((self.path / PARTS).glob("part-*.parquet"))

    def journals(self) -> list[Path]:
        """Return the journals that are not yet a part."""
        return sorted((self.path / JOURNAL).glob("*.jsonl"))

    def settle(self, journals: Sequence[Path]) -> None:
        """Make a part of journals to which nobody writes any more."""
        from ackclock.sweep import table

        rows = table.of_rows(_joined(journals))
        if rows.num_rows:
            table.write(rows, self._next_part())
        for path in journals:
            path.unlink()

    def merge(self) -> None:
        """Make a part of the journals, and one of all parts if they are many."""
        if len(self.parts()) < _MOST_PARTS:
            self.settle(self.journals())
        else:
            self.take()

    def take(self, others: Sequence[Store] = ()) -> None:
        """Make one part of all that is stored here and in other folders."""
        from ackclock.sweep import table

        before = (*self.parts(), *self.journals())
        table.write_latest([store.open() for store in (self, *others)], self._next_part())
        for path in before:
            path.unlink()

    def _next_part(self) -> Path:
        last = [int(path.stem.removeprefix("part-")) for path in self._all_parts()][-1:]
        return self.path / PARTS / f"part-{sum(last) + 1:06}.parquet"

    def open(self) -> Stored:
        """Return what parts and journals hold at this moment, oldest first."""
        from ackclock.sweep import table

        # Journals first: one may become a part meanwhile, a part never a journal.
        fresh = table.of_rows(_joined(self.journals()))
        while True:
            parts = self.parts()
            try:
                return table.Stored(parts, fresh)
            except ResultsError:
                # A sweep that works here may have merged them meanwhile.
                if all(path.exists() for path in parts):
                    raise

    def stored(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows of parts and journals, oldest first."""
        return self.open().table(columns)

    def states(self, keys: pa.Array) -> np.ndarray:
        """Return for each key what is stored of it (`table.MISSING`, `DONE` or `FAILED`)."""
        from ackclock.sweep import table

        return table.states(keys, self.stored(("key", "status")))

    def history(self, plan: Plan, index: int) -> dict[str, Any]:
        """Return what became of a run of a plan.

        `status` (`done`, `failed`, or `missing`), `error`, `digest`, `starts` (how often it was
        begun), and `wall_s` (seconds of the last simulation; where runs were simulated together,
        their mean).
        """
        import pyarrow.compute as pc

        from ackclock.sweep import table

        became: dict[str, Any] = {"status": "missing", "error": None, "digest": None}
        key = plan.keys[index]
        if self.exists():
            stored = self.stored((*became, "key"))
            mine = stored.filter(pc.field("key") == key)
            for row in table.latest(mine):
                became = {name: mine[name][int(row)].as_py() for name in became}
        # Equal runs are simulated in the place of the first one.
        places = {key: place for place, key in reversed(list(enumerate(plan.keys)))}
        starts, wall_s = 0, None
        for words in self._log_lines():
            if 0 <= places[key] - places.get(words[3], len(plan)) < int(words[4]):
                starts += (words[2] == "start") - (words[2] == "back")
                wall_s = float(words[5]) / int(words[4]) if len(words) == 6 else wall_s
        return {**became, "starts": starts, "wall_s": wall_s}

    def mean_duration(self) -> float | None:
        """Return the mean wall time in seconds of runs that were done lately, from the log."""
        done = [words for words in self._log_lines(_LATELY) if words[2] == "done"]
        runs = sum(int(words[4]) for words in done)
        return sum(float(words[5]) for words in done) / runs if runs else None

    def _log_lines(self, most: int | None = None) -> Iterator[list[str]]:
        """Yield the words of the lines: time, process, what, first key, number of runs, seconds.

        Args:
            most: Bytes at the end of the log that are read; default all of it.
        """
        try:
            with self.log.open("rb") as stream:
                if most is not None and (start := self.log.stat().st_size - most) > 0:
                    stream.seek(start)
                    stream.readline()
                for line in stream:
                    words = line.decode(errors="replace").split()
                    timed = {"start": 5, "back": 5, "done": 6, "failed": 6}
                    if line.endswith(b"\n") and len(words) == timed.get(words[2]):
                        yield words
        except OSError:
            return


def _joined(journals: Iterable[Path]) -> bytes:
    """Return what journals hold; one may become a part meanwhile."""
    found = []
    for path in journals:
        with suppress(FileNotFoundError):
            found += [path.read_bytes(), b"\n"]
    return b"".join(found)


def difference(there: dict[str, Any], here: dict[str, Any]) -> str | None:
    """Return in words why a study is another than that stored; None if it is the same or grown."""
    if there["study"] != here["study"]:
        return f"it is '{there['study']}', this is '{here['study']}'"
    if there["base"] != here["base"]:
        return "its scenario, or what is set in all runs, is another"
    old, new = there["dimensions"], here["dimensions"]
    names = [[[axis["name"] for axis in axes] for axes in dimensions] for dimensions in (old, new)]
    if names[0] != names[1]:
        old_and_new = [
            ", ".join(name for axes in found for name in axes) or "none" for found in names
        ]
        return f"its axes are {old_and_new[0]}; here they are {old_and_new[1]}"
    for before, after in zip(old, new, strict=True):
        rows = [
            list(zip(*(axis["choices"] for axis in axes), strict=True)) for axes in (before, after)
        ]
        known = set(map(json.dumps, rows[1]))
        lost = next((row for row in rows[0] if json.dumps(row) not in known), None)
        if lost is not None:
            values = ", ".join(
                f"{axis['name']}: {choice[0]}" for axis, choice in zip(before, lost, strict=True)
            )
            return f"it has runs with {values}, which are not in this study as they are there"
    if there["replications"] > here["replications"]:
        return f"it has {there['replications']} replications, here are {here['replications']}"
    return None
