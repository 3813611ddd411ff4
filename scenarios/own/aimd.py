"""AIMD as the engine's own `aimd` (Chiu and Jain 1989; RFC 5681 section 3.1)."""

import ackclock


class Aimd(ackclock.CongestionControl):
    increase: float = 1.0
    decrease: float = 0.5

    def on_ack(self, ack):
        if not ack.may_grow:
            return
        counted = min(ack.newly_acked, self.segment)
        if self.cwnd < self.ssthresh:
            self.cwnd += counted
        else:
            self.cwnd += self.increase * self.segment * counted / self.cwnd

    def on_loss(self, loss):
        return loss.in_flight * self.decrease
