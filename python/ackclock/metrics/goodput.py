"""Useful data of a flow in a span of time."""

import numpy as np
from numpy.typing import NDArray

from ackclock.metrics.series import HasTables, select


def first_arrivals(results: HasTables, flow: str, kind: str = "data") -> NDArray[np.float64]:
    """Times at which each data packet of a flow (or the ACK of it) first arrived, ascending.

    Args:
        results: The run, with `packets` recorded.
        flow: Name of the flow.
        kind: `data` at the receiver, or `ack` at the sender.

    Returns:
        Seconds, one time per packet that arrived, whatever the order of numbers.
    """
    time_s, seq = select(
        results, "packets", ("time_s", "seq"), flow=flow, event="received", kind=kind
    )
    _, first = np.unique(seq, return_index=True)
    return np.sort(time_s[first])


def goodput_bps(
    results: HasTables, flow: str, segment_bytes: int, start_s: float, end_s: float
) -> float:
    """Rate of new data that reached the receiver in ``(start_s, end_s]``, bit/s.

    Counts each data packet once, at its first arrival, whatever its order; headers do not count.

    Args:
        results: The run, with `packets` recorded.
        flow: Name of the flow.
        segment_bytes: Payload of a data packet, bytes.
        start_s: Start of the span, seconds.
        end_s: End of the span, seconds; above `start_s`.

    Raises:
        ValueError: the span is empty.
    """
    return _rate(first_arrivals(results, flow), segment_bytes, start_s, end_s)


def acked_bps(
    results: HasTables, flow: str, segment_bytes: int, start_s: float, end_s: float
) -> float:
    """Rate of data newly acknowledged in ``(start_s, end_s]``, bit/s, for one ACK a packet.

    The sender's view of `goodput_bps`, later by the way back. Counts each packet's first ACK.
    """
    return _rate(first_arrivals(results, flow, "ack"), segment_bytes, start_s, end_s)


def _rate(
    arrivals_s: NDArray[np.float64], segment_bytes: int, start_s: float, end_s: float
) -> float:
    if not end_s > start_s:
        raise ValueError(f"there is no time between {start_s} s and {end_s} s to average over")
    first, last = np.searchsorted(arrivals_s, [start_s, end_s], side="right")
    return float((last - first) * segment_bytes * 8 / (end_s - start_s))
