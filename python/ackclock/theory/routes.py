"""Paths of flows through the network described by a model.

A path is the shortest by propagation delay, then by number of links, then by order of links in the
scenario (the earlier link wins at the first node where two are equal). Hosts carry nothing through.
"""

import heapq
from collections.abc import Mapping
from typing import Any

from ackclock.theory.errors import TheoryError

Hop = tuple[int, int]
"""A step of a path: index of the link, and 0 for forward (ends[0] to ends[1]) or 1 for backward."""

Path = tuple[Hop, ...]

MAX_ALTERNATIVES = 16
"""Paths of equal delay that are listed at most: their number can grow exponentially."""


class Graph:
    """The nodes and links of a model, with delays.

    Args:
        model: The numeric model of a scenario.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._hosts = frozenset(model["hosts"])
        self._hops: dict[str, list[tuple[Hop, str, int]]] = {}
        self._into: dict[str, list[tuple[str, int]]] = {}
        for index, link in enumerate(model["links"]):
            first, second = link["ends"]
            # A half-duplex link has one delay, that of `forward`.
            back = "forward" if link["duplex"] == "half" else "backward"
            for way, (here, there, side) in enumerate(
                ((first, second, "forward"), (second, first, back))
            ):
                delay = int(link[side]["delay_ns"])
                self._hops.setdefault(here, []).append(((index, way), there, delay))
                self._into.setdefault(there, []).append((here, delay))

    def path(self, source: str, target: str) -> Path:
        """The path of packets from one host to another.

        Raises:
            TheoryError: There is none.
        """
        return self.least_delay_paths(source, target, equal_hops=True)[0]

    def least_delay_paths(self, source: str, target: str, equal_hops: bool = False) -> list[Path]:
        """All paths of least propagation delay, at most `MAX_ALTERNATIVES`, the static one first.

        Args:
            source: Name of the sending host.
            target: Name of the receiving host.
            equal_hops: Only those with the least number of links as well.

        Raises:
            TheoryError: There is no path.
        """
        cost = self._costs(target)
        if source not in cost:
            raise TheoryError(f"there is no path from {source} to {target}")
        paths: list[Path] = []
        stack: list[tuple[str, Path]] = [(source, ())]
        while stack and len(paths) < MAX_ALTERNATIVES:
            node, path = stack.pop()
            if node == target:
                paths.append(path)
                continue
            onward = [
                (there, (*path, hop))
                for hop, there, delay in self._hops[node]
                if (there == target or there not in self._hosts)
                and there in cost
                and cost[there][0] + delay == cost[node][0]
                and (not equal_hops or cost[there][1] + 1 == cost[node][1])
                # With links of no delay, equal cost does not mean closer to the target.
                and (delay > 0 or cost[there][1] < cost[node][1])
            ]
            stack.extend(reversed(onward))
        return sorted(paths, key=len)

    def _costs(self, target: str) -> dict[str, tuple[int, int]]:
        """Least (delay, links) from each node to the target."""
        cost = {target: (0, 0)}
        heap = [(0, 0, target)]
        while heap:
            delay, hops, node = heapq.heappop(heap)
            if (delay, hops) > cost[node] or (node in self._hosts and node != target):
                continue
            for before, step in self._into.get(node, []):
                offer = (delay + step, hops + 1)
                if before not in cost or offer < cost[before]:
                    cost[before] = offer
                    heapq.heappush(heap, (*offer, before))
        return cost
