"""Figure: what queue disciplines compute, such as RED's average and the probability of PIE."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from . import draw, flow_strip, palette
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
    """A panel for each variable, in which each link has its line.

    Of one RED queue also the queue that is averaged, and the thresholds.
    """
    lanes = _lanes(view)
    sheet = Sheet(view)
    flow_strip.add(view, sheet)
    height = _HEIGHT_MM[view.width_mm > 120]
    for variable in _WORDS:
        found = {lane: _series(view, lane, variable) for lane in lanes}
        # Most links carry only ACKs one way, and have one value there.
        known = {lane: one for lane, one in found.items() if len(one[0])}
        moving = {lane: one for lane, one in known.items() if len(one[0]) > 1}
        if series := moving or known:
            _fill(view, sheet.add(height), variable, series)
    if not lanes:
        panel = sheet.add(height)
        panel.title = "State of queues"
        panel.empty("no queue here computes anything: RED, PIE or CoDel would")
    return sheet.finish()


def _lanes(view: View) -> list[Lane]:
    """The transmitters that are drawn, of those whose queues compute something."""
    records = view.need("aqm")
    known = {lane for lane in view.all_lanes if len(records.rows(**_names(lane)))}
    return [lane for lane in view.lanes if lane in known] or [
        lane for lane in view.all_lanes if lane in known and view.asked_links is None
    ][:MOST_LINKS]


def _names(lane: Lane) -> dict[str, str]:
    return {"link": lane.link, "direction": lane.direction}


def _series(view: View, lane: Lane, variable: str) -> Series:
    records = view.need("aqm")
    rows = records.rows(**_names(lane), variable=variable)
    return records.plain("time_s")[rows], records.plain("value")[rows]


def _fill(view: View, panel: Panel, variable: str, series: Mapping[Lane, Series]) -> None:
    panel.title, panel.unit = _WORDS[variable]
    top = 0.0
    if len(series) == 1 and variable == "average-packets" and view.recorded("queue"):
        times, waiting = view.queue_length(next(iter(series)))
        top = draw.steps(panel, times, waiting, color=palette.FAINT_INK, before=0.0)
        panel.entry("queue", palette.FAINT_INK)
    top = max(top, draw.of_lanes(view, panel, series, draw.steps))
    if len(series) == 1 and variable.startswith("average"):
        top = max(top, *_thresholds(view, panel, next(iter(series)), variable.split("-")[1]))
    panel.y_from_zero(top or 1.0)


def _thresholds(view: View, panel: Panel, lane: Lane, unit: str) -> list[float]:
    """Draw RED's thresholds."""
    queue = view.link(lane.link)[lane.way]["queue"]
    levels = [float(queue[f"{name}_{unit}"]) for name in ("min", "max")]
    for level in levels:
        panel.axes.axhline(level, color=palette.INK, lw=0.7, ls=DASHES["dotted"], zorder=1)
    panel.entry("min, max", palette.INK, line="dotted", width=0.8)
    return levels
