"""Arrays as the page reads them: whole numbers, differences, bytes by their rank, all in one gzip.

Differences of neighbours are small, and bytes of one rank are alike, so that gzip finds little left
to write. `10-unpack.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

from ackclock.arrays import Array

_PRECISION = 50_000
"""Steps between 0 and the greatest value that are distinguished, at least."""


class Pack:
    """A document with arrays beside it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def integers(self, values: Array) -> list[int]:
        """Add whole numbers; returns where they stand: place, count, bytes each."""
        steps = np.diff(values.astype(np.int64), prepend=0)
        folded = ((steps << 1) ^ (steps >> 63)).astype("<u8")
        each = max(1, -(-int(folded.max(initial=0)).bit_length() // 8))
        ranks = folded.view(np.uint8).reshape(-1, 8).T[:each]
        place = [self._size, len(values), each]
        self._parts.append(ranks.tobytes())
        self._size += len(values) * each
        return place

    def plain(self, content: bytes) -> list[int]:
        """Add bytes as they are; returns where they stand: place, length."""
        place = [self._size, len(content)]
        self._parts.append(content)
        self._size += len(content)
        return place

    def numbers(self, values: Array, unit: float | None = None) -> dict[str, Any]:
        """Add numbers from 0 on, in units that distinguish enough of them; NaN becomes -1."""
        highest = float(np.nanmax(values, initial=0.0))
        whole = np.nan_to_num(values)
        step = unit or 1.0
        if unit is None and (highest > 1e9 or (whole != np.rint(whole)).any()):
            step = float(10.0 ** np.floor(np.log10(highest / _PRECISION)))
        counted = np.where(np.isnan(values), -1, np.rint(whole / step))
        return {"unit": step, "at": self.integers(counted)}

    def written(self, document: dict[str, Any]) -> str:
        """The document and its arrays as base64 text."""
        head = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = head.encode()
        whole = b"".join((len(data).to_bytes(4, "little"), data, *self._parts))
        return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()


def time_unit(span_s: float) -> float:
    """A unit of time of which about a million make the span: 1 ns to 1 µs."""
    return float(10.0 ** np.clip(np.floor(np.log10(max(span_s, 1e-9))) - 6, -9, -6))
