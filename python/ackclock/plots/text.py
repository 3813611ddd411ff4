"""Widths of texts on paper, and the breaking of long ones into lines."""

from __future__ import annotations

from functools import cache
from unicodedata import east_asian_width

from matplotlib.ft2font import LoadFlags

from .fonts import own

MM_PER_POINT = 25.4 / 72
_POINTS = 100.0
"""Size at which glyphs are measured, without hints: widths grow with the size."""


def width_mm(text: str, size: float, weight: str = "normal") -> float:
    """Width of one line of text at `size` points.

    It is the sum of the advances of its glyphs: a line that is kerned is a little shorter.
    """
    return sum(_advance(glyph, weight) for glyph in text) * size * MM_PER_POINT


@cache
def _advance(glyph: str, weight: str) -> float:
    """Advance of a glyph for each point of its size, in points."""
    font = own(weight)
    font.set_size(_POINTS, 72)
    index = font.get_char_index(ord(glyph))
    if not index and east_asian_width(glyph) in "WF":
        return 1.0  # from another font
    measured = font.load_glyph(index, LoadFlags.NO_HINTING)
    return measured.linearHoriAdvance / 65536 / _POINTS


def lines(text: str, limit_mm: float, size: float, weight: str = "normal") -> list[str]:
    """`text` broken at spaces into lines of at most `limit_mm`; a longer word loses its middle.

    A no-break space is not a place to break.
    """
    broken: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line and width_mm(longer, size, weight) > limit_mm:
            broken.append(short(line, limit_mm, size, weight))
            line = word
        else:
            line = longer
    return [*broken, short(line, limit_mm, size, weight)] if line else broken


def short(text: str, limit_mm: float, size: float, weight: str = "normal") -> str:
    """`text` if it fits into `limit_mm`, else its beginning and its end, as names differ there."""
    kept, shown = len(text), text
    while kept > 2 and width_mm(shown, size, weight) > limit_mm:
        kept -= 1
        # A name such as "S1 … S1000" needs no second ellipsis.
        begin, end = text[: kept // 2], text[len(text) - (kept - kept // 2) :]
        shown = f"{begin.rstrip(' …')}…{end.lstrip(' …')}"
    return shown


def cut(text: str, limit_mm: float, size: float, weight: str = "normal") -> str:
    """`text` if it fits into `limit_mm`, else its beginning with an ellipsis."""
    if width_mm(text, size, weight) <= limit_mm:
        return text
    while text and width_mm(text + "…", size, weight) > limit_mm:
        text = text[:-1]
    return text + "…"
