"""The columns of a record table as numpy arrays, split by flow or by link in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from ackclock.arrays import Array, Flags, Integers
from ackclock.errors import InputError
from ackclock.metrics.condense import Split
from ackclock.metrics.words import coded


class HasColumns(Protocol):
    """A table, or what gives its columns one by one."""

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        ...

    def column(self, i: str) -> pa.ChunkedArray:
        """A column by its name."""
        ...


class Records:
    """The columns of one record table.

    Plain columns are numpy arrays. A column of names is held as integer codes; -1 stands for
    "none", as in a packet that was lost in a router and so has no link.
    """

    def __init__(self, table: HasColumns, name: str = "") -> None:
        self._table = table
        self._name = name
        self._plain: dict[str, Array] = {}
        self._coded: dict[str, tuple[Integers, dict[str, int]]] = {}
        self._splits: dict[tuple[str, ...], Split] = {}

    def __len__(self) -> int:
        return self._table.num_rows

    def plain(self, column: str) -> Array:
        """The values of a column of numbers."""
        if column not in self._plain:
            self._plain[column] = self._column(column).to_numpy()
        return self._plain[column]

    def ints(self, column: str) -> Integers:
        """A column of whole numbers."""
        return self.plain(column).astype(np.int64)

    def ns(self, column: str) -> Integers:
        """A column of seconds, in nanoseconds."""
        return np.rint(self.plain(column) * 1e9).astype(np.int64)

    def codes(self, column: str) -> Integers:
        """The codes of a column of names."""
        return self._decode(column)[0]

    def places(self, column: str, words: Sequence[str]) -> Integers:
        """A column of names as places in `words`; -1 where there is none."""
        place = {word: number for number, word in enumerate(words)}
        codes, found = self._decode(column)
        # The last one is for rows without a word, whose code is -1.
        return np.array([*(place.get(word, -1) for word in found), -1])[codes]

    def code(self, column: str, name: str) -> int:
        """The code of a name in a column of names; -2 (which no row has) if it never occurs."""
        return self._decode(column)[1].get(name, -2)

    def names(self, column: str) -> list[str]:
        """The names of a column of names, by code."""
        return list(self._decode(column)[1])

    def is_(self, column: str, name: str) -> Flags:
        """Which rows have this name in a column of names."""
        return self.codes(column) == self.code(column, name)

    def rows(self, **names: str) -> Integers:
        """The rows that have these names in these columns, in order of time."""
        columns = tuple(names)
        if columns not in self._splits:
            self._splits[columns] = Split(np.stack([self.codes(column) + 1 for column in columns]))
        # A code of -1, for none, is 0 there.
        wanted = (self.code(column, name) + 1 for column, name in names.items())
        return self._splits[columns].of(*wanted)

    def _column(self, name: str) -> pa.ChunkedArray:
        try:
            return self._table.column(name)
        except KeyError:
            raise InputError(
                f"the table '{self._name}' of this run has no column '{name}': an earlier version "
                "of ackclock made it; run the scenario again"
            ) from None

    def _decode(self, column: str) -> tuple[Integers, dict[str, int]]:
        if column not in self._coded:
            codes, words = coded(self._column(column))
            self._coded[column] = codes, {word: code for code, word in enumerate(words)}
        return self._coded[column]
