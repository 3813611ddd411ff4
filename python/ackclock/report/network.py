"""The network as the page draws it: where nodes stand, and what joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ackclock.plots import layout, network
from ackclock.plots.lanes import Lane
from ackclock.plots.view import View

_TALLEST = 0.62
"""Height of the picture in relation to its width, at most."""


def drawn(view: View, lanes: Sequence[Lane]) -> dict[str, Any]:
    """Nodes with their places, in distances between neighbours, and edges with their links."""
    net = network.Network(view)
    ends = [edge.ends for edge in net.edges.values()]
    sources = [stop for flow in view.flows if (stop := view.flow(flow)["from"]) in net.nodes]
    sources = sources or [ride.stops[0] for ride in net.rides()]
    places = layout.place(list(net.nodes), ends, sources) if net.nodes else {}
    low, size = layout.bounds(places) if places else ((0.0, 0.0), (0.0, 0.0))
    squeeze = min(1.0, _TALLEST * size[0] / size[1]) if size[1] > 0 and size[0] > 0 else 1.0
    number = {name: i for i, name in enumerate(net.nodes)}
    link = {entry["id"]: i for i, entry in enumerate(view.model["links"])}
    lane = {(one.link, one.direction): i for i, one in enumerate(lanes)}
    return {
        "nodes": [
            {
                "name": node.name,
                "router": node.router,
                "count": len(node.members),
                "x": round(places[node.name][0] - low[0], 4),
                "y": round((size[1] - places[node.name][1] + low[1]) * squeeze, 4),
            }
            for node in net.nodes.values()
        ],
        "edges": [
            {
                "name": edge.name,
                "ends": [number[end] for end in edge.ends],
                "words": list(edge.words.values()),
                "links": [link[name] for name in edge.links],
                "half": view.link(edge.links[0])["duplex"] == "half",
                # The lanes of its first link: one for both directions, or there and back.
                "lanes": [
                    lane.get((name, way))
                    for name in edge.links
                    for way in ("both", "forward", "backward")
                    if (name, way) in lane
                ],
            }
            for edge in net.edges.values()
        ],
    }
