"""Periods of a run and what was measured in their settled parts."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ackclock.arrays import Array, Floats
from ackclock.metrics.goodput import arrival_counts, first_arrivals
from ackclock.metrics.series import cwnd_series, is_long, queue_series, rtt_series, select
from ackclock.metrics.steps import step_mean
from ackclock.results import Results
from ackclock.theory.prediction import RATE_TOLERANCE, Period, Prediction

Span = tuple[float, float]


class MeasuredPeriod(NamedTuple):
    """A span of a run in which the same predicted flows were active.

    Attributes:
        start_s: Start, seconds.
        end_s: End, seconds.
        flows: Names of the flows.
        ends_with: Names of flows that finish at its end.
    """

    start_s: float
    end_s: float
    flows: frozenset[str]
    ends_with: frozenset[str]


def measured_periods(results: Results, flows: Iterable[str]) -> list[MeasuredPeriod]:
    """Split a run at the starts and finishes of these flows, as they were in the run."""
    end_s = float(results.summary["end_s"])
    life: dict[str, Span] = {}
    for name in flows:
        entry = results.summary["flows"][name]
        finish = entry["finish_s"]
        if entry["start_s"] < end_s:
            life[name] = (float(entry["start_s"]), end_s if finish is None else float(finish))
    changes = sorted({time for span in life.values() for time in span})
    periods = []
    for start, end in pairwise(changes):
        active = frozenset(name for name, (a, b) in life.items() if a <= start and b >= end)
        if active:
            gone = {name for name in active if life[name][1] == end and end < end_s}
            periods.append(MeasuredPeriod(start, end, active, frozenset(gone)))
    return periods


def settled_spans(
    measured: MeasuredPeriod,
    predicted: Period,
    prediction: Prediction,
    route_changes_s: Sequence[float],
) -> list[Span]:
    """Parts of a period in which the transient has died away, by the laws.

    After each change (start, departure, change of route) the settling time of the period is left
    out; before a departure the last RTT of the flow that leaves, as it sends nothing more then.
    What remains of a piece counts if it is at least as long as the longest RTT. A window that fills
    no link goes in one burst a round trip, so that a burst more or less is counted: there it has to
    last until that is less than the tolerance of a rate.
    """
    end_s = measured.end_s - max(
        (predicted.flows[name].rtt_s for name in measured.ends_with), default=0.0
    )
    longest = max(
        state.rtt_s
        / (1.0 if predicted.fills(prediction.flows[name].path_queues) else RATE_TOLERANCE)
        for name, state in predicted.flows.items()
    )
    cuts = [measured.start_s, *(t for t in route_changes_s if measured.start_s < t < end_s), end_s]
    spans = []
    for start, end in pairwise(cuts):
        settled = start + predicted.settling_s
        if end - settled >= longest:
            spans.append((settled, end))
    return spans


def route_change_times(results: Results) -> list[float]:
    """Times at which a router left a path for another, seconds; empty if this is not recorded."""
    if "routes" not in results.tables:
        return []
    rows = results.table("routes")
    entries = zip(rows["time_s"].to_pylist(), rows["previous_link"].to_pylist(), strict=True)
    return sorted({time_s for time_s, previous in entries if previous is not None})


class Measures:
    """Means of a run over spans of time; None where the run recorded nothing.

    Args:
        results: The run.
        prediction: Tells the packets and paths of the flows.
    """

    def __init__(self, results: Results, prediction: Prediction) -> None:
        self._results = results
        self._recorded = set(results.tables)
        self._flows = prediction.flows
        self._arrivals: dict[str, Floats] = {}
        self._counts: dict[str, tuple[Floats, Floats]] | None = None
        self._queues: dict[tuple[str, str], tuple[Array, Array]] = {}

    def rate_bps(self, flow: str, spans: Sequence[Span]) -> float | None:
        """New data that reached the receiver, bit/s."""
        if "packets" not in self._recorded:
            return None
        if is_long(self._results, "packets"):
            if self._counts is None:
                self._counts = arrival_counts(self._results, self._results.summary["end_s"])
            by_time = self._counts.get(flow, ([0.0], [0.0]))
            count = np.diff(np.interp(np.array(spans), *by_time), axis=1).sum()
        else:
            if flow not in self._arrivals:
                self._arrivals[flow] = first_arrivals(self._results, flow)
            edges = np.searchsorted(self._arrivals[flow], np.array(spans), side="right")
            count = (edges[:, 1] - edges[:, 0]).sum()
        return float(count * self._flows[flow].segment_bytes * 8 / _length(spans))

    def queue_packets(
        self, queues: Sequence[tuple[str, str]], spans: Sequence[Span]
    ) -> float | None:
        """Data packets waiting in these queues together, time-weighted."""
        if "queue" not in self._recorded:
            return None
        for queue in queues:
            if queue not in self._queues:
                self._queues[queue] = queue_series(self._results, *queue)
        return sum(_mean(self._queues[queue], spans) for queue in queues)

    def window_packets(self, flow: str, spans: Sequence[Span]) -> float | None:
        """Congestion window, time-weighted."""
        if "cwnd" not in self._recorded:
            return None
        mean_bytes = _mean(cwnd_series(self._results, flow), spans)
        return mean_bytes / self._flows[flow].segment_bytes

    def reductions_s(self, flow: str, span: Span) -> list[float] | None:
        """When recoveries began within a span, also those that follow at once."""
        if "cwnd" not in self._recorded:
            return None
        time_s, ssthresh = select(self._results, "cwnd", ("time_s", "ssthresh_bytes"), flow=flow)
        (lost,) = select(self._results, "cwnd", ("time_s",), flow=flow, state="recovery")
        recovering = np.isin(time_s, lost)
        fresh = ~np.roll(recovering, 1) | (ssthresh != np.roll(ssthresh, 1))
        begins = time_s[recovering & fresh]
        return begins[(begins >= span[0]) & (begins <= span[1])].tolist()

    def rtt_s(self, flow: str, spans: Sequence[Span]) -> float | None:
        """Mean of the RTT samples."""
        if "rtt" not in self._recorded:
            return None
        time_s, rtt_s = rtt_series(self._results, flow)
        inside = [rtt_s[(time_s >= start) & (time_s <= end)] for start, end in spans]
        samples = np.concatenate(inside)
        return float(samples.mean()) if samples.size else None


def _mean(series: tuple[Array, Array], spans: Sequence[Span]) -> float:
    time_s, value = series
    weighted = sum((end - start) * step_mean(time_s, value, start, end) for start, end in spans)
    return weighted / _length(spans)


def _length(spans: Sequence[Span]) -> float:
    return sum(end - start for start, end in spans)
