"""All plots, by name. To add one: write its file and add its line to `plots.csv`.

A line names its function as text, so that listing the plots loads no plotting library.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ackclock.packaged import rows

from .errors import unknown

if TYPE_CHECKING:
    from .sweep_view import SweepView


class Plot(NamedTuple):
    """A plot that can be asked for.

    Attributes:
        name: The word for `--kind`, and the name of the file.
        summary: What it shows, in one line.
        needs: Record tables without which it cannot be drawn.
        function: `module:function` within this package. What the function takes and returns
            depends on `form`.
        form: `panel`: the function fills one panel over time, `(view, panel) -> None`.
            `figure`: it makes a whole figure, `(view) -> Figure`. `runs`: a figure of several
            runs, `(views) -> Figure`. `sweep`: it shows sweeps only.
        sweep: The function that draws it of a sweep, `(sweep view) -> Figure`; none if it cannot.
        panels: In place of a function: the names of the plots that are stacked in this one.
        default: `always`, `never`, or `changing-routes`: whether `plot` draws it unasked.
        options: Names of the `Options` that it knows, beside the span of time that all panels know.
        apart: Whether it makes one figure for each flow unless they are asked for together.
    """

    name: str
    summary: str
    needs: tuple[str, ...]
    function: str = ""
    form: Literal["panel", "figure", "runs", "sweep"] = "panel"
    sweep: str = ""
    panels: tuple[str, ...] = ()
    default: Literal["always", "never", "changing-routes"] = "never"
    options: tuple[str, ...] = ()
    apart: bool = False

    def knows(self, option: str) -> bool:
        """Whether an option (a name of `Options`) has a meaning for this plot."""
        if option in ("from_s", "to_s") and self.form == "panel":
            return True
        return option in self.options or any(find(name).knows(option) for name in self.panels)

    def parts(self) -> list[Plot]:
        """The plots that are stacked in this one, or this one alone."""
        return [find(name) for name in self.panels] or [self]

    def missing(self, recorded: Callable[[str], bool]) -> list[str]:
        """The record tables whose absence leaves nothing to draw."""
        lacking = [[table for table in part.needs if not recorded(table)] for part in self.parts()]
        return list(dict.fromkeys(chain(*lacking))) if all(lacking) else []

    def load(self) -> Callable[..., Any]:
        """Import the function of this plot."""
        return _load(self.function or self.sweep)

    def load_sweep(self) -> Callable[..., Any]:
        """Import the function of this plot that draws sweeps."""
        return _load(self.sweep)

    def require_sweep(self, view: SweepView) -> None:
        """Check that a sweep can be drawn, by `chosen` of the module if it has that.

        Raises:
            PlotError: it does not have the axes, or too many panels.
        """
        module = import_module(f"{__package__}.{self.sweep.partition(':')[0]}")
        if chosen := getattr(module, "chosen", None):
            *_, facets = chosen(view)
            view.cells(facets)


def _load(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(":")
    return getattr(import_module(f"{__package__}.{module}"), function)


def _plot(row: dict[str, Any]) -> Plot:
    row |= {key: tuple(row[key].split()) for key in ("panels", "needs", "options")}
    row |= {"apart": row["apart"] == "yes", "default": row["default"] or "never"}
    return Plot(**row)


PLOTS = tuple(map(_plot, rows(Path(__file__).with_name("plots.csv"))))


def names() -> list[str]:
    """The names of all plots."""
    return [plot.name for plot in PLOTS]


def find(name: str) -> Plot:
    """The plot of this name.

    Raises:
        PlotError: there is none.
    """
    if not isinstance(name, str) or name not in names():
        raise unknown("plot", name, names())
    return PLOTS[names().index(name)]
