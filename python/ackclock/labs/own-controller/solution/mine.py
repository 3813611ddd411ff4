"""Keeps the wait in queues short, and answers to losses alone while others fill the queue."""

import ackclock

PATIENCE = 30.0  # seconds for which somebody who fills queues is expected to stay


class Mine(ackclock.CongestionControl):
    def __init__(self, target=0.3):
        self.target = target  # wait in minimum round-trip times at which it slows down
        self.filled_until = 0.0  # somebody fills the queue until then
        self.cut_again = 0.0
        self.cuts = 0  # cuts in a row that did not make the queue shorter

    def on_ack(self, ack):
        if ack.rtt is None or not ack.may_grow:
            return
        wait = ack.rtt - ack.min_rtt
        if wait < self.target * ack.min_rtt:
            self.cuts = 0
        elif ack.now >= max(self.filled_until, self.cut_again):
            self.cuts += 1
            if self.cuts > 5:
                self.filled_until = ack.now + PATIENCE
            else:
                # A reduction shows after a round trip.
                self.ssthresh = self.cwnd = max(2 * self.segment, 0.7 * self.cwnd)
                self.cut_again = ack.now + 2 * ack.rtt
            return
        if self.in_slow_start:
            self.cwnd += ack.newly_acked
        else:
            self.cwnd += self.segment * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        self.filled_until = self.now + PATIENCE
        return 0.7 * self.cwnd
