"""What differs between two runs: in their scenarios, and in what came out.

>>> from ackclock.differences import of_scenarios
>>> of_scenarios(one.scenario, other.scenario)  # doctest: +SKIP
[Difference(what='flows.F1.tcp.cc.kind', first='cubic', second='reno')]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.columns import FLOWS, LINKS, RUNS, Column, Summary, flow_entries, link_entries
from ackclock.results import Results
from ackclock.run import run
from ackclock.run_directory import RunDirectory
from ackclock.scenario import Scenario

_ABSENT = object()
_FOR_PEOPLE = ("name", "title", "question", "expectation", "source")


@dataclass(frozen=True)
class Difference:
    """A value that two runs do not share.

    Attributes:
        what: Where it is: a path of the scenario as for `--set`, or a flow, a link, or the run.
        first: The value of the first one; None where it has none.
        second: That of the second.
        column: What a result means; none for a value of a scenario.
    """

    what: str
    first: Any
    second: Any
    column: Column | None = None

    @property
    def change(self) -> float | None:
        """The second over the first, less 1; none where that is not a number."""
        numbers = (self.first, self.second)
        if any(isinstance(v, bool) or not isinstance(v, int | float) for v in numbers):
            return None
        return self.second / self.first - 1 if self.first else None

    def to_json(self) -> dict[str, Any]:
        """Return the difference as a plain mapping."""
        name = {"column": self.column.name} if self.column else {}
        return {"what": self.what, **name, "first": self.first, "second": self.second,
                "change": self.change}  # fmt: skip


def of_scenarios(first: Scenario, second: Scenario) -> list[Difference]:
    """Return the values that differ between two resolved scenarios, in the order of the first.

    Flows and links are those of the same id. Titles and other words for people do not count.
    """
    one, other = (_without_words(scenario.canonical) for scenario in (first, second))
    return list(_compared("", one, other))


def of_results(first: Results, second: Results) -> list[Difference]:
    """Return the figures that differ between two runs: of the runs, their flows, their links."""
    found: list[Difference] = []
    one, other = first.summary, second.summary
    for columns, entries in ((RUNS, _runs), (FLOWS, _flows), (LINKS, _links)):
        mine, theirs = entries(one), entries(other)
        for name in dict.fromkeys((*mine, *theirs)):
            for column in columns:
                if column.name in _NAMES:
                    continue
                a, b = (column.of(side.get(name, {})) for side in (mine, theirs))
                if a != b:
                    found.append(Difference(name, a, b, column))
    return found


_NAMES = ("scenario", "seed", "flow", "link", "direction", "digest", "events", "packet_hops")
"""Columns that say which run, flow or link it is, or what it cost."""


def _runs(summary: Summary) -> dict[str, Mapping[str, Any]]:
    return {"run": summary}


def _flows(summary: Summary) -> dict[str, Mapping[str, Any]]:
    return {f"flow {entry['id']}": entry for entry in flow_entries(summary)}


def _links(summary: Summary) -> dict[str, Mapping[str, Any]]:
    return {f"link {entry['id']} {entry['direction']}": entry for entry in link_entries(summary)}


def relevant(differences: Sequence[Difference]) -> list[Difference]:
    """Return the results that people look at first: usual columns that differ by 0.05 % or more."""
    return [
        one
        for one in differences
        if one.column
        and one.column.usual
        and (one.change is None or not math.isfinite(one.change) or abs(one.change) >= 0.0005)
    ]


def opened(
    text: str,
    record: Mapping[str, str] | None = None,
    overrides: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
) -> Results:
    """Return a run from its directory, or simulate a scenario with some records.

    Raises:
        InputError: there is neither.
    """
    if RunDirectory(Path(text)).is_run():
        return Results.load(text)
    scenario = Scenario.load(text, list(overrides), seed)
    return run(scenario.set("record", {"kind": "none", **(record or {})}))


def _without_words(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in _FOR_PEOPLE}


def _compared(place: str, one: Any, other: Any) -> Iterator[Difference]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            inner = f"{place}.{key}" if place else str(key)
            yield from _compared(inner, one.get(key, _ABSENT), other.get(key, _ABSENT))
    elif _named(one) and _named(other):
        mine, theirs = ({entry["id"]: entry for entry in side} for side in (one, other))
        yield from _compared(place, mine, theirs)
    elif one != other:
        yield Difference(
            place, None if one is _ABSENT else one, None if other is _ABSENT else other
        )


def _named(value: Any) -> bool:
    """Whether this is a list of things with ids."""
    return isinstance(value, list) and all(isinstance(v, Mapping) and "id" in v for v in value)
