"""Colours and line styles: each flow and each link has one colour in all figures of a run.

Flows take the vivid colours of Okabe and Ito ("Color universal design", 2008) without the yellow,
which is too pale for lines on white; links take a muted family chosen for the largest distance to
each other and to the flows as seen with normal and with colour-blind eyes. A test measures these
distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

FLOWS = (
    "#0072B2",  # blue
    "#D55E00",  # vermilion
    "#009E73",  # green
    "#CC79A7",  # pink
    "#E69F00",  # amber
    "#56B4E9",  # sky
    "#882255",  # wine
    "#4A4A4A",  # charcoal
)

LINKS = (
    "#37474F",  # slate
    "#B98A3C",  # ochre
    "#66A6B5",  # glacier
    "#6B3210",  # umber
    "#735A9B",  # heather
    "#A9AA7C",  # lichen
    "#297E7D",  # petrol
    "#B9808A",  # rosewood
    "#8A8F98",  # stone
    "#4F5B2A",  # moss
)

INK = "#22272E"
"""Titles and values."""
FAINT_INK = "#69717C"
"""Units, captions, axis numbers."""
RULE = "#C9CED6"
"""Frames and reference lines."""
GRID = "#ECEEF1"
"""Grid lines."""
LOSS = "#B2182B"
"""Marks of lost packets that belong to no single flow."""
ROUTE = "#3F4652"
"""Marks of route changes."""


LineStyle = Literal["solid", "dashed", "dotted"]

DASHES: dict[LineStyle, Any] = {
    "solid": "-",
    "dashed": (0, (2.2, 1.2)),
    "dotted": (0, (1.0, 1.5)),
}
"""Line styles as matplotlib takes them; the same in panels and in their legends."""


def flow_colors(flows: Sequence[str], drawn: Sequence[str]) -> dict[str, str]:
    """A colour for each drawn flow of a run with these flows.

    Up to eight flows get the well separated colours, by their place in the run, so that a
    selection keeps its colours. With more flows, a selection of up to eight gets these colours by
    its own order, and a larger one steps of one ramp from dark blue to amber, in which neighbours
    in the list are neighbours in colour.
    """
    few = flows if len(flows) <= len(FLOWS) else drawn
    if len(few) <= len(FLOWS):
        colors = dict(zip(few, FLOWS, strict=False))
        return {name: colors[name] for name in drawn}
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ramp = colormaps["plasma"]
    last = len(flows) - 1
    place = {name: i for i, name in enumerate(flows)}
    return {name: to_hex(ramp(0.88 * place[name] / last)).upper() for name in drawn}


def link_colors(links: Sequence[tuple[str, bool]]) -> dict[str, str]:
    """A colour for each link of `(name, joins two routers)`, in the order of the scenario.

    The links between routers come first: they are the likely bottlenecks, and so keep the
    clearest colours. Beyond ten links the colours repeat; names in the legend tell them apart.
    """
    ordered = [n for n, inner in links if inner] + [n for n, inner in links if not inner]
    return {name: LINKS[i % len(LINKS)] for i, name in enumerate(ordered)}


def text_on(color: str) -> str:
    """White or dark ink, whichever reads better on a ground of `color` (`#RRGGBB`)."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    return INK if luminance > 0.36 else "#FFFFFF"
