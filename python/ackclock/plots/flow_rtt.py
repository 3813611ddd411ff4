"""Panel: round-trip times."""

from __future__ import annotations

from . import draw, palette, quantities
from .sheet import Panel
from .view import View


def fill(view: View, panel: Panel) -> None:
    """Round-trip times of each flow as its sender measures them: range and mean."""
    view.need("rtt")
    series = [(name, *view.rtt_s(name)) for name in view.flows]
    series = [entry for entry in series if len(entry[1])]
    panel.title = "Round-trip time"
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    if not series:
        panel.empty("no sample")
        return
    highest = max(float(values.max()) for *_, values in series)
    lowest = min(float(values.min()) for *_, values in series)
    unit = quantities.span_unit(highest)
    panel.unit = unit.name
    for name, times, values in series:
        draw.samples(
            panel,
            view,
            times,
            values / unit.size,
            color=view.flow_color[name],
            among=len(series),
            usual_s=float(values.max()),  # windows may leave as bursts, one in a round trip
        )
        panel.entry(name, view.flow_color[name])
    if lowest > 0.5 * highest and highest > lowest:  # from 0, little would be seen
        room = 0.1 * (highest - lowest)
        panel.axes.set_ylim((lowest - room) / unit.size, (highest + room) / unit.size)
    else:
        panel.y_from_zero(highest / unit.size)
