"""Statistics over replications: quantiles, shares and means, each with a confidence interval.

What never happened in a replication, such as the end of a transfer that was not finished, is NaN in
a sample. It is not a number to average: quantiles count it as later than everything (or below
everything), means leave it out, and the result says how often it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ackclock.arrays import ArrayLike, Floats
from ackclock.errors import (
    InputError,
    flag_of,
    listed,
    must_have,
    one_of,
    refuse,
    several,
    whole_number,
)
from ackclock.extras import load
from ackclock.metrics.given import numbers_of, within
from ackclock.metrics.tail import FEWEST, FEWEST_ABOVE_ZERO, TailIndex, Verdict, tail_index

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of a summary."""

LEVEL = 0.95
"""Default confidence level of intervals."""

MOST_RESAMPLED = 10_000
"""Means of more values get no bootstrap interval; it would hardly differ from that by t."""

_COUNTED = {
    "above": "quantiles count them as infinite",
    "below": "quantiles count them as 0",
    "left-out": "quantiles leave them out",
}
"""What is done with replications without a value, by its word."""

_RESAMPLES = 2_000
_MOST_DRAWS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Interval:
    """A confidence interval; infinite ends where nothing bounds it."""

    low: float
    high: float


@dataclass(frozen=True)
class Quantile:
    """A quantile and its distribution-free confidence interval.

    Attributes:
        share: Which one: 0.5 is the median.
        value: The least value that at least this share of the replications does not exceed.
            Infinite where these include replications in which it never happened.
        low: Lower end of the interval.
        high: Upper end.
        low_rank: Which of the values in ascending order, from 1, the lower end is; none where the
            sample is too small to bound the quantile from below (`low` is then minus infinity).
        high_rank: The same of the upper end (`high` is then infinity).
    """

    share: float
    value: float
    low: float
    high: float
    low_rank: int | None
    high_rank: int | None


@dataclass(frozen=True)
class Share:
    """A share of replications with its Wilson interval."""

    count: int
    total: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Mean:
    """A mean and what it is worth.

    Attributes:
        value: The mean of the sample, which is a number even where no mean exists.
        count: How many values it averages.
        exists: What the tail index says. With `none`, do not quote the value: it is an accident of
            the largest few values, and grows without limit with the number of replications.
        variance: The same of the variance. Without one, both intervals are too narrow.
        by_t: Interval by Student's t; none for fewer than two values.
        by_bootstrap: Interval by the bootstrap (BCa), which follows skewness; none for fewer than
            two values and for more than `MOST_RESAMPLED`.
    """

    value: float
    count: int
    exists: Verdict
    variance: Verdict
    by_t: Interval | None
    by_bootstrap: Interval | None


@dataclass(frozen=True)
class Statistics:
    """What replications say about one quantity.

    Attributes:
        count: Replications.
        missing: Those in which it never happened.
        quantiles: At `SHARES`; empty without replications that count.
        mean: Mean over the others; none if there are none.
        tail: Index of the upper tail of the others; none where they are too few.
        level: Confidence level of all intervals.
        notes: Sentences without which the numbers would mislead.
    """

    count: int
    missing: Share
    quantiles: tuple[Quantile, ...]
    mean: Mean | None
    tail: TailIndex | None
    level: float
    notes: tuple[str, ...]

    def quantile(self, share: float) -> Quantile:
        """Return one of the quantiles.

        Args:
            share: One of those that were computed: 0.05, 0.25, 0.5, 0.75 and 0.95, or what
                was given as `shares`.

        Raises:
            InputError: it was not computed.
        """
        share = within(share, "share")
        for quantile in self.quantiles:
            if math.isclose(quantile.share, share):
                return quantile
        known = listed([f"{quantile.share:g}" for quantile in self.quantiles])
        raise InputError(
            f"{share:g} is not among the quantiles of this summary ({known or 'it has none'}); "
            f"ask for it with `shares=[{share:g}]`"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as a document of plain values.

        Where no mean exists its value and intervals are left out (null): a program would take them
        for facts as readily as people do.
        """
        from dataclasses import asdict

        document = asdict(self)
        if self.mean is not None and self.mean.exists == "none":
            document["mean"] |= {"value": None, "by_t": None, "by_bootstrap": None}
        return document


def summarize(
    value: ArrayLike,
    *,
    missing: Literal["above", "below", "left-out"] = "above",
    cut_off: ArrayLike | None = None,
    shares: Sequence[float] = SHARES,
    level: float = LEVEL,
) -> Statistics:
    """Compute all statistics of one quantity.

    The same sample always gives the same result, the bootstrap included.

    Args:
        value: One value a replication, NaN where it never happened; shape (n,).
        missing: What quantiles make of NaN: `above` counts it as infinite (a time that never came),
            `below` as 0 (a rate that never was; links bound rates, so they have a mean, and no
            tail index), `left-out` takes quantiles of the others only.
        cut_off: Lower bounds of values that are NaN only because a replication was ended, for the
            tail index.
        shares: Which quantiles, each between 0 and 1.
        level: Confidence level of all intervals.

    Raises:
        InputError: a share or level that is not between 0 and 1.
    """
    one_of("missing", missing, _COUNTED)
    if (wanted := several(shares)) is None:
        refuse("shares", shares, "a list of shares, such as [0.5, 0.95]")
    sample = numbers_of("value", value)
    found = sample[~np.isnan(sample)]
    lost = sample.size - found.size
    ordered = np.sort(found)
    if missing == "above":
        ordered = np.concatenate((ordered, np.full(lost, np.inf)))
    elif missing == "below":
        ordered = np.concatenate((np.zeros(lost), ordered))
    bounded = missing == "below"
    tail = None if bounded else tail_index(found, cut_off, level)
    return Statistics(
        sample.size,
        wilson(lost, sample.size, level),
        tuple(_quantile(ordered, share, level) for share in wanted) if ordered.size else (),
        mean(found, tail, level, bounded=bounded) if found.size else None,
        tail,
        level,
        tuple(_notes(missing, lost, sample.size, tail, found)),
    )


def quantile(value: ArrayLike, share: float, level: float = LEVEL) -> Quantile:
    """One quantile with its confidence interval.

    The quantile is a value of the sample, never one between two: the inverse of the empirical
    distribution function. The interval goes from one order statistic to another; their ranks follow
    from the binomial distribution alone, so it holds for any distribution, with a probability of at
    least `level`, steps and infinite values included. Source: David and Nagaraja, Order Statistics,
    2003, section 7.1.

    Args:
        value: The sample, infinite values allowed, NaN not; shape (n,), n at least 1.
        share: Which quantile, between 0 and 1.
        level: Confidence level.

    Raises:
        InputError: an empty sample, NaN, a share or level that is not between 0 and 1.
    """
    ordered = np.sort(numbers_of("value", value))
    if not ordered.size or np.isnan(ordered[-1]):
        raise InputError("a quantile needs values, and none that is NaN")
    return _quantile(ordered, share, level)


def _quantile(ordered: Floats, share: float, level: float) -> Quantile:
    share, level = within(share, "share"), within(level, "confidence level")
    n = ordered.size
    # A product that is whole but for rounding must not be rounded up.
    rank = max(1, math.ceil(n * share * (1 - 1e-12)))
    low, high = _bounding_ranks(n, share, level)
    return Quantile(
        share,
        float(ordered[rank - 1]),
        float(ordered[low - 1]) if low >= 1 else -math.inf,
        float(ordered[high - 1]) if high <= n else math.inf,
        low if low >= 1 else None,
        high if high <= n else None,
    )


@lru_cache(maxsize=1024)  # the columns of a table have equally many values
def _bounding_ranks(n: int, share: float, level: float) -> tuple[int, int]:
    """Ranks of the ends of a quantile's interval; 0 and n + 1 where the sample does not reach."""
    low, high = (_binomial_quantile((1 + side * level) / 2, n, share) for side in (-1, 1))
    return low, high + 1


def _binomial_quantile(probability: float, n: int, share: float) -> int:
    """Return what `scipy.stats.binom.ppf` does, which takes long to load."""
    # By name: a checker of types would follow all of SciPy, for longer than all the rest.
    special = load("scipy.special")
    count = math.ceil(special.bdtrik(probability, n, share))
    # What is as likely but for rounding is likely enough.
    enough = probability * (1 - 1e-12)
    return count - 1 if count > 0 and special.bdtr(count - 1, n, share) >= enough else count


def wilson(count: int, total: int, level: float = LEVEL) -> Share:
    """A share and its confidence interval, which is sensible for 0 of n and n of n as well.

    Source: Wilson, Journal of the American Statistical Association 22, 1927.

    Args:
        count: How many have the property.
        total: Of how many; with 0 nothing is known, and the interval is all of 0 to 1.
        level: Confidence level.

    Raises:
        InputError: a count that is not between 0 and `total`.
    """
    from statistics import NormalDist

    level = within(level, "confidence level")
    count, total = whole_number("count", count), whole_number("total", total)
    if not 0 <= count <= total:
        raise InputError(f"{count} of {total} is not a share")
    if total == 0:
        return Share(0, 0, math.nan, 0.0, 1.0)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = count / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    reach *= z / (1 + z * z / total)
    # At the ends the formula gives exactly 0 and 1, but for rounding.
    low = 0.0 if count == 0 else max(0.0, centre - reach)
    high = 1.0 if count == total else min(1.0, centre + reach)
    return Share(count, total, share, low, high)


def mean(
    value: ArrayLike,
    tail: TailIndex | None = None,
    level: float = LEVEL,
    *,
    bounded: bool = False,
) -> Mean:
    """Mean with confidence intervals, and whether there is one.

    Args:
        value: Finite values; shape (n,), n at least 1.
        tail: The tail index of the population; without one nothing is decided, unless all values
            are the same.
        level: Confidence level of the intervals.
        bounded: No value can be above some bound, so a mean exists.

    Raises:
        InputError: an empty sample, a value that is not finite.
    """
    level = within(level, "confidence level")
    sample = numbers_of("value", value)
    if not sample.size or not np.isfinite(sample).all():
        raise InputError("a mean needs values, all of them finite")
    n = sample.size
    alike = bool(sample.min() == sample.max())
    average = float(sample[0]) if alike else float(sample.mean())
    by_bootstrap = None
    if 2 <= n <= MOST_RESAMPLED:
        by_bootstrap = Interval(average, average) if alike else _bca(sample, average, level)
    if tail is not None:
        must_have(tail, "moment", name="tail", wanted="what `tail_index` returns")
        exists, variance = tail.moment(1), tail.moment(2)
    else:
        exists = variance = (
            "exists" if flag_of("bounded", bounded) or (alike and n >= 2) else "undecided"
        )
    return Mean(average, n, exists, variance, t_interval(sample, level), by_bootstrap)


def t_interval(value: ArrayLike, level: float = LEVEL) -> Interval | None:
    """Confidence interval of a mean by Student's t; none for fewer than two values.

    Args:
        value: Finite values; shape (n,).
        level: Confidence level.
    """
    level = within(level, "confidence level")
    special = load("scipy.special")  # `scipy.stats.t` has the same quantile and takes long to load

    sample = numbers_of("value", value)
    n = sample.size
    if n < 2:
        return None
    if sample.min() == sample.max():
        return Interval(float(sample[0]), float(sample[0]))
    average = float(sample.mean())
    reach = float(special.stdtrit(n - 1, (1 + level) / 2) * sample.std(ddof=1) / math.sqrt(n))
    return Interval(average - reach, average + reach)


def _bca(sample: Floats, average: float, level: float) -> Interval:
    """Bootstrap interval of a mean, corrected for bias and acceleration.

    The jackknife of a mean has a closed form, so that large samples are no problem. Source: Efron,
    Journal of the American Statistical Association 82, 1987.
    """
    special = load("scipy.special")
    random = np.random.default_rng(0)
    n = sample.size
    at_once = max(1, _MOST_DRAWS_AT_ONCE // n)
    means = np.concatenate(
        [
            sample[random.integers(0, n, (min(at_once, _RESAMPLES - done), n))].mean(axis=1)
            for done in range(0, _RESAMPLES, at_once)
        ]
    )
    below = (np.sum(means < average) + 0.5 * np.sum(means == average)) / _RESAMPLES
    below = min(max(below, 0.5 / _RESAMPLES), 1 - 0.5 / _RESAMPLES)
    shift = special.ndtri(below)
    off = sample - average
    acceleration = np.sum(off**3) / (6 * np.sum(off**2) ** 1.5)
    z = shift + special.ndtri([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, special.ndtr(shift + z / (1 - acceleration * z)))
    return Interval(float(low), float(high))


def _notes(missing: str, lost: int, total: int, tail: TailIndex | None, found: Floats) -> list[str]:
    notes = []
    if lost:
        notes.append(
            f"{lost} of {total} replications have no value, as where a flow did not finish: "
            f"{_COUNTED[missing]}, the mean is that of the others"
        )
    if not found.size or missing == "below":
        return notes
    if tail is None:
        if found.min() != found.max():
            notes.append(
                f"too few values to decide whether a mean exists: it takes {FEWEST}, "
                f"{FEWEST_ABOVE_ZERO} of them above 0"
            )
    elif tail.moment(1) == "none":
        notes.append(
            f"no mean exists: the tail index is {tail.value:.2g} ({tail.low:.2g} to "
            f"{tail.high:.2g}), below 1; an average would grow with the number of replications"
        )
    elif tail.moment(1) == "undecided":
        notes.append(
            f"it is undecided whether a mean exists: the tail index is {tail.value:.2g} "
            f"({tail.low:.2g} to {tail.high:.2g}), and 1 is possible"
        )
    elif tail.high < 2:
        notes.append(
            f"no variance exists: the tail index is {tail.value:.2g} ({tail.low:.2g} to "
            f"{tail.high:.2g}), below 2; intervals of the mean are too narrow"
        )
    return notes
