"""The reliability lab on the Bene simulator: single runs to the digit, many runs by quantiles.

The figures are data (`bene-reliability.yaml`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.arrays import Array
from ackclock.metrics import HasTables
from ackclock.reproduce import sampling
from ackclock.reproduce.comparison import Override, Progress, Runner, run_scenario
from ackclock.reproduce.paper import one_line, read, report, tolerances
from ackclock.reproduce.report import Case, Group, Report, Row, Spread, Tolerance, tolerance, value

_FLOW, _LINK = "F1", "L1"
_SEGMENT = 1000
_LEVELS = {0.05: "5 % quantile", 0.5: "median", 0.95: "95 % quantile"}

Replications = Mapping[str, Array]
Replicator = Callable[[str, Sequence[Override], int], Replications]
"""Runs a scenario many times, given its name, what to set and how often."""


def replicate(
    name: str, overrides: Sequence[Override], count: int, workers: int | None = None
) -> Replications:
    """Run a scenario with the seeds 1 to `count`; `workers` as in `ackclock.replicate`."""
    from ackclock.replicate import replicate
    from ackclock.scenario import Scenario

    found = replicate(Scenario.load(name, overrides), count, workers=workers)
    return {**found.arrays, "stalled": found.stalled}


def compare(
    name: str,
    figures: Path,
    progress: Progress | None = None,
    runner: Runner | None = None,
    replicator: Replicator = replicate,
) -> Report:
    """Run all of it and make the report; see `comparison.compare`."""
    data = read(figures)
    run = runner or run_scenario
    cells = [
        (cell, timer) for cell in data["tables"]["cells"] for timer in data["tables"]["timers"]
    ]
    total = len(cells) + 1

    def runs() -> Iterator[Replications]:
        for done, (cell, timer) in enumerate(cells, 1):
            yield _cell_runs(data["tables"], cell, timer, replicator)
            if progress is not None:
                progress(f"{cell['file']}, {_cell_name(cell)}", done, total)

    tables = [
        _Cell(data["tables"], cell, timer, found)
        for (cell, timer), found in zip(cells, runs(), strict=True)
    ]
    cases = [
        _windows(data["windows"], run),
        _trace(data["trace"], run),
        _scripted(data["scripted"], run),
        *_means(data["tables"], tables),
        *_quantiles(data["tables"], tables),
        _tail(data["tail"], data["tables"], replicator),
    ]
    if progress is not None:
        progress("the tail", total, total)
    return report(name, data, cases)


# Single runs


def _windows(data: Mapping[str, Any], run: Runner) -> Case:
    limits = tolerances(data)
    digit, microsecond = limits["digit"], limits["microsecond"]
    groups = []
    for entry in data["rows"]:
        window = entry["window"]
        overrides: list[Override] = [
            (f"flows.{_FLOW}.tcp.cc.window", window),
            (f"flows.{_FLOW}.tcp.initial_window", window),
            ("record", "none"),
        ]
        summary = run(data["scenario"], overrides).summary
        flow, link = summary["flows"][_FLOW], summary["links"][_LINK]["forward"]
        acked = flow["finish_ack_s"]
        rate = 8 * flow["bytes_offered"] / acked
        delay_ms = 1000 * link["queueing_delay_s"]["mean"]
        read = (data["source"], "printed")
        rows = (
            Row.of("time to the last ACK", "s", entry["time"], acked, digit, read),
            Row.of("time to the last ACK", "s", entry["acked"], acked, microsecond),
            Row.of("last segment arrives", "s", entry["received"], flow["finish_s"], microsecond),
            Row.printed("throughput", "bit/s", entry["throughput"], rate, read),
            Row.printed("mean queueing delay", "ms", entry["delay"], delay_ms, read),
        )
        groups.append(Group(f"Window of {window * _SEGMENT} B", rows))
    return Case("Table 3: windows", data["scenario"], one_line(data["about"]), tuple(groups))


def _trace(data: Mapping[str, Any], run: Runner) -> Case:
    outcome = run(data["scenario"], [("record", {"kind": "none", "rto": "changes"})])
    tolerance = Tolerance("nanoseconds", **data["tolerance"])
    events = _timer_events(outcome)
    event = ("nothing", np.nan, np.nan)
    rows = []
    for entry in data["rows"]:
        if "rtt" in entry or entry["event"] != "sample":
            # The two lines of a sample, its round trip and what it makes of the timeout, are one.
            event = next(events, ("nothing", np.nan, np.nan))
        what = {"start": "timer starts with", "expiry": "expires, becomes"}.get(entry["event"])
        what = what or ("round trip" if "rtt" in entry else "timeout becomes")
        wanted = entry.get("rtt", entry.get("rto"))
        ours = event[1] if "rtt" in entry else event[2]
        if event[0] != entry["event"]:
            ours = np.nan
        what = f"line {entry['line']}: {what}"
        rows.append(Row.of(what, "s", wanted, float(ours), tolerance, (data["source"], "printed")))
    groups = (Group("The timer", tuple(rows)),)
    return Case("Snippet 1: the timer", data["scenario"], one_line(data["about"]), groups)


def _timer_events(outcome: HasTables) -> Iterator[tuple[str, float, float]]:
    """Yield event, round trip and timeout of each entry in the records of the timer."""
    table = outcome.table("rto")
    columns = (table[name].to_pylist() for name in ("event", "rtt_s", "rto_s"))
    yield from zip(*columns, strict=True)


def _scripted(data: Mapping[str, Any], run: Runner) -> Case:
    limits = tolerances(data)
    microsecond, count = limits["microsecond"], limits["count"]
    groups = []
    for entry in data["rows"]:
        lost = data["losses"][entry["losses"]]
        overrides: list[Override] = [
            (f"links.{_LINK}.forward", {"loss": _numbers(lost["data"])}),
            (f"links.{_LINK}.backward", {"loss": _numbers(lost["acks"])}),
            *data["timers"][entry["timer"]].items(),
            ("record", "none"),
        ]
        flow = run(data["scenario"], overrides).summary["flows"][_FLOW]
        rows = (
            Row.of("last segment arrives", "s", entry["received"], flow["finish_s"], microsecond),
            Row.of("time to the last ACK", "s", entry["acked"], flow["finish_ack_s"], microsecond),
            Row.of("timeouts", "", entry["timeouts"], flow["timeouts"], count),
            Row.of("segments sent", "", entry["segments"], flow["segments_sent"], count),
        )
        data_lost, acks_lost = (", ".join(map(str, lost[key])) for key in ("data", "acks"))
        shown = f"data {data_lost} and ACKs {acks_lost} lost"
        groups.append(Group(f"{entry['timer'][:1].upper()}{entry['timer'][1:]}: {shown}", rows))
    return Case("Scripted losses", data["scenario"], one_line(data["about"]), tuple(groups))


def _numbers(lost: list[int]) -> dict[str, Any]:
    return {"kind": "packets", "numbers": lost, "at": "entry"}


# Many runs


def _cell_runs(
    tables: Mapping[str, Any], cell: Mapping[str, Any], timer: str, replicator: Replicator
) -> Replications:
    overrides = [(f"links.{_LINK}.loss.p", cell["loss"]), *tables["timers"][timer].items()]
    scenario = f"{tables['scenarios'][cell['file']]}-{cell['timer']}"
    return replicator(scenario, overrides, tables["runs"][cell["file"]])


class _Cell:
    """A cell of Table 1 or 2 with our runs of it by one of the timers."""

    def __init__(
        self, tables: Mapping[str, Any], cell: Mapping[str, Any], timer: str, runs: Replications
    ) -> None:
        self.cell = cell
        self.file: str = cell["file"]
        self.timer = timer
        self.end_s = np.asarray(runs["end_s"], dtype=np.float64)
        # What only the time limit of a hundred years ended would have gone on.
        self.unfinished = float((np.isnan(runs["finish_s"][:, 0]) & runs["stalled"]).mean())
        self.source: str = tables["source"][self.file]
        self.averaged: int = tables["averaged"][self.file]
        self.others: int = tables["original_runs"][self.file]

    @property
    def has_mean(self) -> bool:
        """Whether the distribution of the time has a mean."""
        return not (self.cell["timer"] == "dynamic" and self.cell["loss"] == 0.5)

    def mean(self, reasons: Mapping[str, str]) -> Row:
        """Return the printed mean and the means of as many runs."""
        reason = None
        if not self.has_mean:
            reason = reasons["no-mean"]
        elif self.timer == "mended" and not self.spread.holds(self.cell["paper"]):
            reason = reasons["mended"]
        return Row(
            what=_cell_name(self.cell),
            unit="s",
            ours=None,
            tolerance=Tolerance("spread"),
            paper=self.cell["paper"],
            source=self.source,
            read="printed",
            spread=self.spread if self.has_mean else None,
            reason=reason,
            by_spread=True,
        )

    @property
    def spread(self) -> Spread:
        """Means of as many runs as the report averaged."""
        return sampling.averages(self.end_s, self.averaged)

    def quantiles(self) -> Iterator[Row]:
        """Yield our quantiles beside the original's, and the share of unfinished runs."""
        name = _cell_name(self.cell)
        for (level, what), text in zip(_LEVELS.items(), self.cell[self.timer], strict=True):
            figure = value(text)
            error = sampling.quantile_error(self.end_s, level, self.others, figure)
            ours = float(np.quantile(self.end_s, level))
            yield Row.of(f"{name}: {what}", "s", figure, ours, _wider(error, text))
        text = self.cell["unfinished"] if self.timer == "as-handed-in" else "0"
        error = sampling.share_error(self.unfinished, self.end_s.size, self.others)
        wider = _wider(Tolerance("sampling", absolute=100 * error.absolute), text)
        yield Row.of(f"{name}: unfinished", "%", value(text), 100 * self.unfinished, wider)


def _wider(error: Tolerance, text: str) -> Tolerance:
    """Return the sampling error with what the original's last digit leaves open."""
    return Tolerance("sampling", absolute=error.absolute + tolerance(text).absolute)


def _groups(
    tables: Mapping[str, Any],
    cells: Sequence[_Cell],
    file: str,
    rows: Callable[[_Cell], Iterable[Row]],
    words: str = "",
) -> tuple[Group, ...]:
    """Return the rows of all cells of a file, a group for each timer."""
    return tuple(
        Group(
            f"{_timer_name(tables, timer)}{words}",
            tuple(chain(*(rows(c) for c in cells if (c.file, c.timer) == (file, timer)))),
        )
        for timer in tables["timers"]
    )


def _means(tables: Mapping[str, Any], cells: Sequence[_Cell]) -> Iterator[Case]:
    reasons = {name: one_line(text) for name, text in tables["reasons"].items()}
    for file, source in tables["source"].items():
        words = f"; means of {tables['averaged'][file]} runs"
        texts = [tables["about"]["means"], _averages_without_mean(tables, cells, file)]
        yield Case(
            title=f"{source}: {file}, means as printed",
            scenario=f"{tables['scenarios'][file]}-fixed",
            about=" ".join(one_line(text) for text in texts),
            groups=_groups(tables, cells, file, lambda cell: [cell.mean(reasons)], words),
        )


def _averages_without_mean(tables: Mapping[str, Any], cells: Sequence[_Cell], file: str) -> str:
    """Return a sentence on the cell that has no mean, with figures of our runs."""
    cell = next(c for c in cells if c.file == file and not c.has_mean and c.timer == "as-handed-in")
    spread, median = cell.spread, float(np.median(cell.end_s))
    return (
        f"{tables['about']['no-mean']} Here {len(spread.values)} averages of {cell.averaged} runs "
        f"lie between {spread.low:.3g} and {spread.high:.3g} s, with a median of "
        f"{spread.middle:.3g} s; the report prints {cell.cell['paper']:.3g} s; the median of "
        f"single runs is {median:.3g} s."
    )


def _quantiles(tables: Mapping[str, Any], cells: Sequence[_Cell]) -> Iterator[Case]:
    for file, source in tables["source"].items():
        yield Case(
            title=f"{source}: {file}, quantiles over {tables['runs'][file]} runs",
            scenario=f"{tables['scenarios'][file]}-fixed",
            about=one_line(tables["about"]["quantiles"]),
            groups=_groups(tables, cells, file, _Cell.quantiles),
        )


def _tail(data: Mapping[str, Any], tables: Mapping[str, Any], replicator: Replicator) -> Case:
    overrides = list(data["overrides"].items())
    runs = replicator(data["scenario"], overrides, tables["runs"]["test.txt"])
    ours = sampling.tail_index(runs["end_s"], data["from_s"], data["to_s"])
    row = Row.of(
        "tail index of the time",
        "",
        value(data["index"]),
        ours,
        Tolerance("tail", **data["tolerance"]),
    )
    return Case(
        title="Why there is no mean",
        scenario=data["scenario"],
        about=one_line(data["about"]),
        groups=(Group("A loss of 50 % each way, dynamic timer", (row,)),),
        overrides=tuple(f"{path}={value}" for path, value in overrides),
    )


def _cell_name(cell: Mapping[str, Any]) -> str:
    return f"{cell['timer']} timer, loss {100 * cell['loss']:g} %"


def _timer_name(tables: Mapping[str, Any], timer: str) -> str:
    options = ", ".join(f"{path}={value}" for path, value in tables["timers"][timer].items())
    return f"Timer {timer.replace('-', ' ')}{f': {options}' if options else ''}"
