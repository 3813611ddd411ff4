"""Set the figures of published papers next to ours.

An experiment is a file of published figures (`ackclock.reproduce.paper`) and an entry in
:data:`EXPERIMENTS`.

>>> from ackclock import reproduce
>>> (report,) = reproduce.run(["caltech"])
>>> report.agrees
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ackclock.errors import InputError, unknown
from ackclock.reproduce.comparison import Progress, Runner, compare
from ackclock.reproduce.paper import load
from ackclock.reproduce.rendering import markdown, render
from ackclock.reproduce.report import Report, Verdict, exit_code

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Report",
    "Verdict",
    "available",
    "exit_code",
    "markdown",
    "render",
    "run",
]

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Experiment:
    """A publication whose figures can be compared: its name, a line about it, its figures."""

    name: str
    summary: str
    figures: Path


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="caltech",
        summary="Bhasin, Luo, Su, Yang 2015: FAST and Reno over one link, two paths, "
        "three bottlenecks",
        figures=_FOLDER / "caltech.yaml",
    ),
)
"""All experiments, in the order in which they are shown."""


def available() -> dict[str, str]:
    """Return the experiments: name and one line about each."""
    return {experiment.name: experiment.summary for experiment in EXPERIMENTS}


def run(
    names: Iterable[str] = ("all",),
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> list[Report]:
    """Run experiments and compare; one report each.

    Args:
        names: Names of experiments; ``all`` stands for all of them.
        progress: Called after each run with the title of the case, runs done, runs in all.
        runner: Runs a scenario, given its name and overrides; by default the simulator.

    Raises:
        InputError: there is no experiment of such a name.
    """
    wanted = list(dict.fromkeys(names))
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in wanted:
        if name not in known and name != "all":
            raise InputError(unknown("experiment", name, [*known, "all"]))
    chosen = [e for e in EXPERIMENTS if e.name in wanted or "all" in wanted]
    return [
        compare(experiment.name, load(experiment.figures), progress, runner)
        for experiment in chosen
    ]
