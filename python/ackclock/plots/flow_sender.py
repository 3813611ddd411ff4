"""Panels: what a sender has out, and how it times its packets."""

from __future__ import annotations

import numpy as np

from ackclock.metrics import smoothed_rtt

from . import draw, packets, palette, quantities
from .palette import DASHES
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
    if view.recorded("cwnd") and len(series) <= _MOST_WINDOWS:
        for name in series:
            _dotted(view, panel, name, *view.window_packets(name))
        panel.entry("congestion window", palette.FAINT_INK, line="dotted", width=0.9)


def fill_timer(view: View, panel: Panel) -> None:
    """Samples of the round-trip time, their smoothed value, and the retransmission timeout."""
    panel.title = "Retransmission timer"
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    series = [(name, *view.rtt_s(name)) for name in view.flows]
    series = [entry for entry in series if len(entry[1])]
    if not series:
        panel.empty("no sample")
        return
    table = view.records("rto")
    timeouts = {}
    for name, *_ in series:
        rows = [] if table is None else table.rows(flow=name)
        if table is not None and len(rows):
            timeouts[name] = table.plain("time_s")[rows], table.plain("rto_s")[rows]
    every = [values for *_, values in series] + [values for _, values in timeouts.values()]
    highest = max(float(values.max()) for values in every)
    unit = quantities.span_unit(highest)
    panel.unit = unit.name
    for name, times, values in series:
        color = view.flow_color[name]
        panel.axes.plot(
            times / view.time_unit.size,
            values / unit.size,
            ls="",
            marker=".",
            ms=1.6,
            mew=0,
            color=color,
            alpha=0.35,
            zorder=2,
            rasterized=len(times) > 20_000,
        )
        draw.samples(
            panel,
            view,
            times,
            smoothed_rtt(values) / unit.size,
            color=color,
            among=len(series),
            usual_s=float(values.max()),
        )
        panel.entry(name, color)
        if name in timeouts:
            at, rto = timeouts[name]
            _dotted(view, panel, name, at, rto / unit.size)
    panel.y_from_zero(highest / unit.size)
    panel.note("Points: samples of the round-trip time; line: smoothed with gain 1/8 (RFC 6298).")
    if timeouts:
        panel.entry("retransmission timeout", palette.FAINT_INK, line="dotted", width=0.9)


def _dotted(view: View, panel: Panel, name: str, times: draw.Floats, values: draw.Floats) -> None:
    """A level beside the series of a flow; where it is far above them it leaves the panel."""
    if len(times):
        panel.axes.plot(
            np.append(times, view.active(name).stop_s) / view.time_unit.size,
            np.append(values, values[-1]),
            color=view.flow_color[name],
            lw=0.8,
            ls=DASHES["dotted"],
            drawstyle="steps-post",
            zorder=2.5,
        )
