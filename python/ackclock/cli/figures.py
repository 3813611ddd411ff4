"""Figures as people read them: a number with three or four digits and its unit."""

from __future__ import annotations

from collections.abc import Sequence

_RATES = ((1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"))
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_TIMES = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6))
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

NONE = "-"
"""What stands where there is no figure."""


def number(value: float) -> str:
    """Return a number with four significant digits and no exponent where it can be read so."""
    if value == 0:
        return "0"
    if abs(value) >= 10_000 or value == int(value):
        return f"{value:.0f}" if abs(value) < 1e7 else f"{value:.4g}"
    return f"{value:.4g}" if abs(value) >= 1e-4 else f"{value:.2e}"


def rate(bps: float | None) -> str:
    """Return a rate in decimal units: `9.87 Mbps`."""
    return NONE if bps is None else _scaled(bps, _RATES, "bps")


def size(count: float | None) -> str:
    """Return an amount of data in binary units: `35 MiB`."""
    return NONE if count is None else _scaled(count, _SIZES, "B")


def _scaled(value: float, units: Sequence[tuple[float, str]], base: str) -> str:
    factor, unit = next((one for one in units if abs(value) >= one[0]), (1.0, base))
    return f"{value / factor:.4g} {unit}"


def seconds(value: float | None) -> str:
    """Return a time in the unit that suits it: `57.4 s`, `120 ms`."""
    if value is None:
        return NONE
    for least, unit, factor in _TIMES:
        if abs(value) >= least:
            return f"{value * factor:.4g} {unit}" if value < 10_000 else f"{value:.0f} s"
    return f"{value * 1e9:.4g} ns" if value else "0 s"


def milliseconds(value: float | None) -> str:
    """Return a time as a bare number of milliseconds."""
    if value is None:
        return NONE
    shown = value * 1e3
    if shown == 0:
        return "0"
    digits = 0 if shown >= 100 else 1 if shown >= 10 else 2
    return f"{shown:.{digits}f}"


def large(count: float) -> str:
    """Return a large count with a prefix: `5.16 M`."""
    for factor, prefix in _COUNTS:
        if count >= 0.9995 * factor:  # three digits of less are three digits
            return f"{count / factor:.3g} {prefix}"
    return f"{count:.0f}"


def counted(number: int, what: str) -> str:
    """Return a number of things in words: `1 run`, `2 runs`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def percent(share: float | None) -> str:
    """Return a share of one as percent."""
    return NONE if share is None else f"{share * 100:.1f} %"
