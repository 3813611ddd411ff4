"""Arguments and options of all commands, as `options.csv` declares them.

A function says what type its parameters have and their defaults; a line of the table says how one
is spelled, what its value is called, and what it means. A line without a command is for all that
have a parameter of this name and no line of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ackclock.cli import completing
from ackclock.packaged import rows

Row = dict[str, str]


def declare(command: str, function: Any) -> None:
    """Give the parameters of a command's function what the table says of them.

    Raises:
        KeyError: the table has no line for a parameter.
    """
    hints = get_type_hints(function)
    for name in inspect.signature(function).parameters:
        row = _rows().get((command, name)) or _rows()["", name]
        function.__annotations__[name] = Annotated[hints[name], _described(row)]


@cache
def _rows() -> dict[tuple[str, str], Row]:
    table = rows(Path(__file__).with_name("options.csv"))
    return {(row["command"], row["parameter"]): row for row in table}


def _described(row: Row) -> Any:
    """Return a line as typer wants it; one without names is an argument."""
    make: Any = typer.Option if row["names"] else typer.Argument
    return make(
        *row["names"].split(),
        metavar=row["placeholder"] or None,
        min=float(row["least"]) if row["least"] else None,
        max=float(row["most"]) if row["most"] else None,
        parser=_function(row["reader"]) if row["reader"] else None,
        autocompletion=getattr(completing, row["completion"]) if row["completion"] else None,
        help=row["help"],
    )


def _function(place: str) -> Callable[[str], Any]:
    module, _, name = place.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), name)
