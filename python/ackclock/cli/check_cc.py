"""`ackclock check-cc`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from ackclock.cli.options import pair
from ackclock.cli.progress import progress_bar
from ackclock.cli.terminal import console, print_json, table, terminable
from ackclock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ackclock.conformance import Card
    from ackclock.conformance.board import Place


def check_cc(
    subject: str,
    class_: str | None = None,
    parameters: list[str] | None = None,
    out: Path | None = None,
    leaderboard: Path | None = None,
    name: str | None = None,
    workers: int | None = None,
    as_json: bool = False,
) -> None:
    """Check a congestion control, and compare its scores with CUBIC, Reno and BBR.

    The checks cover what every algorithm should do: keep windows finite, react to losses, ECN marks
    and timeouts, be repeatable, starve no flow. Each reports what it expected, what it saw, and the
    line of the program if possible. The scorecard measures utilisation, delay (with and without
    ECN), fairness, shares against CUBIC and BBR, RTT bias, loss tolerance and convergence on the
    same networks.

    Exit status 1 if a check fails, 2 if the program cannot be loaded.

    [bold]Examples[/bold]

    [cyan]ackclock check-cc mine.py[/cyan]
    [cyan]ackclock check-cc mine.py --class Mine -p increase=2 -o card.html[/cyan]
    [cyan]ackclock check-cc cubic[/cyan]   an algorithm of the engine
    """
    from ackclock import conformance
    from ackclock.conformance import board, page

    if (name is None) != (leaderboard is None):
        raise InputError("--leaderboard needs --name, and the other way round")
    writer = None if out is None else page.writer(out)
    if leaderboard is not None:
        board.read(leaderboard)  # before minutes of runs
    chosen = _parameters(parameters)
    with (
        terminable(),
        progress_bar(lambda at: f"{at.done}/{at.total} runs", wanted=not as_json) as show,
    ):
        card = conformance.check_cc(
            subject,
            class_,
            chosen,
            workers=workers,
            progress=lambda done, total: show(SimpleNamespace(done=done, total=total)),
        )
    if out is not None and writer is not None:
        from ackclock.files import write_text

        write_text(out, writer(card))
    if as_json:
        print_json({**card.to_json(), "page": out and str(out)})
    else:
        print_card(console(), card)
        if out is not None:
            typer.echo(f"written: {out}")
    if leaderboard is not None and name is not None:
        program = Path(card.origin).read_bytes() if card.origin is not None else None
        board.enter(leaderboard, name, card, program)
        if not as_json:
            print_board(console(), board.places(board.read(leaderboard)))
    if not card.conforms:
        raise typer.Exit(1)


def _parameters(texts: list[str] | None) -> dict[str, Any]:
    from ackclock.document import parse_value

    found = {}
    for text in texts or ():
        name, value = pair(text, "--parameter needs NAME=VALUE, as in 'increase=2'")
        try:
            found[name] = parse_value(value)
        except ValueError as error:
            raise InputError(f"--parameter {text}: the value cannot be read: {error}") from None
    return found


def print_board(console: Console, places: Sequence[Place]) -> None:
    """Print a leaderboard."""
    shown = table(
        ">Place", "Name", "Controller", ">Failed checks", ">Mean rank", title="Leaderboard"
    )
    for number, place in enumerate(places, 1):
        entry = place.entry
        words = (escape(entry.name), escape(entry.subject), str(len(entry.failed)))
        shown.add_row(str(number), *words, f"{place.rank:.2f}")
    console.print()
    console.print(shown)
    console.print("[dim]Fewer failed checks first, then the mean rank over all scores.[/dim]")


_MARKS = {"passed": "[green]✓[/green]", "failed": "[red]✗[/red]", "skipped": "[dim]-[/dim]"}


def print_card(console: Console, card: Card) -> None:
    """Print a card."""
    from ackclock.conformance.page import figure, verdict

    shown = table(" ", "Check", "Seen", title=f"Conformance of {escape(card.subject)}")
    for check in card.checks:
        seen = escape(check.seen)
        if check.verdict == "failed":
            place = f"\n{check.place}" if check.place else ""
            seen += f"\n[red]expected: {escape(check.expected)}{escape(place)}[/red]"
        shown.add_row(_MARKS[check.verdict], check.name, seen)
    console.print(shown)
    for flaw in card.flaws:
        console.print(
            f"[yellow]warning:[/yellow] {card.origin}:{flaw.line}: {escape(flaw.message)}\n"
            f"    hint: {escape(flaw.hint)}"
        )
    names = list(card.scores[0].values)
    scores = table("Score", *(f">{escape(name)}" for name in names), ">Best", title="Scorecard")
    for score in card.scores:
        unit = f", {score.unit}" if score.unit else ""
        best = score.best if isinstance(score.best, str) else figure(score.best)
        values = (figure(score.values[name]) for name in names)
        scores.add_row(score.name + unit, *values, best)
    console.print()
    console.print(scores)
    console.print(f"\n{escape(verdict(card))}")
