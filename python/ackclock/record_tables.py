"""Record tables as pyarrow tables and as Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ackclock.files import arrow_file

Columns = Mapping[str, np.ndarray]
"""The columns of a table as the simulator hands them out; words are codes, -1 for none."""


@cache
def descriptions() -> dict[str, Any]:
    """Return what tables can be recorded: summary and columns of each. Do not change it."""
    from ackclock import _core

    return json.loads(_core.record_tables())


class Schemas:
    """Makes tables of what the simulator hands out.

    Args:
        categories: The words that codes stand for, by category.
        about: What the metadata of each table say about the run.
        kept: Which rows of each table are kept, as in `model["record"]`.
    """

    def __init__(
        self,
        categories: Mapping[str, list[str]],
        about: Mapping[str, str],
        kept: Mapping[str, str],
    ) -> None:
        self._words = {name: _texts(words) for name, words in categories.items()}
        self._about = dict(about)
        self._kept = kept

    def table(self, name: str, columns: Columns) -> pa.Table:
        """Return the table of this name with these columns."""
        arrays, fields = [], []
        described = descriptions()[name]
        for column in described["columns"]:
            values = columns[column["name"]]
            if column["category"] is None:
                array = _array(values)
            else:
                codes = _array(values, values >= 0 if column["optional"] else None)
                array = pa.DictionaryArray.from_arrays(codes, self._words[column["category"]])
            arrays.append(array)
            metadata = {"description": column["summary"], "unit": column["unit"] or ""}
            # Parquet files say of each value whether it is there, unless all are.
            fields.append(pa.field(column["name"], array.type, column["optional"], metadata))
        metadata = {"description": described["summary"], **self._about}
        if is_sampled(kept := self._kept.get(name, "")):
            metadata["rows"] = kept
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata))

    def empty(self, name: str) -> pa.Table:
        """Return the table of this name without rows."""
        types = {"float64": float, "int64": np.int64, "int32": np.int32, "bool": np.bool_}
        columns = descriptions()[name]["columns"]
        return self.table(name, {c["name"]: np.empty(0, types[c["type"]]) for c in columns})


def _texts(words: Sequence[str]) -> pa.Array:
    """Return words as Arrow holds them; `pa.array` would load pandas, which takes half a second."""
    raw = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int32)
    held = pa.py_buffer(ends), pa.py_buffer(b"".join(raw))
    return pa.StringArray.from_buffers(len(raw), *held)


def _array(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Return numbers as they lie in memory; `pa.array` would look at them one by one.

    Args:
        values: The numbers.
        valid: Which of them there are; the others become nulls. Default: all.
    """
    kind = pa.from_numpy_dtype(values.dtype)
    held = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    there = None if valid is None or valid.all() else _bits(valid)
    return pa.Array.from_buffers(kind, len(values), [there, held])


def _bits(values: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def is_sampled(kept: object) -> bool:
    """Return whether an entry of `model["record"]` asks for fewer rows than there are changes."""
    return isinstance(kept, str) and "every" in kept.split()


def sampled(model: Mapping[str, Any]) -> dict[str, str]:
    """Return the tables of which a run keeps fewer rows than there are changes, and which rows."""
    return {name: kept for name, kept in model.get("record", {}).items() if is_sampled(kept)}


def about(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return what the metadata of a table say about its run."""
    return {
        "producer": f"ackclock {summary['ackclock']}",
        "scenario": summary["scenario"],
        "seed": str(summary["seed"]),
        "digest": summary["digest"],
    }


def write(table: pa.Table, path: Path) -> None:
    """Write a table as a Parquet file.

    Raises:
        OSError: the disk is full, the folder cannot be written to.
    """
    names: dict[str, list[str]] = {"words": [], "reals": [], "numbers": [], "flags": []}
    for field in table.schema:
        names[_kind(field)].append(field.name)
    # Writing takes several times as long as the run itself, so each kind of column has the encoding
    # that packs it for the fewest instructions. Statistics of words would be made by hashing every
    # one of them; nobody asks for these.
    # Columns may differ in each of these, which the types of pyarrow do not say.
    by_column: dict[str, Any] = {
        "compression": {
            **dict.fromkeys(names["words"] + names["reals"] + names["flags"], "lz4"),
            **dict.fromkeys(names["numbers"], "none"),
        },
        "use_dictionary": names["words"],
        "column_encoding": {
            **dict.fromkeys(names["reals"], "BYTE_STREAM_SPLIT"),
            **dict.fromkeys(names["numbers"], "DELTA_BINARY_PACKED"),
        },
        "write_statistics": ["time_s"],
    }
    try:
        with arrow_file(path, "wb") as stream:
            pq.write_table(table, stream, write_page_checksum=True, **by_column)
    except BaseException:
        # Half a table cannot be read, and would pass for one that is kept.
        path.unlink(missing_ok=True)
        raise


def _kind(field: pa.Field) -> str:
    # Sizes of packets are as few as words; what else is counted goes up and down by little.
    size = field.type == pa.int32() and field.metadata[b"unit"] == b"B"
    if size or pa.types.is_dictionary(field.type):
        return "words"
    if pa.types.is_floating(field.type):
        return "reals"
    return "flags" if pa.types.is_boolean(field.type) else "numbers"


class RecordFiles:
    """One table on disk: a file, or the parts of it that were written while the run went on.

    Reading raises what pyarrow raises, and OSError.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)

    def rows(self) -> int:
        """Return the number of rows, from the footers."""
        return sum(pq.read_metadata(arrow_file(path)).num_rows for path in self.paths)

    def schema(self) -> pa.Schema:
        """Return the schema."""
        return pq.read_schema(arrow_file(self.paths[0]))

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the whole table, or some columns of it."""
        names = None if columns is None else list(columns)
        return pa.concat_tables(_read(path, names) for path in self.paths)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Give the table piece by piece, one row group at a time."""
        names = None if columns is None else list(columns)
        for path in self.paths:
            with _opened(path) as file:
                if not file.num_row_groups:
                    yield file.read(columns=names)
                for group in range(file.num_row_groups):
                    yield file.read_row_group(group, columns=names, use_threads=False)


def _read(path: Path, columns: list[str] | None) -> pa.Table:
    # Not `pq.read_table`: its first call takes a tenth of a second for imports.
    with _opened(path) as file:
        return file.read(columns=columns)


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    with (
        arrow_file(path) as stream,
        pq.ParquetFile(stream, page_checksum_verification=True) as file,
    ):
        yield file


def found_in(folder: Path) -> dict[str, RecordFiles]:
    """Return the tables in the folder of records of a run directory, by name."""
    tables = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            if parts := sorted(path.glob("part-*.parquet")):
                tables[path.name] = RecordFiles(parts)
        elif path.suffix == ".parquet":
            tables[path.stem] = RecordFiles([path])
    return tables
