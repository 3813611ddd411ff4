"""What differs between two runs."""

import json

from ackclock import Scenario, run
from ackclock.differences import of_results, of_scenarios


def test_a_run_is_the_same_as_itself(ackclock):
    ackclock("run", "teach/tail-loss", "--no-plots", "--out", "a")
    done = ackclock("diff", "a", "teach/tail-loss")
    assert done.code == 0
    assert "The scenarios are the same." in done.out
    assert "Same run, to the bit" in done.out


def test_a_change_is_named_as_set_takes_it():
    first = Scenario.load("teach/sawtooth").set("stop.at_latest", "5 s")
    changed = first.set("links.bottleneck.rate", "5 Mbps")
    found = {one.what: (one.first, one.second) for one in of_scenarios(first, changed)}
    assert found == {"links.bottleneck.rate": ("10 Mbps", "5 Mbps")}
    figures = of_results(run(first), run(changed))
    (total,) = (d for d in figures if d.what == "run" and d.column.name == "goodput_bps")
    assert total.change is not None
    assert -0.6 < total.change < -0.4


def test_flows_that_only_one_run_has_are_shown(ackclock):
    done = ackclock("diff", "teach/sawtooth", "teach/cubic-bbr", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    assert not found["same"]
    flows = [d for d in found["results"] if d["what"] == "flow bbr"]
    assert flows
    assert all(d["first"] is None and d["change"] is None for d in flows)
    assert any(d["what"] == "flows.bbr" and d["first"] is None for d in found["scenario"])


def test_what_is_not_there_is_an_error(ackclock):
    done = ackclock("diff", "teach/sawtooth", "nowhere")
    assert done.code == 2
    assert "nowhere" in done.err
