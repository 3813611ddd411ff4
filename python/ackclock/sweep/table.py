"""Tables of results: their columns as Arrow types, from rows to tables, to files and back."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq

from ackclock.columns import RUNS, SWEEP, Column
from ackclock.files import write_bytes
from ackclock.results import ResultsError
from ackclock.sweep import figures
from ackclock.sweep.plan import Plan

FORMAT = "ackclock sweep 2"


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
    """Return rows of journals as a table. Lines that a full disk or a kill has cut off are skipped."""
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


def latest(table: pa.Table) -> dict[str, int]:
    """Return the row of each key: a run that was done wins over one that failed, then the last."""
    rows: dict[str, int] = {}
    done: set[str] = set()
    statuses = table["status"].to_pylist()
    for index, (key, status) in enumerate(zip(table["key"].to_pylist(), statuses, strict=True)):
        if status == "done":
            done.add(key)
        elif key in done:
            continue
        rows[key] = index
    return rows


def planned(plan: Plan) -> pa.Table:
    """Return key, axes, replication and seed of all runs of a plan."""
    study = plan.study
    point = np.repeat(np.arange(study.points), study.replications)
    labels = zip(*(plan.labels(i) for i in range(0, len(plan), study.replications)), strict=True)
    fields = [STORED.field("key")]
    arrays = [pa.array(plan.keys, pa.string())]
    for axis, values in zip(study.columns, labels, strict=True):
        arrays.append(axis_column(values).take(pa.array(point)))
        fields.append(_described(axis, arrays[-1].type, "Axis of the study"))
    replication = np.tile(np.arange(study.replications), study.points)
    arrays += [pa.array(replication, pa.int64()), pa.array(plan.seeds, pa.int64())]
    fields += [_REPLICATION, STORED.field("seed")]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


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


def joined(plan: pa.Table, stored: pa.Table, metadata: Mapping[str, str]) -> pa.Table:
    """Return the rows of a plan that are stored, in the order of the plan."""
    rows = latest(stored)
    keys = plan["key"].to_pylist()
    there = [index for index, key in enumerate(keys) if key in rows]
    left = plan.take(pa.array(there, pa.int64()))
    right = stored.take(pa.array([rows[keys[index]] for index in there], pa.int64()))
    for field in STORED:
        if field.name not in ("key", "seed"):
            left = left.append_column(field, right[field.name])
    return left.replace_schema_metadata(dict(metadata)).combine_chunks()


def exploded(table: pa.Table, column: str) -> pa.Table:
    """Return one row for each element of a list column, beside the plain columns of its run."""
    kind = table.schema.field(column).type
    chunks = table[column].chunks
    lists: Any = pa.concat_arrays(chunks) if chunks else pa.array([], kind)
    elements = lists.flatten()
    plain = [f.name for f in table.schema if not pa.types.is_list(f.type)]
    own = [elements.type.field(index) for index in range(elements.type.num_fields)]
    taken = {field.name for field in own}
    prefix = column.removesuffix("s")
    # What a flow has, too, must not be mistaken for the figure of the run.
    kept = table.select([name for name in plain if name not in taken]).take(
        lists.value_parent_indices()
    )
    for field, values in zip(own, elements.flatten(), strict=True):
        name = prefix if field.name == "id" else field.name
        kept = kept.append_column(field.with_name(name), values)
    return kept


def write(table: pa.Table, path: Path) -> None:
    """Write a Parquet file, complete or not at all; equal tables give equal bytes."""
    buffer = io.BytesIO()
    pq.write_table(
        table, buffer, compression="zstd", row_group_size=65_536, write_page_checksum=True
    )
    write_bytes(path, buffer.getvalue())


def read(path: Path, columns: Iterable[str] | None = None) -> pa.Table:
    """Read a Parquet file.

    Raises:
        ResultsError: it is damaged.
    """
    try:
        names = None if columns is None else list(columns)
        return pq.ParquetFile(path, page_checksum_verification=True).read(names)
    except (pa.ArrowException, OSError) as error:
        raise ResultsError(f"'{path}' is damaged: {str(error).splitlines()[0]}") from None


def is_stored(path: Path) -> bool:
    """Whether a file holds what is stored of runs: the columns of today.

    A file that is gone or damaged counts as one that does, so that reading it reports the damage.
    """
    try:
        return pq.read_schema(path).equals(STORED)
    except (pa.ArrowException, OSError):
        return True
