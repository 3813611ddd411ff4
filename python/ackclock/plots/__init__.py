"""Plots of a run, ready for paper and screen.

>>> from ackclock import plots
>>> plots.plot(results, kinds=["overview"], fmt="pdf", out="figures")  # doctest: +SKIP
[PosixPath('figures/overview.pdf')]

To add a plot, write its file in this package and add its line to `plots.csv`. matplotlib is
loaded when something is drawn, not before, and its global state is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.errors import A_RUN, InputError, must_have, names_of, path_of, refuse
from ackclock.extras import require

from .errors import PlotError
from .options import Options
from .registry import PLOTS, Plot, names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.metrics.percentiles import Recorded

    from .sweep_view import Sweep, SweepView

__all__ = [
    "PLOTS",
    "Options",
    "Plot",
    "PlotError",
    "available",
    "figure",
    "figure_of_sweep",
    "names",
    "plot",
    "plot_sweep",
]


def available() -> tuple[Plot, ...]:
    """All plots: name, summary, and the record tables that each one needs."""
    return PLOTS


def plot(
    results: Recorded | Sequence[Recorded],
    kinds: str | Sequence[str] | None = None,
    flows: str | Sequence[str] | None = None,
    links: str | Sequence[str] | None = None,
    fmt: str | Sequence[str] = "png",
    out: str | PathLike[str] = "plots",
    *,
    options: Options | None = None,
) -> list[Path]:
    """Draw plots of a run and write them, one file for each kind and format.

    Plots such as `sequence` make a file for each flow unless `options` asks for one of all.

    Args:
        results: The run; for plots that compare runs, such as `window-sweep`, several of them.
        kinds: Name of a plot, or several (`names()`); default those that suit the run. By default a
            plot whose records the run has not kept is left out.
        flows: Draw these flows only; default all.
        links: Draw these links; default those that lose packets or hold a queue.
        fmt: `png` (1200 pixels wide), `svg` or `pdf`, or several of them.
        out: Directory for the files; made if it does not exist. Files of the same name are
            replaced.
        options: Width and colours, the span of time to draw, and what only some plots know.

    Returns:
        The files written, named by plot: `overview.png`, `link-queue.png`, `sequence-F1.png`, ...

    Raises:
        PlotError: an unknown plot, flow, link or format (with the nearest name), or a plot asked
            for by name needs records that the run has not kept (says which to switch on).
        OSError: a file cannot be written.

    Example:
        >>> import ackclock
        >>> from ackclock import plots
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> files = plots.plot(results, kinds=["cwnd-events"], fmt="svg", out="figures")
        >>> [file.name for file in files]
        ['cwnd-events-probe.svg', 'cwnd-events-no-probe.svg']
    """
    require("matplotlib")
    from .render import write

    place, wishes = path_of("out", out), _wishes(options)
    return write(_runs(results), kinds, flows, links, _formats(fmt), place, wishes)


def figure(
    results: Recorded | Sequence[Recorded],
    kind: str,
    flows: str | Sequence[str] | None = None,
    links: str | Sequence[str] | None = None,
    *,
    options: Options | None = None,
) -> Figure:
    """One plot as a matplotlib `Figure`, to show in a notebook or to work on.

    Arguments and errors as in `plot`. The flows are always together in the figure.

    Example:
        >>> import ackclock
        >>> from ackclock import plots
        >>> results = ackclock.run(ackclock.Scenario.load("teach/tail-loss"))
        >>> plots.figure(results, "flow-window").get_size_inches().shape
        (2,)
    """
    require("matplotlib")
    from .render import draw

    return draw(_runs(results), kind, flows, links, _wishes(options))


def plot_sweep(
    results: Sweep,
    kinds: str | Sequence[str] | None = None,
    fmt: str | Sequence[str] = "png",
    out: str | PathLike[str] = "plots",
    *,
    options: Options | None = None,
) -> list[Path]:
    """Draw plots of a sweep and write them, one file for each kind and format.

    Args:
        results: The sweep, as `ackclock.sweep.load` gives it.
        kinds: `sweep-lines`, `heat-map`, `scatter`, `fairness`, `throughput-delay`; default those
            that suit the sweep.
        fmt: `png` (1200 pixels wide), `svg` or `pdf`, or several of them.
        out: Directory for the files; made if it does not exist.
        options: Width and colours, which axis goes where, which results are shown, how they are
            aggregated, and which runs.

    Raises:
        PlotError: an unknown plot, axis or format, or one that this sweep does not allow.
        InputError: an unknown result or value.
        OSError: a file cannot be written.
    """
    require("matplotlib")
    from .render import write_sweep

    return write_sweep(_sweep_view(results, options), kinds, _formats(fmt), path_of("out", out))


def figure_of_sweep(results: Sweep, kind: str, *, options: Options | None = None) -> Figure:
    """One plot of a sweep as a matplotlib `Figure`; arguments and errors as in `plot_sweep`."""
    require("matplotlib")
    from .render import draw_sweep

    return draw_sweep(_sweep_view(results, options), kind)


def _sweep_view(results: Sweep, options: Options | None) -> SweepView:
    from .sweep_view import SweepView

    wanted = "the results of a sweep, as `ackclock.sweep.load` returns them"
    must_have(results, "select", "study", "sampled", wanted=wanted)
    return SweepView(results, _wishes(options))


def _formats(fmt: str | Sequence[str]) -> list[str]:
    from .saving import require_format

    formats = list(dict.fromkeys(names_of("fmt", fmt, "png")))
    for name in formats:
        require_format(name)
    return formats


def _runs(results: Recorded | Sequence[Recorded]) -> Sequence[Recorded]:
    runs = results if isinstance(results, Sequence) else [results]
    if not runs:
        raise InputError(f"`results` holds no run; needed is {A_RUN}, or several")
    for one in runs:
        must_have(one, "summary", wanted=f"{A_RUN}, or several")
    return runs


def _wishes(options: Options | None) -> Options:
    if options is not None and not isinstance(options, Options):
        refuse("options", options, "a `plots.Options`")
    return options or Options()
