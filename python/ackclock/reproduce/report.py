"""A comparison with published figures: rows, groups, cases, reports, and what agreeing means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from enum import StrEnum
from statistics import median
from typing import Any


class Verdict(StrEnum):
    """The verdict of a row. Only :attr:`DIFFERS` is a failure."""

    AGREES = "agrees"
    """Ours is within the tolerance of the published figure (of the original program's if the row
    has no published one)."""
    EXPLAINED = "explained"
    """Ours is outside the tolerance for a reason that is known and that the run bears out: ours
    agrees with the original program, or the published figure lies within the spread over orders
    of simultaneous events."""
    DIFFERS = "differs"
    """Ours is outside the tolerance and nothing bears out a reason."""
    INSIDE = "inside the spread"
    """The figure depends on the order of simultaneous events; the published one is within ours."""
    OUTSIDE = "outside the spread"
    """The figure depends on the order of simultaneous events; the published one lies elsewhere."""
    NOT_REPRODUCIBLE = "not reproducible"
    """The published figure is not a property of the model; the reason says why."""
    NOT_MODELLED = "not modelled"
    """The experiment needs what no model here has, so nothing is compared; the reason says what."""


def verdict_counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return how many there are of each verdict, those that do not occur left out."""
    every = list(verdicts)
    return {verdict.value: every.count(verdict) for verdict in Verdict if verdict in every}


@dataclass(frozen=True)
class Tolerance:
    """How far ours may be away: within ``relative`` of the figure, or within ``absolute``."""

    name: str
    relative: float = 0.0
    absolute: float = 0.0

    def holds(self, ours: float, figure: float) -> bool:
        """Whether the two agree. Never and never (infinite) agree, too."""
        if ours == figure:
            return True
        # What is exactly at the limit in decimal must not fail by a rounding error.
        limit = max(self.relative * abs(figure), self.absolute) * (1 + 1e-9)
        return math.isfinite(ours) and abs(ours - figure) <= limit

    def text(self) -> str:
        """Return the tolerance in words; an absolute part is in the unit of the figure."""
        parts = [f"{self.relative * 100:g} %"] if self.relative else []
        if self.absolute:
            parts.append(f"{self.absolute:g}")
        return " or ".join(parts) or "none"


def value(text: str | float) -> float:
    """Return a number as it is printed; digits may be grouped by commas."""
    return float(str(text).replace(",", ""))


def tolerance(text: str | float) -> Tolerance:
    """Return half a unit of the last printed digit as a tolerance."""
    exponent = Decimal(str(text).replace(",", "")).as_tuple().exponent
    assert isinstance(exponent, int), "a printed number is finite"
    return Tolerance("printed", absolute=0.5 * 10.0**exponent)


@dataclass(frozen=True)
class Spread:
    """Values of one figure over several orders of simultaneous events (infinite: never)."""

    values: tuple[float, ...]

    @property
    def low(self) -> float:
        """Least value."""
        return min(self.values)

    @property
    def middle(self) -> float:
        """Median."""
        return median(self.values)

    @property
    def high(self) -> float:
        """Greatest value."""
        return max(self.values)

    def holds(self, figure: float) -> bool:
        """Whether a figure lies between the least and the greatest value."""
        return self.low <= figure <= self.high


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: What is compared.
        unit: Unit of all numbers of the row, empty for counts.
        source: Where the published figure stands, such as ``Figure 12``.
        read: How it was read there: ``printed``, ``axis``, ...; empty without one.
        paper: The published figure; none where the paper has none.
        predicted: What the paper predicted for it, where it did.
        original: Values that runs of the paper's own program give.
        ours: Our value; infinite for something that never happens; none without a single one.
        tolerance: How far ours may be away.
        spread: Ours over several orders of simultaneous events, where these were run.
        reason: Why ours may differ.
        by_spread: The figure depends on the order of simultaneous events, so that the spread alone
            is compared.
    """

    what: str
    unit: str
    ours: float | None
    tolerance: Tolerance
    paper: float | None = None
    original: tuple[float, ...] = ()
    source: str = ""
    read: str = ""
    predicted: float | None = None
    spread: Spread | None = None
    reason: str | None = None
    by_spread: bool = False

    @classmethod
    def of(
        cls,
        what: str,
        unit: str,
        figure: float,
        ours: float | None,
        tolerance: Tolerance,
        read: tuple[str, str] | None = None,
    ) -> Row:
        """Compare with a figure that was read somewhere in a report, else with its program's."""
        mine = math.inf if ours is None else float(ours)
        if read is None:
            return cls(what, unit, mine, tolerance, original=(float(figure),))
        return cls(what, unit, mine, tolerance, float(figure), (), *read)

    @classmethod
    def printed(
        cls, what: str, unit: str, text: str, ours: float, read: tuple[str, str] | None = None
    ) -> Row:
        """Compare with a figure as it is printed, to its last digit."""
        return cls.of(what, unit, value(text), ours, tolerance(text), read)

    @property
    def figure(self) -> float:
        """What ours is compared with: the paper's figure, or the original program's without one."""
        return self.paper if self.paper is not None else self.original[0]

    @property
    def against(self) -> str:
        """Whose figure ours is compared with: ``paper`` or ``original``."""
        return "paper" if self.paper is not None else "original"

    @property
    def difference(self) -> float | None:
        """Ours less the figure; none without a single value of ours, or when either is never."""
        if self.ours is None or not (math.isfinite(self.ours) and math.isfinite(self.figure)):
            return None
        return self.ours - self.figure

    @property
    def verdict(self) -> Verdict:
        """The verdict of the row."""
        if self.by_spread:
            return self._by_spread()
        assert self.ours is not None, "a row without spread has a value"
        if self.tolerance.holds(self.ours, self.figure):
            return Verdict.AGREES
        return Verdict.EXPLAINED if self.reason and self._borne_out() else Verdict.DIFFERS

    def _by_spread(self) -> Verdict:
        if self.paper is None or self.spread is None:
            return Verdict.NOT_REPRODUCIBLE
        return Verdict.INSIDE if self.spread.holds(self.paper) else Verdict.OUTSIDE

    def _borne_out(self) -> bool:
        assert self.ours is not None
        by_original = self.paper is not None and any(
            self.tolerance.holds(self.ours, value) for value in self.original
        )
        return by_original or (self.spread is not None and self.spread.holds(self.figure))

    def to_json(self) -> dict[str, Any]:
        """Return the row as a plain mapping; what never happens is the text ``never``."""
        spread = None
        if self.spread is not None:
            spread = {
                "min": _json(self.spread.low),
                "median": _json(self.spread.middle),
                "max": _json(self.spread.high),
                "runs": len(self.spread.values),
            }
        return {
            "what": self.what,
            "unit": self.unit,
            "source": self.source,
            "read": self.read,
            "paper": _json(self.paper),
            "predicted": _json(self.predicted),
            "original": [_json(value) for value in self.original],
            "ours": _json(self.ours),
            "spread": spread,
            "compared_with": self.against,
            "difference": _json(self.difference),
            "tolerance": asdict(self.tolerance),
            "verdict": self.verdict.value,
            "reason": self.reason,
        }


def _json(value: float | None) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    return "never" if math.isinf(value) else value


@dataclass(frozen=True)
class Group:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Case:
    """All figures of one run.

    ``scenario`` is its name, ``overrides`` what was set on top of it as ``PATH=VALUE``, ``about`` a
    paragraph on what comes out and why; ``spread`` says over which orders of events it was run.
    """

    title: str
    scenario: str
    about: str
    groups: tuple[Group, ...]
    overrides: tuple[str, ...] = ()
    spread: str = ""

    @property
    def rows(self) -> Iterator[Row]:
        """All rows."""
        return (row for group in self.groups for row in group.rows)

    def count(self, verdict: Verdict) -> int:
        """Return the number of rows with this verdict."""
        return sum(row.verdict is verdict for row in self.rows)


@dataclass(frozen=True)
class Report:
    """One experiment: published figures next to ours.

    ``name`` is the experiment's, ``source`` the publication, ``notes`` are sentences on how to read
    the tables.
    """

    name: str
    title: str
    source: str
    notes: tuple[str, ...]
    cases: tuple[Case, ...] = field(default=())

    @property
    def rows(self) -> Iterator[Row]:
        """All rows."""
        return (row for case in self.cases for row in case.rows)

    @property
    def failures(self) -> list[tuple[Case, Row]]:
        """The rows that should agree and differ."""
        return [
            (case, row)
            for case in self.cases
            for row in case.rows
            if row.verdict is Verdict.DIFFERS
        ]

    @property
    def agrees(self) -> bool:
        """Whether no row fails."""
        return not self.failures

    @property
    def exit_code(self) -> int:
        """Exit status of a command that shows this report: 1 when a row fails."""
        return 0 if self.agrees else 1

    def counts(self) -> dict[str, int]:
        """Return the number of rows by verdict, those without rows left out."""
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
            "cases": [
                {
                    "title": case.title,
                    "scenario": case.scenario,
                    "overrides": list(case.overrides),
                    "about": case.about,
                    "spread": case.spread or None,
                    "groups": [
                        {"title": group.title, "rows": [row.to_json() for row in group.rows]}
                        for group in case.groups
                    ],
                }
                for case in self.cases
            ],
        }
