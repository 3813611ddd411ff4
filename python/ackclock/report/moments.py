"""What happened in a run, moment by moment: events of flows with their rules, losses, changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ackclock import log
from ackclock.plots import lanes
from ackclock.plots.lanes import Lane
from ackclock.plots.view import View
from ackclock.registry import entry

from .cut import Grid, Series
from .pack import Pack

MARKS = {
    "timeout": "Timeout",
    "undo": "Reduction undone",
    "reduction": "Reduction without recovery",
    "recovery": "Recovery begins",
    "fast-retransmit": "Fast retransmit",
    "probe": "Tail loss probe",
    "spurious": "Needless retransmission",
}
"""Events that are marked on windows, the weightier first: of several at once the first is drawn."""

_MOST = 3000

FACTORS = ("decrease", "beta")
"""What parameters are called that say how much of the window a loss leaves."""


def of_flows(view: View) -> list[dict[str, Any]]:
    """Events of flows in the order of time: what happened, and the rule behind it."""
    records = view.records("events")
    if records is None:
        return []
    wanted = [records.code("event", kind) for kind in MARKS]
    marked = np.isin(records.codes("event"), wanted)
    marked &= np.isin(records.codes("flow"), [records.code("flow", name) for name in view.flows])
    rows = view.results.table("events").filter(marked).to_pylist()
    moments = _by_moment(rows)
    order = sorted(moments)
    counts = [1] * len(order)
    if len(order) > _MOST:
        order, counts = _thinned(order, Grid(view.end_s))
    rules = _rules(view, {time for time, _ in order})
    sentence = log.sentences(view.model, "events")
    weight = {kind: rank for rank, kind in enumerate(MARKS)}
    found = []
    for (time, name), count in zip(order, counts, strict=True):
        rows = sorted(moments[time, name], key=lambda row: weight[row["event"]])
        kind = str(rows[0]["event"])
        found.append(
            {
                "t": time,
                "of": view.flows.index(name),
                "kind": kind,
                "count": count,
                "cwnd": _around(view.window_packets(name), time),
                "ssthresh": _around(view.ssthresh_packets(name), time),
                "text": _told(rows, sentence),
                "why": _why(view.flow(name), rows[0], rules.get((time, name), [])),
            }
        )
    return found


def of_lanes(view: View, drawn: list[Lane], pack: Pack, tick: float) -> list[dict[str, Any]]:
    """Packets lost and marked at each transmitter: when, how many, and why."""
    found: list[dict[str, Any]] = []
    for table in ("drops", "marks"):
        records = view.records(table)
        if records is None or not len(records):
            continue
        for number, lane in enumerate(drawn):
            rows = records.rows(link=lane.link, direction=lane.direction)
            if not len(rows):
                continue
            rows = rows[np.argsort(records.plain("time_s")[rows], kind="stable")]
            times, codes = records.plain("time_s")[rows], records.codes("reason")[rows]
            first, counts = _bins(times, codes, Grid(view.end_s, level=3))
            names = records.names("reason")
            found.append(
                {
                    "of": number,
                    "kind": table,
                    "t": pack.integers(np.rint(times[first] / tick)),
                    "count": pack.integers(counts),
                    "reason": pack.integers(codes[first]),
                    "reasons": [name.replace("-", " ") for name in names],
                }
            )
    return found


def of_network(view: View) -> list[dict[str, Any]]:
    """Changes of links and routes."""
    found: dict[tuple[float, str], None] = {}
    for lane in view.changing_lanes:
        for before, after in pairwise(lane.states):
            words = lanes.change(before, after, binary=view.binary_rates)
            if words and after.time_s <= view.end_s:
                found[after.time_s, f"{lane.label}: {', '.join(words)}"] = None
    for change in view.route_changes:
        words = f"{change.router} reaches {change.host} over {change.link}"
        found[change.time_s, f"{words} instead of {change.previous_link}"] = None
    return [{"t": time, "text": text} for time, text in sorted(found)][:_MOST]


def _around(series: Series, time: float) -> list[float | None]:
    """The value before a time and from then on; None for none."""
    times, values = series
    places = [np.searchsorted(times, time, side) - 1 for side in ("left", "right")]
    found = [float(values[max(0, place)]) if len(values) else np.nan for place in places]
    return [None if np.isnan(value) else round(value, 3) for value in found]


def _told(rows: list[Mapping[str, Any]], sentence: Callable[[Mapping[str, Any]], str]) -> list[str]:
    """What happened at one moment: of each kind the first, and how many more there are."""
    kinds = Counter(row["event"] for row in rows)
    first = {row["event"]: row for row in reversed(rows)}
    return [
        capital(sentence(first[kind])) + (f" and {count - 1} more" if count > 1 else "")
        for kind, count in kinds.items()
    ]


def _thinned(
    order: list[tuple[float, str]], grid: Grid
) -> tuple[list[tuple[float, str]], list[int]]:
    """The first moment of each flow in each bin, and how many it stands for."""
    while True:
        bins = grid.of(np.array([time for time, _ in order])).tolist()
        kept: dict[tuple[int, str], list[int]] = {}
        for number, (place, (_, name)) in enumerate(zip(bins, order, strict=True)):
            kept.setdefault((place, name), []).append(number)
        if len(kept) <= _MOST or grid.level > 12:
            groups = list(kept.values())
            return [order[group[0]] for group in groups], [len(group) for group in groups]
        grid = grid.coarser()


def _bins(times: Any, codes: Any, grid: Grid) -> tuple[Any, Any]:
    """The first row of each bin and reason, and how many rows there are."""
    while True:
        key = grid.of(times) * (int(codes.max()) + 1) + codes
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        if len(first) <= _MOST:
            return first, counts
        grid = grid.coarser()


def _rules(view: View, times: set[float]) -> dict[tuple[float, str], list[Mapping[str, Any]]]:
    """The rules that changed windows at these times, in their order."""
    if not view.recorded("window_rules"):
        return {}
    table = view.results.table("window_rules")
    wanted = np.isin(table["time_s"].to_numpy(), sorted(times))
    return _by_moment(table.filter(wanted).to_pylist())


def _by_moment(rows: list[Mapping[str, Any]]) -> dict[tuple[float, str], list[Mapping[str, Any]]]:
    found: dict[tuple[float, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["time_s"], row["flow"]), []).append(row)
    return found


def _why(
    flow: Mapping[str, Any], event: Mapping[str, Any], rules: list[Mapping[str, Any]]
) -> list[str]:
    """The rules behind an event in words, each with its source; a SYN has none."""
    if event["seq"] == log.NO_DATA:
        return []
    kind = str(event["event"])
    named = dict.fromkeys(row["rule"] for row in rules)
    lines = []
    for rule in (rule for rule in named if log.RULES[rule].effect != "growth"):
        parts = [capital(log.reason(rule, flow["label"])), log.RULES[rule].source]
        lines.append(_sentence([*parts, *_threshold(flow, rule)]))
    if not lines and not rules and kind in ("timeout", "fast-retransmit"):
        recovery = (flow["tcp"].get("recovery") or {}).get("kind", "")
        rule = f"By the rules of {recovery}" if recovery else ""
        lines.append(_sentence([rule, *_threshold(flow, kind)]))
    return lines


def _threshold(flow: Mapping[str, Any], rule: str) -> list[str]:
    """How much a loss leaves by the congestion control, and its source."""
    chosen = flow["tcp"]["cc"]
    known = entry("cc", chosen["kind"])
    found = log.RULES.get(rule)
    if found is not None and found.effect != "cut":
        return [] if found.source else [known["references"][0]]
    for param in known["params"]:
        if param["name"] in FACTORS and isinstance(chosen.get(param["name"]), int | float):
            factor = f"{flow['label']}: {param['name']} {chosen[param['name']]:g}"
            return [factor, source(param, known)]
    return [known["references"][0]]


def source(param: Mapping[str, Any], algorithm: Mapping[str, Any]) -> str:
    """Where a parameter of a congestion control is defined."""
    named = re.search(r"\((.+)\)", param["summary"])
    return named[1] if named else algorithm["references"][0]


def _sentence(parts: list[str]) -> str:
    return ". ".join(dict.fromkeys(filter(None, parts)))


def capital(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]
