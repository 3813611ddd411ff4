"""What `ackclock sweep` prints: the study, what is done, the results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ackclock.cli import figures, fitting
from ackclock.cli.terminal import print_json, table
from ackclock.columns import pick
from ackclock.errors import InputError
from ackclock.sweep.figures import RUN
from ackclock.tables.values import ordered

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from ackclock.columns import Column
    from ackclock.sweep import Outlook, Plan, Study, SweepResults

# Longer tables are for files, not for eyes.
_MOST_ROWS = 20
_MOST_VALUES = 12
_MOST_FAILURES = 10
_LEAST_DIGITS = 4

_FIGURES = pick(
    RUN,
    "goodput_bps",
    "fairness_jain",
    "retransmissions",
    "timeouts",
    "drops",
    "bottleneck_utilization",
    "queueing_delay_s_mean",
)
_WITHOUT = ("Timeouts", "Resent", "Fairness", "Utilisation", "Lost")
"""What a narrow terminal can do without, the first first."""


def _shaped(column: Column, value: float | None) -> str:
    """Return a figure, or a mean of several, as text."""
    if value is None:
        return figures.NONE
    if column.unit == "bit/s":
        return figures.rate(value)
    if column.shown == "%":
        return figures.percent(value)
    if column.unit == "s":
        return figures.seconds(value)
    return f"{value:.3f}" if column.kind == "real" else figures.number(float(f"{value:.4g}"))


def print_study(console: Console, study: Study) -> None:
    """Print name and title, and what is varied."""
    title = f"  {escape(study.title)}" if study.title else ""
    console.print(f"\n[bold]{escape(study.name)}[/bold]{title}")
    parts = []
    for dimension in study.dimensions:
        names = [escape(axis.name) for axis in dimension.axes]
        if dimension.method:
            points = figures.counted(len(dimension), "point")
            parts.append(f"{points} of {', '.join(names)} ({dimension.method})")
        else:
            parts.append(f"{len(dimension)} {' with '.join(names)}")
    if study.replications > 1 or not parts:
        parts.append(figures.counted(study.replications, "replication"))
    console.print(f"{figures.counted(len(study), 'run')}: {' × '.join(parts)}")


def print_outlook(console: Console, found: Outlook, file: str) -> None:
    """Print what a study needs."""
    probed = (
        f" ({figures.counted(found.probed, 'run')} just now, as probes)" if found.probed else ""
    )
    console.print(f"{found.done} done{probed}, {found.missing} missing")
    if found.missing and found.run_s is not None and found.left_s is not None:
        each = figures.seconds(float(f"{found.run_s:.2g}"))
        left = figures.seconds(float(f"{found.left_s:.2g}"))
        console.print(f"about {left} for the rest, {each} a run")
    if found.missing:
        command = f"ackclock sweep {shlex.quote(file)}"
        console.print(f"\n[bold]Next[/bold]\n  [cyan]{escape(command)}[/cyan]", soft_wrap=True)


def print_status(console: Console, plan: Plan, place: Path, found: Outlook, *, busy: bool) -> None:
    """Print what is done, and what failed."""
    from ackclock.sweep import load
    from ackclock.sweep.store import Store

    parts = [
        f"{found.done - found.failed} done",
        f"{found.failed} failed",
        f"{found.missing} missing",
    ]
    where = "a sweep is running here" if busy else "no sweep is running here"
    console.print(f"{', '.join(parts)}  ({escape(str(place))}: {where})")
    if found.missing and found.left_s is not None:
        left = figures.seconds(float(f"{found.left_s:.2g}"))
        console.print(f"about {left} for the rest")
    if found.failed and Store(place).exists():
        _print_failures(console, load(place))


def print_results(
    console: Console, results: SweepResults, place: Path, simulated: int, wall_s: float
) -> None:
    """Print the results, or how they depend on each axis where they are many."""
    console.print()
    if len(results) <= _MOST_ROWS:
        _print_rows(console, results)
    else:
        _print_means(console, results)
    if results.failed:
        _print_failures(console, results)
    for note in results.notes():
        console.print(f"[yellow]Note:[/yellow] {escape(note)}")
    speed = f" ({figures.number(float(f'{simulated / wall_s:.3g}'))} runs/s)" if wall_s > 0 else ""
    took = f" in {figures.seconds(wall_s)}{speed}" if simulated else ""
    console.print(f"[dim]Simulated:[/dim] {figures.counted(simulated, 'run')}{took}")
    there = f"{len(results)} of {figures.counted(results.runs, 'run')}"
    if results.partial:
        console.print(f"[dim]Kept:[/dim]      {there}, in {escape(str(place))}/", soft_wrap=True)
    else:
        file = escape(str(place / "results.parquet"))
        console.print(f"[dim]Written:[/dim]   {file}", soft_wrap=True)


def _print_rows(console: Console, results: SweepResults) -> None:
    rows = results.plain().to_pylist()
    replicated = any(row["replication"] for row in rows)
    columns = [
        fitting.Column("Key"),
        *(_heading(escape(axis)) for axis in results.axes),
        *([fitting.Column(">Repl.")] if replicated else []),
        *(_heading(f">{column.title}") for column in _FIGURES),
    ]
    shown: list[list[fitting.Cell]] = []
    for row in rows:
        cells: list[fitting.Cell] = [
            row["key"][:6],
            *(escape(_label(row[axis])) for axis in results.axes),
        ]
        if replicated:
            cells.append(str(row["replication"]))
        if row["status"] == "failed":
            cells += ["[red]failed[/red]", *[""] * (len(_FIGURES) - 1)]
        else:
            cells += [_shaped(column, row[column.name]) for column in _FIGURES]
        shown.append(cells)
    fitting.print_fitting(console, columns, shown, without=_WITHOUT)
    console.print()


def _heading(name: str) -> fitting.Column:
    """A heading in two lines, parted where they are shortest: after a dot or at a space."""
    lines = [name]
    for at in (at for at, letter in enumerate(name[:-1]) if letter in ". "):
        parts = [name[: at + 1].rstrip(), name[at + 1 :]]
        lines = min(lines, parts, key=lambda two: max(len(line.lstrip(">")) for line in two))
    return fitting.Column("\n".join(lines))


def _print_means(console: Console, results: SweepResults) -> None:
    """Print for each axis the means over all runs with each of its values."""
    import pyarrow.compute as pc

    names = [*results.axes, "status", *(column.name for column in _FIGURES)]
    done = results.select(names).filter(pc.field("status") == "done")
    different = {axis: done[axis].unique().to_pylist() for axis in results.axes}
    drawn = [axis for axis in results.sampled if len(different[axis]) > _MOST_VALUES]
    for axis in drawn:
        values = ordered(different[axis])
        ends = f"from {_label(values[0])} to {_label(values[-1])}"
        console.print(f"{escape(axis)}: {len(values)} values {ends}", soft_wrap=True)
    if drawn:
        console.print()
    if results.axes == drawn:
        _print_axis(console, "All runs", [("", done)])
    for axis in results.axes:
        if axis in drawn:
            continue
        values = ordered(different[axis]) if axis in results.sampled else different[axis]
        if len(values) < 2 and len(results.axes) > 1:
            continue  # it would repeat the mean over all runs
        groups = (
            (_label(value), done.filter(pc.field(axis) == value)) for value in values[:_MOST_VALUES]
        )
        _print_axis(console, axis, groups)
        if len(values) > _MOST_VALUES:
            console.print(f"[dim]and {len(values) - _MOST_VALUES} more values[/dim]\n")


def _print_axis(console: Console, axis: str, groups: Iterable[tuple[str, pa.Table]]) -> None:
    columns = [fitting.Column(escape(axis)), fitting.Column(">Runs")]
    columns += [_heading(f">{column.title}") for column in _FIGURES]
    shown = [
        [escape(label), str(rows.num_rows), *(_shaped(c, _mean(rows[c.name])) for c in _FIGURES)]
        for label, rows in groups
    ]
    fitting.print_fitting(console, columns, shown, without=_WITHOUT)
    console.print("[dim]means over all runs with this value[/dim]\n")


def _mean(column: pa.ChunkedArray) -> float | None:
    values = column.drop_null().to_numpy()
    return float(values.mean()) if len(values) else None


def failures(results: SweepResults) -> list[dict[str, Any]]:
    """Return key, axes, replication and error of the first runs that failed."""
    import pyarrow.compute as pc

    names = ["key", *results.axes, "replication", "error"]
    failed = results.select([*names, "status"]).filter(pc.field("status") == "failed")
    return failed.slice(0, _MOST_FAILURES).select(names).to_pylist()


def _print_failures(console: Console, results: SweepResults) -> None:
    shown = table("Failed", *(escape(axis) for axis in results.axes), "Why")
    for row in failures(results):
        labels = [escape(_label(row[axis])) for axis in results.axes]
        shown.add_row(row["key"][:12], *labels, f"[red]{escape(row['error'] or '')}[/red]")
    console.print(shown)
    more = results.failed - _MOST_FAILURES
    rest = f"and {more} more; " if more > 0 else ""
    console.print(f"[dim]{rest}--why KEY shows one, --retry-failed simulates them again[/dim]\n")


def explain_run(plan: Plan, place: Path, key: str, file: str, *, as_json: bool) -> None:
    """Print what became of a run, and its scenario.

    Raises:
        InputError: no run, or several, have a key that starts so.
    """
    from ackclock.canonical import to_yaml
    from ackclock.scenario import Scenario
    from ackclock.sweep.store import Store

    index = _find(plan, key.strip().lower())
    found = Store(place).history(plan, index)
    labels = dict(zip(plan.study.columns, plan.labels(index), strict=True))
    document = dict(Scenario.from_dict(json.loads(plan.document(index))).canonical)
    document["name"] = f"{plan.study.name}/{plan.keys[index][:12]}"
    del document["record"]  # alone, it is run to be looked at
    if as_json:
        report = {
            "key": plan.keys[index],
            "axes": labels,
            "replication": plan.replication(index),
            "seed": plan.seeds[index],
            **found,
            "scenario": document,
        }
        print_json(report)
        return
    chosen = [f"{name}: {label}" for name, label in labels.items()]
    chosen += [f"replication {plan.replication(index)}", f"seed {plan.seeds[index]}"]
    header = [
        f"Run {plan.keys[index]} of the study {plan.study.name}",
        ", ".join(chosen),
        _became(found),
        f"To run it alone: ackclock sweep {shlex.quote(file)} --why {key} > one.yaml",
        "and: ackclock run one.yaml",
    ]
    print(to_yaml(document, header), end="")  # noqa: T201  # a file for other programs


def _find(plan: Plan, start: str) -> int:
    if len(start) < _LEAST_DIGITS:
        raise InputError(f"--why {start}: at least {_LEAST_DIGITS} digits of the key are needed")
    found = [index for index, key in enumerate(plan.keys) if key.startswith(start)]
    if not found:
        raise InputError(
            f"no run of this study has a key that starts with '{start}'; keys stand in the table "
            "of results, and change with the scenario and the engine"
        )
    if len({plan.keys[index] for index in found}) > 1:
        raise InputError(f"{len(found)} runs have a key that starts with '{start}'; give more")
    return found[0]


def _became(found: dict[str, Any]) -> str:
    times = f", simulated {figures.counted(found['starts'], 'time')}" if found["starts"] > 1 else ""
    took = "" if found["wall_s"] is None else f" in {figures.seconds(found['wall_s'])}"
    if found["status"] == "failed":
        return f"Failed{took}{times}: {found['error']}"
    if found["status"] == "done":
        return f"Done{took}{times}, digest {found['digest']}"
    return "Not simulated yet"


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
