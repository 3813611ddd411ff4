"""From the model of a scenario to a prediction."""

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any

from ackclock.errors import listed
from ackclock.theory import conditions
from ackclock.theory.assumptions import Assumptions, assumptions_named
from ackclock.theory.errors import TheoryError
from ackclock.theory.estimate import Averages
from ackclock.theory.laws import Law, law_of
from ackclock.theory.long_run import averages_of
from ackclock.theory.network import NS_PER_S, FlowPath, Network
from ackclock.theory.periods import ActiveFlows
from ackclock.theory.prediction import FlowFacts, Prediction
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
    chosen = assumptions_named(assumptions)
    network = Network(model)
    notes: list[str] = []
    averages: list[Averages] = []
    laws = _predictable(model, network, chosen, notes, averages)
    at_latest = model["stop"].get("at_latest_ns")
    horizon_s = math.inf if at_latest is None else at_latest / NS_PER_S
    timeline = Timeline(network, laws, chosen, horizon_s)
    uncertain = _begun_together(network, laws, timeline)
    if uncertain:
        notes.append(
            f"{', '.join(sorted(uncertain))}: start while others have not settled. "
            "What each takes for the RTT of the empty path depends on single packets, and so do "
            "the shares: they are shown, not judged."
        )
    uncertain |= _note_conventions(network, laws, timeline, notes)
    return Prediction(
        scenario=model["name"],
        assumptions=chosen.name,
        flows={
            flow.id: _facts(network, model, index, timeline)
            for index, flow in enumerate(network.flows)
        },
        periods=timeline.periods,
        averages=averages,
        notes=notes,
        rate_unit=_rate_unit(model),
        uncertain=frozenset(uncertain),
    )


def _facts(network: Network, model: Mapping[str, Any], index: int, timeline: Timeline) -> FlowFacts:
    flow = network.flows[index]
    visited = [network.stations[station] for station in flow.data_visits]
    queues = [(station.link, station.direction) for station in visited]
    directions = {link["id"]: link for link in model["links"]}
    for path in flow.alternatives:
        queues += _queues_along(model["flows"][index]["from"], path, directions)
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


def _queues_along(
    source: str, path: tuple[str, ...], links: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, str]]:
    queues = []
    node = source
    for name in path:
        first, second = links[name]["ends"]
        half = links[name]["duplex"] == "half"
        queues.append((name, "both" if half else "forward" if node == first else "backward"))
        node = second if node == first else first
    return queues


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
        if known:
            averages.append(known)
            notes += [remark] if remark else []
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
    if waiting := conditions.waiting_for_partners(model, network, laws, state):
        return (
            f"the window of {', '.join(waiting)} is smaller than what the receiver waits for before "
            "it sends an ACK, so that a timer of the receiver decides"
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
    """
    by_base_rtt: dict[str, FlowPath] = {}
    spared: dict[str, int] = {}
    for index, law in laws.items():
        flow = network.flows[index]
        if law.demand(flow, 0.0).alpha > 0 and not law.slack(flow):
            by_base_rtt[flow.id] = flow
            spared[flow.id] = 0 if law.follows_acks(flow) else 1
    found: set[str] = set()
    settled = True
    for period in timeline.periods:
        flows = [by_base_rtt[name] for name in period.flows if name in by_base_rtt]
        fresh = [flow for flow in flows if flow.start_s == period.start_s]
        for flow in fresh:
            others = [
                o
                for o in flows
                if (o not in fresh and not settled)
                or (
                    (o in fresh and o is not flow)
                    and (o.params != flow.params or o.initial_window > 1)
                )
            ]
            met = [o for o in others if set(o.data_visits) & set(flow.data_visits)]
            rate = min(network.stations[place].rate_bps for place in flow.data_visits)
            less = spared[flow.id]
            burst_s = sum((o.initial_window - less) * o.data_bits for o in met) / rate
            if burst_s > _NEGLIGIBLE * period.flows[flow.id].queueing_s:
                found |= {o.id for o in (flow, *met)}
        settled = period.end_s is None or period.end_s - period.start_s >= period.settling_s
    return found


def _note_conventions(
    network: Network, laws: dict[int, Law], timeline: Timeline, notes: list[str]
) -> set[str]:
    """Add notes; return the flows of which they say that the equilibrium is not reached."""
    ranges = [
        network.flows[index].id for index, law in laws.items() if law.slack(network.flows[index])
    ]
    if ranges:
        notes.append(
            f"{', '.join(ranges)}: at rest anywhere between alpha and beta packets in queues, "
            "depending on the past; the middle is shown."
        )
    if not timeline.followed:
        notes.append("The start-up was not followed to the end: too many updates.")
    for index in laws:
        flow = network.flows[index]
        if not flow.alternatives:
            continue
        others = "; ".join(" ".join(path) for path in flow.alternatives)
        path = " ".join(flow.links)
        if flow.equivalent:
            notes.append(
                f"{flow.id}: predicted on {path}; routing may alternate with {others}, which is "
                "the same link by link, so that only the names of the queues change."
            )
        else:
            notes.append(
                f"{flow.id}: predicted on {path}; routing may alternate with {others}, which has "
                "the same delay but other links: the prediction does not hold there."
            )
    if laws and _has_equals(network, laws):
        notes.append(
            "Links of equal capacity in series: only the sum of their queues is determined. It is "
            "shown on the first of them."
        )
    _note_mixing(network, laws, timeline, notes)
    return _note_full_buffers(network, timeline, notes)


def _note_mixing(
    network: Network, laws: dict[int, Law], timeline: Timeline, notes: list[str]
) -> None:
    """Where data and ACKs wait in one queue, say what that takes for granted."""
    ids = {network.flows[index].id for index in laws}
    flows = [flow for flow in network.flows if flow.id in ids and flow.ack_bits]
    with_data = {station for flow in flows for station in flow.data_visits}
    with_acks = {station for flow in flows for station in flow.ack_visits}
    mixed = [network.stations[place] for place in sorted(with_data & with_acks)]
    queued = {
        key
        for period in timeline.periods
        for key, queue in period.queues.items()
        if queue.packets >= 1.0
    }
    names = dict.fromkeys(s.link for s in mixed if (s.link, s.direction) in queued)
    if names:
        notes.append(
            f"{', '.join(names)}: data and ACKs wait in one queue and are taken to be well mixed. "
            "Where they form blocks, the link idles between blocks and rates are lower."
        )


def _has_equals(network: Network, laws: dict[int, Law]) -> bool:
    """Whether some flow's narrowest stations are several."""
    for index in laws:
        flow = network.flows[index]
        rates = [network.stations[station].rate_bps for station in flow.data_visits]
        if rates.count(min(rates)) > 1:
            return True
    return False


def _note_full_buffers(network: Network, timeline: Timeline, notes: list[str]) -> set[str]:
    stations = {(station.link, station.direction): station for station in network.stations}
    bits = max((flow.data_bits for flow in network.flows), default=0)
    full: dict[str, None] = {}
    missed: set[str] = set()
    for period in timeline.periods:
        for key, queue in period.queues.items():
            station = stations[key]
            in_bytes = station.limit_bytes is not None and (
                queue.data_packets * bits / 8 > station.limit_bytes
            )
            in_packets = station.limit_packets is not None and (
                queue.packets > station.limit_packets
            )
            if in_bytes or in_packets:
                full[station.link] = None
                missed |= period.flows.keys()
    for link in full:
        notes.append(
            f"{link}: the predicted queue is longer than the buffer; packets will be lost and the "
            "equilibrium is not reached: the figures are shown, not judged."
        )
    return missed


def _rate_unit(model: Mapping[str, Any]) -> tuple[str, float]:
    """Binary unit if every link has a round binary rate that is not a round decimal one."""
    rates = [
        int(link[side]["rate_bps"])
        for link in model["links"]
        for side in ("forward", "backward")
        if side in link
    ]
    binary = all(rate % 2**17 == 0 and rate % 1000 for rate in rates)
    return ("Mibps", 2.0**20) if binary and rates else ("Mbps", 1e6)
