"""The controller behind an environment: it does what the agent says, and counts."""

from __future__ import annotations

import ackclock


class Agent(ackclock.CongestionControl):
    """Keeps the window where the environment wants it, and adds up what ACKs report."""

    needs_rate = True
    owns_window = True
    tick_period = "1 ms"

    def __init__(self):  # noqa: ANN204
        self.wanted = None
        self.least_rtt = None
        self.last_rtt = None
        self.in_flight = 0.0
        self.seen_lost = 0
        self.started = False
        self.begin()

    def begin(self):  # noqa: ANN201
        """Begin to count anew."""
        self.acked = 0.0
        self.lost = 0
        self.rtt_sum = 0.0
        self.rtt_count = 0

    def follow(self):  # noqa: ANN201
        """Set the window that is wanted."""
        if self.wanted is not None:
            self.cwnd = self.wanted

    def on_start(self, event):  # noqa: ANN001, ANN201
        """Take the sender's initial window as the first."""
        self.started = True

    def on_sample(self, ack):  # noqa: ANN001, ANN201
        """Count an ACK."""
        self.acked += ack.newly_acked
        self.lost += ack.total_lost - self.seen_lost
        self.seen_lost = ack.total_lost
        self.in_flight = ack.in_flight
        if ack.rtt is not None:
            self.rtt_sum += ack.rtt
            self.rtt_count += 1
            self.last_rtt = ack.rtt
            self.least_rtt = ack.min_rtt
        self.follow()

    def on_ack(self, ack):  # noqa: ANN001, ANN201
        """Do as the environment wants."""
        self.follow()

    def on_loss(self, loss):  # noqa: ANN001, ANN201
        """Leave the answer to the agent."""
        self.follow()

    def on_state(self, change):  # noqa: ANN001, ANN201
        """Count losses that no ACK reports."""
        self.lost += change.total_lost - self.seen_lost
        self.seen_lost = change.total_lost
        self.follow()

    def on_undo(self, event):  # noqa: ANN001, ANN201
        """Leave the window where it is."""

    def on_idle(self, event):  # noqa: ANN001, ANN201
        """Take no notice of idle times."""
        self.follow()

    def on_tick(self, event):  # noqa: ANN001, ANN201
        """Do as the environment wants, if no ACK comes."""
        self.follow()
