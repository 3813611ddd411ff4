"""What is measured of a run on one of the networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.conformance.networks import DOWN_S, JOINS_S, LOSS_S, UP_S, Network
from ackclock.metrics import even_after, first_arrivals, select, step_at, step_range

if TYPE_CHECKING:
    from ackclock.results import Results

POINTS = 240
"""Points of the curve of a window."""


def figures(network: Network, results: Results) -> dict[str, Any]:
    """Return the figures of a run: those of all networks, and those of this one."""
    tcp = results.scenario.model["flows"][0]["tcp"]
    segment = tcp["segment_bytes"]
    end = network.seconds
    arrivals = {flow: first_arrivals(results, flow) for flow in results.scenario.flows}
    from_s, to_s = network.settled_s, end
    goodput = [
        _count(times, from_s, to_s) * segment * 8 / (to_s - from_s) for times in arrivals.values()
    ]
    link = results.summary["links"]["bottleneck"]["forward"]
    flows = results.summary["flows"].values()
    sent = sum(flow["segments_sent"] for flow in flows)
    found: dict[str, Any] = {
        "digest": results.summary["digest"],
        "goodput_bps": goodput,
        "used_bps": sum(goodput) * (segment + tcp["header_bytes"]) / segment,
        "wait_s": link["queueing_delay_s"]["mean"],
        "wait_p95_s": link["queueing_delay_s"].get("p95"),
        "lost": sum(flow["segments_dropped"] for flow in flows) / max(sent, 1),
        "retransmitted": sum(flow["retransmissions"] for flow in flows) / max(sent, 1),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "delivered_bytes": [flow["bytes_delivered"] for flow in flows],
        "offered_bytes": [flow["bytes_offered"] for flow in flows],
    }
    own = _OWN.get(network.name)
    return found if own is None else found | own(results, arrivals, segment)


def _count(times: np.ndarray, from_s: float, to_s: float) -> int:
    first, last = np.searchsorted(times, [from_s, to_s], side="right")
    return int(last - first)


def _windows(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """Times and windows of the first flow, in segments."""
    segment = results.scenario.model["flows"][0]["tcp"]["segment_bytes"]
    time_s, cwnd = select(results, "cwnd", ("time_s", "cwnd_bytes"), flow="F1")
    return time_s, cwnd / segment


def _alone(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    time_s, cwnd = _windows(results)
    at = np.linspace(0.0, 30.0, POINTS + 1)[1:]
    curve = step_at(time_s, cwnd, at)
    return {"windows": [round(float(value), 2) for value in curve], "most": float(cwnd.max())}


def _loss(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    time_s, cwnd = _windows(results)
    before = float(step_at(time_s, cwnd, np.array([LOSS_S]))[0])
    least, _ = step_range(time_s, cwnd, LOSS_S, LOSS_S + 1.0)
    return {"before": before, "after": least}


def _late_losses(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    (sent,) = select(results, "packets", ("time_s",), flow="F1", event="sent", kind="data")
    (came,) = select(results, "packets", ("time_s",), flow="F1", event="received", kind="data")
    late_sent, late_came = (_count(times, 15.0, 30.0) for times in (sent, came))
    return {"late_loss": max(0.0, 1.0 - late_came / late_sent) if late_sent else 0.0}


def _outage(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    (sent,) = select(results, "packets", ("time_s",), flow="F1", event="sent", kind="data")
    return {"probes": _count(sent, DOWN_S + 0.5, UP_S)}


def _marks(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    link = results.summary["links"]["bottleneck"]["forward"]
    return {"marked": link["marks"] / max(link["packets_carried"], 1)}


def _joins(results: Results, arrivals: Any, segment: int) -> dict[str, Any]:
    def counts(from_s: float, to_s: float) -> list[float]:
        return [_count(times, from_s, to_s) for times in arrivals.values()]

    return {"even_after_s": even_after(counts, JOINS_S, 60.0 - 0.25)}


_OWN = {
    "alone": _alone,
    "loss": _loss,
    "overload": _late_losses,
    "outage": _outage,
    "marks": _marks,
    "joins": _joins,
}
