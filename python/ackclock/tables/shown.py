"""Values as people read them: one unit and one number of decimals for a whole column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.columns import Column
from ackclock.errors import whole_number
from ackclock.tables.table import ResultTable, require_table
from ackclock.tables.values import spelled

NONE = "-"
"""What is shown where there is no value."""

NEVER = "never"
"""What is shown for an infinite time: that of an end that did not come."""

_RATES = ((1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps"))
_OTHER = {"ms": 1e-3, "%": 0.01, "µs": 1e-6}
_MOST_DECIMALS = 9
_MOST_DIGITS = 15


@dataclass(frozen=True)
class Shown:
    """A column as text.

    Attributes:
        column: What it means.
        unit: The unit of the texts; empty for none.
        cells: The texts.
    """

    column: Column
    unit: str
    cells: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        """Whether it is aligned to the right."""
        return self.column.kind in ("count", "real")


def unit_of(column: Column, values: Sequence[Any]) -> tuple[str, float]:
    """Return the unit for people, and its size in the unit of the column."""
    if column.shown:
        return column.shown, _OTHER[column.shown]
    if column.unit == "bit/s":
        return rate_unit(max((abs(v) for v in values if _is_number(v)), default=0.0))
    return column.unit, 1.0


def rate_unit(largest_bps: float) -> tuple[str, float]:
    """Return the unit for rates up to this one, and its size in bit/s."""
    return next(((name, size) for size, name in _RATES if largest_bps >= size), ("bps", 1.0))


def decimals(values: Sequence[float], digits: int) -> int:
    """Return how many decimals give the largest of the values this many significant digits."""
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    if largest == 0:
        return 0
    return min(max(0, digits - 1 - math.floor(math.log10(largest))), _MOST_DECIMALS)


def shown(table: ResultTable, digits: int | None = None) -> list[Shown]:
    """Return all columns as text.

    Args:
        table: The table.
        digits: Significant digits of the largest value of each column, 1 to 15; default as fits it.

    Raises:
        InputError: not a table, or another number of digits.
    """
    require_table(table)
    if digits is not None:
        whole_number("digits", digits, _MOST_DIGITS)
    return [_column(column, table.cells[column.name], digits) for column in table.columns]


def _column(column: Column, values: Sequence[Any], digits: int | None) -> Shown:
    if column.kind != "real" or not all(v is None or _is_number(v) for v in values):
        return Shown(column, column.unit, tuple(_word(value) for value in values))
    unit, size = unit_of(column, values)
    scaled = [None if value is None else value / size for value in values]
    places = decimals([v for v in scaled if v is not None], digits or column.digits)
    return Shown(column, unit, tuple(_number(value, places) for value in scaled))


def _word(value: Any) -> str:
    return NONE if value is None else spelled(value)


def _number(value: float | None, places: int) -> str:
    if value is None or not math.isfinite(value):
        return NEVER if value == math.inf else NONE
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
