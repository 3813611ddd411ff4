"""Equilibrium of flows over shared queues.

Unknown are the waiting times w of the stations. A flow meets the queueing delay q = passes^T w and
sends y(q) packets per second (see `demand`). In equilibrium, for each station,

    w >= 0,    load y(q) <= capacity,    w * (capacity - load y(q)) = 0:

packets wait only where the capacity is used up. With the same `passes` and `load` (up to scale)
these are the optimality conditions of network utility maximisation: Kelly, Maulloo, Tan, "Rate
control for communication networks", J. Oper. Res. Soc. 49 (1998); Low, "A duality model of TCP and
queue management algorithms", IEEE/ACM Trans. Networking 11 (2003). For FAST without standing queues
the rates are proportionally fair. When ACKs and data of different flows meet in a queue, load and
passes differ, nothing is maximised, and the conditions are a nonlinear complementarity problem.
This is what is solved here, in general.

Not in the equations: data and ACKs in one queue can bunch into blocks that alternate, with an idle
link between them (Zhang, Shenker, Clark, "Observations on the dynamics of a congestion control
algorithm:
the effects of two-way traffic", SIGCOMM 1991). This happens when the other links are so fast that
they do not space the packets, and makes rates lower than the equilibrium.

Method: stations that can never bind before another are left out (this also settles which of
several equal stations in series holds the queue: the first that packets meet). The conditions of
the rest are written as equations (Fischer, "A special Newton-type optimization method",
Optimization 24, 1992) and solved by bounded least squares from a point where all queues are long,
so that every rate is finite (scipy.optimize.least_squares); then the stations found to bind are
solved for to full precision, by Newton's method and, where that fails, scipy.optimize.root. A
single station needs no search: rates decrease with delay, and ever more slowly.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np

from ackclock.arrays import Flags, Floats, NDArray
from ackclock.extras import load
from ackclock.theory.demand import Demands
from ackclock.theory.errors import TheoryError

TOLERANCE = 1e-11
"""Largest relative excess over a capacity, and largest relative spare at a station with a queue."""

_NEAR, _NEAREST = 1e-8, 1e-15
"""Where the search for the stations that bind ends at first, and where it has to go on."""


class Equilibrium(NamedTuple):
    """Solution.

    Attributes:
        wait_s: Mean waiting time of a packet at each station, seconds; shape (stations,).
        queueing_s: Queueing delay of each flow on its round trip; shape (flows,).
        rate: Packets per second of each flow; shape (flows,).
        utilization: Used share of the capacity of each station.
    """

    wait_s: Floats
    queueing_s: Floats
    rate: Floats
    utilization: Floats


class Bottlenecks:
    """The stations and flows of an equilibrium problem.

    Args:
        load_bits: Bits that each packet of a flow (with its ACK) costs at each station; shape
            (stations, flows). Each flow with a law of delay needs a station.
        passes: How often a packet or its ACK waits at each station; same shape.
        capacity_bps: Capacity of each station, bit/s; shape (stations,).
        position: Place of each station on the round trip of each flow; shape (stations, flows). Of
            equal stations in series the first has the queue.
    """

    def __init__(
        self, load_bits: Floats, passes: Floats, capacity_bps: Floats, position: Floats
    ) -> None:
        self._share = load_bits / capacity_bps[:, np.newaxis]
        self._passes = passes
        self._kept = _undominated(self._share, position)
        self._kept_share = self._share[self._kept]
        self._kept_passes = passes[self._kept]

    def service_s(self) -> Floats:
        """Time that a packet with its ACK takes at the slowest station of each flow, seconds."""
        return self._share.max(axis=0, initial=0.0)

    def solve(self, demands: Demands, guess_s: Floats | None = None) -> Equilibrium:
        """Find the equilibrium.

        Args:
            demands: How the rates answer to delay.
            guess_s: Waiting times of a similar problem, to start from.

        Raises:
            TheoryError: Sources without feedback overload a station, or nothing was found.
        """
        floor = (self._kept_share @ demands.constant).max(initial=0.0)
        if floor >= 1:
            raise TheoryError("sources without feedback offer more than a link can carry")
        wait = None
        if guess_s is not None:
            wait = self._polish(demands, guess_s[self._kept], guess_s[self._kept] > 0)
        if wait is None:
            unit = self._long_wait(demands, (1 - floor) / 2)
            if self._kept.size == 1:
                free = self._spare(demands, np.zeros(1))
                binds = free is None or bool(free[0] < 0)
                wait = self._polish(demands, np.array([unit]), np.array([binds]))
            if wait is None:
                wait = self._search(demands, unit)
        full = np.zeros(self._share.shape[0])
        full[self._kept] = wait
        queueing = self._passes.T @ full
        rate = demands.rate(queueing)
        return Equilibrium(full, queueing, rate, self._share @ rate)

    def _search(self, demands: Demands, unit: float) -> Floats:
        """Waiting times in equilibrium, from waits of one unit."""
        for nearness in (_NEAR, _NEAREST):
            wait, spare = self._approach(demands, unit, nearness)
            # The path ends near the solution; which stations bind is mostly clear early.
            exact = self._polish(demands, wait, wait > spare * unit)
            if exact is not None:
                return exact
        if np.max(np.minimum(wait / unit, spare), initial=0.0) > 1e-9:
            raise TheoryError("no equilibrium was found; the laws may have none here")
        return wait

    def _spare(self, demands: Demands, wait: Floats) -> Floats | None:
        """Spare share of each capacity; none outside of where rates are finite."""
        queueing = self._kept_passes.T @ wait
        if ((queueing <= demands.standing_s) & (demands.alpha > 0)).any():
            return None
        return 1.0 - self._kept_share @ demands.rate(queueing)

    def _polish(self, demands: Demands, start: Floats, binding: Flags) -> Floats | None:
        """Solve for the binding stations to full precision; none if this is not the equilibrium."""
        wait = np.where(binding, start, 0.0)

        def spare_of(binding_wait: Floats) -> Floats:
            wait[binding] = binding_wait
            spare = self._spare(demands, wait)
            # Outside of where rates are finite: the capacity is exceeded by far.
            return np.full(binding_wait.size, -1e3) if spare is None else spare[binding]

        spare = self._spare(demands, wait)
        if spare is None:
            return None
        if binding.any() and not self._newton(demands, wait, binding, spare):
            begin = start[binding]
            found = _optimize().root(spare_of, begin, method="hybr", options={"xtol": 1e-14})
            wait[binding] = found.x
        spare = self._spare(demands, wait)
        if spare is None or np.any(wait < 0) or np.min(spare, initial=0.0) < -TOLERANCE:
            return None
        return wait if np.max(np.abs(spare[binding]), initial=0.0) < TOLERANCE else None

    def _newton(self, demands: Demands, wait: Floats, binding: Flags, spare: Floats) -> bool:
        """Improve the waits of binding stations in place; false if they do not come to rest."""
        share, passes = self._kept_share[binding], self._kept_passes[binding]
        for _ in range(50):
            slope = (share * demands.slope(self._kept_passes.T @ wait)) @ passes.T
            if slope.size == 1:
                step = spare[binding] / slope[0]
            else:
                try:
                    step = np.linalg.solve(slope, spare[binding])
                except np.linalg.LinAlgError:
                    return False
            before, found, small = wait[binding], None, False
            while found is None:  # as far as rates are finite
                wait[binding] = before + step
                found = self._spare(demands, wait)
                small = bool((np.abs(step) <= 1e-11 * np.abs(before)).all())
                if found is None and small:
                    return False
                step = step / 2
            if small or (wait < 0).any():
                return small
            spare = found
        return False

    def _approach(self, demands: Demands, unit: float, nearness: float) -> tuple[Floats, Floats]:
        """Waiting times near the equilibrium, from waits of one unit, and the spare shares.

        The conditions w >= 0, spare >= 0, w * spare = 0 are one equation a station, that of Fischer
        and Burmeister: sqrt(w^2 + spare^2) = w + spare.
        """

        def residual(scaled: Floats) -> Floats:
            spare = self._spare(demands, scaled * unit)
            if spare is None:
                return np.full(scaled.size, 1e3)
            return np.hypot(scaled, spare) - scaled - spare

        start = np.ones(self._kept.size)
        ends = dict.fromkeys(("xtol", "ftol", "gtol"), nearness)
        found = _optimize().least_squares(
            residual, start, bounds=(0.0, np.inf), max_nfev=2000, **ends
        )
        wait = np.asarray(found.x) * unit
        spare = self._spare(demands, wait)
        if spare is None:
            raise TheoryError("no equilibrium was found; the laws may have none here")
        return wait, spare

    def _long_wait(self, demands: Demands, room: float) -> float:
        """A waiting time, the same for all stations, that leaves at least `room` spare."""
        wait = float(np.max(demands.empty_s, initial=1e-9))
        for _ in range(400):
            spare = self._spare(demands, np.full(self._kept.size, wait))
            if spare is not None and np.all(spare >= room):
                return wait
            wait *= 2.0
        raise TheoryError("no queueing delay brings the rates below the capacities")


def _optimize() -> ModuleType:
    """Return SciPy's solvers, which take half a second to load: most runs need not spend it.

    By name, as following their types takes a checker of types longer than all of ours.
    """
    return load("scipy.optimize")


def _undominated(share: Floats, position: Floats) -> NDArray[np.intp]:
    """Stations that can bind.

    A station is left out if another one is used at least as much by every flow. Of equal ones that
    stays which comes first on the paths of the flows: it shapes what the others receive.
    """
    # Few of many stations are visited by each flow: plain numbers are faster here than arrays.
    visited: list[list[int]] = [[] for _ in range(share.shape[1])]
    shares: dict[int, dict[int, float]] = {}
    for station, flow in np.argwhere(share).tolist():
        visited[flow].append(station)
        shares.setdefault(station, {})[flow] = float(share[station, flow])

    def precedes(other: int, station: int) -> bool:
        mine, its = shares[station], shares[other]
        if any(its.get(flow, 0.0) / own < 1 - 1e-12 for flow, own in mine.items()):
            return False
        if len(its) > len(mine) or any(its[flow] / own > 1 + 1e-12 for flow, own in mine.items()):
            return True
        flows = list(mine)
        return (position[other, flows].sum(), other) < (position[station, flows].sum(), station)

    kept = [
        station
        for station, mine in shares.items()
        if not any(
            other != station and precedes(other, station)
            for other in min((visited[flow] for flow in mine), key=len)
        )
    ]
    return np.array(kept, dtype=np.intp)
