"""Fonts for names in scripts that the font of figures lacks: Chinese, Hindi, Thai, ..."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from matplotlib import figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

_LOGGER = logging.getLogger("ackclock")
_BOXES = "Last Resort"
"""Begins the name of a font that comes with matplotlib and has only boxes, one for each script."""


@cache
def own(weight: str = "normal") -> FT2Font:
    """Return the font of figures."""
    return get_font(findfont(FontProperties(family="DejaVu Sans", weight=weight)))


@contextmanager
def for_all_scripts(drawn: figure.Figure) -> Iterator[None]:
    """Have texts painted in fonts of this machine where they need them.

    Says once which characters no font has: boxes stand for them.
    """
    lacking = {text: _lacking(text.get_text()) for text in drawn.findobj(Text)}
    characters = "".join(sorted(set().union(*lacking.values())))
    if not characters:
        yield
        return
    with _quiet():
        for text in (text for text, some in lacking.items() if some):
            text.set_fontfamily(["sans-serif", *_families(characters)])
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what matplotlib says of each character that it lacks, and of weights of fonts."""
    manager = logging.getLogger("matplotlib.font_manager")
    level = manager.level
    manager.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
            yield
    finally:
        manager.setLevel(level)


def _lacking(words: str) -> set[str]:
    """Return the characters that the font of figures does not have."""
    others = {c for c in words if not c.isascii()}
    return {c for c in others if not own().get_char_index(ord(c))}


@cache
def _families(characters: str) -> tuple[str, ...]:
    """Fonts that have these characters, those that have most of them first."""
    left, chosen = set(characters), []
    while left:
        has = {name: left & found for name, found in _found(characters).items()}
        # Upright ones without serifs have that in their names, mostly; the first by name of equals.
        best = max(has, key=lambda name: (len(has[name]), "Sans" in name), default="")
        if not best or not has[best]:
            _LOGGER.warning(
                "no font here has the characters %s: in figures, boxes stand for them. With a font "
                "that has them they are shown, such as one of the Noto family",
                " ".join(sorted(left)),
            )
            break
        chosen.append(best)
        left -= has[best]
    return tuple(chosen)


@cache
def _found(characters: str) -> dict[str, set[str]]:
    """Which of the characters each font of this machine has, by family."""
    found = {}
    for name in sorted({entry.name for entry in fontManager.ttflist}):
        if not name.startswith(_BOXES):
            font = get_font(findfont(FontProperties(family=name)))
            found[name] = {c for c in characters if font.get_char_index(ord(c))}
    return found
