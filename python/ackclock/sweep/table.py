"""Tables of results: their columns as Arrow types, from rows to tables, to files and back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.json as pj
import pyarrow.parquet as pq

from ackclock.columns import RUNS, SWEEP, Column
from ackclock.files import arrow_file, replacement
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

# Beside rows that are sorted: the number of the run in the plan.
_RUN = pa.field("run", pa.int64())
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
    return np.unique(found(table["key"], table))


def states(keys: pa.Array, stored: pa.Table) -> np.ndarray:
    """Return for each key what is stored of it: `MISSING`, `DONE` or `FAILED`."""
    done = pc.equal(stored["status"], "done").to_numpy()
    return np.append(np.where(done, DONE, FAILED), MISSING).astype(np.int8)[found(keys, stored)]


def found(keys: Any, stored: pa.Table) -> np.ndarray:
    """Return the row of each key that counts, as in `latest`; -1 where it is not stored."""
    among = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
    both = pa.chunked_array([among, *stored["key"].chunks])
    first, places = np.split(
        pc.fill_null(pc.index_in(both, among), len(among)).to_numpy(), [len(among)]
    )
    done = pc.equal(stored["status"], "done").to_numpy()
    best = np.full(len(among) + 1, -1)
    np.maximum.at(best, places, np.arange(len(stored)) + len(stored) * done)
    return np.where(best < 0, -1, best % max(1, len(stored)))[first]


def firsts(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return for each row the first one that has the same value."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.index_in(whole, whole).to_numpy()


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


class Stored:
    """What is stored at a moment, piece by piece: parts that are open, and rows of journals.

    An open file can be read even if a sweep that works there has removed it since.
    """

    def __init__(self, parts: Sequence[Path], fresh: pa.Table) -> None:
        self._parts = [(path, _file(path)) for path in parts]
        self._fresh = fresh

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[tuple[int, pa.Table]]:
        """Yield some rows at a time, with all columns or with these, and how many were before."""
        start = 0
        for path, file in self._parts:
            with _damage(path):
                for batch in file.iter_batches(_GROUP, columns=columns):
                    yield start, pa.Table.from_batches([batch])
                    start += batch.num_rows
        yield start, self._fresh if columns is None else self._fresh.select(list(columns))

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows."""
        return pa.concat_tables(piece for _, piece in self.pieces(columns))


class Rows:
    """The rows of a plan that are stored, in its order, put together when they are asked for.

    Args:
        plan: Key, axes, replication and seed of all runs.
        stored: What is stored, in any order.
        metadata: What the table says of itself.
    """

    def __init__(self, plan: pa.Table, stored: Stored, metadata: Mapping[str, str]) -> None:
        places = found(plan["key"], stored.table(("key", "status")))
        there = places >= 0
        self.plan, self._stored = plan.filter(pa.array(there)), stored
        self._places, self._metadata = pa.array(places[there]), metadata

    def __len__(self) -> int:
        return self.plan.num_rows

    def select(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns."""
        fields = [name for name in STORED.names if name in columns]
        stored = self._stored.table(fields) if fields else STORED.empty_table()
        return beside(self.plan, stored, self._places, self._metadata, columns).select(columns)

    @property
    def schema(self) -> pa.Schema:
        """Names, types and metadata of the columns."""
        none = self.plan.slice(0, 0), STORED.empty_table(), self._places.slice(0, 0)
        return beside(*none, self._metadata).schema


def beside(
    plan: pa.Table,
    stored: pa.Table,
    places: pa.Array,
    metadata: Mapping[str, str],
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Return runs of a plan with the figures of their rows among what is stored."""
    fields = [field for field in STORED if field.name not in ("key", "seed")]
    if columns is not None:
        plan = plan.select([name for name in plan.column_names if name in columns])
        fields = [field for field in fields if field.name in columns]
    right = stored.select([field.name for field in fields]).take(places)
    for field in fields:
        plan = plan.append_column(field, right[field.name])
    return plan.replace_schema_metadata(dict(metadata)).combine_chunks()


def write_sorted(
    stored: Stored,
    plan: pa.Table,
    metadata: Mapping[str, str],
    path: Path,
) -> None:
    """Write the rows of a plan, all of which are stored, in its order to a Parquet file.

    Rows are stored in the order in which runs ended, which is any. So they are first distributed to
    a file for each group of rows of the plan; memory is needed for one group at a time.

    Args:
        stored: What is stored.
        plan: Key, axes, replication and seed of all runs.
        metadata: What the table says of itself.
        path: The file.
    """
    rows = found(plan["key"], stored.table(("key", "status")))
    runs = np.argsort(rows, kind="stable")
    rows = rows[runs]
    with ExitStack() as stack:
        groups = []
        for _ in range(0, max(1, len(rows)), _GROUP):
            file = stack.enter_context(tempfile.TemporaryFile(dir=path.parent))
            groups.append((file, pa.ipc.new_stream(file, STORED.append(_RUN))))
        for start, piece in stored.pieces():
            first, last = np.searchsorted(rows, (start, start + piece.num_rows))
            own = runs[first:last]
            order = np.argsort(own)
            own = own[order]
            taken = piece.take(pa.array(rows[first:last][order] - start)).append_column(
                _RUN, pa.array(own)
            )
            ends = np.searchsorted(own, np.arange(len(groups) + 1) * _GROUP)
            for (_, writer), begin, end in zip(groups, ends, ends[1:], strict=False):
                if begin < end:
                    writer.write_table(taken.slice(begin, end - begin))

        def sorted_groups() -> Iterator[pa.Table]:
            for number, (file, writer) in enumerate(groups):
                writer.close()
                file.seek(0)
                rows = pa.ipc.open_stream(file).read_all()
                places = pc.sort_indices(rows[_RUN.name])
                own = plan.slice(number * _GROUP, _GROUP)
                yield beside(own, rows, places, metadata)

        _write(sorted_groups(), path)


class InFile:
    """The rows in a file, of which columns are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path, file = path, _file(path)
        self.schema, self._length = file.schema_arrow, file.metadata.num_rows

    def __len__(self) -> int:
        return self._length

    def select(self, columns: Sequence[str]) -> pa.Table:
        """Return some columns."""
        return read(self._path, columns)


def about(schema: pa.Schema) -> dict[str, str]:
    """Return what a table says of itself as a whole."""
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


def write(table: pa.Table, path: Path) -> None:
    """Write a Parquet file, complete or not at all; equal tables give equal bytes."""
    _write([table], path)


def write_latest(sources: Sequence[Stored], path: Path) -> None:
    """Write the row that counts of each key, piece by piece; no file if nothing is stored."""
    stored = pa.concat_tables(source.table(("key", "status")) for source in sources)
    if not stored.num_rows:
        return
    counts = np.zeros(stored.num_rows, bool)
    counts[latest(stored)] = True

    def kept() -> Iterator[pa.Table]:
        before = 0
        for source in sources:
            rows = 0
            for start, piece in source.pieces():
                rows = start + piece.num_rows
                if (own := counts[before + start : before + rows]).any():
                    yield piece.filter(pa.array(own))
            before += rows

    _write(kept(), path)


def _write(parts: Iterable[pa.Table], path: Path) -> None:
    how: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
    with replacement(path) as stream:
        writer = None
        for part in parts:
            writer = writer or pq.ParquetWriter(stream, part.schema, **how)
            writer.write_table(part, row_group_size=_GROUP)
        if writer is not None:
            writer.close()


def holds(path: Path, table: pa.Table) -> bool:
    """Whether a file holds exactly this table."""
    with _damage(path):
        file = _file(path)
        if not file.schema_arrow.equals(table.schema) or file.metadata.num_rows != len(table):
            return False
        start = 0
        for batch in file.iter_batches(_GROUP):
            if not pa.Table.from_batches([batch]).equals(table.slice(start, len(batch))):
                return False
            start += len(batch)
        return True


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
