"""Congestion controls of papers against what their rules amount to, over one link."""

import numpy as np
import pytest
from test_congestion_laws import PACKET, one_link, waiting, window

import ackclock
from ackclock import Scenario

RTT_MS = 100


def mean_window(cc, every, end_s):
    """Return the mean window in the second half of a run that loses one packet of so many."""
    loss = {"kind": "periodic", "every": every, "first": every}
    results = one_link(1000, RTT_MS, {"cc": cc}, loss=loss, end_s=end_s, record=["cwnd"])
    time_s, cwnd = window(results)
    late = time_s >= end_s / 2
    held = np.diff(time_s[late])
    return float((cwnd[late][:-1] * held).sum() / held.sum())


def sawtooth(increase, decrease, every):
    """Return the mean window if round trips add so much, and the one after a loss adds nothing."""
    # W (1 - b/2) b W / a + (1 - b) W = packets between losses.
    square, linear = decrease / increase * (1 - decrease / 2), 1 - decrease
    highest = (-linear + np.sqrt(linear**2 + 4 * square * every)) / (2 * square)
    return every / (decrease * highest / increase + 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cc", "every", "expected"),
    [
        ("reno", 1000, sawtooth(1, 1 / 2, 1000)),
        # With empty queues a loss takes a fifth.
        ("veno", 1000, sawtooth(1, 1 / 5, 1000)),
        # Ten segments per round trip, an eighth.
        ("illinois", 1000, sawtooth(10, 1 / 8, 1000)),
        # An eighth is made good in 13.4 round trips, and one adds nothing.
        ("scalable", 10_000, 10_000 / (np.log(8 / 7) / np.log(1.01) + 1)),
        # RFC 3649, table of the response function.
        ("highspeed", 1000, 38),
        ("highspeed", 10_000, 263),
    ],
)
def test_windows_under_periodic_losses(cc, every, expected):
    assert mean_window(cc, every, 120) == pytest.approx(expected, rel=0.04)


def after_one_loss(cc, segments, end_s, rate_mbps=1000):
    """Return times since the recovery from one loss at a window of so many, and windows."""
    loss = {"kind": "script", "at": "entry", "drop": [{"flow": "F0", "data": [3 * segments]}]}
    tcp = {"cc": cc, "initial_ssthresh": segments}
    results = one_link(rate_mbps, RTT_MS, tcp, loss=loss, end_s=end_s, record=["cwnd"])
    time_s, cwnd = window(results)
    state = results.table("cwnd").to_pandas().state.to_numpy()
    last = np.flatnonzero(state == "recovery")[-1]
    return time_s[last + 1 :] - time_s[last + 1], cwnd[last + 1 :]


@pytest.mark.slow
def test_htcp_is_faster_the_longer_the_loss_was_ago():
    time_s, cwnd = after_one_loss({"kind": "htcp"}, 833, 12)
    # The first loss takes half: 416 segments are made good in 3.7 s, where Reno takes 42 s.
    assert cwnd[0] == pytest.approx(833 / 2, rel=0.02)
    assert time_s[np.argmax(cwnd >= 2 * cwnd[0])] == pytest.approx(3.7, rel=0.05)


def test_bic_searches_by_halves():
    time_s, cwnd = after_one_loss({"kind": "bic"}, 500, 14)
    # Before its first loss it looks for more by a twentieth a round trip.
    highest = cwnd[0] / 0.8
    assert 520 < highest < 580
    # 48 round trips for 551 segments by a script of Linux's rules in whole numbers.
    assert time_s[np.argmax(cwnd >= highest - 0.5)] * 1e3 / RTT_MS == pytest.approx(48, abs=4)


def test_westwood_leaves_what_the_link_needs_whatever_the_queue_is():
    queue = {"limit": "100 packets"}
    results = one_link(10, 40, {"cc": "westwood"}, queue=queue, end_s=60, record=["cwnd"])
    _, cwnd = window(results)
    state = results.table("cwnd").to_pandas().state.to_numpy()
    ends = np.flatnonzero((state[:-1] == "recovery") & (state[1:] != "recovery"))
    fit = 10e6 * (0.040 + PACKET * 8 / 10e6) / 8 / PACKET
    assert len(ends) >= 2
    assert cwnd[ends + 1][1:] == pytest.approx(fit, rel=0.06)
    assert results.summary["links"]["L"]["forward"]["utilization"] > 0.95


@pytest.mark.parametrize("rtt_ms", [50, 100, 200])
def test_hybla_gains_as_much_a_second_whatever_the_round_trip_time(rtt_ms):
    tcp = {"cc": "hybla", "initial_ssthresh": 10}
    results = one_link(10_000, rtt_ms, tcp, end_s=8, record=["cwnd"])
    time_s, cwnd = window(results)
    rate = cwnd / rtt_ms * 1e3
    span = time_s > 5
    # rho² / rtt² = 1 / (25 ms)²: segments per second, more each second.
    assert np.polyfit(time_s[span], rate[span], 1)[0] == pytest.approx(1600, rel=0.05)


@pytest.mark.parametrize("flows", [1, 2, 4])
def test_copa_keeps_two_packets_of_each_flow_waiting(flows):
    results = one_link(48, 50, {"cc": "copa"}, flows=flows, end_s=30, record=["cwnd", "queue"])
    least, mean, most = waiting(results, 10)
    # 1 / delta = 2 in theory; its swing ends at 2.5 times that.
    assert least == 0
    assert mean == pytest.approx(2 * flows, rel=0.25)
    assert most <= 5 * flows + 2
    rates = [flow["goodput_bps"] for flow in results.summary["flows"].values()]
    assert sum(rates) == pytest.approx(48e6 * 1448 / 1500, rel=0.03)
    assert max(rates) < 1.15 * min(rates)


def test_copa_that_competes_gets_more_from_a_flow_that_fills_the_queue():
    shares = []
    for competitive in (False, True):
        copa = {"cc": {"kind": "copa", "competitive": competitive}}
        shares.append(beside_reno(copa))
    assert shares[0] < 0.15
    assert shares[1] > 2 * shares[0]


def beside_reno(tcp):
    """Return the share that a flow gets beside one of Reno."""
    return beside(tcp, {"cc": "reno"}, start="1 s", end="60 s", limit="140 packets")["A"]


def beside(one, other, *, start, end, limit):
    """Return two flows' shares of the windows in the last half; the other starts late."""
    scenario = ackclock.Scenario.from_dict(
        {
            "topology": {
                "kind": "dumbbell",
                "leaves": 2,
                "access": {"rate": "1 Gbps", "delay": "1 ms"},
                "bottleneck": {
                    "rate": "20 Mbps",
                    "delay": "20 ms",
                    "queue": {"limit": limit},
                },
            },
            "flows": [
                {"id": "A", "from": "S1", "to": "D1", "tcp": one},
                {"id": "B", "from": "S2", "to": "D2", "tcp": other, "start": start},
            ],
            "stop": {"when": "time", "at_latest": end},
            "record": {"kind": "none", "cwnd": "every 100 ms"},
        }
    )
    table = ackclock.run(scenario).table("cwnd").to_pandas()
    late = table[table.time_s > table.time_s.max() / 2]
    mean = late.groupby("flow", observed=True).cwnd_bytes.mean()
    return (mean / mean.sum()).to_dict()


def test_ledbat_keeps_the_wait_at_its_target_and_yields():
    results = one_link(10, 40, {"cc": "ledbat"}, end_s=60, record=["cwnd", "queue"])
    least, mean, most = waiting(results, 30)
    target = 0.1 * 10e6 / 8 / PACKET
    # The least of four samples is at the target; a delayed ACK lets two packets come at once.
    assert least == pytest.approx(target, abs=2)
    assert mean == pytest.approx(target, rel=0.06)
    assert most < target + 14
    # Reno leaves the queue half empty after its cuts, which are seen as room.
    near, far = (beside_reno({"cc": {"kind": "ledbat", "target": f"{ms} ms"}}) for ms in (25, 60))
    assert near < far < 0.4
    assert near < 0.15


def test_a_latecomer_starves_a_flow_of_ledbat():
    """RFC 6817 is known for it: the second takes the queue of the first for the empty path."""
    shares = beside(
        {"cc": "ledbat"}, {"cc": "ledbat"}, start="20 s", end="200 s", limit="2000 packets"
    )
    assert shares["B"] > 0.9


@pytest.mark.parametrize("rate", ["10 Mbps", "50 Mbps"])
@pytest.mark.parametrize(("buffer", "least"), [("0.5 BDP", 0.9), ("1 BDP", 0.98), ("2 BDP", 0.99)])
def test_newreno_finds_its_sawtooth_after_many_losses_at_once(rate, buffer, least):
    """The first slow start loses a window of packets, and its recovery ends with a timeout.

    What duplicate ACKs have released until then is no measure of the path (`flight: window`). With
    `flight: next` the flow would overshoot again and again.
    """
    link = {"id": "L", "between": ["A", "B"], "rate": rate, "delay": "22 ms"}
    document = {
        "hosts": ["A", "B"],
        "links": [link | {"queue": {"limit": buffer}}],
        "flows": [{"id": "F", "from": "A", "to": "B", "tcp": "newreno"}],
        "stop": {"when": "time", "at_latest": "120 s"},
        "record": "none",
    }
    done = ackclock.run(Scenario.from_dict(document)).summary
    assert done["flows"]["F"]["timeouts"] <= 1
    assert done["links"]["L"]["forward"]["utilization"] > least
    document["flows"][0]["tcp"] = {"preset": "newreno", "flight": "next"}
    literal = ackclock.run(Scenario.from_dict(document)).summary
    assert literal["flows"]["F"]["timeouts"] > 50
