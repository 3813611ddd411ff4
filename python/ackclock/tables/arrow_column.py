"""Values of an Arrow column as Python sees them: a sweep may have a million rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

_AT_ONCE = 65_536


class ArrowColumn(Sequence[Any]):
    """The values of a column, which are read when somebody looks at them; only few are held.

    Args:
        read: Reads the column.
        count: How many values there are.
        rows: The rows of the column that count, by their numbers from 0; default all.
    """

    def __init__(
        self, read: Callable[[], pa.ChunkedArray], count: int, rows: pa.Array | None = None
    ) -> None:
        self._read, self._count, self._rows = read, count, rows

    @property
    def arrow(self) -> pa.ChunkedArray:
        """The values."""
        return self._read() if self._rows is None else self._read().take(self._rows)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        found = self.arrow[index]
        return found.to_pylist() if isinstance(index, slice) else found.as_py()

    def __iter__(self) -> Iterator[Any]:
        column = self.arrow
        for start in range(0, len(column), _AT_ONCE):
            yield from column.slice(start, _AT_ONCE).to_pylist()

    def coded(self) -> tuple[list[Any], np.ndarray]:
        """The different values, in the order of their first occurrence, and which each row has."""
        whole = pa.concat_arrays([*self.arrow.chunks, pa.array([], self.arrow.type)])
        coded = whole.dictionary_encode("encode")
        return coded.dictionary.to_pylist(), coded.indices.to_numpy()

    def numbers(self) -> np.ndarray:
        """The values as numbers, NaN for none."""
        return self.arrow.cast(pa.float64(), safe=False).to_numpy()

    def take(self, order: Sequence[int] | np.ndarray) -> ArrowColumn:
        """These values, by their numbers from 0."""
        chosen = pa.array(order, pa.int64())
        if len(order) > _AT_ONCE:
            rows = chosen if self._rows is None else self._rows.take(chosen)
            return ArrowColumn(self._read, len(rows), rows)
        few = self.arrow.take(chosen)
        return ArrowColumn(lambda: few, len(few))
