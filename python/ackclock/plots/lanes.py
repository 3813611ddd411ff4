"""The transmitters of links, and which of them are worth drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.metrics import step_mean

from .palette import LineStyle

if TYPE_CHECKING:
    from .view import View

FEW_PACKETS = 3
"""A link whose queue never exceeds this is not drawn unless asked for."""

MOST_LINKS = 6
"""How many links are drawn unless asked for, changing paths apart."""


@dataclass(frozen=True)
class Lane:
    """One transmitter of a link: the whole link if it is half duplex, else one direction of it."""

    link: str
    direction: str
    label: str
    color: str
    line: LineStyle
    rate_bps: int
    limit_bytes: int | None
    limit_packets: int | None


def of_link(link: Mapping[str, Any], color: str) -> list[Lane]:
    """The transmitters of a link of the model: one if it is half duplex, else two."""
    name, (one, other) = link["id"], link["ends"]
    ways: list[tuple[str, str, str, LineStyle]] = [
        ("forward", "forward", f"{name} → {other}", "solid"),
        ("backward", "backward", f"{name} → {one}", "dashed"),
    ]
    if link["duplex"] == "half":
        ways = [("both", "forward", name, "solid")]
    return [
        Lane(
            link=name,
            direction=direction,
            label=label,
            color=color,
            line=line,
            rate_bps=link[way]["rate_bps"],
            limit_bytes=link[way]["queue"].get("limit_bytes"),
            limit_packets=link[way]["queue"].get("limit_packets"),
        )
        for direction, way, label, line in ways
    ]


def worth_drawing(view: View) -> list[Lane]:
    """The transmitters with something to see, in the order of the scenario.

    These are the ones that lose packets, or whose queue exceeds a few packets and is on average
    at least a twentieth of the fullest one; at most six, those that lose most; and if there is
    none, the busiest one. Where a flow changes its path, the fullest link of each path is added.
    """
    weight = {lane: _interest(view, lane) for lane in view.all_lanes}
    fullest = max((mean for _, mean in weight.values()), default=0.0)
    ranked = sorted(weight, key=lambda lane: weight[lane], reverse=True)
    chosen = [
        lane
        for lane in ranked
        if weight[lane][0] or (weight[lane][1] > 0 and weight[lane][1] >= fullest / 20)
    ][:MOST_LINKS]
    if not chosen and view.all_lanes:
        chosen = [max(view.all_lanes, key=lambda lane: _utilization(view, lane))]
    for path in view.own_links:
        ways = [lane for lane in view.all_lanes if lane.link in path]
        if not any(lane in chosen for lane in ways):
            chosen.append(max(ways, key=lambda lane: (weight[lane], _utilization(view, lane))))
    return [lane for lane in view.all_lanes if lane in chosen]


def _interest(view: View, lane: Lane) -> tuple[int, float]:
    """How many packets a link loses, and its mean queue if that ever exceeds a few packets."""
    summary = _summary(view, lane)
    drops = summary.get("drops")
    lost = len(view.loss_times(lane)) if drops is None else sum(drops.values())
    if view.recorded("queue"):
        times, values = view.queue_packets(lane)
        if len(values) and values.max() > FEW_PACKETS:
            return lost, step_mean(times, values, 0.0, view.end_s)
        return lost, 0.0
    queue = summary.get("queue_packets") or {}
    high = float(queue.get("max") or 0.0)
    return lost, float(queue.get("mean") or 0.0) if high > FEW_PACKETS else 0.0


def _utilization(view: View, lane: Lane) -> float:
    return float(_summary(view, lane).get("utilization") or 0.0)


def _summary(view: View, lane: Lane) -> Mapping[str, Any]:
    return view.summary.get("links", {}).get(lane.link, {}).get(lane.direction, {})
