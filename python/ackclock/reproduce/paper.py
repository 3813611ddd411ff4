"""Figures of a publication as data: a YAML file beside this module, read and checked.

The file has the figures, where they stand, how they were read, and with what in a run of ours each
is to be compared. It has no code; what is measured is named (`ackclock.reproduce.measures`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.document import Document, plain
from ackclock.reproduce.measures import MEASURES, Place
from ackclock.reproduce.report import Case, Report, Row, Tolerance

BESIDE, INSTEAD = "beside", "instead"


@dataclass(frozen=True, kw_only=True)
class Figure(Row):
    """A row that waits for our value, and how to get it.

    ``every_order`` says whether the figure must come out in every order of simultaneous events,
    ``title`` is the heading of the group it is in.
    """

    measure: str
    place: Place
    every_order: bool
    title: str


@dataclass(frozen=True)
class PaperCase:
    """One run of the publication.

    ``orders`` says what part the order of simultaneous events has: empty for none, ``beside`` when
    a spread over orders is shown beside the comparison, ``instead`` when it takes its place.
    """

    title: str
    scenario: str
    about: str
    figures: tuple[Figure, ...]
    overrides: tuple[tuple[str, Any], ...] = ()
    orders: str = ""

    @property
    def tables(self) -> set[str]:
        """Record tables that the measures of this case read."""
        return {table for figure in self.figures for table in MEASURES[figure.measure].tables}


@dataclass(frozen=True)
class Paper:
    """A publication: title, source, notes for the reader, cases."""

    title: str
    source: str
    notes: tuple[str, ...]
    cases: tuple[PaperCase, ...]


def load(path: Path) -> Paper:
    """Read a file of published figures.

    Raises:
        ValueError: the file has a key, a measure, a tolerance or a reason that does not exist, or a
            figure with nothing to compare with. The file is part of the package, so this is a fault
            of the package.
    """
    data = read(path)
    _only(data, "title", "source", "notes", "tolerances", "reasons", "cases")
    limits = tolerances(data)
    reasons = {name: one_line(text) for name, text in data["reasons"].items()}
    cases = tuple(_case(entry, limits, reasons) for entry in data["cases"])
    if unused := set(reasons.values()) - {f.reason for case in cases for f in case.figures}:
        raise ValueError(f"reasons without a figure: {unused}")
    return Paper(
        title=data["title"],
        source=one_line(data["source"]),
        notes=tuple(one_line(note) for note in data["notes"]),
        cases=cases,
    )


def _case(
    entry: Mapping[str, Any], tolerances: Mapping[str, Tolerance], reasons: Mapping[str, str]
) -> PaperCase:
    _only(entry, "title", "scenario", "about", "overrides", "orders", "groups")
    orders = entry.get("orders", "")
    if orders not in ("", BESIDE, INSTEAD):
        raise ValueError(f"orders: {orders}")
    figures = [
        _figure(row, group, tolerances, reasons)
        for group in entry["groups"]
        for row in group["rows"]
    ]
    return PaperCase(
        title=entry["title"],
        scenario=entry["scenario"],
        about=one_line(entry["about"]),
        figures=tuple(figures),
        overrides=tuple(entry.get("overrides", {}).items()),
        orders=orders,
    )


_OF_GROUP = ("source", "read", "span", "tolerance", "reason")
_OF_ROW = ("what", "measure", "of", "at", "nth", "paper", "predicted", "original", "every_order")


def _figure(
    row: Mapping[str, Any],
    group: Mapping[str, Any],
    tolerances: Mapping[str, Tolerance],
    reasons: Mapping[str, str],
) -> Figure:
    _only(group, "title", "rows", *_OF_GROUP)
    _only(row, *_OF_ROW, *_OF_GROUP)
    both = {**{key: group[key] for key in _OF_GROUP if key in group}, **row}
    if row["measure"] not in MEASURES:
        raise ValueError(f"no measure is named {row['measure']}")
    original = row.get("original", [])
    original = tuple(_number(v) for v in (original if isinstance(original, list) else [original]))
    if "paper" not in row and not original:
        raise ValueError(f"nothing to compare with: {row['what']}")
    start, stop = both.get("span", (0.0, math.inf))
    return Figure(
        what=row["what"],
        unit=MEASURES[row["measure"]].unit,
        ours=None,
        measure=row["measure"],
        place=Place(row.get("of", ""), start, stop, row.get("at", 0.0), row.get("nth", 1)),
        source=both.get("source", "") if "paper" in row else "",
        read=both.get("read", "") if "paper" in row else "",
        paper=_number(row["paper"]) if "paper" in row else None,
        predicted=row.get("predicted"),
        original=original,
        tolerance=tolerances[both["tolerance"]],
        reason=reasons[both["reason"]] if "reason" in both else None,
        every_order=row.get("every_order", False),
        title=group["title"],
    )


def _only(mapping: Mapping[str, Any], *known: str) -> None:
    if unknown := set(mapping) - set(known):
        raise ValueError(f"unknown keys: {', '.join(sorted(unknown))}")


def _number(value: float | str) -> float:
    return math.inf if value == "never" else float(value)


def read(path: Path) -> dict[str, Any]:
    """Read a file of figures as it is, for experiments with a form of their own."""
    return plain(Document.read(path).tree(), as_written=True)


def tolerances(data: Mapping[str, Any]) -> dict[str, Tolerance]:
    """Return the tolerances that a part of a file names."""
    return {name: Tolerance(name, **limits) for name, limits in data["tolerances"].items()}


def report(name: str, data: Mapping[str, Any], cases: Iterable[Case]) -> Report:
    """Return the report of an experiment with the title, source and notes of its file."""
    notes = tuple(one_line(note) for note in data["notes"])
    return Report(name, data["title"], one_line(data["source"]), notes, tuple(cases))


def one_line(text: str) -> str:
    """Return text that was folded in the file as one line."""
    return " ".join(text.split())
