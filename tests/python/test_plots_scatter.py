"""Plots of sweeps: one result against another, and results of flows."""

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from made_sweeps import lines, notes, segments, sweep
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ackclock import plots, tables
from ackclock.errors import InputError
from ackclock.plots import Options, PlotError, figure_of_sweep
from ackclock.sweep import SweepResults


def test_one_result_against_another_has_a_mark_for_each_combination(delays):
    page = figure_of_sweep(delays, "scatter")
    (panel,) = page.axes
    assert panel.get_xlabel() == "Mean queueing delay (ms)"
    assert panel.get_ylabel() == "Total goodput (kbps)"
    marked = [line.get_xydata() for line in panel.lines if line.get_marker() == "o"]
    marks = [tuple(mark) for line in marked for mark in line]
    # By the size of the queue: means of runs 4 to 6, 1 to 3, 7 to 9, then those of Reno.
    expected = [(5, 210), (2, 210), (8, 210), (14, 310), (11, 310), (17, 310)]
    assert [*map(list, sorted(marks))] == [pytest.approx(one) for one in sorted(expected)]
    paths = [line.get_xydata() for line in panel.lines if line.get_marker() == "None"]
    assert [list(path[:, 0]) for path in paths] == [
        pytest.approx([5, 2, 8]),
        pytest.approx([14, 11, 17]),
    ]
    # Three replications: 4.302653 is Student's t of 97.5 % with two degrees of freedom.
    reaches = {tuple(np.round(np.ptp(bar, axis=0) / 2, 3)) for bar in segments(panel)}
    assert (round(4.302653 / 3**0.5, 3), 0.0) in reaches
    assert (0.0, round(43.02653 / 3**0.5, 3)) in reaches
    assert [text.get_text() for text in panel.texts] == ["2", "8", "32"] * 2
    said = notes(page)
    assert "Better is up and to the left." in said
    assert "95 % confidence intervals of means over 3 replications" in said
    assert "Numbers along the lines: queue (KB)." in said


@pytest.mark.slow
def test_numbers_along_lines_that_are_close_do_not_cover_each_other():
    def drawn(shift):
        rows = [
            (cc, queue, 0, [queue * 1e6]) for cc, queue in itertools.product("abc", (10, 50, 100))
        ]
        made = sweep(rows)
        table = [
            row | {"queueing_delay_s_mean": 0.1 + shift * "abc".index(row["cc"])}
            for row in made.table.to_pylist()
        ]
        made = SweepResults(pa.Table.from_pylist(table), "lab", ["cc", "queue"], 9, None)
        page = figure_of_sweep(made, "scatter")
        FigureCanvasAgg(page).draw()
        boxes = [text.get_window_extent() for text in page.axes[0].texts]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other)
        return len(boxes), "they are left out" in notes(page)

    assert drawn(0.03) == (9, False)
    assert drawn(0.001) == (9, False)
    crowded, said = drawn(0.0)
    assert said == (crowded < 9)


def test_results_of_a_scatter_can_be_chosen_and_words_have_marks(delays):
    wanted = Options(x="drops", y="fairness_jain", lines="queue")
    page = figure_of_sweep(delays, "scatter", options=wanted)
    (panel,) = page.axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("Lost (packets)", "Fairness")
    labels = [text.get_text() for text in page.legends[0].get_texts()]
    assert labels == ["queue 2 KB", "queue 8 KB", "queue 32 KB", "cc tahoe", "cc reno"]
    assert {line.get_marker() for line in panel.lines} == {"o", "s"}
    assert segments(panel)
    apart = figure_of_sweep(delays, "scatter", options=Options(facets=["queue"]))
    assert len(apart.axes) == 3
    assert len({axes.get_xlim() for axes in apart.axes}) == 1


def test_a_scatter_shows_means_over_the_same_runs_and_says_what_it_lacks(delays):
    rows = delays.table.to_pylist()
    rows[0]["queueing_delay_s_mean"] = None
    gaps = SweepResults(pa.Table.from_pylist(rows), "lab", ["cc", "queue"], len(rows), None)
    page = figure_of_sweep(gaps, "scatter", options=Options(where={"queue": "8 KB"}))
    marks = [line.get_xydata()[0] for line in page.axes[0].lines if len(line.get_xdata()) < 2]
    # Of runs 2 and 3, whose goodputs are 210 and 220.
    assert list(marks[0]) == pytest.approx([2.5, 215])
    assert "Left out: 1 of 6 runs, which lack queueing_delay_s_mean or goodput_bps." in notes(page)
    for row in rows:
        row["queueing_delay_s_mean"] = None
    none = SweepResults(pa.Table.from_pylist(rows), "lab", ["cc", "queue"], len(rows), None)
    with pytest.raises(InputError, match="queueing_delay_s_mean"):
        figure_of_sweep(none, "scatter")


def test_flows_are_aggregated_as_in_tables(delays):
    wanted = Options(value="completion_s", aggregate="p95", where={"cc": ["tahoe"]})
    page = figure_of_sweep(delays, "sweep-lines", options=wanted)
    (panel,) = page.axes
    assert panel.get_ylabel() == "Completion time, 95th percentile (s)"
    (curve,) = lines(panel)
    table = tables.of_sweep(delays.table, "flows").where({"cc": ["tahoe"]})
    shares = tables.grouped(table, ["queue"], ["completion_s"], "p95").values("completion_s")
    assert shares == [16.0, np.inf, 19.0]
    assert list(curve.get_ydata()) == [16.0, 19.0]
    assert not segments(panel), "a percentile has no interval of a mean"
    said = notes(page)
    assert "Each value is the 95th percentile over 2 flows and 3 replications." in said
    assert "1 of 18 flows of all runs have no completion_s, since they did not finish" in said
    assert "Not drawn: 1 of 3 values, whose 95th percentile is of an unfinished flow." in said
    median = figure_of_sweep(delays, "sweep-lines", options=replace(wanted, aggregate="median"))
    assert list(lines(median.axes[0])[0].get_ydata()) == [10.0, 7.5, 13.0]
    never = figure_of_sweep(delays, "heat-map", options=replace(wanted, where={}))
    assert [text.get_text() for text in never.axes[0].texts].count("never") == 1
    against = Options(x="completion_s", aggregate="p95")
    page = figure_of_sweep(delays, "scatter", options=against)
    assert (
        sum(len(line.get_xydata()) for line in page.axes[0].lines if line.get_marker() == "o") == 5
    )
    assert "Not drawn: 1 of 6 values" in notes(page)
    one = replace(wanted, where={"cc": ["tahoe"], "queue": ["8 KB"]}, x="queue")
    with pytest.raises(PlotError, match="each 95th percentile of 'completion_s' is of a flow that"):
        figure_of_sweep(delays, "sweep-lines", options=one)
    heat = figure_of_sweep(delays, "heat-map", options=Options(aggregate="max", what="flows"))
    assert "Goodput, maximum (kbps)" in notes(heat)
    cells = {text.get_position(): text.get_text() for text in heat.axes[0].texts}
    assert cells[(0, 0)] == "120" and cells[(2, 1)] == "220"
    mean = figure_of_sweep(delays, "sweep-lines", options=Options(what="flows"))
    assert [line.get_ydata()[0] for line in mean.axes[0].lines] == pytest.approx([105, 155])
    assert "Each value is the mean over 2 flows and 3 replications." in notes(mean)


@pytest.mark.parametrize(("kind", "more"), [("sweep-lines", {}), ("scatter", {"x": "drops"})])
def test_many_marks_let_each_other_shine_through(kind, more):
    def marks(count):
        made = sweep([("a", i, 0, [1e5 * i]) for i in range(1, count + 1)])
        page = figure_of_sweep(made, kind, options=Options(lines="cc", **more))
        return [line for line in page.axes[0].lines if line.get_marker() == "o"]

    (few,), (many,) = marks(40), marks(400)
    assert (len(few.get_xdata()), len(many.get_xdata())) == (40, 400)
    assert few.get_markeredgewidth() > 0 == many.get_markeredgewidth()
    assert many.get_alpha() < 1 and many.get_markersize() < few.get_markersize()


def test_what_is_asked_is_checked_before_anything_is_drawn(delays, tmp_path, monkeypatch):
    monkeypatch.setattr("ackclock.plots.scatter.draw", lambda view: pytest.fail("was drawn"))
    wanted = Options(where={"cc": ["reno"]})
    with pytest.raises(PlotError, match="a heat map needs two different axes"):
        plots.plot_sweep(delays, ["scatter", "heat-map"], "svg", tmp_path, options=wanted)
