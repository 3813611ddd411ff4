"""From the model of a scenario to a prediction."""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ackclock.errors import listed, refuse
from ackclock.theory import conditions
from ackclock.theory.assumptions import Assumptions, assumptions_named
from ackclock.theory.errors import TheoryError
from ackclock.theory.estimate import Averages
from ackclock.theory.laws import LEAST_WINDOW, Law, law_of
from ackclock.theory.long_run import averages_of
from ackclock.theory.network import NS_PER_S, FlowPath, Network
from ackclock.theory.periods import ActiveFlows
from ackclock.theory.prediction import RATE_TOLERANCE, FlowFacts, Period, Prediction, queue_label
from ackclock.theory.timeline import Timeline

_NEGLIGIBLE = 0.02
"""Share of a rate that may depend on single packets without a word."""


def predict(model: Mapping[str, Any], assumptions: str | Assumptions = "ours") -> Prediction:
    """Predict periods, rates, queues, windows, RTTs and completion times of a scenario.

    Args:
        model: The numeric model (`Scenario.model`).
        assumptions: `ours` (default), `paper` (that of Bhasin, Luo, Su, Yang 2015: ACKs are free,
            equilibria are reached at once), `paper-with-acks`, or a set of your own.

    Returns:
        The prediction. Flows whose congestion control has no equilibrium, and flows that share
        queues with them, have averages in it if a model of `long_run` knows them, else a note.

    Raises:
        TheoryError: No assumptions have this name, or two hosts are not connected.

    Example:
        >>> import ackclock
        >>> from ackclock.theory import predict
        >>> prediction = predict(ackclock.Scenario.load("caltech/test-case-0-fast").model)
        >>> round(prediction.flows["F1"].finish_ack_s, 1)
        18.2
    """
    if not isinstance(model, Mapping):
        refuse("model", model, "the `model` of a scenario or of results")
    chosen = assumptions_named(assumptions)
    network = Network(model)
    notes: list[str] = []
    averages: list[Averages] = []
    laws = _predictable(model, network, chosen, notes, averages)
    at_latest = model["stop"].get("at_latest_ns")
    horizon_s = math.inf if at_latest is None else at_latest / NS_PER_S
    timeline = Timeline(network, laws, chosen, horizon_s)
    uncertain = _begun_together(network, laws, timeline)
    overfull = _overfull(network, timeline)
    beyond = _beyond_range(network, laws, timeline) | _in_bursts(network, laws, timeline)
    notes += _remarks(network, laws, timeline, uncertain, beyond, overfull)
    uncertain |= {*beyond, *(name for flows in overfull.values() for name in flows)}
    return Prediction(
        scenario=model["name"],
        assumptions=chosen.name,
        flows={
            flow.id: _facts(network, index, timeline) for index, flow in enumerate(network.flows)
        },
        periods=timeline.periods,
        averages=averages,
        notes=notes,
        rate_unit=_rate_unit(model, network),
        uncertain=frozenset(uncertain),
    )


def _facts(network: Network, index: int, timeline: Timeline) -> FlowFacts:
    flow = network.flows[index]
    visited = [network.stations[station] for station in flow.data_visits]
    queues = [(station.link, station.direction) for station in visited]
    for path in flow.alternatives:
        queues += network.queues_along(flow.source, path)
    return FlowFacts(
        cc=flow.cc,
        links=flow.links,
        alternatives=flow.alternatives,
        path_queues=tuple(dict.fromkeys(queues)),
        empty_rtt_s=flow.empty_rtt_s,
        start_s=flow.start_s,
        finish_s=timeline.finish_s.get(index),
        finish_ack_s=timeline.finish_ack_s.get(index),
        segment_bytes=flow.segment_bits // 8,
    )


def _predictable(
    model: Mapping[str, Any],
    network: Network,
    assumptions: Assumptions,
    notes: list[str],
    averages: list[Averages],
) -> dict[int, Law]:
    """Laws by index of those flows that share queues only with flows that have one."""
    laws = {index: law_of(flow) for index, flow in enumerate(network.flows)}
    kept: dict[int, Law] = {}
    for group in _sharing(network.flows):
        unknown = [index for index in group if laws[index] is None]
        names = listed([network.flows[index].id for index in group])
        known, remark = averages_of(model, network, group) if unknown else (None, None)
        averages += [known] if known else []
        notes += [remark] if remark else []
        if known or remark:
            continue
        if unknown:
            kinds = ", ".join(sorted({network.flows[index].params["kind"] for index in unknown}))
            notes.append(
                f"{names}: no theory applies to {kinds} on this path (and to flows that share "
                "queues with it); only the RTT of the empty network is given."
            )
            continue
        chosen = {index: law for index in group if (law := laws[index]) is not None}
        if reason := _not_liquid(model, network, chosen, assumptions):
            notes.append(f"{names}: no equilibrium is predicted: {reason}.")
            continue
        kept |= chosen
    return kept


def _not_liquid(
    model: Mapping[str, Any], network: Network, laws: dict[int, Law], assumptions: Assumptions
) -> str | None:
    """Return why there is no equilibrium of some flows, or none that the theory knows."""
    group = sorted(laws)
    if disturbed := conditions.disturbed_by(model, network, group):
        return f"{disturbed}, which no law here takes into account"
    try:
        problem = ActiveFlows(network, laws, assumptions)
        state = problem.equilibrium([network.flows[index].empty_rtt_s for index in group])
    except TheoryError as error:
        return str(error)
    if held := conditions.held_back(model, network, laws, state):
        return f"the window that the receiver of {', '.join(held)} offers is smaller"
    if waiting := conditions.waiting_for_partners(network, laws, state):
        return (
            f"the window of {', '.join(waiting)} is smaller than what the receiver waits for "
            "before it sends an ACK, so that a timer of the receiver decides"
        )
    if content := conditions.content_without_queue(network, laws):
        return (
            f"the receiver of {', '.join(content)} delays ACKs, which counts as much as alpha "
            "packets in a queue, so that the window can rest while the link idles"
        )
    if links := conditions.dropping_queues(model, network, state):
        return f"the queue of {', '.join(links)} drops or marks packets before it is full"
    if links := conditions.block_links(network, laws, state):
        return (
            f"data and ACKs wait in the queue of {', '.join(links)}, and no other link is so slow "
            "that it mixes them; they may stay apart in blocks, between which the link idles"
        )
    return None


def _sharing(flows: list[FlowPath]) -> list[list[int]]:
    """Groups of flows that are connected by common stations, in file order."""
    group_of: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for index, flow in enumerate(flows):
        stations = {*flow.data_visits, *flow.ack_visits}
        met = sorted({group_of[station] for station in stations if station in group_of})
        members = sorted([*chain.from_iterable(groups.pop(group) for group in met), index])
        groups[index] = members
        for station, group in group_of.items():
            if group in met:
                group_of[station] = index
        group_of |= dict.fromkeys(stations, index)
    return sorted(groups.values())


def _begun_together(network: Network, laws: dict[int, Law], timeline: Timeline) -> set[str]:
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
    ranged = {flow.id for flow in _ranged(network, laws)}
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


def _ranged(network: Network, laws: dict[int, Law]) -> list[FlowPath]:
    """Flows that are at rest in a whole range."""
    return [network.flows[i] for i, law in laws.items() if law.kept_packets(network.flows[i], True)]


def _beyond_range(network: Network, laws: dict[int, Law], timeline: Timeline) -> dict[str, str]:
    """Flows that may keep more packets in queues than their law says, and why."""
    flows = _ranged(network, laws)
    found: dict[str, str] = {}
    for period in timeline.periods:
        together = [network.flows[i] for i in laws if network.flows[i].id in period.flows]
        for flow in (flow for flow in flows if flow.id in period.flows):
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


def _remarks(
    network: Network,
    laws: dict[int, Law],
    timeline: Timeline,
    uncertain: set[str],
    beyond: Mapping[str, str],
    overfull: Iterable[str],
) -> Iterator[str]:
    """Say what a prediction takes for granted, and where it does not hold."""
    flows = {index: network.flows[index] for index in laws}
    if uncertain:
        yield (
            f"{', '.join(sorted(uncertain))}: start beside others, or before these have "
            "settled. What each takes for the RTT of the empty path depends on single packets, and "
            "so do the shares: they are shown, not judged."
        )
    if ranges := [flow.id for flow in _ranged(network, laws)]:
        yield (
            f"{', '.join(ranges)}: at rest anywhere between alpha and beta packets in queues. What "
            "each takes for the RTT of the empty path depends on the queue that its first packets "
            "meet. The ranges are what both allow."
        )
    reasons: dict[str, list[str]] = {}
    for name, reason in beyond.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"{', '.join(names)}: {reason}; the figures are shown, not judged."
    if not timeline.followed:
        yield "The start-up was not followed to the end: too many updates."
    for flow in (flow for flow in flows.values() if flow.alternatives):
        others = "; ".join(" ".join(path) for path in flow.alternatives)
        told = (
            "is the same link by link, so that only the names of the queues change."
            if flow.equivalent
            else "has the same delay but other links: the prediction does not hold there."
        )
        path = " ".join(flow.links)
        yield f"{flow.id}: predicted on {path}; routing may alternate with {others}, which {told}"
    for flow in flows.values():
        rates = [network.stations[station].rate_bps for station in flow.data_visits]
        if rates.count(min(rates)) > 1:
            yield (
                "Links of equal capacity in series: only the sum of their queues is determined. It "
                "is shown on the first of them."
            )
            break
    if mixed := _mixed(network, [flow for flow in flows.values() if flow.ack_bits], timeline):
        yield (
            f"{', '.join(mixed)}: data and ACKs wait in one queue and are taken to be well mixed. "
            "Where they form blocks, the link idles between blocks and rates are lower."
        )
    for link in overfull:
        yield (
            f"{link}: the predicted queue is longer than the buffer; packets will be lost and the "
            "equilibrium is not reached: the figures are shown, not judged."
        )


def _mixed(network: Network, flows: list[FlowPath], timeline: Timeline) -> list[str]:
    """The links at which data and ACKs of some flows wait in one queue."""
    with_data = {station for flow in flows for station in flow.data_visits}
    with_acks = {station for flow in flows for station in flow.ack_visits}
    mixed = [network.stations[place] for place in sorted(with_data & with_acks)]
    queues = [queue for period in timeline.periods for queue in period.queues.items()]
    queued = {key for key, queue in queues if queue.packets >= 1.0}
    return list(dict.fromkeys(s.link for s in mixed if (s.link, s.direction) in queued))


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


def _rate_unit(model: Mapping[str, Any], network: Network) -> tuple[str, float]:
    """Binary unit if every link has a round binary rate that is not a round decimal one.

    Else Mbps, or kbps if no path carries 0.1 Mbps.
    """
    highest = max(
        min(network.stations[station].rate_bps for station in flow.data_visits)
        for flow in network.flows
    )
    slow = highest < 100_000
    rates = [
        int(link[side]["rate_bps"])
        for link in model["links"]
        for side in ("forward", "backward")
        if side in link
    ]
    if all(rate % 2**17 == 0 and rate % 1000 for rate in rates) and rates:
        return ("Mibps", 2.0**20)
    return ("kbps", 1e3) if slow else ("Mbps", 1e6)
