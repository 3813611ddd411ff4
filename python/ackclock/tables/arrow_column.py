"""Values of an Arrow column as Python sees them: a sweep may have a million rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

_AT_ONCE = 65_536


class ArrowColumn(Sequence[Any]):
    """The values of a column, which become Python objects only when somebody looks at them."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.arrow = column

    def __len__(self) -> int:
        return len(self.arrow)

    def __getitem__(self, index: Any) -> Any:
        found = self.arrow[index]
        return found.to_pylist() if isinstance(index, slice) else found.as_py()

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.arrow.slice(start, _AT_ONCE).to_pylist()

    def different(self) -> list[Any]:
        """The values without repetition, in the order of their first occurrence."""
        return self.arrow.unique().to_pylist()

    def take(self, order: Sequence[int]) -> ArrowColumn:
        """These values, by their numbers from 0."""
        return ArrowColumn(self.arrow.take(pa.array(order, pa.int64())))
