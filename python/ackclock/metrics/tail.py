"""How heavy the upper tail of a sample is: whether a mean, or a variance, exists at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ackclock.arrays import ArrayLike, Flags, Floats
from ackclock.metrics.given import numbers_of, within

Verdict = Literal["exists", "none", "undecided"]

FEWEST = 160
"""Nothing is said about the tail of a sample of fewer values than this."""
FEWEST_ABOVE_ZERO = 41
"""Nor about that of one with fewer values above 0 than this."""

_SPAN = 8
"""An estimate averages over thresholds from the k-th largest value to the (k / 8)-th."""
_LEAST_SPAN = 2
_LEAST_K = FEWEST_ABOVE_ZERO - 1
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
    ``a sqrt(2 (r - 1 - log r) / k) / log r`` with r = 8 (less where the very largest values are
    all the same). It does not cover bias. Known limits:

    - A tail is seen only as far as the sample reaches. A lognormal one looks like a power law whose
      index grows slowly with n, and for a wide one no answer below a million values is right.
    - A tail that becomes a power law only far out gives too small an index: Lomax with 1.2 gives
      1.1 from 1000 values.
    - An index near 1 stays undecided for a long time: one of 0.9 needs some 10,000 values.

    Sources: Hill, Annals of Statistics 3(5), 1975; Resnick and Stărică, Advances in Applied
    Probability 29(1), 1997 (averaging); Boucheron and Thomas, Electronic Journal of Statistics
    9(2), 2015 (choice of k); Beirlant et al., Bernoulli 13(1), 2007 (values cut off).

    Args:
        value: The sample, shape (n,); NaN does not count. An upper tail is of values above 0.
        cut_off: Values of which is known only that they are larger, such as the ends of runs that
            ended before what they were to measure; shape (m,).
        level: Confidence level of `low` and `high`.

    Returns:
        The estimate, or none for fewer than `FEWEST` values, fewer than `FEWEST_ABOVE_ZERO` above
        0, or where all of the tail is cut off.
    """
    level = within(level, "confidence level")
    logs, whole, n = _descending(value, cut_off)
    if n < FEWEST or logs.size < FEWEST_ABOVE_ZERO:
        return None
    most = min(n // 4, int(2 * n ** (2 / 3)), logs.size - 1)
    # excess[k - 1] is G at the (k + 1)-th largest value, as a sum of terms that are not negative.
    rank = np.arange(1, logs.size)
    excess = np.cumsum(rank * -np.diff(logs))
    share = np.cumsum(whole)[:-1] / rank
    ks = np.unique(np.geomspace(_LEAST_K, most, _CANDIDATES).astype(np.int64))
    # Thresholds among largest values that are all the same say nothing.
    spread = np.flatnonzero(excess > 0)
    inner = np.maximum(ks // _SPAN, spread[0] + 1 if spread.size else n)
    usable = (ks >= _LEAST_SPAN * inner) & (share[ks - 1] > 0)
    usable[usable] = logs[inner[usable]] > logs[ks[usable]]
    ks, inner = ks[usable], inner[usable]
    if not ks.size:
        # Either there is no tail, or all of it is cut off.
        bounded = TailIndex(math.inf, 0.0, math.inf, math.inf, most, float(np.exp(logs[most])))
        return bounded if share[most - 1] == 1 else None
    gain = np.zeros(logs.size - 1)
    first = int(spread[0])
    gain[first + 1 :] = np.diff(np.log(excess[first:])) * share[first + 1 :]
    risen = np.cumsum(gain)
    estimates = (risen[ks - 1] - risen[inner - 1]) / (logs[inner] - logs[ks])
    errors = _relative_error(ks * share[ks - 1], ks / inner)
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


def _descending(value: ArrayLike, cut_off: ArrayLike | None) -> tuple[Floats, Flags, int]:
    """Logarithms of what is above 0, largest first; which are not cut off; size of the sample."""
    known = numbers_of("value", value)
    cut = numbers_of("cut_off", [] if cut_off is None else cut_off)
    both = np.concatenate((known, cut))
    whole = np.concatenate((np.ones(known.size, np.bool_), np.zeros(cut.size, np.bool_)))
    finite = np.isfinite(both)
    above = finite & (both > 0)
    order = np.argsort(-both[above], kind="stable")
    return np.log(both[above][order]), whole[above][order], int(finite.sum())


def _relative_error(count: Floats, span: Floats) -> Floats:
    return np.sqrt(2 * (span - 1 - np.log(span)) / count) / np.log(span)


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
