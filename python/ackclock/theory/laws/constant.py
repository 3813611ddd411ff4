"""A source of constant rate without feedback."""

from ackclock.theory.demand import Demand
from ackclock.theory.network import FlowPath


class Constant:
    """The law of a constant-rate source; see `ackclock.theory.laws.law.Law`."""

    name = "cbr"
    summary = "A constant rate, whatever the delay."
    references: tuple[str, ...] = ()

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = constant."""
        rate = float(flow.params["rate_bps"]) / flow.data_bits
        return Demand(empty_s=flow.empty_rtt_s, constant=rate)

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> None:
        """Have no window."""

    def process(self, flow: FlowPath, first_rtt_s: float) -> None:
        """Have the rate from the first moment."""

    def slack(self, flow: FlowPath) -> float:
        """Nothing depends on the queues."""
        return 0.0

    def follows_acks(self, flow: FlowPath) -> bool:
        """There is no window."""
        return False

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """The first packet takes one trip."""
        return rtt_s
