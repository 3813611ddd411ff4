"""How heavy the upper tail of a sample is: whether a mean, or a variance, exists at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Verdict = Literal["exists", "none", "undecided"]

FEWEST = 160
"""Values above 0 below which nothing is said about a tail."""

_SPAN = 8
"""An estimate averages over thresholds from the k-th largest value to the (k / 8)-th."""
_LEAST_K = 40
_CANDIDATES = 200


@dataclass(frozen=True)
class TailIndex:
    """Estimate of the a in ``P(X > x) ~ x^-a``; moments of order a and above do not exist.

    Attributes:
        value: The estimate; infinite where the largest values are all the same.
        standard_error: Of the estimate, for the `k` chosen.
        low: Lower end of its confidence interval.
        high: Upper end.
        k: How many of the largest values it rests on.
        threshold: The value that these exceed.
    """

    value: float
    standard_error: float
    low: float
    high: float
    k: int
    threshold: float

    def moment(self, order: float) -> Verdict:
        """Whether the moment of this order exists: 1 for the mean, 2 for the variance.

        `undecided` when `order` lies in the confidence interval.
        """
        if self.high < order:
            return "none"
        return "exists" if self.low > order else "undecided"


def tail_index(
    value: ArrayLike, cut_off: ArrayLike | None = None, level: float = 0.95
) -> TailIndex | None:
    """Tail index by Hill's estimator, averaged over thresholds.

    Hill's estimator for the threshold u is ``N(u) / G(u)``: the number of values above u, over the
    sum of ``log(x / u)`` of these values. Where waits double, values come in steps of a factor of
    two, and the estimate at one threshold swings by a factor of two as the threshold moves across a
    step. So it is averaged over log u from the k-th to the (k/8)-th largest value, which for a tail
    index near 1 is a factor of 8 and thus three steps. The mean over whole steps is exact.

    k is the largest for which the estimate agrees with those of all smaller k, up to the noise that
    is to be expected (Lepski's rule), but at most ``2 n^(2/3)`` and n/4: beyond that rate bias
    outweighs noise where the tail differs from a power law as that of most models does (Hall 1982).

    The standard error for a power law follows from independent exponential spacings:
    ``a sqrt(2 (r - 1 - log r) / k) / log r`` with r = 8. It does not cover bias. Known limits:

    - A tail is seen only as far as the sample reaches. A lognormal one looks like a power law whose
      index grows slowly with n, and for a wide one no answer below a million values is right.
    - Nearly powers of a law, such as Lomax, give too small an index, by up to a tenth near 1.
    - An index near 1 stays undecided for a long time: one of 0.9 needs some 10,000 values.

    Sources: Hill, Annals of Statistics 3(5), 1975; Resnick and Stărică, Advances in Applied
    Probability 29(1), 1997 (averaging); Boucheron and Thomas, Electronic Journal of Statistics
    9(2), 2015 (choice of k); Beirlant et al., Bernoulli 13(1), 2007 (values cut off).

    Args:
        value: The sample, shape (n,). What is not above 0 does not count, nor what is NaN.
        cut_off: Values of which is known only that they are larger, such as the ends of runs that
            ended before what they were to measure; any shape.
        level: Confidence level of `low` and `high`.

    Returns:
        The estimate, or none for fewer than `FEWEST` values above 0.
    """
    logs, whole = _descending(value, cut_off)
    n = logs.size
    if n < FEWEST:
        return None
    most = min(n // 4, int(2 * n ** (2 / 3)))
    # excess[k - 1] is G at the (k + 1)-th largest value, as a sum of terms that are not negative.
    rank = np.arange(1, n)
    excess = np.cumsum(rank * -np.diff(logs))
    share = np.cumsum(whole)[:-1] / rank
    ks = np.unique(np.geomspace(_LEAST_K, most, _CANDIDATES).astype(np.int64))
    inner = ks // _SPAN
    usable = (excess[inner - 1] > 0) & (logs[inner] > logs[ks]) & (share[ks - 1] > 0)
    ks, inner = ks[usable], inner[usable]
    if not ks.size:
        return TailIndex(math.inf, 0.0, math.inf, math.inf, most, float(np.exp(logs[most])))
    gain = np.zeros(n - 1)
    first = int(np.argmax(excess > 0))
    gain[first + 1 :] = np.diff(np.log(excess[first:])) * share[first + 1 :]
    risen = np.cumsum(gain)
    estimates = (risen[ks - 1] - risen[inner - 1]) / (logs[inner] - logs[ks])
    errors = _relative_error(ks * share[ks - 1])
    place = _largest_in_accord(estimates, errors, n)
    estimate, error = float(estimates[place]), float(estimates[place] * errors[place])
    reach = _normal_quantile(level) * error
    return TailIndex(
        estimate,
        error,
        max(0.0, estimate - reach),
        estimate + reach,
        int(ks[place]),
        float(np.exp(logs[ks[place]])),
    )


def _descending(value: ArrayLike, cut_off: ArrayLike | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Logarithms of what is above 0, largest first, and which of them are not cut off."""
    known = np.asarray(value, dtype=np.float64).ravel()
    cut = np.asarray([] if cut_off is None else cut_off, dtype=np.float64).ravel()
    both = np.concatenate((known, cut))
    whole = np.concatenate((np.ones(known.size, np.bool_), np.zeros(cut.size, np.bool_)))
    keep = (both > 0) & np.isfinite(both)
    order = np.argsort(-both[keep], kind="stable")
    return np.log(both[keep][order]), whole[keep][order]


def _relative_error(count: Floats) -> Floats:
    return np.sqrt(2 * (_SPAN - 1 - math.log(_SPAN)) / count) / math.log(_SPAN)


def _largest_in_accord(estimates: Floats, errors: Floats, n: int) -> int:
    """Place of the last estimate that agrees with all before it."""
    reach = math.sqrt(2.1 * math.log(math.log(n))) * errors
    low = np.maximum.accumulate(estimates * (1 - reach))
    high = np.minimum.accumulate(estimates * (1 + reach))
    astray = (estimates < low) | (estimates > high)
    return int(np.argmax(astray)) - 1 if astray.any() else estimates.size - 1


def _normal_quantile(level: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)
