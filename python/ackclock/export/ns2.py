"""The packet trace of ns-2.

Source: The ns Manual, section 26.5; ns-2.35 trace/trace.cc (`Trace::format`) and trace/basetrace.h
for the form of numbers. A line is

    event time from to type size flags fid src.port dst.port seq id

with the events `+` (a packet comes to a queue), `-` (its transmission begins), `r` (it reaches the
far end of the link) and `d` (it is dropped; at a full queue after its `+`). Times are rounded to
microseconds.

DEVIATION: a packet that a loss model takes at the end of a link is dropped there, in ns-2 at the
start of its transmission. Lines of one moment stand in the order of the packets' numbers, in ns-2
in the order of its scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from ackclock.export.columns import (
    ACK,
    DATA,
    HANDSHAKE_ACK,
    KINDS,
    ROUTER,
    SYN,
    SYN_ACK,
    Integers,
)
from ackclock.export.network import Network
from ackclock.export.options import Options
from ackclock.export.packets import Packets, counts_bytes
from ackclock.export.visits import NEVER, Visits
from ackclock.results import Results

# Its functions are made when it is imported, so that type checkers do not know them.
pc: Any = pyarrow.compute

_LINES = 200_000  # at once
_RECEIVED, _CAME, _DROPPED, _STARTED = range(4)
_EVENTS = ("r", "+", "d", "-")


@dataclass
class _Lines:
    """Lines in the order of the file, without what depends on the packet alone."""

    event: Integers
    time_ns: Integers
    origin: Integers
    target: Integers
    packet: Integers

    def taken(self, which: Any) -> _Lines:
        """Some of the lines."""
        return _Lines(*(column[which] for column in vars(self).values()))


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The trace, piece by piece. Needs `packets`, `transmissions`, `drops` and `waiting`."""
    network = Network(results.model)
    packets = Packets.of(results)
    lines = _lines(results, network, packets, options)
    options.require_packets(len(lines.event))
    seq = segment_numbers(packets, results.model["flows"])
    numbers = network.numbers()
    names = pa.array([f"{number} " for number in [*numbers, -1]])
    kinds = pa.array(_kinds(results.model["flows"]))
    ends = pa.array(_ends(network, options.first_fid or 0))
    for begin in range(0, len(lines.event), _LINES):
        part = lines.taken(slice(begin, begin + _LINES))
        flow, kind = packets.flow[part.packet], packets.kind[part.packet]
        yield _text(
            pa.array([f"{event} " for event in _EVENTS]).take(pa.array(part.event)),
            times(part.time_ns),
            " ",
            names.take(pa.array(part.origin)),
            names.take(pa.array(part.target)),
            kinds.take(pa.array(flow * len(KINDS) + kind + len(KINDS))),
            _numbers(packets.bytes[part.packet]),
            _between_routers(
                ends.take(pa.array(2 * flow + 2 + packets.back[part.packet])),
                np.flatnonzero(kind == ROUTER),
                numbers[part.origin],
                numbers[part.target],
            ),
            _numbers(seq[part.packet]),
            " ",
            _numbers(part.packet),
            "\n",
        )


def _lines(results: Results, network: Network, packets: Packets, options: Options) -> _Lines:
    visits = Visits.of(results, network)
    every = np.arange(len(visits.packet))
    # A packet is received, comes to its next queue and leaves it in lines that follow each other.
    left = np.where(visits.start_ns > visits.came_ns, visits.packet, visits.place)
    of = {
        _RECEIVED: (visits.arrival_ns, visits.place_of_next()),
        _CAME: (visits.came_ns, visits.place),
        _DROPPED: (visits.dropped_ns, visits.place),
        _STARTED: (visits.start_ns, left),
    }
    there = {event: every[times != NEVER] for event, (times, _) in of.items()}
    rows = np.concatenate(list(there.values()))
    event = np.repeat(list(there), [len(mine) for mine in there.values()])
    time_ns, place = (
        np.concatenate([columns[which][there[e]] for e, columns in of.items()]) for which in (0, 1)
    )
    order = np.lexsort((event, place, time_ns))
    for asked, known, column in (
        (options.links, network.links, visits.link),
        (options.flows, network.flows, packets.flow[visits.packet]),
    ):
        if asked is not None:
            order = order[np.isin(column[rows[order]], [known.index(name) for name in asked])]
    rows = rows[order]
    return _Lines(
        event[order], time_ns[order], visits.origin[rows], visits.target[rows], visits.packet[rows]
    )


def _kinds(flows: list[dict[str, Any]]) -> list[str]:
    """Words for the type of packets, for each flow (none first) and kind."""
    known = {"ack": "ack", "router": "rtProtoDV", "syn-ack": "ack", "handshake-ack": "ack"}
    words = []
    for flow in [None, *flows]:
        source = flow["udp"]["source"] if flow is not None and flow["tcp"] is None else None
        data = _source_word(source) if source else "tcp"
        words += [f"{known.get(kind, data if kind == 'data' else 'tcp')} " for kind in KINDS]
    return words


def _source_word(source: dict[str, Any]) -> str:
    """What ns-2 calls packets of a UDP source; fixed periods are a CBR switched on and off."""
    spans = [source[name]["kind"] for name in ("on", "off") if name in source]
    words = {"exponential": "exp", "pareto": "pareto"}
    return next((words[kind] for kind in spans if kind in words), "cbr")


def _ends(network: Network, first_fid: int) -> list[str]:
    """Flags, flow id and addresses: none first, then for each flow those of data and of ACKs.

    An agent gets the next free port of its node: first the sender, then the receiver of each flow.
    """
    numbers = network.numbers()
    ports = dict.fromkeys(range(len(network.nodes)), 0)
    texts = ["", ""]
    for flow, nodes in enumerate(network.ends_of_flow):
        addresses = []
        for node in nodes:
            addresses.append(f"{numbers[node]}.{ports[node]}")
            ports[node] += 1
        sender, receiver = addresses
        head = f" ------- {first_fid + flow} "
        texts += [f"{head}{sender} {receiver} ", f"{head}{receiver} {sender} "]
    return texts


def _between_routers(
    ends: pa.Array, rows: Integers, origin: Integers, target: Integers
) -> pa.Array:
    """Fill in the addresses of routers' packets, which go over one link."""
    if not len(rows):
        return ends
    text = ends.to_numpy(zero_copy_only=False)
    text[rows] = [f" ------- 0 {origin[row]}.0 {target[row]}.0 " for row in rows]
    return pa.array(text, pa.string())


def segment_numbers(packets: Packets, flows: list[dict[str, Any]]) -> Integers:
    """Sequence numbers as ns-2 counts them: segments from 0; ACKs carry the last one in order.

    Bytes become segments by the order of the bytes with which segments begin. A SYN is segment 0 of
    its flow, and the first data then segment 1. Routers' packets have -1.
    """
    seq = np.where(packets.kind == ROUTER, -1, packets.seq)
    for number, flow in enumerate(flows):
        if not counts_bytes(flow):
            continue
        shift = 1 if len(packets.of_flow(number, SYN)) else 0
        data, acks = packets.of_flow(number, DATA), packets.of_flow(number, ACK)
        begins = np.unique(packets.seq[data])
        seq[data] = np.searchsorted(begins, packets.seq[data]) + shift
        seq[acks] = np.searchsorted(begins, packets.seq[acks]) - 1 + shift
        for kind in (SYN, SYN_ACK, HANDSHAKE_ACK):
            seq[packets.of_flow(number, kind)] = 0
    return seq


def _numbers(values: Integers) -> Any:
    return pc.cast(pa.array(values), pa.string())


def _text(*pieces: Any) -> bytes:
    """Lines put together from columns of text."""
    joined: Any = pc.binary_join_element_wise(*pieces, "")
    joined = joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined
    offsets = np.frombuffer(joined.buffers()[1], np.int32)[joined.offset :]
    data = joined.buffers()[2]
    return memoryview(data)[int(offsets[0]) : int(offsets[len(joined)])].tobytes()


def times(ns: Integers) -> pa.Array:
    """Times as ns-2 prints them: rounded to microseconds, without zeros at the end (`%.15g`)."""
    whole, part = np.divmod((ns + 500) // 1000, 1_000_000)
    digits = pc.utf8_rtrim(
        pc.utf8_lpad(pc.cast(pa.array(part), pa.string()), 6, "0"), characters="0"
    )
    text = pc.binary_join_element_wise(pc.cast(pa.array(whole), pa.string()), digits, ".")
    text = pc.utf8_rtrim(text, characters=".")
    # Below 100 microseconds the format turns to exponents.
    small = (whole == 0) & (part > 0) & (part < 100)
    if small.any():
        shown = pa.array([f"{number / 1e6:.15g}" for number in range(100)])
        text = pc.if_else(pa.array(small), shown.take(pa.array(np.where(small, part, 0))), text)
    return text
