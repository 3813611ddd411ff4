"""How the rate of a flow answers to queueing delay.

All laws in equilibrium have one form. With q the queueing delay that a packet and its ACK meet on
the round trip, a flow sends

    y(q) = alpha / (q - standing) + window / (empty + q) + constant        packets per second

- FAST keeps `alpha` packets in queues: y = alpha / (RTT - base RTT), and RTT - base RTT is q less
  the `standing` queueing delay that its base RTT contains;
- a window w is y = w / RTT with RTT = `empty` + q;
- a source without feedback is a constant.

A congestion control with exogenous losses (rate = k / RTT) has this form as well.
"""

from typing import NamedTuple

import numpy as np

from ackclock.arrays import Floats


class Demand(NamedTuple):
    """Coefficients of one flow; see the module.

    Attributes:
        empty_s: RTT in an empty network, seconds, above 0.
        alpha: Packets kept in queues, not negative.
        standing_s: Queueing delay that the base RTT contains, seconds; only with `alpha`.
        window: Packets in flight; may be a small negative correction of `alpha`.
        constant: Packets per second whatever the delay.
    """

    empty_s: float
    alpha: float = 0.0
    standing_s: float = 0.0
    window: float = 0.0
    constant: float = 0.0


class Demands(NamedTuple):
    """Coefficients of all flows as arrays of shape (flows,)."""

    empty_s: Floats
    alpha: Floats
    standing_s: Floats
    window: Floats
    constant: Floats

    @classmethod
    def of(cls, demands: list[Demand]) -> "Demands":
        """Gather the coefficients of flows."""
        return cls(
            **{
                name: np.array([getattr(d, name) for d in demands], dtype=np.float64)
                for name in Demand._fields
            }
        )

    def rate(self, queueing_s: Floats) -> Floats:
        """Packets per second of each flow."""
        kept = self.alpha / self._gap(queueing_s)
        return kept + self.window / (self.empty_s + queueing_s) + self.constant

    def slope(self, queueing_s: Floats) -> Floats:
        """Change of the rate of each flow with its queueing delay, packets per square second."""
        kept = self.alpha / self._gap(queueing_s) ** 2
        return -kept - self.window / (self.empty_s + queueing_s) ** 2

    def _gap(self, queueing_s: Floats) -> Floats:
        return np.where(self.alpha > 0, queueing_s - self.standing_s, 1.0)
