"""`ackclock sweep`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ackclock.cli import figures
from ackclock.cli.options import JsonOption, SetOption, WorkersOption, read_overrides
from ackclock.cli.progress import progress_bar
from ackclock.cli.times import TimeLimitOption

if TYPE_CHECKING:
    from ackclock.sweep import Outlook, Plan, Study, SweepProgress


def sweep(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file that says which scenario is varied, and how, or a study of the package.",
        ),
    ],
    settings: SetOption = None,
    workers: WorkersOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Folder of the sweep instead of sweeps/NAME.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Use a folder of another study. Runs that both have are kept, the table is "
            "replaced.",
        ),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Simulate again what failed.")
    ] = False,
    time_limit: TimeLimitOption = None,
    plan_only: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Check all combinations, simulate a few, and estimate what the others take.",
        ),
    ] = False,
    status_only: Annotated[
        bool, typer.Option("--status", help="Show what is done; simulate nothing.")
    ] = False,
    why: Annotated[
        str | None,
        typer.Option(
            "--why",
            metavar="KEY",
            help="Show one run: what became of it, and its scenario as a file that can be run "
            "alone. The first digits of its key are enough.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a scenario for many values, many times, on all cores.

    The file names a scenario, axes with their values, and the number of replications. Every
    combination is checked before anything runs. The results are one table,
    results.parquet, with a row for each run, in the order of the file.

    What is done stays done: the same command again simulates what is missing, whether the sweep
    was interrupted, killed, or has got more values since. A run that fails becomes a row with the
    reason. Exit status 1 when runs failed, 130 after Ctrl-C.

    [bold]Examples[/bold]

    [cyan]ackclock sweep grid.yaml --plan[/cyan]
    [cyan]ackclock sweep grid.yaml --workers 4[/cyan]
    [cyan]ackclock sweep grid.yaml --set 'stop.at_latest=2 s' --out quick[/cyan]
    [cyan]ackclock sweep grid.yaml --why 3fa9c2 > one.yaml[/cyan]
    """
    from ackclock.cli.sweep_tables import explain_run, print_outlook, print_status, print_study
    from ackclock.cli.terminal import console, print_json
    from ackclock.errors import InputError
    from ackclock.sweep import Study
    from ackclock.sweep.session import outlook, status
    from ackclock.sweep.store import Store

    if sum([plan_only, status_only, why is not None]) > 1:
        raise InputError("--plan, --status and --why are three different things; take one")
    study = Study.load(file, read_overrides(settings))
    place = out if out is not None else default_directory(study)
    with _patience(study, wanted=not as_json):
        plan = study.plan(workers)
    # After the check: a misspelt value is not another study.
    Store(place).require(study.identity(), force=force)
    if why is not None:
        explain_run(plan, place, why, file, as_json=as_json)
        return
    if not as_json:
        print_study(console(), study)
    if status_only:
        found = status(plan, place)
        busy = Store(place).is_busy()
        if as_json:
            print_json({**_to_json(study, place, found), "busy": busy})
        else:
            print_status(console(), plan, place, found, busy=busy)
    elif plan_only:
        found = outlook(plan, place, workers, force=force, time_limit_s=time_limit)
        if as_json:
            print_json(_to_json(study, place, found))
        else:
            print_outlook(console(), found, file)
    else:
        options: dict[str, Any] = {"workers": workers, "force": force}
        options |= {"retry_failed": retry_failed, "time_limit_s": time_limit}
        _run(plan, place, options, as_json=as_json)


def default_directory(study: Study) -> Path:
    """Return `sweeps/NAME`; with overrides, a short hash of them is added."""
    import hashlib
    import json

    parts = [part for part in study.name.split("/") if part.strip(".")]
    label = "/".join(parts) or "study"
    options = [setting.option for setting in study.settings if setting.option]
    if options:
        text = json.dumps(options, ensure_ascii=False)
        label += f"-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
    return Path("sweeps") / label


def _run(plan: Plan, place: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    from ackclock.cli.sweep_tables import failures, print_results
    from ackclock.cli.terminal import console, echo_error, print_json, terminable
    from ackclock.sweep import SweepInterrupted
    from ackclock.sweep.session import run

    last: list[SweepProgress] = []
    interrupted = False
    with terminable(), progress_bar(describe, wanted=not as_json, width=24) as show:

        def progress(state: SweepProgress) -> None:
            last[:] = [state]
            if show is not None:
                show(state)

        try:
            results = run(plan, place, progress=progress, **options)
        except SweepInterrupted as interruption:
            results = interruption.results
            interrupted = True
            echo_error(
                f"interrupted; keeping {len(results)} of {len(plan)} runs. "
                f"The same command goes on: {_again()}"
            )
    simulated = last[0].simulated if last else 0
    wall_s = last[0].wall_s if last else 0.0
    if as_json:
        print_json(
            {
                "study": plan.study.name,
                "directory": str(place),
                "table": str(place / "results.parquet") if not results.partial else None,
                "runs": len(plan),
                "done": len(results),
                "failed": results.failed,
                "missing": len(plan) - len(results),
                "simulated": simulated,
                "wall_s": wall_s,
                "failures": failures(results),
                "notes": results.notes(),
            }
        )
    else:
        print_results(console(), results, place, simulated, wall_s)
    if interrupted:
        raise typer.Exit(130)
    if results.failed:
        raise typer.Exit(1)


def _again() -> str:
    return shlex.join(["ackclock", *sys.argv[1:]])


def _to_json(study: Study, place: Path, found: Outlook) -> dict[str, Any]:
    return {
        "study": study.name,
        "directory": str(place),
        "axes": {
            axis.name: [c.label for c in axis.choices] for d in study.dimensions for axis in d.axes
        },
        "replications": study.replications,
        "runs": found.total,
        "done": found.done,
        "failed": found.failed,
        "missing": found.missing,
        "probed": found.probed,
        "run_s": found.run_s,
        "left_s": found.left_s,
    }


@contextmanager
def _patience(study: Study, *, wanted: bool) -> Iterator[None]:
    """Say that all combinations are checked, where that takes a moment."""
    if not wanted or not sys.stderr.isatty() or study.points < 1000:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"checking {study.points} combinations"):
        yield


def describe(state: SweepProgress) -> str:
    """Return the progress in words."""
    parts = [f"{state.done}/{state.total} runs"]
    if state.failed:
        parts.append(f"[red]{state.failed} failed[/red]")
    if state.simulated and state.wall_s > 0:
        parts.append(f"{figures.number(float(f'{state.simulated / state.wall_s:.3g}'))}/s")
    if state.left_s is not None:
        parts.append(f"about {figures.seconds(math.ceil(state.left_s))} left")
    return "  ".join(parts)
