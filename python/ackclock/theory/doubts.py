"""Flows of which a prediction shows figures that are not judged, and why."""

from collections.abc import Iterator
from typing import NamedTuple

from ackclock.theory.laws import LEAST_WINDOW, Law
from ackclock.theory.network import FlowPath, Network
from ackclock.theory.prediction import RATE_TOLERANCE, Period, queue_label
from ackclock.theory.timeline import Timeline

_NEGLIGIBLE = 0.02
"""Share of a rate that may depend on single packets without a word."""


class Doubts(NamedTuple):
    """What speaks against the figures of a prediction."""

    begun_together: set[str]
    """Flows whose shares depend on the single packets with which they begin."""
    ranged: list[str]
    """Flows that are at rest in a whole range."""
    reasons: dict[str, str]
    """Why other figures of a flow are not judged, by flow."""
    overfull: dict[str, set[str]]
    """The links whose predicted queue is longer than the buffer, with the flows active then."""

    @property
    def flows(self) -> frozenset[str]:
        """The flows of which nothing is judged."""
        return frozenset(self.begun_together).union(self.reasons, *self.overfull.values())

    def remarks(self) -> Iterator[str]:
        """Say which flows are not judged, or in a range, and why."""
        if self.begun_together:
            yield (
                f"{', '.join(sorted(self.begun_together))}: start beside others, or before these "
                "have settled. What each takes for the RTT of the empty path depends on single "
                "packets, and so do the shares: they are shown, not judged."
            )
        if self.ranged:
            yield (
                f"{', '.join(self.ranged)}: at rest anywhere between alpha and beta packets in "
                "queues. What each takes for the RTT of the empty path depends on the queue that "
                "its first packets meet. The ranges are what both allow."
            )
        flows: dict[str, list[str]] = {}
        for name, reason in self.reasons.items():
            flows.setdefault(reason, []).append(name)
        for reason, names in flows.items():
            yield f"{', '.join(names)}: {reason}; the figures are shown, not judged."
        for link in self.overfull:
            yield (
                f"{link}: the predicted queue is longer than the buffer; packets will be lost and "
                "the equilibrium is not reached: the figures are shown, not judged."
            )


def doubts_about(network: Network, laws: dict[int, Law], timeline: Timeline) -> Doubts:
    """Look for what speaks against the figures of these flows."""
    flows = network.flows
    ranged = [flows[i].id for i, law in laws.items() if law.kept_packets(flows[i], True)]
    among = set(ranged)
    return Doubts(
        _begun_together(network, laws, among, timeline),
        ranged,
        _beyond_range(network, laws, among, timeline) | _in_bursts(network, laws, timeline),
        _overfull(network, timeline),
    )


def _begun_together(
    network: Network, laws: dict[int, Law], ranged: set[str], timeline: Timeline
) -> set[str]:
    """Flows whose base RTT depends on the bursts with which they and others start.

    The first packets of a flow may wait for the first windows of others. It takes that time for a
    part of the path, and as its rate is alpha / (RTT - base RTT), it gets more by this share of its
    queueing delay. A window with a clock of its own moves against the others, so that it soon meets
    the path without a single packet of theirs; and flows that are alike and start at one time with
    single packets find the same.

    A flow that starts beside settled ones meets their queue, and half a packet more of each on
    average at the links that they fill, as it comes at any time. Changes of windows reach the queue
    at times that differ as RTTs do. If it lasts no longer than they differ, it can run empty while
    the flow grows, so that this finds the empty path. A clock of its own spares it both.
    """
    by_base_rtt: dict[str, FlowPath] = {}
    spared: dict[str, int] = {}
    for index, law in laws.items():
        flow = network.flows[index]
        if law.demand(flow, 0.0).alpha > 0:
            by_base_rtt[flow.id] = flow
            spared[flow.id] = 0 if law.follows_acks(flow) else 1
    found: set[str] = set()
    settled = True
    for period in timeline.periods:
        flows = [by_base_rtt[name] for name in period.flows if name in by_base_rtt]
        fresh = [flow for flow in flows if flow.start_s == period.start_s]
        for flow in fresh:
            others = [o for o in flows if o not in fresh and not settled]
            others += [
                o
                for o in fresh
                if o is not flow
                and (o.params != flow.params or o.initial_window > 1)
                # What they meet at the start is in the range.
                and flow.id not in ranged
            ]
            met = [o for o in others if flow.meets(o)]
            rate = min(network.stations[place].rate_bps for place in flow.data_visits)
            less = spared[flow.id]
            burst_s = sum((o.initial_window - less) * o.data_bits for o in met) / rate
            state = period.flows[flow.id]
            if settled and not less and flow.id not in ranged:
                there = [o for o in flows if o not in fresh and flow.meets(o)]
                differ = [abs(period.flows[o.id].rtt_s - state.rtt_s) for o in there]
                met_s = state.base_rtt_s - flow.empty_rtt_s
                burst_s += _half_packets_s(network, period, flow, there)
                burst_s += met_s if met_s < max(differ, default=0.0) else 0.0
                met += there
            if burst_s > _NEGLIGIBLE * (state.rtt_s - state.base_rtt_s):
                found |= {o.id for o in (flow, *met)}
        settled = period.end_s is None or period.end_s - period.start_s >= period.settling_s
    return found


def _half_packets_s(
    network: Network, period: Period, flow: FlowPath, others: list[FlowPath]
) -> float:
    """Time of half a packet of each other flow at the links of a flow that are full."""
    found = 0.0
    for place in flow.data_visits:
        station = network.stations[place]
        if period.fills([(station.link, station.direction)]):
            bits = sum(other.data_bits for other in others if place in other.data_visits)
            found += bits / 2 / station.rate_bps
    return found


def _beyond_range(
    network: Network, laws: dict[int, Law], ranged: set[str], timeline: Timeline
) -> dict[str, str]:
    """Flows that may keep more packets in queues than their law says, and why."""
    found: dict[str, str] = {}
    for period in timeline.periods:
        together = [network.flows[i] for i in laws if network.flows[i].id in period.flows]
        for flow in (flow for flow in together if flow.id in ranged):
            shared = any(flow.meets(o) for o in together if o is not flow)
            if shared and flow.params["rtt"] == "least":
                found[flow.id] = (
                    "takes the minimum RTT of each round trip, and beside bursts of others the "
                    "mean is longer, so that more than beta packets can be in queues"
                )
            elif period.ranges.get(("window", flow.id), (LEAST_WINDOW,))[0] < LEAST_WINDOW:
                found[flow.id] = (
                    "its window cannot fall below two packets, so that more than beta can be in "
                    "queues"
                )
    return found


def _in_bursts(network: Network, laws: dict[int, Law], timeline: Timeline) -> dict[str, str]:
    """Flows whose windows fill no link, so that they go in bursts, where that matters, and why."""
    flows = {network.flows[index].id: network.flows[index] for index in laws}
    found: dict[str, str] = {}
    for period in timeline.periods:
        windows = {name: state.window_packets or 0.0 for name, state in period.flows.items()}
        for name, state in period.flows.items():
            flow = flows[name]
            stations = [network.stations[place] for place in set(flow.data_visits)]
            if not windows[name] or period.fills((s.link, s.direction) for s in stations):
                continue
            met = [other for other in windows if other != name and flow.meets(flows[other])]
            bits = sum(windows[other] * flows[other].data_bits for other in met)
            if bits / min(s.rate_bps for s in stations) > RATE_TOLERANCE * state.rtt_s:
                found[name] = (
                    "windows that fill no link go in bursts, and how long these wait for each "
                    "other is not known"
                )
            elif flow.ack_every - 1 > RATE_TOLERANCE * windows[name]:
                found[name] = (
                    "the receiver delays ACKs, so that a part of the window waits for more "
                    "packets or for a timer"
                )
    return found


def _overfull(network: Network, timeline: Timeline) -> dict[str, set[str]]:
    """The links whose predicted queue is longer than the buffer, with the flows active then."""
    stations = {(station.link, station.direction): station for station in network.stations}
    bits = max((flow.data_bits for flow in network.flows), default=0)
    full: dict[str, set[str]] = {}
    for period in timeline.periods:
        for key, queue in period.queues.items():
            size, count = stations[key].limit_bytes, stations[key].limit_packets
            label = queue_label(key)
            data = period.ranges.get(("link-queue", label), (0.0, queue.data_packets))[1]
            in_bytes = size is not None and data * bits / 8 > size
            if in_bytes or (count is not None and max(data, queue.packets) > count):
                full.setdefault(key[0], set()).update(period.flows)
    return full
