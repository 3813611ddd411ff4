"""A result table: rows in columns whose meaning is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ackclock.columns import Column
from ackclock.errors import InputError, unknown
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
        cells = {column.name: values for column, values in made.items()}
        return cls(tuple(made), cells, title, tuple(notes))

    def __len__(self) -> int:
        return len(self.cells[self.columns[0].name]) if self.columns else 0

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """Return the meaning of a column.

        Raises:
            InputError: there is none of this name; says the nearest.
        """
        for column in self.columns:
            if column.name == name:
                return column
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
        values = self.cells[self.column(name).name]
        if isinstance(values, ArrowColumn):
            return values.different()
        return list(dict.fromkeys(values))

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as documents."""
        lists = [self.cells[name] for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*lists, strict=True)]

    def select(self, names: Sequence[str]) -> ResultTable:
        """Return these columns only, in this order.

        Raises:
            InputError: there is no such column.
        """
        kept = tuple(self.column(name) for name in dict.fromkeys(names))
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
        if not wanted:
            return self
        keep = [True] * len(self)
        for name, texts in wanted.items():
            values = self.different(name)
            for text in texts:
                if not any(same(value, text) for value in values):
                    known = dict.fromkeys(map(spelled, values))
                    raise InputError(unknown(f"value of {name}", text, known))
            fitting = [value for value in values if any(same(value, text) for text in texts)]
            rows = zip(keep, self.values(name), strict=True)
            keep = [kept and value in fitting for kept, value in rows]
        return self.take([index for index, kept in enumerate(keep) if kept])

    def sort(self, names: Sequence[str]) -> ResultTable:
        """Return the rows in the order of these columns; `-name` from the largest on.

        Numbers and quantities go by size, other values by the alphabet, missing ones come last.

        Raises:
            InputError: there is no such column.
        """
        if not names:
            return self
        order = list(range(len(self)))
        for name in reversed(names):
            values = self.values(name.removeprefix("-"))
            known = [index for index in order if values[index] is not None]
            sizes = {index: measured(values[index]) for index in known}
            numeric = all(size is not None for size in sizes.values())
            key: dict[int, Any] = {
                index: size[1] if numeric and size is not None else spelled(values[index])
                for index, size in sizes.items()
            }
            known.sort(key=key.__getitem__, reverse=name.startswith("-"))
            order = known + [index for index in order if values[index] is None]
        return self.take(order)

    def take(self, order: Sequence[int]) -> ResultTable:
        """Return these rows, by their numbers from 0."""
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
    if isinstance(values, ArrowColumn) and values.arrow.type.equals(column.arrow_type()):
        return values.arrow
    try:
        return pa.array(values, column.arrow_type(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # Values of an axis may be of several kinds.
        return pa.array([None if v is None else spelled(v) for v in values], pa.string())
