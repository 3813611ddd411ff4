"""Flows that share one bottleneck, in the terms of the models."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ackclock.theory import conditions
from ackclock.theory.errors import TheoryError
from ackclock.theory.estimate import rounded
from ackclock.theory.network import FlowPath, Network, Station

LOSS_BASED = ("cubic", "reno")
KNOWN = (*LOSS_BASED, "bbr", "bbr3")
"""Congestion controls of which averages are known."""

BURST = 3
"""Packets that one ACK lets out at most: it can be for two, and make the window grow."""

RENO_LEFT = 0.5
"""Share of the window that Reno keeps after a loss."""


class Member(NamedTuple):
    """A flow at the bottleneck.

    Attributes:
        id: Its name.
        cc: Congestion control, with parameters.
        rtt_s: Round-trip time of the empty path, seconds.
        growth: Packets that a window of Reno grows per round trip.
    """

    id: str
    cc: Mapping[str, Any]
    rtt_s: float
    growth: float = 1.0

    @property
    def kind(self) -> str:
        """Name of the congestion control."""
        return self.cc["kind"]

    @property
    def left(self) -> float:
        """Share of the window that a loss leaves."""
        return float(self.cc["decrease"]) if self.kind == "cubic" else RENO_LEFT


class Shared(NamedTuple):
    """Flows that share one bottleneck, and nothing else.

    Attributes:
        station: The queue of the bottleneck.
        members: The flows.
        rate: Packets a second that the link transmits.
        buffer: Packets that the queue holds; none without limit.
        payload_bits: Payload of a packet.
        loss: Probability of a random loss on the way of the data.
        disturbed: What disturbs the path, in words; none if nothing does.
    """

    station: Station
    members: tuple[Member, ...]
    rate: float
    buffer: float | None
    payload_bits: int
    loss: float
    disturbed: str | None

    @property
    def link(self) -> tuple[str, str]:
        """Name and direction of the link."""
        return self.station.link, self.station.direction

    @property
    def payload_bps(self) -> float:
        """Payload a second that the link carries, bit/s."""
        return self.rate * self.payload_bits

    @property
    def one_rtt(self) -> bool:
        """Whether the empty paths have one round-trip time, to 1 %."""
        times = [member.rtt_s for member in self.members]
        return max(times) <= 1.01 * min(times)

    @property
    def path_packets(self) -> float:
        """Packets that the empty path holds; with several paths, their mean."""
        return self.rate * sum(member.rtt_s for member in self.members) / len(self.members)

    @property
    def holds_bursts(self) -> bool:
        """Whether the buffer has room for what one ACK of each flow lets out."""
        return self.buffer is None or self.buffer >= BURST * len(self.members)

    @property
    def bursts_remark(self) -> str:
        """What is to say where it has not."""
        return (
            f"the buffer of {self.station.link} holds {rounded(self.buffer or 0.0)} packets, and "
            f"one ACK of each flow can release {BURST}: packets are lost before the path is full"
        )

    def names(self, *kinds: str) -> tuple[str, ...]:
        """Names of the flows of these kinds."""
        return tuple(member.id for member in self.members if member.kind in kinds)


def shared_by(model: Mapping[str, Any], network: Network, group: Sequence[int]) -> Shared:
    """Return what flows share.

    Raises:
        TheoryError: Not all are bulk transfers over one bottleneck, with a sender that the models
            know, no limit but the congestion window, packets of one size, and one slowest queue
            that is full duplex.
    """
    flows = [network.flows[index] for index in group]
    settings = [model["flows"][index].get("tcp") for index in group]
    for tcp, flow in zip(settings, flows, strict=True):
        if reason := _unknown(tcp, flow, alone=len(flows) == 1):
            raise TheoryError(reason)
    if len({(flow.data_bits, flow.segment_bits) for flow in flows}) > 1:
        raise TheoryError("the packets of these flows differ in size")
    stations = {_bottleneck(network, flow) for flow in flows}
    station = stations.pop()
    if stations or station is None:
        raise TheoryError("not all have one and the same slowest link, full duplex")
    data_bits = flows[0].data_bits
    buffer = None if station.limit_packets is None else float(station.limit_packets)
    if buffer is None and station.limit_bytes is not None:
        buffer = station.limit_bytes * 8 / data_bits
    rate = station.rate_bps / data_bits
    for tcp, flow in zip(settings, flows, strict=True):
        offered = tcp["receive_window_bytes"]
        held = (rate * flow.empty_rtt_s + (buffer or 0.0)) * flow.segment_bits
        if buffer is not None and offered is not None and offered * 8 < held:
            raise TheoryError(
                f"the receive window of {flow.id} is smaller than what path and buffer hold"
            )
        if _acks_wait(network, flow, rate):
            raise TheoryError(f"the way back of {flow.id} is too slow for one ACK per packet")
    loss = _loss(model, network, flows)
    if loss and any(tcp["sender"] != "modern" for tcp in settings if tcp):
        raise TheoryError(
            "with random losses, averages are known of `sender: modern` alone: the recoveries of "
            "the classic sender repair one packet per round trip, or wait for the timer"
        )
    return Shared(
        station,
        tuple(_member(tcp, flow) for tcp, flow in zip(settings, flows, strict=True)),
        rate,
        buffer,
        flows[0].segment_bits,
        loss or 0.0,
        None if loss else conditions.disturbed_by(model, network, group),
    )


def _unknown(tcp: Mapping[str, Any] | None, flow: FlowPath, *, alone: bool) -> str | None:
    """Return why the models do not know a flow, if so: its sender, or what else limits it."""
    kind = flow.params["kind"]
    if tcp is None or kind not in KNOWN:
        return f"averages are known of {', '.join(KNOWN)}, not of {kind}"
    if tcp["sender"] != "modern" and not _is_textbook(tcp, alone=alone):
        return (
            "averages are known of `sender: modern`, and of `sender: classic` with `cc: reno` and "
            "`recovery: newreno` (alone before its bottleneck also with `recovery: reno`); "
            f"{flow.id} is another one"
        )
    if tcp.get("receive_buffer_bytes") is not None:
        return f"{flow.id} has a `receive_buffer`, which limits its window"
    return f"{flow.id} has `ecn: true`" if tcp["ecn"] else None


def _is_textbook(tcp: Mapping[str, Any], *, alone: bool) -> bool:
    """Whether a sender continues from half of its window after a loss, as in RFC 5681.

    A flow alone loses one packet of a window. Beside others it may lose several, and without the
    partial ACKs of NewReno the second one waits for the timer.
    """
    if tcp["sender"] != "classic" or tcp["cc"]["kind"] != "reno":
        return False
    return tcp["recovery"]["kind"] in (("newreno", "reno") if alone else ("newreno",))


def _member(tcp: Mapping[str, Any], flow: FlowPath) -> Member:
    by_bytes = tcp["cc"].get("counting", "bytes") == "bytes"
    growth = 1.0 if by_bytes else 1.0 / flow.ack_every
    return Member(flow.id, tcp["cc"], flow.empty_rtt_s, growth)


def _bottleneck(network: Network, flow: FlowPath) -> Station | None:
    """Return the slowest station of a flow's data, if it is one alone and full duplex."""
    visited = [network.stations[place] for place in flow.data_visits]
    least = min(station.rate_bps for station in visited)
    slowest = [station for station in visited if station.rate_bps == least]
    alone = len(slowest) == 1 and slowest[0].direction != "both"
    return slowest[0] if alone else None


def _acks_wait(network: Network, flow: FlowPath, rate: float) -> bool:
    """Whether the way back could be too slow for an ACK of each packet of the bottleneck."""
    # ACKs of no length visit nothing.
    rates = (network.stations[place].rate_bps for place in flow.ack_visits)
    slowest = min(rates, default=math.inf)
    return flow.ack_bits * rate > slowest


def _loss(model: Mapping[str, Any], network: Network, flows: Sequence[FlowPath]) -> float | None:
    """Return the probability of a random loss of data, if that alone disturbs all of some flows.

    ACKs may be as likely to be lost: the next one makes good for it.
    """
    lost = set()
    for flow in flows:
        data = _lost_on(model, network, flow.data_visits, "data")
        acks = _lost_on(model, network, flow.ack_visits, "acks")
        if data is None or acks is None or acks > data:
            return None
        lost.add(data)
    return lost.pop() if len(lost) == 1 else None


def _lost_on(
    model: Mapping[str, Any], network: Network, visits: Sequence[int], packets: str
) -> float | None:
    """Return the probability that one of these packets is lost at random on its way.

    None if something else disturbs a link there.
    """
    links = {link["id"]: link for link in model["links"]}
    kept = 1.0
    for place in visits:
        station = network.stations[place]
        link = links[station.link]
        side = link["forward" if station.direction == "both" else station.direction]
        loss = side["loss"]
        if loss["kind"] not in ("none", "bernoulli") or conditions.otherwise_disturbed(link):
            return None
        if loss["kind"] == "bernoulli" and loss["applies_to"] in ("all", packets):
            kept *= 1.0 - loss["p"]
    return 1.0 - kept
