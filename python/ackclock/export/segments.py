"""What packets of a run are as IPv4 packets with TCP or UDP inside.

Nodes have addresses from 10.0.0.1 on, hosts first. Sequence numbers begin with 0 at both ends, so
that the first byte of data has number 1. Headers are as long as TCP makes them; what a scenario
adds to a packet beside (a link layer, or no header at all) is not shown.

A flow without handshake starts established; SYN, SYN-ACK and ACK at its start are made up, so that
a reader learns the window scale.

What headers say beyond numbers (flags, ECN, SACK blocks, windows) is shown if the table `headers`
was recorded. The receiver's end of a connection sends no data and no FIN.

Selective repeat numbers packets and acknowledges each by itself. In a capture packet n begins at
byte n times the segment, and an ACK shows the next byte expected and, ahead of it, the block around
the packet that caused it (RFC 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ackclock.export.columns import (
    ACK,
    DATA,
    FIN,
    HANDSHAKE_ACK,
    ROUTER,
    SYN,
    SYN_ACK,
    WINDOW_PROBE,
    Integers,
    Records,
    records,
)
from ackclock.export.headers import (
    ACK_FLAG,
    CWR_FLAG,
    ECE_FLAG,
    ECT_0,
    FIN_FLAG,
    MOST_BLOCKS,
    OTHER,
    PSH_FLAG,
    SYN_FLAG,
    TCP,
    UDP,
    WIDTH,
    Segments,
)
from ackclock.export.network import Network
from ackclock.export.packets import Packets, counts_bytes, is_modern
from ackclock.results import Results

__all__ = ["HANDSHAKE", "Segments", "address", "most_bytes", "of_packets"]

HANDSHAKE = 3
"""Made-up messages of a handshake of each flow; they are numbered after all packets."""
_TIMESTAMP_BYTES = 12
_UNLIMITED = 65535 << 14  # the largest window that TCP can announce
# Ports at which Wireshark expects no other protocol.
_SENDERS, _SENDER_PORTS = 50_000, 4_000
_RECEIVERS, _RECEIVER_PORTS = 42_000, 2_000


def address(node: int) -> int:
    """IPv4 address of a node."""
    return (10 << 24) + node + 1


def most_bytes(segments: Segments, snaplen: int) -> int:
    """Most bytes of a packet that are captured, padded."""
    return min(WIDTH + int(segments.payload.max(initial=0)), snaplen) + 4


def of_packets(results: Results, network: Network, packets: Packets) -> Segments:
    """All packets by number, and after them for each flow the messages of a made-up handshake."""
    flows = results.model["flows"]
    count = len(packets)
    modern = any(map(is_modern, flows))
    whole = _blank(count + HANDSHAKE * len(flows), MOST_BLOCKS if modern else 1)
    whole.identification[:count] = np.arange(count)
    _routers(whole, network, packets)
    table = records(results, "packets")
    # All packets as they are sent (negative, less one) and received, in the order of the run.
    sent = table.places("event", ("sent", "received")) == 0
    steps = np.where(sent, -1 - table.ints("packet_id"), table.ints("packet_id"))
    arrived = steps[~sent]
    for number, flow in enumerate(flows):
        both = [address(int(node)) for node in network.ends_of_flow[number]]
        mine = np.flatnonzero(packets.flow == number)
        own = np.concatenate([mine, count + HANDSHAKE * number + np.arange(HANDSHAKE)])
        ahead = np.concatenate([~packets.back[mine], [True, False, True]])
        ports = [_SENDERS + number % _SENDER_PORTS]
        ports.append(_RECEIVERS + number // _SENDER_PORTS % _RECEIVER_PORTS)
        whole.source[own] = np.where(ahead, both[0], both[1])
        whole.target[own] = np.where(ahead, both[1], both[0])
        whole.source_port[own] = np.where(ahead, ports[0], ports[1])
        whole.target_port[own] = np.where(ahead, ports[1], ports[0])
        if flow["tcp"] is None:
            whole.protocol[own] = UDP
            whole.payload[mine] = np.maximum(packets.bytes[mine] - 28, 0)
        else:
            whole.protocol[own] = TCP
            _tcp(whole, packets, flow, number, mine, arrived)
            if has_timestamps(flow):
                _timestamps(whole, packets, flow, own, steps)
            if is_modern(flow):
                _ends(whole, packets, number, steps)
    if "headers" in results.tables:
        _recorded(whole, packets, records(results, "headers"), flows)
    return whole


def has_timestamps(flow: dict[str, Any]) -> bool:
    """Whether a flow uses timestamps, or its headers have room for them: 20 + 20 + 12 bytes."""
    if is_modern(flow):
        return flow["tcp"].get("timestamps", True)
    return counts_bytes(flow) and flow["tcp"]["header_bytes"] >= 52


def _blank(count: int, blocks: int) -> Segments:
    columns = [np.zeros(count, np.int64) for _ in range(17)]
    made = Segments(*columns, *(np.full((count, blocks), -1, np.int64) for _ in range(2)))
    for column in (made.scale, made.tsval, made.tsecr):
        column[:] = -1
    return made


def _recorded(
    whole: Segments, packets: Packets, table: Records, flows: list[dict[str, Any]]
) -> None:
    """Flags, windows and blocks that were recorded.

    A flow with ECN asks for it in the handshake (RFC 3168 section 6.1.1), a modern one only once
    (6.1.1.1); it was agreed on if packets may be marked.
    """
    number = table.ints("packet_id")
    for name, flag in (
        ("ece", ECE_FLAG),
        ("cwr", CWR_FLAG),
        ("push", PSH_FLAG),
        ("fin", FIN_FLAG),
    ):
        whole.flags[number] |= np.where(table.plain(name), flag, 0)
    whole.ecn[number] = np.where(table.plain("capable"), ECT_0, 0)
    window, flow = table.ints("window_bytes"), packets.flow[number]
    for place in np.unique(flow[window >= 0]):
        mine = (flow == place) & (window >= 0)
        whole.window[number[mine]] = window[mine] >> _window(flows[place]["tcp"])[0]
    for place in range(whole.sack_left.shape[1]):
        for side, word in ((whole.sack_left, "from"), (whole.sack_right, "to")):
            edge = table.ints(f"sack_{place + 1}_{word}")
            rows = np.flatnonzero(edge >= 0)
            side[number[rows], place] = edge[rows] + 1
    agreed = np.isin(packets.flow, flow[table.plain("capable")])
    whole.flags[np.flatnonzero(agreed & (packets.kind == SYN_ACK))] |= ECE_FLAG
    for place, asking in enumerate(flows):
        if asking["tcp"] is not None and asking["tcp"].get("ecn"):
            asks = packets.of_flow(place, SYN)
            whole.flags[asks[:1] if is_modern(asking) else asks] |= ECE_FLAG | CWR_FLAG


def _ends(whole: Segments, packets: Packets, number: int, steps: Integers) -> None:
    """Numbers of what has no data: a FIN of its own, and probes of the receiver's window."""
    mine = np.flatnonzero(packets.flow == number)
    kind = packets.kind[mine]
    data, fins = mine[kind == DATA], mine[kind == FIN]
    whole.seq[fins] = 1 + (packets.seq[data] + whole.payload[data]).max(initial=0)
    whole.flags[fins] |= FIN_FLAG
    probes = mine[kind == WINDOW_PROBE]
    if len(probes):
        packet = np.where(steps < 0, -1 - steps, steps)
        acked = (steps >= 0) & (packets.flow[packet] == number) & (packets.kind[packet] == ACK)
        highest = np.maximum.accumulate(np.where(acked, whole.ack[packet], 1))
        sent = np.flatnonzero(steps < 0)
        sent = sent[np.isin(packet[sent], probes)]
        whole.seq[packet[sent]] = highest[sent] - 1


def _routers(whole: Segments, network: Network, packets: Packets) -> None:
    """Messages between routers, to whoever is at the far end of the link (224.0.0.1)."""
    mine = np.flatnonzero(packets.kind == ROUTER)
    whole.protocol[mine] = OTHER
    whole.source[mine] = address(network.hosts) + packets.seq[mine]
    whole.target[mine] = (224 << 24) + 1
    whole.payload[mine] = np.maximum(packets.bytes[mine] - 20, 0)


def _tcp(
    whole: Segments,
    packets: Packets,
    flow: dict[str, Any],
    number: int,
    mine: Integers,
    arrived: Integers,
) -> None:
    tcp = flow["tcp"]
    kind = packets.kind[mine]
    back = packets.back[mine]
    data, acks = mine[kind == DATA], mine[(kind == ACK) & back]
    scale, window = _window(tcp)
    whole.flags[mine] = ACK_FLAG
    whole.window[mine] = window
    whole.seq[mine] = 1
    whole.ack[mine] = 1
    whole.payload[data] = np.maximum(packets.bytes[data] - tcp["header_bytes"], 0)
    if counts_bytes(flow):
        whole.seq[data] = packets.seq[data] + 1
        whole.ack[acks] = packets.seq[acks] + 1
    else:
        segment = tcp["segment_bytes"]
        whole.seq[data] = packets.seq[data] * segment + 1
        _selective(whole, packets, data, acks, segment, arrived[packets.flow[arrived] == number])
    first = len(packets) + HANDSHAKE * number
    asks = np.concatenate([mine[kind == SYN], [first]])
    answers = np.concatenate(
        [mine[kind == SYN_ACK], np.flatnonzero(packets.answers_to_syn(number)), [first + 1]]
    )
    confirms = np.concatenate([mine[kind == HANDSHAKE_ACK], [first + 2]])
    for messages, flags, ack in (
        (asks, SYN_FLAG, 0),
        (answers, SYN_FLAG | ACK_FLAG, 1),
        (confirms, ACK_FLAG, 1),
    ):
        whole.flags[messages] = flags
        whole.seq[messages] = 0 if flags & SYN_FLAG else 1
        whole.ack[messages] = ack
        whole.window[messages] = min(window << scale, 65535) if flags & SYN_FLAG else window
    opening = np.concatenate([asks, answers])
    # The MSS counts no options (RFC 9293 section 3.7.1): those of a segment come off its data.
    whole.mss[opening] = tcp["segment_bytes"] + (_TIMESTAMP_BYTES if has_timestamps(flow) else 0)
    whole.scale[opening] = scale
    permitted = tcp.get("sack", True) if is_modern(flow) else not counts_bytes(flow)
    whole.sack_permitted[opening] = permitted


def _window(tcp: dict[str, Any]) -> tuple[int, int]:
    """Window scale, and the receiver's window in its units."""
    window = tcp.get("receive_window_bytes")
    window = min(window or _UNLIMITED, _UNLIMITED)
    scale = 0
    while -(-window >> scale) > 65535:
        scale += 1
    return scale, -(-window >> scale)


def _timestamps(
    whole: Segments, packets: Packets, flow: dict[str, Any], own: Integers, steps: Integers
) -> None:
    """Timestamps in milliseconds: what is sent carries its time, and echoes what came last.

    An ACK echoes the data that the receiver chose to echo.
    """
    start_ms = flow["start_ns"] // 1_000_000
    mine, made_up = own[:-HANDSHAKE], own[-HANDSHAKE:]
    whole.tsval[made_up] = start_ms
    whole.tsecr[made_up] = [0, start_ms, start_ms]
    whole.tsval[mine] = packets.sent_ns[mine] // 1_000_000
    whole.tsecr[mine] = packets.stamp_ns[mine] // 1_000_000
    number = packets.flow[mine[0]] if len(mine) else -1
    packet = np.where(steps < 0, -1 - steps, steps)
    # What the sender sends echoes what it has received last.
    at_sender = (packets.flow[packet] == number) & (packets.back[packet] == (steps >= 0))
    steps, packet = steps[at_sender], packet[at_sender]
    came = np.where(steps >= 0, np.arange(len(steps)), -1)
    last = np.maximum.accumulate(came) if len(came) else came
    echo = np.where(last >= 0, packets.sent_ns[packet[last]] // 1_000_000, 0)
    whole.tsecr[packet[steps < 0]] = echo[steps < 0]


def _selective(
    whole: Segments,
    packets: Packets,
    data: Integers,
    acks: Integers,
    segment: int,
    arrived: Integers,
) -> None:
    """ACKs of selective repeat: cumulative, with the block around the packet that caused them."""
    came = arrived[np.isin(arrived, data)]
    number = packets.seq[came]
    if not len(came):
        return
    total = int(packets.seq[data].max()) + 1
    size = np.zeros(total, np.int64)
    size[packets.seq[data]] = whole.payload[data]
    # First arrival of each packet, and of the last of all up to it.
    first = np.full(total, len(came))
    np.minimum.at(first, number, np.arange(len(came)))
    until = np.maximum.accumulate(first)
    # Each ACK belongs to the next arrival of its number that has none yet.
    cause = _causes(number, packets.seq[acks])
    in_order = np.searchsorted(until, cause, "right")
    whole.ack[acks] = 1 + _begin(in_order, segment, size)
    ahead = np.flatnonzero(packets.seq[acks] >= in_order)
    blocks = _blocks(first, cause[ahead], packets.seq[acks[ahead]])
    whole.sack_left[acks[ahead], 0] = 1 + blocks[:, 0] * segment
    whole.sack_right[acks[ahead], 0] = 1 + _begin(blocks[:, 1], segment, size)


def _begin(packet: Integers, segment: int, size: Integers) -> Integers:
    """First byte after all packets before this one; the last packet may be short."""
    before = np.maximum(packet - 1, 0)
    return np.where(packet > 0, before * segment + size[before], 0)


def _causes(arrivals: Integers, acked: Integers) -> Integers:
    """For each ACK the place of the arrival that caused it: the next one of its number."""
    order = np.argsort(arrivals, kind="stable")
    turn = np.argsort(acked, kind="stable")
    nth = np.arange(len(acked)) - np.searchsorted(acked[turn], acked[turn], "left")
    places = np.searchsorted(arrivals[order], acked[turn], "left") + nth
    causes = np.empty(len(acked), np.int64)
    causes[turn] = order[np.minimum(places, len(order) - 1)]
    return causes


def _blocks(first: Integers, cause: Integers, packet: Integers) -> np.ndarray:
    """Blocks [from, to) of packets that had come by an arrival, around a packet."""
    blocks = np.empty((len(packet), 2), np.int64)
    for row, (moment, number) in enumerate(zip(cause.tolist(), packet.tolist(), strict=True)):
        left = number
        while left > 0 and first[left - 1] <= moment:
            left -= 1
        right = number + 1
        while right < len(first) and first[right] <= moment:
            right += 1
        blocks[row] = left, right
    return blocks
