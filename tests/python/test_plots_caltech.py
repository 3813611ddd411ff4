"""Plots of real runs against the figures of the Caltech paper (Bhasin, Luo, Su, Yang 2015)."""

import numpy as np
import pytest
from test_plots import legend, lines, panels

from ackclock import plots
from ackclock.plots import palette
from ackclock.plots.view import View
from ackclock.results import Results
from ackclock.run import run
from ackclock.scenario import Scenario


@pytest.fixture(scope="module")
def alternating():
    return run(Scenario.load("caltech/test-case-1-fast"))


@pytest.fixture(scope="module")
def sawtooth():
    return run(Scenario.load("caltech/test-case-0-reno"))


def test_figure_8_alternates_between_two_links(alternating):
    view = View(alternating)
    assert {round(change.time_s, 2) for change in view.route_changes} == {5.15, 10.15, 15.15}
    assert {"L1", "L2"} <= {lane.link for lane in view.lanes}
    found = panels(plots.figure(alternating, "overview", links=["L1", "L2"]))
    axes = found["Link rate"]
    for color, busy, idle in (
        (view.link_color["L1"], (2.0, 12.0), (8.0, 17.0)),
        (view.link_color["L2"], (8.0, 17.0), (2.0, 12.0)),
    ):
        line = lines(axes, color)[0]
        times, rates = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        at = np.searchsorted(times, [*busy, *idle], side="right") - 1
        assert rates[at] == pytest.approx([10, 10, 0, 0], abs=0.2)
    (window,) = lines(found["Congestion window"], palette.FLOWS[0])
    assert np.median(window.get_ydata()) == pytest.approx(130, abs=1)
    (rtt,) = lines(found["Round-trip time"], palette.FLOWS[0])
    assert np.median(rtt.get_ydata()) == pytest.approx(107.8, abs=0.5)
    assert found["Packets lost"].get_legend() is None


def test_figure_5_counts_the_losses_of_each_window(sawtooth):
    found = panels(plots.figure(sawtooth, "overview"))
    axes = found["Packets lost"]
    assert legend(axes) == ["L1: 32"]
    (bars,) = axes.collections
    heights = [segment[1][1] for segment in bars.get_segments()]
    assert heights == [24, 1, 1, 1, 1, 1, 1, 1, 1]
    queue = found["Queue length"].collections[0]
    assert max(path.vertices[:, 1].max() for path in queue.get_paths()) == 63


@pytest.mark.slow
def test_a_run_directory_gives_the_same_figures_as_the_run(sawtooth, tmp_path):
    directory = sawtooth.save(tmp_path / "run")
    (first,) = plots.plot(sawtooth, ["overview"], out=tmp_path / "a")
    (second,) = plots.plot(Results.load(directory), ["overview"], out=tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()


def test_a_record_that_the_scenario_switches_off():
    results = run(
        Scenario.load(
            "caltech/test-case-0-fast", overrides=[("record.rtt", "off"), ("flows.F1.send", "1 MB")]
        )
    )
    with pytest.raises(plots.PlotError, match=r"--set record\.rtt=changes"):
        plots.figure(results, "flow-rtt")
    assert "Congestion window" in panels(plots.figure(results, "overview"))
