"""Where the picture of a liquid does not hold: what makes the theory decline, and why.

Blocks: where a flow's data and ACKs wait in one queue, they can stay apart. A window of data leaves
as one block, its ACKs follow as one block, and the link idles until the first of the new data is
there (Zhang, Shenker, Clark, "Observations on the dynamics of a congestion control algorithm: the
effects of two-way traffic", SIGCOMM 1991). When this keeps itself up follows from the times of the
first packet. Let W data packets arrive at the queue at the distance d that the slowest other
transmitter of the round trip gives them, and take the time s each at the queue's own. The first one
has left at s, and comes back, as an ACK, after T at s + T. By then (s + T) / d packets have come
before it, so that it leaves at (s + T) s / d, and the data that it releases are there T' later. If
the window has left before, at W s, the link idles: blocks last if

    W s < (s + T) s / d + T'.

A window that changes by a clock of its own (FAST with `update: period`) puts packets between the
blocks and so mixes them; one that changes with ACKs does not.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.theory.laws import Law
from ackclock.theory.network import NS_PER_S, WITHOUT_OWN_DROPS, FlowPath, Network
from ackclock.theory.periods import State


def disturbed_by(model: Mapping[str, Any], network: Network, group: Sequence[int]) -> str | None:
    """Return in words which links of some flows do what no law knows; None if none does."""
    places = {
        s for i in group for s in (*network.flows[i].data_visits, *network.flows[i].ack_visits)
    }
    visited = {network.stations[place].link for place in places}
    reasons: dict[str, list[str]] = {}
    for link in (link for link in model["links"] if link["id"] in visited):
        lossy = any(side["loss"]["kind"] != "none" for side in _sides(link))
        for reason in (["packets are lost on"] if lossy else []) + otherwise_disturbed(link):
            reasons.setdefault(reason, []).append(link["id"])
    reported = [f"{reason} {', '.join(links)}" for reason, links in reasons.items()]
    return "; ".join(reported) or None


def otherwise_disturbed(link: Mapping[str, Any]) -> list[str]:
    """Return in words what disturbs a link besides random losses."""
    sides = _sides(link)
    found = {
        "delays vary by jitter on": any(
            side.get("jitter", {}).get("kind", "none") != "none" for side in sides
        ),
        "the rate varies on": any(side.get("rate") for side in sides),
        "packets are damaged or duplicated on": any(
            side.get("corruption") or side.get("duplication") for side in sides
        ),
        "rate, delay or state change on": link.get("changes"),
    }
    return [reason for reason, there in found.items() if there]


def _sides(link: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [link[side] for side in ("forward", "backward") if side in link]


def held_back(
    model: Mapping[str, Any], network: Network, laws: Mapping[int, Law], state: State
) -> list[str]:
    """Return the flows whose window in equilibrium is larger than what their receiver offers."""
    found = []
    for index, window in zip(sorted(laws), state.windows, strict=True):
        tcp = model["flows"][index].get("tcp") or {}
        offered = [tcp.get(key) for key in ("receive_window_bytes", "receive_buffer_bytes")]
        least = min((size for size in offered if size is not None), default=None)
        if window is not None and least is not None:
            flow = network.flows[index]
            if int(window) > least * 8 // flow.segment_bits:
                found.append(flow.id)
    return found


def waiting_for_partners(network: Network, laws: Mapping[int, Law], state: State) -> list[str]:
    """Return the flows with fewer packets in flight than their receiver waits for before an ACK."""
    flows = [network.flows[index] for index in sorted(laws)]
    pairs = zip(flows, state.windows, strict=True)
    return [flow.id for flow, w in pairs if w is not None and int(w) < flow.ack_every]


def content_without_queue(network: Network, laws: Mapping[int, Law]) -> list[str]:
    """Return the flows of which the window can rest before the link is full."""
    flows = [(network.flows[index], law) for index, law in laws.items()]
    kept = [(flow.id, law.kept_packets(flow, whole=True)) for flow, law in flows]
    late = {flow.id for flow, _ in flows if flow.ack_every > 1}
    return [name for name, ends in kept if name in late and ends is not None and ends[0] <= 0.0]


def dropping_queues(model: Mapping[str, Any], network: Network, state: State) -> list[str]:
    """Return the links with a standing queue whose discipline drops before it is full."""
    links = {link["id"]: link for link in model["links"]}
    found: dict[str, None] = {}
    for place, station in enumerate(network.stations):
        side = "backward" if station.direction == "backward" else "forward"
        kind = links[station.link][side]["queue"]["kind"]
        if state.shortage_s[place] > 0 and kind not in WITHOUT_OWN_DROPS:
            found[station.link] = None
    return list(found)


def block_links(network: Network, laws: Mapping[int, Law], state: State) -> list[str]:
    """Return the links with a standing queue in which data and ACKs may stay apart in blocks.

    Args:
        network: The network.
        laws: Law of each flow, by index.
        state: Their equilibrium.
    """
    flows = [network.flows[index] for index in sorted(laws)]
    with_acks = {place for flow in flows for place in flow.ack_visits}
    found: dict[str, None] = {}
    for flow, law, window in zip(
        flows, (laws[index] for index in sorted(laws)), state.windows, strict=True
    ):
        if window is None or not law.follows_acks(flow):
            continue
        for place in flow.data_visits:
            mixed = place in with_acks and state.shortage_s[place] > 0
            if mixed and _keeps_blocks(network, flow, place, window):
                found[network.stations[place].link] = None
    return list(found)


def _keeps_blocks(network: Network, flow: FlowPath, place: int, window: float) -> bool:
    """Whether the link of a queue idles between blocks of data and blocks of ACKs."""
    visits = [(station, flow.data_bits) for station in flow.data_visits]
    visits += [(station, flow.ack_bits) for station in flow.ack_visits]
    at = flow.data_visits.index(place)
    around = [*visits[at + 1 :], *visits[:at]]
    distance_s = max(
        (bits / network.stations[station].rate_bps for station, bits in around), default=0.0
    )
    if not distance_s:
        return True
    # Propagation behind the queue counts for each visit of it.
    trips_s = [network.stations[place].delay_ns / NS_PER_S, 0.0]
    back = False
    for station, bits in around:
        if station == place:
            back = True
            trips_s[1] += network.stations[place].delay_ns / NS_PER_S
        else:
            trips_s[back] += float(network.stations[station].transit_s(bits))
    service_s = flow.data_bits / network.stations[place].rate_bps
    first_s = (service_s + trips_s[0]) * service_s / distance_s
    return window * service_s < first_s + trips_s[1]
