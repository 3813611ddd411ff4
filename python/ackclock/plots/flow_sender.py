"""Panels: what senders measure, what they have out, and how they time it."""

from __future__ import annotations

from ackclock.metrics import smoothed_rtt

from . import draw, packets, palette
from .measured import lay_over
from .panel import Panel
from .view import View

_MOST_WINDOWS = 4
_MOST_VECTORS = 20_000


def fill_rtt(view: View, panel: Panel) -> None:
    """Round-trip times of each flow as its sender measures them: range and mean."""
    view.need("rtt")
    panel.title = "Round-trip time"
    series = draw.some(panel, {name: view.rtt_s(name) for name in view.flows}, "no RTT sample")
    if not series:
        return
    highest = draw.highest(series)
    lowest = min(float(values.min()) for _, values in series.values())
    size = draw.time_unit(panel, highest)
    draw.of_flows(view, panel, series, draw.samples, size)
    if lowest > 0.5 * highest and highest > lowest:  # from 0, little would be seen
        room = 0.1 * (highest - lowest)
        panel.axes.set_ylim((lowest - room) / size, (highest + room) / size)
    else:
        panel.y_from_zero(highest / size)
    lay_over(view, panel, "rtt", size)


def fill_flight(view: View, panel: Panel) -> None:
    """Data that each flow has sent and not seen acknowledged, beside its congestion window."""
    panel.title, panel.unit = "Data in flight", "packets sent but not acknowledged"
    out = {name: packets.flight(view, name) for name in view.window_flows()}
    series = draw.some(panel, out, "no data packet of a flow with ACKs")
    if not series:
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
    series = draw.some(panel, {name: view.rtt_s(name) for name in view.flows}, "no RTT sample")
    if not series:
        return
    timeouts = {}
    if (table := view.records("rto")) is not None:
        times, values = table.plain("time_s"), table.plain("rto_s")
        every = {name: table.rows(flow=name) for name in series}
        timeouts = {name: (times[rows], values[rows]) for name, rows in every.items() if len(rows)}
    highest = max(draw.highest(series), draw.highest(timeouts))
    size = draw.time_unit(panel, highest)
    for name, (times, values) in series.items():
        style = {"marker": ".", "ms": 1.6, "mew": 0, "alpha": 0.35, "zorder": 2, "ls": ""}
        vectors = len(times) <= _MOST_VECTORS
        panel.line(times, values / size, view.flow_color[name], rasterized=not vectors, **style)
    smoothed = {name: (times, smoothed_rtt(values)) for name, (times, values) in series.items()}
    draw.of_flows(view, panel, smoothed, draw.samples, size)
    for name, (times, values) in timeouts.items():
        draw.level(view, panel, name, times, values / size)
    panel.y_from_zero(highest / size)
    panel.note("Points: samples of the round-trip time; line: smoothed with gain 1/8 (RFC 6298).")
    if timeouts:
        panel.entry("retransmission timeout", palette.FAINT_INK, line="dotted", width=0.9)
