"""The ns-3 lab: goodput of Tahoe and Reno over a grid of windows, queues and segments.

The figures are data (`ns3-lab.yaml`): what the report prints, and what each sink of ns-3.24 has
received in each of the 192 runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.metrics import jain
from ackclock.reproduce.comparison import Override, Progress, Runner, in_turn, run_scenario
from ackclock.reproduce.paper import one_line, read, report
from ackclock.reproduce.report import Case, Group, Report, Row, Tolerance

_ONE, _TEN = "ns3/lab-one-flow", "ns3/lab-ten-flows"
# What ns-3.24 halves: its Tahoe the window, its Reno the data in flight.
_HALVES = {"tahoe": "cwnd", "reno": "flight"}
_COUNT = Tolerance("count")

Cell = tuple[str, int, int, int]
"""Recovery, segment, window and queue of a run, in bytes."""


def compare(
    name: str, figures: Path, progress: Progress | None = None, runner: Runner | None = None
) -> Report:
    """Run the grid with one flow and with ten and make the report; see `comparison.compare`."""
    data = read(figures)
    segments = data["original"]["one_flow"]
    one = {cell: [count] for cell, count in _cells(segments, data["queues"])}
    ten = dict(_cells(data["original"]["ten_flows"], data["queues"]))
    jobs = [*((_ONE, cell) for cell in one), *((_TEN, cell) for cell in ten)]

    def take(job: tuple[str, Cell]) -> list[int]:
        scenario, cell = job
        flows = (runner or run_scenario)(scenario, _overrides(cell)).summary["flows"]
        return [flow["bytes_delivered"] // cell[1] for flow in flows.values()]

    received = dict(zip(jobs, in_turn(jobs, take, lambda job: job[0], progress), strict=True))
    span_s = (data["end_ns"] - data["starts_ns"][0]) / 1e9
    ours = {cell: received[_ONE, cell][0] for cell in one}
    goodput = {cell: count * cell[1] / span_s for cell, count in ours.items()}
    text = {key: one_line(value) for key, value in data["about"].items()}
    cases = (
        Case(
            "The printed figures",
            _ONE,
            text["printed"],
            (Group("goodput of one flow", tuple(_printed(data["report"], goodput))),),
        ),
        Case(
            "What makes the difference",
            _ONE,
            text["trends"],
            tuple(_trends(data["trends"], goodput)),
        ),
        Case("One flow, all cells", _ONE, text["one"], tuple(_one(one, ours))),
        Case(
            "Ten flows, all cells",
            _TEN,
            text["ten"],
            tuple(_ten(ten, {cell: received[_TEN, cell] for cell in ten})),
        ),
    )
    return report(name, data, cases)


def _cells(rows: Sequence[Mapping[str, Any]], queues: Sequence[int]) -> Sequence[tuple[Cell, Any]]:
    return [
        ((row["recovery"], row["segment"], row["window"], queue), received)
        for row in rows
        for queue, received in zip(queues, row["received"], strict=True)
    ]


def _overrides(cell: Cell) -> list[Override]:
    recovery, segment, window, queue = cell
    return [
        ("flows.*.tcp.recovery", recovery),
        ("flows.*.tcp.cc.decrease_from", _HALVES[recovery]),
        ("flows.*.tcp.segment", f"{segment} B"),
        ("flows.*.tcp.receive_window", f"{window} B"),
        ("defaults.link.queue.limit", f"{queue} B"),
        ("record", "none"),
    ]


def _printed(report: Sequence[Mapping[str, Any]], goodput: Mapping[Cell, float]) -> list[Row]:
    return [
        Row.printed(
            f"{row['recovery'].title()}, {_place(row['segment'], row['window'], row['queue'])}",
            "byte/s",
            row["goodput"],
            goodput[row["recovery"], row["segment"], row["window"], row["queue"]],
            ("tables", "printed"),
        )
        for row in report
    ]


def _trends(trends: Mapping[str, Any], goodput: Mapping[Cell, float]) -> list[Group]:
    """Return what the report says of the whole grid, counted."""
    cells = [cell[1:] for cell in goodput if cell[0] == "reno"]
    gains = [goodput["reno", *cell] - goodput["tahoe", *cell] for cell in cells]
    compared = [
        Row.of(
            f"cells in which {words}", "", trends[key], np.sign(gains).tolist().count(sign), _COUNT
        )
        for key, sign, words in (
            ("equal", 0, "both are equal"),
            ("reno", 1, "Reno is better"),
            ("tahoe", -1, "Tahoe is better"),
        )
    ]
    small = [
        Row.printed(
            f"window of 2000 B, segments of {segment} B",
            "byte/s",
            wanted,
            goodput["reno", int(segment), 2000, 2000],
        )
        for segment, wanted in trends["window_2000"].items()
    ]
    return [Group("Tahoe against Reno, 48 cells", tuple(compared)), Group("goodput", tuple(small))]


def _one(original: Mapping[Cell, Sequence[int]], ours: Mapping[Cell, int]) -> list[Group]:
    """Return one group for each recovery and segment."""
    return [
        Group(
            f"{recovery.title()}, segments of {segment} B received",
            tuple(
                Row.of(_place(*cell[1:]), "", original[cell][0], ours[cell], _COUNT)
                for cell in cells
            ),
        )
        for (recovery, segment), cells in itertools.groupby(original, key=lambda cell: cell[:2])
    ]


def _ten(original: Mapping[Cell, Sequence[int]], ours: Mapping[Cell, Sequence[int]]) -> list[Group]:
    """Return one group for each recovery and segment; flows are compared one by one."""
    groups: list[Group] = []
    for (recovery, segment), cells in itertools.groupby(original, key=lambda cell: cell[:2]):
        rows: list[Row] = []
        for cell in cells:
            theirs, mine, place = original[cell], ours[cell], _place(*cell[1:])
            same = sum(a == b for a, b in zip(theirs, mine, strict=True))
            rows.append(Row.of(f"{place}: flows alike", "", len(theirs), same, _COUNT))
            index = jain(theirs) or 0.0
            rows.append(Row.of(f"{place}: Jain's index", "", index, jain(mine) or 0.0, _COUNT))
        groups.append(Group(f"{recovery.title()}, segments of {segment} B", tuple(rows)))
    return groups


def _place(segment: int, window: int, queue: int) -> str:
    return f"{segment} B, window {window}, queue {queue}"
