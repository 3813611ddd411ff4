"""What many runs of a scenario say: quantiles with their sampling error, averages, tails."""

from __future__ import annotations

import math

import numpy as np

from ackclock.arrays import Floats
from ackclock.reproduce.report import Spread, Tolerance

STANDARD_ERRORS = 3.0
"""How many standard errors two samples of the same distribution may be apart."""


def quantile_error(values: Floats, level: float, other: int, figure: float) -> Tolerance:
    """Return how far a quantile of another sample may be from the quantile of this one.

    Args:
        values: our sample.
        level: which quantile, 0 to 1.
        other: size of the other sample.
        figure: its quantile. The two sides of a skewed distribution leave different room; that of
            the side on which the figure lies is returned.

    The number of values below a quantile is binomial, whatever the distribution.
    """
    error = _error(level, values.size, other)
    middle = float(np.quantile(values, level))
    side = level + (error if figure > middle else -error)
    room = abs(float(np.quantile(values, min(1.0, max(0.0, side)))) - middle)
    return Tolerance("sampling", absolute=room)


def share_error(share: float, size: int, other: int) -> Tolerance:
    """Return how far a share found in another sample may be from one found in ours."""
    return Tolerance("sampling", absolute=_error(share, size, other))


def _error(share: float, size: int, other: int) -> float:
    return STANDARD_ERRORS * math.sqrt(share * (1 - share) * (1 / size + 1 / other))


def averages(values: Floats, count: int) -> Spread:
    """Return the means of as many disjoint samples of `count` values as there are."""
    whole = values[: values.size // count * count].reshape(-1, count)
    return Spread(tuple(float(mean) for mean in whole.mean(axis=1)))


def tail_index(values: Floats, start: float, stop: float) -> float:
    """Return the power with which the probability of a larger value falls between two values."""
    above = [np.count_nonzero(values > limit) for limit in (start, stop)]
    if not above[1]:
        return math.inf
    return math.log(above[0] / above[1]) / math.log(stop / start)
