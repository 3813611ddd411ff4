"""Run the scenarios of a publication and set its figures next to ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from ackclock.reproduce.measures import Run, RunOutcome, measure
from ackclock.reproduce.paper import INSTEAD, Figure, Paper, PaperCase
from ackclock.reproduce.report import Case, Group, Report, Row, Spread

_Job = TypeVar("_Job")
_Taken = TypeVar("_Taken")

Override = tuple[str, Any]
Runner = Callable[[str, Sequence[Override]], RunOutcome]
"""Runs a scenario, given its name and what to set in it."""

Progress = Callable[[str, int, int], None]
"""Told what is being run, how many runs are done and how many there are."""

RANDOM_ORDERS = 20
ORDERS: tuple[dict[str, Any], ...] = (
    {"kind": "first-come"},
    {"kind": "entity"},
    *({"kind": "random", "seed": seed} for seed in range(1, RANDOM_ORDERS + 1)),
)
"""Orders of simultaneous events over which a spread is taken."""

_SPREAD = f"first-come, entity, and random with seeds 1 to {RANDOM_ORDERS}"


def run_scenario(name: str, overrides: Sequence[Override]) -> RunOutcome:
    """Run a scenario of the package."""
    from ackclock.run import run
    from ackclock.scenario import Scenario

    return run(Scenario.load(name, overrides))


def in_turn(
    jobs: Sequence[_Job],
    take: Callable[[_Job], _Taken],
    title: Callable[[_Job], str],
    progress: Progress | None,
) -> list[_Taken]:
    """Do jobs, as many at a time as there are processors; return what each gives, in order.

    The runs are independent, so that the report does not depend on how many go on at a time.
    """
    taken: list[_Taken] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job, one in zip(jobs, pool.map(take, jobs), strict=True):
            taken.append(one)
            if progress is not None:
                progress(title(job), len(taken), len(jobs))
    return taken


def compare(
    name: str, paper: Paper, progress: Progress | None = None, runner: Runner | None = None
) -> Report:
    """Run all cases of a publication and make the report.

    Args:
        name: Name of the experiment.
        paper: The published figures.
        progress: Told after each run.
        runner: Runs one scenario; by default the simulator on the scenarios of the package.
    """
    jobs = [(case, order) for case in paper.cases for order in _orders(case)]

    def take(job: tuple[PaperCase, dict[str, Any] | None]) -> list[float]:
        case, order = job
        outcome = Run((runner or run_scenario)(case.scenario, _overrides(case, order)))
        # Only the numbers are kept: the tables of a hundred runs would fill the memory.
        return [measure(figure.measure, outcome, figure.place) for figure in case.figures]

    results = iter(in_turn(jobs, take, lambda job: job[0].title, progress))
    cases = [_case(case, [next(results) for _ in _orders(case)]) for case in paper.cases]
    return Report(name, paper.title, paper.source, paper.notes, tuple(cases))


def _orders(case: PaperCase) -> list[dict[str, Any] | None]:
    """Orders to run a case in; none means the scenario as it is."""
    if not case.orders:
        return [None]
    return [*([] if case.orders == INSTEAD else [None]), *ORDERS]


def _overrides(case: PaperCase, order: dict[str, Any] | None) -> list[Override]:
    record = {"kind": "none", **dict.fromkeys(sorted(case.tables), "changes")}
    ties = [] if order is None else [("ties", order)]
    return [*case.overrides, *ties, ("record", record)]


def _case(case: PaperCase, runs: list[list[float]]) -> Case:
    rows = [
        (figure.title, _row(figure, [values[i] for values in runs], case.orders))
        for i, figure in enumerate(case.figures)
    ]
    return Case(
        title=case.title,
        scenario=case.scenario,
        about=case.about,
        groups=tuple(_groups(rows)),
        overrides=tuple(f"{path}={value}" for path, value in case.overrides),
        spread=_SPREAD if case.orders else "",
    )


def _groups(rows: list[tuple[str, Row]]) -> Iterator[Group]:
    for title in dict.fromkeys(title for title, _ in rows):
        yield Group(title, tuple(row for other, row in rows if other == title))


def _farthest(values: list[float], figure: Figure) -> float:
    """Return the value that is farthest from the figure: if it agrees, all do."""
    return max(values, key=lambda value: abs(value - figure.figure))


def _row(figure: Figure, values: list[float], orders: str) -> Row:
    by_spread = orders == INSTEAD and not figure.every_order
    if orders == INSTEAD:
        spread = Spread(tuple(values))
        ours = _farthest(values, figure) if figure.every_order else None
    else:
        spread = Spread(tuple(values[1:])) if orders else None
        ours = values[0]
    return replace(figure, ours=ours, spread=spread, by_spread=by_spread)
