"""Times on the command line: seconds, or a number with its unit."""

from __future__ import annotations

import re

import typer

_UNITS = {
    "": 1.0,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def seconds(text: str) -> float:
    """Return a time in seconds.

    Raises:
        typer.BadParameter: this is not a time.
    """
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([a-zµ]*)\s*", text)
    if not found or found[2] not in _UNITS:
        raise typer.BadParameter(f"'{text}' is not a time; write seconds or a unit: 0.5, '200 ms'")
    return float(found[1]) * _UNITS[found[2]]


def limit(text: str) -> float:
    """Return a time in seconds that is above zero.

    Raises:
        typer.BadParameter: this is not.
    """
    found = seconds(text)
    if found == 0:
        raise typer.BadParameter(f"'{text}' leaves no time at all")
    return found
