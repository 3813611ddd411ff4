"""A real Linux kernel beside ours: the same scenarios, measured there and simulated here.

The kernel's figures come from `validation/linux`, which sends real TCP through an emulated link
that is known to the packet. `README.md` in this folder says what is shipped, and how it was
measured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ackclock.errors import InputError, ScenarioError, one_of
from ackclock.reproduce.comparison import Progress, Runner, in_turn
from ackclock.reproduce.linux import oracle
from ackclock.reproduce.linux.conversion import UnsupportedError, document
from ackclock.reproduce.linux.figures import Taken, middle, take
from ackclock.reproduce.linux.look import look_at
from ackclock.reproduce.linux.oracle import PACKAGED, KernelScenario
from ackclock.reproduce.linux.score import KernelReport, Row, rows
from ackclock.reproduce.linux.shown import markdown, render
from ackclock.reproduce.paper import one_line, read
from ackclock.run import run
from ackclock.scenario import Scenario

__all__ = ["PACKAGED", "KernelReport", "Options", "compare", "markdown", "render"]

SEEDS = 5
"""Runs of a long scenario in which something is random; the median of each figure counts, as of the
kernel's repetitions."""

SEEDS_OF_SHORT = 31
"""The same for scripted losses and short transfers: few random numbers decide all of a run, such as
the phase of BBR, one of seven, and the median of five runs is often not that of the seven."""

_MISSES = PACKAGED.with_name("misses.yaml")
_TITLE = "How close to Linux"
_NOTES = (
    "A figure agrees if it is within the tolerance of the kernel's median; tolerances are at least "
    "twice the range of the kernel's own repetitions.",
    f"Where something is random, ours is the median of {SEEDS} seeds, and of {SEEDS_OF_SHORT} for "
    "scripted losses and short transfers.",
)


@dataclass(frozen=True)
class Options:
    """What can be asked of this experiment.

    ``oracle`` is another file of measured scenarios; ``only`` a regular expression that their names
    match; ``trace`` the name of a scenario to be compared packet by packet. ``ack_jitter`` is the
    mean of a random time that each of our ACKs comes late: is it noise that makes a difference?
    """

    oracle: Path | None = None
    only: str | None = None
    trace: str | None = None
    ack_jitter: str | None = None

    def __bool__(self) -> bool:
        return self != Options()


def compare(
    name: str,
    figures_file: Path,
    progress: Progress | None = None,
    runner: Runner | None = None,
    options: Options | None = None,
) -> KernelReport:
    """Run the measured scenarios and make the report; see `comparison.compare`.

    Raises:
        InputError: the file of measured scenarios or a name is wrong, or there is no trace.
    """
    chosen = options or Options()
    file = chosen.oracle or figures_file
    scenarios = oracle.read(file)
    looked_at = _one(scenarios, chosen.trace) if chosen.trace else None
    wanted = _chosen(scenarios, chosen.only, looked_at)
    jitter = _jitter(chosen.ack_jitter, wanted[0]) if wanted else ()
    known = _known() if file == PACKAGED else []
    looks = (look_at(looked_at, file),) if looked_at else ()
    return KernelReport(
        name=name,
        title=_TITLE,
        source=_source(file, wanted),
        notes=(*_NOTES, *jitter),
        rows=tuple(
            _explained(row, known)
            for scenario, taken, why in in_turn(
                wanted,
                partial(_outcome, chosen.ack_jitter),
                lambda scenario: scenario.name,
                progress,
            )
            for row in rows(scenario, taken, why)
        ),
        looks=looks,
    )


@dataclass(frozen=True)
class _Why:
    """Where differences come from: those of some scenarios, in some figures or in all."""

    scenarios: re.Pattern[str]
    metrics: tuple[str, ...]
    reason: str


def _explained(row: Row, known: list[_Why]) -> Row:
    if row.agrees or row.reason:
        return row
    for why in known:
        if why.scenarios.search(row.scenario.name) and row.metric in (why.metrics or [row.metric]):
            return replace(row, why=why.reason)
    return row


def _known() -> list[_Why]:
    return [
        _Why(re.compile(e["scenarios"]), tuple(e.get("metrics", ())), one_line(e["reason"]))
        for e in read(_MISSES)["misses"]
    ]


def _source(file: Path, scenarios: list[KernelScenario]) -> str:
    if file == PACKAGED:
        return f"Linux 6.18, {len(scenarios)} scenarios, three repetitions each"
    return f"{file}, {len(scenarios)} scenarios"


def _jitter(mean: str | None, scenario: KernelScenario) -> tuple[str, ...]:
    """Return what to say of the jitter, if there is any.

    Raises:
        InputError: it is no time.
    """
    if mean is None:
        return ()
    try:
        Scenario.from_dict(document(scenario, ack_jitter=mean))
    except ScenarioError:
        raise InputError(f"--ack-jitter: '{mean}' is not a time such as '10 us'") from None
    return (f"Each ACK is delayed by a random time with mean {mean}.",)


def _one(scenarios: list[KernelScenario], name: str) -> KernelScenario:
    known = {scenario.name: scenario for scenario in scenarios}
    return known[one_of("measured scenario", name, known)]


def _chosen(
    scenarios: list[KernelScenario], only: str | None, looked_at: KernelScenario | None
) -> list[KernelScenario]:
    if only is None:
        return [looked_at] if looked_at else scenarios
    try:
        pattern = re.compile(only)
    except re.error as error:
        raise InputError(f"--only: '{only}' is not a regular expression: {error}") from None
    found = [scenario for scenario in scenarios if pattern.search(scenario.name)]
    if not found:
        raise InputError(f"--only: no scenario's name matches '{only}'")
    return found


Outcome = tuple[KernelScenario, Taken | None, str]


def _outcome(ack_jitter: str | None, scenario: KernelScenario) -> Outcome:
    random = scenario.random or ack_jitter
    count = (SEEDS if scenario.bulk else SEEDS_OF_SHORT) if random else 1
    try:
        documents = [document(scenario, seed, ack_jitter) for seed in range(1, count + 1)]
        taken = [take(scenario, run(Scenario.from_dict(each))) for each in documents]
    except UnsupportedError as error:
        return scenario, None, str(error)
    return scenario, middle(taken), ""
