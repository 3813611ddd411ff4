"""Set the figures of published papers, and those of a real kernel, next to ours.

An experiment is a file of figures, a function that compares (for most
`ackclock.reproduce.comparison`), and an entry in :data:`EXPERIMENTS`.

>>> from ackclock import reproduce
>>> (report,) = reproduce.run(["caltech"])
>>> report.agrees
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.errors import InputError, names_of, one_of
from ackclock.reproduce import bene_congestion, bene_reliability, linux, ns3_lab, rendering
from ackclock.reproduce.comparison import Progress, Runner, compare
from ackclock.reproduce.paper import load
from ackclock.reproduce.report import Report, Verdict

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Report",
    "Verdict",
    "available",
    "exit_code",
    "linux",
    "markdown",
    "render",
    "run",
]

_FOLDER = Path(__file__).parent

AnyReport = Report | linux.KernelReport
"""What comes out of an experiment: figures of a publication, or of a kernel, next to ours."""


def _paper(name: str, figures: Path, progress: Progress | None, runner: Runner | None) -> Report:
    return compare(name, load(figures), progress, runner)


@dataclass(frozen=True)
class Experiment:
    """A publication whose figures can be compared.

    ``compare`` runs it, given the name, the file of figures, a progress function and a runner.
    """

    name: str
    summary: str
    figures: Path
    compare: Callable[[str, Path, Progress | None, Runner | None], AnyReport] = _paper


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="caltech",
        summary="Bhasin, Luo, Su, Yang 2015: FAST and Reno over one link, two paths, "
        "three bottlenecks",
        figures=_FOLDER / "caltech.yaml",
    ),
    Experiment(
        name="bene-reliability",
        summary="Elison and Eklund 2016: timers over a lossy link and windows on Bene",
        figures=_FOLDER / "bene-reliability.yaml",
        compare=bene_reliability.compare,
    ),
    Experiment(
        name="bene-congestion",
        summary="Heffner 2015: Tahoe, AIAD and AIMD on Bene, by five sets of rules",
        figures=_FOLDER / "bene-congestion.yaml",
        compare=bene_congestion.compare,
    ),
    Experiment(
        name="ns3-lab",
        summary="Ravuri 2016: Tahoe and Reno over windows, queues and segments in ns-3.24",
        figures=_FOLDER / "ns3-lab.yaml",
        compare=ns3_lab.compare,
    ),
    Experiment(
        name="ns2-lab",
        summary="Fernández Camón and Pérez Datsira 2021: Tahoe, Reno and Vegas in ns-2.35",
        figures=_FOLDER / "ns2-lab.yaml",
    ),
    Experiment(
        name="linux",
        summary="Linux 6.18: Reno, CUBIC and BBR on a known bottleneck, measured on a real kernel",
        figures=linux.PACKAGED,
        compare=linux.compare,
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
    options: linux.Options | None = None,
) -> list[AnyReport]:
    """Run experiments and compare; one report each.

    Args:
        names: Names of experiments; ``all`` stands for all of them.
        progress: Called after each run with the title of the case, runs done, runs in all.
        runner: Runs a scenario, given its name and overrides; by default the simulator.
        options: What is asked of the experiment ``linux``, if it alone is wanted.

    Raises:
        InputError: there is no experiment of such a name, or it has no such options.
    """
    wanted = list(dict.fromkeys(names_of("names", names, "caltech")))
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in wanted:
        one_of("experiment", name, [*known, "all"])
    if options and wanted != ["linux"]:
        raise InputError("--oracle, --only and --trace are options of the experiment 'linux' alone")
    chosen = [e for e in EXPERIMENTS if e.name in wanted or "all" in wanted]
    return [
        (partial(linux.compare, options=options) if options else experiment.compare)(
            experiment.name, experiment.figures, progress, runner
        )
        for experiment in chosen
    ]


def exit_code(reports: Sequence[AnyReport]) -> int:
    """Return the exit status for several reports: 1 when any of them fails."""
    return max((report.exit_code for report in reports), default=0)


def render(report: AnyReport, console: Console) -> None:
    """Print a report on a terminal."""
    if isinstance(report, linux.KernelReport):
        linux.render(report, console)
    else:
        rendering.render(report, console)


def markdown(report: AnyReport) -> str:
    """Return a report as Markdown, without a heading of the first level."""
    if isinstance(report, linux.KernelReport):
        return linux.markdown(report)
    return rendering.markdown(report)
