"""`ackclock diff`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from ackclock.cli.terminal import MOST_ROWS, console, print_json, table

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.differences import Difference

_WIDEST = 40


def diff(first: str, second: str, every: bool = False, as_json: bool = False) -> None:
    """Compare two runs: show differences in their scenarios and in their results.

    Scenarios are simulated, without a record. Values of a scenario are named as --set takes them.
    Exit status 0 if both runs are the same to the bit, 1 if they differ, as of diff(1).

    [bold]Examples[/bold]

    [cyan]ackclock diff runs/my-experiment-1 runs/my-experiment-2[/cyan]
    [cyan]ackclock diff teach/rtt-unfairness-reno teach/rtt-unfairness-cubic[/cyan]
    [cyan]ackclock diff my-experiment.yaml runs/my-experiment-1 --all[/cyan]
    """
    from ackclock.differences import is_relevant, of_results, of_scenarios, opened

    runs = [opened(text) for text in (first, second)]
    # One at a time: of very large runs there are millions.
    settings = of_scenarios(*(run.scenario for run in runs))
    settings = (one for one in settings if not one.what.startswith("record"))
    figures = of_results(*runs)
    digests = [run.summary["digest"] for run in runs]
    same = digests[0] == digests[1]
    if as_json:
        print_json(
            {
                "same": same,
                "digests": digests,
                "scenario": [one.to_json() for one in settings],
                "results": [one.to_json() for one in figures],
            }
        )
    else:
        screen = console()
        _print_settings(screen, *_first(settings, lambda _: True))
        _print_figures(screen, *_first(figures, lambda one: every or is_relevant(one)))
        if same:
            screen.print(f"Same run, to the bit: digest {digests[0]}.")
        else:
            screen.print(f"Digests: {digests[0]}, {digests[1]}.")
    if not same:
        raise typer.Exit(1)


def _first(
    found: Iterable[Difference], shows: Callable[[Difference], bool]
) -> tuple[list[Difference], int]:
    """Return the differences that are printed, and the number of the others."""
    shown: list[Difference] = []
    hidden = 0
    for one in found:
        if len(shown) < MOST_ROWS and shows(one):
            shown.append(one)
        else:
            hidden += 1
    return shown, hidden


def _print_settings(screen: Console, settings: Sequence[Difference], hidden: int) -> None:
    from rich.markup import escape

    if not settings:
        screen.print("The scenarios are the same.")
        return
    shown = table("Scenario", "First", "Second")
    for one in settings:
        shown.add_row(escape(one.what), *(escape(_word(v)) for v in (one.first, one.second)))
    screen.print(shown)
    if hidden:
        screen.print(f"[dim]{hidden} more values differ (--json).[/dim]")


def _print_figures(screen: Console, figures: Sequence[Difference], hidden: int) -> None:
    from rich.markup import escape

    if figures:
        screen.print()
        shown = table("Result", " ", ">First", ">Second", ">Change")
        last = ""
        for one in figures:
            name = "" if one.what == last else one.what
            shown.add_row(escape(name), *map(escape, _row(one)))
            last = one.what
        screen.print(shown)
    if hidden:
        few = "figures differ that are not among the main ones, or by less than 0.05 %"
        screen.print(f"[dim]{hidden} more {few} (--all, --json).[/dim]")


def _row(one: Difference) -> list[str]:
    from ackclock.tables import ResultTable
    from ackclock.tables.shown import shown

    column = one.column
    assert column is not None  # results have one
    (made,) = shown(ResultTable((column,), {column.name: [one.first, one.second]}))
    unit = f", {made.unit}" if made.unit else ""
    change = "" if one.change is None else f"{100 * one.change:+.1f} %"
    return [column.title + unit, *made.cells, change]


def _word(value: Any) -> str:
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
