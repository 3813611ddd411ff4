"""Figure: how one-way delays and jitter of data packets are distributed, as histograms."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ackclock.arrays import Floats
from ackclock.metrics.delays import variations_s
from ackclock.tables.of_records import Span, delays_s

from . import heading, quantities
from .facets import Facets
from .view import View
from .words import write_instead

_BINS = 60
_SHOWN = 0.999
"""Of the packets of all flows; the axis ends there, so that a single one does not stretch it."""


def draw(view: View) -> Figure:
    """Histograms of one-way delay and of jitter, a line for each flow."""
    span = Span.of(view.options.from_s, view.options.to_s, view.end_s, view.warmup_s)
    delays = {flow: delays_s(view.results, flow, span) for flow in view.flows}
    delays = {flow: values for flow, values in delays.items() if values.size}
    words = "Delay and jitter of data packets", heading.title(view), heading.caption(view)
    page = Facets(view.width_mm, *words, 2, 2 if view.width_mm > 120 else 1, 48.0, between_mm=8.0)
    page.gap_mm = 10.0
    page.heads = ["One-way delay", "Jitter (difference from the previous packet)"]
    page.legend = [(Line2D([], [], color=view.flow_color[f], lw=1.4), f) for f in delays]
    if not delays:
        return page.empty("no flow received a data packet")
    left = _fill(page.axes[0], delays, view, from_zero=False)
    jitter = {flow: variations_s(values) for flow, values in delays.items() if values.size > 1}
    if jitter:
        left = max(left, _fill(page.axes[1], jitter, view, from_zero=True))
    else:
        page.axes[1].set_axis_off()
        write_instead(page.axes[1], "no flow received two data packets")
    page.axes[0].set_ylabel("Share of packets (%)", labelpad=2)
    if left:
        page.notes.append(f"Up to {left} packets per panel are beyond its right edge.")
    if (span.from_s, span.to_s) != (0.0, view.end_s):
        page.notes.append(f"Packets that arrived from {span.from_s:g} s to {span.to_s:g} s.")
    return page.finish()


def _fill(axes: Axes, values: dict[str, Floats], view: View, *, from_zero: bool) -> int:
    """Draw histograms over the same bins; return how many packets are beyond them."""
    every = np.sort(np.concatenate(list(values.values())))
    high = float(every[min(len(every) - 1, int(_SHOWN * len(every)))])
    low = 0.0 if from_zero else float(every[0])
    if high <= low:
        high = low + max(1e-3, 0.1 * low)
    unit = quantities.span_unit(high)
    edges = np.linspace(low, high, _BINS + 1)
    for flow, mine in values.items():
        counts, _ = np.histogram(mine, edges)
        shares = 100 * counts / len(mine)
        axes.stairs(shares, edges / unit.size, color=view.flow_color[flow], lw=1.2, zorder=3)
    axes.set_xlim(low / unit.size, high / unit.size)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(
        f"Delay ({unit.name})" if not from_zero else f"Jitter ({unit.name})", labelpad=2
    )
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    return int((every > high).sum())
