"""Plots: what is drawn, named, and written."""

import logging
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import plot_runs as made
import pytest
from matplotlib.colors import to_hex
from test_plots_paths import ALTERNATING, diamond

from ackclock import plots
from ackclock.plots import Options, palette, registry
from ackclock.plots.view import View

END = 20.0
PANELS = [plot.name for plot in plots.PLOTS if plot.form == "panel" and not plot.panels]


@lru_cache
def busy_run(flows=3, end_s=END, samples=20_000, duplex="half", losses=True):
    """Flows from S0, S1, ... to T over a common link L and an access link for each source."""
    rng = np.random.default_rng(7)
    sources = [f"S{i}" for i in range(flows)]
    links = [made.link("L", "R1", "R2", duplex=duplex), made.link("LT", "R2", "T", duplex=duplex)]
    links += [made.link(f"A{i}", name, "R1", duplex=duplex) for i, name in enumerate(sources)]
    tcp = [made.tcp_flow(f"F{i}", name, "T", float(i)) for i, name in enumerate(sources)]
    maker = made.Maker(made.model([*sources, "T"], ["R1", "R2"], links, tcp))
    times = np.sort(rng.uniform(0, end_s, samples))
    forward = "forward" if duplex == "full" else "both"
    maker.queue("L", times, 30 + np.round(20 * np.sin(40 * times)), forward)
    maker.queue("LT", times[:100], np.ones(100), forward)
    maker.transmissions("L", np.arange(0, end_s, 1024 * 8 / (10 * made.MIB)), 1024, forward)
    for i, flow in enumerate(maker.flows):
        own = times[times > i]
        maker.cwnd(flow, own, 40 + 10 * np.sin(own) + 5 * i, np.where(own < 5, np.inf, 30.0))
        maker.rtt(flow, own, 0.05 + 0.01 * i + 0.005 * np.sin(30 * own))
        maker.packets(flow, "sent", own)
        maker.packets(flow, "received", own + 0.02)
        maker.packets(flow, "sent", own + 0.02, 64, "ack")
        maker.packets(flow, "received", own + 0.04, 64, "ack")
    if losses:
        maker.drops("L", [4.001, 4.002, 4.003, 12.5], "F0", forward)
        maker.drops(None, [1.0], "F0")
        maker.events("F0", "timeout", [4.5])
        maker.events("F0", "fast-retransmit", [12.6])
    path = {flow: [f"A{i}", "L", "LT"] for i, flow in enumerate(maker.flows)}
    return maker.run(end_s, finish={"F0": 15.0}, path=path)


@pytest.fixture(scope="module")
def run():
    return busy_run()


def panels(figure):
    """The axes of a figure by the title above them."""
    found = {}
    for axes in figure.axes:
        words = [text.get_text() for text in axes.texts]
        for title in words[-2:]:
            found.setdefault(title, axes)
    return found


def lines(axes, color):
    """The lines of this colour that show a series."""
    return [
        line
        for line in axes.lines
        if to_hex(line.get_color()).upper() == color and len(line.get_xdata()) > 2
    ]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def words(figure):
    return " ".join(text.get_text() for text in figure.texts)


# The registry


def test_every_entry_can_be_drawn_and_needs_known_tables():
    names = [plot.name for plot in plots.available()]
    assert len(names) == len(set(names))
    assert plots.names() == names
    for plot in plots.available():
        assert plot.summary
        assert set(plot.needs) <= set(made.TABLES)
        if plot.panels:
            assert all(registry.find(name).form == "panel" for name in plot.panels)
        else:
            assert callable(plot.load())


def test_listing_the_plots_loads_no_plotting_library():
    code = "import ackclock.plots as p, sys; p.available(); sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_drawing_leaves_the_global_state_of_matplotlib_alone(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import matplotlib as mpl, plot_runs as made\n"
        "now = lambda: {k: mpl.rcParams[k] for k in mpl.rcParams if k != 'backend'}\n"
        "before = now()\n"
        "from ackclock import plots\n"
        "links, flows = [made.link('L', 'A', 'B')], [made.tcp_flow('F', 'A', 'B', 0.0)]\n"
        "maker = made.Maker(made.model(['A', 'B'], [], links, flows))\n"
        "maker.rtt('F', [1.0, 2.0], [0.1, 0.2])\n"
        "plots.plot(maker.run(3.0), ['flow-rtt'], out=sys.argv[2])\n"
        "assert now() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, here, str(tmp_path)], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


# Files


@pytest.mark.slow
def test_the_default_set_is_written_under_the_names_of_the_plots(run, tmp_path, unpainted):
    written = plots.plot(run, out=tmp_path / "new" / "plots")
    assert [path.name for path in written] == [
        "overview.png",
        "topology.png",
        "rates.png",
    ]
    assert all(path.is_file() for path in written)


@pytest.mark.slow
def test_changing_routes_are_drawn_unasked(tmp_path, unpainted):
    written = plots.plot(diamond(ALTERNATING).run(15.0), out=tmp_path)
    assert "routes.png" in [path.name for path in written]


@pytest.mark.slow
@pytest.mark.parametrize(
    # The fonts of a PDF take longer than all the rest of it.
    ("fmt", "kinds"),
    [("png", ["overview", "topology"]), ("svg", ["overview", "topology"]), ("pdf", ["rates"])],
)
def test_the_same_run_gives_the_same_bytes(tmp_path, fmt, kinds):
    run = busy_run(samples=2000)
    first = plots.plot(run, kinds, fmt=fmt, out=tmp_path / "a")
    second = plots.plot(run, kinds, fmt=fmt, out=tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        content = one.read_bytes()
        assert content == other.read_bytes()
        start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[fmt]
        assert content.startswith(start)
        assert b"Ackclock 0.1.0" in content


@pytest.mark.slow
def test_several_formats_at_once(run, tmp_path):
    written = plots.plot(run, ["flow-rtt"], fmt=["png", "svg"], out=tmp_path)
    assert [path.name for path in written] == ["flow-rtt.png", "flow-rtt.svg"]


@pytest.mark.parametrize("width_mm", [88, 180])
def test_a_picture_is_1200_pixels_wide_on_paper_of_any_width(run, tmp_path, width_mm):
    (path,) = plots.plot(run, ["flow-window"], out=tmp_path, options=Options(width_mm))
    header = path.read_bytes()[16:24]
    assert int.from_bytes(header[:4], "big") == 1200
    figure = plots.figure(run, "flow-window", options=Options(width_mm))
    assert figure.get_size_inches()[0] * 25.4 == pytest.approx(width_mm)


def test_texts_keep_their_size_and_stay_on_the_page_of_a_narrow_figure(run):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = plots.figure(run, "overview", options=Options(88))
    canvas = FigureCanvasAgg(figure)
    width = figure.bbox.width
    for text in figure.texts:
        assert text.get_size() >= 5.5
        assert text.get_window_extent(canvas.get_renderer()).x1 <= width
    for axes in figure.axes:
        if axes.get_legend():
            assert axes.get_legend().get_window_extent(canvas.get_renderer()).x1 <= width + 1


# What is drawn


def test_the_overview_has_the_six_panels_of_the_paper_on_one_time_axis(run):
    figure = plots.figure(run, "overview")
    titles = list(panels(figure))
    for title in (
        "Queue length",
        "Packets lost",
        "Link rate",
        "Send rate of flows",
        "Congestion window",
        "Round-trip time",
    ):
        assert title in titles
    assert len(figure.axes) == 7  # and the strip of active flows
    assert {axes.get_xlim() for axes in figure.axes} == {(0.0, END)}
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["", "", "", "", "", "", "Time (s)"]


def test_title_algorithm_and_caption(run):
    text = words(plots.figure(run, "flow-window"))
    for part in ("A made-up run", "Reno", "3 flows", "seed 1", "digest 01234567", "Ackclock 0.1.0"):
        assert part in text


def test_units_stand_above_the_panels(run):
    found = panels(plots.figure(run, "overview"))
    for unit in (
        "data packets",
        "packets per 0.1 s",
        "Mibps, all packets, 0.1 s bins",
        "Mibps, data packets, 0.1 s bins",
        "packets",
        "ms",
    ):
        assert unit in found


@pytest.mark.slow
def test_a_flow_has_its_colour_in_all_panels_and_figures(run):
    for kind, title in (
        ("overview", "Congestion window"),
        ("overview", "Round-trip time"),
        ("overview", "Send rate of flows"),
        ("flow-receive-rate", "Receive rate of flows"),
        ("flow-window", "Congestion window"),
    ):
        axes = panels(plots.figure(run, kind))[title]
        for color in palette.FLOWS[:3]:
            assert lines(axes, color), (kind, title, color)
        assert legend(axes)[:3] == ["F0", "F1", "F2"]


def test_a_selection_of_flows_keeps_its_colours(run):
    axes = panels(plots.figure(run, "flow-rtt", flows=["F2"]))["Round-trip time"]
    assert legend(axes) == ["F2"]
    assert lines(axes, palette.FLOWS[2])
    assert not lines(axes, palette.FLOWS[0])


def test_peaks_stay_visible_in_the_band_and_the_line_is_the_mean(run):
    axes = panels(plots.figure(run, "link-queue", links=["L"]))["Queue length"]
    (band,) = axes.collections
    heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
    assert heights.max() == 50
    assert 0 <= heights.min() <= 10
    (line,) = lines(axes, palette.LINKS[0])
    assert len(line.get_xdata()) < 1500  # of 20,000 changes
    assert np.median(line.get_ydata()) == pytest.approx(30, abs=2)


def test_few_changes_are_drawn_as_they_are():
    maker = diamond()
    maker.cwnd("F1", [1.0, 2.0, 3.0], [10, 20, 5])
    axes = panels(plots.figure(maker.run(5.0), "flow-window"))["Congestion window"]
    (line,) = lines(axes, palette.FLOWS[0])
    assert line.get_drawstyle() == "steps-post"
    assert line.get_xdata().tolist() == [1.0, 2.0, 3.0, 5.0]
    assert line.get_ydata().tolist() == [10, 20, 5, 5]


def test_a_flow_is_drawn_from_its_start_to_its_end(run):
    axes = panels(plots.figure(run, "flow-window"))["Congestion window"]
    (first,) = lines(axes, palette.FLOWS[0])[:1]
    assert first.get_xdata().max() <= 15.0
    (third,) = lines(axes, palette.FLOWS[2])[:1]
    assert third.get_xdata().min() >= 2.0
    assert third.get_xdata().max() > 19.9


def test_rates_are_those_of_the_windows(run):
    axes = panels(plots.figure(run, "link-rate", links=["L"]))["Link rate"]
    (line,) = lines(axes, palette.LINKS[0])
    assert line.get_ydata() == pytest.approx(10, abs=0.01)  # in Mibps, always full
    assert "capacity" in legend(axes)


def test_losses_are_counted_in_windows_and_marked_in_the_other_panels(run):
    found = panels(plots.figure(run, "overview"))
    losses = found["Packets lost"]
    assert legend(losses) == ["L: 4", "no route: 1"]
    bars = {
        (round(segment[0][0], 2), segment[1][1] - segment[0][1])
        for bars in losses.collections
        for segment in bars.get_segments()
    }
    assert bars == {(4.05, 3.0), (12.55, 1.0), (1.05, 1.0)}
    for title in ("Queue length", "Congestion window", "Round-trip time"):
        marks = [line for line in found[title].lines if line.get_color() == palette.LOSS]
        assert [round(float(time), 1) for time in marks[0].get_xdata()] == [1.0, 4.0, 12.5]
    assert not [line for line in losses.lines if line.get_color() == palette.LOSS]


def test_timeouts_and_fast_retransmits_are_marked_on_the_window(run):
    figure = plots.figure(run, "flow-window")
    axes = panels(figure)["Congestion window"]
    marks = {line.get_marker(): list(line.get_xdata()) for line in axes.lines}
    assert marks["X"] == [4.5]
    assert marks["o"] == [12.6]
    assert legend(axes)[-2:] == ["fast retransmit: 1", "timeout: 1"]


def test_the_threshold_is_drawn_where_it_is_finite():
    maker = diamond()
    maker.cwnd("F1", [1.0, 2.0, 3.0, 4.0], [10, 20, 10, 12], [np.inf, np.inf, 10, 8])
    axes = panels(plots.figure(maker.run(5.0), "flow-window"))["Congestion window"]
    threshold = lines(axes, palette.FLOWS[0])[1]
    values = np.asarray(threshold.get_ydata())
    assert np.isnan(values[:2]).all()
    assert values[2:].tolist() == [10, 8, 8]
    assert "slow-start threshold" in legend(axes)


def losing_links(count):
    """Sources on links of their own; link number i loses i packets."""
    names = [f"A{i}" for i in range(count)]
    links = [made.link(name, f"S{i}", "R") for i, name in enumerate(names)]
    hosts = [f"S{i}" for i in range(count)]
    flows = [made.tcp_flow(f"F{i}", host, "S0", 0.0) for i, host in enumerate(hosts)]
    maker = made.Maker(made.model(hosts, ["R"], links, flows))
    for i, name in enumerate(names):
        maker.drops(name, np.linspace(1.0, 2.0, i), f"F{i}")
        maker.queue(name, [0.5, 1.5], [10, 0])
    return maker.run(END)


def test_of_many_links_the_ones_that_lose_most_are_told_apart():
    figure = plots.figure(losing_links(20), "link-losses")
    kept = [f"A{i}: {i}" for i in range(13, 20)]
    assert legend(panels(figure)["Packets lost"]) == [*kept, f"12 others: {sum(range(1, 13))}"]
    asked = plots.figure(losing_links(20), "link-losses", links=[f"A{i}" for i in range(5, 15)])
    assert len(legend(panels(asked)["Packets lost"])) == 10


def test_of_many_links_the_queues_of_those_that_lose_most_are_drawn():
    figure = plots.figure(losing_links(20), "link-queue")
    axes = panels(figure)["Queue length"]
    assert legend(axes)[:6] == [f"A{i}" for i in range(14, 20)]
    assert "(shorter queues, fewer losses): A0, A1" in words(figure)


@pytest.mark.slow
def test_a_page_of_very_many_flows_draws_some_of_them_evenly_chosen():
    run = losing_links(220)
    note = "200 of 220 flows are drawn, evenly chosen."
    figure = plots.figure(run, "overview")
    assert note in words(figure)
    strip = legend(panels(figure)["Active flows"])
    assert (strip[0], strip[-2:]) == ("F0", ["F219", "200 drawn, in this order"])
    asked = plots.figure(run, "overview", flows=[f"F{i}" for i in range(210)])
    assert note not in words(asked)
    assert legend(panels(asked)["Active flows"])[-1] == "210 drawn, in this order"


def test_route_changes_are_marked_and_the_path_is_named():
    maker = diamond(ALTERNATING)
    starts = np.arange(0.5, 15, 0.00078)
    maker.transmissions("L1", starts[starts < 5])
    maker.transmissions("L2", starts[(starts > 5.2) & (starts < 10)])
    run = maker.run(15.0)
    figure = plots.figure(run, "link-rate")
    axes = panels(figure)["Link rate"]
    dashed = [line.get_xdata()[0] for line in axes.lines if line.get_color() == palette.CHANGE]
    assert dashed == [5.15, 10.15]
    named = [text.get_text() for text in axes.texts if text.get_text().startswith("F1 via")]
    assert named == ["F1 via L1, L3", "F1 via L2, L4", "F1 via L1, L3"]
    assert {"L1", "L2"} <= set(legend(axes))


def test_routes_show_only_what_changes():
    figure = plots.figure(diamond(ALTERNATING).run(15.0), "routes")
    axes = panels(figure)["Next hop"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["R1 to H2"]
    assert sorted(round(bar.get_width(), 2) for bar in axes.patches) == [4.85, 5.0, 5.0]
    assert legend(axes) == ["L1", "L2"]
    assert "6 more routes" in words(figure)


def test_the_topology_names_nodes_links_and_what_they_have_in_common(run):
    figure = plots.figure(run, "topology")
    axes = panels(figure)["Network"]
    named = {text.get_text() for text in axes.texts}
    assert {"S0", "S1", "S2", "T", "R1", "R2", "L", "LT", "A0"} <= named
    assert "Every link: 10 Mibps, 10 ms, buffer 64 KiB, half duplex." in words(figure)
    assert len(axes.patches) == 3  # an arrow for each flow
    nodes = {line.get_marker(): len(line.get_xdata()) for line in axes.lines}
    assert nodes == {"s": 4, "D": 2}
    assert len(axes.collections[0].get_segments()) == 5  # the links


def test_links_with_hardly_a_queue_are_named_instead_of_drawn(run):
    view = View(run)
    assert [lane.link for lane in view.lanes] == ["L"]
    figure = plots.figure(run, "link-queue")
    assert "LT, A0, A1, A2" in words(figure)
    asked = plots.figure(run, "link-queue", links=["LT", "L"])
    assert legend(panels(asked)["Queue length"])[:2] == ["L", "LT"]
    assert "not drawn" not in words(asked)


def test_the_directions_of_a_full_duplex_link_are_told_apart():
    run = busy_run(duplex="full")
    assert [lane.label for lane in View(run).lanes] == ["L → R2"]
    axes = panels(plots.figure(run, "link-rate", links=["L"]))["Link rate"]
    assert legend(axes)[:2] == ["L → R2", "L → R1"]


# Unusual runs


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["overview", "topology", "host-send-rate"])
def test_forty_flows(kind, tmp_path):
    (path,) = plots.plot(busy_run(flows=40, samples=300), [kind], out=tmp_path)
    assert path.stat().st_size > 5000


def test_forty_flows_have_a_short_legend_and_two_of_them_clear_colours():
    run = busy_run(flows=40, samples=300, end_s=50.0)
    axes = panels(plots.figure(run, "flow-rtt"))["Round-trip time"]
    assert legend(axes)[-1] == "40 drawn, in this order"
    assert len(legend(axes)) < 8
    assert list(View(run, flows=["F7", "F8"]).flow_color.values()) == list(palette.FLOWS[:2])


# Theory needs the whole model of a real run: test_plots_theory.py.
OF_RUNS = [
    plot.name for plot in plots.available() if plot.form != "sweep" and plot.name != "theory"
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_RUNS)
def test_a_run_without_a_single_record(kind, tmp_path):
    (path,) = plots.plot(diamond().run(0.0), [kind], out=tmp_path)
    assert path.is_file()


@pytest.mark.parametrize("kind", OF_RUNS)
def test_two_hosts_and_a_link(kind, tmp_path):
    flow = made.tcp_flow("F1", "H1", "H2", 0.5)
    maker = made.Maker(made.model(["H1", "H2"], [], [made.link("L1", "H1", "H2")], [flow]))
    maker.cwnd("F1", [0.5], [1])
    maker.rtt("F1", [0.52], [0.02])
    maker.packets("F1", "sent", [0.5])
    assert plots.plot(maker.run(1.0), [kind], out=tmp_path)[0].is_file()


@pytest.mark.parametrize("kind", sorted(set(plots.names()) - {*OF_RUNS, "theory"}))
def test_plots_of_sweeps_say_that_a_run_is_none(kind, tmp_path):
    with pytest.raises(plots.PlotError, match="shows a sweep, not runs"):
        plots.plot(diamond().run(1.0), [kind], out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_flows_without_tcp_have_no_window():
    flow = made.tcp_flow("U", "H1", "H2", 0.0) | {
        "tcp": None,
        "udp": {"source": {"kind": "cbr", "rate_bps": 10**6, "write_bytes": 1500}},
        "send_bytes": None,
    }
    maker = made.Maker(made.model(["H1", "H2"], [], [made.link("L1", "H1", "H2")], [flow]))
    maker.queue("L1", [0.5, 0.6], [43, 0])
    run = maker.run(1.0)
    figure = plots.figure(run, "overview")
    assert "UDP cbr" in words(figure)
    assert "no congestion window" in [
        text.get_text() for axes in figure.axes for text in axes.texts
    ]


@pytest.mark.slow
def test_names_that_look_like_formulas_are_written_as_they_are(tmp_path):
    flow = made.tcp_flow("$F_1$", "a$b", "c$d", 0.0)
    links = [made.link("$\\frac$", "a$b", "c$d")]
    maker = made.Maker(made.model(["a$b", "c$d"], [], links, [flow], title="From $1 to $2"))
    maker.cwnd("$F_1$", [0.1, 0.5], [1, 2])
    maker.queue("$\\frac$", [0.1, 0.5], [9, 2])
    assert plots.plot(maker.run(1.0), out=tmp_path)


# Records that are switched off


@pytest.mark.slow
def test_a_plot_without_its_record_is_left_out_of_the_default_set(run, tmp_path, caplog, unpainted):
    with caplog.at_level(logging.INFO, logger="ackclock"):
        written = plots.plot(run.without("packets"), out=tmp_path)
    assert [path.name for path in written] == ["overview.png", "topology.png"]
    assert "no plot 'rates': this run has not recorded packets" in caplog.text


@pytest.mark.parametrize("kind", [*PANELS, "routes", "aqm"])
def test_a_plot_asked_for_says_which_record_to_switch_on(run, kind, tmp_path):
    (table,) = registry.find(kind).needs
    with pytest.raises(plots.PlotError, match=rf"--set record\.{table}=changes"):
        plots.plot(run.without(table), [kind], out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.fixture(scope="module")
def whole(run):
    """The overview with all records."""
    return plots.figure(run, "overview")


@pytest.mark.parametrize("table", made.TABLES)
def test_the_overview_leaves_out_what_was_not_recorded_and_says_so(run, whole, table):
    figure = plots.figure(run.without(table), "overview")
    needed = table not in ("routes", "events", "tcp_info", "aqm")
    assert len(whole.axes) - len(figure.axes) == needed
    assert (f"Not recorded, so not drawn: {table};" in words(figure)) == needed
    assert "recorded" not in " ".join(
        text.get_text() for axes in figure.axes for text in axes.texts
    )


def test_with_nothing_recorded_the_default_set_is_what_remains(run, tmp_path):
    written = plots.plot(run.without(*made.TABLES), out=tmp_path)
    assert [path.name for path in written] == ["topology.png"]
    with pytest.raises(plots.PlotError, match=r"--set record\.queue=changes"):
        plots.figure(run.without(*made.TABLES), "overview")


# Names that do not exist


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": ["flow-rt"]}, "unknown plot 'flow-rt'; did you mean 'flow-rtt'"),
        ({"flows": ["f1"]}, "unknown flow 'f1'; did you mean 'F1'"),
        ({"links": ["LX"]}, "unknown link 'LX'"),
        ({"fmt": "pgn"}, "unknown format 'pgn'; did you mean 'png'"),
    ],
)
def test_unknown_names_are_errors_with_a_hint(run, tmp_path, arguments, message):
    with pytest.raises(plots.PlotError, match=message) as caught:
        plots.plot(run, out=tmp_path / "none", **arguments)
    assert isinstance(caught.value, ValueError)
    assert not (tmp_path / "none").exists()
