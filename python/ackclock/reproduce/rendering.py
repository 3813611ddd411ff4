"""Show a report: as tables on a terminal, and as Markdown for the documentation."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from ackclock.reproduce.report import Case, Group, Report, Row, Tolerance, Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_COLOURS = {
    Verdict.AGREES: "green",
    Verdict.EXPLAINED: "yellow",
    Verdict.DIFFERS: "bold red",
    Verdict.INSIDE: "cyan",
    Verdict.OUTSIDE: "magenta",
    Verdict.NOT_REPRODUCIBLE: "magenta",
    Verdict.NOT_MODELLED: "magenta",
}
_LEAST_NAME = 20
"""A name gets at least this many columns of the terminal; longer ones are wrapped."""

_SPARE = ("tolerance", "over orders", "predicted", "median")
"""Columns that a narrow terminal does without; the notes, JSON and Markdown have them all."""


def render(report: Report, console: Console) -> None:
    """Print a report: tables, the reasons of what differs, and the sum at the end."""
    from rich.markup import escape

    console.print(f"[bold]{escape(report.title)}[/bold]\n{escape(report.source)}\n")
    for note in report.notes:
        console.print(escape(note))
    for case in report.cases:
        _render_case(case, console)
    console.print(f"\n[bold]{escape(counted(report.counts()))}[/bold]")
    for case, row in report.failures:
        console.print(f"[red]{escape(f'{case.title}: {row.what} differs')}[/red]")


def _render_case(case: Case, console: Console) -> None:
    from rich.markup import escape

    console.print(f"\n[bold]{escape(case.title)}[/bold]  [dim]{escape(_command(case))}[/dim]")
    console.print(escape(case.about))
    reasons = _reasons(case)
    widths = _widths(case, reasons)
    for group in case.groups:
        console.print(f"\n[bold]{escape(group.title)}[/bold]  [dim]{escape(_source(group))}[/dim]")
        _render_group(case, group, console, reasons, widths)
    for reason, number in reasons.items():
        console.print(escape(f"({number}) {reason}"))


def _widths(case: Case, reasons: dict[str, int]) -> dict[str, int]:
    """Return the width of each column, the same for all groups so that they align."""
    widths: dict[str, int] = {}
    for group in case.groups:
        columns = _columns(case, group)
        for cells in (columns, *(_cells(case, group, row, reasons) for row in group.rows)):
            for column, cell in zip(columns, cells, strict=True):
                widths[column] = max(widths.get(column, 0), len(cell))
    return widths


def _render_group(
    case: Case, group: Group, console: Console, reasons: dict[str, int], widths: dict[str, int]
) -> None:
    from rich.markup import escape

    every = _columns(case, group)
    shown = _fitting(every, widths, console.width)
    table = terminal_table()
    for column in shown:
        is_name = column == every[0]
        width = _name_width(shown, widths, console.width) if is_name else widths[column]
        left = is_name or column == every[-1]
        table.add_column(
            column, justify="left" if left else "right", width=width, no_wrap=not is_name
        )
    for row in group.rows:
        cells = dict(zip(every, map(escape, _cells(case, group, row, reasons)), strict=True))
        cells[every[-1]] = f"[{_COLOURS[row.verdict]}]{cells[every[-1]]}[/]"
        table.add_row(*(cells[column] for column in shown))
    console.print(table)


def terminal_table() -> Table:
    """Return an empty table without lines but that below its head."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, padding=0)


def _name_width(columns: list[str], widths: dict[str, int], total: int) -> int:
    """Return what a terminal leaves for names next to all other columns."""
    return min(widths[columns[0]], total - 2 - sum(widths[column] + 1 for column in columns[1:]))


def _fitting(columns: list[str], widths: dict[str, int], total: int) -> list[str]:
    """Leave out columns, the least important first, until names have room."""
    shown = list(columns)
    for column in _SPARE:
        if column in shown and _name_width(shown, widths, total) < _LEAST_NAME:
            shown.remove(column)
    return shown


def markdown(report: Report) -> str:
    """Return a report as Markdown, without a heading of the first level."""
    parts = [report.source, *report.notes, _overview(report)]
    for case in report.cases:
        parts += [f"## {case.title}", f"`{_command(case)}`", case.about]
        if case.spread:
            parts.append(f"Orders of simultaneous events: {case.spread}.")
        parts += [_markdown_group(case, group) for group in case.groups]
        parts += [f"({number}) {reason}" for reason, number in _reasons(case).items()]
    return "\n\n".join(parts) + "\n"


def _overview(report: Report) -> str:
    shown = [verdict for verdict in Verdict if any(row.verdict is verdict for row in report.rows)]
    lines = [["case", *(verdict.value for verdict in shown)]]
    for case in report.cases:
        lines.append([case.title, *(str(case.count(verdict) or "") for verdict in shown)])
    return markdown_table(lines, (0, len(shown)))


def _markdown_group(case: Case, group: Group) -> str:
    reasons = _reasons(case)
    lines = [_columns(case, group), *(_cells(case, group, row, reasons) for row in group.rows)]
    table = markdown_table(lines, (0, len(lines[0]) - 1))
    return f"**{group.title}** ({_source(group)})\n\n{table}"


def markdown_table(lines: Sequence[Sequence[str]], left: Container[int]) -> str:
    """Return lines, the first of them the head, as Markdown; figures but in the columns `left`."""
    rule = ["---" if place in left else "---:" for place in range(len(lines[0]))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (lines[0], rule, *lines[1:]))


def _columns(case: Case, group: Group) -> list[str]:
    predicted = ["predicted"] if _has_prediction(group) else []
    head = ["figure", *predicted, "paper", "original"]
    if _is_spread(case):
        return [*head, "min", "median", "max", "verdict"]
    orders = ["over orders"] if case.spread else []
    return [*head, "ours", "diff.", "tolerance", *orders, "verdict"]


def _cells(case: Case, group: Group, row: Row, reasons: dict[str, int]) -> list[str]:
    predicted = [_number(row.predicted)] if _has_prediction(group) else []
    paper, original = _number(row.paper, row.tolerance), _between(row.original, row.tolerance)
    head = [_name(group, row), *predicted, paper, original]
    verdict = f"{row.verdict}{_mark(row, reasons)}"
    values = row.spread.values if row.spread else ()
    if _is_spread(case):
        spread = (row.spread.low, row.spread.middle, row.spread.high) if row.spread else (None,) * 3
        return [*head, *(_number(value) for value in spread), verdict]
    orders = [_between(values)] if case.spread else []
    ours = _number(row.ours, row.tolerance)
    return [*head, ours, _difference(row), row.tolerance.text(), *orders, verdict]


def _is_spread(case: Case) -> bool:
    return any(row.by_spread for row in case.rows)


def _has_prediction(group: Group) -> bool:
    return any(row.predicted is not None for row in group.rows)


def _source(group: Group) -> str:
    """Where most figures of a group stand, and how they were read."""
    sources = [_read(row) for row in group.rows if row.source]
    return max(sources, key=sources.count) if sources else "original program"


def _read(row: Row) -> str:
    return f"{row.source}, {row.read}"


def _name(group: Group, row: Row) -> str:
    name = f"{row.what}, {row.unit}" if row.unit else row.what
    elsewhere = row.source and _read(row) != _source(group)
    return f"{name} ({_read(row)})" if elsewhere else name


def _between(values: tuple[float, ...], tolerance: Tolerance | None = None) -> str:
    if not values:
        return ""
    low, high = _number(min(values), tolerance), _number(max(values), tolerance)
    return low if low == high else f"{low}–{high}"


def _difference(row: Row) -> str:
    difference = row.difference
    if difference is None:
        return ""
    if abs(difference) < 1e-9:
        return "0"
    if row.figure == 0 or not row.tolerance.relative:
        return f"{difference:+.2g}"
    return f"{difference / row.figure * 100:+.1f} %"


def _number(value: float | None, tolerance: Tolerance | None = None) -> str:
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "never"
    if tolerance is not None and tolerance.absolute and not tolerance.relative:
        decimals = math.ceil(-math.log10(2 * tolerance.absolute))
        if decimals > 3 or (decimals >= 0 and abs(value) >= 1e4):
            # What is compared to so many digits is shown with them.
            return f"{value:.{decimals}f}"
    exact = tolerance is not None and not tolerance.absolute and not tolerance.relative
    if exact and value == int(value):
        return f"{value:.0f}"
    # Four digits, but no more than three after the point: what is nearly zero is no better known.
    return f"{round(value, 3):.4g}"


def _reasons(case: Case) -> dict[str, int]:
    """Reasons of the rows that need one, numbered."""
    needed = [row.reason for row in case.rows if row.reason and row.verdict is not Verdict.AGREES]
    return {reason: number for number, reason in enumerate(dict.fromkeys(needed), 1)}


def _mark(row: Row, reasons: dict[str, int]) -> str:
    shown = row.reason and row.verdict is not Verdict.AGREES
    return f" ({reasons[row.reason]})" if shown and row.reason else ""


def _command(case: Case) -> str:
    options = [f"--set '{option}'" for option in case.overrides]
    return " ".join(["ackclock run", case.scenario, *options])


def counted(verdicts: Mapping[str, int]) -> str:
    """Return in words how many rows have each verdict."""
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
