"""Measures on arrays and on tables made by hand."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock import InputError, metrics


def test_windows_cover_the_time_and_keep_empty_ones():
    edges, rates = metrics.windowed_rates([0.05, 0.15, 0.19, 0.95], 125, 0.0, 1.0, 0.1)
    assert edges.size == 11
    assert rates.tolist() == [1e4, 2e4, 0, 0, 0, 0, 0, 0, 0, 1e4]


def test_a_window_contains_its_start_and_the_last_one_the_end():
    edges, counts = metrics.windowed_counts([1.0, 1.5, 2.0, 2.5], 1.0, 2.0, 0.5)
    assert edges.tolist() == [1.0, 1.5, 2.0]
    assert counts.tolist() == [1, 2]  # the event at 2.5 s is outside, that at 2.0 s is the end


def test_a_span_of_whole_widths_gets_no_extra_window_from_rounding():
    for count in range(1, 200):
        assert metrics.window_edges(0.5, 0.5 + count * 0.1, 0.1).size == count + 1


@pytest.mark.parametrize(("start", "end", "width"), [(0, 1, 0), (0, 1, -1), (1, 0, 0.1)])
def test_impossible_windows_are_refused(start, end, width):
    with pytest.raises(InputError, match=r"window|`width_s` is"):
        metrics.window_edges(start, end, width)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1e6)), max_size=50),
    st.floats(0.01, 3),
)
def test_windows_lose_nothing(events, width):
    times = [time for time, _ in events]
    sizes = [size for _, size in events]
    _, sums = metrics.windowed_sums(times, sizes, 0.0, 10.0, width)
    assert sums.sum() == pytest.approx(sum(sizes))


def test_step_mean_weighs_values_by_the_time_they_hold():
    # 0 until 1 s, 4 until 2 s, 1 from then on.
    assert metrics.step_mean([1.0, 2.0], [4.0, 1.0], 0.0, 4.0) == pytest.approx((4 + 2) / 4)
    assert metrics.step_mean([1.0, 2.0], [4.0, 1.0], 1.5, 2.5) == pytest.approx(2.5)
    assert metrics.step_mean([], [], 0.0, 1.0, initial=7.0) == 7.0


def test_of_changes_at_one_time_the_last_counts():
    assert metrics.step_mean([1.0, 1.0], [9.0, 2.0], 1.0, 3.0) == 2.0
    assert metrics.step_at([1.0, 1.0], [9.0, 2.0], [0.5, 1.0, 2.0]).tolist() == [0.0, 2.0, 2.0]


def test_step_range_ignores_what_held_for_no_time():
    assert metrics.step_range([1.0, 1.0, 2.0], [9.0, 2.0, 3.0], 0.5, 3.0) == (0.0, 3.0)
    assert metrics.step_range([1.0, 2.0], [5.0, 3.0], 1.2, 1.8) == (5.0, 5.0)


def test_a_mean_over_no_time_is_refused():
    with pytest.raises(ValueError, match="no time"):
        metrics.step_mean([0.0], [1.0], 2.0, 2.0)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0.01, 1), st.floats(0, 100)), min_size=1, max_size=30),
    st.floats(0.1, 0.9),
)
def test_step_mean_is_additive(steps, cut):
    times = np.cumsum([step for step, _ in steps])
    values = [value for _, value in steps]
    end = times[-1] + 1.0
    middle = cut * end
    whole = metrics.step_mean(times, values, 0.0, end) * end
    parts = metrics.step_mean(times, values, 0.0, middle) * middle
    parts += metrics.step_mean(times, values, middle, end) * (end - middle)
    assert whole == pytest.approx(parts, rel=1e-9, abs=1e-9)


def test_sample_mean():
    assert metrics.sample_mean([1, 2, 3], [10, 20, 60], 2, 3) == 40
    assert metrics.sample_mean([1, 2, 3], [10, 20, 60], 5, 6) is None


def test_jain():
    assert metrics.jain([3, 3, 3]) == pytest.approx(1.0)
    assert metrics.jain([1, 0, 0, 0]) == pytest.approx(0.25)
    assert metrics.jain([1e-200, 1e-200]) == pytest.approx(1.0)
    assert metrics.jain([]) is None
    assert metrics.jain([0, 0]) is None


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1.0, 1e7, 1e300])
@pytest.mark.filterwarnings("error")
def test_the_alpha_mean_scales_with_shares_of_any_size(scale):
    for alpha, mean in ((0, 1.5), (0.5, (1 + 2**0.5) ** 2 / 4), (1, 2**0.5), (2, 4 / 3)):
        assert metrics.alpha_mean([scale, 2 * scale], alpha) == pytest.approx(mean * scale)
    # With a large alpha only the lesser share counts, as one of two.
    mean = metrics.alpha_mean([scale, 2 * scale], 50)
    assert mean == pytest.approx(2 ** (1 / 49) * scale, rel=1e-9)
    assert metrics.alpha_mean([scale, 0.0], 2) == metrics.alpha_mean([0.0, 0.0], 0.5) == 0.0


def words(values, names):
    codes = [None if value is None else names.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))


@pytest.fixture
def results():
    """A run of one flow: packets 0 and 1 arrive, 1 twice; the ACK of 0 comes back."""
    packets = pa.table(
        {
            "time_s": [0.0, 0.1, 1.0, 2.0, 2.5, 1.5],
            "host": words(["A", "A", "B", "B", "B", "A"], ["A", "B"]),
            "flow": words(["F", "F", "F", "F", "F", "F"], ["E", "F"]),
            "event": words(["sent"] * 2 + ["received"] * 4, ["sent", "received"]),
            "kind": words(["data"] * 5 + ["ack"], ["data", "ack", "router"]),
            "seq": [0, 1, 0, 1, 1, 0],
            "bytes": pa.array([1064] * 5 + [64], pa.int32()),
            "retransmission": [False, False, False, False, True, False],
        }
    )
    queue = pa.table(
        {
            "time_s": [0.0, 1.0, 3.0],
            "link": words(["L", "L", "L"], ["L"]),
            "direction": words(["both"] * 3, ["both", "forward"]),
            "queue_packets": pa.array([1, 3, 0], pa.int32()),
            "queue_data_packets": pa.array([1, 2, 0], pa.int32()),
            "queue_bytes": [1064, 2192, 0],
        }
    )
    transmissions = pa.table(
        {
            "time_s": [0.5, 1.0, 2.0],
            "link": words(["L", "L", "L"], ["L"]),
            "flow": words(["F", None, "F"], ["F"]),
            "kind": words(["data", "router", "ack"], ["data", "ack", "router"]),
            "bytes": pa.array([1064, 64, 64], pa.int32()),
        }
    )
    drops = pa.table({"time_s": [1.0, 4.0], "link": words(["L", None], ["L"])})
    cwnd = pa.table(
        {
            "time_s": [0.0, 2.0],
            "flow": words(["F", "F"], ["F"]),
            "cwnd_bytes": [1024.0, 3072.0],
        }
    )
    rtt = pa.table({"time_s": [1.5, 2.5], "flow": words(["F", "F"], ["F"]), "rtt_s": [1.5, 2.4]})
    tables = {
        "packets": packets,
        "queue": queue,
        "transmissions": transmissions,
        "drops": drops,
        "cwnd": cwnd,
        "rtt": rtt,
    }
    return SimpleNamespace(table=tables.__getitem__)


def test_select_compares_words_and_flags(results):
    (times,) = metrics.select(results, "packets", ("time_s",), host="B", retransmission=False)
    assert times.tolist() == [1.0, 2.0]
    (none,) = metrics.select(results, "packets", ("time_s",), flow="unknown")
    assert none.size == 0
    # A row without a link belongs to no link.
    assert metrics.drop_times(results, link="L").tolist() == [1.0]


def test_goodput_counts_each_packet_once_and_no_headers(results):
    assert metrics.goodput_bps(results, "F", 1024, 0.0, 4.0) == 2 * 1024 * 8 / 4
    assert metrics.goodput_bps(results, "F", 1024, 1.0, 4.0) == 1024 * 8 / 3
    assert metrics.acked_bps(results, "F", 1024, 0.0, 2.0) == 1024 * 8 / 2
    with pytest.raises(ValueError, match="no time"):
        metrics.goodput_bps(results, "F", 1024, 4.0, 4.0)


def test_series(results):
    times, waiting = metrics.queue_series(results, "L")
    assert metrics.step_mean(times, waiting, 0.0, 4.0) == (1 + 2 * 2) / 4
    assert metrics.queue_series(results, "L", "both", "queue_bytes")[1].tolist() == [1064, 2192, 0]
    assert metrics.cwnd_series(results, "F")[1].tolist() == [1024.0, 3072.0]
    assert metrics.rtt_series(results, "F")[1].tolist() == [1.5, 2.4]
    assert metrics.packet_series(results, "sent", host="A")[1].tolist() == [1064, 1064]
    assert metrics.transmission_series(results, "L", kind="ack")[0].tolist() == [2.0]


def test_a_constant_rate_is_constant_in_windows_whose_edges_are_no_binary_fractions():
    # As floats, 0.07 // 0.01 is 7.000000000000001 and 0.35 / 0.01 is below 35.
    at = np.arange(2000) * 1_000_000 * 1e-9
    _, counts = metrics.windowed_counts(at, 0.0, 2.0, 0.01)
    assert set(counts.tolist()) == {10}
    _, rates = metrics.windowed_rates(at, 1500, 0.0, 2.0, 0.01)
    assert np.allclose(rates, 12e6)
    # (t - reach, t]: the packet at t counts, that at t - reach does not.
    _, rates = metrics.sliding_rates(at, 1500, 1.99, 0.1, 0.01)
    assert np.allclose(rates[10:], 12e6)
