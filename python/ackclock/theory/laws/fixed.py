"""A window that never changes: rate = window / RTT, queues hold what does not fit into the path."""

from ackclock.theory.demand import Demand
from ackclock.theory.laws.law import Law
from ackclock.theory.network import FlowPath


class Fixed(Law):
    """The law of a fixed window; see `ackclock.theory.laws.law.Law`."""

    name = "fixed"
    summary = "rate = window / RTT: what does not fit into the path waits in queues."
    references = ("Little 1961",)

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = window / (empty RTT + q)."""
        return Demand(empty_s=flow.empty_rtt_s, window=float(flow.params["window"]))

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> float:
        """The window."""
        return float(flow.params["window"])

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """The window is in flight after one RTT, its effect on others is seen after another."""
        return 2.0 * rtt_s
