"""IPv4, TCP and UDP headers of many packets at once, as rows of bytes.

Source: RFC 791 section 3.1, RFC 1071 (checksums), RFC 9293 section 3.1, RFC 7323 sections 2.2 and
3.2, RFC 2018 section 3, RFC 3168 (ECN), RFC 768. Payloads are zeros, so that checksums over whole
packets need the headers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ackclock.arrays import Flags, Integers, NDArray

Bytes = NDArray[np.uint8]

TCP, UDP, OTHER = 6, 17, 253
"""Protocols. The last is for experiments (RFC 3692), and marks messages between routers."""
FIN_FLAG, SYN_FLAG, PSH_FLAG, ACK_FLAG, ECE_FLAG, CWR_FLAG = 0x01, 0x02, 0x08, 0x10, 0x40, 0x80
ECT_0, CE = 2, 3
"""Code points of the ECN field of the IPv4 header."""
MOST_BLOCKS = 4

_IP, _PORTS = 20, 20
WIDTH = 20 + 20 + 40
"""Columns of the arrays of bytes: IPv4 and TCP headers with all options."""


@dataclass
class Segments:
    """What headers say; arrays of one length.

    Attributes:
        protocol: `TCP`, `UDP` or `OTHER`.
        identification: Of the IPv4 header; its low 16 bits are taken.
        source: IPv4 addresses as numbers.
        target: The same.
        source_port: Ports; unused for `OTHER`.
        target_port: The same.
        seq: First byte; its low 32 bits are taken.
        ack: Next byte expected, low 32 bits; 0 without `ACK_FLAG`.
        flags: TCP flags.
        window: As it stands in the header.
        payload: Bytes after the headers.
        mss: Option of a SYN: largest segment; 0 for none.
        scale: Option of a SYN: window scale; -1 for none.
        sack_permitted: Option of a SYN: 1, or 0 for none.
        tsval: Timestamps option; -1 for none.
        tsecr: The same.
        ecn: Code point of the ECN field of the IPv4 header.
        sack_left: First bytes of blocks of selective acknowledgment, a row a segment, the one to be
            reported first in front; -1 for none.
        sack_right: The bytes after their last.
    """

    protocol: Integers
    identification: Integers
    source: Integers
    target: Integers
    source_port: Integers
    target_port: Integers
    seq: Integers
    ack: Integers
    flags: Integers
    window: Integers
    payload: Integers
    mss: Integers
    scale: Integers
    sack_permitted: Integers
    tsval: Integers
    tsecr: Integers
    ecn: Integers
    sack_left: Integers
    sack_right: Integers

    def __len__(self) -> int:
        return len(self.protocol)

    def taken(self, which: Any) -> Segments:
        """Some of them."""
        return Segments(*(column[which] for column in vars(self).values()))


def headers(segments: Segments) -> tuple[Bytes, Integers]:
    """Headers of segments, one a row, and how many bytes of each row count."""
    rows = np.zeros((len(segments), WIDTH), np.uint8)
    tcp, udp = segments.protocol == TCP, segments.protocol == UDP
    length = np.full(len(segments), _IP)
    length[udp] += 8
    length[tcp] = _IP + _PORTS
    _tcp_options(rows, segments, tcp, length)
    _ipv4(rows, segments, length)
    _put(rows, _IP, segments.source_port, 2, tcp | udp)
    _put(rows, _IP + 2, segments.target_port, 2, tcp | udp)
    _put(rows, _IP + 4, segments.seq, 4, tcp)
    _put(rows, _IP + 8, segments.ack, 4, tcp)
    _put(rows, _IP + 12, (length - _IP) // 4 << 4, 1, tcp)
    _put(rows, _IP + 13, segments.flags, 1, tcp)
    _put(rows, _IP + 14, segments.window, 2, tcp)
    _put(rows, _IP + 4, 8 + segments.payload, 2, udp)
    total = length - _IP + segments.payload
    sums = _sum(rows[:, 12:]) + segments.protocol + total
    _put(rows, _IP + 16, _checksum(sums), 2, tcp)
    # In UDP a checksum of zero means none (RFC 768), so it is sent as all ones.
    folded = _checksum(sums)
    _put(rows, _IP + 6, np.where(folded == 0, 0xFFFF, folded), 2, udp)
    return rows, length


def _ipv4(rows: Bytes, segments: Segments, length: Integers) -> None:
    rows[:, 0] = 0x45
    rows[:, 1] = segments.ecn
    _put(rows, 2, length + segments.payload, 2)
    _put(rows, 4, segments.identification, 2)
    rows[:, 6] = 0x40  # don't fragment
    rows[:, 8] = 64  # time to live
    _put(rows, 9, segments.protocol, 1)
    _put(rows, 12, segments.source, 4)
    _put(rows, 16, segments.target, 4)
    _put(rows, 10, _checksum(_sum(rows[:, :_IP])), 2)


def _tcp_options(rows: Bytes, segments: Segments, tcp: Flags, length: Integers) -> None:
    """Write options one after the other; each takes a multiple of four bytes."""

    def add(which: Flags, start: bytes, fields: list[tuple[Integers, int]]) -> None:
        mine = np.flatnonzero(which & tcp)
        if not len(mine):
            return
        for place, byte in enumerate(start):
            rows[mine, length[mine] + place] = byte
        place = len(start)
        for values, size in fields:
            for byte in range(size):
                shift = 8 * (size - 1 - byte)
                rows[mine, length[mine] + place] = (values[mine] >> shift) & 0xFF
                place += 1
        length[mine] += place

    add(segments.mss > 0, b"\x02\x04", [(segments.mss, 2)])
    add(segments.scale >= 0, b"\x01\x03\x03", [(segments.scale, 1)])
    add(segments.sack_permitted > 0, b"\x01\x01\x04\x02", [])
    add(segments.tsval >= 0, b"\x01\x01\x08\x0a", [(segments.tsval, 4), (segments.tsecr, 4)])
    blocks = (segments.sack_left >= 0).sum(axis=1)
    for count in range(1, segments.sack_left.shape[1] + 1):
        edges = [
            (side[:, place], 4)
            for place in range(count)
            for side in (segments.sack_left, segments.sack_right)
        ]
        add(blocks == count, bytes((1, 1, 5, 2 + 8 * count)), edges)


def _put(rows: Bytes, place: int, values: Integers, size: int, which: Flags | None = None) -> None:
    """Write the low bytes of numbers, the highest first."""
    for byte in range(size):
        found = ((values >> (8 * (size - 1 - byte))) & 0xFF).astype(np.uint8)
        column = rows[:, place + byte]
        column[...] = found if which is None else np.where(which, found, column)


def _sum(rows: Bytes) -> Integers:
    """Sums of the 16-bit words of rows."""
    words = np.ascontiguousarray(rows).view(">u2")
    return words.sum(axis=1, dtype=np.int64)


def _checksum(sums: Integers) -> Integers:
    """The ones' complement of ones' complement sums (RFC 1071)."""
    while (sums >> 16).any():
        sums = (sums & 0xFFFF) + (sums >> 16)
    return ~sums & 0xFFFF
