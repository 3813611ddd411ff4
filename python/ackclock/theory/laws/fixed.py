"""A window that never changes: rate = window / RTT, queues hold what does not fit into the path."""

from ackclock.theory.demand import Demand
from ackclock.theory.network import FlowPath


class Fixed:
    """The law of a fixed window; see `ackclock.theory.laws.law.Law`."""

    name = "fixed"
    summary = "rate = window / RTT: what does not fit into the path waits in queues."
    references: tuple[str, ...] = ("Little 1961",)

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Rate = window / (empty RTT + q)."""
        return Demand(empty_s=flow.empty_rtt_s, window=float(flow.params["window"]))

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> float:
        """The window."""
        return float(flow.params["window"])

    def process(self, flow: FlowPath, first_rtt_s: float) -> None:
        """Have the equilibrium rate from the first moment."""

    def slack(self, flow: FlowPath) -> float:
        """The rest point is unique."""
        return 0.0

    def follows_acks(self, flow: FlowPath) -> bool:
        """It never changes."""
        return True

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """The window is in flight after one RTT, its effect on others is seen after another."""
        return 2.0 * rtt_s
