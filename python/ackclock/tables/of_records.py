"""Result tables of a part of a run, made from its records, and of what flows do to each other.

A mean over a whole run mixes the start with what comes after it. Here a span is chosen, so that a
warm-up can be left out (RFC 5166, section 2.1, asks for transient and steady state apart).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock.arrays import Flags, Floats
from ackclock.columns import OF_RECORDS
from ackclock.errors import A_RUN, InputError, mapping_of, must_have, one_of, outside
from ackclock.metrics import alpha_mean, even_after, harm, jain, max_min
from ackclock.metrics.delays import variations_s
from ackclock.metrics.percentiles import Recorded
from ackclock.metrics.segments import Segments, flow_arrivals, flow_segments
from ackclock.metrics.series import cwnd_series, rtt_series
from ackclock.metrics.steps import step_mean
from ackclock.metrics.windows import windowed_sums
from ackclock.tables.of_run import table_of
from ackclock.tables.table import ResultTable

Rows = list[dict[str, Any]]

NEEDS = {"packets": "changes", "drops": "changes", "rtt": "changes", "cwnd": "changes"}
"""The records from which all these tables are made."""

_BINS = 20
"""Bins of a histogram, of equal width from the least to the largest value."""


@dataclass(frozen=True)
class Span:
    """A part of a run, after one time and up to another, seconds."""

    from_s: float
    to_s: float

    @classmethod
    def of(
        cls, from_s: float | None, to_s: float | None, end_s: float, warmup_s: float | None
    ) -> Span:
        """A part of a run to `end_s`; by default from the end of its warm-up to its end.

        What ends within the warm-up begins with the run.

        Raises:
            InputError: it is empty, or beyond the run.
        """
        to_s = end_s if to_s is None else min(to_s, end_s)
        if from_s is None:
            from_s = warmup_s if warmup_s and warmup_s < to_s else 0.0
        if not to_s > from_s:
            raise outside(from_s, to_s, end_s)
        return cls(from_s, to_s)

    def holds(self, times: Floats) -> Flags:
        """Whether these times are in the span; the start of the run is in the one from there."""
        after = times > self.from_s if self.from_s > 0 else times >= 0
        return after & (times <= self.to_s)


class _Flow:
    """A flow of a run, and its data packets."""

    def __init__(self, results: Recorded, name: str) -> None:
        self.name = name
        self.results = results
        self.entry = results.summary["flows"][name]
        self.model = next(flow for flow in results.model["flows"] if flow["id"] == name)
        tcp = self.model["tcp"]
        header = tcp["header_bytes"] if tcp and tcp.get("numbering") == "bytes" else None
        came = flow_arrivals(results, name, header_bytes=header)
        self.sent: Segments = flow_segments(
            results, name, header_bytes=header, drops="drops" in results.tables, arrivals=came
        )
        payload = came.size_bytes - (tcp["header_bytes"] if tcp else 0)
        size = came.new if header is not None else came.new * payload
        self.arrivals = came.arrived_s, size.astype(np.float64)
        """Arrivals in their order: times, and new payload in bytes."""
        arrived = np.flatnonzero(~np.isnan(self.sent.arrived_s))
        self._order = arrived[np.argsort(self.sent.arrived_s[arrived], kind="stable")]

    def delays_s(self, span: Span) -> Floats:
        """One-way delays of the packets that arrived in the span, in their order."""
        rows = self._order[span.holds(self.sent.arrived_s[self._order])]
        return np.round(self.sent.arrived_s[rows] - self.sent.sent_s[rows], 9)

    def delivered(self, span: Span) -> float:
        """New payload that arrived in the span, bytes."""
        times, size = self.arrivals
        return float(size[span.holds(times)].sum())


def of_records(
    runs: Mapping[str, Recorded],
    what: str,
    from_s: float | None = None,
    to_s: float | None = None,
    *,
    alone: Callable[[Recorded, str], Mapping[str, Any]] | None = None,
) -> ResultTable:
    """Return a table of a span of one run, or of several with a column that names them.

    Args:
        runs: The runs, by name.
        what: `steady` (a row for each flow), `sharing` (a row for each run), `delays` (histograms
            of delay and jitter), or `harm` (each flow beside the others and alone).
        from_s: Begin here, seconds; default the end of the warm-up, or the start of the run.
        to_s: End here; default the end of the run.
        alone: For `harm`: simulates a run with this flow alone, and returns its summary.

    Raises:
        InputError: there is no such table, the span is empty, or the records are not there.
    """
    one_of("table", what, OF_RECORDS)
    runs = mapping_of("runs", runs, f"a mapping of names to {A_RUN}")
    for results in runs.values():
        must_have(results, "summary", "model")
    rows: Rows = []
    for name, results in runs.items():
        end, warmup = (results.summary.get(name) for name in ("end_s", "warmup_s"))
        span = Span.of(from_s, to_s, float(end), warmup)
        if what == "harm":
            made = _harm(results, alone) if alone else []
        else:
            made = _MAKE[what](_flows(results), results, span)
        for row in made:
            filled = {key: value for key, value in row.items() if value is not None}
            rows.append({"run": name, **filled})
    columns = [c for c in OF_RECORDS[what] if c.name != "run" or len(runs) > 1]
    return table_of(rows, columns, _TITLES[what])


def delays_s(results: Recorded, flow: str, span: Span) -> Floats:
    """Return the one-way delays of the packets of a flow that arrived in a span, in their order."""
    return _Flow(results, flow).delays_s(span)


def _flows(results: Recorded) -> list[_Flow]:
    if "packets" not in results.tables:
        raise InputError(
            "this needs the record 'packets', which this run has not; name the scenario in place "
            "of the run, and it is simulated with it"
        )
    return [_Flow(results, name) for name in results.summary["flows"]]


def _steady(flow: _Flow, results: Recorded, span: Span) -> dict[str, Any]:
    seconds = span.to_s - span.from_s
    delays, sent = flow.delays_s(span), span.holds(flow.sent.sent_s)
    lost = int((sent & ~np.isnan(flow.sent.dropped_s)).sum())
    row: dict[str, Any] = {
        "flow": flow.name,
        "label": flow.entry["label"],
        "from_s": span.from_s,
        "to_s": span.to_s,
        "goodput_bps": 8 * flow.delivered(span) / seconds,
        "goodput_variation": _variation(*flow.arrivals, span),
        "packets_sent": int(sent.sum()),
        "packets_received": len(delays),
        "packets_lost": lost,
        "loss_share": lost / int(sent.sum()) if sent.any() else None,
        **_summed("delay_s", delays),
        **_summed("jitter_s", variations_s(delays)),
    }
    if "rtt" in results.tables:
        times, rtt = rtt_series(results, flow.name)
        row |= _summed("rtt_s", np.round(np.asarray(rtt)[span.holds(times)], 9))
    if "cwnd" in results.tables and flow.model["tcp"] is not None:
        times, cwnd = cwnd_series(results, flow.name)
        row["cwnd_bytes_mean"] = step_mean(times, cwnd, span.from_s, span.to_s)
    return row


def _variation(times: Floats, size: Floats, span: Span) -> float | None:
    """Coefficient of variation of the goodput in seconds, or tenths of a shorter span."""
    width = min(1.0, (span.to_s - span.from_s) / 10)
    whole = math.floor((span.to_s - span.from_s) / width + 1e-9)
    _, sums = windowed_sums(times, size, span.from_s, span.from_s + whole * width, width)
    average = float(sums.mean())
    return float(sums.std()) / average if average > 0 else None


def _summed(name: str, values: Floats) -> dict[str, float]:
    if not values.size:
        return {}
    ranked = np.sort(values)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    at = {word: ranked[max(1, math.ceil(s * ranked.size - 1e-9)) - 1] for word, s in shares.items()}
    found = {"mean": values.mean(), "min": ranked[0], **at, "max": ranked[-1]}
    return {f"{name}_{word}": float(value) for word, value in found.items()}


def _sharing(flows: Sequence[_Flow], results: Recorded, span: Span) -> Rows:
    seconds = span.to_s - span.from_s
    # As in the summary: who begins later shares nothing in this span.
    flows = [flow for flow in flows if flow.entry["start_s"] < span.to_s]
    rates = [8 * flow.delivered(span) / seconds for flow in flows]
    if not rates:
        return []
    arrivals = [flow.arrivals for flow in flows]
    sums = [(times, np.concatenate(([0.0], np.cumsum(size)))) for times, size in arrivals]

    def shares(from_s: float, to_s: float) -> list[float]:
        ends = [total[np.searchsorted(times, [from_s, to_s], "right")] for times, total in sums]
        return [float(end - start) for start, end in ends]

    row: dict[str, Any] = {
        "from_s": span.from_s,
        "to_s": span.to_s,
        "flows": len(flows),
        "goodput_bps": math.fsum(rates),
        "fairness_jain": jain(rates),
        "least_to_largest": min(rates) / max(rates) if max(rates) > 0 else None,
        "geometric_mean_bps": alpha_mean(rates, 1),
        "harmonic_mean_bps": alpha_mean(rates, 2),
    }
    fair = _fair(flows, results)
    if fair is not None:
        row["max_min_share"] = min(rate / best for rate, best in zip(rates, fair, strict=True))
    if len(flows) > 1:
        joined = max(flow.entry["start_s"] for flow in flows)
        row["convergence_s"] = even_after(shares, joined, span.to_s)
    return [row]


def _fair(flows: Sequence[_Flow], results: Recorded) -> list[float] | None:
    """Max-min fair goodputs of flows that always have data, on paths that do not change."""
    links = {link["id"]: link for link in results.model["links"]}
    capacities: dict[Any, float] = {}
    paths: list[list[tuple[str, str]]] = []
    share: list[float] = []
    for flow in flows:
        tcp, path = flow.model["tcp"], flow.entry.get("path")
        if tcp is None or tcp["source"]["kind"] != "bulk" or not path:
            return None
        if flow.entry["bytes_offered"] is not None or flow.entry["stopped_s"] is not None:
            return None
        share.append(tcp["segment_bytes"] / (tcp["segment_bytes"] + tcp["header_bytes"]))
        at, steps = flow.entry["from"], []
        for name in path:
            link = links[name]
            way = "forward" if link["ends"][0] == at else "backward"
            at = link["ends"][1 if way == "forward" else 0]
            if link["changes"] or not _has_one_rate(link[way]):
                return None
            steps.append((name, "both" if link["duplex"] == "half" else way))
            capacities[steps[-1]] = float(link[way]["rate_bps"])
        paths.append(steps)
    fair = max_min(capacities, paths)
    return [float(rate) * part for rate, part in zip(fair, share, strict=True)]


def _has_one_rate(way: Mapping[str, Any]) -> bool:
    """Whether a direction of a link always has its rate: no rule, shaper or policer sets another.

    What a shaper or a policer lets through is its rate only after its bucket is used up.
    """
    return "rate" not in way and way["queue"].get("rate_bps") is None


def _delays(flows: Sequence[_Flow], results: Recorded, span: Span) -> Rows:
    rows: Rows = []
    for flow in flows:
        delays = flow.delays_s(span)
        for quantity, values in (("delay", delays), ("jitter", variations_s(delays))):
            if not values.size:
                continue
            counts, edges = np.histogram(values, _BINS if np.ptp(values) > 0 else 1)
            bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
            rows += (
                {"flow": flow.name, "quantity": quantity, "from_s": low, "to_s": high, "packets": n}
                for low, high, n in bins
            )
    return rows


def _harm(results: Recorded, alone: Callable[[Recorded, str], Mapping[str, Any]]) -> Rows:
    rows: Rows = []
    for name, beside in results.summary["flows"].items():
        row = {"flow": name, "label": beside["label"]}
        if beside["start_s"] >= results.summary["end_s"]:
            rows.append(row)  # nobody can harm what the run did not start
            continue
        solo = alone(results, name)["flows"][name]
        for word, read, more in _FIGURES:
            own, other = read(solo), read(beside)
            if own is not None and other is not None:
                row |= {f"{word}_alone": own, f"{word}_beside": other}
                row[f"{word}_harm"] = harm(own, other, more_is_better=more)
        rows.append(row)
    return rows


def _rtt(flow: Mapping[str, Any]) -> float | None:
    return (flow.get("rtt_s") or {}).get("mean")


def _loss(flow: Mapping[str, Any]) -> float | None:
    sent = flow.get("segments_sent")
    return flow["segments_dropped"] / sent if sent else None


_FIGURES: tuple[tuple[str, Callable[[Mapping[str, Any]], float | None], bool], ...] = (
    ("goodput_bps", lambda flow: flow["goodput_bps"], True),
    ("rtt_s", _rtt, False),
    ("loss_share", _loss, False),
)
"""Figures of a flow that others can harm, and whether more of them is better."""

_MAKE: dict[str, Callable[[Sequence[_Flow], Recorded, Span], Rows]] = {
    "steady": lambda flows, results, span: [_steady(flow, results, span) for flow in flows],
    "sharing": _sharing,
    "delays": _delays,
}

_TITLES = {
    "steady": "Flows in a span of time",
    "sharing": "How flows share, in a span of time",
    "delays": "Delay and jitter of data packets",
    "harm": "Each flow beside the others, and alone",
}
