"""`ackclock run`."""

from __future__ import annotations

import re
import shlex
import signal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from ackclock.cli.options import (
    ImageFormat,
    LinkOrder,
    LogLevel,
    choose,
    read_overrides,
    set_up_logging,
)
from ackclock.cli.terminal import console, echo_error, print_json, terminable
from ackclock.cli.theory import print_comparison
from ackclock.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.results import Results
    from ackclock.scenario import Scenario


_MOST_HOPS = 5_000_000


class Shown(NamedTuple):
    """What is printed of a run: flows, links (None for all), their order, and charts."""

    flows: list[str] | None
    links: list[str] | None
    order: LinkOrder
    chart: bool


def run(
    scenario: str,
    settings: list[str] | None = None,
    seed: int | None = None,
    out: Path | None = None,
    force: bool = False,
    flows: list[str] | None = None,
    links: list[str] | None = None,
    link_order: LinkOrder = "busiest",
    no_plots: bool = False,
    no_chart: bool = False,
    image_format: ImageFormat = "png",
    threads: int = 1,
    as_json: bool = False,
    log_level: LogLevel = "warning",
    log_file: Path | None = None,
) -> None:
    """Simulate a scenario, print a summary and draw plots.

    Writes a run directory: the resolved scenario, summary.json, records (records/*.parquet), plots,
    log.txt, and received files (received/). Exit status 1 if a file arrives altered or incomplete,
    or if stop.events or stop.max_packets abort the run.

    Records are written during the run, into DIR.partial. Ctrl-C, a full disk or the scenario's
    record.limit end the run early; the results so far are kept and marked as unfinished. The exit
    status is 130 after Ctrl-C, else 1. A second Ctrl-C ends immediately.

    Large networks can use several threads, which pays off if cores are free and thousands of
    packets cross the network within one link delay. A network that cannot be divided runs in one
    thread, with a warning that gives the reason.

    [bold]Examples[/bold]

    [cyan]ackclock run caltech/test-case-2-fast[/cyan]
    [cyan]ackclock run caltech/test-case-0-fast --set 'flows.*.tcp.cc=reno'[/cyan]
    [cyan]ackclock run my-experiment.yaml --seed 7 --links L1,L2 --format svg[/cyan]
    """
    from ackclock import ControllerError, RunInterrupted, RunStoppedError
    from ackclock import run as simulate
    from ackclock.cli.progress import progress_line
    from ackclock.cli.theory import comparison_json
    from ackclock.scenario import Scenario

    set_up_logging(log_level, log_file)
    chosen = Scenario.load(scenario, read_overrides(settings), seed)
    shown_flows = choose("flow", flows, chosen.flows)
    shown_links = choose("link", links, chosen.links)
    place = out if out is not None else default_directory(chosen)
    stopped: BaseException | None = None
    with terminable(), progress_line(wanted=not as_json) as progress:
        try:
            # The default place is that of the last run of this name and seed.
            results = simulate(
                chosen,
                progress,
                directory=place,
                force=force,
                other_settings=out is None,
                threads=threads,
            )
        except ControllerError as error:
            if error.results is None:
                raise
            kept = error.results.directory
            raise InputError(f"{error}\n  kept until then: {kept}") from None
        except (RunInterrupted, RunStoppedError) as error:
            stopped, results = error, error.results
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if isinstance(error, RunStoppedError):
                echo_error(f"error: {error}")
            else:
                echo_error("interrupted; keeping what there is (Ctrl-C again ends at once)")
    place = results.directory or place
    plots: list[Path] = []
    missing = None if no_plots else _no_plots()
    if not no_plots and not missing:
        from ackclock.plots import plot

        plots = plot(results, None, shown_flows, shown_links, image_format, place / "plots")
    if as_json:
        places = {"run_directory": str(place), "plots": [str(path) for path in plots]}
        print_json({**results.summary, **places, "theory": comparison_json(results)})
    else:
        # The run directory is a scenario too, and holds what was set from outside.
        again = str(place) if chosen.overrides else scenario
        shown = Shown(shown_flows, shown_links, link_order, chart=not no_chart)
        _report(chosen, results, place, plots, shown, again, missing)
    if isinstance(stopped, RunInterrupted):
        raise typer.Exit(130)
    aborted = results.summary["stop_reason"] in _ABORTED
    if stopped is not None or aborted or _altered(chosen, results):
        raise typer.Exit(1)


_ABORTED = {"too-many-events", "too-many-packets"}
"""Reasons that end a run where the scenario calls it a fault."""


def _altered(scenario: Scenario, results: Results) -> bool:
    """Whether a file has not arrived as it was sent."""
    if not scenario.files:
        return False
    from ackclock.received_files import unidentical

    return bool(unidentical(results.summary))


def default_directory(scenario: Scenario) -> Path:
    """Return `runs/NAME-SEED`; with overrides, a short hash of the resolved scenario is added.

    So that a run with other values does not take the place of the one it is compared with.
    """
    name = re.sub(r"[^\w./-]+", "-", scenario.name)
    parts = [part for part in name.split("/") if part.strip(".")]
    label = f"{'/'.join(parts) or 'run'}-{scenario.seed}"
    if scenario.is_varied:
        label += f"-{scenario.canonical_sha256(escaped=True)[:6]}"
    return Path("runs") / label


def _no_plots() -> str | None:
    """Why no plots can be drawn here."""
    from ackclock.extras import MissingExtraError, require

    try:
        require("matplotlib")
    except MissingExtraError as error:
        return error.short
    return None


def _report(
    scenario: Scenario,
    results: Results,
    place: Path,
    plots: list[Path],
    shown: Shown,
    again: str,
    missing: str | None,
) -> None:
    from rich.markup import escape

    from ackclock.cli.summary import print_summary
    from ackclock.columns import PERCENTILES
    from ackclock.metrics.percentiles import with_percentiles

    screen = console()
    # Percentiles of very many records or flows take longer than people want to wait for a summary.
    short = results.summary["packet_hops"] <= _MOST_HOPS
    summary = (
        with_percentiles(results, PERCENTILES)
        if short and not scenario.is_large
        else results.summary
    )
    print_summary(screen, summary, scenario.head, shown.flows, shown.links, shown.order)
    if not short:
        screen.print("[dim]Percentiles:[/dim]     ackclock table DIR --columns all")
    predicted = print_comparison(screen, results)
    if shown.chart and scenario.is_large:
        screen.print("\n[dim]Charts:[/dim]          ackclock plot DIR --flows A,B --links L")
    elif shown.chart:
        from ackclock.cli.glance import print_glance

        print_glance(screen, results, shown.flows, shown.links)
    _print_written(screen, place, plots, replaced=results.replaced)
    if missing:
        screen.print(f"[dim]No plots:[/dim] {escape(missing)}")
    _print_next(screen, results, place, again, predicted=predicted)


def _print_written(screen: Console, place: Path, plots: list[Path], *, replaced: bool) -> None:
    instead = ", in place of an earlier run" if replaced else ""
    screen.print(f"\n[bold]Written[/bold] to {place}/{instead}", soft_wrap=True)
    for path in plots:
        screen.print(f"  {path.relative_to(place)}", soft_wrap=True)


def _print_next(
    screen: Console, results: Results, place: Path, again: str, *, predicted: bool
) -> None:
    flows = results.summary["flows"]
    # The first flows will do for a proposal.
    kinds = {name: flow["cc"] for name, flow in islice(flows.items(), 1000)}
    commands = [f"ackclock report {shlex.quote(str(place))}"] if results.tables else []
    commands.append(f"ackclock plot {shlex.quote(str(place))} --format pdf")
    if predicted:
        commands.append(f"ackclock theory {shlex.quote(again)}")
    if over_tcp := [name for name, cc in kinds.items() if cc]:
        which = "*" if len(over_tcp) == len(kinds) else over_tcp[0]
        other = "reno" if set(kinds.values()) != {"reno"} else "cubic"
        path = shlex.quote(f"flows.{which}.tcp.cc={other}")
        commands.insert(0, f"ackclock run {shlex.quote(again)} --set {path}")
    screen.print("\n[bold]Next[/bold]")
    for command in commands:
        screen.print(f"  [cyan]{command}[/cyan]", soft_wrap=True)
