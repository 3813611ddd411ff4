"""Writes records to disk while a run goes on, so that memory does not grow with its length.

What was taken from the simulator becomes a part, `records/TABLE/part-00000.parquet`, under its name
only when it is whole: whatever ends the process, all parts can be read. At the end of the run the
parts of a table become one file, `records/TABLE.parquet`, by copying bytes. Parts are encoded and
written by threads beside the simulation, which goes on meanwhile.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ackclock import parquet_join, record_tables
from ackclock.memory import keep_memory
from ackclock.record_tables import Columns, Schemas
from ackclock.run_directory import NO_ROOM

HELD_ROWS = 1 << 19
"""Rows of all tables together at which they are written: about 35 MB."""

LEAST_ROWS = 1 << 15
"""Tables with fewer rows wait; one of ten tables always has as many when `HELD_ROWS` are held."""

RESERVE_BYTES = 64 << 20
"""Room on the disk that is left for summary, plots, and other programs."""


class DiskFullError(Exception):
    """There is no more room for records; what was written before stays."""

    def __init__(self, folder: Path, free: int | None) -> None:
        left = "no room is left" if free is None else f"only {free / 1e6:.0f} MB are left"
        super().__init__(f"{left} on the disk of '{folder}'")


class _Part:
    """Rows of a table, where they go, and how far their writing is."""

    def __init__(self, schemas: Schemas, name: str, columns: Columns, path: Path) -> None:
        self.what = schemas, name, columns, path
        self.written: Future[None] | None = None

    def again(self) -> None:
        """Let it be begun once more, unless it was written."""
        if self.written is not None and self.written.exception() is not None:
            self.written = None


class RecordStream:
    """The records of one run on disk.

    Args:
        folder: The folder of records; is made.
        categories: The words that codes stand for.
        about: What the metadata of the parts say.
        kept: Which rows of each table are kept, as in `model["record"]`.
        writers: Threads that write, each a table at a time. The files do not depend on it.
    """

    def __init__(
        self,
        folder: Path,
        categories: Mapping[str, list[str]],
        about: Mapping[str, str],
        kept: Mapping[str, str],
        writers: int = 1,
    ) -> None:
        self._folder = folder
        self._categories = categories
        self._kept = kept
        self._schemas = Schemas(categories, about, kept)
        self._parts: dict[str, list[Path]] = {}
        self._unwritten: list[_Part] = []
        self._writers = ThreadPoolExecutor(writers, thread_name_prefix="records")
        keep_memory()
        folder.mkdir()

    @property
    def has_parts(self) -> bool:
        """Whether something has been written."""
        return bool(self._parts)

    def write(self, tables: Mapping[str, Columns]) -> None:
        """Write a part of each of these tables, beside what goes on, unless it has no rows.

        What was given before is written first: no more than two lots are held in memory.

        Raises:
            DiskFullError: there is no room, or hardly any.
            OSError: something else is wrong with the disk.
        """
        rows = {name: columns for name, columns in tables.items() if len(columns["time_s"])}
        try:
            self._wait()
            free = shutil.disk_usage(self._folder).free
            if free < RESERVE_BYTES:
                raise DiskFullError(self._folder, free)
        finally:
            # Also what Ctrl-C or a full disk keeps from being written now: there must be no gap.
            self._unwritten += [self._part(name, columns) for name, columns in rows.items()]
        self._begin(*self._unwritten)

    def close(self) -> None:
        """Write nothing any more."""
        self._writers.shutdown(cancel_futures=True)

    def _part(self, name: str, columns: Columns) -> _Part:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        parts = self._parts.setdefault(name, [])
        parts.append(folder / f"part-{len(parts):05}.parquet")
        return _Part(self._schemas, name, columns, parts[-1])

    def _begin(self, *parts: _Part) -> None:
        for part in parts:
            if part.written is None:
                part.written = self._writers.submit(self._write, *part.what)

    def _wait(self) -> None:
        """Wait until all that was begun is written; what failed is to be begun once more."""
        while self._unwritten and (written := self._unwritten[0].written) is not None:
            try:
                written.result()
            except DiskFullError:
                for part in self._unwritten:
                    part.again()
                raise
            del self._unwritten[0]

    def _write(self, schemas: Schemas, name: str, columns: Columns, path: Path) -> None:
        unfinished = path.with_name(f".{path.name}.tmp")
        try:
            record_tables.write(schemas.table(name, columns), unfinished)
            unfinished.replace(path)
        except BaseException as error:
            with suppress(OSError):
                unfinished.unlink()
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise DiskFullError(self._folder, None) from None
            raise

    def finish(self, tables: Mapping[str, Columns], about: Mapping[str, str]) -> None:
        """Write the last rows into the room that was left, and make one file of each table.

        Where the disk has no room for that, the parts stay as they are.

        Args:
            tables: The last rows; all tables of the run.
            about: What the metadata of the files say.

        Raises:
            DiskFullError: there is no room even for the last rows.
        """
        schemas = Schemas(self._categories, about, self._kept)
        with suppress(DiskFullError):
            self._wait()
        # What Ctrl-C or a full disk has left comes first, and stops what comes after it.
        together = not self._unwritten
        for name, columns in tables.items():
            if name not in self._parts:
                whole = self._folder / f"{name}.parquet"
                self._unwritten.append(_Part(schemas, name, columns, whole))
            elif len(columns["time_s"]):
                self._unwritten.append(self._part(name, columns))
        for part in [] if together else list(self._unwritten):
            self._begin(part)
            self._wait()
        self._begin(*self._unwritten)
        self._wait()
        for name in tables:
            if name in self._parts:
                self._join(name, schemas, self._folder / f"{name}.parquet")

    def _join(self, name: str, schemas: Schemas, whole: Path) -> None:
        parts = self._parts[name]
        size = sum(part.stat().st_size for part in parts)
        if shutil.disk_usage(self._folder).free < size + RESERVE_BYTES:
            return
        unfinished = whole.with_name(f".{whole.name}.tmp")
        like = whole.with_name(f".{whole.name}.like")
        try:
            record_tables.write(schemas.empty(name), like)
            with unfinished.open("wb") as stream:
                parquet_join.join(parts, like, stream)
            unfinished.replace(whole)
        except (OSError, parquet_join.NotJoinableError):
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
            return
        finally:
            with suppress(OSError):
                like.unlink(missing_ok=True)
        shutil.rmtree(whole.with_suffix(""))


def room(folder: Path) -> int:
    """Return the free bytes of the disk on which a folder is or will be made."""
    place = folder.absolute()
    while not os.path.lexists(place):
        place = place.parent
    return shutil.disk_usage(place).free
