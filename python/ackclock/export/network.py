"""Nodes and links of a scenario, numbered as other programs number them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ackclock.arrays import Flags, Integers

DIRECTIONS = ("both", "forward", "backward")


class Network:
    """Nodes (hosts first, then routers, in the order of the scenario) and links between them.

    Attributes:
        model: The scenario in numbers.
        nodes: Names of all nodes.
        links: Ids of all links.
        flows: Ids of all flows.
    """

    def __init__(self, model: dict[str, Any]) -> None:
        self.model = model
        self.nodes: list[str] = [*model["hosts"], *model["routers"]]
        self.links: list[str] = [link["id"] for link in model["links"]]
        self.flows: list[str] = [flow["id"] for flow in model["flows"]]
        place = {name: number for number, name in enumerate(self.nodes)}
        self.hosts = len(model["hosts"])
        self._ends = np.array(
            [[place[end] for end in link["ends"]] for link in model["links"]], np.int64
        ).reshape(-1, 2)
        # Sender and receiver of each flow.
        self.ends_of_flow = np.array(
            [[place[flow["from"]], place[flow["to"]]] for flow in model["flows"]], np.int64
        ).reshape(-1, 2)

    def ways(
        self, link: Integers, direction: Integers, reverse: Flags
    ) -> tuple[Integers, Integers]:
        """Nodes from which and to which packets travel on links."""
        backwards = np.where(direction == 0, reverse, direction == 2)
        ends = self._ends[link]
        first, second = ends[:, 0], ends[:, 1]
        return np.where(backwards, second, first), np.where(backwards, first, second)

    def numbers(self) -> Integers:
        """Numbers of nodes in an ns-2 trace.

        Where all names are one word with different numbers (`n0`, `n1`, ...), these; else the
        places in the list of nodes.
        """
        found = [re.fullmatch(r"(\D*)(\d{1,6})", name) for name in self.nodes]
        if all(found):
            pairs = [(match[1], int(match[2])) for match in found if match]
            if len({word for word, _ in pairs}) == 1 and len(set(pairs)) == len(pairs):
                return np.array([number for _, number in pairs], np.int64)
        return np.arange(len(self.nodes))
