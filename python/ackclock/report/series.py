"""The curves of a run: rates, windows, round-trip times, queues, data in flight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ackclock.arrays import Floats
from ackclock.plots import lanes as lane_rules
from ackclock.plots import packets, quantities
from ackclock.plots.errors import PlotError
from ackclock.plots.lanes import Interest, Lane
from ackclock.plots.view import View

from .cut import Grid, Series, changes, fitted
from .pack import Pack, time_unit

POINTS = 110_000
"""About how many points all curves of a page have."""

FIRST_FLOWS, MOST_FLOWS = 12, 40
"""How many flows are shown at first, and how many a page has unless they are asked for."""

_MOST_LANES = 40
_MOST_BINS = 5000

NEEDS = {
    "rate": "packets",
    "window": "cwnd",
    "rtt": "rtt",
    "queue": "queue",
    "flight": "tcp_info",
    "load": "transmissions",
}
"""Panels, and the table of records that each needs."""

_OF_FLOWS: dict[str, Callable[[View, str], Series]] = {
    "window": lambda view, name: changes(view.window_packets(name)),
    "threshold": lambda view, name: changes(view.ssthresh_packets(name)),
    "rtt": View.rtt_s,
    "flight": lambda view, name: changes(_flight(view, name)),
}


def rate_width(end_s: float) -> float:
    """Width of the narrowest windows for rates, seconds: a round number."""
    return quantities.round_up(end_s / _MOST_BINS)


def worth_drawing(view: View) -> list[Lane]:
    """The transmitters that are shown at first, judged by the summary: no records are read."""
    seen: dict[Lane, Interest] = {}
    for lane in view.all_lanes:
        seen[lane] = Interest.of_summary(view.summary["links"][lane.link][lane.direction])
    return lane_rules.worth_drawing(seen, view.own_links)


def busiest(summary: Mapping[str, Any], flows: list[str], count: int) -> list[str]:
    """So many of these flows that got most, in the order given."""
    if len(flows) <= count:
        return flows
    most = sorted(flows, key=lambda name: -(summary["flows"][name]["goodput_bps"] or 0.0))[:count]
    chosen = set(most)
    return [name for name in flows if name in chosen]


def kept_lanes(view: View) -> list[Lane]:
    """The transmitters that a page has: those shown at first, and others that carry something."""
    first = view.lanes if view.asked_links is not None else worth_drawing(view)

    def rank(lane: Lane) -> tuple[bool, float]:
        summary = view.summary["links"][lane.link][lane.direction]
        return lane not in first, -float(summary["utilization"])

    carrying = [lane for lane in view.all_lanes if lane in first or rank(lane)[1] < 0]
    return sorted(sorted(carrying, key=rank)[:_MOST_LANES], key=lambda lane: lane not in first)


def packed(
    view: View, lanes: list[Lane], pack: Pack, window: tuple[float, float], points: int
) -> dict[str, Any]:
    """Add the curves of a run to a pack; returns what they are."""
    tick = time_unit(view.end_s)
    found: list[tuple[str, dict[str, Any], Series]] = []
    for quantity, read in _OF_FLOWS.items():
        for number, name in enumerate(view.flows):
            if view.flow(name).get("tcp"):
                series = _known(lambda read=read, name=name: read(view, name))
                found.append((quantity, {"of": number}, series))
    for number, lane in enumerate(lanes):
        series = _known(lambda lane=lane: changes(view.queue_length(lane)))
        found.append(("queue", {"of": number}, series))
    found = [entry for entry in found if len(entry[2][0])]
    kept, _ = fitted([series for *_, series in found], Grid(view.end_s, window=window), points)
    curves: dict[str, list[Any]] = {}
    for (quantity, entry, _), (time_s, value) in zip(found, kept, strict=True):
        times = pack.integers(np.rint(time_s / tick))
        unit = None if quantity in ("rtt", "window", "threshold") else 1.0
        curves.setdefault(quantity, []).append(
            {**entry, "t": times, "v": pack.numbers(value, unit)}
        )
    width = view.window_s = rate_width(view.end_s)
    rates = {
        "rate": [_known(lambda n=name: view.flow_rate(n, "received")) for name in view.flows],
        "load": [_known(lambda lane=lane: view.link_rate(lane, lanes)) for lane in lanes],
    }
    for quantity, series in rates.items():
        curves[quantity] = [
            {"of": number, "bytes": pack.integers(np.rint(rate * (width / 8)))}
            for number, (edges, rate) in enumerate(series)
            if len(edges)
        ]
    # Of the others, one rate says it.
    curves["capacity"] = [
        {"of": number, "bytes": pack.integers(np.diff(_capacity(view, lane), prepend=0))}
        for number, lane in enumerate(lanes)
        if lane.traced or len(lane.states) > 1
    ]
    lacking = {
        quantity: table
        for quantity, table in NEEDS.items()
        if not curves.get(quantity) and not view.recorded(table)
    }
    return {"tick": tick, "width": width, "curves": curves, "lacking": lacking}


def _capacity(view: View, lane: Lane) -> Floats:
    """Whole bytes that a transmitter could have carried up to the end of each window."""
    _, rates = view.capacity(lane)
    return np.rint(np.cumsum(rates * (view.window_s / 8)))


def _known(read: Callable[[], Series]) -> Series:
    """A curve, or none where the run has not recorded it."""
    try:
        return read()
    except PlotError:
        return np.empty(0), np.empty(0)


def _flight(view: View, name: str) -> Series:
    """Segments in flight, as the sender counts them; of senders that do not, from packets."""
    if view.flow(name)["tcp"]["sender"] == "modern":
        return view.tcp_info(name, "in_flight")
    return packets.flight(view, name)
