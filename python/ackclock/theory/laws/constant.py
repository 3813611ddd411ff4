"""A source of constant rate without feedback."""

from ackclock.theory.demand import Demand
from ackclock.theory.laws.law import Law
from ackclock.theory.network import FlowPath


class Constant(Law):
    """The law of a constant-rate source; see `ackclock.theory.laws.law.Law`."""

    name = "cbr"
    summary = "A constant rate, whatever the delay."

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = constant."""
        rate = float(flow.params["rate_bps"]) / flow.data_bits
        return Demand(empty_s=flow.empty_rtt_s, constant=rate)

    def follows_acks(self, flow: FlowPath) -> bool:
        """There is no window."""
        return False

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """The first packet takes one trip."""
        return rtt_s
