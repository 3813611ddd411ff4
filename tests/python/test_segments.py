"""What became of each segment, queueing delays, and rates over the last second."""

import lab_runs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.metrics import flow_segments, new_bytes, queueing_s, sliding_rates
from ackclock.metrics.segments import unwrapped


@pytest.mark.parametrize("flow", ["F1", "F2"])
def test_the_fates_of_segments_add_up_to_the_summary(flow):
    results = lab_runs.tahoe()
    told = results.summary["flows"][flow]
    sent = flow_segments(results, flow, header_bytes=0)
    assert len(sent) == told["segments_sent"]
    assert sent.retransmission.sum() == told["retransmissions"] > 0
    assert sent.spurious.sum() == told["spurious_retransmissions"] > 0
    dropped = ~np.isnan(sent.dropped_s)
    assert dropped.sum() == told["segments_dropped"] > 0
    assert (dropped ^ ~np.isnan(sent.arrived_s)).all()  # each one came to its end
    assert not (sent.spurious & ~sent.retransmission).any()
    assert (sent.arrived_s[~dropped] > sent.sent_s[~dropped]).all()


def test_without_records_of_drops_no_segment_counts_as_dropped():
    sent = flow_segments(lab_runs.tahoe(), "F1", header_bytes=0, drops=False)
    assert np.isnan(sent.dropped_s).all()


def test_flows_that_number_packets_have_segments_of_one(small_results):
    sent = flow_segments(small_results, "F1")
    assert set(sent.length.tolist()) == {1}
    assert sent.start.max() == small_results.summary["flows"]["F1"]["packets_offered"] - 1


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 15)), max_size=40))
def test_new_bytes_are_those_of_a_set(arrivals):
    seen: set[int] = set()
    expected = []
    for start, length in arrivals:
        piece = set(range(start, start + length))
        expected.append(len(piece - seen))
        seen |= piece
    starts = np.array([start for start, _ in arrivals], np.int64)
    lengths = np.array([length for _, length in arrivals], np.int64)
    assert new_bytes(starts, lengths).tolist() == expected


def test_sequence_numbers_beyond_32_bits():
    full = np.array([2**32 - 2000, 2**32 - 1000, 2**32, 2**32 + 1000, 2**32 - 1000])
    start = np.append(np.arange(0, 2**32 - 2000, 10**9), full)
    assert unwrapped(start % 2**32).tolist() == start.tolist()


@pytest.mark.parametrize(
    ("segments", "delay_ms"),
    [(1, 0.0), (2, 0.001553), (5, 0.015534), (10, 0.069903), (15, 0.163107), (20, 0.295146)],
)
def test_queueing_delays_are_those_of_the_closed_form(segments, delay_ms):
    """0.8 ms W (W - 1) / 2 over 515 segments: only the first window ever waits."""
    sent = flow_segments(lab_runs.window(segments), "F1", header_bytes=0)
    waited = queueing_s(sent, [(10e6, 0.01)])
    assert waited.mean() * 1e3 == pytest.approx(delay_ms, abs=1e-6)
    assert waited.mean() * 1e3 == pytest.approx(0.8 * segments * (segments - 1) / 2 / 515)


def test_the_rate_over_the_last_second_climbs_though_the_link_is_full():
    """As measured for one flow over 10 Mbps, which is full from 0.11 s on."""
    packets = lab_runs.tahoe(1).table("packets").to_pylist()
    came = [p for p in packets if p["event"] == "received" and p["kind"] == "data"]
    times, sizes = [p["time_s"] for p in came], [p["bytes"] for p in came]
    at, rates = sliding_rates(times, sizes, 0.9)
    assert at == pytest.approx(np.arange(1, 10) / 10)
    measured = [1.84, 5.52, 7.01, 7.76, 8.21, 8.51, 8.72, 8.88, 8.89]
    assert rates / 1e6 == pytest.approx(measured, abs=0.006)


def test_the_window_of_the_last_second_moves_on():
    at, rates = sliding_rates([0.0, 0.5, 1.45], 125, 2.0, 1.0, 0.5)
    assert at.tolist() == [0.5, 1.0, 1.5, 2.0]
    # Bits since 0 over the time since 0, then bits in (t - 1, t] over 1 s.
    assert rates.tolist() == [4000.0, 2000.0, 1000.0, 1000.0]
