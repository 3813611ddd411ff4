"""Captures: what was sent and acknowledged on a connection, from pcapng or pcap.

A congestion window is not in a capture; data in flight are, and samples of the round-trip time:
from the transmission of data to the ACK that covers them, none from an ACK that covers data sent
twice: its latest data may have arrived long before (Karn's rule, RFC 6298 section 3, as tcptrace
applies it). Both are as the sender sees them only if the capture was made at the sender.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import extras
from ackclock.arrays import Floats
from ackclock.errors import InputError
from ackclock.measured.measurement import Measurement

_ETHERNET, _COOKED = 1, 113
_RAW = (12, 101, 228, 229)
"""Link types whose packets begin with the header of IP."""

_HALF = 1 << 31


@dataclass
class _Way:
    """One direction of a connection, and the ACKs that come back."""

    data: list[tuple[float, int, int]] = field(default_factory=list)
    acks: list[tuple[float, int]] = field(default_factory=list)
    bytes: int = 0


def read(path: Path) -> Measurement:
    """Read a capture. Errors as of `ackclock.measured.read`."""
    ways: dict[tuple[str, str], _Way] = {}
    for time_s, source, target, segment in _segments(path):
        size = len(segment.data)
        size = getattr(segment, "size", size)
        way = ways.setdefault((source, target), _Way())
        if size:
            way.data.append((time_s, segment.seq, size))
            way.bytes += size
        if segment.flags & 0x10:
            ways.setdefault((target, source), _Way()).acks.append((time_s, segment.ack))
    carried = {ends: way for ends, way in ways.items() if way.data}
    if not carried:
        raise InputError(f"'{path}' holds no data of TCP over IPv4 or IPv6")
    ends = max(carried, key=lambda name: carried[name].bytes)
    return Measurement(path.name, " → ".join(ends), _series(carried[ends]))


def _segments(path: Path) -> Any:
    """Yield time, source, target and segment of TCP; its `size` is the length of its data."""
    dpkt: Any = extras.load("dpkt")
    with path.open("rb") as file:
        try:
            reader = dpkt.pcap.UniversalReader(file)
            link = reader.datalink()
            for time_s, content in reader:
                packet = _network(dpkt, link, content)
                if packet is None or not isinstance(packet.data, dpkt.tcp.TCP):
                    continue
                segment = packet.data
                # Captures may hold the first bytes of a packet only: lengths are in its header.
                if isinstance(packet, dpkt.ip.IP):
                    segment.size = packet.len - 4 * packet.hl - 4 * segment.off
                else:
                    segment.size = packet.plen - 4 * segment.off
                source, target = (_address(end) for end in (packet.src, packet.dst))
                yield (
                    float(time_s),
                    f"{source}:{segment.sport}",
                    f"{target}:{segment.dport}",
                    segment,
                )
        except (dpkt.UnpackError, ValueError) as error:
            raise InputError(f"'{path}' is a damaged capture: {error}") from None


def _network(dpkt: Any, link: int, content: bytes) -> Any:
    """The packet of IP in a frame; None if it holds none."""
    try:
        if link == _ETHERNET:
            inside = dpkt.ethernet.Ethernet(content).data
        elif link == _COOKED:
            inside = dpkt.sll.SLL(content).data
        elif link in _RAW:
            inside = dpkt.ip.IP(content) if content[0] >> 4 == 4 else dpkt.ip6.IP6(content)
        else:
            raise InputError(
                f"captures of link type {link} are not understood; Ethernet and IP are"
            )
    except (dpkt.UnpackError, IndexError):
        return None
    return inside if isinstance(inside, (dpkt.ip.IP, dpkt.ip6.IP6)) else None


def _address(raw: bytes) -> str:
    import ipaddress

    return str(ipaddress.ip_address(raw))


def _series(way: _Way) -> dict[str, tuple[Floats, Floats]]:
    """Data in flight after each event, in segments of the largest size, and round-trip times."""
    start, first, _ = way.data[0]
    segment = max(size for _, _, size in way.data)
    events = [(time, 1, seq, size) for time, seq, size in way.data]
    events += [(time, 0, ack, 0) for time, ack in way.acks if time >= start]
    events.sort(key=lambda event: event[0])
    sent = acked = 0
    pending: list[tuple[int, float]] = []  # end of data, when sent; -1 if sent again
    times, flight, rtt_times, rtts = [], [], [], []
    for time, is_data, number, size in events:
        # Sequence numbers go round at 2^32: the nearest to what is known is meant.
        near = acked + (((number - first) - acked + _HALF) % (1 << 32)) - _HALF
        if is_data:
            if near + size > sent:
                pending.append((near + size, time))
                sent = near + size
            else:
                pending = [
                    (end, -1.0 if near < end <= near + size else when) for end, when in pending
                ]
        elif near > acked:
            covered = [when for end, when in pending if end <= near]
            if covered:
                if min(covered) >= 0:
                    rtt_times.append(time - start)
                    rtts.append(time - covered[-1])
                pending = pending[len(covered) :]
            acked = min(near, sent)
        times.append(time - start)
        flight.append(max(sent - acked, 0) / segment)
    return {
        "flight": (np.array(times), np.array(flight)),
        "rtt": (np.array(rtt_times), np.array(rtts)),
    }
