"""What the picture of a network shows: nodes, edges between them, and rides of flows along these.

A node is a host or a router, an edge a link. Of a large network the hosts at the same
router that play the same part are one node, their links one edge, and their flows one ride. Where
there are still too many nodes, all that are as many links away from the nearest host are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from . import palette, quantities
from .heading import task
from .view import View

MOST_NAMED = 40
"""With more nodes than this, hosts are drawn in groups."""

_MOST_DRAWN = 300
"""With more nodes than this even so, there is one for each distance from hosts."""

_MOST_RIDES = 10
_LEAST_GROUP = 3
_OFTEN = 3
"""So many edges that are alike are described once, if they are half of all or more."""


@dataclass(frozen=True)
class Node:
    """A host, a router, or several hosts as one."""

    name: str
    router: bool
    members: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """A link, or the links of several hosts as one, with what they are like."""

    name: str
    ends: tuple[str, str]
    links: tuple[str, ...]
    words: Mapping[str, str]


@dataclass(frozen=True)
class Ride:
    """A path that a flow takes, or several as one: its stops, and the edges between them.

    `main` says whether it is the path taken for longest; `label` is empty where it is not.
    """

    flows: tuple[str, ...]
    label: str
    color: str
    stops: tuple[str, ...]
    edges: tuple[str, ...]
    main: bool


class Network:
    """The nodes and edges of a run, and the rides of the flows that are drawn."""

    def __init__(self, view: View) -> None:
        self._view = view
        model = view.model
        count = len(model["hosts"]) + len(model["routers"])
        groups = _groups(model) if count > MOST_NAMED else []
        self.tiered = count - sum(len(members) - 1 for members in groups) > _MOST_DRAWN
        if self.tiered:
            groups = _tiers(model)
        self._group = {host: _span(members) for members in groups for host in members}
        held: dict[str, list[str]] = {}
        for name in (*model["hosts"], *model["routers"]):
            held.setdefault(self._node(name), []).append(name)
        routers = set(model["routers"])
        self.nodes = {
            name: Node(name, members[0] in routers, tuple(members))
            for name, members in held.items()
        }
        self.grouped = bool(groups)
        between: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
        for link in model["links"]:
            ends = tuple(map(self._node, link["ends"]))
            if self.tiered:
                ends = tuple(sorted(ends))
                if ends[0] == ends[1]:
                    continue
            key = ends if self._group.keys() & set(link["ends"]) else (link["id"],)
            between.setdefault(key, []).append(link)
        self.edges: dict[str, Edge] = {}
        self._edge_of: dict[str, str] = {}
        for links in between.values():
            names = tuple(link["id"] for link in links)
            one, other = map(self._node, links[0]["ends"])
            edge = Edge(_span(names), (one, other), names, _properties(view, links))
            self.edges[edge.name] = edge
            self._edge_of |= dict.fromkeys(names, edge.name)

    def _node(self, name: str) -> str:
        return self._group.get(name, name)

    def shared(self) -> dict[str, str]:
        """The properties that all edges have in common."""
        every = [edge.words for edge in self.edges.values()]
        return dict(set.intersection(*(set(words.items()) for words in every))) if every else {}

    def usual(self) -> Mapping[str, str]:
        """The properties of most of the edges, if that saves saying them again and again."""
        counts = Counter(tuple(edge.words.items()) for edge in self.edges.values())
        words, count = max(counts.items(), key=itemgetter(1), default=((), 0))
        return dict(words) if _OFTEN <= count < len(self.edges) <= 2 * count else {}

    def rides(self) -> list[Ride]:
        """The paths that the drawn flows take for more than a moment; none of too many."""
        if self.tiered:
            return []
        found = [ride for name in self._view.flows for ride in self._of_flow(name)]
        if self.grouped:
            found = _together(found)
        return found if len({ride.flows for ride in found}) <= _MOST_RIDES else []

    def _of_flow(self, name: str) -> list[Ride]:
        view, spans = self._view, self._view.flow_paths[name]
        if len(spans) == 1:
            links = spans[0].links
            begins = view.flow(name)["start_ns"] * 1e-9 < view.end_s
            return [self._ride(name, links, main=True)] if links and begins else []
        active = view.active(name)
        spent: dict[tuple[str, ...], float] = {}
        for span in spans:
            time = min(span.stop_s, active.stop_s) - max(span.start_s, active.start_s)
            if span.links and time > 0.02 * (active.stop_s - active.start_s):
                spent[span.links] = spent.get(span.links, 0.0) + time
        longest = sorted(spent, key=lambda path: -spent[path])
        return [self._ride(name, links, main=not i) for i, links in enumerate(longest)]

    def _ride(self, name: str, links: Sequence[str], *, main: bool) -> Ride:
        flow = self._view.flow(name)
        stops = [self._node(flow["from"])]
        edges = [self._edge_of[link] for link in links]
        for edge in edges:
            one, other = self.edges[edge].ends
            stops.append(other if stops[-1] == one else one)
        label = f"{name}{task(flow)}" if main else ""
        color = self._view.flow_color[name]
        return Ride((name,), label, color, tuple(stops), tuple(edges), main)


def _together(rides: Sequence[Ride]) -> list[Ride]:
    """Rides along the same edges as one."""
    alike: dict[tuple[str, ...], list[Ride]] = {}
    for ride in rides:
        if ride.main:
            alike.setdefault(ride.stops, []).append(ride)
    found = []
    for number, (stops, same) in enumerate(alike.items()):
        names = tuple(name for ride in same for name in ride.flows)
        label = f"{len(names):,} flows, {_span(names)}" if len(names) > 1 else same[0].label
        color = palette.FLOWS[number % len(palette.FLOWS)]
        found.append(Ride(names, label, color, stops, same[0].edges, main=True))
    return found


def _groups(model: Mapping[str, Any]) -> list[list[str]]:
    """Hosts with one link to the same router that are ends of flows in the same way."""
    hosts, near = set(model["hosts"]), _neighbours(model)
    sources = {flow["from"] for flow in model["flows"]}
    targets = {flow["to"] for flow in model["flows"]}
    alike: dict[tuple[str, bool, bool], list[str]] = {}
    for host in model["hosts"]:
        if len(near.get(host, ())) == 1 and near[host][0] not in hosts:
            part = (near[host][0], host in sources, host in targets)
            alike.setdefault(part, []).append(host)
    return [members for members in alike.values() if len(members) >= _LEAST_GROUP]


def _neighbours(model: Mapping[str, Any]) -> dict[str, list[str]]:
    """The other end of each link of a node."""
    near: dict[str, list[str]] = {}
    for link in model["links"]:
        for end, other in (link["ends"], link["ends"][::-1]):
            near.setdefault(end, []).append(other)
    return near


def _tiers(model: Mapping[str, Any]) -> list[list[str]]:
    """Nodes by how many links they are away from the nearest host."""
    near = _neighbours(model)
    tiers = [list(model["hosts"])]
    left = dict.fromkeys(model["routers"])
    while tiers[-1]:
        found = dict.fromkeys(o for name in tiers[-1] for o in near.get(name, ()) if o in left)
        # In the order of the scenario.
        tiers.append([name for name in left if name in found])
        left = {name: None for name in left if name not in found}
    return [members for members in (*tiers, list(left)) if members]


def _span(names: Sequence[str]) -> str:
    """What several things are called together, such as "S1 … S1000"."""
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _properties(view: View, links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Rate, delay, buffer and duplex of links in words."""
    # Of those that share their values, one will do.
    different = {id(link["forward"]): link for link in links}.values()
    ways = [
        link[way]
        for link in different
        for way in (("forward",) if link["duplex"] == "half" else ("forward", "backward"))
    ]

    def among(values: Sequence[int], words: Any) -> str:
        found = sorted(set(values)) if len(links) > 1 else list(dict.fromkeys(values))
        ends = found if len(found) <= 2 else [found[0], found[-1]]
        return (" to " if len(links) > 1 else " / ").join(map(words, ends))

    buffers = list(dict.fromkeys(_buffer(way["queue"]) for way in ways))
    return {
        "rate": among(
            [way["rate_bps"] for way in ways],
            lambda bps: quantities.rate(bps, binary=view.binary_rates),
        ),
        "delay": among([way["delay_ns"] for way in ways], quantities.delay),
        "buffer": f"buffer {' / '.join(buffers)}"
        if len(buffers) <= 2
        else f"{len(buffers)} sizes of buffers",
        "duplex": " / ".join(dict.fromkeys(f"{link['duplex']} duplex" for link in different)),
    }


def _buffer(queue: Mapping[str, Any]) -> str:
    if (packets := queue.get("limit_packets")) is not None:
        return f"{packets} packets"
    if (size := queue.get("limit_bytes")) is not None:
        return quantities.size(size)
    if (thousandths := queue.get("limit_products")) is not None:
        return f"{thousandths / 1000:g} BDP"
    if (time_ns := queue.get("limit_ns")) is not None:
        return quantities.delay(time_ns)
    return "unlimited"
