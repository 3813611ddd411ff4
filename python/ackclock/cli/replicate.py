"""`ackclock replicate`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ackclock.cli import figures
from ackclock.cli.options import choose, read_overrides, require_folder
from ackclock.cli.progress import progress_bar
from ackclock.cli.terminal import console, echo_error, print_json, terminable
from ackclock.errors import InputError

if TYPE_CHECKING:
    from ackclock.replications import Replications
    from ackclock.scenario import Scenario
    from ackclock.sweep import SweepProgress

_DEFAULT_FIELDS = ("finish_s", "goodput_bps", "timeouts", "retransmissions")


def replicate(
    scenario: str,
    count: int = 1000,
    settings: list[str] | None = None,
    first_seed: int = 1,
    workers: int | None = None,
    time_limit: float | None = None,
    flows: list[str] | None = None,
    fields: list[str] | None = None,
    out: Path | None = None,
    plot: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run a scenario with many seeds and show the distribution of its results.

    Shows quantiles with distribution-free 95 % confidence intervals, and the mean with the tail
    index. Timeouts that double can make a mean meaningless, since a few large values dominate it:
    with a tail index below 1 no mean exists, and none is printed; below 2 its interval is too
    narrow. Unfinished transfers are counted separately: means leave them out, quantiles count them
    as later than all others.

    Each replication is identical to [cyan]ackclock run[/cyan] with its seed. Ctrl-C keeps those
    that are done, marked as partial.

    [bold]Examples[/bold]

    [cyan]ackclock replicate bene/reliability-text-dynamic -n 10000[/cyan]
    [cyan]ackclock replicate bene/reliability-text-dynamic --set links.L1.loss.p=0.5 --plot tail.png[/cyan]
    [cyan]ackclock replicate my-experiment.yaml -n 500 --seed 1000 --out runs.parquet[/cyan]
    """  # noqa: E501  # an example is one line
    from ackclock import ReplicationsFailedError, ReplicationsInterrupted
    from ackclock import replicate as simulate
    from ackclock.cli.replicate_tables import print_tables, to_json
    from ackclock.replications import MEASURED
    from ackclock.scenario import Scenario

    chosen = Scenario.load(scenario, read_overrides(settings))
    shown_flows = choose("flow", flows, chosen.flows)
    shown_fields = choose("field", fields, MEASURED) or _default_fields(chosen)
    # Before the work rather than after it: nobody wants to wait for a refusal.
    if out is not None:
        _require_free(out, chosen.name)
    if plot is not None:
        _require_drawable(plot)

    status = 0
    with terminable(), progress_bar(_words, wanted=not as_json, width=16) as progress:
        try:
            replications = simulate(
                chosen, count, first_seed, workers, progress, time_limit_s=time_limit
            )
        except ReplicationsFailedError as failed:
            replications = failed.replications
        except ReplicationsInterrupted as interruption:
            replications = interruption.replications
            status = 130
            echo_error(f"interrupted; keeping {len(replications)} of {count} replications")
            if out is not None and out.exists():
                # A part must not take the place of a whole.
                out = out.with_name(f"{out.stem}-partial{out.suffix}")
    if out is not None:
        replications.save(out)
    if plot is not None and len(replications):
        _draw(plot, chosen, replications, shown_fields[0], shown_flows)
    if as_json:
        files = {"file": out and str(out), "plot": plot and str(plot)}
        print_json({**to_json(replications, first_seed, shown_flows), **files})
    else:
        print_tables(console(), chosen, replications, shown_fields, shown_flows)
        for path in (out, plot):
            if path is not None:
                typer.echo(f"written: {path}")
    if status or replications.partial:
        raise typer.Exit(status or 1)


def _default_fields(scenario: Scenario) -> list[str]:
    endless = all(flow["send_bytes"] is None for flow in scenario.model["flows"])
    return [name for name in _DEFAULT_FIELDS if not (endless and name == "finish_s")]


def _require_free(out: Path, scenario: str) -> None:
    """Raise unless the file can be written and nothing else would be lost."""
    from ackclock.replications import Replications, parquet_file
    from ackclock.results import ResultsError

    parquet_file(out)
    require_folder(out, "--out")
    if not out.exists() or not (out.is_file() or out.is_dir()):  # /dev/stdout and the like
        return
    try:
        there = Replications.load(out).scenario
    except (InputError, ResultsError):
        raise InputError(
            f"'{out}' exists and holds no replications; it is left alone, choose another with --out"
        ) from None
    if there != scenario:
        raise InputError(f"'{out}' holds replications of '{there}'; choose another with --out")


def _require_drawable(plot: Path) -> None:
    from ackclock.plots.replications import require_format

    require_folder(plot, "--plot")
    require_format(plot)


def _draw(
    plot: Path,
    scenario: Scenario,
    replications: Replications,
    field: str,
    flows: list[str] | None,
) -> None:
    from ackclock.plots.replications import Sample, write
    from ackclock.replications import OF_FLOW, describe

    described = describe(field)
    statistics = replications.summary(field)
    samples = {}
    for name, found in statistics.items():
        flow = name if field in OF_FLOW else None
        if flows is None or flow is None or flow in flows:
            cut_off = len(replications.cut_off(field, flow))
            samples[name] = Sample(replications.sample(field, flow), found, cut_off)
    seeds = replications.arrays["seed"]
    write(
        plot,
        samples,
        title=scenario.model.get("title") or scenario.name,
        quantity=described.meaning,
        unit=described.unit,
        caption=f"{scenario.name}  ·  {len(replications)} replications, seeds {seeds[0]} to "
        f"{seeds[-1]}  ·  dots: quantiles, bars: 95 % confidence",
    )


def _words(state: SweepProgress) -> str:
    speed = state.done / state.wall_s if state.wall_s > 0 else 0.0
    left = (
        "" if state.left_s is None else f"  about {figures.seconds(math.ceil(state.left_s))} left"
    )
    return f"{state.done}/{state.total} replications  {figures.large(speed)}/s{left}"
