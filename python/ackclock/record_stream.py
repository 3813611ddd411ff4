"""Writes records to disk while a run goes on, so that memory does not grow with its length.

What was taken from the simulator becomes a part, `records/TABLE/part-00000.parquet`, under its name
only when it is whole: whatever ends the process, all parts can be read. At the end of the run the
parts of a table become one file, `records/TABLE.parquet`, by copying bytes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock import parquet_join, record_tables
from ackclock.memory import keep_memory
from ackclock.record_tables import Columns, Schemas
from ackclock.run_directory import NO_ROOM

if TYPE_CHECKING:
    import pyarrow as pa

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


class RecordStream:
    """The records of one run on disk.

    Args:
        folder: The folder of records; is made.
        categories: The words that codes stand for.
        about: What the metadata of the parts say.
        kept: Which rows of each table are kept, as in `model["record"]`.
    """

    def __init__(
        self,
        folder: Path,
        categories: Mapping[str, list[str]],
        about: Mapping[str, str],
        kept: Mapping[str, str],
    ) -> None:
        self._folder = folder
        self._categories = categories
        self._kept = kept
        self._schemas = Schemas(categories, about, kept)
        self._parts: dict[str, list[Path]] = {}
        self._waiting: list[tuple[str, Columns]] = []
        keep_memory()
        folder.mkdir()

    @property
    def has_parts(self) -> bool:
        """Whether something has been written."""
        return bool(self._parts)

    def write(self, tables: Mapping[str, Columns]) -> None:
        """Write a part of each of these tables; those without rows are left out.

        Raises:
            DiskFullError: there is no room, or hardly any.
            OSError: something else is wrong with the disk.
        """
        self._wait(tables)
        free = shutil.disk_usage(self._folder).free
        if free < RESERVE_BYTES:
            raise DiskFullError(self._folder, free)
        self._write_waiting()

    def _wait(self, tables: Mapping[str, Columns]) -> None:
        # What Ctrl-C keeps from being written is written the next time: there must be no gap.
        self._waiting += [
            (name, columns) for name, columns in tables.items() if len(columns["time_s"])
        ]

    def _write_waiting(self) -> None:
        while self._waiting:
            name, columns = self._waiting[0]
            parts = self._parts.setdefault(name, [])
            path = self._folder / name / f"part-{len(parts):05}.parquet"
            path.parent.mkdir(exist_ok=True)
            self._write(self._schemas.table(name, columns), path)
            parts.append(path)
            del self._waiting[0]

    def _write(self, table: pa.Table, path: Path) -> None:
        unfinished = path.with_name(f".{path.name}.tmp")
        try:
            record_tables.write(table, unfinished)
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
        begun = self._parts.keys() | {name for name, _ in self._waiting}
        self._wait({name: columns for name, columns in tables.items() if name in begun})
        self._write_waiting()
        for name, columns in tables.items():
            whole = self._folder / f"{name}.parquet"
            if name in self._parts:
                self._join(name, schemas, whole)
            else:
                self._write(schemas.table(name, columns), whole)

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
