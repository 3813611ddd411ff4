"""Panels: what a sender has out, and how it times its packets."""

from __future__ import annotations

from ackclock.metrics import smoothed_rtt

from . import draw, packets, palette, quantities
from .measured import lay_over
from .sheet import Panel
from .view import View

_MOST_WINDOWS = 4


def fill_flight(view: View, panel: Panel) -> None:
    """Data that each flow has sent and not seen acknowledged, beside its congestion window."""
    panel.title, panel.unit = "Data in flight", "packets sent and not acknowledged"
    series = {name: packets.flight(view, name) for name in view.window_flows()}
    series = {name: entry for name, entry in series.items() if len(entry[0])}
    if not series:
        panel.empty("no data packet of a flow with ACKs")
        return
    panel.y_from_zero(draw.of_flows(view, panel, series, draw.steps), counts=True)
    lay_over(view, panel, "flight")
    if view.recorded("cwnd") and len(series) <= _MOST_WINDOWS:
        for name in series:
            draw.level(view, panel, name, *view.window_packets(name))
        panel.entry("congestion window", palette.FAINT_INK, line="dotted", width=0.9)


def fill_timer(view: View, panel: Panel) -> None:
    """RTT samples, smoothed RTT, and the retransmission timeout."""
    panel.title = "Retransmission timer"
    series = {name: view.rtt_s(name) for name in view.flows}
    series = {name: entry for name, entry in series.items() if len(entry[1])}
    if not series:
        panel.empty("no sample")
        return
    timeouts = {}
    if (table := view.records("rto")) is not None:
        times, values = table.plain("time_s"), table.plain("rto_s")
        every = {name: table.rows(flow=name) for name in series}
        timeouts = {name: (times[rows], values[rows]) for name, rows in every.items() if len(rows)}
    highest = max(draw.highest(series), draw.highest(timeouts))
    unit = quantities.span_unit(highest)
    panel.unit = unit.name
    for name, (times, values) in series.items():
        panel.axes.plot(
            times / view.time_unit.size,
            values / unit.size,
            ls="",
            marker=".",
            ms=1.6,
            mew=0,
            color=view.flow_color[name],
            alpha=0.35,
            zorder=2,
            rasterized=len(times) > 20_000,
        )
    smoothed = {name: (times, smoothed_rtt(values)) for name, (times, values) in series.items()}
    draw.of_flows(view, panel, smoothed, draw.samples, unit.size)
    for name, (times, values) in timeouts.items():
        draw.level(view, panel, name, times, values / unit.size)
    panel.y_from_zero(highest / unit.size)
    panel.note("Points: samples of the round-trip time; line: smoothed with gain 1/8 (RFC 6298).")
    if timeouts:
        panel.entry("retransmission timeout", palette.FAINT_INK, line="dotted", width=0.9)
