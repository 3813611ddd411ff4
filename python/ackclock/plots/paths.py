"""Which links a flow's packets take, and when that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ackclock.metrics.records import Records


class PathSpan(NamedTuple):
    """A flow's path from its source to its destination during `[start_s, stop_s)`.

    `links` is empty while the routers have no complete path.
    """

    start_s: float
    stop_s: float
    links: tuple[str, ...]


class RouteChange(NamedTuple):
    """At `time_s`, `router` moved its traffic for `host` from `previous_link` to `link`."""

    time_s: float
    router: str
    host: str
    previous_link: str
    link: str


class Hop(NamedTuple):
    """From `start_s` to `stop_s`, `router` sends what is meant for `host` over `link`."""

    router: str
    host: str
    link: str
    start_s: float
    stop_s: float


def hops(routes: Records | None, end_s: float) -> list[Hop]:
    """The next hops of all routers over time, from the `routes` table."""
    if routes is None or not len(routes):
        return []
    found: list[Hop] = []
    links = routes.names("link")
    for router in routes.names("router"):
        for host in routes.names("host"):
            rows = routes.rows(router=router, host=host)
            times, codes = routes.plain("time_s")[rows], routes.codes("link")[rows]
            # Of several changes at one moment the last one counts, and only if it is another link.
            lasting = np.diff(times, append=np.inf) > 0
            times, codes = times[lasting], codes[lasting]
            new = np.diff(codes, prepend=-2) != 0
            times, codes = times[new].tolist(), codes[new].tolist()
            found += [
                Hop(router, host, links[code], start, stop)
                for start, stop, code in zip(times, [*times[1:], end_s], codes, strict=False)
                if code >= 0 and stop > start
            ]
    return found


def changes(all_hops: Sequence[Hop]) -> list[RouteChange]:
    """The moments at which a router moved traffic from one link to another, in order of time."""
    found = [
        RouteChange(after.start_s, after.router, after.host, before.link, after.link)
        for before, after in pairwise(all_hops)
        if (before.router, before.host) == (after.router, after.host) and before.link != after.link
    ]
    return sorted(found, key=lambda change: (change.time_s, change.router, change.host))


def over_time(
    model: Mapping[str, Any], all_hops: Sequence[Hop], source: str, target: str, end_s: float
) -> list[PathSpan]:
    """The path from host `source` to host `target` over time, neighbours being different."""
    relevant = [hop for hop in all_hops if hop.host == target]
    times = sorted({0.0, *(h.start_s for h in relevant), *(h.stop_s for h in relevant)} - {end_s})
    spans: list[PathSpan] = []
    for start, stop in zip(times, [*times[1:], end_s], strict=True):
        table = {h.router: h.link for h in relevant if h.start_s <= start < h.stop_s}
        path = _follow(model, table, source, target)
        if spans and spans[-1].links == path:
            spans[-1] = PathSpan(spans[-1].start_s, stop, path)
        else:
            spans.append(PathSpan(start, stop, path))
    return spans


def _follow(
    model: Mapping[str, Any], table: Mapping[str, str], source: str, target: str
) -> tuple[str, ...]:
    ends = {link["id"]: link["ends"] for link in model["links"]}
    first: dict[str, str] = {}  # the first link of each node
    for link in model["links"]:
        for end in link["ends"]:
            first.setdefault(end, link["id"])
    path: list[str] = []
    node, visited = source, {source}
    while node != target:
        if node in table:
            link = table[node]
        elif node == source and node in first:
            link = first[node]
        else:
            return ()
        path.append(link)
        one, other = ends[link]
        node = other if node == one else one
        if node in visited:
            return ()
        visited.add(node)
    return tuple(path)
