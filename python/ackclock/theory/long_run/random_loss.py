"""One flow that reacts to losses, whose packets are lost at random.

Source: Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance
algorithm", CCR 1997; Padhye, Firoiu, Towsley, Kurose, "Modeling TCP throughput", SIGCOMM 1998
("PFTK"); RFC 9438 section 5.1, equation 6; Ott, Kemperman, Mathis, "The stationary behavior of
ideal TCP congestion avoidance", 1996; Poojary, Sharma, "An asymptotic approximation of TCP CUBIC",
arXiv 1510.08496, 2015.

With one loss every 1/p packets and round-trip time R the mean window is

    Reno    sqrt(3 / (2 p))                                           without timeouts (Mathis)
            1 / (sqrt(2 p / 3) + T/R min(1, 3 sqrt(3 p / 8)) p (1 + 32 p^2))     with them (PFTK)
    CUBIC   (C (3 + b) / (4 (1 - b)))^(1/4) (R / p)^(3/4), or Reno's where that is larger

and the rate is the window each round trip. Where losses are independent, each with probability p,
intervals without loss vary, and the mean is larger: 1.3098 in place of sqrt(3/2) = 1.2247 for Reno
(Ott and others), 1.3004 in place of 1.0540 for CUBIC with b = 0.7 and without fast convergence
(Poojary and Sharma). With it, and with the round trips of recovery, in which no window grows, the
mean is between the two: they are the ends of the range. PFTK is about a sender without SACK, which
loses the rest of a round trip with the first packet; one with SACK and RACK-TLP is between it and
Mathis.

DEVIATION: the timer T of PFTK is R + 200 ms, the least that Linux waits with a steady R.
"""

import math

from ackclock.theory.estimate import Estimate, Model, Outcome, rounded
from ackclock.theory.long_run.shared import LOSS_BASED, Member, Shared

MODEL = Model(
    "response function",
    "Random losses of probability p leave a mean window that p (and the RTT) decides.",
    "Mathis and others 1997; Padhye and others 1998; RFC 9438; Ott and others 1996; Poojary and "
    "Sharma 2015",
    "one flow of CUBIC or Reno with random losses, on a link that it does not fill",
)

_ACCURACY = 0.1

_INDEPENDENT_RENO = 1.3098 / math.sqrt(1.5)
_INDEPENDENT_CUBIC = 1.3004 / 1.0540
"""How much larger the mean window is with independent losses than with evenly spaced ones."""

_MIN_RTO_S = 0.2

_LOSSES = 200
"""This many losses make an average."""


def mathis(p: float, growth: float = 1.0) -> float:
    """Mean window of Reno without timeouts, packets; it grows by so many per round trip."""
    return math.sqrt(1.5 * growth / p)


def pftk(p: float, rtt_s: float, rto_s: float) -> float:
    """Packets of Reno in a round trip, timeouts included."""
    timeouts = min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return 1 / (math.sqrt(2 * p / 3) + rto_s / rtt_s * timeouts)


def cubic(p: float, rtt_s: float, c: float, left: float) -> float:
    """Mean window of CUBIC in its own region, packets."""
    return (c * (3 + left) / (4 * (1 - left))) ** 0.25 * (rtt_s / p) ** 0.75


def response(member: Member, p: float, rtt_s: float, independent: bool = False) -> float:
    """Mean window of a flow without timeouts, packets, with losses evenly spaced or independent."""
    window = mathis(p, member.growth) * (_INDEPENDENT_RENO if independent else 1)
    if member.kind == "cubic":
        own = cubic(p, rtt_s, float(member.cc["c"]), member.left)
        window = max(window, own * (_INDEPENDENT_CUBIC if independent else 1))
    return window


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none where losses are not those of one flow at random."""
    if len(shared.members) != 1 or shared.members[0].kind not in LOSS_BASED or not shared.loss:
        return None
    member, p = shared.members[0], shared.loss
    rtt_s = member.rtt_s
    high = response(member, p, rtt_s, independent=True)
    low = response(member, p, rtt_s) * pftk(p, rtt_s, rtt_s + _MIN_RTO_S) / mathis(p)
    names, link, rate = (member.id,), shared.link, shared.payload_bits / rtt_s
    least_s = _LOSSES / p / min(shared.rate, low / rtt_s)
    if high > shared.path_packets:
        # The queue would fill and overflow: losses of its own come on top.
        remark = (
            f"{member.id}: with losses of {p:.3g} alone its mean window would be {rounded(high)} "
            f"packets, more than the {rounded(shared.path_packets)} that the path of "
            f"{shared.station.link} holds: what limits it is "
        )
        if low * member.left < shared.path_packets:
            remark += "the link at times, and losses at others, of which no average is known."
            return Outcome([], least_s, remark)
        top = shared.payload_bps
        return Outcome(
            [Estimate("rate", names, link, top, top, None)],
            least_s,
            remark + "the link. Shown, not judged.",
        )
    rates = Estimate("rate", names, link, low * rate, high * rate, _ACCURACY)
    return Outcome([rates, Estimate("window", names, link, low, high, _ACCURACY)], least_s)
