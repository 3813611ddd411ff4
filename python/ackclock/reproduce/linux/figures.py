"""The kernel's figures, taken from a run of ours as the measurement took them.

Two sources, as there: the packets at the bottleneck (what arrived, waited, was dropped), and the
sender's own state, which the measurement asked for each 10 ms from the end of `connect` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ackclock.arrays import Array, Floats, Integers
from ackclock.metrics import HasTables, cwnd_series, jain, queue_series, rtt_series, select
from ackclock.metrics.segments import unwrapped
from ackclock.metrics.senders import smoothed_rtt
from ackclock.metrics.steps import step_at
from ackclock.reproduce.linux.conversion import BOTTLENECK, flow_id
from ackclock.reproduce.linux.oracle import KernelScenario

Figures = dict[str, float]

SAMPLING_S = 0.01
"""How often the measurement asked the sender."""

_INITIAL_WINDOW = 10
_QUANTILES = (5, 50, 95, 99)


@dataclass(frozen=True)
class Taken:
    """Figures of a run: of the bottleneck, and of each flow."""

    link: Figures
    flows: tuple[Figures, ...]


def take(scenario: KernelScenario, results: HasTables) -> Taken:
    """Return all figures that the kernel's can be compared with."""
    flows = tuple(_flow(scenario, results, number) for number in range(len(scenario.flows)))
    link = _link(scenario, results) if scenario.bulk else {}
    if scenario.bulk and len(flows) > 1:
        shares = [flow["goodput_mbps_window"] for flow in flows]
        total = sum(shares)
        link["jain"] = jain(shares) or 0.0
        link["share_first"] = shares[0] / total if total else 0.0
    return Taken(link, flows)


def middle(runs: list[Taken]) -> Taken:
    """Return the median of each figure over several runs."""
    first = runs[0]
    return Taken(
        _medians([run.link for run in runs]),
        tuple(_medians([run.flows[i] for run in runs]) for i in range(len(first.flows))),
    )


def _medians(runs: list[Figures]) -> Figures:
    known = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: float(np.median([run[name] for run in runs])) for name in known}


def _link(scenario: KernelScenario, results: HasTables) -> Figures:
    start, end = scenario.warmup_s, scenario.duration_s
    time_s, size = select(
        results, "transmissions", ("time_s", "bytes"), link=BOTTLENECK, direction="forward"
    )
    within = (time_s >= start) & (time_s < end)
    sent_bits = float(size[within].sum()) * 8
    taken = {"utilisation": sent_bits / (scenario.rate_mbps * 1e6 * (end - start))}
    changed_s, waiting = queue_series(results, BOTTLENECK, "forward", "queue_packets")
    held, share = held_for(changed_s, waiting, start, end)
    taken["queue_pkts_mean"] = float(np.dot(held, share))
    levels = [percent / 100 for percent in _QUANTILES]
    for percent, found in zip(_QUANTILES, quantiles(held, share, levels), strict=True):
        taken[f"queue_pkts_p{percent}"] = found
    return taken


def held_for(time_s: Floats, value: Array, start_s: float, end_s: float) -> tuple[Floats, Floats]:
    """Return the values of a step series within a span, and the share of the span that each has."""
    inside = (time_s > start_s) & (time_s < end_s)
    edges = np.concatenate(([start_s], time_s[inside], [end_s]))
    held = step_at(time_s, value, edges[:-1])
    return held, np.diff(edges) / (end_s - start_s)


def quantiles(held: Floats, share: Floats, levels: Sequence[float]) -> list[float]:
    """Return the least value that with all below it was held for each share of the time."""
    order = np.argsort(held, kind="stable")
    reached = np.cumsum(share[order])
    places = np.searchsorted(reached, np.array(levels) * reached[-1])
    return held[order][np.minimum(places, held.size - 1)].tolist()


def _flow(scenario: KernelScenario, results: HasTables, number: int) -> Figures:
    flow, name = scenario.flows[number], flow_id(number)
    (again,) = select(results, "packets", ("retransmission",), flow=name, event="sent", kind="data")
    taken: Figures = {
        "retransmits_wire": float(np.count_nonzero(again)),
        "drops_tail": _dropped(results, name, "queue-full"),
        "drops_rand": _dropped(results, name, "loss"),
        "ce_marks": float(select(results, "marks", ("time_s",), flow=name, kind="data")[0].size),
    }
    progress = Progress.of(results, name)
    if progress is None:
        return taken
    changed_s, cwnd_bytes = cwnd_series(results, name)
    cwnd = np.floor(cwnd_bytes / scenario.mss + 1e-9)
    if scenario.bulk:
        start, end = max(scenario.warmup_s, flow.start_s), min(scenario.duration_s, flow.stop_s)
        asked = progress.samples(start, end)
        if asked.size > 1:
            acked = progress.acked(asked)
            span = asked[-1] - asked[0]
            taken["goodput_mbps_window"] = float(acked[-1] - acked[0]) * 8e-6 / span
            taken["mean_cwnd_pkts_kernel"] = _mean_of(changed_s, cwnd, asked, _INITIAL_WINDOW)
            sampled_s, rtt_s = rtt_series(results, name)
            srtt_ms = smoothed_rtt(rtt_s) * 1e3
            taken["mean_srtt_ms_kernel"] = _mean_of(sampled_s, srtt_ms, asked, np.nan)
        return taken
    end = min(scenario.duration_s, flow.stop_s)
    (complete_s,) = select(results, "events", ("time_s",), flow=name, event="finish")
    if flow.offered is not None and complete_s.size:
        # The FIN ends the file; where it travels alone it waits for the window.
        (fin_s,) = select(results, "packets", ("time_s",), flow=name, event="received", kind="fin")
        ended = max(float(complete_s[0]), float(fin_s.min()) if fin_s.size else 0.0)
        taken["fct_ms"] = (ended - flow.start_s) * 1e3
        # The measurement looks for the end of the flow when it asks, too.
        asked = progress.samples(0.0, progress.acked_s(flow.offered) + SAMPLING_S)
    else:
        asked = progress.samples(0.0, end)
    window = step_at(changed_s, cwnd, asked, _INITIAL_WINDOW)
    taken["final_cwnd"] = float(window[-1])
    taken["max_cwnd_pkts_kernel"] = float(window.max())
    return taken


def _mean_of(time_s: Floats, value: Floats, asked_s: Floats, initial: float) -> float:
    return float(np.nanmean(step_at(time_s, value, asked_s, initial)))


def _dropped(results: HasTables, flow: str, reason: str) -> float:
    where = {"flow": flow, "kind": "data", "link": BOTTLENECK, "reason": reason}
    return float(select(results, "drops", ("time_s",), **where)[0].size)


@dataclass(frozen=True)
class Progress:
    """How far a flow is, as its sender knows.

    Attributes:
        connected_s: When the sender had the answer to its SYN.
        heard_s: When each ACK reached the sender.
        carried: The bytes that it acknowledges; a FIN counts as one.
    """

    connected_s: float
    heard_s: Floats
    carried: Integers

    @property
    def heard_bytes(self) -> Integers:
        """The largest number of bytes acknowledged so far, after each ACK."""
        return np.maximum.accumulate(self.carried)

    @classmethod
    def of(cls, results: HasTables, flow: str) -> Progress | None:
        """Take it from the records; none for a flow that was not connected."""
        received = {"flow": flow, "event": "received"}
        (answered,) = select(results, "packets", ("time_s",), kind="syn-ack", **received)
        if not answered.size:
            return None
        heard_s, seq = select(results, "packets", ("time_s", "seq"), kind="ack", **received)
        return cls(float(answered[0]), heard_s, unwrapped(seq))

    def samples(self, start_s: float, end_s: float) -> Floats:
        """Return the times within a span, the end excluded, at which the sender was asked."""
        first = max(0, int(np.ceil((start_s - self.connected_s) / SAMPLING_S - 1e-9)))
        count = int(np.ceil((end_s - self.connected_s) / SAMPLING_S - 1e-9)) - first
        steps = np.arange(first, first + max(0, count), dtype=np.float64)
        return self.connected_s + SAMPLING_S * steps

    def acked(self, at_s: Floats) -> Floats:
        """Return the bytes that were acknowledged at these times."""
        return step_at(self.heard_s, self.heard_bytes, at_s)

    def acked_s(self, size: int) -> float:
        """Return when the sender knew that this many bytes were there; infinite for never."""
        place = int(np.searchsorted(self.heard_bytes, size))
        return float(self.heard_s[place]) if place < self.heard_s.size else np.inf
