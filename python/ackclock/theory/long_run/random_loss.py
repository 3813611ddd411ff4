"""One flow that reacts to losses, whose packets are lost at random.

Source: Mathis, Semke, Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance
algorithm", CCR 1997; Padhye, Firoiu, Towsley, Kurose, "Modeling TCP throughput", SIGCOMM 1998
("PFTK"); RFC 9438 section 5.1, equation 6.

With probability p of a loss and round-trip time R the mean window is

    Reno    sqrt(3 / (2 p))                                           without timeouts (Mathis)
            1 / (sqrt(2 p / 3) + T/R min(1, 3 sqrt(3 p / 8)) p (1 + 32 p^2))     with them (PFTK)
    CUBIC   (C (3 + b) / (4 (1 - b)))^(1/4) (R / p)^(3/4), or Reno's where that is larger

and the rate is the window each round trip. PFTK is about a sender without SACK, which loses the
rest of a round trip with the first packet; one with SACK and RACK-TLP is between it and Mathis.

DEVIATION: the timer T of PFTK is R + 200 ms, the least that Linux waits with a steady R.
"""

import math

from ackclock.theory.estimate import Estimate, Model, Outcome
from ackclock.theory.long_run.shared import LOSS_BASED, Member, Shared

MODEL = Model(
    "response function",
    "Random losses of probability p leave a mean window that p (and the RTT) decides.",
    "Mathis and others 1997; Padhye and others 1998; RFC 9438",
    "one flow of CUBIC or Reno with random losses, on a link that it does not fill",
)

_ACCURACY = 0.1
_CUBIC_ACCURACY = 0.15
"""The response function of CUBIC is that of losses at even distances."""

_MIN_RTO_S = 0.2

_LOSSES = 200
"""So many losses make an average."""


def mathis(p: float) -> float:
    """Mean window of Reno without timeouts, packets."""
    return math.sqrt(1.5 / p)


def pftk(p: float, rtt_s: float, rto_s: float) -> float:
    """Packets of Reno in a round trip, timeouts included."""
    timeouts = min(1.0, 3 * math.sqrt(3 * p / 8)) * p * (1 + 32 * p * p)
    return 1 / (math.sqrt(2 * p / 3) + rto_s / rtt_s * timeouts)


def cubic(p: float, rtt_s: float, c: float, left: float) -> float:
    """Mean window of CUBIC, packets; its Reno-friendly region included."""
    return max(mathis(p), (c * (3 + left) / (4 * (1 - left))) ** 0.25 * (rtt_s / p) ** 0.75)


def response(member: Member, p: float, rtt_s: float) -> float:
    """Mean window of a flow without timeouts, packets."""
    if member.kind == "cubic":
        return cubic(p, rtt_s, float(member.cc["c"]), member.left)
    return mathis(p)


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none where losses are not those of one flow at random."""
    if len(shared.members) != 1 or shared.members[0].kind not in LOSS_BASED or not shared.loss:
        return None
    member, p = shared.members[0], shared.loss
    rtt_s = member.rtt_s
    high = response(member, p, rtt_s)
    low = high * pftk(p, rtt_s, rtt_s + _MIN_RTO_S) / mathis(p)
    names, link, rate = (member.id,), shared.link, shared.payload_bits / rtt_s
    least_s = _LOSSES / p / shared.rate
    if high > shared.path_packets:
        # The queue would fill and overflow: losses of its own come on top.
        top = shared.payload_bps
        remark = (
            f"{member.id}: with losses of {p:.3g} alone its mean window would be {high:.3g} "
            f"packets, more than the {shared.path_packets:.3g} that the path of "
            f"{shared.station.link} holds: what limits it is the link."
        )
        return Outcome(
            [Estimate("rate", names, link, min(top, low * rate), top, None)], least_s, remark
        )
    accuracy = _CUBIC_ACCURACY if member.kind == "cubic" else _ACCURACY
    rates = Estimate("rate", names, link, low * rate, high * rate, accuracy)
    return Outcome([rates, Estimate("window", names, link, low, high, accuracy)], least_s)
