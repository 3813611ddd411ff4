"""FAST TCP: a flow keeps alpha packets waiting in queues.

Law: w := min(2 w, (1 - gamma) w + gamma (base_rtt / rtt * w + alpha)). It rests where
w (1 - base_rtt / rtt) = alpha, so that the rate is alpha / (rtt - base_rtt). Wei, Jin, Low, Hegde,
IEEE/ACM Trans. Networking 14(6), 2006, equations (6) and (11).
"""

import math
from collections import deque

from ackclock.theory.demand import Demand
from ackclock.theory.laws.law import Law, WindowProcess
from ackclock.theory.network import NS_PER_S, FlowPath

SETTLED = 0.01
"""A transient has died away when this share of it is left."""


class Fast(Law):
    """The law of FAST; see `ackclock.theory.laws.law.Law`."""

    name = "fast"
    summary = "rate = alpha / (RTT - base RTT): alpha packets wait in queues."
    references = (
        "Wei, Jin, Low, Hegde 2006",
        "Bhasin, Luo, Su, Yang 2015, section 3.4",
    )

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = alpha / (q - standing), standing = base RTT - empty RTT."""
        return Demand(
            empty_s=flow.empty_rtt_s,
            alpha=float(flow.params["alpha"]),
            standing_s=max(0.0, base_rtt_s - flow.empty_rtt_s),
        )

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> float:
        """Rest point of the law at this RTT."""
        return float(flow.params["alpha"]) * rtt_s / (rtt_s - base_rtt_s)

    def process(self, flow: FlowPath, first_rtt_s: float) -> WindowProcess:
        """The law, update by update."""
        return FastWindow(flow, first_rtt_s)

    def follows_acks(self, flow: FlowPath) -> bool:
        """With one update per round trip; a fixed period is a clock of its own."""
        return flow.params["update"] == "rtt"

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """Growth, then contraction by 1 - gamma.

        The first news takes one RTT. While queues are empty, the law doubles the window with each
        update up to gamma alpha, and adds gamma alpha from there on, until the window is near its
        new value. From there the distance shrinks to its (1 - gamma)-th part with each update that
        sees the effect of the one before. An effect is seen after an RTT, and fully when it fills
        the average of RTT samples; and an update cannot be quicker than its own clock.
        """
        assert window is not None, "FAST has a window"
        gamma = float(flow.params["gamma"])
        period = _update_period_s(flow, rtt_s)
        step = gamma * float(flow.params["alpha"])
        first = max(before, 1.0)
        doublings = math.ceil(max(0.0, math.log2(max(min(window, step) / first, 1.0))))
        steps = math.ceil(max(0.0, (window - max(first, step)) / step))
        contractions = math.log(SETTLED) / math.log(1.0 - gamma) if gamma < 1.0 else 1.0
        loop = max(period, rtt_s + _samples_averaged(flow, window) / rate)
        return rtt_s + (doublings + steps) * period + contractions * loop


class FastWindow:
    """Window of one FAST flow in time.

    Args:
        flow: The flow.
        first_rtt_s: RTT of its first packet, seconds.
    """

    def __init__(self, flow: FlowPath, first_rtt_s: float) -> None:
        self.window = max(flow.initial_window, 1.0)
        self._start_s = flow.start_s
        self._alpha = float(flow.params["alpha"])
        self._gamma = float(flow.params["gamma"])
        self._per_rtt = flow.params["update"] == "rtt"
        self._period_s = _update_period_s(flow, first_rtt_s)
        self._next_s = flow.start_s + self._period_s
        self._mean = (
            _LastSamples(int(flow.params["samples"]))
            if flow.params["averaging"] == "samples"
            else _Exponential()
        )

    def observe(self, count: float, rtt_s: float) -> None:
        """Put samples into the average."""
        self._mean.add(count, rtt_s, self.window)

    def next_update_s(self) -> float:
        """Next tick of the period, or one average RTT after the last update."""
        return self._next_s

    def update(self, now_s: float, base_rtt_s: float | None) -> None:
        """Equation (6)."""
        rtt = self._mean.value()
        if base_rtt_s is not None and rtt is not None:
            target = base_rtt_s / rtt * self.window + self._alpha
            mixed = (1.0 - self._gamma) * self.window + self._gamma * target
            self.window = min(2.0 * self.window, mixed)
            if self._per_rtt:
                self._period_s = rtt
        self._next_s = now_s + self._period_s

    def rest(self, now_s: float, window: float, rtt_s: float) -> None:
        """Go on from rest; a fixed period keeps its phase."""
        self.window = window
        self._mean.fill(rtt_s)
        if self._per_rtt:
            self._period_s = rtt_s
            self._next_s = now_s + rtt_s
        else:
            ticks = math.ceil((now_s - self._start_s) / self._period_s)
            self._next_s = self._start_s + ticks * self._period_s


class _LastSamples:
    """Plain mean of the last samples."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._last: deque[tuple[float, float]] = deque()
        self._count = 0.0

    def add(self, count: float, rtt_s: float, window: float) -> None:
        self._last.append((count, rtt_s))
        self._count += count
        while self._count - self._last[0][0] >= self._size:
            self._count -= self._last.popleft()[0]

    def fill(self, rtt_s: float) -> None:
        self._last = deque([(float(self._size), rtt_s)])
        self._count = float(self._size)

    def value(self) -> float | None:
        if not self._last:
            return None
        # Of the oldest entry only what is among the last samples counts.
        surplus = max(0.0, self._count - self._size)
        weights = [count for count, _ in self._last]
        weights[0] -= surplus
        total = sum(weights)
        if not total > 0:
            return self._last[-1][1]
        return sum(w * rtt for w, (_, rtt) in zip(weights, self._last, strict=True)) / total


class _Exponential:
    """Exponential mean with weight min(3 / window, 1/4) per sample (section III-B of the paper)."""

    def __init__(self) -> None:
        self._rtt: float | None = None

    def add(self, count: float, rtt_s: float, window: float) -> None:
        if self._rtt is None:
            self._rtt = rtt_s
        keep = (1.0 - min(3.0 / window, 0.25)) ** count
        self._rtt = rtt_s + keep * (self._rtt - rtt_s)

    def fill(self, rtt_s: float) -> None:
        self._rtt = rtt_s

    def value(self) -> float | None:
        return self._rtt


def _update_period_s(flow: FlowPath, rtt_s: float) -> float:
    if flow.params["update"] == "rtt":
        return rtt_s
    return flow.params["period_ns"] / NS_PER_S


def _samples_averaged(flow: FlowPath, window: float) -> float:
    """Samples until an average has taken up a change (to 1 - 1/e for the exponential one)."""
    if flow.params["averaging"] == "samples":
        return float(flow.params["samples"])
    return 1.0 / min(3.0 / window, 0.25)
