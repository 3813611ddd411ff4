"""Paths of flows through the network described by a model.

A path is the shortest by propagation delay, then by number of links, then by order of links in the
scenario (the earlier link wins at the first node where two are equal). Hosts carry nothing through.
"""

import heapq
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ackclock.theory.errors import TheoryError

Hop = tuple[int, int]
"""A step of a path: index of the link, and 0 for forward (ends[0] to ends[1]) or 1 for backward."""

Path = tuple[Hop, ...]

_Step = tuple[Hop, str, int]
"""A hop, where it leads, and its delay in ns."""

_Cost = tuple[int, int]
"""Delay in ns and number of links, from a node to a host."""

MAX_ALTERNATIVES = 16
"""Paths of equal delay that are listed at most: their number can grow exponentially."""


class Graph:
    """The nodes and links of a model, with delays.

    Args:
        model: The numeric model of a scenario.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        hosts = frozenset(model["hosts"])
        # Steps out of a node: to routers, and to each host. Steps into a node: from routers.
        self._onward: dict[str, list[_Step]] = {}
        self._to_host: dict[tuple[str, str], list[_Step]] = {}
        self._into: dict[str, list[tuple[str, int]]] = {}
        self._known: dict[str, dict[str, _Cost]] = {}
        for index, link in enumerate(model["links"]):
            first, second = link["ends"]
            # A half-duplex link has one delay, that of `forward`.
            back = "forward" if link["duplex"] == "half" else "backward"
            for way, (here, there, side) in enumerate(
                ((first, second, "forward"), (second, first, back))
            ):
                delay = int(link[side]["delay_ns"])
                step = ((index, way), there, delay)
                if there in hosts:
                    self._to_host.setdefault((here, there), []).append(step)
                else:
                    self._onward.setdefault(here, []).append(step)
                if here not in hosts:
                    self._into.setdefault(there, []).append((here, delay))

    def data_path(self, flow: Mapping[str, Any]) -> Path:
        """The way of a flow's data: the model's own if it gives one, else the static path.

        Raises:
            TheoryError: There is none.
        """
        return self._way(flow, "data_path", "from", "to")

    def ack_path(self, flow: Mapping[str, Any]) -> Path:
        """The way of a flow's ACKs, likewise.

        Raises:
            TheoryError: There is none.
        """
        return self._way(flow, "ack_path", "to", "from")

    def _way(self, flow: Mapping[str, Any], given: str, source: str, target: str) -> Path:
        if given in flow:
            return tuple((link, way) for link, way in flow[given])
        return next(self._paths(flow[source], flow[target], equal_hops=True))

    def least_delay_paths(self, source: str, target: str) -> list[Path]:
        """All paths of least propagation delay, at most `MAX_ALTERNATIVES`, the static one first.

        Raises:
            TheoryError: There is no path.
        """
        paths = self._paths(source, target, equal_hops=False)
        return sorted(islice(paths, MAX_ALTERNATIVES), key=len)

    def _paths(self, source: str, target: str, *, equal_hops: bool) -> Iterator[Path]:
        """Paths of least delay, with `equal_hops` only those with the least number of links too."""
        cost = self._costs(target)
        offers = [
            (cost[there][0] + delay, cost[there][1] + 1)
            for _, there, delay in self._steps(source, target)
            if there in cost
        ]
        if not offers:
            raise TheoryError(f"there is no path from {source} to {target}")
        stack: list[tuple[str, _Cost, Path]] = [(source, min(offers), ())]
        while stack:
            node, (left, links), path = stack.pop()
            if node == target:
                yield path
                continue
            onward = [
                (there, cost[there], (*path, hop))
                for hop, there, delay in self._steps(node, target)
                if there in cost
                and cost[there][0] + delay == left
                and (not equal_hops or cost[there][1] + 1 == links)
                # With links of no delay, equal cost does not mean closer to the target.
                and (delay > 0 or cost[there][1] < links)
            ]
            stack.extend(reversed(onward))

    def _steps(self, node: str, target: str) -> list[_Step]:
        """Steps out of a node that can lead to a host, in order of links."""
        last = self._to_host.get((node, target), [])
        return sorted((*self._onward.get(node, []), *last))

    def _costs(self, target: str) -> dict[str, _Cost]:
        """Least cost from each router to a host."""
        if target in self._known:
            return self._known[target]
        cost = self._known[target] = {target: (0, 0)}
        heap = [(0, 0, target)]
        while heap:
            delay, links, node = heapq.heappop(heap)
            if (delay, links) > cost[node]:
                continue
            for before, step in self._into.get(node, []):
                offer = (delay + step, links + 1)
                if before not in cost or offer < cost[before]:
                    cost[before] = offer
                    heapq.heappush(heap, (*offer, before))
        return cost
