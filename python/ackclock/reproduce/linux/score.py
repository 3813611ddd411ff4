"""Ours compared with the kernel's, figure by figure, and the scores of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.reproduce.linux.figures import Taken
from ackclock.reproduce.linux.oracle import KernelScenario, Measured
from ackclock.reproduce.paper import read
from ackclock.reproduce.report import Verdict, verdict_counts

_DATA = read(Path(__file__).with_name("score.yaml"))

METRICS: dict[str, tuple[str, str]] = {
    key: (what, unit) for key, (what, unit) in _DATA["metrics"].items()
}
"""Name and unit of each figure."""

LINK = None
"""Place of the figures that belong to no flow."""


@dataclass(frozen=True)
class Row:
    """One figure of one scenario: of flow number ``flow``, or of the bottleneck.

    ``algorithms`` are those whose score it counts for; ``ours`` is none where the scenario cannot
    be run (``reason`` says why), or where our run has no such figure (a transfer that did not end).
    ``why`` says where a difference comes from.
    """

    scenario: KernelScenario
    metric: str
    flow: int | None
    algorithms: tuple[str, ...]
    kernel: Measured
    ours: float | None
    reason: str = ""
    why: str = ""

    @property
    def off(self) -> float:
        """Distance from the kernel's median in tolerances; infinite where ours is absent."""
        if self.ours is None:
            return math.inf
        distance = abs(self.ours - self.kernel.median)
        if self.kernel.tolerance:
            return distance / self.kernel.tolerance
        return math.inf if distance else 0.0

    @property
    def agrees(self) -> bool:
        """Whether ours is within the tolerance."""
        return self.ours is not None and self.kernel.holds(self.ours)

    @property
    def exact(self) -> bool:
        """Whether ours is what the kernel's own repetitions gave."""
        return self.ours is not None and self.kernel.repeats(self.ours)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the row."""
        if self.ours is None and self.reason:
            return Verdict.NOT_MODELLED
        return Verdict.AGREES if self.agrees else Verdict.DIFFERS

    @property
    def what(self) -> str:
        """What the figure is, with the number of its flow where there are several."""
        name = METRICS.get(self.metric, (self.metric, ""))[0]
        several = self.flow is not None and len(self.scenario.flows) > 1
        return f"{name}, flow {self.flow}" if several else name

    def to_json(self) -> dict[str, Any]:
        """Return the row as a plain mapping."""
        return {
            "scenario": self.scenario.name,
            "family": self.scenario.family,
            "flow": self.flow,
            "algorithms": list(self.algorithms),
            "metric": self.metric,
            "kernel": {
                "median": self.kernel.median,
                "min": self.kernel.least,
                "max": self.kernel.most,
                "tolerance": self.kernel.tolerance,
            },
            "ours": self.ours,
            "off_in_tolerances": self.off if math.isfinite(self.off) else None,
            "verdict": self.verdict.value,
            "reason": self.reason or None,
            "why": self.why or None,
        }


def rows(scenario: KernelScenario, taken: Taken | None, reason: str = "") -> Iterator[Row]:
    """Give all figures of a scenario; without a run of ours all are absent, for this reason."""
    every = tuple(sorted({flow.cc for flow in scenario.flows}))
    for metric, kernel in scenario.figures.items():
        ours = taken.link.get(metric) if taken else None
        yield Row(scenario, metric, LINK, every, kernel, ours, reason)
    for number, flow in enumerate(scenario.flows):
        for metric, kernel in flow.figures.items():
            ours = taken.flows[number].get(metric) if taken else None
            yield Row(scenario, metric, number, (flow.cc,), kernel, ours, reason)


@dataclass(frozen=True)
class Criterion:
    """What share of some figures must agree."""

    name: str
    family: str
    required: float | None = None
    metrics: Sequence[str] = ()
    exact: bool = False
    trains: bool = False

    def takes(self, row: Row) -> bool:
        """Whether a row counts here."""
        return (
            row.scenario.family == self.family
            and (not self.metrics or row.metric in self.metrics)
            and (row.scenario.gso_segs != 1) == self.trains
        )

    def met(self, row: Row) -> bool:
        """Whether a row is as it must be."""
        return row.exact if self.exact else row.agrees


CRITERIA = tuple(Criterion(**one) for one in _DATA["criteria"])
"""What the command judges, and the share that must be met; none where it is only shown."""


@dataclass(frozen=True)
class Score:
    """How many figures of an algorithm are as a criterion asks.

    ``modelled`` is false where none of its scenarios can be run.
    """

    criterion: Criterion
    algorithm: str
    met: int
    total: int
    modelled: bool = True

    @property
    def share(self) -> float:
        """Share of the figures that are."""
        return self.met / self.total

    @property
    def passes(self) -> bool:
        """Whether that is enough."""
        required = self.criterion.required
        return required is None or self.met >= required * self.total - 1e-9

    def to_json(self) -> dict[str, Any]:
        """Return the score as a plain mapping."""
        return {
            "criterion": self.criterion.name,
            "algorithm": self.algorithm,
            "met": self.met,
            "total": self.total,
            "share": round(self.share, 4),
            "required": self.criterion.required,
            "passes": self.passes,
            "modelled": self.modelled,
        }


@dataclass(frozen=True)
class KernelReport:
    """The kernel's figures next to ours.

    ``looks`` are comparisons of single runs, packet by packet, that were asked for.
    """

    name: str
    title: str
    source: str
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    looks: tuple[Any, ...] = ()

    @property
    def algorithms(self) -> list[str]:
        """The algorithms, in alphabetical order."""
        return sorted({name for row in self.rows for name in row.algorithms})

    @property
    def scenarios(self) -> list[KernelScenario]:
        """The scenarios, in the order of the file."""
        return list({row.scenario.name: row.scenario for row in self.rows}.values())

    def scores(self) -> Iterator[Score]:
        """Give the score of each algorithm by each criterion that has figures of it."""
        for criterion in CRITERIA:
            for algorithm in self.algorithms:
                counted = [
                    row for row in self.rows if algorithm in row.algorithms and criterion.takes(row)
                ]
                if counted:
                    met = sum(criterion.met(row) for row in counted)
                    modelled = any(row.verdict is not Verdict.NOT_MODELLED for row in counted)
                    yield Score(criterion, algorithm, met, len(counted), modelled)

    @property
    def misses(self) -> list[Row]:
        """The rows that differ, in the order of the file."""
        return [row for row in self.rows if not row.agrees]

    @property
    def agrees(self) -> bool:
        """Whether every score is high enough."""
        return all(score.passes for score in self.scores())

    @property
    def exit_code(self) -> int:
        """Exit status of a command that shows this report: 1 when a score is too low."""
        return 0 if self.agrees and not any(look.differs for look in self.looks) else 1

    def counts(self) -> dict[str, int]:
        """Return the number of rows by verdict."""
        return verdict_counts(row.verdict for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a plain mapping."""
        return {
            "experiment": self.name,
            "title": self.title,
            "source": self.source,
            "agrees": self.agrees,
            "counts": self.counts(),
            "notes": list(self.notes),
            "scores": [score.to_json() for score in self.scores()],
            "rows": [row.to_json() for row in self.rows],
            "traces": [look.to_json() for look in self.looks],
        }
