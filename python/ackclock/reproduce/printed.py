"""Numbers as they are printed: the value, and what the last digit leaves open."""

from __future__ import annotations

from decimal import Decimal

from ackclock.reproduce.report import Tolerance


def value(text: str | float) -> float:
    """Return the number; digits may be grouped by commas."""
    return float(str(text).replace(",", ""))


def tolerance(text: str | float) -> Tolerance:
    """Return half a unit of the last printed digit as a tolerance."""
    exponent = Decimal(str(text).replace(",", "")).as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return Tolerance("printed", absolute=0.5 * 10.0**exponent)
