"""How long packets take, and where the time goes."""

from collections.abc import Sequence

import numpy as np

from ackclock.arrays import Floats
from ackclock.errors import must_have
from ackclock.metrics.given import numbers_of
from ackclock.metrics.segments import Segments


def queueing_s(segments: Segments, hops: Sequence[tuple[float, float]]) -> Floats:
    """Time that each segment waited in buffers on its way, its own transmissions not included.

    What a segment needs in an empty network is taken off the time that it needed. Valid while the
    path is the same for all, and links keep their rates and delays.

    Args:
        segments: Data packets of a flow.
        hops: Rate in bit/s and propagation delay in seconds of each link of the path.

    Returns:
        Seconds, one for each segment that arrived, in the order in which they were sent.
    """
    must_have(segments, "arrived_s", "sent_s", "size_bytes", name="segments", wanted="`Segments`")
    arrived = ~np.isnan(segments.arrived_s)
    needed = segments.arrived_s[arrived] - segments.sent_s[arrived]
    bits = segments.size_bytes[arrived] * 8.0
    for rate_bps, delay_s in numbers_of("hops", hops, width=2):
        needed = needed - bits / rate_bps - delay_s
    return np.maximum(needed, 0.0)  # not below 0 by rounding


def variations_s(delays: Floats) -> Floats:
    """Jitter: how much the one-way delays of packets that follow each other differ.

    The size of the IP packet delay variation of RFC 3393, of each packet and the one before it, as
    the flow monitor of ns-3 counts it.

    Args:
        delays: One-way delays in the order of arrival, seconds; shape (n,).

    Returns:
        Seconds, shape (n - 1,); empty for less than two packets.

    Example:
        >>> import numpy as np
        >>> from ackclock.metrics import variations_s
        >>> variations_s(np.array([0.5, 0.75, 0.25])).tolist()
        [0.25, 0.5]
    """
    return np.abs(np.diff(numbers_of("delays", delays)))
