"""Where the picture of a liquid does not hold, the theory declines and says why."""

import pytest

from ackclock import Scenario, run
from ackclock.theory import compare, predict

SENDER = {"sender": "selective-repeat"}
FAST = {"kind": "fast", "alpha": 20}


def scenario(links=(("10 Mbps", "10 ms", "half"),), flows=1, cc=FAST, **more):
    """A chain of links between two hosts, over which flows go to the far end."""
    nodes = ["A", *(f"R{i}" for i in range(1, len(links))), "B"]
    made = [
        {"id": f"L{i}", "between": nodes[i : i + 2], "rate": rate, "delay": delay, "duplex": duplex}
        for i, (rate, delay, duplex) in enumerate(links)
    ]
    data = {
        "hosts": ["A", "B"],
        "routers": nodes[1:-1],
        "links": [{**link, "queue": {"limit": "10 MB"}} for link in made],
        "flows": [
            {
                "id": f"F{i}",
                "from": "A",
                "to": "B",
                "send": "unlimited",
                "tcp": {**SENDER, "cc": cc},
            }
            for i in range(flows)
        ],
        "stop": {"when": "time", "at_latest": "20 s"},
    }
    return Scenario.from_dict(data | more)


def access(factor, duplex):
    """A half-duplex link between two that are faster by a factor."""
    outer = (f"{round(10e6 * factor)} bps", "1 ms", duplex)
    return (outer, ("10 Mbps", "10 ms", "half"), outer)


@pytest.mark.parametrize("duplex", ["half", "full"])
@pytest.mark.parametrize("cc", [FAST, {"kind": "fixed", "window": 60}], ids=["fast", "fixed"])
@pytest.mark.parametrize(("factor", "mixes"), [(1.25, True), (2, True), (10, False)])
def test_data_and_acks_that_stay_apart_are_not_predicted(factor, mixes, cc, duplex):
    chosen = scenario(access(factor, duplex), cc=cc)
    prediction = predict(chosen.model)
    rate = run(chosen.set("record", "none")).summary["flows"]["F0"]["goodput_bps"]
    if mixes:
        assert prediction.periods[-1].flows["F0"].rate_bps == pytest.approx(rate, rel=0.03)
    else:
        assert not prediction.periods
        assert "data and ACKs wait in the queue of L1" in prediction.notes[0]
        # It would have been the capacity: the link idles between the blocks.
        assert rate < 0.9 * 1e7


def test_a_clock_of_its_own_mixes_data_and_acks():
    chosen = scenario(cc={**FAST, "update": "period"})
    assert compare(predict(chosen.model), run(chosen)).agrees
    assert not predict(scenario().model).periods


STEPS = [{"at": "0 s", "rate": "10 Mbps"}, {"at": "5 s", "rate": "5 Mbps"}]


@pytest.mark.parametrize(
    ("path", "value", "note"),
    [
        ("links.L0.loss", {"kind": "bernoulli", "p": 0.1}, "packets are lost on L0"),
        ("links.L0.jitter", {"kind": "uniform", "spread": "1 ms"}, "delays vary by jitter on L0"),
        ("links.L0.rate", {"kind": "table", "steps": STEPS}, "the rate varies on L0"),
        ("links.L0.corruption", 0.1, "packets are damaged or duplicated on L0"),
        ("links.L0.duplication", 0.1, "packets are damaged or duplicated on L0"),
        ("links.L0.queue", {"kind": "codel"}, "flows whose queues drop or mark early"),
        ("links.L0.changes", [{"at": "5 s", "rate": "5 Mbps"}], "rate, delay or state change"),
    ],
)
def test_what_no_law_knows_is_named(path, value, note):
    chosen = scenario((("10 Mbps", "10 ms", "full"),))
    assert predict(chosen.model).periods
    prediction = predict(chosen.set(path, value).model)
    assert not prediction.periods
    assert note in prediction.notes[0]


def test_a_schedule_of_datagrams_is_known_by_its_largest():
    udp = {"source": {"kind": "schedule", "writes": [["0 s", "1000 B"], ["1 s", "400 B"]]}}
    flow = {"id": "U", "from": "A", "to": "B", "udp": udp}
    chosen = scenario((("10 Mbps", "10 ms", "full"),)).set("flows", [flow])
    prediction = predict(chosen.model)
    assert prediction.flows["U"].empty_rtt_s == pytest.approx(0.0108)
    assert "no theory applies to schedule" in prediction.notes[0]


def test_shares_that_depend_on_single_packets_are_shown_but_not_judged():
    """Two flows begin together: one finds the burst of the other, and takes it for the path."""
    chosen = scenario((("10 Mbps", "10 ms", "full"),), flows=2)
    chosen = chosen.set("flows.F1.tcp.cc.alpha", 50)
    comparison = compare(predict(chosen.model), run(chosen))
    assert comparison.agrees is None
    assert any("depends on single packets" in note for note in comparison.notes)
    rates = {f.subject: f.error for f in comparison.figures if f.quantity == "rate"}
    assert max(map(abs, rates.values())) > 0.03
    # With enough time between the starts it is certain.
    apart = chosen.set("flows.F1.start", "8 s")
    prediction = predict(apart.model)
    assert not prediction.uncertain
    assert compare(prediction, run(apart)).agrees
