"""What can be measured in a run and set next to a published figure, by name.

Each measure takes the run, the link or flow, and a span of time; the registry gives its unit and
the tables it reads. Rates are in units of 2^20 bit/s and windows in packets, as in the paper that
asks for them; queues are data packets that wait, the one on the wire not counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ackclock.arrays import Floats
from ackclock.metrics import (
    HasTables,
    cwnd_series,
    drop_times,
    packet_series,
    queue_series,
    rtt_series,
    select,
    step_at,
    step_mean,
    step_range,
    transmission_series,
    windowed_rates,
)

Series = tuple[Floats, Floats]

MEBIBIT = 2**20
WINDOW_S = 0.1
"""Width of the windows over which the paper's figures show rates and losses."""

_SAME_EVENT_S = 0.3
"""Retransmissions closer together than this belong to one reduction of the window."""


class RunOutcome(HasTables, Protocol):
    """What is needed of a run: tables and the summary."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The summary as in `summary.json`."""
        ...


@dataclass(frozen=True)
class Place:
    """Where to measure: a link, a flow or nothing (``of``), a span of time, a position in it."""

    of: str = ""
    start_s: float = 0.0
    end_s: float = math.inf
    at_s: float = 0.0
    nth: int = 1


@dataclass
class Run:
    """A run with the series that several measures share, each read once."""

    outcome: RunOutcome
    _read: dict[tuple[str, str], Series] = field(default_factory=dict)

    def series(self, kind: Callable[[HasTables, str], tuple[Any, Any]], of: str) -> Series:
        """Return times and values of one link or flow."""
        key = (kind.__name__, of)
        if key not in self._read:
            times, values = kind(self.outcome, of)
            # As numbers of one type, so that no measure has to convert a long series again.
            self._read[key] = times, np.asarray(values, dtype=np.float64)
        return self._read[key]

    def window(self, flow: str) -> Series:
        """Return times and congestion windows of a flow, in packets."""
        times, size_bytes = self.series(cwnd_series, flow)
        return times, size_bytes / self.flow(flow)["segment_bytes"]

    def flow(self, name: str) -> Mapping[str, Any]:
        """Return the summary of a flow."""
        return self.outcome.summary["flows"][name]

    @property
    def end_s(self) -> float:
        """When the run ended."""
        return float(self.outcome.summary["end_s"])


Function = Callable[[Run, Place], float]


@dataclass(frozen=True)
class Measure:
    """A measure: its unit, the record tables it needs, the function itself, and what it gives."""

    unit: str
    tables: tuple[str, ...]
    function: Function
    meaning: str


MEASURES: dict[str, Measure] = {}


def _measure(unit: str, *tables: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        meaning = function.__doc__ or ""
        MEASURES[function.__name__] = Measure(unit, tables, function, meaning)
        return function

    return register


def measure(name: str, run: Run, place: Place) -> float:
    """Take a measure. Infinite means that it never happens, NaN for what has no samples."""
    return MEASURES[name].function(run, place)


@_measure("s")
def end(run: Run, place: Place) -> float:
    """When the sender of a flow has its last ACK; the last such time without a flow."""
    flows = [place.of] if place.of else list(run.outcome.summary["flows"])
    times = [run.flow(name)["finish_ack_s"] for name in flows]
    return max(math.inf if time is None else float(time) for time in times)


@_measure("", "drops")
def losses(run: Run, place: Place) -> float:
    """Data packets and ACKs lost on a link, or on all, within the span."""
    times = drop_times(run.outcome, **_link(place))
    return float(np.count_nonzero((times > place.start_s) & (times <= place.end_s)))


@_measure("s", "drops")
def loss_window(run: Run, place: Place) -> float:
    """End of the 0.1 s window that holds the nth loss of the span."""
    times = np.sort(_inside(drop_times(run.outcome, **_link(place)), place))
    if times.size < place.nth:
        return math.inf
    return round(math.ceil(round(times[place.nth - 1] / WINDOW_S, 6)) * WINDOW_S, 6)


@_measure("s", "drops")
def loss_period(run: Run, place: Place) -> float:
    """Mean time between the losses of the span."""
    times = np.sort(_inside(drop_times(run.outcome, **_link(place)), place))
    return float(np.diff(times).mean()) if times.size > 1 else math.inf


@_measure("packets", "queue")
def queue_middle(run: Run, place: Place) -> float:
    """Middle of the band that a figure shows: mean over 0.05 s columns of (least + greatest)/2."""
    times, values = run.series(queue_series, place.of)
    columns = round((place.end_s - place.start_s) / 0.05)
    edges = np.linspace(place.start_s, place.end_s, columns + 1)
    # Each column looks at its own part, from the change before it on, not at the whole series.
    after = np.searchsorted(times, edges, side="right")
    bands = [
        step_range(times[max(0, first - 1) : last], values[max(0, first - 1) : last], start, stop)
        for (start, stop), (first, last) in zip(
            itertools.pairwise(edges), itertools.pairwise(after), strict=True
        )
    ]
    return float(np.mean(bands))


@_measure("s", "queue")
def queue_peak_time(run: Run, place: Place) -> float:
    """When the queue is first at its greatest within the span."""
    times, values = run.series(queue_series, place.of)
    inside = (times >= place.start_s) & (times <= place.end_s)
    return float(times[inside][np.argmax(values[inside])])


@_measure("Mibps", "transmissions")
def link_rate(run: Run, place: Place) -> float:
    """Data and ACKs that a link carries in the span, both directions together."""
    return _rates(*run.series(_carried, place.of), place, place.end_s - place.start_s)[0]


@_measure("Mibps", "packets")
def send_rate(run: Run, place: Place) -> float:
    """Data that a flow sends in the span."""
    return _rates(*run.series(_sent, place.of), place, place.end_s - place.start_s)[0]


@_measure("packets", "cwnd")
def window_at(run: Run, place: Place) -> float:
    """Window of a flow at a time."""
    times, packets = run.window(place.of)
    return float(step_at(times, packets, [place.at_s])[0])


@_measure("s", "transmissions")
def first_data(run: Run, place: Place) -> float:
    """When a link carries the first data packet of the span."""
    times, _ = transmission_series(run.outcome, place.of, kind="data")
    inside = _inside(times, place)
    return float(inside.min(initial=math.inf))


@_measure("s", "routes")
def route_switch(run: Run, place: Place) -> float:
    """When a router first turns to a link in the span."""
    times = select(run.outcome, "routes", ("time_s",), link=place.of)[0]
    inside = _inside(times, place)
    return float(inside.min(initial=math.inf))


@_measure("", "events")
def reductions(run: Run, place: Place) -> float:
    """How often a flow reduces its window: retransmissions within 0.3 s count once."""
    kinds = ("fast-retransmit", "timeout")
    parts = [
        select(run.outcome, "events", ("time_s",), flow=place.of, event=kind)[0] for kind in kinds
    ]
    times = np.sort(np.concatenate(parts))
    return float(times.size and 1 + np.count_nonzero(np.diff(times) > _SAME_EVENT_S))


@_measure("")
def unfinished(run: Run, place: Place) -> float:
    """Flows that never complete."""
    flows = run.outcome.summary["flows"].values()
    return float(sum(flow["finish_ack_s"] is None for flow in flows))


@_measure("", "packets")
def acknowledged(run: Run, place: Place) -> float:
    """Segments that a flow's sender knows to have arrived."""
    (seq,) = select(run.outcome, "packets", ("seq",), flow=place.of, event="received", kind="ack")
    return float(seq.max(initial=0) // run.flow(place.of)["segment_bytes"])


def _queue(run: Run, place: Place) -> Series:
    return run.series(queue_series, place.of)


def _window(run: Run, place: Place) -> Series:
    return run.window(place.of)


def _rtt(take: Callable[[Floats], Any]) -> Function:
    def of_samples(run: Run, place: Place) -> float:
        times, rtt_s = run.series(rtt_series, place.of)
        return float(take(rtt_s[(times >= place.start_s) & (times <= place.end_s)])) * 1e3

    return of_samples


def _sends(take: Callable[[Floats], Any]) -> Function:
    return lambda run, at: float(take(_rates(*run.series(_sent, at.of), at, WINDOW_S)))


def _range(series: Callable[[Run, Place], Series], end: int) -> Function:
    def take(run: Run, place: Place) -> float:
        until = min(place.end_s, run.end_s)
        return step_range(*series(run, place), place.start_s, until)[end]

    return take


def _mean(series: Callable[[Run, Place], Series]) -> Function:
    return lambda run, place: step_mean(*series(run, place), place.start_s, place.end_s)


def _of_flow(key: str) -> Function:
    return lambda run, place: float(run.flow(place.of)[key])


def _of_link(*keys: str) -> Function:
    def take(run: Run, place: Place) -> float:
        value: Any = run.outcome.summary["links"][place.of]["forward"]
        for key in keys:
            value = value[key]
        return float(value)

    return take


def _average(values: Floats) -> float:
    return float(values.mean()) if values.size else math.nan


MEASURES |= {
    name: Measure(unit, tuple(table.split()), function, meaning)
    for name, unit, table, function, meaning in (
        ("queue_mean", "packets", "queue", _mean(_queue), "Data packets waiting, by time"),
        ("queue_min", "packets", "queue", _range(_queue, 0), "Least number of them in the span"),
        ("queue_max", "packets", "queue", _range(_queue, 1), "Greatest number of them in the span"),
        ("window_mean", "packets", "cwnd", _mean(_window), "Mean of a flow's window, by time"),
        ("window_min", "packets", "cwnd", _range(_window, 0), "Least window of a flow in the span"),
        ("window_max", "packets", "cwnd", _range(_window, 1), "Greatest window in the span"),
        ("rtt_mean", "ms", "rtt", _rtt(_average), "Mean of a flow's RTT samples"),
        ("rtt_min", "ms", "rtt", _rtt(lambda found: found.min(initial=math.inf)), "Least sample"),
        ("rtt_max", "ms", "rtt", _rtt(lambda found: found.max(initial=0.0)), "Greatest sample"),
        ("send_rate_min", "Mibps", "packets", _sends(np.min), "Least rate of a flow in 0.1 s"),
        ("send_rate_max", "Mibps", "packets", _sends(np.max), "Greatest rate of a flow in 0.1 s"),
        ("retransmissions", "", "", _of_flow("retransmissions"), "Packets that a flow sends again"),
        ("lost", "", "", _of_flow("segments_dropped"), "Its data packets dropped in the network"),
        ("transferred", "bytes", "", _of_flow("bytes_on_wire"), "Bytes that leave its host"),
        ("packets", "", "", _of_flow("packets_on_wire"), "Packets that leave its host"),
        ("timeouts", "", "", _of_flow("timeouts"), "How often its timer expires"),
        ("utilization", "", "", _of_link("utilization"), "Share of the run in which a link sends"),
        ("waiting_mean", "packets", "", _of_link("queue_packets", "mean"), "All packets waiting"),
        ("waiting_max", "packets", "", _of_link("queue_packets", "max"), "Most packets waiting"),
    )
}


def _link(place: Place) -> dict[str, str]:
    return {"link": place.of} if place.of else {}


def _inside(times: Floats, place: Place) -> Floats:
    return times[(times >= place.start_s) & (times <= place.end_s)]


def _rates(times: Floats, sizes: Floats, place: Place, width_s: float) -> Floats:
    _, rates = windowed_rates(times, sizes, place.start_s, place.end_s, width_s)
    return rates / MEBIBIT


def _sent(results: HasTables, flow: str) -> tuple[Floats, Any]:
    return packet_series(results, "sent", flow=flow, kind="data")


def _carried(results: HasTables, link: str) -> tuple[Floats, Floats]:
    parts = [transmission_series(results, link, kind=kind) for kind in ("data", "ack")]
    times = np.concatenate([part[0] for part in parts])
    sizes = np.concatenate([part[1] for part in parts]).astype(np.float64)
    return times, sizes
