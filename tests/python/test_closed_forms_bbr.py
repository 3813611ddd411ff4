"""BBR against closed forms of the literature.

P is the number of packets on the path when it is full and nothing waits.
"""

from typing import Any

import numpy as np
import pytest
from one_bottleneck import RECORD, Network, use

from ackclock import Results
from ackclock.metrics import queue_series, select, step_mean

pytestmark = pytest.mark.slow

SEGMENT = 1448
STATE = {**RECORD, "cwnd": "changes", "tcp_info": "changes"}


def _bbr(
    count: int, record: dict[str, Any], *, delay_ms: float = 20, **tcp: Any
) -> tuple[Network, Results]:
    """Run flows over a bottleneck with a buffer of four bandwidth-delay products."""
    net = Network(rate_mbps=20, delay_ms=delay_ms, access_ms=(0.0,) * count)
    net.queue = {"kind": "droptail", "limit": f"{round(4 * net.path_packets)} packets"}
    flows = [
        {"tcp": {"preset": "linux-bbr", **tcp}, "start": f"{137 * i} ms"} for i in range(count)
    ]
    return net, net.run(flows, 60, record=record)


def test_one_bbr_flow_keeps_the_link_busy_and_the_queue_short():
    """Cardwell and others 2016: full use but for a margin of 1 % and probes of the minimum RTT."""
    net, results = _bbr(1, RECORD)
    found = use(results, 10)
    assert 0.97 < found.utilisation < 0.99
    assert found.queue_packets < 0.3 * net.path_packets


def test_bbr_has_at_most_two_bandwidth_delay_products_in_flight():
    """Gain 2, and three bursts of two segments; rounding to even, and two more while probing."""
    record = {"kind": "none", "packets": "changes"}
    cc = {"kind": "bbr", "ack_aggregation": False}
    net, results = _bbr(1, record, cc=cc, receiver="immediate")
    (sent_s,) = select(results, "packets", ("time_s",), event="sent", kind="data", host="S0")
    (acked_s,) = select(results, "packets", ("time_s",), event="received", kind="ack", host="S0")
    times = sent_s[sent_s > 3]
    flight = np.searchsorted(sent_s, times, side="right") - np.searchsorted(acked_s, times, "right")
    assert flight.max() <= 2 * np.ceil(net.path_packets) + 3 * 2 + 1 + 2
    assert flight.max() > 1.2 * net.path_packets


def test_bbr_sends_at_its_rate_to_the_nanosecond():
    """Gaps of L / rate: 99 % of the bandwidth, 5/4 and 3/4 of that while it probes."""
    net, results = _bbr(1, {"kind": "none", "packets": "changes"})
    (sent_s,) = select(results, "packets", ("time_s",), event="sent", kind="data", host="S0")
    # Between two probes of the minimum round-trip time.
    gaps = np.diff(sent_s[(sent_s > 21) & (sent_s < 29)])
    for gain, least in ((1.0, 0.6), (1.25, 0.1), (0.75, 0.05)):
        exact = np.abs(gaps - net.packet_s / 0.99 / gain) < 2e-9
        assert exact.mean() > least
    assert gaps.min() > net.packet_s / 0.99 / 1.25 - 2e-9


@pytest.mark.parametrize("aggregation", [True, False])
def test_two_bbr_flows_share_a_standing_queue_of_one_bandwidth_delay_product(aggregation: bool):
    """Hock, Bless, Zitterbart 2017, section III: each sees more than its share, all fill 2 BDP.

    That queue stands between the probes of the least round-trip time, which empty it: the median.
    Here the three bursts that each window has besides are few beside the path. Room for ACKs in
    clumps comes on top; Hock and others measured up to 1.5.
    """
    cc = {"kind": "bbr", "ack_aggregation": aggregation}
    net, results = _bbr(2, RECORD, delay_ms=50, cc=cc)
    assert use(results, 20).utilisation > 0.97
    time_s, waiting = queue_series(results, "bottleneck", "forward")
    shares = [
        step_mean(time_s, (waiting < part * net.path_packets).astype(float), 20, 60)
        for part in (0.9, 1.1, 1.5)
    ]
    assert shares[0] < 0.5
    assert shares[2 if aggregation else 1] > 0.5


@pytest.mark.parametrize("count", [2, 4, 6])
def test_more_bbr_flows_on_a_shorter_path_have_a_longer_queue_by_their_bursts(count: int):
    """Each window is 2 b RTT and three bursts (here of two segments); b is a maximum, so too high.

    Rounding to even adds half a segment, the phase that probes two in one of eight. The estimates
    add up to little more than the rate, and the queue is what the windows have beyond the path
    but for the phases that drain it and the probes of the minimum round-trip time.
    """
    net, results = _bbr(count, STATE, cc={"kind": "bbr", "ack_aggregation": False})
    path = net.path_packets
    info = results.table("tcp_info").to_pandas()
    windows = expected = estimates = 0.0
    for flow in (f"F{i}" for i in range(count)):
        mine = info[info.flow == flow]
        time_s, cwnd = mine.time_s.to_numpy(), mine.cwnd.to_numpy(float)
        probes_bandwidth = (cwnd > 8).astype(float)
        share = step_mean(time_s, probes_bandwidth, 20, 60)
        paced = mine.pacing_rate_bps.to_numpy(float) * probes_bandwidth
        # Gains are 1 in the mean, and 1 % is left out.
        rate = step_mean(time_s, paced, 20, 60) / share / 0.99 / 8 / SEGMENT
        least_s = step_mean(time_s, mine.min_rtt_s.to_numpy(float), 20, 60)
        windows += step_mean(time_s, cwnd * probes_bandwidth, 20, 60) / share
        expected += 2 * rate * least_s + 3 * 2 + 1 / 2 + 2 / 8
        estimates += rate * net.packet_s
    assert windows == pytest.approx(expected, rel=0.03)
    assert 1.02 < estimates < 1.1
    waiting = use(results, 20).queue_packets
    assert 0.75 < waiting / (windows - path) < 1
    assert waiting / path > 1


def test_two_bbr_flows_have_the_queue_that_linux_has():
    """Linux 6.18, measured: 96.7 packets, 1.33 BDP, with 25 Mbit/s, 35 ms, a buffer of 2 BDP."""
    net = Network(rate_mbps=25, delay_ms=17.26, access_ms=(0.0, 0.0))
    net.queue = {"kind": "droptail", "limit": "146 packets"}
    flows = [{"tcp": "linux-bbr", "start": f"{3 * i} s"} for i in range(2)]
    found = use(net.run(flows, 30), 12)
    assert found.utilisation == pytest.approx(0.988, abs=0.02)
    assert found.queue_packets == pytest.approx(96.7, rel=0.1)
