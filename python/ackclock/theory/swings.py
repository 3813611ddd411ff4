"""Flows without an equilibrium: between which windows one that reacts to losses swings.

CUBIC and Reno rest nowhere: the window grows until a packet is lost, and falls to a share of it.
Alone before a drop-tail buffer of B packets, with P packets that the empty path holds (rate times
RTT), a window overflows the buffer at W = P + B and falls to `left` W. So the queue swings between
left W - P and B, and the link never idles if left W >= P (Appenzeller, Keslassy, McKeown, SIGCOMM
2004, for Reno).

Where packets are lost at random, with probability p, the mean window is that of the response
function: for CUBIC, with its constant C and its decrease b, the larger one of

    (C (3 + b) / (4 (1 - b)))^(1/4) (RTT / p)^(3/4)        RFC 9438 section 5.1, equation 6
    sqrt(3 / (2 p))                                        Reno; and CUBIC's Reno-friendly region

as long as the path holds so many. Flows of one kind with one RTT share a link equally in the mean.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ackclock.errors import listed
from ackclock.theory import conditions
from ackclock.theory.network import FlowPath, Network, Station

KINDS = ("cubic", "reno")
"""Congestion controls of which it is known."""

RENO_LEFT = 0.5


@dataclass(frozen=True)
class Swing:
    """Between which values a flow swings that is alone before a buffer.

    Attributes:
        link: Name of the link with the buffer.
        high_packets: Window at which the buffer overflows.
        low_packets: Window after a loss.
        queue_high_packets: Packets that wait at the first.
        queue_low_packets: Packets that wait at the second.
        path_packets: Packets that the path holds without a queue.
    """

    link: str
    high_packets: float
    low_packets: float
    queue_high_packets: float
    queue_low_packets: float
    path_packets: float

    @property
    def busy(self) -> bool:
        """Whether the link has packets to send all the time."""
        return self.low_packets >= self.path_packets


def swing_of(model: Mapping[str, Any], network: Network, group: Sequence[int]) -> Swing | None:
    """Return the swing of a flow that shares no queue; none where it is not known."""
    if not _known(model, network, group) or len(group) > 1:
        return None
    if conditions.disturbed_by(model, network, group):
        return None
    flow = network.flows[group[0]]
    station = _bottleneck(network, flow)
    if station is None:
        return None
    buffer = station.limit_packets
    if buffer is None and station.limit_bytes is not None:
        buffer = station.limit_bytes * 8 / flow.data_bits
    if buffer is None:
        return None
    path = station.rate_bps * flow.empty_rtt_s / flow.data_bits
    high = path + buffer
    tcp = model["flows"][group[0]]["tcp"]
    window = tcp["receive_window_bytes"]
    if window is not None and window * 8 < high * flow.segment_bits:
        return None
    low = _left(tcp["cc"]) * high
    return Swing(station.link, high, low, float(buffer), max(0.0, low - path), path)


def note(model: Mapping[str, Any], network: Network, group: Sequence[int]) -> str | None:
    """Return what is known of flows without an equilibrium, in words; none if nothing is."""
    if not _known(model, network, group):
        return None
    names = listed([network.flows[index].id for index in group])
    word = {"cubic": "CUBIC", "reno": "Reno"}[network.flows[group[0]].params["kind"]]
    if swing := swing_of(model, network, group):
        idle = (
            "the link never idles, since the empty path holds only"
            if swing.busy
            else "the link idles after each loss, since the empty path holds"
        )
        return (
            f"{names}: {word} has no equilibrium, it swings. After slow start a window of about "
            f"{swing.high_packets:.3g} packets overflows the buffer of {swing.link}, and a loss "
            f"leaves {swing.low_packets:.3g}; the queue is between {swing.queue_low_packets:.3g} "
            f"and {swing.queue_high_packets:.3g} packets, and {idle} {swing.path_packets:.3g}."
        )
    if len(group) > 1:
        return _share(model, network, group, names, word)
    return _random(model, network, group[0], names, word)


def _share(
    model: Mapping[str, Any], network: Network, group: Sequence[int], names: str, word: str
) -> str | None:
    """Return the share of flows that are alike; none if they are not."""
    flows = [network.flows[index] for index in group]
    stations = {_bottleneck(network, flow) for flow in flows}
    settings = [model["flows"][index]["tcp"] for index in group]
    alike = len({flow.empty_rtt for flow in flows}) == 1 and all(
        tcp == settings[0] for tcp in settings
    )
    station = stations.pop()
    if stations or station is None or not alike:
        return None
    if conditions.disturbed_by(model, network, group):
        return None
    flow = flows[0]
    share = station.rate_bps * flow.segment_bits / flow.data_bits / len(group)
    return (
        f"{names}: {word} has no equilibrium, it swings. Flows of one kind with one round-trip "
        f"time share {station.link} equally in the long run: at most {share / 1e6:.4g} Mbps of "
        "payload each while all are active."
    )


def _random(
    model: Mapping[str, Any], network: Network, index: int, names: str, word: str
) -> str | None:
    """Return the mean window of the response function; none unless packets are lost at random."""
    flow = network.flows[index]
    station = _bottleneck(network, flow)
    p = _loss(model, network, flow)
    if p is None or station is None:
        return None
    cc = model["flows"][index]["tcp"]["cc"]
    mean = math.sqrt(1.5 / p)
    if cc["kind"] == "cubic":
        left = _left(cc)
        cubic = (cc["c"] * (3 + left) / (4 * (1 - left))) ** 0.25
        mean = max(mean, cubic * (flow.empty_rtt_s / p) ** 0.75)
    path = station.rate_bps * flow.empty_rtt_s / flow.data_bits
    if mean > path:
        return (
            f"{names}: {word} has no equilibrium. With losses of {p:.3g} alone its mean window "
            f"would be {mean:.3g} packets, more than the {path:.3g} that the path of "
            f"{station.link} holds: what limits it is the link."
        )
    goodput = mean * flow.segment_bits / flow.empty_rtt_s
    return (
        f"{names}: {word} has no equilibrium. By its response function a random loss of {p:.3g} "
        f"gives a mean window of about {mean:.3g} packets, {goodput / 1e6:.3g} Mbps of payload; "
        "timeouts, which are not in it, make it less."
    )


def _known(model: Mapping[str, Any], network: Network, group: Sequence[int]) -> bool:
    """Whether all flows are bulk transfers of one kind with a modern sender, without limits."""
    kinds = {network.flows[index].params["kind"] for index in group}
    if len(kinds) > 1 or not kinds <= set(KINDS):
        return False
    settings = [model["flows"][index]["tcp"] for index in group]
    return all(
        tcp["sender"] == "modern" and tcp["receive_buffer_bytes"] is None and not tcp["ecn"]
        for tcp in settings
    )


def _left(cc: Mapping[str, Any]) -> float:
    """Share of the window that a loss leaves."""
    return float(cc["decrease"]) if cc["kind"] == "cubic" else RENO_LEFT


def _bottleneck(network: Network, flow: FlowPath) -> Station | None:
    """Return the slowest station of a flow's data, if it is one alone and full duplex."""
    visited = [network.stations[place] for place in flow.data_visits]
    least = min(station.rate_bps for station in visited)
    slowest = [station for station in visited if station.rate_bps == least]
    alone = len(slowest) == 1 and slowest[0].direction != "both"
    return slowest[0] if alone else None


def _loss(model: Mapping[str, Any], network: Network, flow: FlowPath) -> float | None:
    """Return the probability of a random loss on the way of the data; none with other losses."""
    links = {link["id"]: link for link in model["links"]}
    kept = 1.0
    for place in flow.data_visits:
        station = network.stations[place]
        link = links[station.link]
        loss = link["forward" if station.direction == "both" else station.direction]["loss"]
        if link.get("changes") or loss["kind"] not in ("none", "bernoulli"):
            return None
        if loss["kind"] == "bernoulli":
            kept *= 1.0 - loss["p"]
    return 1.0 - kept if kept < 1.0 else None
