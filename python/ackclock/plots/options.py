"""What can be asked of plots besides the flows and links to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from ackclock.errors import flag_of, names_of, number_of, pairs_of, text_of

from .errors import PlotError, unknown

Style = Literal["light", "dark", "paper", "slides"]
STYLES: tuple[Style, ...] = get_args(Style)
WIDTHS_MM = (60.0, 600.0)
NAMED_WIDTHS_MM = {"page": 180.0, "column": 88.0}
"""The width of a page, and of one column of two."""
_STYLE_WIDTHS_MM = {"slides": 127.0}
"""Where a style is not as wide as a page: half a slide of 254 mm, so that its text is twice as
large when the picture fills the slide."""
_TEXTS = dict.fromkeys(("x", "y", "lines"), "links.L1.rate")
_TEXTS |= {"value": "goodput_bps", "what": "flows", "aggregate": "p95"}
LOOK = ("width_mm", "style", "transparent")
"""The options that every plot knows."""


@dataclass(frozen=True)
class Options:
    """Plot options. All plots know those of `LOOK`; which others, each plot says in the registry.

    Attributes:
        width_mm: Width on paper, 60 to 600 mm: 180 fills a page, 88 one column of two; default as
            suits the style: 127 for slides, else 180.
        style: `light`; `dark` for screens and slides with a dark ground; `paper` with black text
            and stronger lines for print; `slides` with text twice as large, as half a slide.
        transparent: Leave the ground of the figure out.
        modulo: Sequence numbers start again from 0 after this many segments, as in the labs of
            BYU CS 460 (50) and in Fall and Floyd's comparison of Tahoe, Reno and SACK (1996; 60).
        together: All flows in one figure, or one figure for each; default as suits the plot.
        sliding: Show the rate over the last second as well.
        bin_s: Width of the bins for rates, seconds.
        from_s: Begin the time axis here, seconds; default the start of the run, for figures
            of delays the end of the warm-up.
        to_s: End the time axis here, seconds; default the end of the run.
        overlay: Files with measurements to lay over windows, data in flight and round-trip times,
            as `FILE` for the first flow drawn or `FLOW=FILE` (`ackclock.measured`).
        x: Axis of a sweep that runs along the horizontal axis; default as suits the sweep. Of
            `scatter` a column of results.
        y: Axis of a sweep that runs along the vertical axis of a heat map. Of `scatter` a column of
            results.
        lines: Axis of a sweep with a line for each of its values; `flow` for a line for each flow.
        facets: Axes of a sweep with a panel for each combination of their values; one name or
            several, of which `flow` may be one.
        value: Column of the results of a sweep to show; default `goodput_bps`.
        what: `runs`, or `flows` to take results of flows; default `runs`, where runs have them.
        aggregate: What is made of several values, a word of `tables.AGGREGATES`, such as `p95`;
            default their mean.
        where: Values of axes of a sweep to show, as text, such as `{"window": ["8000 B"]}`; default
            all.

    Raises:
        PlotError: a value that makes no sense.
    """

    width_mm: float | None = None
    style: Style = "light"
    transparent: bool = False
    modulo: int | None = None
    together: bool | None = None
    sliding: bool = False
    bin_s: float | None = None
    from_s: float | None = None
    to_s: float | None = None
    overlay: Sequence[str] = ()
    x: str | None = None
    y: str | None = None
    lines: str | None = None
    facets: Sequence[str] | None = None
    value: str | None = None
    what: str | None = None
    aggregate: str | None = None
    where: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, Sequence[str]]] = ()

    def __post_init__(self) -> None:
        for name in ("width_mm", "modulo", "bin_s", "from_s", "to_s"):
            object.__setattr__(self, name, number_of(name, getattr(self, name)))
        for name, such_as in _TEXTS.items():
            text_of(name, getattr(self, name), such_as)
        for name in ("transparent", "sliding", "together"):
            if getattr(self, name) is not None:
                flag_of(name, getattr(self, name))
        if not isinstance(self.style, str) or self.style not in STYLES:
            raise unknown("style", self.style, STYLES)
        if not WIDTHS_MM[0] <= self.page_mm <= WIDTHS_MM[1]:
            low, high = WIDTHS_MM
            raise PlotError(f"a figure of {self.width_mm:g} mm: allowed are {low:g} to {high:g} mm")
        pairs = self.where.items() if isinstance(self.where, Mapping) else self.where
        chosen = [(name, _words("where", values)) for name, values in pairs_of("where", pairs)]
        for name, _ in chosen:
            text_of("where", name, "links.L1.rate")
        object.__setattr__(self, "where", tuple(chosen))
        object.__setattr__(self, "overlay", _words("overlay", self.overlay))
        if self.facets is not None:
            object.__setattr__(self, "facets", _words("facets", self.facets))
        if self.modulo is not None and self.modulo < 2:
            raise PlotError(f"sequence numbers modulo {self.modulo}: take 2 or more, such as 50")
        if self.bin_s is not None and not self.bin_s > 0:
            raise PlotError(f"bins of {self.bin_s:g} s: their width must be above 0 s")
        begin, end = self.from_s or 0.0, self.to_s
        if begin < 0 or (end is not None and not end > begin):
            shown = "the end" if end is None else f"{end:g} s"
            raise PlotError(f"a time axis from {begin:g} s to {shown}: there is no such time")

    @property
    def page_mm(self) -> float:
        """The width on paper, as asked for or as suits the style, mm."""
        if self.width_mm is not None:
            return self.width_mm
        return _STYLE_WIDTHS_MM.get(self.style, NAMED_WIDTHS_MM["page"])

    def asked(self) -> list[str]:
        """Names of the options that not all plots know and that differ from their defaults."""
        return [
            field.name
            for field in fields(self)
            if field.name not in LOOK and getattr(self, field.name) != field.default
        ]


def _words(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(names_of(name, value, "F1"))
