"""Times on the command line: seconds, or a number with its unit."""

from __future__ import annotations

import typer


def seconds(text: str) -> float:
    """Return a time in seconds.

    Raises:
        typer.BadParameter: this is not a time.
    """
    from ackclock._core import quantity

    kind, time_ns = quantity(text) or quantity(f"{text} s") or ("", 0)
    if kind != "time":
        raise typer.BadParameter(f"'{text}' is not a time; write seconds or a unit: 0.5, '200 ms'")
    return time_ns / 1e9


def limit(text: str) -> float:
    """Return a time in seconds that is above zero.

    Raises:
        typer.BadParameter: this is not.
    """
    found = seconds(text)
    if found == 0:
        raise typer.BadParameter(f"'{text}' leaves no time at all")
    return found
