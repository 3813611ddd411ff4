"""Figures and files: the formats, the look, and bytes that depend on the figure alone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import figure

from . import palette
from .errors import unknown
from .fonts import for_all_scripts
from .options import Options

FORMATS = ("png", "svg", "pdf")
_PNG_PIXELS = 1200
_STYLE_PIXELS = {"slides": 1920}
"""Pixels across where a style is not for a screen beside other things."""
_SCREEN = 96
"""Pixels of a screen in an inch, as browsers count them."""

_COLORS = {
    "text.color": "INK",
    "axes.labelcolor": "FAINT_INK",
    "axes.edgecolor": "RULE",
    "grid.color": "GRID",
    "xtick.color": "RULE",
    "ytick.color": "RULE",
    "xtick.labelcolor": "FAINT_INK",
    "ytick.labelcolor": "FAINT_INK",
}
"""Which colour of the palette matplotlib takes for what."""


def require_format(name: str) -> None:
    """Check that figures can be written so.

    Raises:
        PlotError: there is no such format.
    """
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)


class Figure(figure.Figure):
    """A figure that a notebook shows as a picture, though matplotlib knows nothing of notebooks."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, bytes], dict[str, Any]]:
        picture = io.BytesIO()
        inches = self.get_size_inches()[0]
        self.savefig(picture, format="png", dpi=_PNG_PIXELS / inches)
        return {"image/png": picture.getvalue()}, {"image/png": {"width": round(inches * _SCREEN)}}


@contextmanager
def style(options: Options | None = None) -> Iterator[None]:
    """Give figures that are drawn or saved within this context the look of the package."""
    asked = options or Options()
    with palette.shown(asked.style) as look, mpl.rc_context(_look()):
        colors = {part: look[color] for part, color in _COLORS.items()}
        ground = "none" if asked.transparent else look["GROUND"]
        colors |= dict.fromkeys(("figure.facecolor", "axes.facecolor"), ground)
        for part, color in colors.items():
            mpl.rcParams[part] = color
        yield


@cache
def _look() -> Any:
    """The settings of the package over matplotlib's own, whatever a user's file says."""
    with resources.as_file(resources.files("ackclock.plots") / "ackclock.mplstyle") as path:
        found = mpl.rc_params_from_file(path)
    # The backend is not ours to choose: figures are saved without one.
    return {name: value for name, value in found.items() if name != "backend"}


def save(
    drawn: figure.Figure,
    path: Path,
    title: str,
    creator: str = "Ackclock",
    options: Options | None = None,
) -> None:
    """Write a figure without anything that differs between two runs of this program.

    Args:
        drawn: The figure.
        path: The file; its suffix is one of `FORMATS`.
        title: What the file says that it shows.
        creator: What the file says that it was made by.
        options: Their style decides how many pixels a picture has.

    Raises:
        OSError: the file cannot be written.
    """
    kind = path.suffix[1:].lower()
    maker = "Software" if kind == "png" else "Creator"
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    metadata = {maker: creator, "Title": title, **undated}
    inches = drawn.get_size_inches()[0]
    asked = options or Options()
    pixels = _STYLE_PIXELS.get(asked.style, _PNG_PIXELS)
    with style(), for_all_scripts(drawn):
        drawn.savefig(path, format=kind, dpi=pixels / inches, metadata=metadata)
