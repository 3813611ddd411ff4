"""The congestion control lab on the Bene simulator: each experiment under several sets of rules.

The figures and the options of each set of rules are data (`bene-congestion.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.metrics import drop_times, select, windowed_rates
from ackclock.reproduce.comparison import Override, Progress, Runner, in_turn, run_scenario
from ackclock.reproduce.measures import RunOutcome
from ackclock.reproduce.paper import one_line, read, report, tolerances
from ackclock.reproduce.report import Case, Group, Report, Row, Tolerance

_LINK = "L1"
_RECORD = {"kind": "none", "packets": "changes", "drops": "changes"}
_RATES_AT_S = 1.0


def compare(
    name: str, figures: Path, progress: Progress | None = None, runner: Runner | None = None
) -> Report:
    """Run all experiments under all rules and make the report; see `comparison.compare`."""
    data = read(figures)
    limits = tolerances(data)
    jobs = [(entry, variant) for entry in data["experiments"] for variant in entry["figures"]]

    def take(job: tuple[Mapping[str, Any], str]) -> Group:
        entry, variant = job
        options = data["variants"][variant]
        overrides: list[Override] = [*entry.get("overrides", {}).items(), *options.items()]
        outcome = (runner or run_scenario)(entry["scenario"], [*overrides, ("record", _RECORD)])
        rows = tuple(_rows(outcome, entry["figures"][variant], limits))
        shown = ", ".join(f"{path}={_shown(value)}" for path, value in options.items())
        return Group(f"{variant}: {shown or 'the profile'}", rows)

    left = iter(in_turn(jobs, take, lambda job: job[0]["title"], progress))
    cases = (
        Case(
            title=entry["title"],
            scenario=entry["scenario"],
            about=one_line(entry["about"]),
            groups=tuple(next(left) for _ in entry["figures"]),
            overrides=tuple(
                f"{path}={value}" for path, value in entry.get("overrides", {}).items()
            ),
        )
        for entry in data["experiments"]
    )
    return report(name, data, cases)


def _rows(
    outcome: RunOutcome, figures: Mapping[str, Any], limits: Mapping[str, Tolerance]
) -> Iterator[Row]:
    flows, link = outcome.summary["flows"], outcome.summary["links"][_LINK]["forward"]
    count = limits["count"]
    # Our means are up to the last ACK, the original's up to the last new byte at a receiver.
    last = max(flow["finish_s"] or float("inf") for flow in flows.values())
    shorter = outcome.summary["end_s"] / last
    for flow, wanted in zip(flows, figures["finish"], strict=True):
        ours = flows[flow]["finish_s"]
        yield Row.of(f"{flow} is complete", "s", wanted, ours, limits["finish"])
    yield Row.of("drops", "", figures["drops"], float(sum(link["drops"].values())), count)
    if "peak" in figures:
        peak = float(link["queue_packets"]["max"])
        yield Row.of("most packets waiting", "packets", figures["peak"], peak, count)
    if "queue" in figures:
        ours = link["queue_packets"]["mean"] * shorter
        yield Row.printed("mean of packets waiting", "packets", figures["queue"], ours)
    if "use" in figures:
        yield Row.printed("link in use", "%", figures["use"], 100 * link["utilization"] * shorter)
    if "share" in figures:
        yield Row.printed("share of F1", "", figures["share"], share(outcome, *flows))
    if "delivered" in figures:
        yield from _delivered(outcome, figures["delivered"])
    if "rates" in figures:
        yield from _rates(outcome, figures, limits["eye"])


def _delivered(outcome: RunOutcome, wanted: str) -> Iterator[Row]:
    first = float(drop_times(outcome, link=_LINK).min(initial=np.inf))
    ours = delivered(outcome, "F1", first) / 1000
    yield Row.printed("F1 delivered at the first drop", "kB", wanted, ours)
    third = Tolerance("nearly", absolute=50)
    read = ("section 5", "nearly a third")
    yield Row.of("F1 delivered at the first drop", "kB", 1000 / 3, ours, third, read)


def _rates(outcome: RunOutcome, figures: Mapping[str, Any], eye: Tolerance) -> Iterator[Row]:
    flows = list(outcome.summary["flows"])
    rates = [arrival_rate(outcome, flow) / 1e6 for flow in flows]
    for flow, ours, wanted in zip(flows, rates, figures["rates"], strict=True):
        yield Row.printed(f"{flow} at 1 s", "Mbps", wanted, ours)
    if read := figures.get("read"):
        source = ("section 5", "read")
        for flow, ours, wanted in zip(flows, rates, read["rates"], strict=False):
            yield Row.of(f"{flow} at 1 s", "Mbps", wanted, ours, eye, source)
        others = sum(rates[len(read["rates"]) :])
        yield Row.of("the others at 1 s", "Mbps", read["others"], others, eye, source)
        yield Row.of("all at 1 s", "Mbps", read["sum"], sum(rates), eye, source)


def delivered(outcome: RunOutcome, flow: str, time_s: float) -> float:
    """Return the bytes of a flow that are in order at its receiver at a time.

    The ACKs say so; delayed ACKs, which say it late, do not occur in this lab.
    """
    times, acked = select(
        outcome, "packets", ("time_s", "seq"), flow=flow, event="sent", kind="ack"
    )
    before = acked[times <= time_s]
    return float(before[-1]) if before.size else 0.0


def share(outcome: RunOutcome, first: str, second: str) -> float:
    """Return the first flow's part of what is delivered in order while both are active."""
    flows = [outcome.summary["flows"][name] for name in (first, second)]
    start = max(flow["start_s"] for flow in flows)
    end = min(np.inf if flow["finish_s"] is None else flow["finish_s"] for flow in flows)
    parts = [
        delivered(outcome, name, end) - delivered(outcome, name, start) for name in (first, second)
    ]
    return parts[0] / sum(parts) if sum(parts) else float("nan")


def arrival_rate(outcome: RunOutcome, flow: str) -> float:
    """Return the rate at which data of a flow arrive from 0 to 1 s, bit/s."""
    times, size = select(
        outcome, "packets", ("time_s", "bytes"), flow=flow, event="received", kind="data"
    )
    return float(windowed_rates(times, size, 0.0, _RATES_AT_S, _RATES_AT_S)[1][0])


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
