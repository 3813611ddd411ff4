"""The plot of flow completion times."""

import numpy as np
import pytest

import ackclock
from ackclock import Scenario, plots, sweep
from ackclock.plots.completion import Transfers, _sorted

SMALL = {
    "name": "transfers",
    "hosts": ["A", "B"],
    "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "5 ms"}],
    "flows": [
        {"id": f"t{n}", "from": "A", "to": "B", "send": f"{20 + 5 * n} kB", "start": f"{n * 50} ms"}
        for n in range(40)
    ]
    + [{"id": "endless", "from": "A", "to": "B", "tcp": "newreno"}],
    "stop": {"at_latest": "1.9 s"},
}


@pytest.fixture(scope="module")
def run():
    return ackclock.run(Scenario.from_dict(SMALL | {"record": "none"}))


def words(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_a_line_is_the_share_of_transfers_that_are_done(run):
    flows = {name: flow for name, flow in run.summary["flows"].items() if name != "endless"}
    begun = [flow for flow in flows.values() if flow["start_s"] < 1.9]
    done = sorted(f["completion_s"] for f in begun if f["completion_s"] is not None)
    assert 0 < len(done) < len(begun) < 40
    figure = plots.figure(run, "completion")
    shares, sizes = figure.axes
    times, share = (np.asarray(data, float) for data in shares.lines[0].get_data())
    for rank in (0, len(done) // 2, len(done) - 1):
        at = np.searchsorted(times, 1000 * done[rank] * (1 + 1e-12), side="right") - 1
        assert share[at] == pytest.approx((rank + 1) / len(begun))
    # The endless flow is no transfer, and those that did not finish keep the line below 100 %.
    assert share[-1] < 1 and len(sizes.lines[0].get_xdata()) == len(done)
    (entry,) = words(figure)
    assert f"({len(done)} transfers)" in entry
    p99 = np.quantile(done, 0.99, method="inverted_cdf")
    assert f"99th percentile {1000 * p99:.4g} ms" in entry


def test_a_run_without_transfers_says_so():
    flows = [flow for flow in SMALL["flows"] if flow["id"] == "endless"]
    alone = ackclock.run(Scenario.from_dict(SMALL | {"flows": flows, "record": "none"}))
    figure = plots.figure(alone, "completion")
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "no transfer finished" in texts


def test_runs_and_combinations_have_a_line_each(run, tmp_path):
    other = ackclock.run(Scenario.from_dict(SMALL | {"record": "none", "seed": 2}))
    assert len(words(plots.figure([run, other], "completion"))) == 2
    done = sweep.Study(Scenario.from_dict(SMALL), grid={"links.L.rate": ["5 Mbps", "20 Mbps"]}).run(
        tmp_path / "s"
    )
    figure = plots.figure_of_sweep(done, "completion")
    slow, fast = words(figure)
    assert "5 Mbps" in slow and "20 Mbps" in fast
    assert any("endless" in text.get_text() for text in figure.texts)


def test_none_of_a_group_may_have_finished():
    (group,) = _sorted({"a": [(None, 0.0), (None, 0.0)]})
    assert isinstance(group, Transfers) and group.count == 2 and not len(group.seconds)
