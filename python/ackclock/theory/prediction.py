"""What the theory predicts, as plain data."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ackclock.theory.estimate import Averages

Range = tuple[float, float]

RATE_TOLERANCE = 0.03
"""Largest relative error of a rate."""

_FULL = 1e-6
"""What an equilibrium may leave of a link that it fills, as a share."""


def queue_label(queue: tuple[str, str]) -> str:
    """A queue in words, from link and direction."""
    return queue[0] if queue[1] == "both" else " ".join(queue)


class FlowState(NamedTuple):
    """A flow in the equilibrium of a period.

    Attributes:
        rate_bps: Data (payload) per second, bit/s.
        window_packets: Congestion window, packets; none for a source without window.
        rtt_s: Round-trip time, seconds.
        base_rtt_s: Minimum RTT that the flow has seen, seconds: what FAST takes for the empty path.
        queueing_s: Queueing delay on the round trip, all of it, seconds.
        path_queue_packets: Mean number of data packets (of all flows) that wait in the queues along
            the flow's data path.
        own_queue_packets: Those among them that are the flow's own. A FAST flow keeps alpha packets
            *or ACKs* waiting: on half-duplex links half of them are ACKs.
    """

    rate_bps: float
    window_packets: float | None
    rtt_s: float
    base_rtt_s: float
    queueing_s: float
    path_queue_packets: float
    own_queue_packets: float


class QueueState(NamedTuple):
    """A queue (one direction of a link, or both of a half-duplex link) in a period.

    Attributes:
        data_packets: Mean number of data packets that wait (the one in service not included).
        packets: The same with ACKs.
        wait_s: Mean waiting time of a packet, seconds.
        utilization: Used share of the capacity.
    """

    data_packets: float
    packets: float
    wait_s: float
    utilization: float


class Period(NamedTuple):
    """A span of time in which the same flows are active.

    Attributes:
        start_s: Start, seconds.
        end_s: End, seconds; none if it has none.
        settling_s: Time after the start within which the transient has died away, by the laws.
        flows: State of each active flow by name.
        queues: State of each queue that these flows visit, by (link, direction).
        ranges: Between which values a figure can be, by quantity and subject as in `Figure`, where
            laws rest in a whole range (Vegas) and the states are the middle of it; else empty.
    """

    start_s: float
    end_s: float | None
    settling_s: float
    flows: dict[str, FlowState]
    queues: dict[tuple[str, str], QueueState]
    ranges: dict[tuple[str, str], Range]

    def fills(self, queues: Iterable[tuple[str, str]]) -> bool:
        """Whether one of these queues has no capacity to spare."""
        known = [self.queues[queue] for queue in queues if queue in self.queues]
        return any(queue.utilization > 1.0 - _FULL for queue in known)


class FlowFacts(NamedTuple):
    """A flow over the whole run.

    Attributes:
        cc: Congestion control, or `udp`.
        links: Names of the links of its data path.
        alternatives: Data paths of the same delay between which routing may alternate.
        path_queues: (link, direction) of the queues that its data can visit, alternatives included.
        empty_rtt_s: RTT in an empty network, in closed form, seconds.
        start_s: Start, seconds.
        finish_s: When the last data arrives; none if the theory does not say or it does not end.
        finish_ack_s: When its ACK is back at the sender.
        segment_bytes: Payload of a packet.
    """

    cc: str
    links: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    path_queues: tuple[tuple[str, str], ...]
    empty_rtt_s: float
    start_s: float
    finish_s: float | None
    finish_ack_s: float | None
    segment_bytes: int


class Prediction(NamedTuple):
    """What the theory says about a scenario.

    Attributes:
        scenario: Name of the scenario.
        assumptions: Name of the assumptions.
        flows: Facts by name of flow, every flow of the scenario.
        periods: Equilibria, in order of time. Flows without theory, and those that share a queue
            with them, are not in them.
        averages: Averages over a long run, of flows without an equilibrium.
        notes: What the reader should know: conventions used, what no theory covers.
        rate_unit: Name of the unit of rates in tables, and its bit/s.
        uncertain: Flows of which the figures depend on single packets; they are not judged.
    """

    scenario: str
    assumptions: str
    flows: dict[str, FlowFacts]
    periods: list[Period]
    averages: list[Averages]
    notes: list[str]
    rate_unit: tuple[str, float]
    uncertain: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """A document for `json.dumps`; units end the names, rates are in bit/s."""
        return {
            "scenario": self.scenario,
            "assumptions": self.assumptions,
            "flows": {name: _flow_facts(facts) for name, facts in self.flows.items()},
            "periods": [_period(period) for period in self.periods],
            "averages": [known.to_json() for known in self.averages],
            "notes": list(self.notes),
        }


def _flow_facts(facts: FlowFacts) -> dict[str, Any]:
    kept = {k: v for k, v in facts._asdict().items() if k not in ("path_queues", "segment_bytes")}
    return {**kept, "links": list(facts.links), "alternatives": [*map(list, facts.alternatives)]}


def _period(period: Period) -> dict[str, Any]:
    links: dict[str, dict[str, Any]] = {}
    for (link, direction), queue in period.queues.items():
        links.setdefault(link, {})[direction] = queue._asdict()
    return {
        "start_s": period.start_s,
        "end_s": period.end_s,
        "settling_s": period.settling_s,
        "flows": {name: state._asdict() for name, state in period.flows.items()},
        "links": links,
        "ranges": [
            {"quantity": quantity, "subject": subject, "low": low, "high": high}
            for (quantity, subject), (low, high) in period.ranges.items()
        ],
    }
