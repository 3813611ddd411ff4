"""Panels: what arrives at the targets of flows, as a rate and as a sum."""

from __future__ import annotations

import numpy as np

from ackclock.arrays import Floats, Integers
from ackclock.metrics import new_bytes, sliding_rates, windowed_rates
from ackclock.metrics.segments import unwrapped

from . import draw, packets, palette, quantities
from .panel import Panel
from .view import Series, View

_BIN_S = 0.1
"""Bins of the labs, for runs of 0.4 s to about half an hour."""

_REACH_S, _EVERY_S = 1.0, 0.1
"""The sliding window of the labs: the last second, ten times per second."""

_LEAST_SHARE = 0.2
"""A last bin of which less than this lies within the run is not drawn: one packet would fill it."""

_MOST_SLIDING = 100_000


def bin_s(view: View) -> float:
    """Width of the bins for rates in seconds."""
    if view.options.bin_s is not None:
        return view.options.bin_s
    return _BIN_S if 0.4 <= view.end_s <= 2000.0 else view.window_s


def fill_bins(view: View, panel: Panel) -> None:
    """Rate at which data packets of each flow arrive, repeated ones too, in separate bins.

    With the option `sliding` also the rate over the last second, every 0.1 s, as the labs of BYU
    CS 460 plotted it, and a note on why it misleads.
    """
    width = bin_s(view)
    arrivals = {name: _arrivals(view, name) for name in view.flows}
    panel.title = "Receive rate"
    if not any(len(times) for times, _ in arrivals.values()):
        panel.empty("no data packet arrived")
        return
    edges = np.zeros(0)
    rates: dict[str, Floats] = {}
    for name, (times, sizes) in arrivals.items():
        edges, rates[name] = _to_the_end(view, *windowed_rates(times, sizes, 0, view.end_s, width))
    total = _to_the_end(view, *windowed_rates(*_arrivals(view), 0, view.end_s, width))[1]
    words = f", all data packets, {quantities.window(width)} bins"
    size = draw.rate_unit(view, panel, float(total.max()), words)
    highest = 0.0
    if len(rates) > 1:
        highest = draw.windows(panel, edges, total / size, color=palette.RULE)
        panel.entry("all flows", palette.RULE)
    series = {name: (edges, values) for name, values in rates.items()}
    highest = max(highest, draw.of_flows(view, panel, series, draw.windows, size))
    if view.options.sliding:
        highest = max(highest, _sliding(view, panel, arrivals, size))
    panel.y_from_zero(highest)


def _to_the_end(view: View, edges: Floats, rates: Floats) -> Series:
    """With the last bin cut at the end of the run; without it if little of it is left."""
    inside = view.end_s - edges[-2]
    width = edges[-1] - edges[-2]
    if inside < _LEAST_SHARE * width and len(rates) > 1:
        return edges[:-1], rates[:-1]
    edges[-1] = view.end_s
    rates[-1] *= width / inside
    return edges, rates


def fill_bytes(view: View, panel: Panel) -> None:
    """Bytes of each flow that have arrived at its target, each byte once."""
    panel.title = "Data received"
    sums = {name: _new_bytes(view, name) for name in view.flows}
    highest = draw.highest(sums)
    if highest == 0:
        panel.empty("no data packet arrived")
        return
    unit = quantities.size_unit(highest)
    panel.unit = f"{unit.name}, each byte counted once"
    panel.y_from_zero(draw.of_flows(view, panel, sums, draw.steps, unit.size, before=0.0))


def _sliding(
    view: View,
    panel: Panel,
    arrivals: dict[str, tuple[Floats, Integers]],
    size: float,
) -> float:
    """Draw the rates over the last second; returns the greatest one."""
    if view.end_s / _EVERY_S > _MOST_SLIDING:
        panel.note("The run is too long for rates over the last second.")
        return 0.0
    highest = 0.0
    for name, (times, sizes) in arrivals.items():
        at, rates = sliding_rates(times, sizes, view.end_s, _REACH_S, _EVERY_S)
        active = view.active(name)
        some = (at >= max(active.start_s, view.span[0])) & (at <= view.span[1])
        if not some.any():
            continue
        marks = {"marker": "o", "ms": 1.6 if some.sum() <= 60 else 0.0, "mew": 0, "zorder": 3.5}
        width = draw.line_width(len(arrivals))
        panel.line(at[some], rates[some] / size, view.flow_color[name], "dashed", width, **marks)
        highest = max(highest, float(rates[some].max()) / size)
    panel.entry("over the last 1 s", palette.FAINT_INK, line="dashed", width=1.0)
    panel.note(
        "Dashed: the rate over the last 1\u00a0s, every 0.1\u00a0s. It misleads: until 1\u00a0s it "
        "is the mean since time 0, which climbs although the rate is constant; later it lags by "
        "up to 1\u00a0s."
    )
    return highest


def _arrivals(view: View, name: str | None = None) -> tuple[Floats, Integers]:
    """When data packets arrive, and their bytes on the wire: of a flow, or of all of the run."""
    table = view.need("packets")
    flow = {} if name is None else {"flow": name}
    rows = table.rows(event="received", kind="data", **flow)
    return table.plain("time_s")[rows], table.plain("bytes")[rows].astype(np.int64)


def _new_bytes(view: View, name: str) -> tuple[Floats, Floats]:
    """When data packets of a flow arrive, and how many bytes have arrived by then, each once."""
    table = view.need("packets")
    rows = table.rows(flow=name, event="received", kind="data")
    size = table.plain("bytes")[rows].astype(np.int64)
    tcp = view.flow(name).get("tcp")
    if tcp:
        size = size - tcp["header_bytes"]
    start = unwrapped(table.plain("seq")[rows])
    if packets.counts_bytes(view.flow(name)):
        fresh = new_bytes(start, size)
    else:
        fresh = size * new_bytes(start, np.ones(len(start), np.int64))
    return table.plain("time_s")[rows], np.cumsum(fresh).astype(np.float64)
