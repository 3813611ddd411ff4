"""Time-sequence plots for xplot, as tcptrace writes them.

Source: the manual of tcptrace 6.6 (Ostermann), "Time Sequence Graph": segments as lines with
arrows at both ends (`darrow`, `uarrow`), in red and marked R when retransmitted; the green line of
what is acknowledged. xplot's format: a line a command.

DEVIATION: the colours of lines are those of tcptrace, but times are relative to the start of the
run. Selective repeat numbers packets; here its packet n begins at byte n times the segment, and the
green line is that of the lowest byte that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ackclock.errors import InputError
from ackclock.export.options import Options
from ackclock.metrics.segments import flow_segments, unwrapped
from ackclock.metrics.series import select
from ackclock.results import Results

_FRESH, _AGAIN, _ACKED, _DROPPED = "white", "red", "green", "purple"


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The plot of one flow. Needs `packets` and `drops`."""
    flows = options.with_tcp(results.model)
    if len(flows) != 1:
        names = ", ".join(flow["id"] for flow in flows)
        choice = f"choose one of {names} with --flows" if names else "there is none to write"
        raise InputError(f"a file holds one TCP flow; {choice}")
    yield from _plot(results, flows[0])


def _plot(results: Results, flow: dict[str, Any]) -> Iterator[bytes]:
    counted = flow["tcp"]["numbering"] == "bytes"
    size = 1 if counted else flow["tcp"]["segment_bytes"]
    header = flow["tcp"]["header_bytes"] if counted else None
    sent = flow_segments(results, flow["id"], header_bytes=header)
    title = f"{flow['id']} ({flow['label']}): time sequence"
    head = f"timeval unsigned\ntitle\n{title}\nxlabel\ntime\nylabel\nsequence number\n"
    yield head.encode()
    lines: list[str] = []
    for row in range(len(sent)):
        at = f"{sent.sent_s[row]:.9f}"
        low = int(sent.start[row]) * size
        high = low + int(sent.length[row]) * size
        color = _AGAIN if sent.retransmission[row] else _FRESH
        lines += [
            color,
            f"darrow {at} {low}",
            f"uarrow {at} {high}",
            f"line {at} {low} {at} {high}",
        ]
        if sent.retransmission[row]:
            lines += [f"atext {at} {high}", "R"]
        if not np.isnan(sent.dropped_s[row]):
            lines += [_DROPPED, f"x {at} {(low + high) // 2}"]
        if len(lines) > 20_000:
            yield ("\n".join(lines) + "\n").encode()
            lines = []
    lines.append(_ACKED)
    times, acked = _acknowledged(results, flow, size, counted=counted)
    for k in range(1, len(times)):
        here, now = f"{times[k - 1]:.9f}", f"{times[k]:.9f}"
        before, after = int(acked[k - 1]), int(acked[k])
        lines += [f"line {here} {before} {now} {before}", f"line {now} {before} {now} {after}"]
    yield ("\n".join([*lines, "go"]) + "\n").encode()


def _acknowledged(
    results: Results, flow: dict[str, Any], size: int, *, counted: bool
) -> tuple[np.ndarray, np.ndarray]:
    """When the lowest unacknowledged byte moved at the sender, and where to."""
    where = {"flow": flow["id"], "event": "received", "kind": "ack", "host": flow["from"]}
    times, seq = select(results, "packets", ("time_s", "seq"), **where)
    edge = unwrapped(seq) if counted else _in_order(seq)
    highest = np.maximum.accumulate(edge) if len(edge) else edge
    moved = np.flatnonzero(np.diff(highest, prepend=-1) > 0)
    return times[moved], highest[moved] * size


def _in_order(seq: np.ndarray) -> np.ndarray:
    """The lowest number without an ACK after each ACK of a single packet."""
    seen: set[int] = set()
    edge, found = 0, []
    for number in seq.tolist():
        seen.add(number)
        while edge in seen:
            seen.discard(edge)
            edge += 1
        found.append(edge)
    return np.array(found, np.int64)
