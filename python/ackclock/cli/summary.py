"""The summary that `ackclock run` prints: what the flows got, what the links carried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ackclock.cli import figures
from ackclock.cli.terminal import table

if TYPE_CHECKING:
    from rich.console import Console

# Longer tables are for files, not for eyes.
_MOST_ROWS = 40


def print_summary(
    console: Console,
    summary: dict[str, Any],
    model: dict[str, Any],
    flows: Sequence[str] | None,
    links: Sequence[str] | None,
) -> None:
    """Print the tables of flows and links and the figures of the whole run."""
    _print_head(console, summary, model)
    _print_flows(console, summary["flows"], flows)
    _print_files(console, summary["flows"])
    _print_links(console, summary["links"], links)
    _print_whole(console, summary)


def _print_head(console: Console, summary: dict[str, Any], model: dict[str, Any]) -> None:
    console.print(f"\n[bold]{_plain(summary['scenario'])}[/bold]", end="")
    console.print(f"  {_plain(model['title'])}" if model.get("title") else "")
    if question := model.get("question"):
        console.print(f"[dim]Question:[/dim] {_plain(' '.join(question.split()))}")
    ends = {
        "flows-complete": "all flows are complete",
        "time": "the time is up",
        "stalled": "[bold red]stalled: no event is left, and flows are unfinished[/bold red]",
        "too-many-events": "[bold red]more events than `stop.events` allows; what follows is a "
        "part of the run[/bold red]",
        "too-many-packets": "[bold red]more packets were in the network than `stop.max_packets` "
        "allows; a queue without a limit may be the reason[/bold red]",
        "interrupted": "[bold yellow]interrupted: what follows is a part of the run[/bold yellow]",
    }
    reason = ends.get(summary["stop_reason"], summary["stop_reason"])
    console.print(f"[dim]Ended:[/dim] {figures.seconds(summary['end_s'])} simulated, {reason}\n")


def _print_flows(
    console: Console, flows: dict[str, dict[str, Any]], wanted: Sequence[str] | None
) -> None:
    rows, left_out = _rows(flows, wanted)
    shown = table(
        "Flow", "cc", ">Goodput", ">Finish", ">RTT (ms)\nmin/mean/max", ">cwnd\npackets", ">Resent",
        ">Timeouts", ">Drops",
    )  # fmt: skip
    for name, flow in rows:
        rtt = flow.get("rtt_s") or {}
        times = [figures.milliseconds(rtt.get(key)) for key in ("min", "mean", "max")]
        window = (flow.get("cwnd_bytes") or {}).get("mean")
        segment = flow.get("segment_bytes")
        shown.add_row(
            _plain(name),
            flow.get("cc") or figures.NONE,
            figures.rate(flow["goodput_bps"]),
            figures.seconds(flow["finish_s"]),
            "/".join(times) if rtt.get("mean") is not None else figures.NONE,
            f"{window / segment:.1f}" if window is not None and segment else figures.NONE,
            str(flow.get("retransmissions", figures.NONE)),
            str(flow.get("timeouts", figures.NONE)),
            str(flow["segments_dropped"]),
        )
    console.print(shown)
    _print_left_out(console, left_out, "--flows")
    console.print()


def _print_files(console: Console, flows: dict[str, dict[str, Any]]) -> None:
    """Print what became of files, all of them: a difference must not hide behind a choice."""
    sent = {name: flow["file"] for name, flow in flows.items() if "file" in flow}
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
        shown.add_row(_plain(name), _plain(file["path"]), str(file["bytes"]), what)
    console.print(shown)
    console.print()


def _print_links(
    console: Console, links: dict[str, dict[str, Any]], wanted: Sequence[str] | None
) -> None:
    rows, left_out = _rows(links, wanted)
    shown = table(
        "Link", "Direction", ">Utilisation", ">Queue\nmean/max", ">Queueing delay\nmean/max",
        ">Drops",
    )  # fmt: skip
    for name, directions in rows:
        for direction, figures_of in directions.items():
            queue, delay = figures_of["queue_packets"], figures_of["queueing_delay_s"]
            waits = [figures.milliseconds(delay.get(key)) for key in ("mean", "max")]
            shown.add_row(
                _plain(name),
                direction,
                figures.percent(figures_of["utilization"]),
                f"{figures.number(_rounded(queue['mean']))}/{queue['max']} pkt",
                f"{'/'.join(waits)} ms",
                str(sum(figures_of["drops"].values())),
            )
    console.print(shown)
    _print_left_out(console, left_out, "--links")
    console.print()


def _print_whole(console: Console, summary: dict[str, Any]) -> None:
    fairness = summary.get("fairness_jain")
    if fairness is not None and len(summary["flows"]) > 1:
        console.print(f"[dim]Fairness (Jain):[/dim] {fairness:.4f}  (1 = all flows got the same)")
    wall_s, hops = summary["wall_s"], summary["packet_hops"]
    speed = f", {figures.large(hops / wall_s)} packet-hops/s" if wall_s > 0 else ""
    took = f"{figures.seconds(wall_s)}, {figures.large(hops)} packet-hops{speed}"
    console.print(f"[dim]Simulated in:[/dim]    {took}")
    same = "  (the same in every run)" if summary["finished"] else ""
    console.print(f"[dim]Digest:[/dim]          {summary['digest']}{same}")


def _rows(
    items: dict[str, dict[str, Any]], wanted: Sequence[str] | None
) -> tuple[Iterable[tuple[str, dict[str, Any]]], int]:
    """Return what is shown, and how many are not."""
    if wanted is not None:
        return [(name, items[name]) for name in wanted], 0
    rows = list(items.items())
    return rows[:_MOST_ROWS], max(0, len(rows) - _MOST_ROWS)


def _print_left_out(console: Console, count: int, option: str) -> None:
    if count:
        console.print(f"[dim]and {count} more; choose with {option}, or see summary.json[/dim]")


def _rounded(value: float) -> float:
    return round(value, 1) if value < 100 else round(value)


def _plain(text: str) -> str:
    """Return text of a user's file so that brackets in it are not read as styles."""
    from rich.markup import escape

    return escape(text)
