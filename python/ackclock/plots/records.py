"""Record tables as plots read them: of those on the disk, only the columns asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.metrics.records import Records
from ackclock.metrics.series import HasPieces, HasTables

from .long_records import LongRecords

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_ROWS = 10_000_000
"""Columns with more rows are not read as a whole."""


class TableOnDisk:
    """A record table whose columns are read one by one."""

    def __init__(self, results: HasPieces, name: str) -> None:
        self._results = results
        self._name = name
        self.num_rows = results.rows(name)

    def column(self, i: str) -> pa.ChunkedArray:
        """A column by its name.

        Raises:
            PlotError: it is too long.
        """
        if self.num_rows > _MOST_ROWS:
            raise LongRecords(self._results, self._name, (0.0, 0.0)).too_long()
        return self._results.columns(self._name, [i]).column(i)


def read(results: HasTables, name: str) -> Records:
    """A table of a run. Of one that is on the disk, only what is asked for is read.

    Raises:
        InputError: the run has not recorded it.
    """
    lazy = isinstance(results, HasPieces)
    return Records(TableOnDisk(results, name) if lazy else results.table(name), name)
