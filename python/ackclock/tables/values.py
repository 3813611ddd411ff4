"""Values of an axis: numbers, quantities such as `64 KiB`, words; their order, and as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

_TO_BASE = {"time": 1e-9, "products": 1e-3}


def measured(value: Any) -> tuple[str, float] | None:
    """Read a value of an axis: a number or the text of a quantity; None for a word or a flag."""
    from ackclock import _core

    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return None if math.isnan(value) else ("number", float(value))
    text = str(value)
    try:
        return "number", float(text)
    except ValueError:
        pass
    read = _core.quantity(text)
    if read is None:
        return None
    dimension, amount = read
    return dimension, amount * _TO_BASE.get(dimension, 1.0)


def scale(values: Sequence[Any]) -> tuple[float, ...] | None:
    """Return the values as numbers of one dimension; None where one of them is none of it.

    They are in bit/s, bytes, packets, seconds, products of rate and delay, or plain.
    """
    read = [measured(value) for value in values]
    found = [item for item in read if item is not None]
    if not found or len(found) != len(read) or len({dimension for dimension, _ in found}) != 1:
        return None
    return tuple(number for _, number in found)


def ordered(values: Iterable[Any]) -> list[Any]:
    """Return the different values of an axis: by size where they have one, else as they come."""
    different = list(dict.fromkeys(values))
    known = scale([value for value in different if value is not None])
    if known is None:
        return different
    sizes = dict(zip((v for v in different if v is not None), known, strict=True))
    return sorted(different, key=lambda value: (value is None, sizes.get(value, 0.0)))


def spelled(value: Any) -> str:
    """Return a value as people write it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def same(value: Any, text: str) -> bool:
    """Whether a value is what a text of the command line says: `64 KiB` is `65536 B`."""
    if spelled(value) == text.strip():
        return True
    one, other = measured(value), measured(text)
    return one is not None and one == other
