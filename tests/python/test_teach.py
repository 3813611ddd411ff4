"""The scenarios that teach: what they say happens."""

import numpy as np
import pytest

from ackclock import Results, Scenario, run
from ackclock.metrics import select

pytestmark = pytest.mark.slow


def runs(name: str, **changes: str) -> Results:
    """Run a scenario; of the records, transmissions alone."""
    scenario = Scenario.load(f"teach/{name}")
    for path, value in changes.items():
        scenario = scenario.set(path, value)
    return run(scenario.set("record", {"kind": "none", "transmissions": "changes"}))


def mbps(results: Results) -> dict[str, float]:
    """Goodputs by flow."""
    return {name: flow["goodput_bps"] / 1e6 for name, flow in results.summary["flows"].items()}


def test_bbr_wins_at_small_buffers_and_cubic_at_large_ones():
    shares, rates = [], []
    for room in (1, 2, 4, 16):
        changes = {"links.bottleneck.forward.queue.limit": f"{room} BDP"}
        found = mbps(runs("cubic-bbr", **changes))
        shares.append(found["cubic"] / sum(found.values()))
        rates.append(found["cubic"])
    assert rates == pytest.approx([2.2, 7.7, 10.9, 13.9], abs=0.05)
    assert shares == sorted(shares)
    assert shares[0] < 0.2 and shares[1] < 0.5 < shares[2] and shares[3] > 0.65


def test_codel_takes_the_wait_away_that_a_download_makes_for_a_call():
    def call(name: str) -> tuple[float, float, float]:
        results = runs(name)
        time_s, entered_s = select(
            results,
            "transmissions",
            ("time_s", "entered_s"),
            link="bottleneck",
            direction="forward",
            flow="call",
        )
        wait = (time_s - entered_s)[time_s > 10]
        return float(np.mean(wait)), float(np.max(wait)), mbps(results)["download"]

    mean, longest, rate = call("bufferbloat")
    assert 0.3 < mean < 0.38 and longest == pytest.approx(0.4, rel=0.02)
    mean, longest, with_codel = call("bufferbloat-codel")
    assert mean == pytest.approx(0.003, abs=2e-4) and longest == pytest.approx(0.0104, abs=1e-4)
    assert with_codel / rate == pytest.approx(0.94, abs=0.01)


def test_cubic_is_fairer_than_reno_to_a_far_flow():
    reno, cubic = (mbps(runs(f"rtt-unfairness-{name}")) for name in ("reno", "cubic"))
    assert reno["near"] / reno["far"] == pytest.approx(7.6, abs=0.1)
    assert cubic["near"] / cubic["far"] == pytest.approx(3.2, abs=0.1)


def test_only_rack_repairs_a_lost_retransmission_without_the_timer():
    flows = runs("lost-retransmission").summary["flows"]
    assert {name: flow["timeouts"] for name, flow in flows.items()} == {
        "reno": 1,
        "newreno": 1,
        "sack": 1,
        "rack": 0,
    }
    assert all(flow["retransmissions"] == 2 for flow in flows.values())
    assert flows["rack"]["finish_s"] == pytest.approx(0.416, abs=0.005)
    assert flows["sack"]["finish_s"] == pytest.approx(1.28, abs=0.005)
    assert min(flows[name]["finish_s"] for name in ("reno", "newreno")) > 1.1


def test_a_probe_finds_the_loss_of_the_tail_before_the_timer():
    flows = runs("tail-loss").summary["flows"]
    assert (flows["probe"]["timeouts"], flows["no-probe"]["timeouts"]) == (0, 1)
    assert flows["probe"]["finish_s"] < flows["no-probe"]["finish_s"] - 0.08


def test_a_spurious_timeout_is_undone():
    flows = runs("spurious-timeout").summary["flows"]
    assert all(flow["timeouts"] == 1 for flow in flows.values())
    assert flows["undoes"]["spurious_retransmissions"] == 1
    assert flows["believes"]["spurious_retransmissions"] == 20
    assert flows["undoes"]["finish_s"] < 0.7 * flows["believes"]["finish_s"]


def test_a_flow_with_ecn_loses_nothing_and_gets_about_as_much():
    results = runs("ecn")
    flows, found = results.summary["flows"], mbps(results)
    assert flows["marks"]["retransmissions"] == 0
    assert flows["drops"]["retransmissions"] > 40
    assert flows["marks"]["ecn_reductions"] > 40
    assert found["marks"] / found["drops"] == pytest.approx(1, abs=0.1)
