"""AIMD as the engine's own `aimd` with Linux's counting (Chiu and Jain 1989)."""

import ackclock


class Aimd(ackclock.CongestionControl):
    increase: float = 1.0
    decrease: float = 0.5

    def on_ack(self, ack):
        if not ack.may_grow:
            return
        if self.in_slow_start:
            self.cwnd += ack.newly_acked
        else:
            self.cwnd += self.increase * self.segment * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        return self.cwnd * self.decrease
