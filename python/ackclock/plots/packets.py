"""The packets of a flow as plots place them: counted in segments, with what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ackclock.arrays import Array, Floats, Integers
from ackclock.metrics import Segments, flow_segments, outstanding
from ackclock.metrics.records import Records
from ackclock.metrics.segments import unwrapped

from .view import Series, View


def counts_bytes(flow: Mapping[str, Any]) -> bool:
    """Whether the sequence numbers of a flow count bytes; others number the packets."""
    return bool(flow.get("tcp")) and flow["tcp"]["numbering"] == "bytes"


def segments(view: View, name: str) -> Segments:
    """The data packets of a flow and what became of them."""
    flow = view.flow(name)
    header = flow["tcp"]["header_bytes"] if counts_bytes(flow) else None
    view.need("packets").plain("time_s")  # an error where there are too many to follow each
    return flow_segments(
        view.results, name, header_bytes=header, drops=view.records("drops") is not None
    )


def place(view: View, name: str, start: Array) -> Floats:
    """Sequence numbers in full segments."""
    flow = view.flow(name)
    each = flow["tcp"]["segment_bytes"] if counts_bytes(flow) else 1
    return np.asarray(start, np.float64) / each


def acks(view: View, name: str) -> Series:
    """When each ACK reached the source, and the last segment that it acknowledges.

    As an ACK names the next byte expected, the labs draw it one segment lower, beside the segment.
    """
    return _acks(view, name, view.need("packets"), event="received")


def lost_acks(view: View, name: str) -> Series:
    """The same of the ACKs that were dropped, when they were; none if drops were not recorded."""
    table = view.records("drops")
    return (np.empty(0), np.empty(0)) if table is None else _acks(view, name, table)


def flight(view: View, name: str) -> Series:
    """Data that a source has sent and not seen acknowledged, in segments, after each change."""
    table, flow = view.need("packets"), view.flow(name)
    sent = table.rows(flow=name, event="sent", kind="data")
    back = table.rows(flow=name, event="received", kind="ack")
    times, starts = table.plain("time_s"), unwrapped(table.plain("seq")[sent])
    if counts_bytes(flow):
        ends = starts + table.plain("bytes")[sent] - flow["tcp"]["header_bytes"]
        acked = unwrapped(table.plain("seq")[back])
    else:
        ends, acked = starts + 1, _settled(view, name, back)
    return outstanding(times[sent], place(view, name, ends), times[back], place(view, name, acked))


def _settled(view: View, name: str, back: Integers) -> Integers:
    """How many packets of a flow are settled by these ACKs and those before them.

    An ACK lists what had arrived when it was sent; some senders take it for its own packet alone.
    """
    table = view.need("packets")
    tcp = view.flow(name)["tcp"]
    if not len(back) or (tcp.get("recovery") or {}).get("settles") == "own":
        return _distinct(table.plain("seq")[back])
    arrived = table.rows(flow=name, event="received", kind="data")
    left = table.rows(flow=name, event="sent", kind="ack")
    ids = table.plain("packet_id")
    order = np.argsort(ids[left])
    rows = left[order][np.searchsorted(ids[left][order], ids[back])]
    known = np.searchsorted(
        table.plain("time_s")[arrived], table.plain("time_s")[rows], side="right"
    )
    return np.concatenate(([0], _distinct(table.plain("seq")[arrived])))[known]


def _distinct(numbers: Array) -> Integers:
    """How many different numbers there are up to each place."""
    first = np.zeros(len(numbers), np.int64)
    first[np.unique(numbers, return_index=True)[1]] = 1
    return np.cumsum(first)


def _acks(view: View, name: str, table: Records, **names: str) -> Series:
    rows = table.rows(flow=name, kind="ack", **names)
    time_s, at = table.plain("time_s")[rows], place(view, name, unwrapped(table.plain("seq")[rows]))
    if not counts_bytes(view.flow(name)):
        return time_s, at
    some = at > 0  # an ACK of nothing is for no segment
    return time_s[some], at[some] - 1.0
