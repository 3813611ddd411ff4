"""A card as one page: HTML that asks nobody for anything, or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.errors import InputError
from ackclock.packaged import filled
from ackclock.plots.palette import looks

if TYPE_CHECKING:
    from ackclock.conformance import Card

_HERE = Path(__file__).parent
_SIGNS = {"passed": "✓", "failed": "✗", "skipped": "–"}
_WIDTH, _HEIGHT = 640, 150


def writer(path: Path) -> Callable[[Card], str]:
    """Return what makes the text of a page with this suffix.

    Raises:
        InputError: there is no such kind of page, or no such folder.
    """
    kinds = {".html": html, ".htm": html, ".md": markdown}
    if path.suffix.lower() not in kinds:
        raise InputError(f"'{path}' is neither .html nor .md; the suffix sets the format")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder '{path.parent}'; choose another place (--out)")
    return kinds[path.suffix.lower()]


def figure(value: float | None) -> str:
    """Return a figure of the scorecard as people read it."""
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def verdict(card: Card) -> str:
    """Return the outcome of the suite in a sentence."""
    counts = {kind: sum(c.verdict == kind for c in card.checks) for kind in _SIGNS}
    words = [f"{counts['passed']} of {len(card.checks)} checks passed"]
    words += [f"{counts[kind]} {kind}" for kind in ("failed", "skipped") if counts[kind]]
    return ", ".join(words) + "."


def markdown(card: Card) -> str:
    """Return the card as Markdown."""
    lines = [f"# Congestion control: {card.subject}", "", verdict(card), "", "## Conformance", ""]
    rows = [(_SIGNS[c.verdict], c.name, c.expected, c.seen, c.place or "") for c in card.checks]
    lines += _table(("", "Check", "Expected", "Seen", "Where"), rows)
    if card.flaws:
        lines += ["", "## Warnings", ""]
        lines += [f"- {card.origin}:{f.line}: {f.message} ({f.hint})" for f in card.flaws]
    names = list(card.scores[0].values)
    rows = [
        (_named(s.name, s.unit), *(figure(s.values[n]) for n in names), _best(s.best), s.meaning)
        for s in card.scores
    ]
    lines += ["", "## Scorecard", ""]
    lines += _table(("Score", *names, "Best", "Meaning"), rows)
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines]


def _named(name: str, unit: str) -> str:
    return f"{name}, {unit}" if unit else name


def _best(best: str | float) -> str:
    return best if isinstance(best, str) else figure(best)


def html(card: Card) -> str:
    """Return the card as a page for a browser."""
    names = list(card.scores[0].values)
    checks = "".join(
        f'<tr class="{c.verdict}"><td class="sign" title="{c.verdict}">{_SIGNS[c.verdict]}</td>'
        f"<td>{escape(c.name)}<small>{escape(c.expected)}</small></td>"
        f"<td>{escape(c.seen)}{f'<code>{escape(c.place)}</code>' if c.place else ''}</td></tr>"
        for c in card.checks
    )
    scores = "".join(
        f"<tr><td>{escape(_named(s.name, s.unit))}<small>{escape(s.meaning)}</small></td>"
        + "".join(_bar(s.values[n], s.values.values(), i) for i, n in enumerate(names))
        + f"<td class=best>{escape(_best(s.best))}</td></tr>"
        for s in card.scores
    )
    warnings = "".join(
        f"<li><code>{escape(str(card.origin))}:{f.line}</code> {escape(f.message)}"
        f"<small>{escape(f.hint)}</small></li>"
        for f in card.flaws
    )
    parts = {
        "title": escape(f"{card.subject}: conformance and scorecard"),
        "style": _style(len(names)),
        "subject": escape(card.subject),
        "origin": f" <small>{escape(card.origin)}</small>" if card.origin else "",
        "state": "passed" if card.conforms else "failed",
        "verdict": escape(verdict(card)),
        "curves": _curves(card),
        "heads": "".join(f"<th>{escape(name)}</th>" for name in names),
        "scores": scores,
        "checks": checks,
        "warned": f"<h2>Warnings</h2><ul>{warnings}</ul>" if warnings else "",
    }
    return filled(_HERE / "card.html", parts)


def _bar(value: float | None, values: Iterable[float | None], place: int) -> str:
    most = max((v for v in values if v is not None), default=0.0)
    if value is None or not most:
        return f"<td class=figure>{figure(value)}</td>"
    width = round(100 * value / most)
    return (
        f'<td class="figure">{figure(value)}'
        f'<span class="bar c{place}" style="width:{width}%"></span></td>'
    )


def _curves(card: Card) -> str:
    """Return the windows of all algorithms as curves on one scale."""
    if not card.windows:
        return "<p>None: the run has failed.</p>"
    # A first burst of slow start must not flatten all the rest.
    largest = max(max(curve) for curve in card.windows.values())
    top = _round_up(largest)
    names = list(card.scores[0].values)
    lines, keys = [], []
    for name, curve in reversed(list(card.windows.items())):
        place = names.index(name)
        step = _WIDTH / len(curve)
        points = " ".join(
            f"{(i + 1) * step:.1f},{_HEIGHT - value / top * _HEIGHT:.1f}"
            for i, value in enumerate(curve)
        )
        lines.append(f'<polyline class="s{place}" points="{points}"/>')
        keys.insert(0, f'<span class="key c{place}"></span>{escape(name)}')
    grid = "".join(
        f'<line class="grid" x1="0" x2="{_WIDTH}" y1="{y}" y2="{y}"/>'
        f'<text x="-6" y="{y + 4}" text-anchor="end">{top * (1 - y / _HEIGHT):g}</text>'
        for y in (0, _HEIGHT // 2, _HEIGHT)
    )
    ticks = "".join(
        f'<text x="{_WIDTH * t / 30:.0f}" y="{_HEIGHT + 18}" text-anchor="middle">{t} s</text>'
        for t in (0, 10, 20, 30)
    )
    return (
        f'<p class="keys">{" ".join(keys)} <small>segments, over 30 s</small></p>'
        f'<svg viewBox="-44 -8 {_WIDTH + 64} {_HEIGHT + 32}" role="img" '
        f'aria-label="Congestion windows when alone">{grid}{ticks}{"".join(lines)}</svg>'
    )


def _round_up(value: float) -> float:
    power = 1.0
    while power < value:
        for factor in (1, 2, 4, 5, 6, 8):
            if factor * power >= value:
                return factor * power
        power *= 10
    return power


def _style(columns: int) -> str:
    def colours(look: str) -> str:
        found = looks()[look]
        flows = "".join(f"--c{i}:{colour};" for i, colour in enumerate(found["FLOWS"]))
        return (
            f"--ink:{found['INK']};--faint:{found['FAINT_INK']};--rule:{found['RULE']};"
            f"--grid:{found['GRID']};--ground:{found['GROUND']};--bad:{found['LOSS']};{flows}"
        )

    places = "".join(
        f".c{i}{{background:var(--c{i})}}.s{i}{{stroke:var(--c{i})}}" for i in range(columns)
    )
    both = {look: colours(look) for look in ("light", "dark")}
    return "\n" + filled(_HERE / "card.css", {**both, "places": places}).rstrip("\n")
