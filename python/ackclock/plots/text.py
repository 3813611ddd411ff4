"""Widths of texts on paper, and the breaking of long ones into lines."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

MM_PER_POINT = 25.4 / 72

_RULER = TextToPath()


@lru_cache(maxsize=4096)
def width_mm(text: str, size: float, weight: str = "normal") -> float:
    """Width of one line of text at `size` points."""
    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)
    width, _, _ = _RULER.get_text_width_height_descent(text, font, ismath=False)
    return float(width) * MM_PER_POINT


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
