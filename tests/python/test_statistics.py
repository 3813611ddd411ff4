"""Statistics over replications, on samples of which the truth is known."""

import math
from functools import cache

import numpy as np
import pytest

from ackclock import InputError
from ackclock.metrics.statistics import (
    MOST_RESAMPLED,
    SHARES,
    _binomial_quantile,
    mean,
    quantile,
    summarize,
    wilson,
)
from ackclock.metrics.tail import FEWEST, tail_index


@pytest.fixture(scope="module")
def stats():
    """SciPy's statistics. They take a second to load: not wherever tests are collected."""
    from scipy import stats

    return stats


@cache
def pareto(index):
    return lambda random, n: random.pareto(index, n) + 1


@cache
def doubling(failure):
    """Waits that double with this probability: steps of a factor of two under a power law."""
    return lambda random, n: 2.0 ** random.geometric(1 - failure, n)


def exponential(random, n):
    return random.exponential(1, n)


def index_of(failure):
    return -math.log(failure) / math.log(2)


@cache
def estimates(draw, n, repetitions=200):
    random = np.random.default_rng(2)
    return [tail_index(draw(random, n)) for _ in range(repetitions)]


def covered(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])


# Quantiles.


def test_a_quantile_is_a_value_of_the_sample():
    values = [4.0, 1.0, 3.0, 2.0]
    assert [quantile(values, share).value for share in (0.25, 0.26, 0.5, 0.75, 0.99)] == [
        1, 2, 2, 3, 4,
    ]  # fmt: skip


def test_rounding_does_not_move_a_quantile():
    values = np.arange(1, 101)
    for percent in range(1, 100):
        assert quantile(values, percent / 100).value == percent


@pytest.mark.slow
def test_ranks_are_those_of_the_binomial_distribution(stats):
    found = quantile(np.arange(1, 101), 0.5)
    # The textbook interval for the median of 100: the 40th to the 61st value, 96.5 %.
    assert (found.low_rank, found.high_rank) == (40, 61)
    assert (found.low, found.high) == (40, 61)
    assert stats.binom.cdf(60, 100, 0.5) - stats.binom.cdf(39, 100, 0.5) >= 0.95
    assert stats.binom.cdf(59, 100, 0.5) - stats.binom.cdf(40, 100, 0.5) < 0.95


def test_a_small_sample_does_not_bound_a_far_quantile():
    found = quantile(np.arange(1.0, 11), 0.95)
    assert (found.value, found.high, found.high_rank) == (10, math.inf, None)
    assert found.low_rank is not None
    found = quantile(np.arange(1.0, 11), 0.05)
    assert (found.value, found.low, found.low_rank) == (1, -math.inf, None)


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (exponential, lambda share: -math.log(1 - share)),
        (pareto(0.415), lambda share: (1 - share) ** (-1 / 0.415)),
        # Steps: several values are the quantile of a share at a step, and each must be covered.
        (doubling(0.51), lambda share: 2.0 ** math.ceil(math.log(1 - share) / math.log(0.51))),
    ],
)
def test_intervals_of_quantiles_cover(draw, truth, share):
    random = np.random.default_rng(3)
    found = [quantile(draw(random, 200), share) for _ in range(1000)]
    # Three standard errors of a share of 0.95 in 1000 are 0.021.
    assert covered([(q.low, q.high) for q in found], truth(share)) >= 0.93


def test_a_quantile_needs_values():
    with pytest.raises(ValueError, match="needs values"):
        quantile([], 0.5)
    with pytest.raises(ValueError, match="NaN"):
        quantile([1.0, math.nan], 0.5)
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        quantile([1.0], 1.0)
    with pytest.raises(ValueError, match="confidence level must be between 0 and 1"):
        quantile([1.0], 0.5, level=95)


# Shares.


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 10), (10, 10), (140, 1000), (1, 1)])
def test_wilson_agrees_with_scipy(stats, count, total):
    found = wilson(count, total)
    expected = stats.binomtest(count, total).proportion_ci(0.95, method="wilson")
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)
    assert found.value == count / total


def test_a_share_of_nothing_is_unknown():
    found = wilson(0, 0)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0, 1)
    with pytest.raises(ValueError, match="11 of 10"):
        wilson(11, 10)


# Means.


def test_the_interval_by_t_agrees_with_scipy(stats):
    values = np.random.default_rng(4).normal(5, 2, 30)
    found = mean(values)
    expected = stats.t.interval(0.95, 29, values.mean(), stats.sem(values))
    assert (found.by_t.low, found.by_t.high) == pytest.approx(expected)
    assert found.value == pytest.approx(values.mean())


def test_the_bootstrap_agrees_with_scipy(stats):
    values = np.random.default_rng(5).exponential(1, 80)
    found = mean(values).by_bootstrap
    expected = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, random_state=6
    ).confidence_interval
    # The ends of 2000 resamples have a standard error of about 2 % of the width.
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.08 * width)
    assert found.high == pytest.approx(expected.high, abs=0.08 * width)


@pytest.mark.slow
def test_intervals_of_the_mean_cover():
    random = np.random.default_rng(7)
    found = [mean(exponential(random, 100)) for _ in range(300)]
    assert covered([(m.by_t.low, m.by_t.high) for m in found], 1) >= 0.9
    assert covered([(m.by_bootstrap.low, m.by_bootstrap.high) for m in found], 1) >= 0.9


@pytest.mark.slow
def test_the_bootstrap_gives_the_same_every_time_and_stops_at_large_samples():
    values = exponential(np.random.default_rng(8), MOST_RESAMPLED + 1)
    assert mean(values[:-1]) == mean(values[:-1])
    assert mean(values[:-1]).by_bootstrap is not None
    assert mean(values).by_bootstrap is None


def test_a_mean_needs_values():
    with pytest.raises(ValueError, match="finite"):
        mean([])
    with pytest.raises(ValueError, match="finite"):
        mean([1.0, math.inf])
    alone = mean([3.0])
    assert (alone.value, alone.by_t, alone.exists) == (3, None, "undecided")


# Tails.


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 20_000])
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (pareto(0.415), 0.415),
        (pareto(0.9), 0.9),
        (pareto(1.5), 1.5),
        (doubling(0.75), index_of(0.75)),
        (doubling(0.51), index_of(0.51)),
    ],
)
def test_the_tail_index_and_its_standard_error(draw, truth, n):
    found = estimates(draw, n, 200 if n == 1000 else 100)
    values = np.array([tail.value for tail in found])
    assert np.median(values) == pytest.approx(truth, rel=0.05)
    assert covered([(tail.low, tail.high) for tail in found], truth) >= 0.88


def test_the_standard_error_is_the_spread():
    # Of a power law, where the rule for k takes the most there is.
    found = estimates(pareto(0.9), 1000, 400)
    spread = np.std([tail.value for tail in found])
    assert spread == pytest.approx(np.mean([tail.standard_error for tail in found]), rel=0.15)


@pytest.mark.parametrize("failure", [0.75, 0.36])
def test_steps_do_not_mislead(failure):
    """Hill's estimator at one threshold swings, however many values there are."""
    values = doubling(failure)(np.random.default_rng(9), 200_000)
    logs = np.log(np.sort(values)[::-1])
    hill = [1 / np.mean(logs[:k] - logs[k]) for k in range(1000, 7000, 50)]
    truth = index_of(failure)
    assert max(hill) > 1.2 * min(hill)
    assert tail_index(values).value == pytest.approx(truth, rel=0.06)


@pytest.mark.parametrize(
    ("draw", "verdict", "least_share"),
    [
        (pareto(0.415), "none", 0.99),
        (doubling(0.75), "none", 0.99),
        (pareto(1.5), "exists", 0.9),
        (exponential, "exists", 0.99),
        (lambda random, n: random.lognormal(0, 1, n), "exists", 0.99),
        (lambda random, n: random.uniform(0, 1, n), "exists", 0.99),
        (lambda random, n: random.poisson(3, n), "exists", 0.99),
    ],
)
def test_the_verdict_on_the_mean(draw, verdict, least_share):
    verdicts = [tail.moment(1) for tail in estimates(draw, 1000)]
    assert np.mean([found == verdict for found in verdicts]) >= least_share


@pytest.mark.slow
def test_near_one_the_verdict_is_undecided_rather_than_wrong():
    for index, wrong in ((0.9, "exists"), (1.2, "none"), (0.971, "exists")):
        verdicts = [tail.moment(1) for tail in estimates(pareto(index), 1000)]
        assert np.mean([verdict == wrong for verdict in verdicts]) <= 0.04
        assert np.mean([verdict == "undecided" for verdict in verdicts]) > 0.5


@pytest.mark.slow
def test_with_enough_values_it_is_decided():
    verdicts = [tail.moment(1) for tail in estimates(pareto(0.9), 50_000, 40)]
    assert np.mean([verdict == "none" for verdict in verdicts]) > 0.85


def test_values_cut_off_count_as_larger():
    values = pareto(0.6)(np.random.default_rng(10), 20_000)
    limit = np.quantile(values, 0.99)
    kept = values[values <= limit]
    cut_off = np.full(len(values) - len(kept), limit)
    assert tail_index(kept, cut_off).value == pytest.approx(0.6, rel=0.1)
    assert tail_index(kept).value > 0.7  # what ignores them sees a lighter tail
    assert tail_index(kept[:2000], np.full(2000, limit)) is None


def test_scale_does_not_matter():
    values = pareto(0.9)(np.random.default_rng(11), 2000)
    one, other = tail_index(values), tail_index(values * 1e-6)
    assert one.value == pytest.approx(other.value)
    assert one.threshold == pytest.approx(other.threshold * 1e6)
    assert one.k == other.k <= 2 * 2000 ** (2 / 3)


@pytest.mark.parametrize("values", [np.full(1000, 0.0832), np.full(1000, 7)])
def test_a_constant_has_no_tail(values):
    tail = tail_index(values)
    assert math.isinf(tail.value)
    assert (tail.moment(1), tail.moment(2)) == ("exists", "exists")


def test_too_few_values_say_nothing():
    assert tail_index(np.arange(1.0, FEWEST)) is None
    assert tail_index(np.arange(1.0, FEWEST + 1)) is not None
    rare = np.zeros(1000)
    rare[:40] = 1
    assert tail_index(rare) is None


# Summaries.


def test_a_constant():
    found = summarize(np.full(500, 0.1))
    assert [q.value for q in found.quantiles] == [0.1] * 5
    assert (found.mean.value, found.mean.exists) == (0.1, "exists")
    assert (found.mean.by_t.low, found.mean.by_bootstrap.high) == (0.1, 0.1)
    assert found.notes == ()


def test_no_mean_exists():
    found = summarize(pareto(0.415)(np.random.default_rng(12), 1000))
    assert found.mean.exists == "none"
    (note,) = found.notes
    assert note.startswith("no mean exists: the tail index is 0.")
    document = found.to_json()
    assert document["mean"]["value"] is None
    assert document["mean"]["by_t"] is None
    assert document["mean"]["exists"] == "none"
    assert document["tail"]["value"] == found.tail.value


def test_an_undecided_mean_says_so():
    found = summarize(pareto(1.0)(np.random.default_rng(13), 1000))
    assert found.mean.exists == "undecided"
    assert "undecided whether a mean exists" in found.notes[0]
    few = summarize([1.0, 2.0, 3.0])
    assert few.mean.exists == "undecided"
    assert "too few values" in few.notes[0]


def test_a_mean_without_a_variance_is_flagged():
    found = summarize(pareto(1.5)(np.random.default_rng(14), 20_000))
    assert (found.mean.exists, found.mean.variance) == ("exists", "none")
    assert "intervals of the mean are too narrow" in found.notes[0]


def test_what_never_happened_is_not_averaged():
    values = np.array([1.0, 2.0, 3.0, math.nan, math.nan])
    late = summarize(values)
    assert (late.count, late.missing.count, late.missing.value) == (5, 2, 0.4)
    assert [q.value for q in late.quantiles] == [1, 2, 3, math.inf, math.inf]
    assert (late.mean.value, late.mean.count) == (2, 3)
    assert "2 of 5 replications have no value" in late.notes[0]
    assert "a flow did not finish: quantiles count them as infinite" in late.notes[0]
    low = summarize(values, missing="below")
    assert [q.value for q in low.quantiles] == [0, 0, 1, 2, 3]
    assert low.mean.value == 2
    others = summarize(values, missing="left-out")
    assert [q.value for q in others.quantiles] == [1, 1, 2, 3, 3]


def test_nothing_ever_happened():
    found = summarize(np.full(10, math.nan))
    assert found.mean is None
    assert found.tail is None
    assert found.quantile(0.5).value == math.inf
    assert found.missing.value == 1
    assert summarize([]).quantiles == ()


def test_ranks_around_a_quantile_are_those_of_the_binomial_distribution(stats):
    for n in (1, 2, 7, 100, 1000, 1_000_000):
        for share in (0.001, 0.05, 0.5, 0.9, 0.999):
            for probability in (0.0005, 0.025, 0.25, 0.5, 0.975):
                expected = int(stats.binom.ppf(probability, n, share))
                assert _binomial_quantile(probability, n, share) == expected


def test_a_quantile_of_the_summary_by_its_share():
    found = summarize(np.arange(1, 101))
    assert found.quantile(0.75).value == 75
    with pytest.raises(
        InputError, match=r"0\.9 is not among .* 0\.75, 0\.95\); .*`shares=\[0\.9\]`"
    ):
        found.quantile(0.9)
    assert summarize(np.arange(1, 101), shares=[0.9]).quantile(0.9).value == 90
    with pytest.raises(InputError, match="it has none"):
        summarize([]).quantile(0.5)


def test_a_rate_has_a_mean_however_few_the_replications():
    """It is bounded; of a time, as few say nothing."""
    sample = [6.1e6, 6.4e6, 5.2e6, 6.0e6]
    assert summarize(sample, missing="below").mean.exists == "exists"
    assert not summarize(sample, missing="below").notes
    assert summarize(sample).mean.exists == "undecided"
