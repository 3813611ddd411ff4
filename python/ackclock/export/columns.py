"""Columns of record tables as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ackclock.errors import InputError
from ackclock.metrics.words import coded

if TYPE_CHECKING:
    import pyarrow as pa

    from ackclock.results import Results

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

DATA, ACK, ROUTER, SYN, SYN_ACK, HANDSHAKE_ACK, FIN, WINDOW_PROBE = range(8)
KINDS = ("data", "ack", "router", "syn", "syn-ack", "handshake-ack", "fin", "window-probe")
"""Kinds of packets, in the order of the codes above."""


class Columns:
    """The columns of one table."""

    def __init__(self, results: Results, table: str) -> None:
        self.name = table
        self._table: pa.Table = results.table(table)

    def __len__(self) -> int:
        return self._table.num_rows

    def _column(self, name: str) -> pa.ChunkedArray:
        if name not in self._table.column_names:
            raise InputError(
                f"the table '{self.name}' of this run has no column '{name}': an earlier version "
                "of ackclock made it; run the scenario again"
            )
        return self._table[name]

    def ints(self, name: str) -> Ints:
        """A column of whole numbers."""
        return self._column(name).to_numpy().astype(np.int64)

    def reals(self, name: str) -> NDArray[np.float64]:
        """A column of real numbers."""
        return self._column(name).to_numpy()

    def flags(self, name: str) -> Flags:
        """A column of flags."""
        return self._column(name).to_numpy()

    def ns(self, name: str) -> Ints:
        """A column of seconds, in nanoseconds."""
        return np.rint(self._column(name).to_numpy() * 1e9).astype(np.int64)

    def codes(self, name: str, words: Sequence[str]) -> Ints:
        """A column of words as places in `words`; -1 where there is none."""
        codes, found = coded(self._column(name))
        place = {word: number for number, word in enumerate(words)}
        # The last one is for rows without a word, whose code is -1.
        return np.array([*(place.get(word, -1) for word in found), -1])[codes]
