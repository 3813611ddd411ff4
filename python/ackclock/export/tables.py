"""Tables of records as CSV, in the order and with the names of the records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pcsv

from ackclock.errors import InputError, unknown
from ackclock.export.options import Options

if TYPE_CHECKING:
    from ackclock.results import Results

_ROWS = 100_000  # at once


def chosen(results: Results, options: Options) -> list[str]:
    """Names of the tables that were asked for; all that were recorded unless some were.

    Raises:
        InputError: there is no such table, or it was not recorded.
    """
    import json

    from ackclock import _core

    recorded = results.tables
    for name in options.tables or ():
        known = json.loads(_core.record_tables())
        if name not in known:
            raise InputError(unknown("table", name, known))
        if name not in recorded:
            raise InputError(
                f"table '{name}' was not recorded; run the scenario again with --set record=all, "
                "or give 'ackclock export' the scenario in place of the run"
            )
    if not recorded:
        raise InputError("this run has recorded nothing; run the scenario with --set record=all")
    return list(dict.fromkeys(options.tables)) if options.tables is not None else recorded


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The first of the chosen tables as CSV, piece by piece."""
    table = results.table(chosen(results, options)[0])
    for column, wanted in (("flow", options.flows), ("link", options.links)):
        if wanted is not None and column in table.column_names:
            names = table[column].to_pylist()
            table = table.filter(pa.array([name in wanted for name in names], pa.bool_()))
    yield from text(table)


def text(table: pa.Table) -> Iterator[bytes]:
    """A table as CSV, piece by piece: a line of names, then a line a row.

    Numbers are written as short as they can be read back exactly; what is not known is empty.
    """
    plain = [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    table = table.cast(pa.schema(plain))
    yield (",".join(table.column_names) + "\n").encode()
    # Names of a scenario and words of the records hold nothing that CSV gives a meaning.
    options = pcsv.WriteOptions(include_header=False, quoting_style="none")
    for begin in range(0, table.num_rows, _ROWS):
        stream = io.BytesIO()
        pcsv.write_csv(table.slice(begin, _ROWS), stream, options)
        yield stream.getvalue()
