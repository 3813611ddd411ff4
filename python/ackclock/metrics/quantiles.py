"""Quantiles of groups of numbers that need not fit into memory."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from ackclock.arrays import Floats, Integers, NDArray

Pieces = Iterable[tuple[Integers, Floats]]
_N = TypeVar("_N", np.int64, np.float64)

_SHIFT = 46
"""Bits of a float64 that do not choose its bucket: 64 buckets between a number and its double."""


def quantiles(read: Callable[[], Pieces], shares: Sequence[float]) -> dict[int, list[float]]:
    """Return exact quantiles of each group: the least value that this share does not exceed.

    The numbers are read twice: once to count how many lie in narrow buckets, and once more to keep
    those of the buckets that hold the quantiles.

    Args:
        read: Gives groups (numbers from 0) and values (0 or above), piece by piece, each time the
            same.
        shares: Above 0, up to 1.

    Returns:
        For each group with a value its quantiles, in the order of the shares.
    """
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for groups, values in read():
        keys, counts = _merged(keys, counts, _keys(groups, values))
    wanted: dict[int, list[tuple[int, int]]] = {}  # bucket, and rank within it
    for place in np.split(np.arange(len(keys)), np.flatnonzero(np.diff(keys >> 32)) + 1):
        ends = np.cumsum(counts[place])
        for share in shares if len(place) else ():
            rank = max(1, math.ceil(share * int(ends[-1]) - 1e-9))
            at = int(np.searchsorted(ends, rank))
            key, before = int(keys[place[at]]), int(ends[at] - counts[place[at]])
            wanted.setdefault(key >> 32, []).append((key, rank - before))
    held = np.array(sorted({key for found in wanted.values() for key, _ in found}), np.int64)
    kept: dict[int, tuple[Floats, Integers]] = {
        int(key): (np.zeros(0), np.zeros(0, np.int64)) for key in held
    }
    for groups, values in read():
        mine = _keys(groups, values)
        some = np.flatnonzero(np.isin(mine, held))
        some = some[np.argsort(mine[some], kind="stable")]
        for rows in np.split(some, np.flatnonzero(np.diff(mine[some])) + 1):
            if len(rows):
                key = int(mine[rows[0]])
                kept[key] = _merged(*kept[key], values[rows])
    return {
        group: [_at(*kept[key], rank) for key, rank in found] for group, found in wanted.items()
    }


def _keys(groups: Integers, values: Floats) -> Integers:
    """Group and bucket in one number; buckets ascend with the values."""
    return (groups.astype(np.int64) << 32) + (np.abs(values).view(np.int64) >> _SHIFT)


def _merged(seen: NDArray[_N], counts: Integers, more: NDArray[_N]) -> tuple[NDArray[_N], Integers]:
    """All different numbers, ascending, and how often each occurs, after some more."""
    found, times = np.unique(more, return_counts=True)
    every, places = np.unique(np.concatenate((seen, found)), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    np.add.at(total, places, np.concatenate((counts, times)))
    return every, total


def _at(values: Floats, counts: Integers, rank: int) -> float:
    return float(values[np.searchsorted(np.cumsum(counts), rank)])
