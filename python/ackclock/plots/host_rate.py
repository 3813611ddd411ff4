"""Panels: rate at which hosts send and receive."""

from __future__ import annotations

from . import draw, palette, quantities
from .link_rate import note_binary
from .sheet import Panel
from .view import View


def fill_sent(view: View, panel: Panel) -> None:
    """Rate of all packets that each host sends: data and ACKs."""
    _rates(view, panel, "sent", "Send rate of hosts")


def fill_received(view: View, panel: Panel) -> None:
    """Rate of all packets that each host receives: data and ACKs."""
    _rates(view, panel, "received", "Receive rate of hosts")


def _rates(view: View, panel: Panel, event: str, title: str) -> None:
    series = [(host, *view.host_rate(host, event)) for host in view.hosts]
    series = [entry for entry in series if entry[2].any()]
    highest = max((float(rates.max()) for *_, rates in series), default=0.0)
    unit = quantities.rate_unit(highest, binary=view.binary_rates)
    panel.title = title
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    panel.unit = f"{unit.name}, data and ACKs, in {quantities.window(view.window_s)}"
    if not series:
        panel.empty("no packet")
        return
    for host, edges, rates in series:
        source = view.is_source(host)
        draw.windows(
            panel,
            view,
            edges,
            rates / unit.size,
            color=view.host_color(host),
            line="solid" if source else "dashed",
            among=len(series),
        )
        panel.entry(host, view.host_color(host), line="solid" if source else "dashed")
    panel.y_from_zero(highest / unit.size)
    if any(view.is_source(host) for host, *_ in series):
        panel.note("A host has the colour of its first flow; targets are dashed.")
    if view.binary_rates:
        note_binary(panel, unit.name)
