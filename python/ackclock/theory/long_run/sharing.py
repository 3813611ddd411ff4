"""Several flows that react to losses, of one kind or of several, before one drop-tail buffer.

Source: Shorten, Wirth, Leith, "A positive systems model of TCP-like congestion control",
IEEE/ACM Transactions on Networking 14(3), 2006 (synchronised losses); RFC 9438 sections 4.2, 4.3,
5.1; Mathis and others 1997 (response functions).

Who loses packets when the buffer overflows decides the shares. Two ends are known:

**All lose together.** All windows fall at one time, and grow for the same time T to what they were:

    Reno    (1 - left) W = T / RTT          CUBIC    (1 - left) W = C T^3, or Reno-friendly growth

and at the end of T the windows fill path and buffer, which gives T.

**Each packet is as likely to be lost.** Then each flow has the mean window of its response
function (`random_loss`) at a probability p that is the same for all, and fills the link with the
others, which gives p.

A rate is between the two. Reno's goes with RTT^-2 at the first end and with RTT^-1 at the second.

The shares are shown and not judged: who loses at a drop-tail queue is decided by single packets
(phase effects: Floyd, Jacobson, "On traffic phase effects in packet-switched gateways", 1992), and
a run can be outside both ends. That the link is busy is judged.

DEVIATION: the RTT of a cycle is that with its mean queue; timeouts are not in it.
"""

from collections.abc import Callable

from ackclock.theory.estimate import Estimate, Model, Outcome
from ackclock.theory.long_run.random_loss import response
from ackclock.theory.long_run.shared import LOSS_BASED, Member, Shared

MODEL = Model(
    "shared losses",
    "All windows fall together, or each as often as its packets: the ends of the range.",
    "Shorten, Wirth, Leith 2006; RFC 9438; Mathis and others 1997",
    "flows of CUBIC and Reno at one drop-tail buffer that keeps the link busy",
)

_ACCURACY = 0.02
_BUSY = 0.98
_ROUNDS = 30
"""Rounds in which the mean queue is found."""


def synchronised(shared: Shared) -> tuple[list[float], float, float]:
    """Shares of the flows where all lose together, the mean queue in packets, and T in seconds."""
    buffer = shared.buffer or 0.0
    queue = buffer / 2
    peaks, time_s = [0.0], 0.0
    means = peaks
    for _ in range(_ROUNDS):
        wait_s = queue / shared.rate

        def surplus(t: float, wait_s: float = wait_s) -> float:
            """What the windows send at the end of a cycle of this length, less the rate."""
            sent = 0.0
            for member in shared.members:
                window = _growth(member, t, member.rtt_s + wait_s)[0] / (1 - member.left)
                sent += window / (member.rtt_s + buffer / shared.rate)
            return sent - shared.rate

        time_s = _root(surplus)
        means = [_mean(member, time_s, member.rtt_s + wait_s) for member in shared.members]
        queue = 0.5 * (queue + _standing(shared, means))
    rates = [
        mean / (member.rtt_s + queue / shared.rate)
        for mean, member in zip(means, shared.members, strict=True)
    ]
    return [rate / shared.rate for rate in rates], queue, time_s


def independent(shared: Shared, queue: float) -> list[float]:
    """Shares of the flows where each packet is as likely to be lost, with this mean queue."""
    rtts = [member.rtt_s + queue / shared.rate for member in shared.members]

    def rates(p: float) -> list[float]:
        pairs = zip(shared.members, rtts, strict=True)
        return [response(member, p, rtt_s) / rtt_s for member, rtt_s in pairs]

    # The rates fall with p: the sum is sought by p's inverse.
    inverse = _root(lambda packets: sum(rates(1 / packets)) - shared.rate)
    return [rate / shared.rate for rate in rates(1 / inverse)]


def _growth(member: Member, time_s: float, rtt_s: float) -> tuple[float, bool]:
    """Packets that a window grows in a cycle, and whether that is CUBIC's own law."""
    if member.kind == "reno":
        return member.growth * time_s / rtt_s, False
    friendly = 3 * (1 - member.left) / (1 + member.left) * time_s / rtt_s
    own = float(member.cc["c"]) * time_s**3
    return max(own, friendly), own > friendly


def _mean(member: Member, time_s: float, rtt_s: float) -> float:
    growth, own = _growth(member, time_s, rtt_s)
    return growth / (1 - member.left) - growth * (0.25 if own else 0.5)


def _standing(shared: Shared, means: list[float]) -> float:
    """Queue with which these windows fill the link, packets; 0 if they do not."""

    def surplus(queue: float) -> float:
        return shared.rate - sum(
            mean / (member.rtt_s + queue / shared.rate)
            for mean, member in zip(means, shared.members, strict=True)
        )

    return 0.0 if surplus(0.0) >= 0 else _root(surplus)


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of positive numbers is zero."""
    low, high = 0.0, 1.0
    while rising(high) < 0 and high < 1e15:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none unless several flows react to losses of one buffer."""
    kinds = {member.kind for member in shared.members}
    plain = shared.buffer is not None and not shared.disturbed and not shared.loss
    if len(shared.members) < 2 or not kinds <= set(LOSS_BASED) or not plain:
        return None
    names = shared.names(*LOSS_BASED)
    if not shared.holds_bursts:
        flows = ", ".join(names)
        return Outcome([], 0.0, f"{flows}: no rates are predicted: {shared.bursts_remark}.")
    together, queue, cycle_s = synchronised(shared)
    apart = independent(shared, queue)
    payload, link = shared.payload_bps, shared.link
    # Where all windows together leave the link idle, what it carries is another question.
    total = payload * min(1.0, sum(together))
    judged = _ACCURACY if sum(together) > _BUSY else None
    estimates = [Estimate("rate", names, link, total, payload, judged)]
    for member, *ends in zip(shared.members, together, apart, strict=True):
        low, high = min(ends) * payload, max(ends) * payload
        estimates.append(Estimate("rate", (member.id,), link, low, high, None))
    remark = (
        f"{shared.station.link}: which of several flows loses packets at a drop-tail queue is "
        "decided by single packets: the rates of single flows are shown, not judged."
    )
    if judged is None:
        remark += (
            " The link idles after losses, which depends on how many flows lose packets: what it "
            "carries is shown, not judged, too."
        )
    return Outcome(estimates, 10 * cycle_s, remark)
