"""What a sender has out, and what it thinks of the round-trip time, from its packets."""

import numpy as np

from ackclock.arrays import ArrayLike, Floats
from ackclock.metrics.given import numbers_of, series_of

_GAIN = 1 / 8
"""RFC 6298 section 2.3."""


def outstanding(
    sent_s: ArrayLike, sent: ArrayLike, acked_s: ArrayLike, acked: ArrayLike
) -> tuple[Floats, Floats]:
    """Data sent and not yet acknowledged: FlightSize of RFC 5681, highest sent less acknowledged.

    What is retransmitted counts once. After a timeout the data count although they may be lost.

    Args:
        sent_s: When each packet was sent, seconds, ascending; shape (m,).
        sent: Where its data end, in bytes or packets from 0; shape (m,).
        acked_s: When each ACK came back, ascending; shape (k,).
        acked: Where the data end that it acknowledges; shape (k,).

    Returns:
        Times of changes in seconds, and what is out from then on, in the unit of the arguments.
    """
    there_s, there = series_of(ascending=True, sent_s=sent_s, sent=sent)
    back_s, back = series_of(ascending=True, acked_s=acked_s, acked=acked)
    times = np.union1d(there_s, back_s)
    return times, _highest(there_s, there, times) - _highest(back_s, back, times)


def smoothed_rtt(samples_s: ArrayLike) -> Floats:
    """SRTT after each sample of the round-trip time, by RFC 6298 section 2 with alpha 1/8.

    Args:
        samples_s: Samples in the order in which they were taken, seconds; shape (n,).

    Returns:
        Smoothed round-trip times in seconds, shape (n,).
    """
    samples = numbers_of("samples_s", samples_s).tolist()
    srtt = samples[0] if samples else 0.0
    return np.array([srtt := srtt + _GAIN * (sample - srtt) for sample in samples])


def _highest(at_s: Floats, values: Floats, times: Floats) -> Floats:
    """The highest of the values until each of these times; 0 before the first."""
    highest = np.concatenate(([0.0], np.maximum.accumulate(values)))
    return np.maximum(highest, 0.0)[np.searchsorted(at_s, times, side="right")]
