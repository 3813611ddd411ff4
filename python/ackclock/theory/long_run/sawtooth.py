"""One flow that reacts to losses, alone before a drop-tail buffer.

Source: Appenzeller, Keslassy, McKeown, "Sizing Router Buffers", SIGCOMM 2004 (Reno); RFC 9438,
sections 4.2 and 4.3 (how CUBIC grows).

With P packets that the empty path holds (rate times RTT) and a buffer of B, a window overflows at
W = P + B, and falls to `left` W. It then grows to W again:

    Reno    1 packet per round trip; with an ACK for every second packet, each of which counts
            once (RFC 5681), half of one
    CUBIC   W + C (t - K)^3 with K = cbrt((1 - left) W / C), but at least left W + a t / RTT
            with a = 3 (1 - left) / (1 + left), its Reno-friendly region

The queue is what of the window does not fit into the path, W(t) - P; where that is negative the
link idles, and the rate is W(t) / RTT. Averages are integrals over this cycle.

With CUBIC's fast convergence (RFC 9438 section 4.7) a peak that is a packet below the one before
moves the middle of the next rise to (1 + left) / 2 of the peak, and the window is flat there
instead of at the top. Which cycles do so depends on single packets: the averages are between those
with and without.

A buffer of fewer packets than come in one burst (an ACK of two packets lets out two, or three where
it makes the window grow) overflows before the path is full: there is no prediction. Nor is there
one where the cycle is shorter than two round trips: a loss is noticed a round trip later, and the
recovery takes another. One of less than ten is shown and not judged.

The queue is a small difference of large windows where the buffer is small: it is as accurate as
the window, in packets.

DEVIATION: slow start is not in it. Nor are, of each cycle, the round trip after which the loss is
noticed and that of the recovery, so that a cycle lasts longer than `Cycle.length_s`. Nor are
packets that are lost again during recovery, after which the window falls twice (a retransmission
by a timer takes the place that the next new packet needed): a run in which that is common is not
judged.
"""

from typing import NamedTuple

import numpy as np

from ackclock.theory.estimate import Estimate, Model, Outcome, rounded
from ackclock.theory.long_run.shared import LOSS_BASED, Member, Shared

MODEL = Model(
    "sawtooth",
    "A window grows until the buffer overflows, and falls to a share of it.",
    "Appenzeller, Keslassy, McKeown 2004; RFC 9438",
    "one flow of CUBIC or Reno alone before a drop-tail buffer",
)

_STEPS = 4000
"""Steps of the integral over a cycle."""

_LEAST_TRIPS, _JUDGED_TRIPS = 2.0, 10.0
"""Round trips of a cycle from which there is a prediction, and from which it is judged."""

_ACCURACY = 0.03
"""Reno's closed form meets kernels and simulators to this."""


class Cycle(NamedTuple):
    """One cycle of the window.

    Attributes:
        high: Window at which the buffer overflows, packets.
        low: Window after the loss.
        length_s: How long the window grows.
        window: Mean window, packets.
        queue: Mean queue, packets.
        utilization: Share of the link that is used.
    """

    high: float
    low: float
    length_s: float
    window: float
    queue: float
    utilization: float


def cycle_of(shared: Shared, converging: bool = False) -> Cycle | None:
    """Return the cycle of a flow that is alone; none where it is not known.

    Args:
        shared: The flow and its bottleneck.
        converging: Whether each rise of CUBIC is one of fast convergence.
    """
    if len(shared.members) != 1 or shared.members[0].kind not in LOSS_BASED:
        return None
    if shared.buffer is None or shared.disturbed or shared.loss:
        return None
    member = shared.members[0]
    high = shared.path_packets + shared.buffer
    low = member.left * high
    if member.kind == "cubic":
        middle = (1 + member.left) / 2 * high if converging else high
        step_s, packets = np.array(_cubic_steps(member, shared, low, high, middle)).T
    else:
        step = (high - low) / _STEPS
        packets = low + (np.arange(_STEPS) + 0.5) * step
        step_s = step / member.growth * np.maximum(member.rtt_s, packets / shared.rate)
    length = float(step_s.sum())
    window, queue, sent = (
        float(values @ step_s) / length
        for values in (
            packets,
            np.maximum(0.0, packets - shared.path_packets),
            np.minimum(shared.rate, packets / member.rtt_s),
        )
    )
    return Cycle(high, low, length, window, queue, sent / shared.rate)


def _rtt_s(member: Member, shared: Shared, window: float) -> float:
    return max(member.rtt_s, window / shared.rate)


def _cubic_steps(
    member: Member, shared: Shared, low: float, high: float, middle: float
) -> list[tuple[float, float]]:
    c = float(member.cc["c"])
    flat_s = ((middle - low) / c) ** (1 / 3)
    rise_s = flat_s + ((high - middle) / c) ** (1 / 3)
    friendly = 3 * (1 - member.left) / (1 + member.left)
    step_s = rise_s / _STEPS
    reno = low
    steps = []
    for number in range(_STEPS):
        time_s = (number + 0.5) * step_s
        window = max(reno, middle + c * (time_s - flat_s) ** 3)
        if window >= high:
            break
        steps.append((step_s, window))
        reno += friendly * step_s / _rtt_s(member, shared, window)
    return steps


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none where the cycle is not known."""
    cycle = cycle_of(shared)
    if cycle is None:
        return None
    ends = [cycle]
    member = shared.members[0]
    name = "CUBIC" if member.kind == "cubic" else "Reno"
    rtt_s = _rtt_s(member, shared, cycle.high)
    trips = cycle.length_s / rtt_s
    if remark := _outside(shared, trips):
        return Outcome([], 0.0, f"{member.id}: no average of {name} is predicted: {remark}.")
    if member.cc.get("fast_convergence") and (other := cycle_of(shared, True)):
        ends.append(other)
    # One round trip of each cycle is recovery.
    accuracy = max(_ACCURACY, 1 / trips)
    judged = accuracy if trips >= _JUDGED_TRIPS else None

    def between(quantity: str, values: list[float], grain: float) -> Estimate:
        low, high = min(values), max(values)
        return Estimate(quantity, (member.id,), shared.link, low, high, judged, grain)

    estimates = [
        between("rate", [end.utilization * shared.payload_bps for end in ends], 0.0),
        between("window", [end.window for end in ends], 1.0),
        between("queue", [end.queue for end in ends], max(1.0, accuracy * cycle.window)),
    ]
    path = rounded(shared.path_packets)
    idle = (
        f"the link never idles, since the empty path holds only {path}"
        if cycle.low >= shared.path_packets
        else f"the empty path holds {path}, so that the link idles {_share(1 - cycle.utilization)}"
    )
    remark = (
        f"{member.id}: {name} has no equilibrium, it swings. A window of about "
        f"{rounded(cycle.high)} packets overflows the buffer of {shared.station.link}, and a loss "
        f"leaves {rounded(cycle.low)}; {idle}. "
        f"The window grows for {rounded(cycle.length_s)} s; in each cycle, noticing the loss and "
        "recovering from it take two to three round trips more, which the model leaves out."
    )
    if judged is None:
        remark += (
            f" These are {trips:.2g} round trips, of which each recovery takes about one: the "
            "figures are shown, not judged."
        )
    return Outcome(estimates, 3 * cycle.length_s, remark, repeat_s=_LEAST_TRIPS * rtt_s)


def _share(idle: float) -> str:
    """How much of the time this is."""
    share = f"{idle * 100:.1f}" if idle >= 0.001 else "less than 0.1"
    return f"for {share} % of the time"


def _outside(shared: Shared, trips: float) -> str | None:
    """In words, why the cycle is not that of the closed form, if so."""
    if not shared.holds_bursts:
        return shared.bursts_remark
    if trips < _LEAST_TRIPS:
        return (
            f"its cycle would take {trips:.2g} round trips with the buffer of "
            f"{shared.station.link} full, and a loss is noticed only after one"
        )
    return None
