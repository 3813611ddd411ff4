"""Your congestion control. It works, but it is not good: make it better."""

import ackclock


class Mine(ackclock.CongestionControl):
    step: float = 1.0  # segments that the window grows per round trip

    def on_ack(self, ack):
        # ack.rtt, ack.srtt, ack.min_rtt are seconds (rtt may be None); ack.in_flight is in the
        # unit of self.cwnd, of which self.segment is one full segment.
        if ack.may_grow:
            self.cwnd += self.step * self.segment * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        return self.cwnd / 2
