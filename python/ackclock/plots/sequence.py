"""Panel: sequence numbers over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from ackclock.arrays import Flags, Floats

from . import bands, packets, palette, text
from .panel import ROUND, Panel
from .view import View

_HEIGHT_MM = {True: 82.0, False: 60.0}
_CELL_MM = 0.12
"""Of marks of one kind that are nearer than this, one is drawn: they would cover each other."""

_ROUND_MM = 1.0
"""Rounds of the numbers that are nearer than this are a solid block."""

_MOST_VECTORS = 12_000
"""With more marks than this of one kind, SVG and PDF hold them as a picture."""

_SMALLEST, _LARGEST = 1.0, 2.2
"""Sizes of a square in points, where segments are near each other on paper and where not."""


@dataclass(frozen=True)
class _Kind:
    """A kind of marks: its name in the legend, shape, size against a sent segment, depth."""

    label: str
    marker: str
    size: float
    depth: float
    hollow: bool = False


@dataclass(frozen=True)
class _Marks:
    """Marks of one kind of one flow: times in seconds, segments, and which of them are drawn."""

    flow: str
    kind: _Kind
    time_s: Floats
    segment: Floats
    drawn: Flags

    @property
    def count(self) -> int:
        """How many there are, drawn or not."""
        return len(self.time_s)


_ACK = _Kind("ACK", "o", 0.75, 2.0)
_SENT = _Kind("sent", "s", 1.0, 3.0)
_AGAIN = _Kind("retransmitted", "D", 1.7, 4.0)
_SPURIOUS = _Kind("retransmitted, spurious", "D", 1.7, 4.2, hollow=True)
_DROPPED = _Kind("dropped", "x", 2.6, 5.0)
_LOST_ACK = _Kind("ACK dropped", "+", 2.4, 4.6)


def fill(view: View, panel: Panel) -> None:
    """Each segment when it is sent, and each ACK when it reaches the source.

    As in the labs of BYU CS 460: a square for a segment, an X for one that is dropped (in place of
    the square where it is dropped as it is sent), a dot for an ACK, at the last segment that it
    acknowledges.
    """
    panel.height_mm = _HEIGHT_MM[view.width_mm > 120]
    panel.shows_losses = view.recorded("drops")
    panel.title, panel.unit = "Sequence number", _unit(view)
    shown = [_inside(view, mark) for name in view.flows for mark in _marks(view, name)]
    known = [mark.segment for mark in shown if len(mark.segment)]
    if not known:
        panel.empty("no packet")
        return
    low, high = _limits(view, known)
    size = _size(view, panel, known, high - low)
    panel.ramp = len(view.flows) > len(palette.FLOWS)
    if len(view.flows) > 1:
        for name in view.flows:
            panel.entry(name, view.flow_color[name], width=2.4)
    for mark in shown:
        _draw(view, panel, mark, size, (low, high))
    counts = {
        kind: sum(mark.count for mark in shown if mark.kind is kind)
        for kind in dict.fromkeys(mark.kind for mark in shown)
    }
    for kind, count in counts.items():
        if count:
            color = palette.FAINT_INK if len(view.flows) > 1 else _color(view, view.flows[0], kind)
            panel.mark(f"{kind.label}: {count:,}", color, kind.marker, hollow=kind.hollow)
    panel.axes.set_ylim(low, high)
    panel.axes.yaxis.set_major_locator(MaxNLocator(6, integer=True, steps=ROUND))
    _explain(view, panel, counts)


def _marks(view: View, name: str) -> list[_Marks]:
    sent = packets.segments(view, name)
    at = packets.place(view, name, sent.start)
    dropped = ~np.isnan(sent.dropped_s)
    square = ~dropped | (sent.dropped_s > sent.sent_s)  # else the X stands in place of it
    found = [
        _Marks(name, kind, sent.sent_s[rows], at[rows], square[rows])
        for kind, rows in (
            (_SENT, ~sent.retransmission),
            (_AGAIN, sent.retransmission & ~sent.spurious),
            (_SPURIOUS, sent.spurious),
        )
    ]
    for kind, times, segment in (
        (_DROPPED, sent.dropped_s[dropped], at[dropped]),
        (_ACK, *packets.acks(view, name)),
        (_LOST_ACK, *packets.lost_acks(view, name)),
    ):
        found.append(_Marks(name, kind, times, segment, np.ones(len(times), np.bool_)))
    return found


def _inside(view: View, mark: _Marks) -> _Marks:
    """What lies in the drawn span of time, with the sequence numbers wrapped if so asked."""
    some = (mark.time_s >= view.span[0]) & (mark.time_s <= view.span[1])
    segment = mark.segment[some]
    if view.options.modulo is not None:
        segment = np.mod(segment, view.options.modulo)
    return _Marks(mark.flow, mark.kind, mark.time_s[some], segment, mark.drawn[some])


def _limits(view: View, known: list[Floats]) -> tuple[float, float]:
    if view.options.modulo is not None:
        low, high = 0.0, float(view.options.modulo)
    else:
        low = min(float(values.min()) for values in known)
        high = max(float(values.max()) for values in known)
    room = max(0.02 * (high - low), 0.6)
    return low - room, high + room


def _size(view: View, panel: Panel, known: list[Floats], range_: float) -> float:
    """Size of a square in points: about half of what neighbours are apart on paper."""
    apart = panel.height_mm / range_
    if view.options.modulo is not None:
        rounds = sum(map(len, known)) / view.options.modulo
        apart = min(apart, panel.width_mm / rounds)
    return float(np.clip(0.5 * apart / text.MM_PER_POINT, _SMALLEST, _LARGEST))


def _draw(view: View, panel: Panel, mark: _Marks, size: float, limits: tuple[float, float]) -> None:
    """Draw marks of a kind; of those that would cover each other, one."""
    times, values = mark.time_s[mark.drawn], mark.segment[mark.drawn]
    if not len(times):
        return
    down = bands.bins(*limits, round(panel.height_mm / _CELL_MM))
    rows = bands.distinct_points(times, values, (panel.bins(_CELL_MM), down))
    kind = mark.kind
    panel.points(
        times[rows],
        values[rows],
        kind.marker,
        _color(view, mark.flow, kind),
        size * kind.size,
        hollow=kind.hollow,
        zorder=kind.depth,
        rasterized=len(rows) > _MOST_VECTORS,
        label=kind.label,
    )


def _color(view: View, name: str, kind: _Kind) -> str:
    """Of one flow alone the kinds differ in colour, of several the flows do."""
    if len(view.flows) > 1:
        return view.flow_color[name]
    return {_ACK: palette.FAINT_INK, _LOST_ACK: palette.LOSS, _DROPPED: palette.LOSS}.get(
        kind, view.flow_color[name]
    )


def _unit(view: View) -> str:
    sizes = {
        view.flow(name)["tcp"]["segment_bytes"] for name in view.flows if view.flow(name).get("tcp")
    }
    each = f" of {sizes.pop():,} B" if len(sizes) == 1 else ""
    modulo = view.options.modulo
    return f"segments{each}" + (f", modulo {modulo}" if modulo is not None else "")


def _explain(view: View, panel: Panel, counts: dict[_Kind, int]) -> None:
    """Define the marks below the figure."""
    panel.note("Square: segment sent.")
    if counts[_ACK]:
        panel.note("Dot: ACK received by the sender, at the last segment it covers.")
    if counts[_SPURIOUS]:
        panel.note("Spurious: all of its data had already arrived.")
    if counts[_DROPPED]:
        panel.note("×:\u00a0segment\u00a0dropped.")
    if not view.recorded("drops"):
        panel.note("Drops were not recorded.")
    modulo = view.options.modulo
    if modulo and (rounds := (counts[_SENT] or counts[_ACK]) / modulo) > panel.width_mm / _ROUND_MM:
        panel.note(
            f"The numbers start again {rounds:.0f} times, too often to distinguish: "
            "draw a shorter time, or without modulo."
        )
