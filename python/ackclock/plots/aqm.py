"""Figure: what queue disciplines compute, such as RED's average and the probability of PIE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ackclock.registry import entry

from . import draw, flow_strip, link_queue, palette
from .lanes import MOST_LINKS, Lane
from .palette import DASHES
from .panel import Panel
from .sheet import Sheet
from .view import Series, View

_HEIGHT_MM = {True: 36.0, False: 28.0}

_WORDS = {
    "average-packets": ("Average queue", "packets"),
    "average-bytes": ("Average queue", "bytes"),
    "probability": ("Probability of drops and marks", ""),
    "max-p": ("Adaptive RED", "max_p"),
    "dropping": ("CoDel: dropping", "1 while it drops or marks"),
    "count": ("CoDel: signals", "count that sets their distance"),
    "tokens-bytes": ("Tokens in the bucket", "bytes"),
}
"""Title and unit of each variable, in the order of the panels."""


def draw_aqm(view: View) -> Figure:
    """A panel for each variable that changes, in which each link has its line.

    Of one RED queue also the queue that is averaged, and the thresholds.
    """
    view.need("aqm")
    known = [lane for lane in view.all_lanes if _has_state(view, lane)]
    lanes = _drawn(view, known)
    sheet = Sheet(view)
    flow_strip.add(view, sheet)
    height = _HEIGHT_MM[view.width_mm > 120]
    found = {
        variable: {lane: series for lane in lanes if len((series := view.aqm(lane, variable))[0])}
        for variable in _WORDS
    }
    # Most links carry only ACKs one way, and have one value there.
    moving = {
        variable: {lane: one for lane, one in series.items() if len(one[0]) > 1}
        for variable, series in found.items()
    }
    panels: list[Panel] = []
    for variable, series in (moving if any(moving.values()) else found).items():
        if series:
            panels.append(sheet.add(height))
            _fill(view, panels[-1], variable, series)
    if not panels:
        panels.append(sheet.add(height))
        panels[0].title = "State of queues"
        panels[0].empty("no packet met a queue whose state is recorded, such as RED, PIE or CoDel")
    if view.asked_links is None:
        shown = {lane.link for lane in lanes}
        others = dict.fromkeys(lane.link for lane in known if lane.link not in shown)
        link_queue.note_hidden(panels[-1], list(others))
    return sheet.finish()


def _has_state(view: View, lane: Lane) -> bool:
    """Whether the queue of a transmitter computes something that is recorded."""
    return bool(entry("queue", view.link(lane.link)[lane.way]["queue"]["kind"])["state"])


def _drawn(view: View, known: Sequence[Lane]) -> list[Lane]:
    """The transmitters that are drawn, of those whose queues compute something."""
    chosen = [lane for lane in view.lanes if lane in known]
    if chosen or view.asked_links is not None:
        return chosen
    return sorted(known, key=lambda lane: view.interest[lane], reverse=True)[:MOST_LINKS]


def _fill(view: View, panel: Panel, variable: str, series: Mapping[Lane, Series]) -> None:
    panel.title, panel.unit = _WORDS[variable]
    top = 0.0
    only = next(iter(series)) if len(series) == 1 else None
    if only and variable.startswith("average"):
        unit = variable.split("-")[1]
        if view.recorded("queue"):
            times, waiting = view.queue_level(only, unit)
            top = draw.steps(panel, times, waiting, color=palette.RULE, before=0.0)
            panel.entry("queue", palette.RULE)
        top = max(top, *_thresholds(view, panel, only, unit))
    top = max(top, draw.of_lanes(view, panel, series, draw.steps))
    panel.y_from_zero(top or 1.0)
    # Small probabilities: no power of ten above the panel, where its title stands.
    panel.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _thresholds(view: View, panel: Panel, lane: Lane, unit: str) -> list[float]:
    """Draw RED's thresholds."""
    queue = view.link(lane.link)[lane.way]["queue"]
    levels = [float(queue[f"{name}_{unit}"]) for name in ("min", "max")]
    for level in levels:
        panel.axes.axhline(level, color=palette.INK, lw=0.7, ls=DASHES["dotted"], zorder=1)
    panel.entry("min, max", palette.INK, line="dotted", width=0.8)
    return levels
