"""Reductions of dense series for plots."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.metrics import step_mean
from ackclock.metrics.carried import windowed_link_rates, windowed_rule_rates
from ackclock.plots import bands


def test_a_bin_holds_the_value_it_begins_with_and_its_changes():
    times = np.array([0.5, 1.25, 1.75])
    values = np.array([4.0, 10.0, 2.0])
    band = bands.of_steps(times, values, np.array([0.0, 1.0, 2.0, 3.0]), before=0.0)
    assert band.low.tolist() == [0.0, 2.0, 2.0]
    assert band.high.tolist() == [4.0, 10.0, 2.0]
    assert band.mean == pytest.approx([2.0, 0.25 * 4 + 0.5 * 10 + 0.25 * 2, 2.0])


def test_a_peak_that_lasts_no_time_is_kept():
    times = np.array([0.0, 0.5, 0.5])
    band = bands.of_steps(times, np.array([1.0, 64.0, 1.0]), np.array([0.0, 1.0]))
    assert band.high.tolist() == [64.0]
    assert band.mean == pytest.approx([1.0])


def test_without_a_value_before_the_first_change_the_band_begins_there():
    band = bands.of_steps(np.array([1.5]), np.array([7.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    assert np.isnan(band.low[0])
    assert np.isnan(band.mean[0])
    assert band.mean[1:].tolist() == [7.0, 7.0]


def test_no_change_at_all():
    edges = np.array([0.0, 1.0, 2.0])
    assert np.isnan(bands.of_steps(np.empty(0), np.empty(0), edges).mean).all()
    assert bands.of_steps(np.empty(0), np.empty(0), edges, before=3.0).high.tolist() == [3.0, 3.0]


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 10), st.integers(0, 100)), min_size=1, max_size=60),
    st.integers(1, 30),
)
def test_bands_agree_with_the_plain_definition(changes, count):
    changes.sort(key=lambda change: change[0])
    times = np.array([time for time, _ in changes])
    values = np.array([float(value) for _, value in changes])
    edges = bands.bins(0.0, 10.0, count)
    band = bands.of_steps(times, values, edges, before=0.0)
    for i, (start, stop) in enumerate(itertools.pairwise(edges)):
        inside = values[(times > start) & (times <= stop)]
        held = np.append(inside, np.append(0.0, values)[np.searchsorted(times, start, "right")])
        assert band.low[i] == held.min()
        assert band.high[i] == held.max()
        wanted = step_mean(times, values, start, stop)
        assert band.mean[i] == pytest.approx(wanted, abs=1e-6)


def test_samples_count_once_each_and_empty_bins_stay_empty():
    times = np.array([0.1, 0.2, 0.3, 2.5, 3.0])
    values = np.array([1.0, 2.0, 6.0, 5.0, 7.0])
    band = bands.of_samples(times, values, np.array([0.0, 1.0, 2.0, 3.0]))
    assert band.mean[[0, 2]].tolist() == [3.0, 6.0]
    assert band.high[[0, 2]].tolist() == [6.0, 7.0]
    assert np.isnan(band.mean[1])


def test_smoothing_keeps_a_level_and_hides_a_ripple():
    ripple = 25 + 20 * np.sin(np.arange(200) * 2 * np.pi / 4)
    smooth = bands.smoothed(ripple, 4)
    assert smooth[10:-10] == pytest.approx(25, abs=1.0)
    assert bands.smoothed(np.full(9, 3.0), 2) == pytest.approx(np.full(9, 3.0))


def test_smoothing_does_not_fill_gaps():
    smooth = bands.smoothed(np.array([1.0, np.nan, 3.0, 3.0]), 1)
    assert np.isnan(smooth[1])
    assert smooth[0] == pytest.approx(1.0)


def test_one_mark_for_each_bin():
    times = np.array([0.31, 0.1, 0.11, 0.32, 0.9])
    assert bands.distinct(times, bands.bins(0, 1, 10)).tolist() == [0.1, 0.31, 0.9]
    assert len(bands.distinct(np.empty(0), bands.bins(0, 1, 10))) == 0


def test_a_link_that_never_pauses_shows_its_rate_in_every_window():
    # 1500 bytes take 0.12 s at 100 kbit/s: longer than a window of 0.1 s.
    starts = np.arange(50) * 0.12
    _, rates = windowed_link_rates(starts, np.full(50, 1500), 100_000, 0.0, 6.0, 0.1)
    assert rates == pytest.approx(np.full(60, 100_000))


def test_a_transmission_continues_at_the_new_rate_of_a_rule():
    # 1000 bit/s until 1 s, then 100 bit/s: of 1500 bits that begin at 0 s, 500 take 5 s more.
    def offered(time_s):
        return np.where(time_s < 1, 1000 * time_s, 1000 + 100 * (time_s - 1))

    edges, rates = windowed_rule_rates([0.0, 8.0], [187.5, 12.5], offered, 0.0, 10.0, 2.0)
    assert edges.tolist() == [0, 2, 4, 6, 8, 10]
    assert rates.tolist() == pytest.approx([550, 100, 100, 0, 50], abs=1e-6)
    assert windowed_rule_rates([], [], offered, 0.0, 1.0, 0.5)[1].tolist() == [0.0, 0.0]


def test_link_rates_carry_all_bits_and_pause_when_the_link_does():
    edges, rates = windowed_link_rates([0.0, 1.0], [1000, 500], 8_000_000, 0.0, 2.0, 0.5)
    assert rates.tolist() == pytest.approx([16_000, 0, 8_000, 0])
    assert edges.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert windowed_link_rates([], [], 1e6, 0.0, 1.0, 0.5)[1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="rate of a link"):
        windowed_link_rates([0.0], [1], 0, 0.0, 1.0, 0.5)
