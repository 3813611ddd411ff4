"""Vegas: a flow keeps between alpha and beta packets waiting in queues.

Law: once per round trip, with diff = w (1 - base_rtt / rtt), the window grows by a packet if diff
is below alpha, shrinks by one if it is above beta, and else stays. It rests wherever
alpha <= diff <= beta, so that the rate is diff / (rtt - base_rtt). Brakmo and Peterson, IEEE JSAC
13(8), 1995.

With alpha = beta, and the RTT of the empty path known, the equilibrium is unique, and that of
weighted proportional fairness: the rates maximise the sum of alpha log x (Low, Peterson, Wang,
"Understanding Vegas: A duality model", J. ACM 49(2), 2002). Else there are many, and where a flow
comes to rest depends on its past: on where diff came between alpha and beta, and on the queue that
its first packets met, which it takes for a part of the path (La, Walrand, Anantharam, "Issues in
TCP Vegas", 1999). Predicted are the middle, at rest from the first moment, and the ranges that all
of this allows.

Windows are whole packets. Below alpha one more is sent, which leads to less than alpha + 1; above
beta one less, which leads to more than beta - 1: with beta - alpha < 1 the window moves between.

A receiver that waits for n packets before it sends an ACK makes samples longer by up to n - 1
times the distance of the flow's packets, which is n - 1 packets of diff; and where the segments
sent in a round trip are counted, up to n - 1 are missing. So the true value is up to 2 (n - 1)
below the one that is compared, and samples that are shorter than the mean hide up to n - 1.
"""

import math

from ackclock.theory.demand import Demand
from ackclock.theory.laws.law import Law
from ackclock.theory.network import FlowPath

LEAST_WINDOW = 2
"""Packets below which a window does not fall."""

LEAST = 1e-6
"""Packets that a flow with alpha = beta = 0 keeps in queues; more than nothing, to have a rate."""


class Vegas(Law):
    """The law of Vegas; see `ackclock.theory.laws.law.Law`."""

    name = "vegas"
    summary = "alpha to beta packets wait in queues; rate = packets / (RTT - base RTT)."
    references = ("Brakmo and Peterson 1995", "Low, Peterson, Wang 2002")

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = m / (q - standing), m between alpha and beta, standing = base RTT - empty RTT."""
        low, high = self.kept_packets(flow, whole=False)
        return Demand(
            empty_s=flow.empty_rtt_s,
            alpha=max(LEAST, (low + high) / 2),
            standing_s=max(0.0, base_rtt_s - flow.empty_rtt_s),
        )

    def kept_packets(self, flow: FlowPath, whole: bool) -> tuple[float, float]:
        """Packets in queues between which the window rests.

        Where diff is rounded, it is the range of the values that are rounded to what is allowed.
        """
        low, high = float(flow.params["alpha"]), float(flow.params["beta"])
        if flow.params["compare"] == "rounded":
            low, high = math.ceil(low) - 0.5, math.floor(high) + 0.5
        waiting = flow.ack_every - 1
        if flow.params["rtt"] != "least":
            low, high = low - waiting, high + waiting
        if flow.params["actual"] == "sent":
            low -= waiting
        if whole:
            low, high = min(low, high - 1.0), max(high, low + 1.0)
        return max(0.0, low), high

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> float:
        """Packets in flight at this RTT."""
        return rate * rtt_s

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """A packet per round trip; slow start is quicker, but bursts can end it at once.

        Or it ends late, at up to twice the window: then the way back takes a packet per round trip,
        and round trips are half as long again in the mean, since the rest waits in queues.
        """
        assert window is not None, "Vegas has a window"
        back = 1.5 * window if before <= flow.initial_window else 0.0
        return rtt_s * (max(abs(window - before), window / 8.0, back) + 2.0)
