"""Sums, counts and rates of point events in windows of equal width.

A window k covers ``[start + k width, start + (k + 1) width)``. All windows are returned, empty ones
with 0: a series that skips idle windows draws a line through time in which nothing happened. The
last window is always a whole one and may reach beyond `end_s`; events after `end_s` do not count.
An event at `end_s` itself counts in the last window.
"""

import math

import numpy as np

from ackclock.arrays import ArrayLike, Floats, Integers
from ackclock.errors import InputError, real_of
from ackclock.metrics.given import each_of, numbers_of

# Times are whole nanoseconds; the rounding of floats must not move an event over an edge.
_HALF_NS = 0.5e-9
_MOST = 1e8
"""Windows that fit into memory."""


def window_edges(start_s: float, end_s: float, width_s: float) -> Floats:
    """Edges of the windows that cover ``[start_s, end_s]``.

    Args:
        start_s: Start of the first window, seconds.
        end_s: Time to be covered, seconds; not before `start_s`.
        width_s: Width of a window, seconds; above 0.

    Returns:
        n + 1 edges in seconds for n windows; at least one window.

    Raises:
        InputError: `width_s` is not above 0, or `end_s` is before `start_s`.

    Example:
        >>> from ackclock.metrics import window_edges
        >>> window_edges(0.0, 1.0, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    span_s = real_of("end_s", end_s) - real_of("start_s", start_s)
    if span_s < 0:
        raise InputError(f"windows cannot end ({end_s} s) before they start ({start_s} s)")
    # A span of a whole number of widths must not get another window from a rounding error.
    require_few("width_s", span_s, width_s)
    count = max(1, math.ceil(span_s / width_s - 1e-9))
    return np.asarray(start_s + width_s * np.arange(count + 1), dtype=np.float64)


def require_few(name: str, span_s: float, width_s: float) -> None:
    """Check that windows have a width, which this argument gives, and that they are not too many.

    Raises:
        InputError: they have none, or they are.
    """
    real_of(name, width_s, above=0)
    if not (math.isfinite(width_s) and math.isfinite(span_s)):
        raise InputError(f"{span_s} s in windows of {width_s} s: both must be finite")
    if span_s > _MOST * width_s:
        raise InputError(
            f"{span_s} s are more than {_MOST:g} windows of {width_s} s; choose a larger `{name}`"
        )


def windowed_sums(
    time_s: ArrayLike, amount: ArrayLike, start_s: float, end_s: float, width_s: float
) -> tuple[Floats, Floats]:
    """Sum of the amounts of the events in each window.

    Args:
        time_s: Times of events, seconds, in any order; shape (m,).
        amount: Amount of each event, shape (m,), or one number for all.
        start_s: Start of the first window.
        end_s: End of the time to be covered.
        width_s: Width of a window.

    Returns:
        Edges (n + 1) and sums (n).

    Example:
        >>> from ackclock.metrics import windowed_sums
        >>> edges, sums = windowed_sums([0.1, 0.2, 0.7], [3.0, 4.0, 5.0], 0.0, 1.0, 0.5)
        >>> sums.tolist()
        [7.0, 5.0]
    """
    edges = window_edges(start_s, end_s, width_s)
    times = numbers_of("time_s", time_s, gaps=False)
    amounts = each_of("amount", amount, len(times))
    inside = (times >= start_s) & (times <= end_s)
    # An event at the very end belongs to the last window.
    after = np.searchsorted(edges, times[inside] + _HALF_NS, side="right")
    place = np.minimum(after - 1, edges.size - 2)
    sums = np.bincount(place, weights=amounts[inside], minlength=edges.size - 1)
    return edges, sums.astype(np.float64)


def windowed_counts(
    time_s: ArrayLike, start_s: float, end_s: float, width_s: float
) -> tuple[Floats, Integers]:
    """Events (for example losses) in each window; one at `end_s` itself counts in the last.

    Args:
        time_s: Times of the events, seconds; shape (m,).
        start_s: Start of the first window.
        end_s: End of the time to be covered.
        width_s: Width of a window.

    Returns:
        Edges in seconds (n + 1) and counts (n).

    Raises:
        InputError: the width is not above 0, the end lies before the start, or there would be too
            many windows.

    Example:
        >>> from ackclock.metrics import windowed_counts
        >>> edges, losses = windowed_counts([0.1, 0.2, 0.7], 0.0, 1.0, 0.5)
        >>> losses.tolist()
        [2, 1]
    """
    edges, sums = windowed_sums(time_s, 1.0, start_s, end_s, width_s)
    return edges, sums.astype(np.int64)


def windowed_rates(
    time_s: ArrayLike, size_bytes: ArrayLike, start_s: float, end_s: float, width_s: float
) -> tuple[Floats, Floats]:
    """Rate in each window: bits of the packets in the window over its width.

    Args:
        time_s: Times of packets, seconds; shape (m,).
        size_bytes: Their sizes in bytes, shape (m,), or one size for all.
        start_s: Start of the first window.
        end_s: End of the time to be covered.
        width_s: Width of a window; the Caltech paper (Bhasin, Luo, Su, Yang 2015) uses 0.1 s.

    Returns:
        Edges in seconds (n + 1) and rates in bit/s (n).

    Example:
        >>> from ackclock.metrics import windowed_rates
        >>> edges, rates = windowed_rates([0.1, 0.2, 0.7], 1500, 0.0, 1.0, 0.5)
        >>> rates.tolist()
        [48000.0, 24000.0]
    """
    sizes = each_of("size_bytes", size_bytes, len(numbers_of("time_s", time_s)))
    edges, sums = windowed_sums(time_s, sizes, start_s, end_s, width_s)
    return edges, sums * 8.0 / width_s


def sliding_rates(
    time_s: ArrayLike,
    size_bytes: ArrayLike,
    end_s: float,
    reach_s: float = 1.0,
    every_s: float = 0.1,
) -> tuple[Floats, Floats]:
    """Rate over the time just past, as in the labs of BYU CS 460 (2014 to 2016).

    At each time t: the bits of the packets in ``(t - reach_s, t]`` over `reach_s`. The span is cut
    at time 0, so that before `reach_s` the result is the mean since time 0: it keeps climbing after
    a pause at the start, however constant the rate is.

    Args:
        time_s: Times of packets, seconds; shape (m,).
        size_bytes: Their sizes in bytes, shape (m,), or one size for all.
        end_s: Last time, seconds.
        reach_s: How far the span reaches back.
        every_s: Distance of the times; the first one is `every_s`.

    Returns:
        Times in seconds (n) and rates in bit/s (n).
    """
    at = window_edges(0.0, end_s, every_s)[1:]
    at = at[at <= end_s * (1 + 1e-9)]
    times = numbers_of("time_s", time_s, gaps=False)
    order = np.argsort(times, kind="stable")
    bits = each_of("size_bytes", size_bytes, len(times))[order] * 8.0
    done = np.concatenate(([0.0], np.cumsum(bits)))
    begin = np.maximum(at - real_of("reach_s", reach_s, above=0), 0.0)
    last = np.searchsorted(times[order], at + _HALF_NS, side="right")
    first = np.searchsorted(times[order], begin + _HALF_NS, side="right")
    first[begin == 0.0] = 0  # a packet at time 0 counts
    return at, (done[last] - done[first]) / (at - begin)
