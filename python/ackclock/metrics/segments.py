"""What became of each data packet of a flow: dropped, arrived, or arrived unnecessarily."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ackclock.arrays import Array, Flags, Floats, Integers
from ackclock.errors import flag_of, whole_number
from ackclock.metrics.given import require_equal, wholes_of
from ackclock.metrics.series import HasTables, select

_WRAP = 2.0**32
"""Byte sequence numbers are recorded modulo this."""


@dataclass(frozen=True)
class Segments:
    """The data packets that the source of a flow sent, in the order of time; n of them.

    Attributes:
        sent_s: When each was sent, seconds.
        start: Its first byte, or for flows that number packets its number.
        length: Its payload in bytes, or 1 for flows that number packets.
        size_bytes: Its size on the wire.
        retransmission: Whether the source had sent it before.
        dropped_s: When the network dropped it, seconds; NaN if it did not.
        arrived_s: When it arrived, seconds; NaN if it has not.
        spurious: Whether it arrived unnecessarily: all of it had arrived before. A receiver that
            discards segments (PAWS, a full buffer) or parts of them (`receiver.buffer:
            segments`) may need such a segment all the same, and then counts fewer in the summary.
    """

    sent_s: Floats
    start: Integers
    length: Integers
    size_bytes: Integers
    retransmission: Flags
    dropped_s: Floats
    arrived_s: Floats
    spurious: Flags

    def __len__(self) -> int:
        return len(self.sent_s)


class Arrivals(NamedTuple):
    """The data packets that reached the receiver of a flow, in the order of time; m of them.

    Copies that links have made are among them.

    Attributes:
        arrived_s: When each arrived, seconds.
        new: How much of its length had not arrived before: bytes, or 1 or 0 for flows that number
            packets.
        size_bytes: Its size on the wire.
        packet_id: Its number in the records.
    """

    arrived_s: Floats
    new: Integers
    size_bytes: Integers
    packet_id: Integers


def flow_arrivals(results: HasTables, flow: str, *, header_bytes: int | None = None) -> Arrivals:
    """The data packets that reached the receiver of a flow, and how much was new in each.

    Args:
        results: The run, with `packets` recorded.
        flow: Name of the flow.
        header_bytes: As for `flow_segments`.
    """
    columns = ("time_s", "seq", "bytes", "packet_id")
    of = {"flow": flow, "kind": "data", "event": "received"}
    came_s, seq, size, ids = select(results, "packets", columns, **of)
    return Arrivals(
        np.asarray(came_s, np.float64),
        new_bytes(unwrapped(seq), _lengths(size, header_bytes)),
        np.asarray(size, np.int64),
        np.asarray(ids, np.int64),
    )


def flow_segments(
    results: HasTables,
    flow: str,
    *,
    header_bytes: int | None = None,
    drops: bool = True,
    arrivals: Arrivals | None = None,
) -> Segments:
    """The data packets of a flow and what became of them.

    Args:
        results: The run, with `packets` recorded.
        flow: Name of the flow.
        header_bytes: Header of a data packet, for flows whose sequence numbers count bytes;
            none for flows that number their packets.
        drops: Whether the run has recorded `drops`; if not, no packet counts as dropped.
        arrivals: What `flow_arrivals` returns, where it is known.
    """
    of = {"flow": flow, "kind": "data"}
    columns = ("time_s", "seq", "bytes", "packet_id")
    again = select(results, "packets", ("retransmission",), event="sent", **of)[0]
    sent_s, seq, size, ids = select(results, "packets", columns, event="sent", **of)
    came = arrivals or flow_arrivals(results, flow, header_bytes=header_bytes)
    gone_s, gone_ids = np.zeros(0), np.zeros(0, np.int64)
    if flag_of("drops", drops):
        gone_s, gone_ids = select(results, "drops", ("time_s", "packet_id"), **of)
    arrival, drop = _places(ids, came.packet_id), _places(ids, gone_ids)
    return Segments(
        np.asarray(sent_s, np.float64),
        unwrapped(seq),
        _lengths(size, header_bytes),
        np.asarray(size, np.int64),
        np.asarray(again, np.bool_),
        np.append(gone_s, np.nan)[drop],
        np.append(came.arrived_s, np.nan)[arrival],
        np.append(came.new == 0, False)[arrival],
    )


def new_bytes(start: Integers, length: Integers) -> Integers:
    """How many bytes of each arrival had not arrived before.

    Args:
        start: First byte of each arrival, in the order of arrival; shape (m,).
        length: Number of its bytes; shape (m,).
    """
    start, length = wholes_of("start", start), wholes_of("length", length)
    require_equal("start", len(start), "length", len(length))
    stop = start + length
    kinds, first = np.unique(np.column_stack((start, stop)), axis=0, return_index=True)
    if (kinds[1:, 0] >= kinds[:-1, 1]).all():  # copies cover each other wholly or not at all
        fresh = np.zeros(len(start), np.int64)
        fresh[first] = length[first]
        return fresh
    seen = _Intervals()
    added = [seen.add(a, b) for a, b in zip(start.tolist(), stop.tolist(), strict=True)]
    return np.array(added, np.int64)


def unwrapped(seq: Array) -> Integers:
    """Sequence numbers that have lost what exceeds 32 bits, put back to their full size.

    Neighbours must lie less than 2 GiB apart.
    """
    if not len(seq) or int(np.max(seq)) < _WRAP / 2:
        return np.asarray(seq, np.int64)
    return np.unwrap(np.asarray(seq, np.float64), period=_WRAP).astype(np.int64)


def _lengths(size: Array, header_bytes: int | None) -> Integers:
    if header_bytes is None:
        return np.ones(len(size), np.int64)
    return np.asarray(size, np.int64) - whole_number("header_bytes", header_bytes)


class _Intervals:
    """A growing set of bytes, as disjoint intervals in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def add(self, start: int, stop: int) -> int:
        """Add `[start, stop)` and return how many of its bytes are new."""
        first = bisect_right(self._stops, start - 1)  # touches or lies after
        last = bisect_right(self._starts, stop)
        inside = sum(
            max(0, min(stop, self._stops[i]) - max(start, self._starts[i]))
            for i in range(first, last)
        )
        if first < last:
            joined = (min(start, self._starts[first]), max(stop, self._stops[last - 1]))
        else:
            joined = (start, stop)
        self._starts[first:last], self._stops[first:last] = [joined[0]], [joined[1]]
        return stop - start - inside


def _places(wanted: Integers, numbers: Integers) -> Integers:
    """Where each wanted number is first among others; -1 where it is not there."""
    known, first = np.unique(numbers, return_index=True)
    at = np.searchsorted(known, wanted)
    return np.where(np.append(known, -1)[at] == wanted, np.append(first, -1)[at], -1)
