"""A run in time: which flows are active when, and the way from one equilibrium to the next.

Without start-up (see `Assumptions`), a period has its equilibrium from the first moment, and the
base RTT of a latecomer is its empty RTT plus the standing queues of the period before.

With start-up, the law of the windows is followed update by update from each change until it has
settled. Between two updates windows are constant, and rates and queues are those that the windows
in flight give (rate = window / RTT, the same complementarity conditions). An RTT sample arrives one
RTT after its packet was sent; so base RTT (least sample so far) and average RTT are those that a
sender has at that moment. The least sample is that of a packet that met no crossing ones where no
queue stands. This gives the doubling at the start, overshoot, the base RTT of latecomers and its
decrease when queues run short after a departure. No packet is simulated and nothing is fitted.

A flow has sent its data when the integral of its rate reaches it. The integral counts a packet
little by little during its round trip, the sender at its end: the last ACK is later, by the time
that the last window takes through the slowest station, but at most by the flow's first RTT (full
pipe).
"""

import math
from collections import deque
from dataclasses import dataclass, field

from ackclock.theory.assumptions import Assumptions
from ackclock.theory.laws import Law, WindowProcess
from ackclock.theory.network import FlowPath, Network
from ackclock.theory.periods import ActiveFlows, Ends, State
from ackclock.theory.prediction import Period

MAX_UPDATES = 20_000
"""Updates that are followed at most; after them each equilibrium is taken to be reached at once."""

CALM = 0.01
"""A window within this share of its equilibrium is calm."""


@dataclass
class _Piece:
    """Packets sent at constant rate and RTT, as they are acknowledged later."""

    first_s: float
    last_s: float
    count: float
    rtt_s: float
    least_rtt_s: float


@dataclass
class _Active:
    """A flow while it is active."""

    flow: FlowPath
    law: Law
    first_rtt_s: float
    process: WindowProcess | None
    left: float
    most_base_rtt_s: float
    base_rtt_s: float | None = None
    leaves_s: float = math.inf
    finish_ack_s: float | None = None
    pieces: deque[_Piece] = field(default_factory=deque)

    def send(self, start_s: float, end_s: float, rate: float, rtt_s: float, least: float) -> None:
        """Packets leave between two times; note when they will be acknowledged."""
        first = start_s + rtt_s
        if self.pieces:  # a queue does not let packets overtake
            first = max(first, self.pieces[-1].last_s)
        last = max(first, end_s + rtt_s)
        self.pieces.append(_Piece(first, last, rate * (end_s - start_s), rtt_s, least))
        self.left -= rate * (end_s - start_s)

    def receive(self, now_s: float) -> None:
        """Take the samples that are there by now."""
        while self.pieces and self.pieces[0].first_s <= now_s:
            piece = self.pieces[0]
            if self.base_rtt_s is None or piece.least_rtt_s < self.base_rtt_s:
                self.base_rtt_s = piece.least_rtt_s
            if piece.last_s <= now_s:
                self.pieces.popleft()
                self._observe(piece.count, piece.rtt_s)
                continue
            part = piece.count * (now_s - piece.first_s) / (piece.last_s - piece.first_s)
            piece.count -= part
            piece.first_s = now_s
            self._observe(part, piece.rtt_s)
            return

    def _observe(self, count: float, rtt_s: float) -> None:
        if self.process is not None:
            self.process.observe(count, rtt_s)

    @property
    def known_base_rtt_s(self) -> float:
        return self.first_rtt_s if self.base_rtt_s is None else self.base_rtt_s


class Timeline:
    """Periods and finish times of flows that have a law.

    Args:
        network: The network.
        laws: Laws by index of flow; other flows do not exist for the timeline.
        assumptions: What is taken into account.
        horizon_s: End of the run, seconds; infinite if there is none.

    Attributes:
        periods: The periods.
        finish_s: When the last data of a flow arrives, by index; absent if not before the horizon.
        finish_ack_s: When the last ACK arrives, by index.
        followed: Whether the law of the windows could be followed to the end.
    """

    def __init__(
        self, network: Network, laws: dict[int, Law], assumptions: Assumptions, horizon_s: float
    ) -> None:
        self.periods: list[Period] = []
        self.finish_s: dict[int, float] = {}
        self.finish_ack_s: dict[int, float] = {}
        self.followed = True
        self._network = network
        self._laws = laws
        self._assumptions = assumptions
        self._horizon_s = horizon_s
        self._updates = 0
        self._now_s = 0.0
        self._active: dict[int, _Active] = {}
        self._before: dict[int, float] = {}
        self._ends: Ends | None = None
        self._waiting = sorted(laws, key=lambda index: (network.flows[index].start_s, index))
        self._run()

    def _run(self) -> None:
        problem: ActiveFlows | None = None
        while self._waiting or self._active:
            state = None
            if problem is not None:
                state = self._live_until_change(problem)
            else:
                self._now_s = min(self._next_change_s(), self._horizon_s)
            if self._now_s >= self._horizon_s:
                break
            self._depart()
            if not self._active:
                self._ends = None
            self._arrive(problem, state)
            laws = {index: active.law for index, active in self._active.items()}
            problem = ActiveFlows(self._network, laws, self._assumptions) if laws else None

    def _next_change_s(self) -> float:
        """Next start or departure that is known by now."""
        start = self._network.flows[self._waiting[0]].start_s if self._waiting else math.inf
        return min(start, min((a.leaves_s for a in self._active.values()), default=math.inf))

    def _depart(self) -> None:
        for index in [i for i, a in self._active.items() if a.leaves_s <= self._now_s]:
            active = self._active.pop(index)
            self._before.pop(index, None)
            self.finish_s[index] = float(active.leaves_s)
            if active.finish_ack_s is not None:
                self.finish_ack_s[index] = float(active.finish_ack_s)

    def _arrive(self, problem: ActiveFlows | None, state: State | None) -> None:
        """Start flows that are due; their first packets meet the queues that stand now."""
        flows = self._network.flows
        due = [index for index in self._waiting if flows[index].start_s <= self._now_s]
        self._waiting = self._waiting[len(due) :]
        if problem is None or state is None:
            first_rtts = {index: flows[index].empty_rtt_s for index in due}
        else:
            first_rtts = problem.first_rtts(state, {index: self._laws[index] for index in due})
        most = self._most_first_rtts(due, first_rtts)
        for index in due:
            flow, law, first_rtt = flows[index], self._laws[index], first_rtts[index]
            active = _Active(
                flow=flow,
                law=law,
                first_rtt_s=first_rtt,
                most_base_rtt_s=most[index],
                process=law.process(flow, first_rtt) if self._follows else None,
                left=math.inf if flow.packets is None else flow.packets,
            )
            arrival = flow.start_s + first_rtt
            active.pieces.append(_Piece(arrival, arrival, 0.0, first_rtt, first_rtt))
            self._active[index] = active

    def _most_first_rtts(self, due: list[int], first_rtts: dict[int, float]) -> dict[int, float]:
        """The longest RTTs that first packets can meet, where it is not known just what they meet.

        All flows before have as much in queues as their laws allow, and one of their packets is in
        service; the windows of those that start at the same time are there before; and the receiver
        waits for more packets before it sends an ACK.
        """
        flows, stations = self._network.flows, self._network.stations
        data, acks = self._network.visits
        found = {}
        for index in due:
            flow = flows[index]
            service_s = flow.data_bits / min(stations[place].rate_bps for place in flow.data_visits)
            others = [flows[other] for other in due if other != index]
            met = [o for o in others if flow.meets(o)]
            packets = flow.ack_every - 1 + sum(other.initial_window for other in met)
            most_s = first_rtts[index]
            if self._ends is not None:
                waits_s = float((data + acks)[:, index] @ self._ends.queues[1].shortage_s)
                most_s = max(most_s, flow.empty_rtt_s + waits_s)
                packets += waits_s > 0
            found[index] = most_s + packets * service_s
        return found

    @property
    def _follows(self) -> bool:
        return self._assumptions.startup and self.followed

    def _live_until_change(self, problem: ActiveFlows) -> State:
        """Advance to the next start or departure, or the horizon; add the period."""
        start_s = self._now_s
        active = [self._active[index] for index in problem.indices]
        state: State | None = None
        if self._follows and any(a.process is not None for a in active):
            state = self._follow(problem, active)
        base = [a.known_base_rtt_s for a in active]
        rest = problem.equilibrium(base)
        if self._now_s < min(self._next_change_s(), self._horizon_s):
            self._stay(problem, active, rest)
            state = rest
        if self._now_s > start_s:
            end_s = None if math.isinf(self._now_s) else self._now_s
            settling_s = problem.settling_s(rest, self._before)
            flows, queues = problem.flow_states(rest, base), problem.queue_states(rest)
            most = [max(a.most_base_rtt_s, known) for a, known in zip(active, base, strict=True)]
            # Of a period that does not settle no rate is compared.
            settles = end_s is None or end_s - start_s >= settling_s
            self._ends = problem.ends(rest, base, most, each=settles)
            ranges = problem.ranges(self._ends)
            self.periods.append(Period(start_s, end_s, settling_s, flows, queues, ranges))
            windows = zip(problem.indices, rest.windows, strict=True)
            self._before = {index: window for index, window in windows if window is not None}
        return rest if state is None else state

    def _stay(self, problem: ActiveFlows, active: list[_Active], rest: State) -> None:
        while True:
            until = min(self._next_change_s(), self._horizon_s)
            end_s = min(until, self._next_done_s(active, rest))
            if not math.isinf(end_s):
                for a, rate in zip(active, rest.rate, strict=True):
                    a.left -= float(rate) * (end_s - self._now_s)
            self._now_s = end_s
            self._finish_those_done(problem, active, rest)
            if end_s >= until:
                break
        if math.isinf(self._now_s):
            return
        for place, (a, window) in enumerate(zip(active, rest.windows, strict=True)):
            rtt = a.flow.empty_rtt_s + float(rest.queueing_s[place])
            least = rtt - float(rest.avoidable_s[place])
            a.base_rtt_s = min(a.known_base_rtt_s, least)
            a.pieces.clear()
            count = float(rest.rate[place]) * rtt
            a.pieces.append(_Piece(self._now_s, self._now_s + rtt, count, rtt, least))
            if a.process is not None and window is not None:
                a.process.rest(self._now_s, window, rtt)

    def _next_done_s(self, active: list[_Active], state: State) -> float:
        """When the next flow has sent everything, at these rates."""
        sending = zip(active, state.rate, strict=True)
        left = (a.left / float(y) for a, y in sending if math.isinf(a.leaves_s) and y > 0)
        return min((self._now_s + time_s for time_s in left), default=math.inf)

    def _finish_those_done(self, problem: ActiveFlows, active: list[_Active], state: State) -> None:
        """Set when flows that have sent everything leave the network."""
        back_s = problem.ack_trip_s(state)
        for a, window, service, back in zip(
            active, state.windows, problem.service_s(), back_s, strict=True
        ):
            # The rest of a subtraction of large numbers counts as nothing.
            if a.left > 1e-9 * (a.flow.packets or 1.0) or not math.isinf(a.leaves_s):
                continue
            if self._assumptions.startup:
                in_pipe = math.inf if window is None else (window - 1.0) * float(service)
                a.finish_ack_s = self._now_s + min(a.first_rtt_s, in_pipe)
                a.leaves_s = max(self._now_s, a.finish_ack_s - float(back))
            else:
                a.finish_ack_s = a.leaves_s = self._now_s

    def _follow(self, problem: ActiveFlows, active: list[_Active]) -> State:
        """Follow the windows until they are calm or something changes."""
        guess: State | None = None
        calm_since = math.inf
        rest: State | None = None
        rest_base: list[float] = []
        while True:
            base = [a.known_base_rtt_s for a in active]
            windows = [self._in_flight(a) for a in active]
            state = problem.with_windows(windows, base, guess)
            guess = state
            until = min(self._next_change_s(), self._horizon_s)
            update = min(a.process.next_update_s() for a in active if a.process is not None)
            end_s = max(self._now_s, min(until, update, self._next_done_s(active, state)))
            for place, a in enumerate(active):
                if end_s > self._now_s:
                    rtt = a.flow.empty_rtt_s + float(state.queueing_s[place])
                    least = rtt - float(state.avoidable_s[place])
                    a.send(self._now_s, end_s, float(state.rate[place]), rtt, least)
            self._now_s = end_s
            self._finish_those_done(problem, active, state)
            if end_s >= until:
                return state
            for a in active:
                if a.process is not None and a.process.next_update_s() <= end_s:
                    a.receive(end_s)
                    a.process.update(end_s, a.base_rtt_s)
                    self._updates += 1
            if self._updates > MAX_UPDATES:
                self.followed = False
                return state

            base = [a.known_base_rtt_s for a in active]
            if rest is None or base != rest_base:
                rest, rest_base = problem.equilibrium(base), base
            if not self._calm(active, rest.windows):
                calm_since = math.inf
                continue
            calm_since = min(calm_since, end_s)
            windows = [1.0 if window is None else window for window in rest.windows]
            loop = problem.settling_s(rest, dict(zip(problem.indices, windows, strict=True)))
            if end_s - calm_since >= loop:
                return state

    @staticmethod
    def _calm(active: list[_Active], windows: list[float | None]) -> bool:
        return all(
            a.base_rtt_s is not None
            and window is not None
            and abs(a.process.window - window) <= CALM * window
            for a, window in zip(active, windows, strict=True)
            if a.process is not None
        )

    def _in_flight(self, active: _Active) -> float | None:
        """Packets in flight; none for flows that follow their law without delay."""
        if active.process is None:
            return None
        window = active.process.window
        return max(1.0, math.floor(window)) if self._assumptions.window_floor else window
