"""Figure: the network, and the paths of its flows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from ackclock.arrays import Floats
from ackclock.errors import listed

from . import layout, palette, text
from .network import MOST_NAMED, Network, Node, Ride
from .sheet import Sheet
from .view import View

Points = Mapping[str, Floats]
Box = tuple[float, float, float, float]
"""Left, bottom, right and top in mm."""

_SIDE_MM, _ABOVE_MM = 12.0, 9.0
_LANE_MM = 1.2
_NODE_MM = 2.8
"""Half of a node."""
_NEAR_MM = 0.8
"""A label nearer than this to another link could be taken for its name."""
_LABEL, _UNDER = 6.0, 5.4
_NAMES = (6.4, 5.4, 4.6)
"""Sizes of names within nodes, points; what does not fit by the smallest is written below."""
_LONGEST_MM = 26.0
_MOST_WORDY = 10
_MOST_LABELS = 30
_MOST_KINDS = 6


def draw(view: View) -> Figure:
    """Hosts as squares, routers as diamonds, links with their properties, flows along their path.

    What all links have in common stands below the figure once. A path that a flow takes only for
    a part of the run is dashed. Of a large network, like hosts at one router are one node, of a
    very large one all routers as many links away from hosts.
    """
    network = Network(view)
    sheet = Sheet(view, left_mm=3.0)
    if not network.nodes:
        sheet.add(10.0, timed=False).empty("no node")
        return sheet.finish()
    rides = network.rides()
    sources = [ride.stops[0] for ride in rides] or [flow["from"] for flow in view.model["flows"]]
    ends = [edge.ends for edge in network.edges.values()]
    places = layout.place(list(network.nodes), ends, [s for s in sources if s in network.nodes])
    points, height = _fit(places, sheet.axes_width_mm)
    panel = sheet.add(height, timed=False)
    axes = panel.axes
    axes.set_xlim(0, sheet.axes_width_mm)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    crowded = len(network.nodes) > MOST_NAMED
    lines = [np.array([points[end] for end in edge]) for edge in ends]
    width = 0.8 if crowded else 2.2
    axes.add_collection(LineCollection(lines, colors=palette.RULE, linewidths=width, zorder=1))
    lanes = _lanes(rides)
    for ride in rides:
        _ride(axes, points, ride, lanes)
    taken = _nodes(axes, points, network.nodes.values(), lines, crowded=crowded)
    shared, usual = network.shared(), network.usual()
    wordy = len(network.edges) <= _MOST_WORDY
    if len(network.edges) <= _MOST_LABELS:
        _labels(axes, points, network, taken, lanes, shared if wordy else None, usual)
        low = min(0.0, *(box[1] - _NEAR_MM for box in taken))
        high = max(height, *(box[3] + 2 * _NEAR_MM for box in taken))
        axes.set_ylim(low, high)
        panel.height_mm = high - low
    panel.title = "Network"
    for ride in rides:
        if ride.label:
            panel.entry(ride.label, ride.color)
    if shared:
        what = "The link" if len(network.edges) == 1 else "Every link"
        order = next(iter(network.edges.values())).words
        panel.note(f"{what}: {', '.join(shared[key] for key in order if key in shared)}.")
    if wordy and (own := [value for key, value in usual.items() if key not in shared]):
        panel.note(f"Links with a name only: {', '.join(own)}.")
    elif not wordy:
        _kinds(panel.note, network, shared)
    if changing := [link["id"] for link in view.model["links"] if link.get("changes")]:
        panel.note(f"As at the start of the run. Links that change later: {listed(changing)}.")
    if any(not ride.main for ride in rides):
        panel.note("Solid: the path a flow takes for longest; dashed: another one.")
    if network.tiered:
        panel.note("Each router node stands for all routers at the same distance from hosts.")
    if not rides and view.flows:
        panel.note(f"{len(view.flows):,} flows, not drawn.")
    return sheet.finish()


def _fit(places: Mapping[str, tuple[float, float]], width: float) -> tuple[Points, float]:
    """Scale to millimetres; the height of the drawing follows from its shape, within limits."""
    low, size = layout.bounds(places)
    inner = width - 2 * _SIDE_MM
    scale_x = min(inner / max(size[0], 1e-9), 34.0 if len(places) > 2 else 60.0)
    tallest = min(0.62 * width, 110.0)
    scale_y = min(scale_x, tallest / max(size[1], 1e-9)) if size[1] > 0.05 else 0.0
    height = size[1] * scale_y + 2 * _ABOVE_MM
    shift = (width - size[0] * scale_x) / 2
    points = {
        name: np.array([shift + (x - low[0]) * scale_x, _ABOVE_MM + (y - low[1]) * scale_y])
        for name, (x, y) in places.items()
    }
    return points, float(height)


def _kinds(note: Callable[[str], None], network: Network, shared: Mapping[str, str]) -> None:
    """For each set of properties the links that have it, as sentences."""
    kinds: dict[str, list[str]] = {}
    for edge in network.edges.values():
        own = ", ".join(words for key, words in edge.words.items() if key not in shared)
        kinds.setdefault(own, []).extend(edge.links)
    kinds.pop("", None)
    for words, names in list(kinds.items())[:_MOST_KINDS]:
        note(f"{listed(names, 6)}: {words}.")
    if len(kinds) > _MOST_KINDS:
        note(f"{len(kinds) - _MOST_KINDS} more kinds of links.")


# Labels of links


def _labels(
    axes: Axes,
    points: Points,
    network: Network,
    taken: list[Box],
    lanes: Mapping[str, list[Ride]],
    shared: Mapping[str, str] | None,
    usual: Mapping[str, str],
) -> None:
    """Write the names of links beside them, where they cover nothing; else they are left out.

    With `shared` (the properties that need not be said) their other properties, too, unless they
    are the `usual` ones.
    """
    inner = [e for e in network.edges.values() if all(network.nodes[end].router for end in e.ends)]
    segments = {
        name: np.array([points[end] for end in edge.ends]) for name, edge in network.edges.items()
    }
    for edge in dict.fromkeys([edge.name for edge in inner] + list(network.edges)):
        known = network.edges[edge]
        words = [text.short(known.name, _LONGEST_MM, _LABEL)]
        if shared is not None and known.words != usual:
            words += [value for key, value in known.words.items() if key not in shared]
        size = (
            max(text.width_mm(line, _LABEL) for line in words),
            len(words) * _LABEL * 1.2 * text.MM_PER_POINT,
        )
        gap = 1.1 + _LANE_MM * max(0, len(lanes.get(edge, [])) - 1) / 2
        leaf = not network.nodes[known.ends[0]].router
        outward = segments[edge][::-1] if leaf else segments[edge]
        others = [segment for name, segment in segments.items() if name != edge]
        cost, box = min(
            (_cost(box, taken, others) + rank * 0.01, box)
            for rank, box in enumerate(_beside(outward, size, gap))
        )
        width = axes.get_xlim()[1]
        if cost >= 10 or box[0] < 0 or box[2] > width:
            continue
        taken.append(box)
        middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        style = {"ha": "center", "va": "center", "linespacing": 1.1, "parse_math": False}
        axes.text(*middle, "\n".join(words), size=_LABEL, color=palette.INK, zorder=4, **style)


def _beside(segment: Floats, size: tuple[float, float], gap: float) -> list[Box]:
    """Where a label may stand beside a link, the best place first.

    Rather towards the second end, where links to several hosts are further apart.
    """
    a, b = segment
    along = _along(a, b)
    aside = np.array([-along[1], along[0]])
    if aside[1] < -0.3 or (abs(aside[1]) <= 0.3 and aside[0] < 0):
        aside = -aside  # above the link, or to the right of an upright one
    half = np.array(size) / 2
    found: list[Box] = []
    clear = max(gap, _NODE_MM + 0.3)  # of the nodes, too
    for off, shares in ((gap, (0.5, 0.6, 0.7, 0.4, 0.78, 0.3, 0.22)), (clear, (0.5, 0.7, 0.3))):
        for share, side in product(shares, (1, -1)):
            middle = a + share * (b - a) + side * aside * (off + float(np.abs(aside) @ half))
            found.append((*(middle - half), *(middle + half)))
    return found


def _cost(box: Box, taken: Sequence[Box], lines: Sequence[Floats]) -> float:
    """How bad a place is: 10 for each label or node that it covers, 1 for each other link."""
    left, bottom, right, top = box
    covered = sum(
        left < other[2] and other[0] < right and bottom < other[3] and other[1] < top
        for other in taken
    )
    steps = np.linspace(0.0, 1.0, 40)[:, None]
    crossed = 0
    for a, b in lines:
        at = a + steps * (b - a)
        low, high = np.array([left, bottom]) - _NEAR_MM, np.array([right, top]) + _NEAR_MM
        crossed += bool(((at > low) & (at < high)).all(axis=1).any())
    return 10.0 * covered + crossed


# Paths of flows


def _lanes(rides: Sequence[Ride]) -> dict[str, list[Ride]]:
    """The rides along each edge, one of each flow."""
    lanes: dict[str, list[Ride]] = {}
    for ride in rides:
        for edge in ride.edges:
            beside = lanes.setdefault(edge, [])
            if all(other.flows != ride.flows for other in beside):
                beside.append(ride)
    return lanes


def _ride(axes: Axes, points: Points, ride: Ride, lanes: Mapping[str, list[Ride]]) -> None:
    """Draw a path beside its links, as the lines of a city map run beside each other."""
    parts: list[Floats] = []
    for start, stop, edge in zip(ride.stops, ride.stops[1:], ride.edges, strict=False):
        a, b = points[start], points[stop]
        along = _along(a, b)
        names = [other.flows for other in lanes[edge]]
        beside = names.index(ride.flows) - (len(names) - 1) / 2
        shift = beside * _LANE_MM * np.array([along[1], -along[0]])
        # Two flows that meet on a link in opposite directions keep to the same side of the paper.
        shift = shift if tuple(a) < tuple(b) else -shift
        parts.append(np.array([a + shift, b + shift]))
    corners = [_corner(before, after) for before, after in pairwise(parts)]
    ends = parts[0][0] + 3.2 * _along(*parts[0]), parts[-1][1] - 3.2 * _along(*parts[-1])
    line = [ends[0], *corners, ends[1]]
    _arrow(axes, np.array(line), ride.color, dashed=not ride.main)


def _along(start: Floats, stop: Floats) -> Floats:
    """The direction from one point to another, of length 1."""
    return (stop - start) / max(float(np.hypot(*(stop - start))), 1e-9)


def _corner(before: Floats, after: Floats) -> Floats:
    """Where two parts meet: their intersection, or the middle of a jog if they are parallel."""
    one, two = _along(*before), _along(*after)
    cross = float(one[0] * two[1] - one[1] * two[0])
    gap = after[0] - before[1]
    if abs(cross) < 0.2:
        return before[1] + gap / 2
    return before[1] + one * float(gap[0] * two[1] - gap[1] * two[0]) / cross


def _arrow(axes: Axes, line: Floats, color: str, *, dashed: bool) -> None:
    """A line with round corners and a head."""
    vertices, codes = [line[0]], [Path.MOVETO]
    for before, corner, after in zip(line, line[1:], line[2:], strict=False):
        near = [
            corner + way * min(3.5 / max(float(np.hypot(*way)), 1e-9), 0.5)
            for way in (before - corner, after - corner)
        ]
        vertices += [near[0], corner, near[1]]
        codes += [Path.LINETO, Path.CURVE3, Path.CURVE3]
    path = Path(np.array([*vertices, line[-1]]), [*codes, Path.LINETO])
    head = "-|>,head_length=3.2,head_width=1.7"
    style: dict[str, Any] = {
        "lw": 1.3,
        "ls": (0, (2.4, 1.6)) if dashed else "-",
        "mutation_scale": 1.0,
    }
    ends: dict[str, Any] = {"capstyle": "butt", "joinstyle": "round"}
    arrow = FancyArrowPatch(
        path=path, arrowstyle=head, color=color, fill=False, zorder=3, **style, **ends
    )
    axes.add_patch(arrow)


# Nodes


def _nodes(
    axes: Axes,
    points: Points,
    nodes: Collection[Node],
    lines: Sequence[Floats],
    *,
    crowded: bool,
) -> list[Box]:
    """Draw the nodes with their names; returns the room that they take."""
    taken: list[Box] = []
    for router, marker, size in ((False, "s", 15.0), (True, "D", 14.0)):
        mine = [node for node in nodes if node.router == router]
        # Several hosts as one look like a pile.
        groups = [node for node in mine if len(node.members) > 1]
        for shown, lift in ((groups, 1.0), (groups, 0.5), (mine, 0.0)):
            if shown:
                at = np.array([points[node.name] for node in shown]) + lift
                fill = palette.ROUTER if router else palette.HOST
                look = {"mfc": fill, "mec": palette.FAINT_INK, "mew": 0.8, "zorder": 5}
                axes.plot(*at.T, ls="", marker=marker, ms=size * (0.5 if crowded else 1.0), **look)
        if not crowded:
            taken += [box for node in mine for box in _name(axes, points[node.name], node, lines)]
    return taken


def _name(axes: Axes, at: Floats, node: Node, lines: Sequence[Floats]) -> list[Box]:
    """Write the name of a node into it, or beside it if it is long; of several, their number."""
    several = len(node.members) > 1
    within = f"{len(node.members):,}" if several else node.name
    fits = [size for size in _NAMES if text.width_mm(within, size) <= 2 * _NODE_MM - 0.8]
    x, y = float(at[0]), float(at[1])
    taken: list[Box] = [(x - _NODE_MM, y - _NODE_MM, x + _NODE_MM, y + _NODE_MM)]
    style = {"ha": "center", "va": "center_baseline", "zorder": 6, "parse_math": False}
    if fits:
        axes.text(x, y, within, size=fits[0], color=palette.INK, **style)
    if not fits or several:
        beside = text.short(node.name, _LONGEST_MM, _UNDER)
        wide = text.width_mm(beside, _UNDER) / 2
        above, aside = _NODE_MM + (1.4 if several else 0.4), _NODE_MM + 0.8 + wide
        middles = ((x, y - _NODE_MM - 1.3), (x, y + above + 1.3), (x - aside, y), (x + aside, y))
        boxes: list[Box] = [(a - wide, b - 1.3, a + wide, b + 1.3) for a, b in middles]
        box = min(boxes, key=lambda box: _cost(box, [], lines))
        x, style = (box[0] + box[2]) / 2, {**style, "va": "baseline"}
        axes.text(x, box[1] + 0.6, beside, size=_UNDER, color=palette.INK, **style)
        taken.append(box)
    return taken
