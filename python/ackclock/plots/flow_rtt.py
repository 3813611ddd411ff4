"""Panel: round-trip times."""

from __future__ import annotations

from . import draw, quantities
from .measured import lay_over
from .sheet import Panel
from .view import View


def fill(view: View, panel: Panel) -> None:
    """Round-trip times of each flow as its sender measures them: range and mean."""
    view.need("rtt")
    series = {name: view.rtt_s(name) for name in view.flows}
    series = {name: entry for name, entry in series.items() if len(entry[1])}
    panel.title = "Round-trip time"
    if not series:
        panel.empty("no sample")
        return
    highest = draw.highest(series)
    lowest = min(float(values.min()) for _, values in series.values())
    unit = quantities.span_unit(highest)
    panel.unit = unit.name
    draw.of_flows(view, panel, series, draw.samples, unit.size)
    if lowest > 0.5 * highest and highest > lowest:  # from 0, little would be seen
        room = 0.1 * (highest - lowest)
        panel.axes.set_ylim((lowest - room) / unit.size, (highest + room) / unit.size)
    else:
        panel.y_from_zero(highest / unit.size)
    lay_over(view, panel, "rtt", unit.size)
