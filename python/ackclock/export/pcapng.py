"""Packet captures for Wireshark and tshark.

Source: draft-ietf-opsawg-pcapng (sections 4.1 section header, 4.2 interface description, 4.3
enhanced packet, 4.5 name resolution). Times are simulated time in nanoseconds since 1970. Packets
are IPv4 without a link layer (LINKTYPE_RAW); what they are is in `segments.py`, what is captured
where in `capture.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from ackclock.arrays import Integers
from ackclock.export import segments as contents
from ackclock.export.capture import Capture, Interface
from ackclock.export.headers import CE, Bytes, headers
from ackclock.export.network import Network
from ackclock.export.options import Options
from ackclock.export.packets import Packets
from ackclock.results import Results

SNAPLEN = 128
_RAW = 101  # LINKTYPE_RAW
_CHUNK_BYTES = 16 << 20
_COMMENT, _END = 1, 0


def chunks(results: Results, options: Options) -> Iterator[bytes]:
    """The capture, piece by piece.

    Needs `packets`, `transmissions`, `drops` and `waiting`; takes `headers` and `marks` where they
    were recorded.
    """
    network = Network(results.model)
    packets = Packets.of(results)
    capture = Capture.of(results, network, packets, options)
    options.require_packets(len(capture))
    flows = contents.of_packets(results, network, packets)
    snaplen = options.snaplen or SNAPLEN
    yield _section(results)
    for interface in capture.interfaces:
        yield _interface(interface, snaplen)
    yield _names(network)
    comments = [_option(_COMMENT, text.encode()) for text in capture.comments]
    widest = _HEAD + contents.most_bytes(flows, snaplen) + max(map(len, comments), default=0) + 40
    count = max(1, min(_CHUNK_BYTES // widest, 65536))
    for begin in range(0, len(capture), count):
        yield _packets(capture, flows, comments, snaplen, slice(begin, begin + count))


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total


def _section(results: Results) -> bytes:
    from ackclock._core import version

    summary = results.summary
    comment = f"{summary['scenario']}, seed {summary['seed']}, digest {summary['digest']}"
    options = _option(_COMMENT, comment.encode()) + _option(4, f"ackclock {version()}".encode())
    start = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(0x0A0D0D0A, start + options + _option(_END, b""))


def _interface(interface: Interface, snaplen: int) -> bytes:
    options = (
        _option(2, interface.name.encode())
        + _option(3, interface.description.encode())
        + _option(8, struct.pack("<Q", interface.rate_bps))
        + _option(9, b"\x09")  # nanoseconds
        + _option(_END, b"")
    )
    return _block(1, struct.pack("<HHI", _RAW, 0, snaplen) + options)


def _names(network: Network) -> bytes:
    """Names of nodes for their addresses."""
    records = b""
    for node, name in enumerate(network.nodes):
        value = struct.pack(">I", contents.address(node)) + name.encode() + b"\0"
        records += _option(1, value)
    return _block(4, records + _option(_END, b""))


_HEAD = 28  # of an enhanced packet block, before the packet


def _packets(
    capture: Capture,
    flows: contents.Segments,
    comments: list[bytes],
    snaplen: int,
    which: slice,
) -> bytes:
    interface, time_ns = capture.interface[which], capture.time_ns[which]
    number, outbound = capture.number[which], capture.outbound[which]
    comment = capture.comment[which]
    # What a capture shows is numbered as the packets are, and handshakes follow them.
    found = flows.taken(number)
    found.ecn = np.where(capture.marked[which] & (found.ecn > 0), CE, found.ecn)
    header, length = headers(found)
    original = length + found.payload
    captured = np.minimum(original, snaplen)
    padded = captured + (-captured % 4)
    lengths = np.array([0, *map(len, comments)])[comment + 1]
    total = _HEAD + padded + lengths + 8 + 12 + 4 + 4
    rows = np.zeros((len(number), int(total.max(initial=0))), np.uint8)
    words = [
        np.full(len(number), 6),
        total,
        interface,
        time_ns >> 32,
        time_ns & 0xFFFF_FFFF,
        captured,
        original,
    ]
    rows[:, :_HEAD] = np.stack(words, axis=1).astype("<u4").view(np.uint8)
    width = min(header.shape[1], rows.shape[1] - _HEAD, snaplen)
    rows[:, _HEAD : _HEAD + width] = header[:, :width]
    at = _HEAD + padded
    _write(rows, at, _flags_and_number(outbound, number))
    at = at + 20
    for place in np.unique(comment[comment >= 0]):
        mine = np.flatnonzero(comment == place)
        text = np.frombuffer(comments[place], np.uint8)
        rows[mine[:, None], at[mine, None] + np.arange(len(text))] = text
    # The end of options is four zeros.
    _write(rows, total - 4, total[:, None].astype("<u4").view(np.uint8))
    return rows[np.arange(rows.shape[1]) < total[:, None]].tobytes()


def _flags_and_number(outbound: np.ndarray, number: Integers) -> Bytes:
    """The options epb_flags (direction) and epb_packetid (number of the packet)."""
    options = np.zeros((len(number), 20), np.uint8)
    options[:, 0:4] = np.frombuffer(struct.pack("<HH", 2, 4), np.uint8)
    options[:, 4] = np.where(outbound, 2, 1)
    options[:, 8:12] = np.frombuffer(struct.pack("<HH", 5, 8), np.uint8)
    options[:, 12:20] = number[:, None].astype("<u8").view(np.uint8)
    return options


def _write(rows: Bytes, at: Integers, values: Bytes) -> None:
    """Write bytes into each row from a place of its own on."""
    places = at[:, None] + np.arange(values.shape[1])
    rows[np.arange(len(rows))[:, None], places] = values
