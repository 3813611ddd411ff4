"""A result table: rows in columns whose meaning is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ackclock.columns import FLOWS, LINKS, RUNS, Column
from ackclock.errors import InputError, mapping_of, names_of, refuse, text_of, unknown
from ackclock.metrics.given import wholes_of
from ackclock.tables.arrow_column import ArrowColumn
from ackclock.tables.values import measured, same, spelled


@dataclass(frozen=True)
class ResultTable:
    """Rows in columns whose meaning is known.

    Attributes:
        columns: What the columns mean, in their order.
        cells: The values by the name of the column, one a row; None where there is none.
        title: What the table shows.
        notes: Sentences without which it would mislead.
    """

    columns: tuple[Column, ...]
    cells: Mapping[str, Sequence[Any]]
    title: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, made: Mapping[Column, Sequence[Any]], title: str = "", notes: Sequence[str] = ()
    ) -> ResultTable:
        """Return a table of columns with their values."""
        if not isinstance(made, Mapping) or not all(isinstance(one, Column) for one in made):
            refuse("made", made, "a mapping of `tables.Column` to values")
        cells = {column.name: values for column, values in made.items()}
        return cls(tuple(made), cells, title, tuple(names_of("notes", notes, "Two runs failed.")))

    def __len__(self) -> int:
        return len(self.cells[self.columns[0].name]) if self.columns else 0

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return the meaning of a column.

        Raises:
            InputError: there is none of this name; says the nearest, or what it would be.
        """
        text_of("column", name, next(iter(self.names), "flow"))
        for column in self.columns:
            if column.name == name:
                return column
        for column in (*FLOWS, *LINKS, *RUNS):
            if column.name == name and not column.usual:
                raise InputError(f"no row here has a value of '{name}': {column.meaning}")
        raise InputError(unknown("column", name, self.names))

    def values(self, name: str) -> list[Any]:
        """Return the values of a column.

        Raises:
            InputError: there is none of this name.
        """
        return list(self.cells[self.column(name).name])

    def different(self, name: str) -> list[Any]:
        """Return the values of a column without repetition, in the order of their occurrence.

        Raises:
            InputError: there is none of this name.
        """
        return self.coded(name)[0]

    def coded(self, name: str) -> tuple[list[Any], np.ndarray]:
        """Return the values of a column without repetition, and for each row which of them it has.

        Raises:
            InputError: there is none of this name.
        """
        values = self.cells[self.column(name).name]
        if isinstance(values, ArrowColumn):
            return values.coded()
        places: dict[Any, int] = {}
        codes = [places.setdefault(value, len(places)) for value in values]
        return list(places), np.array(codes, np.int64)

    def numbers(self, name: str) -> np.ndarray:
        """Return the values of a column of numbers, NaN for none.

        Raises:
            InputError: there is none of this name, or it holds no numbers.
        """
        values = self.cells[require_numbers(self, name).name]
        if isinstance(values, ArrowColumn):
            return values.numbers()
        return np.array([math.nan if value is None else value for value in values], np.float64)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as documents."""
        lists = [self.cells[name] for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*lists, strict=True)]

    def select(self, names: Sequence[str]) -> ResultTable:
        """Return these columns only, in this order.

        Raises:
            InputError: there is no such column.
        """
        wanted = names_of("names", names, "goodput_bps")
        kept = tuple(self.column(name) for name in dict.fromkeys(wanted))
        return replace(self, columns=kept, cells={c.name: self.cells[c.name] for c in kept})

    def usual(self) -> ResultTable:
        """Return the columns that are shown unasked, apart from those without a value.

        If none has a value, as in a table without rows, all of them are kept.
        """
        usual = [column.name for column in self.columns if column.usual]
        filled = [name for name in usual if any(value is not None for value in self.cells[name])]
        return self.select(filled or usual)

    def where(self, wanted: Mapping[str, Sequence[str]]) -> ResultTable:
        """Return the rows in which columns have one of the values given, as text.

        Raises:
            InputError: there is no such column, or nothing has the value; says which values it has.
        """
        keep = np.ones(len(self), bool)
        for name, given in mapping_of("wanted", wanted, "a mapping of columns to texts").items():
            values, codes = self.coded(name)
            texts = names_of(name, given, spelled(next(iter(values), "")))
            for text in texts:
                if not any(same(value, text) for value in values):
                    known = dict.fromkeys(map(spelled, values))
                    raise InputError(unknown(f"value of {name}", text, known))
            fitting = [any(same(value, text) for text in texts) for value in values]
            keep &= np.array(fitting, bool)[codes]
        return self if keep.all() else self.take(np.flatnonzero(keep))

    def sort(self, names: Sequence[str]) -> ResultTable:
        """Return the rows in the order of these columns; `-name` from the largest on.

        Numbers and quantities go by size, other values by the alphabet, missing ones come last.

        Raises:
            InputError: there is no such column.
        """
        names = names_of("names", names, "-goodput_bps")
        order = np.arange(len(self))
        for name in reversed(names):
            values, codes = self.coded(name.removeprefix("-"))
            known = [value for value in values if value is not None]
            sizes = {value: measured(value) for value in known}
            numeric = all(size is not None for size in sizes.values())
            keys = {v: size[1] if numeric and size else spelled(v) for v, size in sizes.items()}
            # Equal keys keep their order, from the largest on as well.
            ranks = {key: rank for rank, key in enumerate(sorted(set(keys.values())))}
            sign = -1 if name.startswith("-") else 1
            rank = [len(ranks) if v is None else sign * ranks[keys[v]] for v in values]
            order = order[np.argsort(np.array(rank, np.int64)[codes[order]], kind="stable")]
        return self.take(order) if names else self

    def take(self, order: Sequence[int] | np.ndarray) -> ResultTable:
        """Return these rows, by their numbers from 0.

        Raises:
            InputError: there is none of a number.
        """
        order = wholes_of("order", order)
        if order.size and not 0 <= order.min() <= order.max() < len(self):
            raise InputError(
                f"`order` names rows that do not exist; they go from 0 to {len(self) - 1}"
            )
        cells = {
            name: values.take(order)
            if isinstance(values, ArrowColumn)
            else [values[i] for i in order]
            for name, values in self.cells.items()
        }
        return replace(self, cells=cells)

    def to_arrow(self) -> pa.Table:
        """Return a pyarrow table; each field has its unit and meaning as metadata."""
        arrays = {column: _array(column, self.cells[column.name]) for column in self.columns}
        fields = []
        for column, array in arrays.items():
            described = {"description": column.meaning, "formula": column.formula}
            metadata = {k: v for k, v in {"unit": column.unit, **described}.items() if v}
            fields.append(pa.field(column.name, array.type, metadata=metadata))
        return pa.Table.from_arrays(list(arrays.values()), schema=pa.schema(fields))


def _array(column: Column, values: Sequence[Any]) -> Any:
    if isinstance(values, ArrowColumn):
        array = values.arrow
        if array.type.equals(column.arrow_type()):
            return array
    try:
        return pa.array(values, column.arrow_type(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # Values of an axis may be of several kinds.
        return pa.array([None if v is None else spelled(v) for v in values], pa.string())


def require_table(given: object) -> None:
    """Check that an argument is a table of results.

    Raises:
        InputError: it is not.
    """
    if not isinstance(given, ResultTable):
        refuse("table", given, "a `ResultTable`, such as `tables.of_run` returns")


def require_numbers(table: ResultTable, name: str) -> Column:
    """Return the meaning of a column of numbers.

    Raises:
        InputError: there is no such column, or it holds no numbers.
    """
    column = table.column(name)
    if column.kind not in ("count", "real"):
        numeric = [c.name for c in table.columns if c.kind in ("count", "real")]
        raise InputError(f"'{name}' holds no numbers; these do: {', '.join(numeric)}")
    return column
