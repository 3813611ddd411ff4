"""Rate of a link in windows, from its transmissions."""

from collections.abc import Callable

import numpy as np

from ackclock.arrays import ArrayLike, Floats
from ackclock.errors import InputError
from ackclock.metrics.given import each_of, series_of
from ackclock.metrics.windows import window_edges

_NS = 1e-9


def windowed_link_rates(
    start_times_s: ArrayLike,
    size_bytes: ArrayLike,
    rate_bps: ArrayLike,
    start_s: float,
    end_s: float,
    width_s: float,
) -> tuple[Floats, Floats]:
    """Bits that a link put on the wire in each window, over the width of the window.

    A transmission counts in the windows it lasts in, in proportion: a link that never pauses shows
    exactly its rate in every window, however long a packet takes compared with a window.

    Args:
        start_times_s: When each transmission began, seconds, ascending, none before the end of the
            one before; shape (m,).
        size_bytes: Size of each packet on the wire, bytes; shape (m,).
        rate_bps: Rate of the link, bit/s; above 0. Of a link that changes, the rate of each
            transmission; shape (m,).
        start_s: Start of the first window.
        end_s: End of the time to be covered; the last window may reach beyond it.
        width_s: Width of a window.

    Returns:
        Edges in seconds (n + 1) and rates in bit/s (n).

    Raises:
        InputError: a rate or width that is not above 0, or an end before the start.
    """
    edges = window_edges(start_s, end_s, width_s)
    begins, size = series_of(ascending=True, start_times_s=start_times_s, size_bytes=size_bytes)
    rates, bits = each_of("rate_bps", rate_bps, len(begins)), size * 8.0
    if not np.all(rates > 0):
        raise InputError(f"the rate of a link must be above 0 bit/s, not {rate_bps}")
    if not begins.size:
        return edges, np.zeros(edges.size - 1)
    return edges, _between(edges, begins, begins + bits / rates, bits) / width_s


def windowed_rule_rates(
    start_times_s: ArrayLike,
    size_bytes: ArrayLike,
    offered: Callable[[Floats], Floats],
    start_s: float,
    end_s: float,
    width_s: float,
) -> tuple[Floats, Floats]:
    """The same of a link whose rate follows a rule, also during a transmission.

    Args:
        start_times_s: As of `windowed_link_rates`.
        size_bytes: Likewise.
        offered: Gives the bits that the link could have sent up to each of some times, seconds.
        start_s: Likewise.
        end_s: Likewise.
        width_s: Likewise.

    Returns:
        Edges in seconds (n + 1) and rates in bit/s (n).

    Raises:
        InputError: a width that is not above 0, or an end before the start.
    """
    edges = window_edges(start_s, end_s, width_s)
    begins, size = series_of(ascending=True, start_times_s=start_times_s, size_bytes=size_bytes)
    if not begins.size:
        return edges, np.zeros(edges.size - 1)
    # In bits offered instead of seconds, every transmission proceeds at the same rate. One that
    # waited uses what the one before it left of this moment.
    bits = size * 8.0
    done = np.cumsum(bits)
    earliest = offered(np.maximum(begins - _NS, 0.0))
    ends = done + np.maximum.accumulate(earliest - (done - bits))
    return edges, _between(offered(edges), ends - bits, ends, bits) / width_s


def _between(edges: Floats, begins: Floats, ends: Floats, bits: Floats) -> Floats:
    """Bits of transmissions between neighbouring edges."""
    done = np.cumsum(bits)
    # The bits sent so far: rising during each transmission, level between two.
    knots = np.column_stack((begins, ends)).ravel()
    sent = np.column_stack((done - bits, done)).ravel()
    return np.diff(np.interp(edges, np.maximum.accumulate(knots), sent))
