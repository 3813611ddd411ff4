"""Tables that fit the terminal: if one is too wide, columns go; figures are not torn apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from ackclock.cli import figures
from ackclock.cli.terminal import table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDE = 10_000

Cell = str | Mapping[str, str]
"""A figure, or the figures of one distribution by their names."""


class Column(NamedTuple):
    """A column; with `parts`, its cells are figures of a distribution, such as `min` and `mean`."""

    heading: str
    parts: Sequence[str] = ()
    unit: str = ""

    @property
    def name(self) -> str:
        """What the column is called in one line."""
        return self.heading.lstrip(">").replace("-\n", "-").replace("\n", " ").removesuffix(" (ms)")


def print_fitting(
    console: Console,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    without: Sequence[str],
) -> None:
    """Print a table without what does not fit, and say what that is.

    Columns that are empty in all rows go first, then columns and figures as named in `without`.
    """
    empty = [
        column.name
        for place, column in enumerate(columns)
        if all(row[place] == figures.NONE for row in rows)
    ]
    wanted = [name for name in without if name not in empty]
    tries = [list[str](), *(empty + wanted[:count] for count in range(len(wanted) + 1))]
    # Measured as if there were room: a terminal's width would cap the answer.
    room = console.options.update(width=_WIDE)
    made = ((_made(columns, rows, set(left_out)), left_out) for left_out in tries)
    fits = (one for one in made if console.measure(one[0], options=room).maximum <= console.width)
    shown, left_out = next(fits, None) or (_made(columns, rows, set(tries[-1])), tries[-1])
    console.print(shown)
    if left_out:
        named = [f"{name} (empty)" if name in empty else name for name in left_out]
        console.print(f"[dim]Left out to fit the terminal: {', '.join(named)}.[/dim]")


def _made(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], left_out: Set[str]) -> Table:
    kept = [place for place, column in enumerate(columns) if column.name not in left_out]
    parts = {
        place: [part for part in columns[place].parts if part not in left_out] for place in kept
    }
    shown = table(
        *(
            f"{columns[k].heading}\n{'/'.join(parts[k])}" if parts[k] else columns[k].heading
            for k in kept
        )
    )
    for row in rows:
        shown.add_row(*(_written(row[place], parts[place], columns[place].unit) for place in kept))
    return shown


def _written(cell: Cell, parts: Sequence[str], unit: str) -> str:
    return cell if isinstance(cell, str) else "/".join(cell[part] for part in parts) + unit
