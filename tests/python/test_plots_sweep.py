"""Plots of sweeps, fairness and windows: the data drawn, the choice of axes, refusals."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from made_sweeps import lines, notes, segments, sweep
from matplotlib.text import Text
from plot_runs import Maker, link, model, tcp_flow

from ackclock import plots
from ackclock.cli.app import main
from ackclock.cli.options import read_where
from ackclock.errors import InputError
from ackclock.plots import Options, PlotError, figure, figure_of_sweep
from ackclock.plots.across import across
from ackclock.plots.facets import beside
from ackclock.sweep import Study, SweepResults, load


def test_a_plot_of_a_sweep_says_that_runs_are_missing(grid):
    whole = figure_of_sweep(grid, "heat-map")
    assert not any("not complete" in text.get_text() for text in whole.findobj(Text))
    grid.runs += 6
    partial = figure_of_sweep(grid, "heat-map")
    assert any(
        "18 runs  ·  the sweep is not complete: 18 of 24 runs" in text.get_text()
        for text in partial.findobj(Text)
    )


def test_a_line_for_each_word_over_the_numbers(grid):
    drawn = figure_of_sweep(grid, "sweep-lines")
    (panel,) = drawn.axes
    assert panel.get_xscale() == "log"
    assert panel.get_xlabel() == "queue (KB)"
    assert [text.get_text() for text in panel.get_xticklabels()] == ["2", "8", "32"]
    tahoe, reno = lines(panel)
    assert list(tahoe.get_xdata()) == [2e3, 8e3, 32e3]
    assert list(tahoe.get_ydata()) == pytest.approx([210, 210, 210])  # kbps, mean of replications
    assert list(reno.get_ydata()) == pytest.approx([310, 310, 310])
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["cc tahoe", "cc reno"]


def test_error_bars_are_intervals_over_replications(grid):
    (panel,) = figure_of_sweep(grid, "sweep-lines").axes
    bars = segments(panel)
    assert len(bars) == 6
    # 200, 210, 220: s = 10, t(0.975, 2) = 4.302653.
    reach = 4.302652729696142 * 10 / 3**0.5
    assert list(bars[0][:, 1]) == pytest.approx([210 - reach, 210 + reach])


def test_each_flow_has_a_line_with_intervals_over_replications_of_its_own(grid):
    page = figure_of_sweep(grid, "sweep-lines", options=Options(lines="flow"))
    first, second = page.axes  # a panel for each algorithm
    rates = {axes: [line.get_ydata()[0] for line in lines(axes)] for axes in page.axes}
    assert rates[first] == pytest.approx([110, 100])
    assert rates[second] == pytest.approx([210, 100])
    only = figure_of_sweep(grid, "heat-map", options=Options(where={"flow": ["F1", "F2"]}))
    assert len(only.axes) == 2, "flows are not averaged"
    with pytest.raises(PlotError, match="bar for each flow"):
        figure_of_sweep(grid, "fairness", options=Options(facets=["flow"]))


def test_the_legend_of_flows_alone_names_them(grid):
    wanted = Options(where={"cc": ["reno"], "queue": ["2 KB"]})
    page = figure_of_sweep(grid, "throughput-delay", options=wanted)
    said = [text.get_text() for text in page.findobj(Text)]
    assert not any(text.startswith(",") for text in said)


def with_rtt(rtts, rows):
    """A sweep of these rows; flows of a run have these round-trip times."""
    made = sweep(rows)
    table = made.table.to_pylist()
    for row in table:
        for flow, rtt in zip(row["flows"], rtts, strict=True):
            flow["rtt_s_mean"] = rtt
    return SweepResults(pa.Table.from_pylist(table), "lab", ["cc", "queue"], len(rows), None)


def test_flows_without_a_round_trip_time_are_counted():
    made = with_rtt([0.1, None, None], [("a", 1, 0, [1e5, 2e5, 0.0]), ("b", 1, 0, [2e5, 2e5, 1e3])])
    page = figure_of_sweep(made, "throughput-delay")
    assert len(page.axes[0].lines) == 2
    assert "Not drawn: 4 without an RTT sample." in notes(page)


def test_a_legend_of_very_many_combinations_has_colours_and_marks():
    rows = [(cc, queue, 0, [1e5, 2e5]) for cc in "abcde" for queue in (1, 2, 3)]
    page = figure_of_sweep(with_rtt([0.1, 0.2], rows), "throughput-delay")
    labels = [text.get_text() for text in page.legends[0].get_texts()]
    # 30 combinations: 6 colours of queues and flows, and 5 marks.
    assert len(labels) == 11
    assert {"queue 1, F1", "queue 3, F2", "cc a", "cc e"} < set(labels)
    drawn = page.axes[0].lines
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == len(drawn) == 30


@pytest.mark.parametrize("kind", ["throughput-delay", "scatter"])
def test_a_mark_at_zero_is_whole(kind):
    made = with_rtt([0.1], [("a", 1, 0, [0.0]), ("b", 1, 0, [1e6])])
    options = Options(x="drops") if kind == "scatter" else None
    page = figure_of_sweep(made, kind, options=options)
    marks = [line for line in page.axes[0].lines if line.get_marker() not in (None, "None", "")]
    assert len(marks) == 2
    assert not any(line.get_clip_on() for line in marks)


def test_an_unknown_result_is_answered_with_those_of_runs_and_of_flows(grid):
    with pytest.raises(InputError) as caught:
        figure_of_sweep(grid, "sweep-lines", options=Options(value="nosuch"))
    runs, flows = str(caught.value).split("; of flows: ")
    assert "of runs: " in runs and "fairness_jain" in runs
    assert "bytes_delivered" in flows
    with pytest.raises(InputError, match="did you mean 'bytes_delivered'"):
        figure_of_sweep(grid, "sweep-lines", options=Options(value="bytes_deliverd"))


def test_axes_can_be_chosen(grid):
    options = Options(x="cc", lines="queue", value="drops")
    (panel,) = figure_of_sweep(grid, "sweep-lines", options=options).axes
    assert [text.get_text() for text in panel.get_xticklabels()] == ["tahoe", "reno"]
    curves = lines(panel)
    assert len(curves) == 3
    assert curves[0].get_linestyle() == "None"  # no line between words
    places = [curve.get_xdata()[0] for curve in curves]
    assert len(set(places)) == 3  # beside each other


def test_what_is_left_over_becomes_panels():
    made = sweep(
        [
            (cc, queue, segment, 0, [1e5])
            for cc in ("tahoe", "reno")
            for queue in (1, 2, 3, 4)
            for segment in ("128 B", "512 B")
        ],
        ("cc", "queue", "segment"),
    )
    first, second = figure_of_sweep(made, "sweep-lines").axes
    assert [len(lines(panel)) for panel in (first, second)] == [2, 2]
    assert [panel.texts[0].get_text() for panel in (first, second)] == [
        "segment 128 B",
        "segment 512 B",
    ]
    one = figure_of_sweep(made, "sweep-lines", options=Options(where=(("segment", ("128 B",)),)))
    assert len(one.axes) == 1


@pytest.mark.slow
def test_axes_that_advance_together_make_one_line():
    pairs = (("1 Mbps", "30 ms"), ("3 Mbps", "10 ms"), ("4 Mbps", "20 ms"))
    rows = [
        (*pair, cc, 0, [i * 1e6 + j * 1e5])
        for i, pair in enumerate(pairs, 1)
        for j, cc in enumerate(("reno", "cubic"))
    ]
    study = sweep(rows, axes=("rate", "delay", "cc"))
    both = figure_of_sweep(study, "sweep-lines")
    (axes,) = both.axes
    drawn = {tuple(line.get_ydata()) for line in axes.lines if len(line.get_ydata()) == 3}
    assert drawn == {(1.0, 2.0, 3.0), (1.1, 2.1, 3.1)}
    assert any("together with rate: delay" in text.get_text() for text in both.findobj(Text))
    asked = figure_of_sweep(study, "sweep-lines", options=Options(lines="delay"))
    assert len(asked.axes) == 2  # a panel for each algorithm


def test_panels_of_long_axes_have_different_heads():
    axes = ("links.bottleneck.queue.limit", "flows.F1.tcp.cc", "flows.F2.tcp.cc")
    made = sweep(
        [
            (limit, one, other, 0, [1e5])
            for limit in ("10 packets", "20 packets")
            for one in ("reno", "fast")
            for other in ("reno", "fast")
        ],
        axes,
    )
    figure = figure_of_sweep(made, "fairness")
    heads = [panel.texts[-1].get_text() for panel in figure.axes]
    assert len(set(heads)) == 8
    assert heads[0] == "limit 10 packets, F1.tcp.cc reno, F2.tcp.cc reno"
    assert "limit: links.bottleneck.queue.limit" in " ".join(t.get_text() for t in figure.texts)


def test_a_heat_map_shows_means_in_cells(grid):
    (panel,) = figure_of_sweep(grid, "heat-map").axes
    cells = {text.get_position(): text.get_text() for text in panel.texts}
    # Queues along the bottom, since they are numbers; algorithms up the side.
    assert cells[(0, 0)] == "210" and cells[(2, 1)] == "310"
    values = np.asarray(panel.images[0].get_array())
    assert values == pytest.approx(np.array([[210.0] * 3, [310.0] * 3]))
    assert [text.get_text() for text in panel.get_yticklabels()] == ["tahoe", "reno"]


def test_a_missing_cell_of_a_heat_map_says_so():
    made = sweep([("a", 1, 0, [1e5]), ("a", 2, 0, [2e5]), ("b", 1, 0, [3e5])])
    (panel,) = figure_of_sweep(made, "heat-map").axes
    assert sorted(text.get_text() for text in panel.texts) == ["100", "200", "300", "no run"]


def test_an_aggregate_has_a_file_of_its_own(delays, tmp_path):
    wanted = Options(value="completion_s", aggregate="p95")
    (file,) = plots.plot_sweep(delays, "sweep-lines", "svg", tmp_path, options=wanted)
    assert file.name == "sweep-lines-completion_s-p95.svg"


@pytest.mark.parametrize("nothing", [0.0, None])
def test_a_flow_that_never_started_has_no_bar_and_no_share(nothing):
    made = sweep([("a", 1, 0, [2e5, 4e5, 0.0]), ("b", 1, 0, [2e5, 4e5, 0.0])])
    flows = made.table["flows"].to_pylist()
    for entry in flows:
        entry[2] |= {"start_s": 10.0, "goodput_bps": nothing}
    made = SweepResults(
        made.table.set_column(made.table.column_names.index("flows"), "flows", pa.array(flows)),
        *("lab", ["cc", "queue"], 2, None),
    )
    for panel in figure_of_sweep(made, "fairness").axes:
        assert [bar.get_height() for bar in panel.patches] == pytest.approx([200, 400])
        (share,) = [line for line in panel.lines if line.get_linestyle() != "-"]
        assert share.get_ydata()[0] == pytest.approx(300)
        assert panel.texts[0].get_text() == "Jain's index of these 2 of 3 flows 1.000"


def test_fairness_of_cells_has_a_bar_for_each_flow(grid):
    panels = figure_of_sweep(grid, "fairness").axes
    assert len(panels) == 6
    heights = [bar.get_height() for bar in panels[0].patches]
    assert heights == pytest.approx([110, 100])
    words = [text.get_text() for text in panels[0].texts]
    assert "cc tahoe, queue 2 KB" in words


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("sweep-lines", Options(x="cwnd"), "axis"),
        ("sweep-lines", Options(value="cc"), "holds no numbers"),
        ("sweep-lines", Options(where=(("cc", ("vegas",)),)), "tahoe"),
        ("sweep-lines", Options(modulo=50), "'modulo' has no effect"),
        ("heat-map", Options(where=(("cc", ("reno",)),)), "two different axes"),
        ("sweep-lines", Options(x="goodput_bps"), "unknown axis 'goodput_bps'"),
        ("heat-map", Options(y="goodput_bps"), "unknown axis 'goodput_bps'"),
        ("sweep-lines", Options(aggregate="p9"), "unknown aggregate 'p9'; did you mean 'p9"),
        ("sweep-lines", Options(what="link"), "unknown what 'link'; known: flows, runs"),
        ("fairness", Options(aggregate="p95"), "'aggregate' has no effect"),
        ("scatter", Options(x="cc"), "'cc' holds no numbers"),
        ("scatter", Options(x="goodput_bps"), "--x and --y are both 'goodput_bps'"),
        ("scatter", Options(x="cwnd"), "unknown column 'cwnd'"),
        ("scatter", Options(x="drops", lines="cwnd"), "unknown axis 'cwnd'"),
        ("overview", None, "of sweeps there are: fairness"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(grid, kind, options, message):
    with pytest.raises(InputError, match=message):
        figure_of_sweep(grid, kind, options=options)


def test_too_many_panels_are_refused_with_a_way_out():
    made = sweep([(a, b, 0, [1e5]) for a in range(8) for b in range(8)], ("a", "b"))
    with pytest.raises(PlotError, match=r"64 combinations .* --where 'a=0'"):
        figure_of_sweep(made, "fairness")


@pytest.mark.parametrize(
    ("values", "logarithmic", "label", "labels"),
    [
        (["2 KB", "8 KB", "32 KB", "64 KB"], True, "q (KB)", ("2", "8", "32", "64")),
        (["512 B", "2 KB", "8 KB"], True, "q", ("512 B", "2 KB", "8 KB")),
        ([1, 2, 3, 4, 5], False, "q", ("1", "2", "3", "4", "5")),
        ([0, 1, 10], False, "q", ("0", "1", "10")),
        (["reno", "tahoe"], False, "q", ("reno", "tahoe")),
    ],
)
def test_axes_have_the_scale_that_suits_the_values(values, logarithmic, label, labels):
    found = across("q", values)
    assert (found.logarithmic, found.label, found.labels) == (logarithmic, label, labels)


@pytest.mark.parametrize(
    ("count", "most", "levels", "expected"),
    [(12, 4, 3, 3), (12, 4, 0, 4), (3, 4, 0, 3), (10, 4, 0, 2), (7, 4, 0, 4), (5, 0, 0, 1)],
)
def test_panels_stand_in_even_rows(count, most, levels, expected):
    assert beside(count, most, levels) == expected


# Runs.


@pytest.fixture
def lab():
    """Three flows of a run, two of them with the same algorithm."""
    flows = [tcp_flow(name, "A", "B", kind=kind) for name, kind in
             (("F1", "reno"), ("F2", "fast"), ("F3", "reno"))]  # fmt: skip
    maker = Maker(model(["A", "B"], [], [link("L1", "A", "B")], flows))
    for number, name in enumerate(("F1", "F2", "F3"), 1):
        maker.cwnd(name, [1.0, 2.0, 3.0], [1, 10 * number, 2])
    run = maker.run(5.0)
    for name, goodput in (("F1", 1), ("F2", 2), ("F3", 3)):
        run.summary["flows"][name]["goodput_bps"] = goodput * 2.0**20
    return run


def test_windows_have_a_panel_for_each_algorithm_on_one_scale(lab):
    drawn = figure(lab, "windows")
    reno, fast = drawn.axes
    assert reno.get_ylim() == fast.get_ylim()
    assert reno.get_ylim()[1] >= 30
    highest = [max(max(line.get_ydata()) for line in panel.lines) for panel in (reno, fast)]
    assert highest == [30, 20]


def test_windows_of_several_runs_stand_below_each_other(lab):
    assert len(figure([lab, lab, lab], "windows").axes) == 3


def test_fairness_of_a_run(lab):
    (panel,) = figure(lab, "fairness").axes
    assert [bar.get_height() for bar in panel.patches] == [1, 2, 3]  # Mibps, as the link
    # (1 + 2 + 3)^2 / (3 * (1 + 4 + 9)) = 36 / 42.
    assert "Jain's index 0.857" in [text.get_text() for text in panel.texts]
    (line,) = panel.lines
    assert list(line.get_ydata()) == [2, 2]


def test_plots_of_sweeps_do_not_draw_runs(lab):
    with pytest.raises(PlotError, match="shows a sweep, not runs"):
        figure(lab, "heat-map")


# The real thing.


@pytest.fixture(scope="module")
def folder(small_scenario, tmp_path_factory):
    place = tmp_path_factory.mktemp("sweeps") / "small"
    grid = {
        "queue": {"path": "links.L1.queue.limit", "values": ["8 KB", "16 KB", "64 KB"]},
        "rate": {"path": "links.L1.rate", "values": ["5 Mbps", "10 Mbps"]},
    }
    Study(small_scenario.document, grid=grid).run(place)
    return place


@pytest.fixture
def ackclock(monkeypatch, capsys):
    """Return a function that runs the program and returns status, output and errors."""

    def call(*arguments):
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["ackclock", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            main()
        captured = capsys.readouterr()
        return done.value.code or 0, captured.out, captured.err

    return call


@pytest.mark.slow
def test_a_sweep_is_drawn_without_options(ackclock, folder):
    status, out, err = ackclock("plot", folder)
    assert status == 0, err
    assert out.split() == [f"{folder}/plots/{name}.png" for name in ("sweep-lines", "heat-map")]
    again = ackclock("plot", folder, "--kind", "fairness", "--format", "svg", "--where",
                     "rate=5 Mbps")  # fmt: skip
    assert again[0] == 0 and (folder / "plots" / "fairness.svg").is_file()


def test_a_value_has_a_file_of_its_own(ackclock, folder, tmp_path):
    out = ackclock("plot", folder, "--kind", "heat-map", "--value", "drops", "--out", tmp_path)[1]
    assert out.strip() == str(tmp_path / "heat-map-drops.png")


@pytest.mark.slow
def test_plots_of_a_sweep_are_the_same_every_time(folder, tmp_path):
    for kind in ("sweep-lines", "heat-map", "fairness"):
        (one,) = plots.plot_sweep(load(folder), [kind], out=tmp_path / "one")
        (two,) = plots.plot_sweep(load(folder), [kind], out=tmp_path / "two")
        assert one.read_bytes() == two.read_bytes()


def test_tables_of_a_sweep(ackclock, folder):
    listed = json.loads(ackclock("table", folder, "--columns", "list", "--json")[1])["rows"]
    of = {(row["what"], row["name"]) for row in listed}
    assert {("runs", "fairness_jain"), ("flows", "completion_s")} <= of
    runs = json.loads(ackclock("table", folder, "--json")[1])["rows"]
    assert [(row["queue"], row["rate"]) for row in runs][:2] == [
        ("8 KB", "5 Mbps"),
        ("8 KB", "10 Mbps"),
    ]
    flows = json.loads(ackclock("table", folder, "--what", "flows", "--json")[1])["rows"]
    assert len(flows) == 12
    for row in flows:
        (run,) = [r for r in runs if (r["queue"], r["rate"]) == (row["queue"], row["rate"])]
        expected = row["bytes_delivered"] / (run["end_s"] - row["start_s"])
        assert row["goodput_to_end_bytes_per_s"] == pytest.approx(expected)
    links = json.loads(ackclock("table", folder, "--what", "links", "--json")[1])["rows"]
    assert sum(row["drops"] for row in links) == sum(row["drops"] for row in runs)


@pytest.mark.parametrize("asked", [("--columns",), ("--by", "queue", "--value"), ("--sort",)])
def test_a_column_of_another_table_is_named_as_such(ackclock, folder, asked):
    status, _, err = ackclock("table", folder, *asked, "completion_s")
    assert (status, err) == (2, "error: 'completion_s' is a column of --what flows\n")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("8 KB, 16 KB", ["8 KB", "16 KB"]),
        ('{"kind": "a", "p": [1, 2]},none', ['{"kind": "a", "p": [1, 2]}', "none"]),
        ("'a,b',\"c,d\"", ["'a,b'", '"c,d"']),
        ("it's,b", ["it's", "b"]),
        ("a{,b", ["a{", "b"]),
    ],
)
def test_values_are_separated_by_commas_outside_of_mappings(text, values):
    assert read_where([f"x={text}"]) == {"x": values}


def test_a_plot_reads_no_urls(ackclock, folder):
    status, _, err = ackclock("plot", folder.as_uri())
    assert status == 2 and "plots read folders, not URLs" in err


def test_a_cross_table_of_a_sweep(ackclock, folder):
    out = ackclock("table", folder, "--rows", "queue", "--across", "rate", "--format", "csv")[1]
    lines = out.splitlines()
    assert lines[0] == "queue,rate=5 Mbps,rate=10 Mbps"
    assert [line.split(",")[0] for line in lines[1:]] == ["8 KB", "16 KB", "64 KB"]
    mixed = ackclock("table", folder, "--by", "queue")[1]
    assert "over all values of rate" in mixed


def test_a_sweep_stands_alone(ackclock, folder, small_file):
    for arguments in (
        ["table", folder, small_file],
        ["plot", folder, folder],
        ["table", folder, "--seed", "2"],
        ["plot", folder, "--flows", "F1"],
    ):
        assert ackclock(*arguments)[0] == 2


def test_bars_that_could_not_be_read_have_their_own_scale():
    rows = [(cc, queue, 0, [rate, rate]) for queue, rate in ((8, 1e6), (2, 1e5)) for cc in "ab"]
    alike = figure_of_sweep(sweep(rows[:2] + [(c, 2, 0, [5e5, 5e5]) for c in "ab"]), "fairness")
    apart = figure_of_sweep(sweep(rows), "fairness")
    note = "Each panel has its own scale."
    assert note not in " ".join(text.get_text() for text in alike.texts)
    assert note in " ".join(text.get_text() for text in apart.texts)
    assert len({axes.get_ylim() for axes in alike.axes}) == 1
    for axes in apart.axes:
        assert max(bar.get_height() for bar in axes.patches) > 0.5 * axes.get_ylim()[1]
