"""The state of a set of active flows: their equilibrium, or what given windows lead to."""

import math
from typing import NamedTuple

import numpy as np

from ackclock.arrays import Floats
from ackclock.theory.assumptions import Assumptions
from ackclock.theory.crossing import Crossing
from ackclock.theory.demand import Demand, Demands
from ackclock.theory.equilibrium import Bottlenecks
from ackclock.theory.laws import Law
from ackclock.theory.network import Network
from ackclock.theory.prediction import FlowState, QueueState, Range, queue_label

WEIGHTLESS = 1e-9
"""Window of a flow that only looks, packets."""

ROUNDS = 40
"""Rounds at most for what depends on its own result (see `ActiveFlows`)."""


class State(NamedTuple):
    """Rates and waits of active flows.

    Attributes:
        rate: Packets per second of each flow; shape (flows,).
        queueing_s: Queueing delay of each flow on its round trip, seconds; shape (flows,).
        crossing_s: Waits for crossing streams, as `Crossing.waits` has them.
        avoidable_s: The part of the queueing delay of each flow that a packet may be spared: waits
            for crossing streams at stations without a standing queue; shape (flows,).
        shortage_s: The part of the waits that comes from lack of capacity; shape (stations,).
        utilization: Used share of the capacity of each station; shape (stations,).
        windows: Window of each flow in packets; none for flows without window.
    """

    rate: Floats
    queueing_s: Floats
    crossing_s: Floats
    avoidable_s: Floats
    shortage_s: Floats
    utilization: Floats
    windows: list[float | None]


class Ends(NamedTuple):
    """The ends of what laws allow that rest in a whole range.

    Flows with a common bottleneck get shares of it as the packets that they keep in its queue, and
    as the queue that they take for a part of the path. A flow has least when both are little for it
    and much for those it competes with, and most in the opposite case. Exact for one bottleneck a
    flow.

    Attributes:
        queues: All flows with least, and all with most.
        least: For each flow, the state in which it has least; empty if nobody asked.
        most: For each flow, the state in which it has most; empty if nobody asked.
    """

    queues: tuple[State, State]
    least: list[State]
    most: list[State]


class ActiveFlows:
    """The problem of some flows of a network.

    Two small corrections of the liquid picture are part of it if they are assumed. They depend on
    the rates and windows that they change, so that they are found by repetition.

    - Of a window w only floor(w) packets are in flight.
    - Where streams of packets cross, packets wait for each other (see `crossing`).

    Args:
        network: The network.
        laws: Law of each active flow, by index of the flow.
        assumptions: What is taken into account.
    """

    def __init__(self, network: Network, laws: dict[int, Law], assumptions: Assumptions) -> None:
        self.indices = sorted(laws)
        self._flows = [network.flows[index] for index in self.indices]
        self._laws = [laws[index] for index in self.indices]
        self._network = network
        self._laws_by_index = laws
        self._assumptions = assumptions
        self._stations = network.stations
        self._data, self._acks = (visits[:, self.indices] for visits in network.visits)
        self._empty_s = np.array([flow.empty_rtt_s for flow in self._flows])
        load = self._data * np.array([flow.data_bits for flow in self._flows], np.float64)
        if assumptions.ack_load:
            load = load + self._acks * np.array([flow.ack_bits for flow in self._flows], np.float64)
        self._bottlenecks = Bottlenecks(
            load,
            self._data + self._acks,
            network.capacity(),
            network.positions[:, self.indices],
        )
        self._crossing = Crossing(network.stations, self._flows)

    def equilibrium(self, base_rtt_s: list[float]) -> State:
        """Rates, waits and windows where all laws are at rest, given the base RTT of each flow.

        Raises:
            TheoryError: There is no equilibrium.
        """
        return self._solve(Demands.of(self._laws_demands(base_rtt_s)), base_rtt_s, None)

    def with_windows(
        self, windows: list[float | None], base_rtt_s: list[float], guess: State | None
    ) -> State:
        """Rates and waits while packets in flight are as given; other flows follow their law.

        With a guess, the waits of crossing streams are those of the guess: in a sequence of states
        they are one step late, and exact when it comes to rest.
        """
        by_law = zip(self._laws_demands(base_rtt_s), self._flows, windows, strict=True)
        demands = [
            demand if window is None else Demand(empty_s=flow.empty_rtt_s, window=window)
            for demand, flow, window in by_law
        ]
        return self._solve(Demands.of(demands), base_rtt_s, guess, windows)

    def first_rtts(self, state: State, newcomers: dict[int, Law]) -> dict[int, float]:
        """RTT that the first packets of other flows meet, seconds, by index of the flow.

        That is the RTT of a flow without weight, while all packets in flight stay as they are; and
        of a packet that meets no crossing packets where no queue stands.
        """
        together = ActiveFlows(self._network, self._laws_by_index | newcomers, self._assumptions)
        in_flight = state.rate * (self._empty_s + state.queueing_s)
        windows: dict[int, float | None] = {
            index: None if window is None else float(flight)
            for index, window, flight in zip(self.indices, state.windows, in_flight, strict=True)
        }
        windows |= dict.fromkeys(newcomers, WEIGHTLESS)
        found = together.with_windows(
            [windows[index] for index in together.indices], together._empty_s.tolist(), None
        )
        met = together._empty_s + found.queueing_s - found.avoidable_s
        rtts = dict(zip(together.indices, met, strict=True))
        return {index: float(rtts[index]) for index in newcomers}

    def _laws_demands(self, base_rtt_s: list[float]) -> list[Demand]:
        return [
            law.demand(flow, base)
            for law, flow, base in zip(self._laws, self._flows, base_rtt_s, strict=True)
        ]

    def _solve(
        self,
        demands: Demands,
        base_rtt_s: list[float],
        guess: State | None,
        given: list[float | None] | None = None,
    ) -> State:
        """Solve, and repeat until the corrections fit.

        Args:
            demands: Demands of the flows.
            base_rtt_s: Their base RTTs.
            guess: A similar state.
            given: Windows, if they are given; then all of them is in flight.
        """
        floor = self._assumptions.window_floor and given is None
        unused = np.zeros(len(self._flows))
        crossing = self._cross(guess)
        state = self._once(demands, unused, crossing, base_rtt_s, guess, given)
        step, last_change = 1.0, math.inf
        for _ in range(0 if given and guess else ROUNDS):
            fraction = self._fractions(demands, state) if floor else unused
            found = self._cross(state)
            # Both in packets, to be comparable: waits as packets that wait meanwhile.
            moved = np.abs(found - crossing) * state.rate
            change = max(float(np.abs(fraction - unused).max()), float(moved.max(initial=0.0)))
            if change < 1e-9 or step < 1e-3:
                break
            # Where a window is a whole number, its fraction jumps: smaller steps find the middle.
            if change > 0.8 * last_change:
                step *= 0.6
            last_change = change
            unused = unused + step * (fraction - unused)
            crossing = crossing + step * (found - crossing)
            state = self._once(demands, unused, crossing, base_rtt_s, state, given)
        return state

    def _once(
        self,
        demands: Demands,
        unused: Floats,
        crossing: Floats,
        base_rtt_s: list[float],
        guess: State | None,
        given: list[float | None] | None,
    ) -> State:
        offset = crossing.sum(axis=(0, 1))
        shifted = demands._replace(
            window=demands.window - unused,
            empty_s=demands.empty_s + offset,
            standing_s=demands.standing_s - offset,
        )
        found = self._bottlenecks.solve(shifted, None if guess is None else guess.shortage_s)
        queueing = found.queueing_s + offset
        windows = given or [
            law.window(flow, base, rtt, rate)
            for law, flow, base, rtt, rate in zip(
                self._laws,
                self._flows,
                base_rtt_s,
                (self._empty_s + queueing).tolist(),
                found.rate.tolist(),
                strict=True,
            )
        ]
        return State(
            rate=found.rate,
            queueing_s=queueing,
            crossing_s=crossing,
            avoidable_s=crossing[:, found.wait_s[self._crossing.places] == 0.0].sum(axis=(0, 1)),
            shortage_s=found.wait_s,
            utilization=found.utilization,
            windows=windows,
        )

    def _cross(self, state: State | None) -> Floats:
        """Waits of crossing streams; shape (2, places, flows) for data and ACKs."""
        if state is None or not self._assumptions.crossing:
            return np.zeros((2, self._crossing.places.size, len(self._flows)))
        in_flight = state.rate * (self._empty_s + state.queueing_s)
        return self._crossing.waits(state.rate, np.maximum(in_flight, 1.0))

    def _waits(self, state: State) -> tuple[Floats, Floats]:
        """Mean queueing delay of data packets and of ACKs; each of shape (stations, flows)."""
        data, acks = (by * state.shortage_s[:, np.newaxis] for by in (self._data, self._acks))
        data[self._crossing.places] += state.crossing_s[0]
        acks[self._crossing.places] += state.crossing_s[1]
        return data, acks

    def _fractions(self, demands: Demands, state: State) -> Floats:
        """Fraction of each window that is not used."""
        return np.array(
            [
                0.0 if window is None else min(math.modf(window)[0], alpha)
                for window, alpha in zip(state.windows, demands.alpha.tolist(), strict=True)
            ]
        )

    def flow_states(self, state: State, base_rtt_s: list[float]) -> dict[str, FlowState]:
        """What each flow has in an equilibrium, by name."""
        # Little's law: packets that wait = packets per second x time that each waits.
        waiting = self._waits(state)[0] * state.rate
        at_station = waiting.sum(axis=1)
        states = {}
        for place, flow in enumerate(self._flows):
            queueing = float(state.queueing_s[place])
            states[flow.id] = FlowState(
                rate_bps=float(state.rate[place]) * flow.segment_bits,
                window_packets=state.windows[place],
                rtt_s=flow.empty_rtt_s + queueing,
                base_rtt_s=base_rtt_s[place],
                queueing_s=queueing,
                path_queue_packets=float(at_station[list(flow.data_visits)].sum()),
                own_queue_packets=float(waiting[:, place].sum()),
            )
        return states

    def ends(
        self, state: State, base_rtt_s: list[float], most_base_rtt_s: list[float], *, each: bool
    ) -> "Ends | None":
        """The states with least and most in queues; none unless a law rests in a whole range.

        Args:
            state: The middle.
            base_rtt_s: What each flow takes for the RTT of the empty path there, seconds.
            most_base_rtt_s: The most that it can take for it.
            each: Also those of each flow, which take two solutions a flow.
        """
        pairs = list(zip(self._laws, self._flows, strict=True))
        whole = self._assumptions.window_floor
        kept = [law.kept_packets(flow, whole) for law, flow in pairs]
        if not any(kept):
            return None

        def demands(bases: list[float], end: int) -> list[Demand]:
            made = (law.demand(f, base) for (law, f), base in zip(pairs, bases, strict=True))
            return [
                d if packets is None else d._replace(alpha=max(WEIGHTLESS, packets[end]))
                for d, packets in zip(made, kept, strict=True)
            ]

        empty = [min(f.empty_rtt_s, b) for f, b in zip(self._flows, base_rtt_s, strict=True)]
        least, most = demands(empty, 0), demands(most_base_rtt_s, 1)
        crossing, unused = self._cross(state), np.zeros(len(pairs))

        def solved(chosen: list[Demand]) -> State:
            # Nobody asks for the windows, so that those of the middle do.
            given = state.windows
            return self._once(Demands.of(chosen), unused, crossing, base_rtt_s, state, given)

        binding = (self._data[state.shortage_s > 0] > 0).astype(np.float64)
        against = ((binding.T @ binding) > 0) & ~np.eye(len(pairs), dtype=bool)

        def alone(own: list[Demand], others: list[Demand]) -> list[State]:
            return [
                solved([b if beside else a for beside, a, b in zip(row, own, others, strict=True)])
                for row in (against if each else ())
            ]

        return Ends((solved(least), solved(most)), alone(least, most), alone(most, least))

    def ranges(self, ends: "Ends | None") -> dict[tuple[str, str], Range]:
        """Between which values each figure is, by quantity and subject; empty without ends."""
        found: dict[tuple[str, str], Range] = {}
        if ends is None:
            return found
        low, high = (self.flow_states(end, self._empty_s.tolist()) for end in ends.queues)
        for name in low:
            queues = low[name].path_queue_packets, high[name].path_queue_packets
            found["path-queue", name] = queues
            found["rtt", name] = low[name].rtt_s, high[name].rtt_s
        few, many = (self.queue_states(end) for end in ends.queues)
        for key in few:
            found["link-queue", queue_label(key)] = few[key].data_packets, many[key].data_packets
        for place, flow in enumerate(self._flows if ends.most else ()):
            rates = [float(end[place].rate[place]) for end in (ends.least, ends.most)]
            trips = [
                flow.empty_rtt_s + float(end[place].queueing_s[place])
                for end in (ends.least, ends.most)
            ]
            found["rate", flow.id] = rates[0] * flow.segment_bits, rates[1] * flow.segment_bits
            found["window", flow.id] = rates[0] * trips[0], rates[1] * trips[1]
        return found

    def queue_states(self, state: State) -> dict[tuple[str, str], QueueState]:
        """What each visited queue has in an equilibrium."""
        data, acks = (wait_s @ state.rate for wait_s in self._waits(state))
        passing = self._data @ state.rate + self._acks @ state.rate
        rows = zip(
            *(row.tolist() for row in (data, data + acks, passing, state.utilization)), strict=True
        )
        visited = np.any(self._data + self._acks > 0, axis=1).tolist()
        return {
            (station.link, station.direction): QueueState(of_data, both, both / passed, used)
            for station, (of_data, both, passed, used), seen in zip(
                self._stations, rows, visited, strict=True
            )
            if seen
        }

    def settling_s(self, state: State, before: dict[int, float]) -> float:
        """Time within which all active flows have settled, by their laws.

        Args:
            state: The equilibrium.
            before: Window of each flow before the change, by index; absent if it just starts.
        """
        times = []
        for place, (index, law, flow) in enumerate(
            zip(self.indices, self._laws, self._flows, strict=True)
        ):
            rtt, rate = flow.empty_rtt_s + float(state.queueing_s[place]), float(state.rate[place])
            old = before.get(index, flow.initial_window)
            times.append(law.settling_s(flow, state.windows[place], rtt, rate, old))
        return max(times)

    def ack_trip_s(self, state: State) -> Floats:
        """Time that an ACK of each flow takes back to the sender, seconds."""
        empty = np.array([flow.empty_ack_s for flow in self._flows])
        return empty + self._waits(state)[1].sum(axis=0)

    def service_s(self) -> Floats:
        """Time that a packet with its ACK takes at the slowest station of each flow, seconds."""
        return self._bottlenecks.service_s()
