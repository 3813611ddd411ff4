"""An own idea: halve on a loss; else steer the wait in queues towards a target."""

import ackclock


class DelayTarget(ackclock.CongestionControl):
    target: float = 0.010
    gain: float = 1.0

    def on_ack(self, ack):
        if ack.rtt is None or not ack.may_grow:
            return
        wait = ack.rtt - ack.min_rtt
        if self.cwnd < self.ssthresh and wait < self.target / 2:
            self.cwnd += ack.newly_acked
            return
        self.ssthresh = min(self.ssthresh, self.cwnd)
        off = max(-1.0, (self.target - wait) / self.target)
        step = self.gain * off * self.segment * ack.newly_acked / self.cwnd
        self.cwnd = max(2 * self.segment, self.cwnd + step)
        self.record("wait", wait)

    def on_loss(self, loss):
        return self.cwnd / 2
