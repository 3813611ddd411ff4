"""The equilibrium of a set of active flows, with everything that is read off from it."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ackclock.theory.assumptions import Assumptions
from ackclock.theory.demand import Demand, Demands
from ackclock.theory.equilibrium import Bottlenecks, Equilibrium
from ackclock.theory.laws import Law
from ackclock.theory.network import Network
from ackclock.theory.prediction import FlowState, QueueState

Floats = NDArray[np.float64]

FLOOR_ROUNDS = 40
"""Rounds for the fraction of the window that stays unused; it changes rates by about 0.1 %."""


class ActiveFlows:
    """The equilibrium problem of some flows of a network.

    Args:
        network: The network.
        laws: Law of each active flow, by index of the flow.
        assumptions: What is taken into account.
    """

    def __init__(self, network: Network, laws: dict[int, Law], assumptions: Assumptions) -> None:
        self.indices = sorted(laws)
        self._flows = [network.flows[index] for index in self.indices]
        self._laws = [laws[index] for index in self.indices]
        self._floor = assumptions.window_floor
        self._stations = network.stations
        self._data = network.data_visits()[:, self.indices]
        self._acks = network.ack_visits()[:, self.indices]
        data_bits = np.array([flow.data_bits for flow in self._flows], dtype=np.float64)
        ack_bits = np.array([flow.ack_bits for flow in self._flows], dtype=np.float64)
        load = self._data * data_bits
        if assumptions.ack_load:
            load = load + self._acks * ack_bits
        self._bottlenecks = Bottlenecks(
            load,
            self._data + self._acks,
            network.capacity(),
            network.positions()[:, self.indices],
        )

    def equilibrium(self, base_rtt_s: list[float]) -> tuple[Equilibrium, list[float | None]]:
        """Rates, waits and windows, given the base RTT of each active flow.

        With whole packets only, a flow has floor(w) of its w packets in flight. The unused fraction
        is a fixed point: the window depends on it.

        Raises:
            TheoryError: There is no equilibrium.
        """
        demands = [
            law.demand(flow, base)
            for law, flow, base in zip(self._laws, self._flows, base_rtt_s, strict=True)
        ]
        unused = np.zeros(len(demands))
        solution, windows = self._with_unused(demands, unused, base_rtt_s, None)
        if not self._floor:
            return solution, windows
        for round_ in range(FLOOR_ROUNDS):
            fraction = np.array(
                [
                    min(math.modf(window)[0], demand.alpha) if window is not None else 0.0
                    for window, demand in zip(windows, demands, strict=True)
                ]
            )
            if np.allclose(fraction, unused, rtol=0.0, atol=1e-9):
                break
            # At a whole number the fraction jumps; halving the steps finds the middle.
            unused = fraction if round_ < FLOOR_ROUNDS // 2 else (unused + fraction) / 2
            solution, windows = self._with_unused(demands, unused, base_rtt_s, solution.wait_s)
        return solution, windows

    def _with_unused(
        self,
        demands: list[Demand],
        unused: Floats,
        base_rtt_s: list[float],
        guess_s: Floats | None,
    ) -> tuple[Equilibrium, list[float | None]]:
        lowered = [
            replace(demand, window=demand.window - less)
            for demand, less in zip(demands, unused, strict=True)
        ]
        solution = self._bottlenecks.solve(Demands.of(lowered), guess_s)
        windows = [
            law.window(flow, base, flow.empty_rtt_s + float(q), float(rate))
            for law, flow, base, q, rate in zip(
                self._laws,
                self._flows,
                base_rtt_s,
                solution.queueing_s,
                solution.rate,
                strict=True,
            )
        ]
        return solution, windows

    def with_windows(
        self, windows: list[float | None], base_rtt_s: list[float], guess_s: Floats | None
    ) -> Equilibrium:
        """Rates and waits while windows are as given; flows without one follow their law."""
        demands = [
            law.demand(flow, base)
            if window is None
            else Demand(empty_s=flow.empty_rtt_s, window=window)
            for law, flow, base, window in zip(
                self._laws, self._flows, base_rtt_s, windows, strict=True
            )
        ]
        return self._bottlenecks.solve(Demands.of(demands), guess_s)

    def flow_states(
        self, solution: Equilibrium, windows: list[float | None], base_rtt_s: list[float]
    ) -> dict[str, FlowState]:
        """What each flow has in an equilibrium, by name."""
        # Little's law: packets that wait = packets per second x time that each waits.
        waiting = self._data * solution.wait_s[:, np.newaxis] * solution.rate
        at_station = waiting.sum(axis=1)
        states = {}
        for place, flow in enumerate(self._flows):
            queueing = float(solution.queueing_s[place])
            states[flow.id] = FlowState(
                rate_bps=float(solution.rate[place]) * flow.segment_bits,
                window_packets=windows[place],
                rtt_s=flow.empty_rtt_s + queueing,
                base_rtt_s=base_rtt_s[place],
                queueing_s=queueing,
                path_queue_packets=float(at_station[list(flow.data_visits)].sum()),
                own_queue_packets=float(waiting[:, place].sum()),
            )
        return states

    def queue_states(self, solution: Equilibrium) -> dict[tuple[str, str], QueueState]:
        """What each visited queue has in an equilibrium."""
        data = solution.wait_s * (self._data @ solution.rate)
        acks = solution.wait_s * (self._acks @ solution.rate)
        visited: NDArray[np.bool_] = np.any(self._data + self._acks > 0, axis=1)
        return {
            (station.link, station.direction): QueueState(
                data_packets=float(data[place]),
                packets=float(data[place] + acks[place]),
                wait_s=float(solution.wait_s[place]),
                utilization=float(solution.utilization[place]),
            )
            for place, station in enumerate(self._stations)
            if visited[place]
        }

    def settling_s(
        self, solution: Equilibrium, windows: list[float | None], before: dict[int, float]
    ) -> float:
        """Time within which all active flows have settled, by their laws.

        Args:
            solution: The equilibrium.
            windows: Windows in it.
            before: Window of each flow before the change, by index; absent if it just starts.
        """
        return max(
            law.settling_s(
                flow,
                window,
                flow.empty_rtt_s + float(q),
                float(rate),
                before.get(index, flow.initial_window),
            )
            for index, law, flow, window, q, rate in zip(
                self.indices,
                self._laws,
                self._flows,
                windows,
                solution.queueing_s,
                solution.rate,
                strict=True,
            )
        )

    def service_s(self) -> Floats:
        """Time that a packet with its ACK takes at the slowest station of each flow, seconds."""
        return self._bottlenecks.service_s()
