"""From the model of a scenario to a prediction."""

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Protocol

from ackclock.errors import InputError, listed, refuse
from ackclock.theory import conditions
from ackclock.theory.assumptions import Assumptions, assumptions_named
from ackclock.theory.doubts import doubts_about
from ackclock.theory.errors import TheoryError
from ackclock.theory.estimate import Averages
from ackclock.theory.laws import Law, law_of
from ackclock.theory.long_run import averages_of
from ackclock.theory.network import NS_PER_S, FlowPath, Network
from ackclock.theory.periods import ActiveFlows
from ackclock.theory.prediction import FlowFacts, Prediction
from ackclock.theory.timeline import Timeline

_A_MODEL = "a scenario, results, or the `model` of one"
_NEEDED = ("name", "hosts", "links", "flows", "routing", "stop")


class _HasModel(Protocol):
    @property
    def model(self) -> Mapping[str, Any]: ...


def predict(
    model: Mapping[str, Any] | _HasModel, assumptions: str | Assumptions = "ours"
) -> Prediction:
    """Predict periods, rates, queues, windows, RTTs and completion times of a scenario.

    Args:
        model: A scenario, results, or their numeric model (`Scenario.model`).
        assumptions: `ours` (default), `paper` (that of Bhasin, Luo, Su, Yang 2015: ACKs are free,
            equilibria are reached at once), `paper-with-acks`, or a set of your own.

    Returns:
        The prediction. Flows whose congestion control has no equilibrium, and flows that share
        queues with them, have averages in it if a model of `long_run` knows them, else a note.

    Raises:
        InputError: This is not a whole model.
        TheoryError: No assumptions have this name, or two hosts are not connected.

    Example:
        >>> import ackclock
        >>> from ackclock.theory import predict
        >>> prediction = predict(ackclock.Scenario.load("caltech/test-case-0-fast"))
        >>> round(prediction.flows["F1"].finish_ack_s, 1)
        18.2
    """
    given, model = model, getattr(model, "model", model)
    if not isinstance(model, Mapping):
        refuse("model", given, _A_MODEL)
    if missing := [name for name in _NEEDED if name not in model]:
        raise InputError(f"`model` lacks {', '.join(missing)}; needed is {_A_MODEL}")
    chosen = assumptions_named(assumptions)
    try:
        network = Network(model)
    except KeyError as error:
        raise InputError(
            f"a part of `model` lacks {error.args[0]}; needed is {_A_MODEL}"
        ) from error
    except (AttributeError, TypeError) as error:
        raise InputError(f"a part of `model` is faulty: {error}; needed is {_A_MODEL}") from error
    notes: list[str] = []
    averages: list[Averages] = []
    laws = _predictable(model, network, chosen, notes, averages)
    at_latest = model["stop"].get("at_latest_ns")
    horizon_s = math.inf if at_latest is None else at_latest / NS_PER_S
    timeline = Timeline(network, laws, chosen, horizon_s)
    doubts = doubts_about(network, laws, timeline)
    notes += [*doubts.remarks(), *_remarks(network, laws, timeline)]
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
        uncertain=doubts.flows,
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
        if unknown:
            try:
                known, remark = averages_of(model, network, group)
            except TheoryError as error:
                kinds = sorted({network.flows[index].params["kind"] for index in unknown})
                notes.append(
                    f"{names}: no theory applies to {', '.join(kinds)} on this path: {error}. Only "
                    "the RTT of the empty network is given."
                )
            else:
                averages += [known] if known else []
                notes += [remark] if remark else []
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


def _remarks(
    network: Network,
    laws: dict[int, Law],
    timeline: Timeline,
) -> Iterator[str]:
    """Say what a prediction takes for granted, and where it does not hold."""
    flows = {index: network.flows[index] for index in laws}
    if not timeline.followed:
        yield "The start-up was not followed to the end: too many updates."
    for flow in (flow for flow in flows.values() if flow.alternatives):
        others = "; ".join(" ".join(path) for path in flow.alternatives)
        effect = (
            "is the same link by link, so that only the names of the queues change."
            if flow.equivalent
            else "has the same delay but other links: the prediction does not hold there."
        )
        path = " ".join(flow.links)
        yield f"{flow.id}: predicted on {path}; routing may alternate with {others}, which {effect}"
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


def _mixed(network: Network, flows: list[FlowPath], timeline: Timeline) -> list[str]:
    """The links at which data and ACKs of some flows wait in one queue."""
    with_data = {station for flow in flows for station in flow.data_visits}
    with_acks = {station for flow in flows for station in flow.ack_visits}
    mixed = [network.stations[place] for place in sorted(with_data & with_acks)]
    queues = [queue for period in timeline.periods for queue in period.queues.items()]
    queued = {key for key, queue in queues if queue.packets >= 1.0}
    return list(dict.fromkeys(s.link for s in mixed if (s.link, s.direction) in queued))


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
