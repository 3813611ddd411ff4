"""What the theory has to know about a congestion control."""

from typing import Protocol

from ackclock.theory.demand import Demand
from ackclock.theory.network import FlowPath


class WindowProcess(Protocol):
    """The window of one flow in time, from its start.

    Attributes:
        window: Present window, packets.
    """

    window: float

    def observe(self, count: float, rtt_s: float) -> None:
        """So many samples with this RTT came in; a fraction at times, as packets are a liquid."""
        ...

    def next_update_s(self) -> float:
        """When the window changes next; infinite if it does not change by itself."""
        ...

    def update(self, now_s: float, base_rtt_s: float | None) -> None:
        """Change the window. The base RTT is the minimum RTT seen; none before the first sample."""
        ...

    def rest(self, now_s: float, window: float, rtt_s: float) -> None:
        """Go on from a state of rest: this window, this RTT in all samples."""
        ...


class Law:
    """A congestion control (or a source) of which the equilibrium is known.

    Attributes:
        name: Its word in scenarios.
        summary: What the equilibrium is, in a sentence.
        references: Sources.
    """

    name: str
    summary: str
    references: tuple[str, ...] = ()

    def demand(self, flow: FlowPath, base_rtt_s: float) -> Demand:
        """Equilibrium: how the rate answers to queueing delay, given the base RTT (seconds)."""
        raise NotImplementedError

    def window(self, flow: FlowPath, base_rtt_s: float, rtt_s: float, rate: float) -> float | None:
        """Window in equilibrium, packets; none if there is no window."""

    def kept_packets(self, flow: FlowPath, whole: bool) -> tuple[float, float] | None:
        """Least and most packets in queues, where the window rests in a whole range.

        Args:
            flow: The flow.
            whole: Windows are whole packets.
        """

    def process(self, flow: FlowPath, first_rtt_s: float) -> WindowProcess | None:
        """The window in time; none if it is the same from the first moment.

        Args:
            flow: The flow.
            first_rtt_s: RTT of its first packet, seconds.
        """

    def follows_acks(self, flow: FlowPath) -> bool:
        """Whether the window changes with ACKs only, not by a clock of its own."""
        return True

    def settling_s(
        self, flow: FlowPath, window: float | None, rtt_s: float, rate: float, before: float
    ) -> float:
        """Time within which the answer to a change has died away to 1 %, seconds.

        Args:
            flow: The flow.
            window: Its window in the new equilibrium, packets.
            rtt_s: Its RTT there, seconds.
            rate: Its rate there, packets per second.
            before: Its window before the change, packets; the initial window if it just starts.
        """
        raise NotImplementedError
