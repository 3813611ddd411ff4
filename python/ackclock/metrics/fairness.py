"""How evenly something is shared."""

import numpy as np
from numpy.typing import ArrayLike


def jain(shares: ArrayLike) -> float | None:
    """Jain's fairness index, ``(sum x)^2 / (n sum x^2)``.

    1 when all shares are equal, 1/n when one has everything. Source: Jain, Chiu, Hawe, DEC Research
    Report TR-301, 1984.

    Args:
        shares: Shares of the flows, none negative, in any unit; shape (n,).

    Returns:
        The index, or none if there is no share or all are 0.

    Example:
        >>> from ackclock.metrics import jain
        >>> jain([5.0, 5.0]), jain([10.0, 0.0])
        (1.0, 0.5)
    """
    x = np.asarray(shares, dtype=np.float64)
    largest = x.max(initial=0.0)
    if not largest > 0:
        return None
    scaled = x / largest  # the square of a tiny share must not vanish
    return float(scaled.sum() ** 2 / (x.size * np.dot(scaled, scaled)))
