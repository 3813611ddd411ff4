"""`ackclock sweep`."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ackclock.cli import figures
from ackclock.cli.options import read_overrides
from ackclock.cli.progress import progress_bar
from ackclock.cli.terminal import console, echo_error, print_json, terminable
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.sweep import DaskExecutor, Outlook, Plan, Study, SweepProgress, SweepResults


def memory(text: str) -> int:
    """Return a size in bytes.

    Raises:
        typer.BadParameter: this is not, or too little for anything.
    """
    from ackclock._core import quantity
    from ackclock.sweep.worker import LEAST_MEMORY

    kind, size = quantity(text) or ("", 0)
    if kind != "size" or size < LEAST_MEMORY:
        raise typer.BadParameter(
            f"'{text}' is not a size from {LEAST_MEMORY // 10**6} MB up; write it with its unit"
        )
    return size


def sweep(
    what: list[str],
    settings: list[str] | None = None,
    workers: int | None = None,
    out: Path | None = None,
    force: bool = False,
    retry_failed: bool = False,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    on: str | None = None,
    shard: str | None = None,
    publish: str | None = None,
    plan_only: bool = False,
    status_only: bool = False,
    why: str | None = None,
    as_json: bool = False,
) -> None:
    """Run a scenario with many parameter values and seeds, on all cores.

    The study names a scenario, axes with their values, and the number of replications. All
    combinations are checked before anything runs. The result is one table, results.parquet, with a
    row per run, in the order of the study.

    To resume an interrupted or extended sweep, run the same command again: only missing runs are
    simulated. A failed run has a row with the reason. Exit status 1 if runs failed, 130 after
    Ctrl-C.

    [bold]Examples[/bold]

    [cyan]ackclock sweep grid.yaml --plan[/cyan]
    [cyan]ackclock sweep grid.yaml --workers 4[/cyan]
    [cyan]ackclock sweep grid.yaml --set 'stop.at_latest=2 s' --out quick[/cyan]
    [cyan]ackclock sweep grid.yaml --why 3fa9c2 > one.yaml[/cyan]
    [cyan]ackclock sweep grid.yaml --on tcp://10.0.0.1:8786[/cyan]
    [cyan]ackclock sweep grid.yaml --shard 3/20[/cyan]
    [cyan]ackclock sweep merge sweeps/grid.shard-*[/cyan]
    """
    from ackclock.cli.sweep_tables import explain_run, print_outlook, print_status, print_study
    from ackclock.sweep import Study
    from ackclock.sweep.session import outlook, status
    from ackclock.sweep.shards import Shard
    from ackclock.sweep.store import Store

    if sum([plan_only, status_only, why is not None]) > 1:
        raise InputError("--plan, --status and --why are three different things; take one")
    given = {"--workers": workers, "--on": on, "--shard": shard, "--publish": publish}
    given |= {"--time-limit": time_limit, "--memory-limit": memory_limit, "--set": settings}
    given |= {"--retry-failed": retry_failed, "--plan": plan_only, "--status": status_only}
    given |= {"--why": why}
    if what[0] == "merge" and len(what) > 1:
        _refuse("merge", given, set(given) - {"--publish"})
        _merge([Path(name) for name in what[1:]], out, publish, force=force, as_json=as_json)
        return
    if what == ["merge"] and not Path("merge").exists():
        raise InputError("name the folders of the shards: ackclock sweep merge FOLDER...")
    if len(what) > 1:
        raise InputError(f"one file is needed; '{what[1]}' is another one")
    if on is not None:
        _refuse("--on", given, {"--workers", "--status", "--why"})
    if shard is not None:
        _refuse("--shard", given, {"--plan", "--status", "--why", "--publish"})
    if publish is not None:
        from ackclock.sweep.remote import require

        _refuse("--publish", given, {"--plan", "--status", "--why"})
        require(publish)
    file = what[0]
    part = None if shard is None else Shard.read(shard)
    study = Study.load(file, read_overrides(settings))
    place = out if out is not None else default_directory(study)
    if out is None and part is not None:
        place = part.folder(place)
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
        return
    options: dict[str, Any] = {"workers": workers, "force": force}
    options |= {"time_limit_s": time_limit, "memory_limit": memory_limit}
    with _executor(on, wanted=not as_json) as executor:
        options["executor"] = executor
        if plan_only:
            found = outlook(plan, place, **options)
            if as_json:
                print_json(_to_json(study, place, found))
            else:
                print_outlook(console(), found, file)
            return
        options |= {"retry_failed": retry_failed, "shard": part}
        status_ = _run(plan, place, options, as_json=as_json)
    if publish is not None and status_ != 130:
        _publish(place, publish, wanted=not as_json)
    if status_:
        raise typer.Exit(status_)


def _refuse(what: str, given: Mapping[str, object], others: set[str]) -> None:
    """Refuse options that have no effect beside another one."""
    for name, value in given.items():
        if name in others and value not in (None, False):
            raise InputError(f"{name} has no meaning with {what}")


@contextmanager
def _executor(address: str | None, *, wanted: bool) -> Iterator[DaskExecutor | None]:
    """Give the workers of a scheduler; None for processes on this machine."""
    if address is None:
        yield None
        return
    from logging import CRITICAL, getLogger

    from ackclock.sweep import DaskExecutor

    with terminable(), DaskExecutor(address) as executor:
        # A scheduler that is gone is reported by us, in a sentence and without a traceback.
        getLogger("distributed.client").setLevel(CRITICAL)
        if wanted and not executor.workers:
            typer.echo(f"{address} has no workers yet; waiting for them", err=True)
        yield executor


def _merge(
    folders: list[Path], out: Path | None, publish: str | None, *, force: bool, as_json: bool
) -> None:
    from ackclock.cli.sweep_tables import print_results
    from ackclock.sweep.remote import require
    from ackclock.sweep.shards import merge, whole_of

    if publish is not None:
        require(publish)
    place = whole_of(folders[0]) if out is None else out
    results = merge(folders, place, force=force)
    if as_json:
        print_json(_results_json(results.study, place, results))
    else:
        print_results(console(), results, place, 0, 0.0)
    if results.partial:
        echo_error(
            f"{results.runs - len(results)} of {results.runs} runs are in none of these folders"
        )
    elif publish is not None:
        _publish(place, publish, wanted=not as_json)
    if results.partial or results.failed:
        raise typer.Exit(1)


def _publish(place: Path, url: str, *, wanted: bool) -> None:
    from ackclock.sweep.remote import publish

    where = publish(place, url)
    if wanted:
        console().print(f"[dim]Published:[/dim] {where}", soft_wrap=True)


def default_directory(study: Study) -> Path:
    """Return `sweeps/NAME`; with overrides, a short hash of them is added."""
    import hashlib

    parts = [part for part in study.name.split("/") if part.strip(".")]
    label = "/".join(parts) or "study"
    options = [setting.option for setting in study.settings if setting.option]
    if options:
        text = json.dumps(options, ensure_ascii=False)
        label += f"-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
    return Path("sweeps") / label


def _run(plan: Plan, place: Path, options: Mapping[str, Any], *, as_json: bool) -> int:
    """Run a plan, print what came of it, and return the exit status."""
    from ackclock.cli.sweep_tables import print_results
    from ackclock.sweep import SweepInterrupted
    from ackclock.sweep.session import run

    last: list[SweepProgress] = []
    interrupted = False
    with terminable(), progress_bar(describe, wanted=not as_json, width=24) as show:

        def progress(state: SweepProgress) -> None:
            last[:] = [state]
            show(state)

        try:
            results = run(plan, place, progress=progress, **options)
        except SweepInterrupted as interruption:
            results = interruption.results
            interrupted = True
            echo_error(
                f"interrupted; keeping {len(results)} of {results.runs} runs. "
                f"The same command goes on: {shlex.join(['ackclock', *sys.argv[1:]])}"
            )
    simulated = last[0].simulated if last else 0
    wall_s = last[0].wall_s if last else 0.0
    if as_json:
        found = _results_json(plan.study.name, place, results)
        print_json({**found, "simulated": simulated, "wall_s": wall_s})
    else:
        print_results(console(), results, place, simulated, wall_s)
    return 130 if interrupted else int(results.failed > 0)


def _results_json(study: str, place: Path, results: SweepResults) -> dict[str, Any]:
    from ackclock.cli.sweep_tables import failures

    return {
        "study": study,
        "directory": str(place),
        "table": str(place / "results.parquet") if not results.partial else None,
        "runs": results.runs,
        "done": len(results),
        "failed": results.failed,
        "missing": results.runs - len(results),
        "failures": failures(results),
        "notes": results.notes(),
    }


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
