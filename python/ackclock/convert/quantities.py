"""Write exact numbers as the quantities with units that scenario files want.

All functions are exact: what they return means the same number. They prefer the unit in which
the number is short, and binary units when both would do, since a file that says 10485760 bit/s
means 10 Mibps.
"""

from decimal import Decimal

_RATES = (
    ("Gibps", 2**30),
    ("Mibps", 2**20),
    ("Kibps", 2**10),
    ("Gbps", 10**9),
    ("Mbps", 10**6),
    ("kbps", 10**3),
)
_SIZES = (
    ("GiB", 2**30),
    ("MiB", 2**20),
    ("KiB", 2**10),
    ("GB", 10**9),
    ("MB", 10**6),
    ("KB", 10**3),
)
_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3))


def plain(number: Decimal) -> int | float:
    """Return the number as YAML should show it: without a point when it is whole."""
    return int(number) if number == number.to_integral_value() else float(number)


def rate(bits_per_second: int) -> str:
    """Return a rate, for example ``10 Mibps`` for 10485760."""
    return _shortest(bits_per_second, _RATES, "bps")


def size(size_bytes: int) -> str:
    """Return a size, for example ``64 KiB`` for 65536."""
    return _shortest(size_bytes, _SIZES, "B")


def time(nanoseconds: int) -> str:
    """Return a time, for example ``10 ms`` for 10000000; zero is ``0 s``."""
    for unit, factor in _TIMES:
        if nanoseconds * 10 >= factor or nanoseconds == 0:
            return f"{_text(Decimal(nanoseconds) / factor)} {unit}"
    return f"{nanoseconds} ns"


def _shortest(number: int, units: tuple[tuple[str, int], ...], base: str) -> str:
    written = [(str(number), base)]
    for unit, factor in units:
        in_unit = Decimal(number) / factor
        if number >= factor and in_unit * factor == number:
            written.insert(len(written) - 1, (_text(in_unit), unit))
    return " ".join(min(written, key=lambda choice: len(choice[0])))


def _text(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
