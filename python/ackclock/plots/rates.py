"""Panels: rate at which flows and hosts send, and at which their packets arrive."""

from __future__ import annotations

from collections.abc import Mapping

from . import draw, palette, quantities
from .panel import Panel
from .view import Series, View


def fill_flows_sent(view: View, panel: Panel) -> None:
    """Rate at which each source sends data packets, retransmissions included."""
    _flows(view, panel, "sent", "Send rate of flows")


def fill_flows_received(view: View, panel: Panel) -> None:
    """Rate at which data packets of each flow arrive at its target."""
    _flows(view, panel, "received", "Receive rate of flows")


def fill_hosts_sent(view: View, panel: Panel) -> None:
    """Rate of all packets that each host sends: data and ACKs."""
    _hosts(view, panel, "sent", "Send rate of hosts")


def fill_hosts_received(view: View, panel: Panel) -> None:
    """Rate of all packets that each host receives: data and ACKs."""
    _hosts(view, panel, "received", "Receive rate of hosts")


def _flows(view: View, panel: Panel, event: str, title: str) -> None:
    series = {name: view.flow_rate(name, event) for name in view.flows}
    size = _unit(view, panel, title, series, "data packets")
    if draw.highest(series):
        panel.y_from_zero(draw.of_flows(view, panel, series, draw.windows, size))
    else:
        panel.empty("no data packet")


def _hosts(view: View, panel: Panel, event: str, title: str) -> None:
    series = {host: view.host_rate(host, event) for host in view.hosts}
    series = {host: entry for host, entry in series.items() if entry[1].any()}
    size = _unit(view, panel, title, series, "data and ACKs")
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    if not series:
        panel.empty("no packet")
        return
    highest = 0.0
    for host, (edges, rates) in series.items():
        color, line = view.host_color(host), "solid" if view.is_source(host) else "dashed"
        drawn = draw.windows(panel, edges, rates / size, color=color, line=line, among=len(series))
        highest = max(highest, drawn)
        panel.entry(host, color, line=line)
    panel.y_from_zero(highest)
    if any(map(view.is_source, series)):
        panel.note("A host has the colour of its first flow; receivers are dashed.")


def _unit(view: View, panel: Panel, title: str, series: Mapping[str, Series], what: str) -> float:
    """Write title and unit of a panel of rates; returns the unit's size."""
    panel.title = title
    words = f", {what}, {quantities.window(view.window_s)} bins"
    return draw.rate_unit(view, panel, draw.highest(series), words)
