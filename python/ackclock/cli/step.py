"""`ackclock step`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ackclock.cli.options import read_overrides
from ackclock.cli.terminal import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from ackclock.steps import Kind, Step, Steps

_BAR = 44
_KEYS: dict[str, Kind] = {"e": "event", "a": "ack", "r": "rtt"}
_HELP = "space: next   e: event   a: ACK   r: round trip   q: quit"
_NAMES = {"event": "event", "ack": "ACK", "rtt": "round trip"}


def step(
    scenario: str,
    flow: str | None = None,
    by: Literal["event", "ack", "rtt"] = "rtt",
    count: int | None = None,
    begin: float | None = None,
    settings: list[str] | None = None,
    seed: int | None = None,
    as_json: bool = False,
) -> None:
    """Step through a run by events, ACKs or round trips, with the reason for each window change.

    Each step shows the window before and after, and the rule that changed it. Keys: Space or Enter
    for the next step; e, a or r for the next event, ACK or round trip; q to quit. A round trip ends
    with the first RTT sample of data sent within it. The scenario is run first; nothing is written.

    [bold]Examples[/bold]

    [cyan]ackclock step caltech/test-case-0-reno[/cyan]
    [cyan]ackclock step teach/cubic-bbr --flows bbr --by ack --from 2.0[/cyan]
    [cyan]ackclock step teach/tail-loss --count 10 --json[/cyan]
    """
    from ackclock import run as simulate
    from ackclock.cli.progress import progress_line
    from ackclock.run_directory import RunDirectory
    from ackclock.scenario import Scenario
    from ackclock.steps import TABLES, Steps

    record = f"{{kind: none, {', '.join(f'{table}: changes' for table in TABLES)}}}"
    chosen = Scenario.load(scenario, [*read_overrides(settings), ("record", record)], seed)
    if not settings and seed is None and RunDirectory(Path(scenario)).is_run():
        chosen.warnings = ()  # the run has given them
    with progress_line(wanted=not as_json) as progress:
        steps = Steps(simulate(chosen, progress), flow)
    after = -1.0 if begin is None else begin
    asked = count is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if asked:
        screen = console()
        _head(screen, steps)
        with _keys() as key:
            _go(screen, steps, by, after, key)
        return
    most = 20 if count is None else count
    found = [one for one, _ in zip(steps.all(by, after), range(most), strict=False)]
    if as_json:
        print_json([_document(one) for one in found])
        return
    screen = console()
    _head(screen, steps)
    for one in found:
        _show(screen, one, steps.largest)
    if len(found) < most:
        _ended(screen, steps)


def _go(screen: Console, steps: Steps, by: Kind, after: float, key: Callable[[], str]) -> None:
    """Show a step for each key."""
    screen.print(f"[dim]{_HELP}[/dim]")
    at, kind = after, by
    while True:
        found = steps.next(kind, at)
        if found is None:
            if kind == "rtt" and steps.next("event", at) is not None:
                screen.print("[dim]no more round trips; e: next event, q: quit[/dim]")
                kind = "event"
            else:
                _ended(screen, steps)
                return
        else:
            _show(screen, found, steps.largest)
            at = found.end_s
        pressed = key()
        while pressed not in ("q", "\x03", "\x04", " ", "\r", "\n", "", *_KEYS):
            screen.print(f"[dim]{_HELP}[/dim]")
            pressed = key()
        if pressed in ("q", "\x03", "\x04"):
            return
        kind = _KEYS.get(pressed, kind)


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """Give what reads one key; where that is not possible, one line.

    The terminal gives single keys all the while: those that are typed between two steps count, too.
    """
    try:
        import termios
        import tty
    except ImportError:
        try:
            import msvcrt
        except ImportError:
            yield lambda: sys.stdin.readline().strip()[:1]
        else:
            yield getattr(msvcrt, "getwch")  # noqa: B009  # known on Windows only
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)
        yield lambda: sys.stdin.read(1) or "q"
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _head(screen: Console, steps: Steps) -> None:
    screen.print(f"[bold]{steps.flow}[/bold]: window in packets, before and after each step")


def _ended(screen: Console, steps: Steps) -> None:
    screen.print(f"[dim]Nothing more; the run ends at {steps.end_s:g} s.[/dim]")


def _show(screen: Console, one: Step, largest: float) -> None:
    """Print a step: when and what, the window as a bar, the reasons.

    The bars of all steps have one scale; `largest` fills the line.
    """
    from rich.text import Text

    before, after = one.window
    scale = _BAR / max(largest, 1.0)
    parts = [f"{_NAMES[one.kind]} {one.number}", f"{one.end_s:.6f} s"]
    if one.rtt_s is not None:
        parts.append(f"RTT {one.rtt_s * 1e3:.4g} ms")
    if one.kind == "rtt":
        parts.append(f"{one.acks} ACK{'s' * (one.acks != 1)}")
    if one.in_flight is not None:
        parts.append(f"{one.in_flight} in flight")
    screen.print(Text("   ".join(parts), style="bold"), soft_wrap=True)
    kept, grown, lost = (
        round(scale * value)
        for value in (min(before, after), max(0.0, after - before), max(0.0, before - after))
    )
    line = Text("  cwnd ")
    line.append(f"{before:6.4g} → {after:<6.4g} " if before != after else f"{after:15.4g} ")
    line.append("━" * kept, "blue")
    line.append("+" * grown, "green")
    line.append("-" * lost, "red")
    if math.isfinite(one.threshold):
        line.append(f"  ssthresh {one.threshold:.4g}", "dim")
    screen.print(line, soft_wrap=True)
    for text in one.lines:
        screen.print(Text(f"  {text}"), soft_wrap=True)


def _document(one: Step) -> dict[str, object]:
    return {
        "kind": one.kind,
        "number": one.number,
        "time_s": one.end_s,
        "cwnd_before_packets": one.window[0],
        "cwnd_packets": one.window[1],
        "ssthresh_packets": one.threshold,
        "in_flight": one.in_flight,
        "rtt_s": one.rtt_s,
        "acks": one.acks,
        "happened": one.lines,
    }
