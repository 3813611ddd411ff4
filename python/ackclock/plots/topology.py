"""Figure: the network, and the paths of its flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from ackclock.errors import listed

from . import layout, palette, quantities
from .flow_strip import task
from .sheet import Sheet
from .view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Points = Mapping[str, tuple[float, float]]

_SIDE_MM = 12.0
_LANE_MM = 1.2
_MOST_WORDY = 10
_MOST_LABELS = 30
_MOST_GROUPS = 6
_MOST_NAMED = 40
_MOST_FLOWS = 10


def draw(view: View) -> Figure:
    """Hosts as squares, routers as diamonds, links with their properties, flows along their path.

    What all links have in common stands below the figure once. A path that a flow takes only for
    a part of the run is dashed.
    """
    model = view.model
    nodes = [*model["hosts"], *model["routers"]]
    sheet = Sheet(view, left_mm=3.0)
    if not nodes:
        sheet.add(10.0, timed=False).empty("no node")
        return sheet.finish()
    ends = [tuple(link["ends"]) for link in model["links"]]
    sources = [flow["from"] for flow in model["flows"]]
    places = layout.place(nodes, ends, sources)
    points, height = _fit(places, sheet.axes_width_mm)
    panel = sheet.add(height, timed=False)
    axes = panel.axes
    axes.set_xlim(0, sheet.axes_width_mm)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    shared = _shared(view)
    rides = _rides(view)
    lanes = _lanes(rides)
    axes.add_collection(
        LineCollection(
            [[points[end] for end in link["ends"]] for link in model["links"]],
            colors=palette.RULE,
            linewidths=2.2 if len(points) <= _MOST_NAMED else 0.8,
            zorder=1,
        )
    )
    for link in model["links"] if len(model["links"]) <= _MOST_LABELS else ():
        _label(view, axes, points, link, shared, len(lanes.get(link["id"], [])))
    for ride in rides:
        _ride(view, axes, points, ride, lanes)
    _nodes(axes, points, model)
    panel.title = "Network"
    shown = view.flows[:_MOST_FLOWS] if len(view.flows) <= _MOST_FLOWS else []
    for name in shown:
        panel.entry(f"{name}{task(view.flow(name))}", view.flow_color[name])
    if shared:
        what = "The link" if len(model["links"]) == 1 else "Every link"
        panel.note(f"{what}: {', '.join(shared.values())}.")
    if len(model["links"]) > _MOST_WORDY:
        for sentence in _groups(view, shared)[:_MOST_GROUPS]:
            panel.note(sentence)
    if set(shown) & set(view.moving_flows):
        panel.note("Solid: the path a flow takes for longest; dashed: another one.")
    if not shown and view.flows:
        panel.note(f"{len(view.flows)} flows, not drawn.")
    return sheet.finish()


def _fit(places: Points, width: float) -> tuple[dict[str, tuple[float, float]], float]:
    """Scale to millimetres; the height of the drawing follows from its shape, within limits."""
    low, size = layout.bounds(places)
    inner = width - 2 * _SIDE_MM
    scale_x = min(inner / max(size[0], 1e-9), 34.0 if len(places) > 2 else 60.0)
    tallest = min(0.62 * width, 110.0)
    scale_y = min(scale_x, tallest / max(size[1], 1e-9)) if size[1] > 0.05 else 0.0
    height = size[1] * scale_y + 2 * 9.0
    shift = (width - size[0] * scale_x) / 2
    points = {
        name: (
            float(shift + (x - low[0]) * scale_x),
            float(9.0 + (y - low[1]) * scale_y),
        )
        for name, (x, y) in places.items()
    }
    return points, float(height)


def _properties(view: View, link: Mapping[str, Any]) -> dict[str, str]:
    ways = [link["forward"], link["backward"]]
    if link["duplex"] == "half" or ways[0] == ways[1]:
        ways = ways[:1]
    found = {
        "rate": [quantities.rate(way["rate_bps"], binary=view.binary_rates) for way in ways],
        "delay": [quantities.delay(way["delay_ns"]) for way in ways],
        "buffer": [_buffer(way["queue"]) for way in ways],
    }
    words = {key: " / ".join(dict.fromkeys(values)) for key, values in found.items()}
    return {**words, "duplex": f"{link['duplex']} duplex"}


def _buffer(queue: Mapping[str, Any]) -> str:
    if queue.get("limit_packets") is not None:
        return f"buffer {queue['limit_packets']} packets"
    if queue.get("limit_bytes") is not None:
        return f"buffer {quantities.size(queue['limit_bytes'])}"
    return "buffer unlimited"


def _shared(view: View) -> dict[str, str]:
    """The properties that all links have in common."""
    every = [_properties(view, link) for link in view.model["links"]]
    if not every:
        return {}
    return {key: words for key, words in every[0].items() if all(p[key] == words for p in every)}


def _own(view: View, link: Mapping[str, Any], shared: Mapping[str, str]) -> list[str]:
    """The properties of a link that are not those of all."""
    return [words for key, words in _properties(view, link).items() if key not in shared]


def _groups(view: View, shared: Mapping[str, str]) -> list[str]:
    """For each set of properties the links that have it, as sentences."""
    groups: dict[str, list[str]] = {}
    for link in view.model["links"]:
        groups.setdefault(", ".join(_own(view, link, shared)), []).append(link["id"])
    return [f"{listed(names, 6)}: {words}." for words, names in groups.items() if words]


def _label(
    view: View,
    axes: Axes,
    points: Points,
    link: Mapping[str, Any],
    shared: Mapping[str, str],
    flows: int,
) -> None:
    """Write the name of a link beside it and beside the flows that run along it."""
    a, b = (np.array(points[end]) for end in link["ends"])
    own = _own(view, link, shared) if len(view.model["links"]) <= _MOST_WORDY else []
    along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
    aside = np.array([-along[1], along[0]])
    if aside[1] < -0.3 or (abs(aside[1]) <= 0.3 and aside[0] < 0):
        aside = -aside  # above the link, or to the right of an upright one
    level = abs(aside[0]) < 0.35
    leaves = set(view.model["hosts"])
    share = 0.6 if link["ends"][1] in leaves else 0.4 if link["ends"][0] in leaves else 0.5
    x, y = a + share * (b - a) + aside * (1.3 + _LANE_MM * max(0, flows - 1) / 2)
    axes.text(
        x,
        y,
        "\n".join([link["id"], *own]),
        ha="center" if level else "left" if aside[0] > 0 else "right",
        va="bottom" if aside[1] > 0.3 else "center",
        size=6.0,
        color=palette.INK,
        linespacing=1.15,
        zorder=4,
        parse_math=False,
    )


@dataclass(frozen=True)
class _Ride:
    """A path that a flow takes: its stops, and the links between them."""

    flow: str
    stops: tuple[str, ...]
    links: tuple[str, ...]
    main: bool


def _rides(view: View) -> list[_Ride]:
    """The paths that the drawn flows take for more than a moment while they are active."""
    if len(view.flows) > _MOST_FLOWS:
        return []
    ends = {link["id"]: link["ends"] for link in view.model["links"]}
    found: list[_Ride] = []
    for name in view.flows:
        active = view.active(name)
        spent: dict[tuple[str, ...], float] = {}
        for span in view.flow_paths[name]:
            time = min(span.stop_s, active.stop_s) - max(span.start_s, active.start_s)
            if span.links and time > 0.02 * (active.stop_s - active.start_s):
                spent[span.links] = spent.get(span.links, 0.0) + time
        for rank, links in enumerate(sorted(spent, key=lambda path: -spent[path])):
            stops = [view.flow(name)["from"]]
            for link in links:
                one, other = ends[link]
                stops.append(other if stops[-1] == one else one)
            found.append(_Ride(name, tuple(stops), links, rank == 0))
    return found


def _lanes(rides: Sequence[_Ride]) -> dict[str, list[str]]:
    """The flows that run along each link."""
    lanes: dict[str, list[str]] = {}
    for ride in rides:
        for link in ride.links:
            if ride.flow not in lanes.setdefault(link, []):
                lanes[link].append(ride.flow)
    return lanes


def _ride(
    view: View, axes: Axes, points: Points, ride: _Ride, lanes: Mapping[str, list[str]]
) -> None:
    """Draw a path beside its links, as the lines of a city map run beside each other."""
    ends = {link["id"]: link["ends"] for link in view.model["links"]}
    parts: list[Floats] = []
    for start, stop, link in zip(ride.stops, ride.stops[1:], ride.links, strict=False):
        a, b = np.array(points[ends[link][0]]), np.array(points[ends[link][1]])
        along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
        beside = lanes[link].index(ride.flow) - (len(lanes[link]) - 1) / 2
        shift = beside * _LANE_MM * np.array([along[1], -along[0]])
        parts.append(np.array([np.array(points[start]) + shift, np.array(points[stop]) + shift]))
    line = [parts[0][0] + 3.2 * _along(parts[0])]
    for before, after in pairwise(parts):
        line.append(_corner(before, after))
    line.append(parts[-1][1] - 3.2 * _along(parts[-1]))
    _arrow(axes, np.array(line), view.flow_color[ride.flow], dashed=not ride.main)


def _along(part: Floats) -> Floats:
    step = part[1] - part[0]
    return step / max(float(np.hypot(*step)), 1e-9)


def _corner(before: Floats, after: Floats) -> Floats:
    """Where two parts meet: their intersection, or the middle of a jog if they are parallel."""
    one, two = _along(before), _along(after)
    cross = float(one[0] * two[1] - one[1] * two[0])
    gap = after[0] - before[1]
    if abs(cross) < 0.2:
        return before[1] + gap / 2
    return before[1] + one * float(gap[0] * two[1] - gap[1] * two[0]) / cross


def _arrow(axes: Axes, line: Floats, color: str, *, dashed: bool) -> None:
    """A line with round corners and a head."""
    vertices, codes = [line[0]], [Path.MOVETO]
    for before, corner, after in zip(line, line[1:], line[2:], strict=False):
        for end, code in ((before, Path.LINETO), (after, Path.CURVE3)):
            way = end - corner
            near = corner + way * min(3.5 / max(float(np.hypot(*way)), 1e-9), 0.5)
            if code == Path.LINETO:
                vertices.append(near)
                codes.append(Path.LINETO)
            else:
                vertices += [corner, near]
                codes += [Path.CURVE3, Path.CURVE3]
    vertices.append(line[-1])
    codes.append(Path.LINETO)
    axes.add_patch(
        FancyArrowPatch(
            path=Path(np.array(vertices), codes),
            arrowstyle="-|>,head_length=3.2,head_width=1.7",
            color=color,
            fill=False,
            lw=1.3,
            ls=(0, (2.4, 1.6)) if dashed else "-",
            mutation_scale=1.0,
            zorder=3,
            capstyle="butt",
            joinstyle="round",
        )
    )


def _nodes(axes: Axes, points: Points, model: Mapping[str, Any]) -> None:
    crowded = len(points) > _MOST_NAMED
    for names, marker, size, face in (
        (model["hosts"], "s", 15.0, palette.HOST),
        (model["routers"], "D", 14.0, palette.ROUTER),
    ):
        axes.plot(
            [points[name][0] for name in names],
            [points[name][1] for name in names],
            ls="",
            marker=marker,
            ms=size * (0.5 if crowded else 1.0),
            mfc=face,
            mec=palette.FAINT_INK,
            mew=0.8,
            zorder=5,
        )
        for name in names if not crowded else ():
            axes.text(
                *points[name],
                name,
                ha="center",
                va="center_baseline",
                size=6.4 if len(name) <= 3 else 5.4 if len(name) <= 5 else 4.6,
                color=palette.INK,
                zorder=6,
                parse_math=False,
            )
