"""`ackclock reproduce`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import typer

from ackclock.cli.progress import progress_bar
from ackclock.cli.terminal import console, print_json, table

if TYPE_CHECKING:
    from rich.console import Console


def reproduce(
    experiments: list[str] | None = None,
    show_list: bool = False,
    oracle: Path | None = None,
    only: str | None = None,
    trace: str | None = None,
    ack_jitter: str | None = None,
    as_json: bool = False,
) -> None:
    """Compare Ackclock with the figures of a published paper, or of a real kernel.

    Runs the scenarios and shows each published figure next to ours, with tolerance, verdict and,
    where they differ, the reason. Exit status 1 if a comparison fails.

    [bold]Examples[/bold]

    [cyan]ackclock reproduce caltech[/cyan]
    [cyan]ackclock reproduce bene-congestion[/cyan]
    [cyan]ackclock reproduce linux --only '^v_'[/cyan]
    [cyan]ackclock reproduce linux --trace v_06_lost_retx_cubic[/cyan]
    [cyan]ackclock reproduce linux --only v_30 --ack-jitter '10 us'[/cyan]
    [cyan]ackclock reproduce all --json[/cyan]
    """
    from ackclock import reproduce as experiments_of

    if show_list or not experiments:
        if as_json:
            print_json({"experiments": experiments_of.available()})
        else:
            _print_experiments(console())
        return
    options = experiments_of.linux.Options(oracle, only, trace, ack_jitter)
    with progress_bar(_words, wanted=not as_json) as show:
        reports = experiments_of.run(
            experiments,
            lambda case, done, total: show(SimpleNamespace(case=case, done=done, total=total)),
            options=options,
        )
    if as_json:
        print_json({"experiments": [report.to_json() for report in reports]})
    else:
        for report in reports:
            experiments_of.render(report, console())
    if code := experiments_of.exit_code(reports):
        raise typer.Exit(code)


def _print_experiments(screen: Console) -> None:
    from ackclock import reproduce as experiments_of

    shown = table("Name", "Source")
    known = experiments_of.available()
    for name, summary in known.items():
        shown.add_row(f"[cyan]{name}[/cyan]", summary)
    screen.print(shown)
    screen.print(f"\nCompare with one: [cyan]ackclock reproduce {next(iter(known))}[/cyan]")


def _words(state: SimpleNamespace) -> str:
    return f"{state.done} of {state.total} runs done, running {state.case}"
