"""Panel: data packets waiting at links."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ackclock.errors import listed
from ackclock.theory.network import largest_write

from . import draw, palette, quantities
from .lanes import Lane
from .palette import DASHES
from .panel import Panel
from .view import View

_LONG = 16
"""Letters of a name of which a note holds few."""


def fill(view: View, panel: Panel) -> None:
    """Data packets waiting at each link: range and time average, and the limit of the buffer."""
    panel.title, panel.unit = "Queue length", "data packets"
    series = {lane: view.queue_packets(lane) for lane in view.lanes}
    highest = draw.of_lanes(view, panel, series, draw.steps, before=0.0)
    limits = {limit for lane in view.lanes if (limit := limit_packets(view, lane))}
    if len(limits) == 1 and highest >= 0.75 * (limit := limits.pop()):
        highest = max(highest, limit)
        draw_limit(panel, limit)
    panel.y_from_zero(highest, counts=True)
    note_hidden(panel, view.hidden_links)


def note_hidden(panel: Panel, links: Sequence[str]) -> None:
    """Name the links that are not drawn."""
    if links:
        long = max(map(len, links)) > _LONG
        shown = listed(links, 3 if long else 12)
        panel.note(f"Links not shown (shorter queues, fewer losses): {shown}.")


def fill_sojourn(view: View, panel: Panel) -> None:
    """How long packets have waited at each link when their transmission starts: range and mean."""
    view.need("transmissions")
    panel.title = "Queueing delay"
    series = {lane: view.sojourn_s(lane) for lane in view.lanes}
    highest = draw.highest(series)
    size = draw.time_unit(panel, highest, ", of packets leaving the queue")
    if draw.some(panel, series, "no packet"):
        draw.of_lanes(view, panel, series, draw.samples, size)
        panel.y_from_zero(highest / size)


def draw_limit(panel: Panel, limit: float) -> None:
    """Draw and name the line at which a buffer is full."""
    panel.axes.axhline(limit, color=palette.FAINT_INK, lw=0.7, ls=DASHES["dotted"], zorder=1)
    words = f"buffer full ({quantities.number(limit)})"
    panel.entry(words, palette.FAINT_INK, line="dotted", width=0.8)


def limit_packets(view: View, lane: Lane) -> float:
    """How many full data packets of the largest flow a buffer holds; 0 if there is no limit."""
    if lane.limit_packets is not None:
        return lane.limit_packets
    if lane.limit_bytes is None:
        return 0
    sizes = [
        flow["tcp"]["segment_bytes"] + flow["tcp"]["header_bytes"]
        if flow.get("tcp")
        else largest_write(flow["udp"]["source"])
        for flow, _ in view.transports
    ]
    return math.floor(lane.limit_bytes / max(sizes)) if sizes else 0
