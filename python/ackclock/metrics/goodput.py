"""Useful data of a flow in a span of time."""

import numpy as np

from ackclock.arrays import Floats, Integers
from ackclock.errors import real_of
from ackclock.metrics.condense import Codes, Split, bins
from ackclock.metrics.given import require_time
from ackclock.metrics.series import HasPieces, HasTables, select

_WRAP = 1 << 32


def first_arrivals(results: HasTables, flow: str, kind: str = "data") -> Floats:
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


def arrival_counts(results: HasPieces, end_s: float) -> dict[str, tuple[Floats, Floats]]:
    """Count first arrivals of data packets at receivers, for tables too long for `first_arrivals`.

    Args:
        results: The run, with `packets` recorded.
        end_s: End of the run, seconds.

    Returns:
        For each flow times in seconds, ascending, and how many packets had arrived by then.
    """
    import pyarrow.compute as pc  # not needed by most who import the metrics

    columns = ("time_s", "flow", "event", "kind", "seq", "bytes")
    flows: dict[str, _Receiver] = {}
    counts: dict[str, Floats] = {}
    codes = Codes()
    places = None
    for piece in results.pieces("packets", columns):
        data = pc.and_(pc.equal(piece["event"], "received"), pc.equal(piece["kind"], "data"))  # pyrefly: ignore[missing-attribute]
        piece = piece.filter(data)
        time_s, seq = piece["time_s"].to_numpy(), piece["seq"].to_numpy()
        for (code,), rows in Split(codes.of(piece["flow"])[np.newaxis]):
            flow = str(codes.names[code])
            places = places or bins((0.0, end_s), len(codes.names))
            new = flows.setdefault(flow, _Receiver()).new(seq[rows])
            arrived = np.bincount(places.of(time_s[rows[new]]), minlength=places.count)
            counts[flow] = counts.get(flow, np.zeros(places.count)) + arrived
    edges = np.linspace(0.0, end_s, (places.count if places else 0) + 1)
    return {flow: (edges, np.concatenate(([0.0], np.cumsum(own)))) for flow, own in counts.items()}


_MEMORY = 1 << 16
"""Numbers below the greatest one that a receiver remembers; far more than a window has."""


class _Receiver:
    """Knows which numbers have arrived, of those within reach below the greatest one."""

    def __init__(self) -> None:
        self._seen = np.empty(0, np.int64)
        self._top = 0

    def new(self, seq: Integers) -> Integers:
        """Return which of these, in order of arrival, have not arrived before."""
        # Numbers of bytes are recorded modulo 2^32.
        full = seq + np.round((self._top - seq) / _WRAP).astype(np.int64) * _WRAP
        numbers, first = np.unique(full, return_index=True)
        fresh = ~np.isin(numbers, self._seen, assume_unique=True)
        if len(self._seen) == _MEMORY:
            fresh &= numbers > self._seen[0]
        self._seen = np.union1d(self._seen, numbers[fresh])[-_MEMORY:]
        self._top = int(self._seen[-1]) if len(self._seen) else self._top
        return np.sort(first[fresh])


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
        InputError: the span is empty, or an argument is not a number.
    """
    return _rate(first_arrivals(results, flow), segment_bytes, start_s, end_s)


def acked_bps(
    results: HasTables, flow: str, segment_bytes: int, start_s: float, end_s: float
) -> float:
    """Rate of data newly acknowledged in ``(start_s, end_s]``, bit/s, for one ACK a packet.

    The sender's view of `goodput_bps`, later by the way back. Counts each packet's first ACK.

    Args:
        results: The run, with records of `packets`.
        flow: Name of the flow.
        segment_bytes: Payload of a packet, bytes.
        start_s: Start of the span, seconds.
        end_s: Its end.

    Raises:
        InputError: there is no such flow, its packets were not recorded, or the span is empty.
    """
    return _rate(first_arrivals(results, flow, "ack"), segment_bytes, start_s, end_s)


def _rate(arrivals_s: Floats, segment_bytes: float, start_s: float, end_s: float) -> float:
    segment_bytes = real_of("segment_bytes", segment_bytes, above=0)
    require_time(start_s, end_s)
    first, last = np.searchsorted(arrivals_s, [start_s, end_s], side="right")
    return float((last - first) * segment_bytes * 8 / (end_s - start_s))
