"""The summary that `ackclock run` prints: what the flows got, what the links carried."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.markup import escape

from ackclock.cli import figures
from ackclock.cli.fitting import Cell, Column, print_fitting
from ackclock.cli.options import LinkOrder
from ackclock.cli.terminal import print_title, table
from ackclock.columns import queueing_delays

if TYPE_CHECKING:
    from rich.console import Console

# Longer tables are for files, not for eyes.
_MOST_ROWS = 40

# What a narrow terminal can do without, the first first.
_FLOWS_WITHOUT = (
    "p95",
    "Path RTT",
    "Time-outs",
    "cwnd packets",
    "min",
    "Resent",
    "Finish",
    "TCP",
    "max",
)
# Of many links those are left out that have nothing to see: hardly used, nothing dropped or marked.
_FEW_ROWS = 6
_QUIET_UTILIZATION = 0.05
_LINKS_WITHOUT = ("p95", "Queue mean/max", "mean", "Queueing delay")


def print_summary(
    console: Console,
    summary: dict[str, Any],
    head: dict[str, Any],
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
    order: LinkOrder = "busiest",
) -> None:
    """Print the tables of flows and links and the figures of the whole run."""
    found = _gathered(summary["flows"])
    _print_head(console, summary, head, stopped=found.stopped)
    _print_flows(console, summary, found, flows)
    _print_links(console, summary["links"], links, order)
    _print_whole(console, summary)


class _Gathered(NamedTuple):
    """What is said of all flows: their figures, files, known parts of RTTs; whether one stopped."""

    values: dict[str, list[float]]
    files: dict[str, Any]
    known: set[str]
    stopped: bool


def _gathered(flows: Mapping[str, dict[str, Any]]) -> _Gathered:
    """Go once through all flows: of very many, each is read when it is asked for."""
    known: set[str] = set()
    files: dict[str, Any] = {}
    values: dict[str, list[float]] = {key: [] for _, key, _, _ in _QUANTITIES}
    stopped = False
    for name, flow in flows.items():
        known.update(flow.get("rtt_s") or ())
        stopped |= flow.get("stopped_s") is not None
        if "file" in flow:
            files[name] = flow["file"]
        for key, column in values.items():
            if (value := _value(flow, key)) is not None:
                column.append(value)
    return _Gathered(values, files, known, stopped)


def _value(flow: Mapping[str, Any], key: str) -> float | None:
    """A figure of a flow; infinite for an end that has not come, as in `--aggregate`."""
    value: float | None = flow.get(key)
    if key == "completion_s" and value is None and flow.get("bytes_offered") is not None:
        # A flow that did not start has no goodput, and is not late.
        return None if flow["goodput_bps"] is None else math.inf
    return value


def _print_head(
    console: Console, summary: dict[str, Any], head: dict[str, Any], *, stopped: bool
) -> None:
    print_title(console, summary["scenario"], head)
    ends = {
        "flows-complete": "all flows are complete" + " or stopped" * stopped,
        "time": "the time is up",
        "stalled": "[bold red]stalled: no event is left, and flows are unfinished[/bold red]",
        "too-many-events": "[bold red]more events than `stop.events` allows; what follows is a "
        "part of the run[/bold red]",
        "too-many-packets": "[bold red]more packets were in the network than `stop.max_packets` "
        "allows; a queue without a limit may be the reason[/bold red]",
        "interrupted": "[bold yellow]interrupted: what follows is a part of the run[/bold yellow]",
        "record-limit": "[bold yellow]the records reached their limit: what follows is a part of "
        "the run[/bold yellow]",
        "controller-fault": "[bold red]the congestion control in Python failed: what follows is a "
        "part of the run[/bold red]",
        "disk-full": "[bold yellow]the disk is full: what follows is a part of the run"
        "[/bold yellow]",
    }
    reason = ends.get(summary["stop_reason"], summary["stop_reason"])
    console.print(f"[dim]Ended:[/dim] {figures.seconds(summary['end_s'])} simulated, {reason}")
    if warmup := summary.get("warmup_s"):
        console.print(f"[dim]Figures:[/dim] {_counted(warmup, summary['end_s'])}")
    console.print()


def _counted(warmup_s: float, end_s: float) -> str:
    if end_s > warmup_s:
        return f"from {figures.seconds(warmup_s)} on"
    return (
        "[bold yellow]none: the run ended within its warm-up of "
        f"{figures.seconds(warmup_s)}[/bold yellow]"
    )


def _print_flows(
    console: Console, summary: dict[str, Any], found: _Gathered, wanted: Sequence[str] | None
) -> None:
    flows: Mapping[str, dict[str, Any]] = summary["flows"]
    names = list(flows if wanted is None else wanted)
    left_out = 0 if wanted is not None else max(0, len(names) - _MOST_ROWS)
    parts = _parts(("min", "mean", "p95", "max"), found.known)
    rows = [_flow_cells(name, flows[name], parts) for name in names[: len(names) - left_out]]
    print_fitting(console, _flow_columns(parts), rows, without=_FLOWS_WITHOUT)
    if left_out:
        console.print(f"[dim]and {left_out} more; choose with --flows, or see summary.json[/dim]")
        _print_all(console, len(flows), found.values, summary["totals"]["goodput_bps"])
    console.print()
    _print_files(console, found.files)


def _flow_columns(parts: Sequence[str]) -> list[Column]:
    return [
        Column("Flow"), Column("TCP"), Column(">Goodput"), Column(">Finish"),
        Column(">Path\nRTT (ms)"), Column(">RTT (ms)", parts), Column(">cwnd\npackets"),
        Column(">Resent"), Column(">Time-\nouts"), Column(">Drops"),
    ]  # fmt: skip


def _flow_cells(name: str, flow: dict[str, Any], parts: Sequence[str]) -> list[Cell]:
    rtt = flow.get("rtt_s") or {}
    window = (flow.get("cwnd_bytes") or {}).get("mean")
    segment = flow.get("segment_bytes")
    times = {key: figures.milliseconds(rtt.get(key)) for key in parts}
    return [
        escape(name),
        flow.get("label") or figures.NONE,
        figures.rate(flow["goodput_bps"]),
        figures.seconds(flow["finish_s"]),
        figures.milliseconds(flow.get("path_rtt_s")),
        times if rtt.get("mean") is not None else figures.NONE,
        f"{window / segment:.1f}" if window is not None and segment else figures.NONE,
        str(flow.get("retransmissions", figures.NONE)),
        str(flow.get("timeouts", figures.NONE)),
        str(flow["segments_dropped"]),
    ]


def _print_all(
    console: Console, flows: int, values: Mapping[str, list[float]], goodput_bps: float | None
) -> None:
    """Print what all flows got together, and how it differs between them.

    Goodputs of flows are over different times, and have no sum: `goodput_bps` is that of all.
    """
    from ackclock.tables.shown import NEVER  # of many flows only

    columns = [Column(f"All {flows} flows")]
    columns += [Column(f">{name}") for name in ("Least", *_PERCENT, "Most", "Mean", "Total")]
    rows: list[list[Cell]] = []
    for title, key, written, has_total in _QUANTITIES:
        column = sorted(values[key])
        if not column:
            continue
        count = len(column)
        total = sum(column) if key != "goodput_bps" else goodput_bps
        # As `--aggregate` has it: the nearest rank.
        ranked = [column[-(-percent * count // 100) - 1] for percent in _PERCENT.values()]
        mean = sum(column) / count
        cells = [column[0], *ranked, column[-1], mean]
        label = title if count == flows else f"{title} (of {count})"
        shown = [written(cell) if math.isfinite(cell) else NEVER for cell in cells[:-1]]
        shown.append(written(mean) if math.isfinite(mean) else figures.NONE)
        rows.append([label, *shown, written(total) if has_total else figures.NONE])
    console.print()
    print_fitting(console, columns, rows, without=("Least", "p95", "Most"))


def _plain(value: float) -> str:
    return figures.number(float(f"{value:.4g}")) if isinstance(value, float) else str(value)


def _print_files(console: Console, sent: Mapping[str, Any]) -> None:
    """Print what became of files, all of them: a difference must not hide behind a choice."""
    if not sent:
        return
    shown = table("Flow", "File", ">Bytes", "Received")
    for name, file in sent.items():
        if file["identical"]:
            what = "[green]identical[/green]"
        elif file["complete"]:
            what = "[bold red]DIFFERS from the file[/bold red]"
        else:
            what = f"[bold red]UNFINISHED: {file['bytes_received']} bytes in order[/bold red]"
        shown.add_row(escape(name), escape(file["path"]), str(file["bytes"]), what)
    console.print(shown)
    console.print()


def _print_links(
    console: Console,
    links: Mapping[str, dict[str, Any]],
    wanted: Sequence[str] | None,
    order: LinkOrder,
) -> None:
    count = losing = marked = 0
    known: set[str] = set()

    def every() -> Iterator[tuple[str, str, dict[str, Any]]]:
        nonlocal count, losing, marked
        for name, ways in links.items() if wanted is None else ((n, links[n]) for n in wanted):
            for direction, way in ways.items():
                count += 1
                losing += _lost(way) > 0
                marked += way["marks"]
                known.update(way["queueing_delay_s"])
                yield name, direction, way

    if wanted is not None:
        rows = list(every())
    elif order == "busiest":
        # As shown, in tenths of a percent: of links that are equally busy the one that loses more.
        rows = nsmallest(
            _MOST_ROWS, every(), key=lambda row: (-round(row[2]["utilization"], 3), -_lost(row[2]))
        )
        if count > _FEW_ROWS:
            rows = [row for row in rows if not _is_quiet(row[2])] or rows[:1]
    else:
        rows = [row for place, row in enumerate(every()) if place < _MOST_ROWS]
    parts = _parts(("mean", "p95", "max"), known)
    columns = [
        Column("Link"), Column("Direction"), Column(">Utilisation"), Column(">Queue\nmean/max"),
        Column(">Queueing delay", parts, " ms"), Column(">Drops"),
        *([Column(">Marks")] if marked else []),
    ]  # fmt: skip
    print_fitting(
        console,
        columns,
        [
            [*_link_cells(name, direction, way, parts), *([str(way["marks"])] if marked else [])]
            for name, direction, way in rows
        ],
        without=_LINKS_WITHOUT,
    )
    if count > 1 and wanted is None:
        how = "by utilisation, then drops" if order == "busiest" else "as in the scenario"
        console.print(f"[dim]Order: {how} (--link-order).[/dim]")
        if count > len(rows):
            console.print(f"[dim]{_rest(count - len(rows), losing, rows)}.[/dim]")
    console.print()


def _link_cells(name: str, direction: str, way: dict[str, Any], parts: Sequence[str]) -> list[Cell]:
    queue, delay = way["queue_packets"], queueing_delays(way)
    return [
        escape(name),
        direction,
        figures.percent(way["utilization"]),
        f"{figures.number(_rounded(queue['mean']))}/{queue['max']} pkt",
        {key: figures.milliseconds(delay.get(key)) for key in parts},
        str(_lost(way)),
    ]


def _rest(rest: int, losing: int, rows: Sequence[tuple[str, str, dict[str, Any]]]) -> str:
    """What is said of links that are not shown."""
    losing -= sum(_lost(way) > 0 for _, _, way in rows)
    what = f"{losing} of them with drops" if losing else "without drops"
    where = "choose with --links, or see summary.json"
    if len(rows) < _MOST_ROWS:
        what, where = f"below {100 * _QUIET_UTILIZATION:g} % and without drops", "--links shows any"
    return f"{rest} more, {what} ({where})"


def _is_quiet(way: dict[str, Any]) -> bool:
    busy = way["utilization"] >= _QUIET_UTILIZATION
    return not (busy or _lost(way) or way["marks"])


def _lost(way: dict[str, Any]) -> int:
    return sum(way["drops"].values())


def _parts(names: Sequence[str], known: set[str]) -> list[str]:
    """Which figures of a distribution are known of any row."""
    return [name for name in names if name in known or not name.startswith("p")]


def _print_whole(console: Console, summary: dict[str, Any]) -> None:
    fairness = summary.get("fairness_jain")
    if fairness is not None and len(summary["flows"]) > 1:
        console.print(f"[dim]Fairness (Jain):[/dim] {fairness:.4f}  (1 = all flows get the same)")
    wall_s, hops = summary["wall_s"], summary["packet_hops"]
    speed = f", {figures.large(hops / wall_s)} packet-hops/s" if wall_s > 0 else ""
    took = f"{figures.seconds(wall_s)}, {figures.large(hops)} packet-hops{speed}"
    console.print(f"[dim]Simulated in:[/dim]    {took}")
    same = "" if summary["stop_reason"] in _BY_CHANCE else "  (the same in every run)"
    console.print(f"[dim]Digest:[/dim]          {summary['digest']}{same}")


def _rounded(value: float) -> float:
    return round(value, 1) if value < 100 else round(value)


_BY_CHANCE = ("interrupted", "disk-full", "controller-fault")
"""Ends that need not come at the same moment in every run."""

_QUANTITIES: list[tuple[str, str, Callable[[Any], str], bool]] = [
    ("Goodput", "goodput_bps", figures.rate, True),
    ("Completion time", "completion_s", figures.seconds, False),
    ("Resent", "retransmissions", _plain, True),
    ("Timeouts", "timeouts", _plain, True),
    ("Drops", "segments_dropped", _plain, True),
]
"""What is shown of all flows together, and whether it has a sum."""

_PERCENT = {"Median": 50, "p95": 95, "p99": 99}
