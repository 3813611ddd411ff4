"""What differs between two runs: in their scenarios, and in what came out.

>>> from ackclock.differences import of_scenarios
>>> list(of_scenarios(one.scenario, other.scenario))  # doctest: +SKIP
[Difference(what='flows.F1.tcp.cc.kind', first='cubic', second='reno')]
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from ackclock.columns import FLOWS, LINKS, RUNS, Column, Summary
from ackclock.errors import must_have
from ackclock.results import Results
from ackclock.run import run
from ackclock.run_directory import RunDirectory
from ackclock.scenario import Scenario
from ackclock.summaries import Rows

_HELD_BYTES = 32 << 20
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


def of_scenarios(first: Scenario, second: Scenario) -> Iterator[Difference]:
    """Yield the values that differ between two resolved scenarios, in the order of the first.

    Flows and links are those of the same id. Titles and other words for people do not count.
    """
    for name, one in (("first", first), ("second", second)):
        must_have(one, "handle", name=name, wanted="a `Scenario`")
    with SpooledTemporaryFile(_HELD_BYTES) as lines:
        first.handle.write_differences(second.handle, lines.write)
        lines.seek(0)
        found = (Difference(*json.loads(line)) for line in lines)
        yield from (one for one in found if one.what not in _FOR_PEOPLE)


def of_results(first: Results, second: Results) -> Iterator[Difference]:
    """Yield the figures that differ between two runs: of the runs, their flows, their links."""
    for name, results in (("first", first), ("second", second)):
        must_have(results, "summary", name=name)
    one, other = first.summary, second.summary
    yield from _figures("run", RUNS, one, other)
    for name, mine, theirs in _pairs(one["flows"], other["flows"]):
        yield from _figures(f"flow {name}", FLOWS, mine, theirs)
    for name, mine, theirs in _pairs(one["links"], other["links"]):
        for direction, *ways in _pairs(mine, theirs):
            yield from _figures(f"link {name} {direction}", LINKS, *ways)


_NAMES = ("scenario", "seed", "flow", "link", "direction", "digest", "events", "packet_hops")
"""Columns that say which run, flow or link it is, or what it cost."""


def _pairs(one: Summary, other: Summary) -> Iterator[tuple[str, Any, Any]]:
    """Yield each name with its entries in both, `{}` for none, where they differ."""
    if isinstance(one, Rows) and isinstance(other, Rows):
        yield from one.unlike(other)
        return
    names = dict.fromkeys((*one, *other))
    pairs = ((name, one.get(name, {}), other.get(name, {})) for name in names)
    yield from (pair for pair in pairs if pair[1] != pair[2])


def _figures(
    what: str, columns: Sequence[Column], one: Summary, other: Summary
) -> Iterator[Difference]:
    for column in columns:
        key = column.keys[0]
        if one.get(key) == other.get(key) or column.name in _NAMES:
            continue
        if (a := column.of(one)) != (b := column.of(other)):
            yield Difference(what, a, b, column)


def is_relevant(one: Difference) -> bool:
    """Whether people look at a result first: usual columns that differ by 0.05 % or more."""
    change = one.change
    small = change is not None and math.isfinite(change) and abs(change) < 0.0005
    return one.column is not None and one.column.usual and not small


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
