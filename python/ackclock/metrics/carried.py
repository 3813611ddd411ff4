"""Rate of a link in windows, from its transmissions."""

import numpy as np
from numpy.typing import ArrayLike

from ackclock.arrays import Floats
from ackclock.errors import InputError
from ackclock.metrics.given import each_of, series_of
from ackclock.metrics.windows import window_edges


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
    ends = begins + bits / rates
    done = np.cumsum(bits)
    # The bits sent so far: rising during each transmission, level between two.
    knots = np.column_stack((begins, ends)).ravel()
    sent = np.column_stack((done - bits, done)).ravel()
    return edges, np.diff(np.interp(edges, np.maximum.accumulate(knots), sent)) / width_s
