"""Record tables as numpy columns, split by flow or by link in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ackclock.metrics.condense import Split
from ackclock.metrics.series import HasPieces, HasTables
from ackclock.metrics.words import coded

from .long_records import LongRecords

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, NDArray[Any]]


_MOST_ROWS = 10_000_000
"""Columns with more rows are not read as a whole."""


class TableOnDisk:
    """A record table whose columns are read one by one."""

    def __init__(self, results: HasPieces, name: str) -> None:
        self._results = results
        self._name = name
        self.num_rows = results.rows(name)

    def column(self, name: str) -> pa.ChunkedArray:
        """A column by its name.

        Raises:
            PlotError: it is too long.
        """
        if self.num_rows > _MOST_ROWS:
            raise LongRecords(self._results, self._name, (0.0, 0.0)).too_long()
        return self._results.columns(self._name, [name]).column(name)


class Records:
    """The columns of one record table.

    Plain columns are numpy arrays. A column of names is held as integer codes; -1 stands for
    "none", as in a packet that was lost in a router and so has no link.
    """

    def __init__(self, table: pa.Table | TableOnDisk) -> None:
        self._table = table
        self._plain: dict[str, NDArray[Any]] = {}
        self._coded: dict[str, tuple[NDArray[np.int64], dict[str, int]]] = {}
        self._splits: dict[tuple[str, ...], Split] = {}

    @classmethod
    def of(cls, results: HasTables, name: str) -> Records:
        """A table of a run. Of one that is on the disk, only what is asked for is read.

        Raises:
            InputError: the run has not recorded it.
        """
        if isinstance(results, HasPieces):
            return cls(TableOnDisk(results, name))
        return cls(results.table(name))

    def __len__(self) -> int:
        return self._table.num_rows

    def plain(self, column: str) -> NDArray[Any]:
        """The values of a column of numbers."""
        if column not in self._plain:
            self._plain[column] = self._table.column(column).to_numpy()
        return self._plain[column]

    def codes(self, column: str) -> NDArray[np.int64]:
        """The codes of a column of names."""
        return self._decode(column)[0]

    def code(self, column: str, name: str) -> int:
        """The code of a name in a column of names; -2 (which no row has) if it never occurs."""
        return self._decode(column)[1].get(name, -2)

    def names(self, column: str) -> list[str]:
        """The names of a column of names, by code."""
        return list(self._decode(column)[1])

    def is_(self, column: str, name: str) -> NDArray[np.bool_]:
        """Which rows have this name in a column of names."""
        return self.codes(column) == self.code(column, name)

    def rows(self, **names: str) -> NDArray[np.int64]:
        """The rows that have these names in these columns, in order of time."""
        split = self._split(tuple(names))
        # A code of -1, for none, is 0 there.
        return split.of(*(self.code(column, name) + 1 for column, name in names.items()))

    def _decode(self, column: str) -> tuple[NDArray[np.int64], dict[str, int]]:
        if column not in self._coded:
            codes, words = coded(self._table.column(column))
            self._coded[column] = codes, {word: code for code, word in enumerate(words)}
        return self._coded[column]

    def _split(self, columns: tuple[str, ...]) -> Split:
        """Row numbers by the codes of `columns`; sorted by time within each group."""
        if columns not in self._splits:
            self._splits[columns] = Split(np.stack([self.codes(column) + 1 for column in columns]))
        return self._splits[columns]
