"""Figure of several runs: throughput and queueing delay against the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ackclock.metrics import queueing_s

from . import heading, packets, palette, quantities
from .draw import time_unit
from .errors import PlotError
from .panel import ROUND, Panel, mark_style
from .sheet import Sheet
from .view import View

_HEIGHT_MM = {True: 46.0, False: 36.0}


@dataclass(frozen=True)
class Point:
    """What a flow of a run comes to.

    Attributes:
        flow: Name of the flow.
        window_bytes: The largest amount of data that it may have on the way.
        throughput_bps: Its data over the time from its start to the last ACK.
        received_bps: The same to the arrival of the last segment.
        queueing_s: Mean time that its segments wait in buffers, transmissions not included.
    """

    flow: str
    window_bytes: float
    throughput_bps: float
    received_bps: float
    queueing_s: float


def draw(views: Sequence[View]) -> Figure:
    """Throughput and mean queueing delay of each flow, a point for each run.

    Raises:
        PlotError: no run has a finished flow with a limited window.
    """
    points = [point for view in views for point in of_run(view)]
    if not points and len(views) > 1:
        raise PlotError("none of these runs has a finished flow with a limited window")
    view = views[0]
    sheet = Sheet(view, words=heading.of_runs(views) if len(views) > 1 else None)
    height = _HEIGHT_MM[view.width_mm > 120]
    panels = [sheet.add(height, timed=False) for _ in range(2)]
    fills = (_throughput, _queueing)
    for panel, fill, title in zip(
        panels, fills, ("Throughput", "Mean queueing delay"), strict=True
    ):
        panel.title = title
        if points:
            fill(view, panel, points)
        else:
            panel.empty("no finished flow with a limited window")
        _across(panel, points, last=panel is panels[-1])
    if points:
        sheet.note(
            "Throughput: the data of a flow over the time from its start to the last ACK, or to "
            "the arrival of the last segment."
        )
        sheet.note("Queueing delay: mean over all delivered segments, without transmission times.")
    return sheet.finish()


def of_run(view: View) -> list[Point]:
    """A point for each finished flow of a run that has a limited window."""
    found: list[Point] = []
    for name in view.flows:
        flow, summary = view.flow(name), view.summary.get("flows", {}).get(name, {})
        window = window_bytes(flow)
        finish, last_ack = summary.get("finish_s"), summary.get("finish_ack_s")
        if window is None or finish is None or last_ack is None:
            continue
        start, bits = flow["start_ns"] * 1e-9, summary["bytes_delivered"] * 8
        waited = queueing_s(packets.segments(view, name), _hops(view, name))
        mean = float(waited.mean()) if len(waited) else 0.0
        found.append(Point(name, window, bits / (last_ack - start), bits / (finish - start), mean))
    return found


def window_bytes(flow: Mapping[str, Any]) -> float | None:
    """The most data that a flow may have on the way; none if nothing limits it."""
    tcp = flow.get("tcp")
    if not tcp:
        return None
    limits = [tcp["receive_window_bytes"]] if tcp.get("receive_window_bytes") else []
    if tcp["cc"]["kind"] == "fixed":
        limits.append(tcp["cc"]["window"] * tcp["segment_bytes"])
    return float(min(limits)) if limits else None


def _hops(view: View, name: str) -> list[tuple[float, float]]:
    """Rates in bit/s and delays in seconds of the links that carried the data of a flow."""
    table = view.need("transmissions")
    found: list[tuple[float, float]] = []
    for lane in view.all_lanes:
        if len(table.rows(link=lane.link, direction=lane.direction, flow=name, kind="data")):
            rate_bps = view.link(lane.link)[lane.way]["rate_bps"]  # a mean where it follows a rule
            found.append((rate_bps, lane.states[0].delay_ns * 1e-9))
    return found


def _throughput(view: View, panel: Panel, points: Sequence[Point]) -> None:
    highest = max(point.received_bps for point in points)
    unit = quantities.rate_unit(highest, binary=view.binary_rates)
    panel.unit = unit.name
    for name, mine in _by_flow(points):
        color, at = view.flow_color[name], [point.window_bytes / 1000 for point in mine]
        ends = [point.throughput_bps / unit.size for point in mine]
        _line(panel, at, ends, color)
        ends = [point.received_bps / unit.size for point in mine]
        panel.points(at, ends, "o", color, 3.6, hollow=True, clip_on=True, zorder=2.5)
        panel.entry(name, color)
    panel.mark("to the last ACK", palette.FAINT_INK, "o")
    panel.mark("to the last segment", palette.FAINT_INK, "o", hollow=True)
    panel.y_from_zero(highest / unit.size)


def _queueing(view: View, panel: Panel, points: Sequence[Point]) -> None:
    highest = max(point.queueing_s for point in points)
    size = time_unit(panel, highest)
    for name, mine in _by_flow(points):
        at = [point.window_bytes / 1000 for point in mine]
        _line(panel, at, [point.queueing_s / size for point in mine], view.flow_color[name])
    panel.y_from_zero(highest / size)


def _line(panel: Panel, at: Sequence[float], values: Sequence[float], color: str) -> None:
    panel.line(at, values, color, width=1.1, zorder=3, **mark_style("o", color, 3.6))


def _across(panel: Panel, points: Sequence[Point], *, last: bool) -> None:
    axes = panel.axes
    axes.xaxis.set_major_locator(MaxNLocator(10, steps=ROUND))
    axes.set_xlim(0, 1.04 * max((point.window_bytes for point in points), default=1.0) / 1000)
    axes.tick_params(labelbottom=last)
    panel.labelled = last and not panel.message
    if panel.labelled:
        axes.set_xlabel("Window (kB)", labelpad=2)
    elif panel.message:
        axes.tick_params(bottom=False, labelbottom=False)


def _by_flow(points: Sequence[Point]) -> list[tuple[str, list[Point]]]:
    return [
        (name, sorted((p for p in points if p.flow == name), key=lambda p: p.window_bytes))
        for name in dict.fromkeys(point.flow for point in points)
    ]
