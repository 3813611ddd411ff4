"""Units on axes and in labels: which one to use, and how to write a value in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit for an axis: values are divided by `size` and the axis is labelled with `name`."""

    name: str
    size: float


_RATES = (("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12))
_BINARY_RATES = (
    ("bps", 1.0),
    ("Kibps", 2.0**10),
    ("Mibps", 2.0**20),
    ("Gibps", 2.0**30),
)
_TIMES = (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0))
_LONG_TIMES = (("min", 60.0), ("h", 3600.0), ("days", 86400.0), ("years", 365.25 * 86400.0))
_SIZES = (("B", 1), ("kB", 10**3), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12))
_BINARY_SIZES = (("B", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40))


def number(value: float) -> str:
    """`value` with up to four significant digits and no trailing zeros."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def binary_rates(rates_bps: Iterable[int]) -> bool:
    """Whether a scenario gives its link rates in binary units (2^10, 2^20, ... bit/s).

    True if every rate is a multiple of 2^16 bit/s and one of them is not a multiple of 1000 bit/s:
    10 Mibps = 10,485,760 bit/s is binary, 10 Mbps is not. Axes then use the same units, so
    that a full link of 10 Mibps is drawn at 10.
    """
    rates = [rate for rate in rates_bps if rate > 0]
    return (
        bool(rates)
        and all(rate % 2**16 == 0 for rate in rates)
        and any(rate % 1000 for rate in rates)
    )


def rate_unit(largest_bps: float, *, binary: bool) -> Unit:
    """The unit for an axis of rates up to `largest_bps` (in bit/s)."""
    table = _BINARY_RATES if binary else _RATES
    return _largest_below(table, largest_bps, table[0])


def span_unit(largest_s: float) -> Unit:
    """The unit for an axis of short durations, such as RTTs, up to `largest_s` seconds."""
    if largest_s >= 10:
        return Unit("s", 1.0)
    table = _TIMES[:3]  # ms up to 10 s: RTTs are read in ms
    return _largest_below(table, largest_s, ("ms", 1e-3))


def size_unit(largest_bytes: float) -> Unit:
    """The unit for an axis of amounts of data up to `largest_bytes`."""
    return _largest_below(_SIZES, largest_bytes, ("B", 1))


def time_unit(end_s: float) -> Unit:
    """The unit for the time axis of a run that ends at `end_s`."""
    if end_s <= 0 or 0.5 <= end_s < 7200:
        return Unit("s", 1.0)
    if end_s < 0.5:
        return _largest_below(_TIMES, end_s, _TIMES[0])
    if end_s < 6 * 3600:
        return Unit(*_LONG_TIMES[0])
    if end_s < 4 * 86400:
        return Unit(*_LONG_TIMES[1])
    return Unit(*_LONG_TIMES[2 if end_s < 4 * _LONG_TIMES[3][1] else 3])


def round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ... that is not less."""
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(factor for factor in (1, 2, 5, 10) if factor * power >= value * 0.999)


def rate(bps: float, *, binary: bool) -> str:
    """A rate as text, such as "10 Mibps"."""
    unit = rate_unit(bps, binary=binary)
    return f"{number(bps / unit.size)} {unit.name}"


def size(size_bytes: int) -> str:
    """A size as text, in binary units where they are round: 131072 is "128 KiB", 1500 "1.5 kB"."""
    binary = size_bytes >= 1024 and size_bytes % 1024 == 0 and size_bytes % 1000 != 0
    unit = _largest_below(_BINARY_SIZES if binary else _SIZES, size_bytes, ("B", 1))
    return f"{number(size_bytes / unit.size)} {unit.name}"


def delay(delay_ns: int) -> str:
    """A propagation delay as text, such as "10 ms"."""
    unit = _largest_below(_TIMES, delay_ns * 1e-9, _TIMES[0])
    return f"{number(delay_ns * 1e-9 / unit.size)} {unit.name}"


def window(seconds: float) -> str:
    """The length of a counting window as text, such as "0.1 s" or "20 ms"."""
    return f"{number(seconds)} s" if seconds >= 0.1 else delay(round(seconds * 1e9))


def _largest_below(
    table: Iterable[tuple[str, float]], value: float, smallest: tuple[str, float]
) -> Unit:
    chosen = smallest
    for name, unit_size in table:
        if value >= unit_size * (1 - 1e-9):
            chosen = (name, unit_size)
    return Unit(*chosen)
