"""Panels: rate at which flows send, and at which their data arrive."""

from __future__ import annotations

from . import draw, palette, quantities
from .link_rate import note_binary
from .sheet import Panel
from .view import View


def fill_sent(view: View, panel: Panel) -> None:
    """Rate at which each source sends data packets, retransmissions included."""
    _rates(view, panel, "sent", "Send rate of flows")


def fill_received(view: View, panel: Panel) -> None:
    """Rate at which data packets of each flow arrive at its target."""
    _rates(view, panel, "received", "Receive rate of flows")


def _rates(view: View, panel: Panel, event: str, title: str) -> None:
    series = [(name, *view.flow_rate(name, event)) for name in view.flows]
    highest = max((float(rates.max()) for *_, rates in series), default=0.0)
    unit = quantities.rate_unit(highest, binary=view.binary_rates)
    panel.title = title
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    panel.unit = f"{unit.name}, data packets, in {quantities.window(view.window_s)}"
    if highest == 0:
        panel.empty("no data packet")
        return
    for name, edges, rates in series:
        active = view.active(name)
        draw.windows(
            panel,
            view,
            edges,
            rates / unit.size,
            color=view.flow_color[name],
            start_s=active.start_s,
            stop_s=active.stop_s,
            among=len(series),
        )
        panel.entry(name, view.flow_color[name])
    panel.y_from_zero(highest / unit.size)
    if view.binary_rates:
        note_binary(panel, unit.name)
