"""Show the kernel's figures beside ours: on a terminal, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ackclock.reproduce.linux.score import METRICS, KernelReport, Row, Score
from ackclock.reproduce.rendering import counted, markdown_table, terminal_table

if TYPE_CHECKING:
    from rich.console import Console

_MOST_MISSES = 60
"""At most this many misses are shown on a terminal; JSON and Markdown have all."""

_HEAD = ("scenario", "figure", "kernel", "range", "ours", "tolerance", "off by")


def render(report: KernelReport, console: Console) -> None:
    """Print a report: scores by algorithm, what differs, comparisons of single runs."""
    from rich.markup import escape

    console.print(f"[bold]{escape(report.title)}[/bold]\n{escape(report.source)}\n")
    for note in report.notes:
        console.print(escape(note))
    _render_scores(report, console)
    _render_misses(report, console)
    for look in report.looks:
        console.print(look.text(), markup=False, highlight=False, soft_wrap=True)
    console.print(f"\n[bold]{escape(_sum(report))}[/bold]")


def _render_scores(report: KernelReport, console: Console) -> None:
    table = terminal_table()
    table.add_column("within tolerance", justify="left")
    for heading in ("required", *report.algorithms):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, scores in _lines(report).items():
        cells = []
        for algorithm in report.algorithms:
            score = scores.get(algorithm)
            colour = "" if score is None else _colour(score)
            cells.append(f"[{colour}]{_cell(score)}[/]" if colour else _cell(score))
        table.add_row(name, _required(scores), *cells)
    console.print(table)


def _colour(score: Score) -> str:
    if score.criterion.required is None:
        return ""
    return "green" if score.passes else "bold red"


def _lines(report: KernelReport) -> dict[str, dict[str, Score]]:
    """Return the scores by criterion and algorithm."""
    lines: dict[str, dict[str, Score]] = {}
    for score in report.scores():
        lines.setdefault(score.criterion.name, {})[score.algorithm] = score
    return lines


def _required(scores: dict[str, Score]) -> str:
    required = next(iter(scores.values())).criterion.required
    return f"{required * 100:.0f} %" if required is not None else "not judged"


def _cell(score: Score | None) -> str:
    if score is None:
        return ""
    if not score.modelled:
        return "not modelled"
    verdict = "" if score.criterion.required is None else " yes" if score.passes else " no"
    return f"{score.met}/{score.total} {math.floor(score.share * 100)} %{verdict}"


def _render_misses(report: KernelReport, console: Console) -> None:
    from rich.markup import escape

    present = [row for row in report.misses if row.ours is not None or not row.reason]
    if present:
        table = terminal_table()
        for heading in _HEAD:
            left = heading in ("scenario", "figure")
            table.add_column(heading, justify="left" if left else "right", no_wrap=not left)
        for row in present[:_MOST_MISSES]:
            table.add_row(*map(escape, _miss(row)))
        console.print("\n[bold]Outside the tolerance[/bold]")
        console.print(table)
        if len(present) > _MOST_MISSES:
            console.print(f"and {len(present) - _MOST_MISSES} more; --json has all.")
    for reason, names in absent(report).items():
        console.print(escape(f"\nNot modelled, {reason}: {', '.join(names)}"))


def absent(report: KernelReport) -> dict[str, list[str]]:
    """Return the scenarios that could not be run, by reason."""
    found: dict[str, list[str]] = {}
    for row in report.rows:
        if row.reason and row.scenario.name not in found.setdefault(row.reason, []):
            found[row.reason].append(row.scenario.name)
    return found


def _miss(row: Row) -> tuple[str, ...]:
    unit = METRICS.get(row.metric, ("", ""))[1]
    kernel = row.kernel
    span = number(kernel.least)
    if kernel.least != kernel.most:
        span = f"{span}–{number(kernel.most)}"
    return (
        row.scenario.name,
        f"{row.what}, {unit}" if unit else row.what,
        number(kernel.median),
        span,
        "none" if row.ours is None else number(row.ours),
        number(kernel.tolerance),
        f"{row.off:.1f} x" if math.isfinite(row.off) else "",
    )


def number(value: float) -> str:
    """Return a figure with four digits, whole numbers with all of theirs."""
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}"


def markdown(report: KernelReport) -> str:
    """Return a report as Markdown, without a heading of the first level."""
    parts = [report.source + ".", *report.notes, scores_table(report)]
    if report.misses:
        parts += ["## Outside the tolerance", misses_table(report.misses)]
    parts += [
        f"Not modelled, {reason}: {', '.join(f'`{name}`' for name in names)}."
        for reason, names in absent(report).items()
    ]
    return "\n\n".join(parts) + "\n"


def scores_table(report: KernelReport) -> str:
    """Return the scores as a table of Markdown."""
    lines = [["figures within tolerance", "required", *report.algorithms]]
    for name, scores in _lines(report).items():
        cells = (_cell(scores.get(algorithm)) for algorithm in report.algorithms)
        lines.append([name, _required(scores), *cells])
    return markdown_table(lines, (0,))


def misses_table(misses: Sequence[Row]) -> str:
    """Return what differs as a table of Markdown, without what could not be run."""
    present = [row for row in misses if row.ours is not None or not row.reason]
    whys = list(dict.fromkeys(row.why for row in present if row.why))
    numbers = {why: f"({number})" for number, why in enumerate(whys, 1)}
    rows = [[*_miss(row), numbers.get(row.why, "not known")] for row in present]
    table = markdown_table([[*_HEAD, "why"], *rows], (0, 1))
    return "\n\n".join([table, *(f"{numbers[why]} {why}" for why in whys)])


def _sum(report: KernelReport) -> str:
    low = [score for score in report.scores() if not score.passes]
    return (
        f"{counted(report.counts())}; {len(low)} of {len(list(report.scores()))} scores are too low"
    )
