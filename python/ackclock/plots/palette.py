"""Colours and line styles: each flow and each link has one colour in all figures of a run.

Flows take the vivid colours of Okabe and Ito ("Color universal design", 2008) without the yellow,
which is too pale for lines on white; links take a muted family chosen for the largest distance to
each other and to the flows as seen with normal and with colour-blind eyes. The dark look has
lighter relatives of both. A test measures these distances, and the contrast with the ground.

`palette.INK` and its like are those of the look in force, which `shown` sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

_K = TypeVar("_K")


@cache
def looks() -> dict[str, dict[str, Any]]:
    """Return the looks; what one does not name is as in the light look."""
    import tomllib

    text = Path(__file__).with_name("looks.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    return {name: found["light"] | look for name, look in found.items()}


_LOOK: ContextVar[str] = ContextVar("look", default="light")


def __getattr__(name: str) -> Any:
    """Return a colour of the look in force, such as `palette.INK`."""
    # Python asks for `__path__` when something is imported from here: no reason to read the looks.
    if not name.isupper() or name not in _look():
        raise AttributeError(name)
    return _look()[name]


def _look() -> dict[str, Any]:
    return looks()[_LOOK.get()]


@contextmanager
def shown(look: str) -> Iterator[dict[str, Any]]:
    """Put a look in force within this context."""
    token = _LOOK.set(look)
    try:
        yield looks()[look]
    finally:
        _LOOK.reset(token)


LineStyle = Literal["solid", "dashed", "dotted"]

DASHES: dict[LineStyle, Any] = {
    "solid": "-",
    "dashed": (0, (2.2, 1.2)),
    "dotted": (0, (1.0, 1.5)),
}
"""Line styles as matplotlib takes them; the same in panels and in their legends."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Marks of points, for what differs besides its colour."""

_MANY = 300
"""More marks than this in a panel hide each other."""


def mark_style(count: int, size: float) -> dict[str, Any]:
    """How marks are drawn of which a panel has this many; `size` is that of few, in points.

    A rim keeps few marks apart. Rims of many would erase all beneath them: these have none, are
    smaller and let others shine through, so that dense regions are dark.
    """
    if count <= _MANY:
        return {"ms": size, "mew": 0.5, "mec": _look()["GROUND"]}
    return {"ms": 0.5 * size, "mew": 0.0, "alpha": 0.35}


def flow_colors(flows: Sequence[str], drawn: Sequence[str]) -> dict[str, str]:
    """A colour for each drawn flow of a run with these flows.

    Up to eight flows get the well separated colours, by their place in the run, so that a
    selection keeps its colours. With more flows, a selection of up to eight gets these colours by
    its own order, and a larger one steps of one ramp from dark blue to amber, in which neighbours
    in the list are neighbours in colour.
    """
    vivid: Sequence[str] = _look()["FLOWS"]
    few = flows if len(flows) <= len(vivid) else drawn
    if len(few) <= len(vivid):
        colors = dict(zip(few, vivid, strict=False))
        return {name: colors[name] for name in drawn}
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ramp = colormaps["plasma"]
    low, high = _look()["RAMP"]
    step = (high - low) / (len(flows) - 1)
    place = {name: i for i, name in enumerate(flows)}
    shades = ramp([low + step * place[name] for name in drawn])
    # A ramp has 256 colours.
    hex_of = {shade: to_hex(shade).upper() for shade in set(map(tuple, shades.tolist()))}
    return {name: hex_of[tuple(shade)] for name, shade in zip(drawn, shades.tolist(), strict=True)}


def link_colors(keys: Sequence[_K]) -> dict[_K, str]:
    """A colour for each of these links or directions of links, the clearest colours first.

    Beyond ten the colours repeat: what stands in one legend has to stand among the first ten.
    """
    muted: Sequence[str] = _look()["LINKS"]
    return {key: muted[i % len(muted)] for i, key in enumerate(keys)}


def text_on(color: str) -> str:
    """White or dark ink, whichever reads better on a ground of `color` (`#RRGGBB`)."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # Dark ink has more contrast from 0.18 on by WCAG 2, but white reads better on full colours.
    return looks()["light"]["INK"] if luminance > 0.27 else "#FFFFFF"
