"""Traffic sources: what the scenarios of `sources/` say, and what summaries and theory tell."""

import pytest

from ackclock import Scenario, run, theory

ALL = range(1, 17)


def summary(name, *changes, seed=1):
    scenario = Scenario.load(name).set("record", "none").set("seed", seed)
    for path, value in changes:
        scenario = scenario.set(path, value)
    return run(scenario).summary


def periods(kind):
    """Another law of the lengths for all sources of `sources/pareto`."""
    for flow in ALL:
        for period, mean in (("on", 100), ("off", 300)):
            yield f"flows.F{flow}.udp.source.{period}", f"{{kind: {kind}, mean: {mean} ms}}"


def test_a_stream_of_small_writes_leaves_room_and_whole_segments_do_not():
    name = "sources/on-off-over-tcp"
    stream = summary(name)
    whole = summary(name, ("defaults.tcp.writes", "whole-segments"))
    bulk = summary(name, *((f"flows.F{i}.tcp.source", "bulk") for i in range(3)))
    assert stream["links"]["L3"]["forward"]["utilization"] == pytest.approx(0.735, abs=0.001)
    assert stream["links"]["L3"]["forward"]["drops"]["queue-full"] == 159
    assert whole["links"]["L3"]["forward"]["utilization"] == pytest.approx(0.92, abs=0.001)
    for key in ("segments_sent", "segments_dropped", "bytes_delivered", "timeouts"):
        counts = [[flow[key] for flow in one["flows"].values()] for one in (whole, bulk)]
        assert counts[0] == counts[1], key
    for flow in stream["flows"].values():
        # Half of 20 s at 0.5 Mbps; what ends an on-period is forgotten.
        assert flow["bytes_written"] == pytest.approx(625_000, rel=0.005)
        assert flow["bytes_delivered"] <= flow["bytes_written"]


def test_bursts_keep_a_tcp_flow_from_its_share():
    name = "sources/udp-bursts-against-tcp"
    bursts = summary(name)
    link = bursts["links"]["L"]["forward"]
    assert bursts["flows"]["T"]["goodput_bps"] / 1e6 == pytest.approx(3.33, abs=0.01)
    assert link["utilization"] == pytest.approx(0.708, abs=0.001)
    source = "{kind: cbr, rate: 4 Mbps, write: 1000 B}"
    smooth = summary(name, ("flows.U.udp.source", source))
    assert smooth["flows"]["T"]["goodput_bps"] / 1e6 == pytest.approx(5.82, abs=0.01)


def test_long_tails_fill_the_queue():
    name = "sources/pareto"
    pareto = summary(name)["links"]["L"]["forward"]
    exponential = summary(name, *periods("exponential"))["links"]["L"]["forward"]
    fixed = summary(name, *periods("fixed"))["links"]["L"]["forward"]
    assert pareto["queue_packets"] == {"mean": pytest.approx(56.1, abs=0.1), "max": 1570}
    assert exponential["queue_packets"] == {"mean": pytest.approx(24.9, abs=0.1), "max": 304}
    assert fixed["queue_packets"] == {"mean": pytest.approx(111.6, abs=0.1), "max": 279}
    assert fixed["utilization"] == pytest.approx(0.8)


def test_theory_has_no_law_for_a_flow_that_the_application_limits():
    scenario = Scenario.load("caltech/test-case-0-fast")
    assert theory.predict(scenario.model).periods
    limited = scenario.set("flows.F1.tcp.source", "{kind: cbr, rate: 1 Mbps}")
    prediction = theory.predict(limited.model)
    assert not prediction.periods
    assert any("no theory applies" in note for note in prediction.notes)
