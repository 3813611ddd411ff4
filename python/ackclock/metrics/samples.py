"""Means of sampled series (round-trip times): each sample counts once, however far apart."""

import numpy as np

from ackclock.arrays import ArrayLike
from ackclock.errors import real_of
from ackclock.metrics.given import series_of


def sample_mean(
    time_s: ArrayLike,
    value: ArrayLike,
    start_s: float = -np.inf,
    end_s: float = np.inf,
) -> float | None:
    """Mean of the samples taken in ``[start_s, end_s]``; none if there is no sample.

    Args:
        time_s: Times of samples, seconds; shape (m,).
        value: The samples; shape (m,).
        start_s: Start of the span, seconds.
        end_s: End of the span, seconds.

    Example:
        >>> from ackclock.metrics import sample_mean
        >>> sample_mean([0.1, 0.2, 0.9], [20.0, 22.0, 50.0], end_s=0.5)
        21.0
    """
    times, values = series_of(time_s=time_s, value=value)
    inside = values[(times >= real_of("start_s", start_s)) & (times <= real_of("end_s", end_s))]
    return float(inside.mean()) if inside.size else None
