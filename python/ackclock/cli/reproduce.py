"""`ackclock reproduce`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.cli.options import JsonOption
from ackclock.cli.progress import progress_bar

if TYPE_CHECKING:
    from rich.console import Console


def reproduce(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EXPERIMENT]...",
            help="Experiments by name, or 'all'. Without one, they are listed.",
        ),
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="Show the experiments and do nothing else.")
    ] = False,
    oracle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="linux: other scenarios, measured with validation/linux (JSON, also compressed).",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="linux: only scenarios with a name that matches.",
        ),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            help="linux: compare this run with the kernel's packet by packet, and name the first "
            "difference.",
        ),
    ] = None,
    ack_jitter: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="linux: each ACK comes late by a random time with this mean, such as '10 us': is "
            "it noise that makes a difference?",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set the figures of a published paper, or of a real kernel, beside ours.

    Runs the paper's scenarios and shows each figure with ours, the tolerance, a verdict and, where
    the two differ, the reason. Exit status 1 when a comparison fails.

    [bold]Examples[/bold]

    [cyan]ackclock reproduce caltech[/cyan]
    [cyan]ackclock reproduce bene-congestion[/cyan]
    [cyan]ackclock reproduce linux --only '^v_'[/cyan]
    [cyan]ackclock reproduce linux --trace v_06_lost_retx_cubic[/cyan]
    [cyan]ackclock reproduce linux --only v_30 --ack-jitter '10 us'[/cyan]
    [cyan]ackclock reproduce all --json[/cyan]
    """
    from ackclock import reproduce as experiments_of
    from ackclock.cli.terminal import console, print_json

    if show_list or not experiments:
        if as_json:
            print_json({"experiments": experiments_of.available()})
        else:
            _print_experiments(console())
        return
    options = experiments_of.linux.Options(oracle, only, trace, ack_jitter)
    with progress_bar(_words, wanted=not as_json) as show:

        def progress(case: str, done: int, total: int) -> None:
            if show is not None:
                show(SimpleNamespace(case=case, done=done, total=total))

        reports = experiments_of.run(experiments, progress, options=options)
    if as_json:
        print_json({"experiments": [report.to_json() for report in reports]})
    else:
        for report in reports:
            experiments_of.render(report, console())
    if code := experiments_of.exit_code(reports):
        raise typer.Exit(code)


def _print_experiments(screen: Console) -> None:
    from ackclock import reproduce as experiments_of
    from ackclock.cli.terminal import table

    shown = table("Name", "Source")
    known = experiments_of.available()
    for name, summary in known.items():
        shown.add_row(f"[cyan]{name}[/cyan]", summary)
    screen.print(shown)
    screen.print(f"\nCompare with one: [cyan]ackclock reproduce {next(iter(known))}[/cyan]")


def _words(state: SimpleNamespace) -> str:
    return f"{state.done} of {state.total} runs done, running {state.case}"
