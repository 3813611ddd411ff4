"""Tables of records as CSV, in the order and with the names of the records."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from ackclock.errors import InputError, one_of
from ackclock.export.options import Options
from ackclock.record_tables import descriptions
from ackclock.results import Results
from ackclock.tables.cells import cell

_ROWS = 100_000  # at once


def chosen(results: Results, options: Options) -> list[str]:
    """Names of the tables that were asked for; all that were recorded unless some were.

    Raises:
        InputError: there is no such table, or it was not recorded.
    """
    recorded, known = results.tables, descriptions()
    for name in options.tables or ():
        one_of("table", name, known)
        if name not in recorded:
            raise InputError(
                f"table '{name}' was not recorded; run the scenario again with `record: all` "
                "(--set record=all), or give 'ackclock export' the scenario in place of the run"
            )
    if not recorded:
        raise InputError(
            "this run has recorded nothing; run the scenario with `record: all` (--set record=all)"
        )
    return list(dict.fromkeys(options.tables)) if options.tables is not None else recorded


_OF = {"flow": "flows", "link": "links"}
"""Columns by which rows are chosen, and their options."""


def require_columns(options: Options) -> None:
    """Check that each choice of rows has a table to choose from.

    Raises:
        InputError: none of the tables that were asked for has the column.
    """
    known = descriptions()
    tables = [one_of("table", name, known) for name in options.tables or ()]
    columns = {column["name"] for name in tables for column in known[name]["columns"]}
    for column, option in _OF.items():
        if tables and getattr(options, option) is not None and column not in columns:
            has = "has no column" if len(tables) == 1 else "have no column"
            raise InputError(f"--{option} has no effect: {', '.join(tables)} {has} '{column}'")


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The first of the chosen tables as CSV, piece by piece."""
    first = True
    for piece in results.pieces(chosen(results, options)[0]):
        for column, option in _OF.items():
            wanted = getattr(options, option)
            if wanted is not None and column in piece.column_names:
                names = pa.array(wanted, pa.string())
                piece = piece.filter(pc.is_in(piece[column].cast(pa.string()), names))  # pyrefly: ignore[missing-attribute]
        yield from text(piece, header=first)
        first = False


def text(table: pa.Table, *, header: bool = True) -> Iterator[bytes]:
    """A table as CSV, piece by piece: a line of names unless it is left out, then a line a row.

    Numbers are written as short as they can be read back exactly; what is not known is empty.
    """
    columns = [
        _words(column) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    table = pa.table(columns, names=table.column_names)
    if header:
        yield (",".join(table.column_names) + "\n").encode()
    # Names of a scenario and words of the records hold nothing that CSV gives a meaning.
    options = pcsv.WriteOptions(include_header=False, quoting_style="none")
    for begin in range(0, table.num_rows, _ROWS):
        stream = io.BytesIO()
        pcsv.write_csv(table.slice(begin, _ROWS), stream, options)
        yield stream.getvalue()


def _words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of names as texts that no spreadsheet takes for formulas."""
    chunks = []
    for chunk in column.chunks:
        words = pa.array([cell(word) for word in chunk.dictionary.to_pylist()], pa.string())
        chunks.append(pa.DictionaryArray.from_arrays(chunk.indices, words).cast(pa.string()))
    return pa.chunked_array(chunks, pa.string())
