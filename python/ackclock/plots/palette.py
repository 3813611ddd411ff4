"""Colours: one for each flow and one for each link, the same in every figure of a run.

Flows take the vivid colours of Okabe and Ito ("Color universal design", 2008) without the yellow,
which is too pale for lines on white; links take a muted family chosen for the largest distance to
each other and to the flows as seen with normal and with colour-blind eyes. A test measures these
distances.
"""

from __future__ import annotations

from collections.abc import Sequence

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
ROUTE = "#5E3C99"
"""Marks of route changes."""


def flow_colors(flows: Sequence[str]) -> dict[str, str]:
    """A colour for each of a run's flows (all of them, so that a selection keeps its colours).

    Up to eight flows get the well separated colours; more flows get equal steps of one ordered
    ramp from dark blue to amber, in which neighbours in the list are neighbours in colour.
    """
    if len(flows) <= len(FLOWS):
        return dict(zip(flows, FLOWS, strict=False))
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ramp = colormaps["plasma"]
    last = len(flows) - 1
    return {name: to_hex(ramp(0.88 * i / last)) for i, name in enumerate(flows)}


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
