"""Congestion controls on the modern sender against closed forms, over one bottleneck."""

import numpy as np
import pytest

import ackclock
from ackclock.metrics.series import select

MSS = 1448
PACKET = MSS + 52


def one_link(rate_mbps, rtt_ms, tcp, *, queue=None, loss=None, flows=1, end_s=10.0, record=()):
    """Run flows over one link whose ACKs come back without transmission time."""
    forward = {"queue": queue or {"limit": "unlimited"}}
    if loss:
        forward["loss"] = loss
    ideal = {"rate": "100 Tbps", "queue": {"limit": "unlimited"}}
    ways = [
        {"id": f"L{i}", "between": ["R", f"B{i}"], "delay": "0 ms", **ideal} for i in range(flows)
    ]
    document = {
        "hosts": ["A", *(f"B{i}" for i in range(flows))],
        "routers": ["R"],
        "links": [
            {
                "id": "L",
                "between": ["A", "R"],
                "rate": f"{round(rate_mbps * 1e6)} bps",
                "delay": f"{round(rtt_ms * 5e5)} ns",
                "forward": forward,
                "backward": ideal,
            },
            *ways,
        ],
        # One after the other's first window, so that the first data of each find the queue empty.
        "flows": [
            {"id": f"F{i}", "from": "A", "to": f"B{i}", "tcp": tcp, "start": f"{15 * i} ms"}
            for i in range(flows)
        ],
        "stop": {"when": "time", "at_latest": f"{end_s} s"},
        "record": dict.fromkeys(record, "changes"),
    }
    return ackclock.run(ackclock.Scenario.from_dict(document))


def window(results, flow="F0"):
    time_s, cwnd_bytes = select(results, "cwnd", ("time_s", "cwnd_bytes"), flow=flow)
    return time_s, cwnd_bytes / MSS


def waiting(results, after_s):
    """Return least, mean in time and greatest number of packets in the queue of the bottleneck."""
    columns = ("time_s", "queue_packets")
    time_s, length = select(results, "queue", columns, link="L", direction="forward")
    late = time_s >= after_s
    length, held = length[late], np.diff(time_s[late])
    return length.min(), float((length[:-1] * held).sum() / held.sum()), length.max()


@pytest.mark.parametrize("preset", ["rfc-cubic", "linux-cubic"])
def test_cubic_is_back_where_the_loss_was_after_k_seconds(preset):
    """K = cbrt(W_max (1 - b) / C): RFC 9438 section 4.2; a round trip and a segment off at most."""
    loss = {"kind": "script", "at": "entry", "drop": [{"flow": "F0", "data": [1000]}]}
    cc = {"kind": "cubic", "hystart": "none", "reno_friendly": False}
    tcp = {"preset": preset, "initial_ssthresh": 100, "cc": cc}
    results = one_link(1000, 100, tcp, loss=loss, end_s=12, record=["cwnd"])
    time_s, cwnd = window(results)
    state = results.table("cwnd").to_pandas().state.to_numpy()
    lost = np.flatnonzero(state == "recovery")
    assert lost.size
    highest = cwnd[lost[0] - 1]
    begun = time_s[lost[-1] + 1]
    after = cwnd[lost[-1] + 1]
    assert after == pytest.approx(0.7 * highest, abs=2)
    k = np.cbrt((highest - after) / 0.4)
    near = cwnd[np.searchsorted(time_s, [begun + k - 0.1, begun + k + 0.1]) - 1]
    assert near[0] - 1 <= highest <= near[1] + 1
    # A second after K it is C = 0.4 segments higher, after two seconds 3.2.
    later = cwnd[np.searchsorted(time_s, begun + k + 2) - 1]
    assert highest + 2.2 <= later <= highest + 0.4 * 2.1**3 + 1


def test_bbr_paces_exactly_and_keeps_two_products_in_flight():
    results = one_link(10, 40, "linux-bbr", end_s=8, record=["cwnd", "packets", "queue"])
    packets = results.table("packets").to_pandas()
    sent = packets[(packets.kind == "data") & (packets.event == "sent") & (packets.host == "A")]
    product = 10e6 * 0.04 / 8 / PACKET
    # Two products, three bursts of two segments, evened, aggregation, two in the first phase.
    time_s, cwnd = window(results)
    assert cwnd[time_s > 2].max() <= 2 * product + 14
    # In the cycle the gaps are L / (0.99 · gain · bandwidth), with the gains 1.25, 1 and 0.75.
    gaps = np.diff(sent.time_s[sent.time_s > 2].to_numpy())
    one = PACKET * 8 / 10e6 / 0.99
    for gain in (1.25, 1.0, 0.75):
        near = np.isclose(gaps, one / gain, rtol=0.002)
        assert near.any(), gain
    cruising = np.isclose(gaps, one, rtol=0.002).mean()
    assert cruising > 0.6
    assert gaps.min() > one / 1.25 * 0.998
    _, mean, _ = waiting(results, 2)
    assert mean < 0.3 * product
    # More than the link carries can be sent only as far as the queue grows.
    used = len(gaps) * PACKET * 8 / 10e6 / (8 - 2)
    assert 0.97 <= used <= 1 + (2 * product + 14) * PACKET * 8 / 10e6 / (8 - 2)


def test_dctcp_keeps_the_queue_at_the_mark():
    """Model of SIGCOMM 2010, section 3.3: 1 Gbit/s, 100 us, K = 20, one flow."""
    mark_from = 20
    queue = {"kind": "threshold", "limit": "1000 packets", "mark_from": f"{mark_from} packets"}
    results = one_link(1000, 0.1, "linux-dctcp", queue=queue, end_s=0.4, record=["queue", "cwnd"])
    product = 1e9 * 100e-6 / 8 / PACKET
    top = product + mark_from
    swing = (top + 1) * np.sqrt(2 / top) / 2
    least, mean, most = waiting(results, 0.2)
    assert most <= mark_from + 2
    assert mean == pytest.approx(mark_from + 1 - swing / 2, rel=0.15)
    assert least > 0
    assert most - least == pytest.approx(swing, abs=4)


@pytest.mark.parametrize("flows", [1, 3])
def test_fast_keeps_alpha_packets_of_each_flow_waiting(flows):
    tcp = {"preset": "linux-reno", "cc": "fast"}
    results = one_link(10, 40, tcp, flows=flows, end_s=40, record=["queue"])
    _, mean, _ = waiting(results, 20)
    assert mean == pytest.approx(20 * flows, abs=4 * flows / 3 + 1)


def test_vegas_uses_the_link_with_losses_and_a_short_queue():
    tcp = {"preset": "linux-reno", "receiver": "immediate", "cc": "vegas"}
    loss = {"kind": "bernoulli", "p": 0.001}
    results = one_link(10, 40, tcp, loss=loss, end_s=40, record=["queue", "cwnd"])
    _, mean, most = waiting(results, 20)
    assert mean < 3
    # Up to beta wait: the base holds the time to send one. A second one leaves with the same ACK.
    assert most <= 4 + 1
    time_s, cwnd = window(results)
    assert cwnd[time_s > 20].min() >= 18
