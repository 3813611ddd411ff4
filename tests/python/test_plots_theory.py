"""The plot of theory beside the run."""

import pytest

from ackclock import Scenario, run
from ackclock.plots import PlotError, figure
from ackclock.plots.theory import pairs
from ackclock.theory import compare, predict


def compared(name, seconds):
    results = run(Scenario.load(name).set("stop.at_latest", f"{seconds} s"))
    return results, compare(predict(results.model), results)


def test_ranges_and_equilibria_are_drawn_beside_what_was_measured():
    results, comparison = compared("teach/cubic-bbr", 60)
    found = pairs(comparison, set())
    rates = {one.subject: one for one in found["rate"]}
    assert set(rates) == {"cubic", "bbr"}
    for name, one in rates.items():
        assert one.low < one.high
        assert one.measured == pytest.approx(results.summary["flows"][name]["goodput_bps"], rel=0.3)
    assert "bbr" not in {one.subject for one in pairs(comparison, {"bbr"})["rate"]}
    drawn = figure(results, "theory")
    assert len(drawn.axes) >= len(found)


def test_an_equilibrium_is_one_line():
    _, comparison = compared("caltech/test-case-0-fast", 20)
    (window,) = pairs(comparison, set())["window"]
    assert window.low == window.high == pytest.approx(window.measured, rel=0.02)


def test_without_theory_it_says_so():
    document = Scenario.load("teach/sawtooth").set("stop.at_latest", "1 s").document
    udp = {"udp": {"source": {"kind": "cbr", "rate": "50 Mbps", "write": "500 B"}}}
    flows = [
        {key: value for key, value in flow.items() if key not in ("tcp", "send")} | udp
        for flow in document["flows"]
    ]
    results = run(Scenario.from_dict({**document, "flows": flows}))
    with pytest.raises(PlotError, match="theory"):
        figure(results, "theory")
