"""Where two traces of the same flow part.

Data packets are compared one after the other, and so are ACKs: the first that is another one on
the other side is a difference. Times may differ by what a host needs (tens of microseconds a round
trip, which add up), so not times are compared but how far they are apart: a shift that comes
suddenly and stays is a difference, unless it comes after a silence and is what the kernel's coarse
timers explain.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from ackclock.reproduce.linux.traces import Sent, Trace, Window

SUDDEN_MS = 1.5
"""A shift between two packets above this is sudden; a kernel that was busy is seldom later."""

_STAYS = 25
"""This many packets later, the shift must still be there (in the median of them)."""

_SILENCE_RTTS = 1.2
"""What leaves this many round trips after everything else was released by a timer."""

_WHEEL_MS = ((252.0, 8.0), (2044.0, 40.0), (16_384.0, 320.0), (math.inf, 2100.0))
"""How much later the kernel's timers may fire, by the time they were set to (HZ 250): delays are
rounded up to 4 ms, and come up to one step of the timer wheel later: 4, 32, 256 ms, ..."""

_AROUND_MS = 2.5
"""A sample of the kernel's window agrees if ours had the value within this time of it."""


@dataclass(frozen=True)
class Difference:
    """The first place where two sides differ in one respect.

    ``time_ms`` is the kernel's time (ours shifted where the kernel has nothing there); `kernel` and
    `ours` are the numbers of the packets, ACKs or windows concerned, counted from 0 (the length of
    a list: no more). `words` says it.
    """

    respect: str
    time_ms: float
    kernel: int
    ours: int
    words: str


@dataclass(frozen=True)
class Timer:
    """A timer that the kernel's granularity explains: not a difference, but good to know."""

    time_ms: float
    later_ms: float
    silence_ms: float


@dataclass(frozen=True)
class Alignment:
    """How our time runs against the kernel's: shifts (ours less the kernel's) at kernel times."""

    times_ms: tuple[float, ...]
    shifts_ms: tuple[float, ...]
    timers: tuple[Timer, ...] = ()

    def shift(self, kernel_ms: float) -> float:
        """Return the shift at a time of the kernel's clock."""
        if not self.times_ms:
            return 0.0
        place = bisect_right(self.times_ms, kernel_ms) - 1
        return self.shifts_ms[max(place, 0)]


def packets(kernel: Trace, ours: Trace, rtt_ms: float) -> tuple[Difference | None, Alignment]:
    """Compare the data packets; give the first difference, and how the times run until then."""
    times: list[float] = []
    shifts: list[float] = []
    timers: list[Timer] = []
    near: list[float] = []
    base: float | None = None
    found: Difference | None = None
    for i, (theirs, mine) in enumerate(zip(kernel.sent, ours.sent, strict=False)):
        shift = mine.time_ms - theirs.time_ms
        if (theirs.start, theirs.end) != (mine.start, mine.end):
            found = _another(kernel, ours, i, rtt_ms)
        elif theirs.fate != mine.fate:
            found = _other_fate(theirs, mine, i)
        elif base is not None and abs(shift - base) > SUDDEN_MS and _stays(kernel, ours, i, base):
            silence = theirs.time_ms - _last_event(kernel, i)
            limit = _granularity(silence)
            if silence > _SILENCE_RTTS * rtt_ms and -limit <= shift - base <= SUDDEN_MS:
                timers.append(Timer(theirs.time_ms, base - shift, silence))
            else:
                found = _other_time(kernel, ours, i, shift - base, rtt_ms)
        if found:
            break
        # A timer begins a new count: what was before it runs with another shift.
        near = [] if timers and timers[-1].time_ms == theirs.time_ms else near[-4:]
        near.append(shift)
        base = median(near)
        times.append(theirs.time_ms)
        shifts.append(shift)
    alignment = Alignment(tuple(times), tuple(shifts), tuple(timers))
    if found is None and len(kernel.sent) != len(ours.sent):
        found = _no_more(kernel, ours, rtt_ms, alignment)
    return found, alignment


def _stays(kernel: Trace, ours: Trace, first: int, base: float) -> bool:
    pairs = list(zip(kernel.sent[first:], ours.sent[first:], strict=False))[:_STAYS]
    same = [(a, b) for a, b in pairs if (a.start, a.end) == (b.start, b.end)]
    return abs(median(b.time_ms - a.time_ms for a, b in same) - base) > SUDDEN_MS


def _granularity(silence_ms: float) -> float:
    return next(late for limit, late in _WHEEL_MS if silence_ms <= limit + late)


def _last_event(trace: Trace, sent: int) -> float:
    """Return when the last ACK or packet before a packet was."""
    time = trace.sent[sent].time_ms
    before = trace.sent[sent - 1].time_ms if sent else -math.inf
    place = bisect_right([ack.time_ms for ack in trace.acks], time)
    return max(before, trace.acks[place - 1].time_ms if place else -math.inf)


def segment(packet: Sent, mss: int) -> int:
    """Return the number of a packet's segment in the stream, from 1."""
    return packet.start // mss + 1


def described(trace: Trace, i: int, rtt_ms: float) -> str:
    """Say which packet a side sends, and what released it."""
    if i >= len(trace.sent):
        return f"{trace.name} sends nothing more"
    packet = trace.sent[i]
    before = [earlier for earlier in trace.sent[:i] if earlier.start == packet.start]
    number = segment(packet, _mss(trace))
    if not packet.again:
        what = f"sends segment {number} for the first time"
    elif len(before) > 1:
        what = f"retransmits segment {number}, for the {_ordinal(len(before))} time"
    else:
        what = f"retransmits segment {number}"
    return f"{trace.name} {what} at {packet.time_ms:.2f} ms, {_released(trace, i, rtt_ms)}"


def _released(trace: Trace, i: int, rtt_ms: float) -> str:
    time = trace.sent[i].time_ms
    silence = time - _last_event(trace, i)
    place = bisect_right([ack.time_ms for ack in trace.acks], time)
    if not place:
        return "before any ACK"
    ack = trace.acks[place - 1]
    if silence > _SILENCE_RTTS * rtt_ms or time - ack.time_ms > rtt_ms:
        return f"after {silence:.1f} ms without an event: a timer"
    upto = ack.acked // _mss(trace)
    which = f"the ACK of all up to segment {upto}"
    if ack.repeat:
        which = f"the {_ordinal(ack.repeat)} duplicate ACK after segment {upto}"
    late = time - ack.time_ms
    return f"with {which}" if late < SUDDEN_MS / 2 else f"{late:.2f} ms after {which}"


def _mss(trace: Trace) -> int:
    return max((packet.end - packet.start for packet in trace.sent), default=1)


def _ordinal(number: int) -> str:
    words = {1: "1st", 2: "2nd", 3: "3rd"}
    return words.get(number, f"{number}th")


def _another(kernel: Trace, ours: Trace, i: int, rtt_ms: float) -> Difference:
    words = f"{described(kernel, i, rtt_ms)}; {described(ours, i, rtt_ms)}."
    return Difference("packet", kernel.sent[i].time_ms, i, i, words)


def _no_more(kernel: Trace, ours: Trace, rtt_ms: float, alignment: Alignment) -> Difference:
    i = min(len(kernel.sent), len(ours.sent))
    if i < len(kernel.sent):
        time = kernel.sent[i].time_ms
    else:
        time = ours.sent[i].time_ms - alignment.shift(ours.sent[i].time_ms)
    words = f"{described(kernel, i, rtt_ms)}; {described(ours, i, rtt_ms)}."
    return Difference("packet", time, i, i, words)


def _other_fate(theirs: Sent, mine: Sent, i: int) -> Difference:
    fates = [packet.fate or "accepted" for packet in (theirs, mine)]
    words = (
        f"The packet number {i + 1} is {fates[0]} at Linux's bottleneck and {fates[1]} at ours "
        f"({theirs.time_ms:.2f} and {mine.time_ms:.2f} ms): the queues differ."
    )
    return Difference("packet", theirs.time_ms, i, i, words)


def _other_time(kernel: Trace, ours: Trace, i: int, jump: float, rtt_ms: float) -> Difference:
    words = (
        f"The same packet, but Ackclock {'later' if jump > 0 else 'earlier'} by {abs(jump):.2f} ms "
        f"than the packets before it were: {described(kernel, i, rtt_ms)}; "
        f"{described(ours, i, rtt_ms)}."
    )
    return Difference("time", kernel.sent[i].time_ms, i, i, words)


def acks(kernel: Trace, ours: Trace, mss: int) -> Difference | None:
    """Compare the ACKs; give the first that acknowledges something else."""
    for i, (theirs, mine) in enumerate(zip(kernel.acks, ours.acks, strict=False)):
        if theirs.acked != mine.acked:
            words = (
                f"The ACK number {i + 1} acknowledges all up to segment "
                f"{theirs.acked / mss:g} at Linux ({theirs.time_ms:.2f} ms) and up to "
                f"{mine.acked / mss:g} at Ackclock ({mine.time_ms:.2f} ms)."
            )
            return Difference("ack", theirs.time_ms, i, i, words)
    return None


def windows(
    kernel: Trace, ours: Trace, alignment: Alignment, slack: float = 0.0
) -> Difference | None:
    """Compare the kernel's samples of the window with ours; give the first that ours never had.

    Args:
        kernel: The kernel's side.
        ours: Our side.
        alignment: How the times run.
        slack: Share of the kernel's value that ours may be away, and at least 2 then.
    """
    times = [window.time_ms for window in ours.windows]
    for i, theirs in enumerate(kernel.windows):
        at = theirs.time_ms + alignment.shift(theirs.time_ms)
        near = _around(ours.windows, times, at)
        room = max(2.0, slack * theirs.cwnd) if slack else 0.0
        least = min(window.cwnd for window in near) - room
        most = max(window.cwnd for window in near) + room
        if not least <= theirs.cwnd <= most:
            mine = near[-1]
            words = (
                f"At {theirs.time_ms:.1f} ms cwnd is {theirs.cwnd} at Linux ({theirs.state}) and "
                f"{mine.cwnd} at Ackclock ({mine.state})."
            )
            return Difference("cwnd", theirs.time_ms, i, len(near), words)
    return None


def _around(windows: Sequence[Window], times: Sequence[float], at_ms: float) -> list[Window]:
    """Return the windows that held at some time near a moment."""
    first = max(bisect_right(times, at_ms - _AROUND_MS) - 1, 0)
    last = max(bisect_left(times, at_ms + _AROUND_MS), first + 1)
    return list(windows[first:last])


def window_at(windows: Sequence[Window], at_ms: float) -> Window | None:
    """Return the window that held at a moment."""
    place = bisect_right([window.time_ms for window in windows], at_ms)
    return windows[place - 1] if place else None
