"""YeAH, PCC Vivace, LEDBAT++ and TCP-LP, over one link and beside others."""

import numpy as np
import pytest
from test_congestion_laws import one_link, waiting, window
from test_window_laws import beside, beside_reno, mean_window


def goodputs(results):
    return [flow["goodput_bps"] / 1e6 for flow in results.summary["flows"].values()]


@pytest.mark.slow
def test_yeah_is_scalable_while_the_queue_is_empty():
    """An eighth is made good in ln(8/7) / ln(1.01) round trips; the recovery takes one more."""
    expected = 10_000 / (np.log(8 / 7) / np.log(1.01) + 1)
    assert mean_window("yeah", 10_000, 120) == pytest.approx(expected, rel=0.04)


@pytest.mark.slow
def test_yeah_takes_its_packets_out_of_a_queue_and_loses_none():
    queue = {"limit": "4000 packets"}
    tcp = {"cc": "yeah", "initial_ssthresh": 3000}
    results = one_link(400, 100, tcp, queue=queue, end_s=40, record=["queue"])
    # 80 packets, and what 4 % a round trip (the cut comes a round trip late) adds to 3400.
    assert waiting(results, 20)[2] < 80 + 2 * 0.015 * 3400
    assert results.summary["flows"]["F0"]["segments_dropped"] == 0
    assert goodputs(results)[0] > 0.95 * 400 * 1448 / 1500


def test_yeah_shares_with_reno():
    share = beside_reno({"cc": "yeah"})
    assert 0.35 < share < 0.65


def test_a_latecomer_does_not_starve_a_flow_of_ledbat_plus():
    """The same start gives a latecomer of LEDBAT over 0.9 (test_window_laws)."""
    late = {"start": "20 s", "end": "200 s", "limit": "2000 packets"}
    shares = beside({"cc": "ledbat++"}, {"cc": "ledbat++"}, **late)
    assert 0.4 < shares["A"] < 0.6


def test_ledbat_plus_keeps_its_target_but_for_slowdowns():
    tcp = {"cc": "ledbat++"}
    results = one_link(10, 40, tcp, queue={"limit": "400 packets"}, end_s=60, record=["queue"])
    least, mean, most = waiting(results, 20)
    target = 0.06 * 10e6 / 8 / 1500
    # In each slowdown the queue runs empty; between them it is at the target.
    assert least == 0
    assert 0.85 * target < mean < 1.05 * target + 5
    assert most < 1.3 * target + 5


def test_those_for_background_transfers_leave_most_to_reno():
    for cc in ("ledbat++", "lp"):
        assert beside_reno({"cc": cc}) < 0.2


def test_lp_uses_a_link_that_nobody_else_uses():
    results = one_link(10, 40, {"cc": "lp"}, queue={"limit": "400 packets"}, end_s=60)
    assert goodputs(results)[0] > 6


@pytest.mark.parametrize("flows", [1, 2])
def test_vivace_fills_the_link_and_keeps_the_queue_short(flows):
    queue = {"limit": "400 packets"}
    record = ["cwnd", "queue"]
    results = one_link(48, 50, {"cc": "vivace"}, flows=flows, queue=queue, end_s=40, record=record)
    rates = goodputs(results)
    assert sum(rates) > 0.85 * 48 * 1448 / 1500
    assert max(rates) < 1.15 * min(rates)
    # A bandwidth-delay product is 200 packets.
    assert waiting(results, 10)[1] < 100


def test_vivace_holds_its_rate_under_random_losses_that_halve_renos():
    loss = {"kind": "bernoulli", "p": 0.01}
    rates = {
        cc: goodputs(one_link(48, 50, {"cc": cc}, loss=loss, end_s=30))[0]
        for cc in ("vivace", "reno")
    }
    assert rates["vivace"] > 5 * rates["reno"]


def test_vivace_starts_by_doubling():
    results = one_link(48, 50, {"cc": "vivace"}, end_s=1, record=["cwnd"])
    time_s, cwnd = window(results)
    # Twice the rate in each round trip: 10, 20, ..., 200 segments within five round trips.
    assert cwnd[time_s < 0.3].max() > 200
