"""One run and the kernel's trace of its scenario: where they part, and what is around."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.reproduce.linux import difference, traces
from ackclock.reproduce.linux.conversion import UnsupportedError, document
from ackclock.reproduce.linux.difference import Alignment, Difference
from ackclock.reproduce.linux.oracle import KernelScenario
from ackclock.reproduce.linux.traces import Trace, Window
from ackclock.run import run
from ackclock.scenario import Scenario

_BEFORE, _AFTER = 6, 10
"""Lines shown before and after a difference."""

_BULK_SLACK = 0.05
"""Windows of long flows agree within this share: their samples are hundreds of packets apart."""

_TOGETHER_MS = 0.3
"""What leaves this soon after an ACK is shown in its line."""


@dataclass(frozen=True)
class Look:
    """A comparison of one run; ``text`` shows it."""

    name: str
    kernel: Trace
    ours: Trace
    mss: int
    alignment: Alignment
    differences: tuple[Difference, ...]
    reason: str = ""

    @property
    def differs(self) -> bool:
        """Whether anything differs, or there is no run of ours."""
        return bool(self.differences or self.reason)

    def to_json(self) -> dict[str, Any]:
        """Return it as a plain mapping."""
        return {
            "scenario": self.name,
            "absent": self.reason or None,
            "differences": [
                {"respect": found.respect, "kernel_time_ms": found.time_ms, "words": found.words}
                for found in self.differences
            ],
        }

    def text(self) -> str:
        """Return it in lines."""
        return "\n".join(_lines(self))


def look_at(scenario: KernelScenario, oracle: Path) -> Look:
    """Run a scenario and compare it with the kernel's trace next to a file of figures."""
    kernel = traces.kernel(scenario, oracle)
    try:
        ours = traces.ours(scenario, run(Scenario.from_dict(document(scenario))))
    except UnsupportedError as error:
        empty = Alignment((), ())
        return Look(scenario.name, kernel, Trace("Ackclock"), scenario.mss, empty, (), str(error))
    return compared(scenario, kernel, ours)


def compared(scenario: KernelScenario, kernel: Trace, ours: Trace) -> Look:
    """Compare two traces of a scenario."""
    rtt_ms = scenario.rtt_ms + scenario.flows[0].extra_rtt_ms
    if scenario.bulk:
        alignment = Alignment((), ())
        found = [difference.windows(kernel, ours, alignment, _BULK_SLACK)]
    else:
        packet, alignment = difference.packets(kernel, ours, rtt_ms)
        found = [
            packet,
            difference.acks(kernel, ours, scenario.mss),
            difference.windows(kernel, ours, alignment),
        ]
    real = sorted(filter(None, found), key=lambda one: one.time_ms)
    return Look(scenario.name, kernel, ours, scenario.mss, alignment, tuple(real))


def _lines(look: Look) -> Iterator[str]:
    yield f"\n{look.name}: Linux and Ackclock at the sender"
    if look.reason:
        yield f"No run of ours: {look.reason}."
        return
    for timer in look.alignment.timers:
        yield (
            f"At {timer.time_ms:.1f} ms, after {timer.silence_ms:.1f} ms without an event, the "
            f"kernel's timer is {timer.later_ms:.1f} ms later than ours, as its granularity "
            "allows; times are compared from there on with this shift."
        )
    if not look.differences:
        count = f"all {len(look.ours.sent)} packets and " if look.ours.sent else ""
        yield f"No difference: {count}{len(look.kernel.windows)} samples of the window agree."
        return
    first, *others = look.differences
    yield f"First difference ({first.respect}): {first.words}"
    for found in others:
        yield f"Later ({found.respect}): {found.words}"
    if look.kernel.sent:
        yield ""
        yield from _packet_lines(look, first)
    yield ""
    yield from _window_lines(look, first)


@dataclass(frozen=True)
class _Group:
    """An ACK with what it released, or packets that left by themselves."""

    time_ms: float
    words: str


def _groups(trace: Trace, mss: int) -> list[_Group]:
    events = [(ack.time_ms, 0, ack) for ack in trace.acks]
    events += [(packet.time_ms, 1, packet) for packet in trace.sent]
    groups: list[_Group] = []
    last = -math.inf
    for time, _, event in sorted(events, key=lambda one: one[:2]):
        if isinstance(event, traces.Ack):
            repeat = f" dup {event.repeat}" if event.repeat else ""
            groups.append(_Group(time, f"ack {event.acked / mss:g}{repeat}"))
        else:
            word = f"{difference.segment(event, mss)}{' AGAIN' if event.again else ''}"
            word += f" {event.fate}" if event.fate else ""
            if groups and time - last < _TOGETHER_MS:
                head = groups[-1]
                joint = ", " if "send" in head.words else ": send "
                groups[-1] = _Group(head.time_ms, f"{head.words}{joint}{word}")
            else:
                groups.append(_Group(time, f"send {word}"))
        last = time
    return groups


def _packet_lines(look: Look, first: Difference) -> Iterator[str]:
    """Both sides around a difference: an ACK and what it released in a line."""
    shift = look.alignment.shift(first.time_ms)
    columns = []
    for trace, time in ((look.kernel, first.time_ms), (look.ours, first.time_ms + shift)):
        groups = _groups(trace, look.mss)
        place = sum(group.time_ms <= time + 1e-6 for group in groups) - 1
        columns.append(
            [
                groups[i] if 0 <= i < len(groups) else None
                for i in range(place - _BEFORE, place + _AFTER)
            ]
        )
    width = max((len(_shown(group)) for group in columns[0]), default=0)
    width = min(max(width, 30), 70)
    yield f"{'Linux, ms':<{width}}  | Ackclock, ms (segments from 1; 'dup' counts duplicate ACKs)"
    for theirs, mine in zip(*columns, strict=True):
        if theirs or mine:
            same = theirs and mine and theirs.words == mine.words
            yield f"{_shown(theirs):<{width}}  {'|' if same else '#'} {_shown(mine)}"


def _shown(group: _Group | None) -> str:
    return f"{group.time_ms:9.2f} {group.words}" if group else ""


def _window_lines(look: Look, first: Difference) -> Iterator[str]:
    """The kernel's samples around a difference, and ours at these times."""
    columns = ("cwnd", "ssthresh", "srtt ms", "out", "again", "state")
    head = " ".join(f"{name:>8}" for name in columns)
    yield f"{'ms':>9} {head}   | {head}"
    times = [window.time_ms for window in look.kernel.windows]
    place = sum(time < first.time_ms for time in times)
    for theirs in look.kernel.windows[max(0, place - _BEFORE) : place + _AFTER]:
        at = theirs.time_ms + look.alignment.shift(theirs.time_ms)
        mine = difference.window_at(look.ours.windows, at)
        same = mine is not None and mine.cwnd == theirs.cwnd
        yield f"{theirs.time_ms:9.2f} {_window(theirs)}   {'|' if same else '#'} {_window(mine)}"


def _window(window: Window | None) -> str:
    if window is None:
        return ""
    ssthresh = f"{window.ssthresh:g}" if math.isfinite(window.ssthresh) else "inf"
    cells = (f"{window.cwnd}", ssthresh, f"{window.srtt_ms:.2f}", f"{window.out}")
    return " ".join(f"{cell:>8}" for cell in (*cells, f"{window.again}", window.state[:8]))
