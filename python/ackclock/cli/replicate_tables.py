"""The tables that `ackclock replicate` prints, and its JSON document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ackclock.cli import figures
from ackclock.cli.fitting import Cell, Column, print_fitting
from ackclock.cli.terminal import print_title, table
from ackclock.tables.shown import rate_unit

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.metrics.statistics import Interval, Mean, Quantile, Statistics
    from ackclock.metrics.tail import TailIndex
    from ackclock.replications import Replications
    from ackclock.scenario import Scenario

# Longer tables are for files, not for eyes.
_MOST_ROWS = 40
_MOST_FAILURES = 3
_WITHOUT = ("Tail index", "25 %", "75 %", "5 %")
"""What a narrow terminal can do without, the first first."""


def to_json(
    replications: Replications, first_seed: int, flows: Sequence[str] | None
) -> dict[str, Any]:
    """Return all statistics as a document. What is infinite becomes null when it is printed."""
    from ackclock.metrics.statistics import LEVEL, wilson
    from ackclock.replications import MEASURED, OF_FLOW

    of_flows: dict[str, dict[str, Any]] = {
        flow: {"unfinished": asdict(wilson(int(replications.unfinished(flow).sum()), count))}
        for count in (len(replications),)
        for flow in (flows or replications.flows)
    }
    of_all: dict[str, Any] = {}
    for field in MEASURED:
        for name, found in replications.summary(field).items():
            if field not in OF_FLOW:
                of_all[field] = found.to_json()
            elif name in of_flows:
                of_flows[name][field] = found.to_json()
    return {
        "scenario": replications.scenario,
        "scenario_digest": replications.scenario_digest,
        "first_seed": first_seed,
        "replications": len(replications),
        "asked": replications.asked,
        "partial": replications.partial,
        "failures": {str(seed): why for seed, why in replications.failures.items()},
        "stalled": int(replications.stalled.sum()),
        "wall_s": replications.wall_s,
        "level": LEVEL,
        **of_all,
        "flows": of_flows,
    }


def print_tables(
    console: Console,
    scenario: Scenario,
    replications: Replications,
    fields: Sequence[str],
    flows: Sequence[str] | None,
) -> None:
    """Print how many transfers were finished, and the statistics of each field."""
    from ackclock.replications import OF_FLOW, describe

    _print_head(console, scenario, replications)
    if not len(replications):
        return
    _print_finished(console, replications, flows)
    unbounded = False
    for field in fields:
        described = describe(field)
        found = replications.summary(field)
        if flows is not None and field in OF_FLOW:
            found = {name: found[name] for name in flows}
        title = f"{described.meaning} ({field})"
        unbounded |= _print_field(console, title, described.unit, found)
    console.print("[dim]Below each figure: its 95 % confidence interval.[/dim]")
    if unbounded:
        console.print("[dim]?: too few replications to bound it on this side.[/dim]")


def _print_head(console: Console, scenario: Scenario, replications: Replications) -> None:
    print_title(console, scenario.name, scenario.model)
    count = len(replications)
    part = ""
    if replications.partial:
        part = f"  [bold yellow]partial: {replications.asked} were asked for[/bold yellow]"
    seeds = replications.arrays["seed"]
    which = f", seeds {seeds[0]} to {seeds[-1]}" if count else ""
    took = f", simulated in {figures.seconds(replications.wall_s)}"
    console.print(f"[dim]Replications:[/dim] {count}{which}{took}{part}")
    if count > 1 and (replications.arrays["digest"] == replications.arrays["digest"][0]).all():
        console.print(
            "[yellow]All replications are the same: nothing in this scenario is random.[/yellow]"
        )
    for seed, error in list(replications.failures.items())[:_MOST_FAILURES]:
        console.print(f"[red]The one with seed {seed} failed:[/red] {escape(error)}")
    if (more := len(replications.failures) - _MOST_FAILURES) > 0:
        console.print(f"[red]and {more} more failed[/red]")
    console.print()


def _print_finished(
    console: Console, replications: Replications, flows: Sequence[str] | None
) -> None:
    from ackclock.metrics.statistics import wilson

    names = [name for name in (flows or replications.flows) if name not in replications.endless]
    if not names:
        return
    shown = table("Flow", ">Finished", ">Unfinished", ">Share unfinished", ">95 % confidence")
    count = len(replications)
    for name in names[:_MOST_ROWS]:
        share = wilson(int(replications.unfinished(name).sum()), count)
        shown.add_row(
            escape(name),
            str(count - share.count),
            f"[yellow]{share.count}[/yellow]" if share.count else "0",
            _percent(share.value),
            f"{_percent(share.low)} to {_percent(share.high)}",
        )
    console.print(shown)
    if stalled := int(replications.stalled.sum()):
        console.print(
            f"[yellow]{stalled} stalled:[/yellow] nothing was left to happen, and a sender still "
            "waited for ACKs"
        )
    console.print()


def _print_field(console: Console, title: str, unit: str, found: dict[str, Statistics]) -> bool:
    """Print the table of one quantity; return whether an interval has an open end."""
    shares = [quantile.share for quantile in next(iter(found.values())).quantiles]
    heads = ["Median" if share == 0.5 else f"{share * 100:g} %" for share in shares]
    unit, size = _unit(unit, found.values())
    columns = [Column(name) for name in ("Flow", *(f">{h}" for h in heads), ">Mean", ">Tail index")]
    rows: list[list[Cell]] = [
        [
            escape(name),
            *(_quantile_cell(quantile, size) for quantile in statistics.quantiles),
            *[figures.NONE] * (len(shares) - len(statistics.quantiles)),
            _mean_cell(statistics.mean, size),
            _tail_cell(statistics.tail),
        ]
        for name, statistics in list(found.items())[:_MOST_ROWS]
    ]
    console.print(f"[bold]{title}{f', {unit}' if unit else ''}[/bold]")
    print_fitting(console, columns, rows, without=_WITHOUT)
    if len(found) > _MOST_ROWS:
        console.print(f"[dim]and {len(found) - _MOST_ROWS} more; choose with --flows[/dim]")
    for name, statistics in list(found.items())[:_MOST_ROWS]:
        for note in statistics.notes:
            console.print(f"[yellow]{escape(name)}:[/yellow] {note}")
    console.print()
    return any(
        quantile.low_rank is None or quantile.high_rank is None
        for statistics in found.values()
        for quantile in statistics.quantiles
    )


def _quantile_cell(quantile: Quantile, size: float) -> str:
    low = "?" if quantile.low_rank is None else _number(quantile.low, size)
    high = "?" if quantile.high_rank is None else _number(quantile.high, size)
    return f"{_number(quantile.value, size)}\n[dim]{low} to {high}[/dim]"


def _mean_cell(mean: Mean | None, size: float) -> str:
    if mean is None:
        return figures.NONE
    if mean.exists == "none":
        return "[bold red]no mean exists[/bold red]"
    cell = _number(mean.value, size)
    if mean.exists == "undecided":
        cell += " [yellow](may not exist)[/yellow]"
    interval: Interval | None = mean.by_bootstrap or mean.by_t
    if interval is not None:
        cell += f"\n[dim]{_number(interval.low, size)} to {_number(interval.high, size)}[/dim]"
    return cell


def _tail_cell(tail: TailIndex | None) -> str:
    if tail is None:
        return figures.NONE
    if math.isinf(tail.value):
        return "no tail"
    return f"{tail.value:.3g}\n[dim]{tail.low:.3g} to {tail.high:.3g}[/dim]"


def _unit(unit: str, found: Any) -> tuple[str, float]:
    """One unit for a whole table, so that its figures can be compared."""
    if unit != "bit/s":
        return unit, 1.0
    finite = [q.value for s in found for q in s.quantiles if math.isfinite(q.value)]
    return rate_unit(max(finite, default=0.0))


def _number(value: float, size: float) -> str:
    return figures.number(value / size) if math.isfinite(value) else "never"


def _percent(share: float) -> str:
    return f"{figures.number(round(share * 100, 3))} %"
