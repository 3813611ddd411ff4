"""Measures of a run: pure functions on arrays, and series of a run as arrays.

Means of queues and windows are time-weighted, means of round-trip times are over samples. Units are
seconds, bytes and bit/s unless a name says otherwise. Arrays may be lists, or columns of pandas or
Arrow; what is no array of numbers raises an `InputError`.
"""

from ackclock.metrics.delays import queueing_s, variations_s
from ackclock.metrics.fairness import alpha_mean, even_after, harm, jain, max_min
from ackclock.metrics.goodput import acked_bps, first_arrivals, goodput_bps
from ackclock.metrics.samples import sample_mean
from ackclock.metrics.segments import (
    Arrivals,
    Segments,
    flow_arrivals,
    flow_segments,
    new_bytes,
)
from ackclock.metrics.senders import outstanding, smoothed_rtt
from ackclock.metrics.series import (
    HasTables,
    cwnd_series,
    drop_times,
    packet_series,
    queue_series,
    rtt_series,
    select,
    transmission_series,
)
from ackclock.metrics.steps import step_at, step_mean, step_range
from ackclock.metrics.windows import (
    sliding_rates,
    window_edges,
    windowed_counts,
    windowed_rates,
    windowed_sums,
)

__all__ = [
    "Arrivals",
    "HasTables",
    "Segments",
    "acked_bps",
    "alpha_mean",
    "cwnd_series",
    "drop_times",
    "even_after",
    "first_arrivals",
    "flow_arrivals",
    "flow_segments",
    "goodput_bps",
    "harm",
    "jain",
    "max_min",
    "new_bytes",
    "outstanding",
    "packet_series",
    "queue_series",
    "queueing_s",
    "rtt_series",
    "sample_mean",
    "select",
    "sliding_rates",
    "smoothed_rtt",
    "step_at",
    "step_mean",
    "step_range",
    "transmission_series",
    "variations_s",
    "window_edges",
    "windowed_counts",
    "windowed_rates",
    "windowed_sums",
]
