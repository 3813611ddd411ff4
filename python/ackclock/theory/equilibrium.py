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

Method: stations that can never bind before another are left out (this also settles which of several
equal stations in series holds the queue: the first that packets meet). The rest is solved by
following the central path w * spare = mu down to mu = 0, from a point where all queues are long and
all links have spare capacity, so that iterates keep w > 0, spare capacity > 0 and every rate
finite; then Newton's method on the stations found to bind gives full precision. If two stations
that bind are still interchangeable, the central path shares the wait between them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ackclock.theory.demand import Demands
from ackclock.theory.errors import TheoryError

Floats = NDArray[np.float64]

TOLERANCE = 1e-11
"""Largest relative excess over a capacity, and largest relative spare at a station with a queue."""


@dataclass(frozen=True)
class Equilibrium:
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
            wait = self._newton(demands, guess_s[self._kept], guess_s[self._kept] > 0)
        if wait is None:
            unit = self._long_wait(demands, (1 - floor) / 2)
            wait, spare = self._follow_central_path(demands, unit)
            # The path ends near the solution; which stations bind is clear by then.
            exact = self._newton(demands, wait, wait > spare * unit)
            if exact is not None:
                wait = exact
            elif np.max(np.minimum(wait / unit, spare), initial=0.0) > 1e-9:
                raise TheoryError("no equilibrium was found; the laws may have none here")
        full = np.zeros(self._share.shape[0])
        full[self._kept] = wait
        queueing = self._passes.T @ full
        rate = demands.rate(queueing)
        return Equilibrium(full, queueing, rate, self._share @ rate)

    def _spare(self, demands: Demands, wait: Floats) -> Floats | None:
        """Spare share of each capacity; none outside of where rates are finite."""
        queueing = self._kept_passes.T @ wait
        if np.any((queueing <= demands.standing_s) & (demands.alpha > 0)):
            return None
        return 1.0 - self._kept_share @ demands.rate(queueing)

    def _growth(self, demands: Demands, wait: Floats) -> Floats:
        """Derivative of the spare shares by the waiting times."""
        slope = demands.slope(self._kept_passes.T @ wait)
        return -(self._kept_share * slope) @ self._kept_passes.T

    def _newton(self, demands: Demands, start: Floats, binding: NDArray[np.bool_]) -> Floats | None:
        """Solve for the binding stations; none if this is not the equilibrium."""
        wait = np.where(binding, start, 0.0)
        for _ in range(50):
            spare = self._spare(demands, wait)
            if spare is None:
                return None
            if np.max(np.abs(spare[binding]), initial=0.0) < TOLERANCE:
                return wait if np.min(spare, initial=0.0) > -TOLERANCE else None
            growth = self._growth(demands, wait)[np.ix_(binding, binding)]
            step = _solve(growth, -spare[binding])
            wait[binding] += step
            if np.any(wait < 0):
                return None
        return None

    def _follow_central_path(self, demands: Demands, unit: float) -> tuple[Floats, Floats]:
        """From waits of one unit to waiting times near the equilibrium, and the spare shares."""
        wait = np.full(self._kept.size, unit)
        spare = self._spare(demands, wait)
        assert spare is not None, "long waits are inside of the domain"
        centering = 0.1
        for _ in range(200):
            gap = wait * spare
            if gap.max(initial=0.0) < 1e-13 * unit:
                break
            target = centering * gap.mean()
            matrix = np.diag(spare) + wait[:, np.newaxis] * self._growth(demands, wait)
            step = _solve(matrix, target - gap)
            length = self._step_length(demands, wait, step, target, gap)
            if length == 0.0:
                break
            wait = wait + length * step
            spare = self._spare(demands, wait)
            assert spare is not None, "the step stays inside of the domain"
            centering = 0.02 if length > 0.9 else 0.3
        return wait, spare

    def _step_length(
        self, demands: Demands, wait: Floats, step: Floats, target: float, gap: Floats
    ) -> float:
        """Share of a step that stays inside and comes closer to the central path."""
        falling = step < 0
        length = min(1.0, float(np.min(-0.99 * wait[falling] / step[falling], initial=1.0)))
        error = np.linalg.norm(gap - target)
        while length > 1e-12:
            tried = wait + length * step
            spare = self._spare(demands, tried)
            if spare is not None and np.all(spare > 0):
                left = np.linalg.norm(tried * spare - target)
                if left <= (1 - 1e-4 * length) * error:
                    return length
            length *= 0.5
        return 0.0

    def _long_wait(self, demands: Demands, room: float) -> float:
        """A waiting time, the same for all stations, that leaves at least `room` spare."""
        wait = float(np.max(demands.empty_s, initial=1e-9))
        for _ in range(400):
            spare = self._spare(demands, np.full(self._kept.size, wait))
            if spare is not None and np.all(spare >= room):
                return wait
            wait *= 2.0
        raise TheoryError("no queueing delay brings the rates below the capacities")


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solution of linear equations, the smallest one if there are many."""
    try:
        found = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def _undominated(share: Floats, position: Floats) -> NDArray[np.intp]:
    """Stations that can bind.

    A station is left out if another one is used at least as much by every flow. Of equal ones that
    stays which comes first on the paths of the flows: it shapes what the others receive.
    """
    stations, flows = share.shape
    visited = [np.flatnonzero(share[:, flow]) for flow in range(flows)]
    users = np.count_nonzero(share, axis=1)
    kept = []
    for station in range(stations):
        mine = np.flatnonzero(share[station])
        if not mine.size:
            continue
        others = min((visited[flow] for flow in mine), key=len)
        own = share[station, mine]
        rank = (position[station, mine].sum(), station)
        for other in others:
            ratio = share[other, mine] / own
            if other == station or np.any(ratio < 1 - 1e-12):
                continue
            more = users[other] > mine.size or np.any(ratio > 1 + 1e-12)
            if more or (position[other, mine].sum(), other) < rank:
                break
        else:
            kept.append(station)
    return np.array(kept, dtype=np.intp)
