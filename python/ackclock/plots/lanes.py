"""The transmitters of links, and which of them are worth drawing."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from . import quantities
from .palette import LineStyle

MOST_LINKS = 6
"""How many links are drawn unless asked for, changing paths apart."""

FEW_PACKETS = 3
"""A link whose queue never exceeds this is not drawn unless asked for."""

_UNITS = ("bytes", "packets")
_MOST_STEPS = 10_000
"""Of a table of rates that are states of a link."""
_MOST_RANKED = 10_000
_MOST_NOTABLE = 500


class State(NamedTuple):
    """What a transmitter is like from a time on; `up` says whether its link works."""

    time_s: float
    rate_bps: int
    delay_ns: int
    up: bool


class Lane(NamedTuple):
    """One transmitter of a link: the whole link if it is half duplex, else one direction of it.

    `states` has an entry for the start of the run and one for each change, the steps of a table
    of rates among them; `inner` says whether the link joins two routers; `traced` whether its rate
    follows a trace of opportunities or a very long table, so that `states` have the mean. Limits
    of the buffer are those of the run, also where the scenario has products of rate and delay, or
    a time.
    """

    link: str
    direction: str
    label: str
    line: LineStyle
    inner: bool
    states: tuple[State, ...]
    traced: bool
    limit_bytes: int | None
    limit_packets: int | None

    @property
    def way(self) -> str:
        """The direction by which the model describes it."""
        return "forward" if self.direction == "both" else self.direction

    def __hash__(self) -> int:
        # A table of rates may have very many states.
        return hash((self.link, self.direction))


class Interest(NamedTuple):
    """How much there is to see at a transmitter, the more important first.

    Packets lost, mean queue (0 where it never exceeds a few packets), utilisation.
    """

    lost: int
    queue: float
    utilization: float

    @classmethod
    def of_summary(cls, summary: Mapping[str, Any]) -> Interest:
        """What the summary says of a direction of a link."""
        waiting = summary["queue_packets"]
        mean = float(waiting["mean"] or 0.0) if (waiting["max"] or 0) > FEW_PACKETS else 0.0
        return cls(sum(summary["drops"].values()), mean, float(summary["utilization"]))


def of_link(
    link: Mapping[str, Any], routers: Iterable[str], summary: Mapping[str, Any], end_s: float
) -> list[Lane]:
    """The transmitters of a link of the model, with its part of the summary of a run to `end_s`.

    One if it is half duplex, else two.
    """
    name, (one, other) = link["id"], link["ends"]
    ways: list[tuple[str, str, str, LineStyle]] = [
        ("forward", "forward", f"{name} → {other}", "solid"),
        ("backward", "backward", f"{name} → {one}", "dashed"),
    ]
    if link["duplex"] == "half":
        ways = [("both", "forward", name, "solid")]
    steps = {way: _steps(link[way].get("rate"), end_s) for _, way, *_ in ways}
    return [
        Lane(
            link=name,
            direction=direction,
            label=label,
            line=line,
            inner=set(link["ends"]).issubset(routers),
            states=_states(link, way, steps[way]),
            traced=bool(link[way].get("rate")) and not steps[way],
            **_limits(link[way]["queue"], summary.get(direction, {})),
        )
        for direction, way, label, line in ways
    ]


def _limits(queue: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, int | None]:
    found = summary.get("queue_limit") or {unit: queue.get(f"limit_{unit}") for unit in _UNITS}
    return {f"limit_{unit}": found[unit] for unit in _UNITS}


def _states(
    link: Mapping[str, Any], way: str, steps: Sequence[Mapping[str, Any]]
) -> tuple[State, ...]:
    first = steps[0]["rate_bps"] if steps else link[way]["rate_bps"]
    states = [State(0.0, first, link[way]["delay_ns"], up=True)]
    changes = [c for c in link.get("changes") or () if c["direction"] in ("both", way)]
    for change in heapq.merge(steps[1:], changes, key=itemgetter("at_ns")):
        last, word = states[-1], change.get("state")
        rate, delay = change.get("rate_bps"), change.get("delay_ns")
        rate = last.rate_bps if rate is None else rate
        delay = last.delay_ns if delay is None else delay
        up = last.up if word is None else word == "up"
        states.append(State(change["at_ns"] * 1e-9, rate, delay, up))
    return tuple(states)


def _steps(rule: Mapping[str, Any] | None, end_s: float) -> list[Mapping[str, Any]]:
    """The steps of a table of rates within a run, with those of its repetitions, if not too many.

    None of another rule.
    """
    if not rule or rule["kind"] != "table":
        return []
    repeat, end_ns = rule.get("repeat_ns"), math.ceil(end_s * 1e9)
    rounds = range(0, end_ns, repeat) if repeat else (0,)
    if len(rule["steps"]) * len(rounds) > _MOST_STEPS:
        return []
    return [
        {"at_ns": base + step["at_ns"], "rate_bps": step["rate_bps"]}
        for base in rounds
        for step in rule["steps"]
        if base + step["at_ns"] < end_ns
    ]


def change(before: State, after: State, *, binary: bool) -> list[str]:
    """What changes between two states of a transmitter."""
    found = []
    if before.up != after.up:
        found.append("up" if after.up else "down")
    if before.rate_bps != after.rate_bps:
        found.append(quantities.rate(after.rate_bps, binary=binary))
    if before.delay_ns != after.delay_ns:
        found.append(quantities.delay(after.delay_ns))
    return found


def notable(links: Mapping[str, Mapping[str, Any]]) -> set[str] | None:
    """Of very many links, given by their summaries, those with most to see; None for all."""
    if len(links) <= _MOST_RANKED:
        return None

    def seen(entry: tuple[str, Mapping[str, Any]]) -> Interest:
        return max(map(Interest.of_summary, entry[1].values()))

    return {name for name, _ in heapq.nlargest(_MOST_NOTABLE, links.items(), key=seen)}


def worth_drawing(
    interest: Mapping[Lane, Interest], paths: Sequence[Sequence[str]] = ()
) -> list[Lane]:
    """The transmitters with something to see, in their order.

    These are the ones that lose packets, or whose queue exceeds a few packets and is on average
    at least a twentieth of the fullest one; at most six, those that lose most; and if there is
    none, the busiest one. Of each of `paths` (links) the fullest is added.
    """
    fullest = max((seen.queue for seen in interest.values()), default=0.0)
    ranked = sorted(interest, key=lambda lane: interest[lane], reverse=True)
    chosen = [
        lane
        for lane in ranked
        if (seen := interest[lane]).lost or (seen.queue > 0 and seen.queue >= fullest / 20)
    ][:MOST_LINKS]
    if not chosen and ranked:
        chosen = [max(ranked, key=lambda lane: interest[lane].utilization)]
    for path in paths:
        ways = [lane for lane in interest if lane.link in path]
        if not any(lane in chosen for lane in ways):
            chosen.append(max(ways, key=lambda lane: interest[lane]))
    return [lane for lane in interest if lane in chosen]
