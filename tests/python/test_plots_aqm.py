"""The table and the plot of what queue disciplines compute."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import ackclock
from ackclock import InputError, Scenario, plots
from ackclock.metrics.series import select
from ackclock.plots import palette

DOCUMENT = {
    "name": "aqm",
    "hosts": ["A", "B"],
    "routers": ["R"],
    "links": [
        {"id": "in", "between": ["A", "R"], "rate": "100 Mbps", "delay": "1 ms"},
        {"id": "L", "between": ["R", "B"], "rate": "10 Mbps", "delay": "10 ms"},
    ],
    "flows": [{"id": "F", "from": "A", "to": "B", "tcp": "newreno"}],
    "stop": {"at_latest": "10 s"},
}
RED = {"kind": "red", "min": "5 packets", "max": "15 packets"}


def run(queue, **record):
    """The run with this queue at the bottleneck."""
    links = [DOCUMENT["links"][0], DOCUMENT["links"][1] | {"queue": queue}]
    return ackclock.run(Scenario.from_dict(DOCUMENT | {"links": links, "record": record or "all"}))


def values(results, variable):
    names = {"link": "L", "direction": "forward", "variable": variable}
    return select(results, "aqm", ("time_s", "value"), **names)


def titled(figure):
    return {text.get_text(): axes for axes in figure.axes for text in axes.texts}


def test_the_average_of_red_is_that_of_its_queue():
    """Each arrival moves it by `weight` towards what waits then, while the link is busy."""
    results = run(RED | {"weight": 0.01})
    times, average = values(results, "average-packets")
    at, waiting = select(
        results, "queue", ("time_s", "queue_packets"), link="L", direction="forward"
    )
    moved = (average[1:] - 0.99 * average[:-1]) / 0.01
    # What an arrival finds is what the latest row says; if that is its own, the one before.
    latest = np.searchsorted(at, times[1:], side="right") - 1
    own = (at[latest] == times[1:]) & (waiting[latest] > waiting[latest - 1])
    found = waiting[latest - own]
    busy = found > 0
    assert busy.sum() > 1000
    assert np.abs(moved[busy] - found[busy]).max() < 1e-6
    assert {row["variable"] for row in results.table("aqm").to_pylist()} == {
        "average-packets",
        "probability",
    }


def test_a_row_is_a_change_and_fewer_can_be_kept():
    every = run({"kind": "pie"})
    times, p = values(every, "probability")
    assert np.all(np.diff(p) != 0) and np.all(np.diff(times) > 0) and len(p) > 50
    fewer = run({"kind": "pie"}, kind="none", aqm="every 1 s")
    assert set(fewer.tables) == {"aqm"}
    kept_at, kept = values(fewer, "probability")
    assert 5 <= len(kept) <= 11
    assert set(zip(kept_at, kept, strict=True)) <= set(zip(times, p, strict=True))
    assert "aqm" not in run({"kind": "pie"}, aqm="off").tables


def test_recording_changes_nothing():
    summary = run({"kind": "codel"}).summary
    assert summary["digest"] == run({"kind": "codel"}, kind="none").summary["digest"]


def test_red_is_drawn_with_its_queue_and_thresholds():
    panels = titled(plots.figure(run(RED | {"adaptive": "floyd"}), "aqm", links=["L"]))
    average = panels["Average queue"]
    levels = {line.get_ydata()[0] for line in average.lines if len(set(line.get_ydata())) == 1}
    assert {5.0, 15.0} <= levels
    # The queue beside its average.
    assert {to_hex(line.get_color()).upper() for line in average.lines} >= {
        palette.RULE.upper(),
        palette.INK.upper(),
    }
    in_bytes = run({"kind": "red", "min": "5 kB", "max": "15 kB"})
    average = titled(plots.figure(in_bytes, "aqm", links=["L"]))["Average queue"]
    levels = {line.get_ydata()[0] for line in average.lines if len(set(line.get_ydata())) == 1}
    assert {5000.0, 15_000.0} <= levels
    assert palette.RULE.upper() in {to_hex(line.get_color()).upper() for line in average.lines}
    # `max_p` is a probability, and has its own scale.
    assert 0 < panels["Adaptive RED"].get_ylim()[1] < 1


def test_a_run_without_such_a_queue_says_so():
    figure = plots.figure(run("droptail"), "aqm")
    assert any("RED, PIE or CoDel" in text for text in titled(figure))
    with pytest.raises(InputError, match="aqm"):
        plots.figure(run({"kind": "pie"}, aqm="off"), "aqm")
