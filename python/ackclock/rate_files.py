"""Rates of links from files: `rate: {kind: table, file: PATH}`, also of kind `mahimahi`.

The simulator reads no files, so what a file says is put in its place. A resolved scenario holds the
content, and can be run where the file is not.
"""

from __future__ import annotations

import copy
import csv
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.files import named

if TYPE_CHECKING:
    from ackclock.document import Document
    from ackclock.errors import Problem

Place = tuple[str | int, ...]

MAX_LINES = 1_000_000
"""The longest file: a day of a rate that changes ten times per second."""

_UNITS = {
    "time_s": "s",
    "time_ms": "ms",
    "rate_bps": "bps",
    "rate_kbps": "kbps",
    "rate_mbps": "Mbps",
}
"""Columns of a table whose cells are numbers, and their unit."""

_FILE = "a file; relative to the file that names it, with --set to the current folder"
_TABLE = "a time and a rate a line, ascending from 0 s: `0.5 s, 10 Mbps`, or numbers below " + (
    "`time_s` or `time_ms`, `rate_bps`, `rate_kbps` or `rate_mbps`"
)
_TRACE = "a whole number of milliseconds a line, ascending; the last one above 0"


def with_contents(document: Document, folder: Path) -> tuple[dict[str, Any], list[Problem]]:
    """Return the document with the content of each file in its place, and what is wrong with files.

    Args:
        document: the scenario as written. It is not changed.
        folder: where relative paths start; those set from outside start in the current folder.
    """
    if not any(_rules(document.data)):
        return document.data, []
    data = copy.deepcopy(document.data)
    problems: list[Problem] = []
    for place, rule in list(_rules(data)):
        written = rule.pop("file")
        outside = document.is_from_outside(place)
        key, read = ("steps", _table) if rule["kind"] == "table" else ("opportunities", _trace)
        try:
            if key in rule:
                raise ValueError(f"'{key}' and 'file' exclude each other")
            rule[key] = read(_lines(written, Path() if outside else folder))
        except ValueError as error:
            # With something in its place, the rest of the document can be checked as well.
            rule[key] = [{"at": "0 s", "rate": "1 Mbps"}] if key == "steps" else [1]
            message, allowed = (*error.args, _FILE)[:2]
            problems.append(
                document.problem((*place, "file"), message, value=written, allowed=allowed)
            )
    return data, problems


def _rules(value: Any, place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the rates that name a file, wherever links stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if not isinstance(one, dict | list):
            continue
        if key == "rate" and isinstance(one, dict) and "file" in one:
            if one.get("kind") in ("table", "mahimahi"):
                yield (*place, key), one
        else:
            yield from _rules(one, (*place, key))


def _lines(written: Any, folder: Path) -> list[str]:
    lines: list[str] = []
    with named(written, folder) as stream, TextIOWrapper(stream, "utf-8-sig") as text:
        for line in text:
            if len(lines) == MAX_LINES:
                raise ValueError(f"more than {MAX_LINES} lines")
            lines.append(line.strip())
    return lines


def _trace(lines: list[str]) -> list[int]:
    """Return the milliseconds of a trace of Mahimahi, one a line."""
    times: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if not (line.isascii() and line.isdigit() and len(line) < 16):
            raise ValueError(f"line {number}: `{line[:40]}` is not a whole number", _TRACE)
        if times and int(line) < times[-1]:
            raise ValueError(f"line {number}: {line} is below the one before it", _TRACE)
        times.append(int(line))
    if not times or not times[-1]:
        raise ValueError("a trace lasts longer than 0 ms", _TRACE)
    return times


def _table(lines: list[str]) -> list[dict[str, str]]:
    """Return the steps of a table: a time and a rate a line, with units or under their names."""
    units = ("", "")
    steps: list[dict[str, str]] = []
    head, last = "", -1
    for number, cells in enumerate(csv.reader(lines), 1):
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        if len(cells) != 2:
            raise ValueError(
                f"line {number} has {len(cells)} values, not a time and a rate", _TABLE
            )
        time, rate = (cell.strip() for cell in cells)
        if not head and not steps and not any(cell[:1] in "0123456789+-." for cell in (time, rate)):
            head = f"{time},{rate}"
            units = (_UNITS.get(time.lower(), ""), _UNITS.get(rate.lower(), ""))
            continue
        step = {"at": f"{time} {units[0]}".strip(), "rate": f"{rate} {units[1]}".strip()}
        at, _ = (
            _amount(text, kind, number, head)
            for text, kind in zip(step.values(), ("time", "rate"), strict=True)
        )
        if at <= last:
            raise ValueError(f"line {number}: {step['at']} is not after the time before it", _TABLE)
        if not steps and at:
            raise ValueError(f"line {number}: the first time is {step['at']}, not 0 s", _TABLE)
        last = at
        steps.append(step)
    if not steps:
        raise ValueError("the table is empty", _TABLE)
    return steps


def _amount(text: str, kind: str, number: int, head: str) -> int:
    """Return the amount of a cell of this kind in the engine's units."""
    if (read := _core.quantity(text)) and read[0] == kind:
        return read[1]
    below = f" below `{head}`" if head else ""
    raise ValueError(f"line {number}: `{text}`{below} is not a {kind} with its unit", _TABLE)
