"""Tables of results: their columns as Arrow types, from rows to tables, to files and back."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.json as pj
import pyarrow.parquet as pq

from ackclock.columns import RUNS, SWEEP, Column
from ackclock.files import arrow_file, write_bytes
from ackclock.results import ResultsError
from ackclock.sweep import figures
from ackclock.sweep.plan import Keys, Plan

# Its functions are made when it is imported, and unknown to checkers of types.
pc: Any = pyarrow.compute

MISSING, DONE, FAILED = 0, 1, 2
"""What is stored of a run."""

FORMAT = "ackclock sweep 2"
# Rows of a group in files.
_GROUP = 65_536


def _described(name: str, kind: pa.DataType, meaning: str, unit: str = "") -> pa.Field:
    return pa.field(name, kind, metadata={"description": meaning, "unit": unit})


def _fields(described: Iterable[Column]) -> list[pa.Field]:
    return [_described(c.name, c.arrow_type(), c.meaning, c.unit) for c in described]


_COMMON = {field.name: field for field in _fields((*SWEEP, *RUNS))}

# In the file `key` and `replication` say more than in tables for people: a program that joins files
# needs to know how the one is made and from where the other counts.
STORED = pa.schema(
    [
        _described("key", pa.string(), "SHA-256 of engine, seed and resolved scenario"),
        *(_COMMON[name] for name in ("seed", "status", "error")),
        *_fields(figures.RUN),
        _described("flows", pa.list_(pa.struct(_fields(figures.FLOW))), "Figures of each flow"),
        _described(
            "links",
            pa.list_(pa.struct(_fields(figures.LINK))),
            "Figures of each direction of each link",
        ),
    ]
)
"""What is stored of a run."""

_REPLICATION = _described("replication", pa.int64(), "Number of the replication, from 0")


def of_rows(data: bytes) -> pa.Table:
    """Return rows of journals as a table; lines that a kill or a full disk cut off are left out."""
    if not data.strip():
        return STORED.empty_table()
    parsing = pj.ParseOptions(explicit_schema=STORED, unexpected_field_behavior="error")
    # A block has to hold the longest line.
    reading = pj.ReadOptions(block_size=len(data), use_threads=False)
    try:
        return pj.read_json(pa.BufferReader(data), reading, parsing)
    except pa.ArrowInvalid:
        whole = [line for line in data.splitlines(keepends=True) if _is_whole(line)]
        if sum(map(len, whole)) == len(data):
            raise
        return of_rows(b"".join(whole))


def _is_whole(line: bytes) -> bool:
    try:
        return bool(json.loads(line)) and line.endswith(b"\n")
    except ValueError:
        return False


def latest(table: pa.Table) -> np.ndarray:
    """Return the row of each key, in order: done wins over failed, then the last one does."""
    rows = np.arange(table.num_rows)
    keys = codes(table["key"])
    if not len(keys) or len(rows) == keys.max() + 1:
        return rows
    best = np.full(keys.max() + 1, -1)
    done = pc.equal(table["status"], "done").to_numpy()
    np.maximum.at(best, keys, rows + len(rows) * done)
    return np.sort(best % len(rows))


def states(keys: pa.Array, stored: pa.Table) -> np.ndarray:
    """Return for each key what is stored of it: `MISSING`, `DONE` or `FAILED`."""
    rows = latest(stored)
    places = pc.fill_null(_found(keys, stored["key"], rows), len(rows)).to_numpy()
    done = pc.equal(stored["status"], "done").to_numpy()[rows]
    return np.append(np.where(done, DONE, FAILED), MISSING).astype(np.int8)[places]


def _found(keys: Any, stored: pa.ChunkedArray, rows: np.ndarray) -> Any:
    """Return the place of each key among some rows of a column; null where it is not there."""
    whole = len(rows) == len(stored)
    among = stored if whole else stored.take(pa.array(rows))
    return pc.index_in(keys, among.combine_chunks())


def firsts(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return for each row the first one that has the same value."""
    coded = codes(column)
    # Codes are given in the order in which values come.
    before = np.maximum.accumulate(np.append(-1, coded[:-1]))
    return np.flatnonzero(coded > before)[coded]


def codes(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return numbers from 0 in the place of the values of a column, equal ones for equal values."""
    if not len(column):
        return np.zeros(0, np.int64)
    whole = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    coded = whole.dictionary_encode("encode")
    return coded.indices.to_numpy().astype(np.int64)


def planned(plan: Plan) -> pa.Table:
    """Return key, axes, replication and seed of all runs of a plan."""
    study = plan.study
    point = np.repeat(np.arange(study.points), study.replications)
    labels = zip(*(plan.labels(i) for i in range(0, len(plan), study.replications)), strict=True)
    fields = [STORED.field("key")]
    arrays = [key_column(plan.keys)]
    for axis, values in zip(study.columns, labels, strict=True):
        arrays.append(axis_column(values).take(pa.array(point)))
        fields.append(_described(axis, arrays[-1].type, "Axis of the study"))
    replication = np.tile(np.arange(study.replications), study.points)
    arrays += [pa.array(replication, pa.int64()), pa.array(np.asarray(plan.seeds), pa.int64())]
    fields += [_REPLICATION, STORED.field("seed")]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def key_column(keys: Keys) -> pa.Array:
    """Return the keys of a plan as a column."""
    ends = np.arange(len(keys) + 1, dtype=np.int32) * keys.digits
    return pa.StringArray.from_buffers(len(keys), pa.py_buffer(ends), pa.py_buffer(keys.text))


def axis_column(values: Sequence[Any]) -> pa.Array:
    """Return the labels of an axis as numbers, truth values, or text where they are mixed."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([float(value) for value in values], pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def joined(plan: pa.Table, stored: pa.Table, metadata: Mapping[str, str]) -> Rows:
    """Return the rows of a plan that are stored, in the order of the plan."""
    rows = latest(stored)
    places = _found(plan["key"], stored["key"], rows)
    there = pc.is_valid(places)
    places = pa.array(rows).take(places.filter(there).combine_chunks())
    return Rows(plan.filter(there), stored, places, metadata)


class Rows:
    """Rows of a plan beside what is stored of them: put together piece by piece, or all at once."""

    def __init__(
        self, plan: pa.Table, stored: pa.Table, places: pa.Array, metadata: Mapping[str, str]
    ) -> None:
        self.plan, self._stored, self._places, self._metadata = plan, stored, places, metadata

    def __len__(self) -> int:
        return self.plan.num_rows

    def part(self, start: int, count: int, columns: Iterable[str] | None = None) -> pa.Table:
        """Return some of them, with all columns or with these."""
        left = self.plan.slice(start, count)
        fields = [field for field in STORED if field.name not in ("key", "seed")]
        if columns is not None:
            left = left.select([name for name in left.column_names if name in columns])
            fields = [field for field in fields if field.name in columns]
        names = [field.name for field in fields]
        right = self._stored.select(names).take(self._places.slice(start, count))
        for field in fields:
            left = left.append_column(field, right[field.name])
        return left.replace_schema_metadata(dict(self._metadata)).combine_chunks()

    def write(self, path: Path) -> None:
        """Write them to a Parquet file; memory is needed for one group of rows at a time."""
        starts = range(0, max(1, len(self)), _GROUP)
        _write((self.part(start, _GROUP) for start in starts), path)


Source = Rows | pa.Table | Path
"""Where the rows of results are: put together from a plan and parts, a table, or a file."""


def schema(source: Source) -> pa.Schema:
    """Return names, types and metadata of the columns."""
    if isinstance(source, Path):
        return _file(source).schema_arrow
    return source.part(0, 0).schema if isinstance(source, Rows) else source.schema


def about(source: Source) -> dict[str, str]:
    """Return what a table says of itself as a whole."""
    metadata = schema(source).metadata or {}
    return {key.decode(): value.decode() for key, value in metadata.items()}


def length(source: Source) -> int:
    """Return the number of rows."""
    return _file(source).metadata.num_rows if isinstance(source, Path) else len(source)


def part(source: Source, columns: Sequence[str] | None = None) -> pa.Table:
    """Return all rows, with all columns or with these."""
    if isinstance(source, Path):
        return read(source, columns)
    found = source.part(0, len(source), columns) if isinstance(source, Rows) else source
    return found if columns is None else found.select(list(columns))


def write(table: pa.Table, path: Path) -> None:
    """Write a Parquet file, complete or not at all; equal tables give equal bytes."""
    _write([table], path)


def _write(parts: Iterable[pa.Table], path: Path) -> None:
    buffer = io.BytesIO()
    writer = None
    for part in parts:
        if writer is None:
            how: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
            writer = pq.ParquetWriter(buffer, part.schema, **how)
        writer.write_table(part, row_group_size=_GROUP)
    if writer is not None:
        writer.close()
    write_bytes(path, buffer.getvalue())


def read(path: Path, columns: Iterable[str] | None = None) -> pa.Table:
    """Read a Parquet file.

    Raises:
        ResultsError: it is damaged.
    """
    names = None if columns is None else list(columns)
    with _damage(path):
        return _file(path).read(names)


def _file(path: Path) -> pq.ParquetFile:
    with _damage(path):
        return pq.ParquetFile(arrow_file(path), page_checksum_verification=True)


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ResultsError(f"'{path}' is damaged: {str(error).splitlines()[0]}") from None


def is_stored(path: Path) -> bool:
    """Whether a file holds what is stored of runs: the columns of today.

    A file that is gone or damaged counts as one that does, so that reading it reports the damage.
    """
    try:
        return pq.read_schema(arrow_file(path)).equals(STORED)
    except (pa.ArrowException, OSError):
        return True
