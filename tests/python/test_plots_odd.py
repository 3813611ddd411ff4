"""Plots of runs that no example has: very many flows, long names, links that fail, no window."""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from small import document
from test_plots import legend, panels, words

import ackclock
from ackclock import Scenario, plots
from ackclock.plots import Options, PlotError, palette
from ackclock.plots.view import View

LONG = "from-the-workstation-in-the-west-wing-to-the-file-server"


def run(document):
    return ackclock.run(Scenario.from_dict(document))


def crowd(count, name="F", end="600 ms", rate="10 Mbps"):
    """Flows over one bottleneck that is too small for them."""
    flows = [
        {"id": f"{name}{n}", "from": f"S{n}", "to": f"D{n}", "start": f"{n} ms"}
        for n in range(1, count + 1)
    ]
    document = {
        "topology": {
            "kind": "dumbbell",
            "leaves": count,
            "access": {"rate": "100 Mbps", "delay": "1 ms"},
            "bottleneck": {"rate": rate, "delay": "3 ms", "queue": {"limit": "20 packets"}},
        },
        "flows": flows,
        "stop": {"when": "time", "at_latest": end},
        "record": "all",
    }
    return run(document)


@pytest.fixture(scope="module")
def forty():
    return crowd(40)


def test_of_many_flows_the_legend_counts_flows_and_keeps_the_marks(forty):
    named = legend(panels(plots.figure(forty, "flow-window"))["Congestion window"])
    flows = [label for label in named if label[1:].isdigit()]
    assert (len(flows), flows[0]) == (5, "F1")
    assert {"F40", "40 drawn, in this order"} <= set(named)
    assert any(label.startswith("fast retransmit: ") for label in named)


def test_the_rate_of_all_flows_is_that_of_all_flows_where_some_are_drawn(forty):
    def total(flows):
        axes = panels(plots.figure(forty, "receiver-rate", flows=flows))["Receive rate"]
        assert "all flows" in legend(axes)
        found = [line for line in axes.lines if line.get_color() == palette.RULE]
        return np.array(found[0].get_ydata(), float)

    assert total(["F1", "F2", "F3"]) == pytest.approx(total(None))


@pytest.mark.parametrize(("count", "some"), [(9, False), (30, True)])
def test_long_names_of_bars_stay_inside(count, some):
    figure = plots.figure(crowd(count, LONG, "100 ms"), "fairness")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    assert boxes[0].x0 > 0
    assert boxes[-1].x1 < canvas.get_width_height()[0]
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    assert len({label.get_text() for label in labels}) == len(labels)
    assert labels[1].get_text().endswith("3" if some else "2")
    assert (len(labels) < count) == some == ("Not every bar has its name." in words(figure))


def test_the_delay_of_a_single_packet_is_drawn():
    link = {"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms"}
    ends = {"from": "A", "to": "B"}
    one = {**ends, "udp": {"source": {"kind": "schedule", "writes": [["0 s", "1 kB"]]}}}
    two = {**ends, "udp": {"source": {"kind": "cbr", "rate": "100 kbps"}}}
    scenario = {"hosts": ["A", "B"], "links": [link]}
    stop = {"stop": {"when": "time", "at_latest": "1 s"}}
    runs = [
        run({**scenario, "flows": flows, **stop})
        for flows in ([{"id": "F1", **one}], [{"id": "F1", **one}, {"id": "F2", **two}])
    ]
    alone, both = (plots.figure(found, "delays") for found in runs)
    assert len(both.axes[0].patches) == 2
    assert len(both.axes[1].patches) == 1
    assert len(alone.axes[0].patches) == 1
    assert "no flow received two data packets" in [text.get_text() for text in alone.findobj(Text)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["delays", "throughput-delay"])
def test_a_legend_of_very_many_flows_is_short(kind):
    figure = plots.figure(crowd(60, LONG, rate="1 Gbps"), kind)
    (names,) = (held for held in figure.legends)
    labels = [text.get_text() for text in names.get_texts()]
    assert len(labels) == 6
    assert labels[-1].endswith(" drawn, in this order")


def test_labels_of_links_stay_below_the_legend():
    scenario = {
        "hosts": ["A", "B"],
        "routers": ["R"],
        "links": [
            {"id": "one", "between": ["A", "R"], "rate": "10 Mbps", "delay": "1 ms"},
            {"id": "two", "between": ["R", "B"], "rate": "5 Mbps", "delay": "2 ms",
             "queue": {"limit": "9 packets"}, "duplex": "half"},
        ],
        "flows": [{"id": (LONG * 2)[:90], "from": "A", "to": "B"}],
        "stop": {"at_latest": "100 ms"},
    }  # fmt: skip
    figure = plots.figure(run(scenario), "topology")
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    highest = max(text.get_window_extent().y1 for text in axes.texts if "Mbps" in text.get_text())
    above = axes.get_legend()
    assert above
    assert highest <= above.get_window_extent().y0


def failing():
    scenario = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms",
                   "changes": [{"at": "10 s", "state": "down"}, {"at": "11 s", "state": "up"}]}],
        "flows": [{"id": "F", "from": "A", "to": "B", "tcp": {"cc": "reno"}}],
        "stop": {"when": "time", "at_latest": "25 s"},
        "record": "all",
    }  # fmt: skip
    return run(scenario)


def test_no_line_leads_across_the_time_in_which_a_link_is_down():
    broken = failing()
    axes = panels(plots.figure(broken, "flow-rtt"))["Round-trip time"]
    (line,) = [line for line in axes.lines if line.get_color() == palette.FLOWS[0]]
    times, values = np.array(line.get_xdata(), float), np.array(line.get_ydata(), float)
    inside = (times > 10.2) & (times < 11)
    assert not np.isfinite(values[inside]).any()
    before = values[np.flatnonzero(times <= 10.2)[-1] :]
    assert np.isnan(before[:2]).any()
    assert "Links that change later: L." in words(plots.figure(broken, "topology"))


@pytest.mark.slow
def test_a_figure_for_each_of_very_many_flows_has_to_be_asked_for(tmp_path, unpainted):
    many = crowd(101, end="50 ms")
    with pytest.raises(PlotError, match="a figure for each of 101 flows; choose some with --flows"):
        plots.plot(many, ["sequence"], out=tmp_path / "plots")
    assert not (tmp_path / "plots").exists()
    few = plots.plot(many, ["sequence"], flows=["F1", "F2"], out=tmp_path)
    assert len(few) == 2
    (one,) = plots.plot(many, ["sequence"], out=tmp_path, options=Options(together=True))
    assert one.name == "sequence.png"


def test_an_empty_plot_over_windows_has_no_numbers_below_it():
    scenario = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms"}],
        "flows": [{"id": "U", "from": "A", "to": "B",
                   "udp": {"source": {"kind": "cbr", "rate": "1 Mbps"}}}],
        "stop": {"when": "time", "at_latest": "1 s"},
        "record": "all",
    }  # fmt: skip
    udp = run(scenario)
    figure = plots.figure(udp, "window-sweep")
    FigureCanvasAgg(figure).draw()
    assert not any(
        label.get_visible() and label.get_text()
        for axes in figure.axes
        for tick in axes.xaxis.get_major_ticks()
        for label in [tick.label1]
    )
    with pytest.raises(PlotError, match="the plot 'windows'"):
        plots.figure(udp, "windows")


@pytest.mark.slow
def test_titles_with_long_names_stay_on_the_page():
    scenario = {
        "hosts": ["A", LONG],
        "links": [{"id": LONG + "-over-the-cable", "between": ["A", LONG], "rate": "1 Mbps",
                   "delay": "10 ms", "queue": {"limit": "5 packets"}}],
        "flows": [{"id": "F", "from": "A", "to": LONG}],
        "stop": {"when": "time", "at_latest": "1 s"},
        "record": "all",
    }  # fmt: skip
    figure = plots.figure(run(scenario), "queue-drops")
    FigureCanvasAgg(figure).draw()
    right = max(text.get_window_extent().x1 for axes in figure.axes for text in axes.texts)
    assert right <= figure.bbox.x1


def test_the_last_number_of_a_time_axis_stays_on_the_page():
    scenario = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "10 ms"}],
        "flows": [{"id": "F", "from": "A", "to": "B"}],
        "stop": {"when": "time", "at_latest": "11 s"},
        "record": "all",
    }
    figure = plots.figure(run(scenario), "sequence", options=Options(from_s=10.0, to_s=10.5))
    FigureCanvasAgg(figure).draw()
    labels = [label for axes in figure.axes for label in axes.get_xticklabels()]
    assert labels[-1].get_text() == "10.50"
    assert max(label.get_window_extent().x1 for label in labels) <= figure.bbox.x1


def test_a_buffer_of_a_product_or_a_time_is_shown_as_one():
    scenario = {
        "hosts": ["A", "B"],
        "links": [
            {"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms",
             "forward": {"queue": {"limit": "1 BDP"}}, "backward": {"queue": {"limit": "50 ms"}}},
        ],
        "flows": [{"id": "F", "from": "A", "to": "B", "tcp": {"cc": "reno"}}],
        "stop": {"when": "time", "at_latest": "5 s"},
        "record": "all",
    }  # fmt: skip
    results = run(scenario)
    assert "buffer 1 BDP / 50 ms" in words(plots.figure(results, "topology"))
    size = results.summary["links"]["L"]["forward"]["queue_limit"]["bytes"]
    assert results.summary["links"]["L"]["forward"]["drops"]["queue-full"] > 0
    found = panels(plots.figure(results, "queue-drops", links=["L"]))["Queue of L → B"]
    assert f"buffer full ({size // 1500})" in legend(found)


def test_a_moment_of_slow_start_does_not_flatten_the_rest():
    scenario = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "10 ms",
                   "queue": {"limit": "1 BDP"}}],
        "flows": [{"id": "F", "from": "A", "to": "B", "tcp": "linux-cubic"}],
        "stop": {"when": "time", "at_latest": "60 s"},
        "record": "all",
    }  # fmt: skip
    results = run(scenario)
    figure = plots.figure(results, "tcp-times")
    highest = panels(figure)["Round-trip times and timeout"].get_ylim()[1]
    longest = results.table("tcp_info").to_pandas()["rto_s"].max()
    assert longest == pytest.approx(1.0)
    assert highest < 600
    assert "short peaks of up to 1000 ms are above the panel" in words(figure)


def test_a_flow_that_is_stopped_is_active_until_then():
    data = document()
    data["flows"][0] |= {"send": "unlimited", "stop": "2 s", "tcp": {}}
    data["stop"] = {"when": "time", "at_latest": "4 s"}
    view = View(run(data))
    assert view.active("F1").stop_s == 2.0


def test_what_a_unit_is_of_gives_way_before_the_title_does():
    results = run(document())
    page = plots.figure(
        [results, results], "link-sojourn", links=["L1"], options=Options(width_mm=120)
    )
    said = [text.get_text() for text in page.findobj(Text)]
    assert said.count("Queueing delay") == 2
    assert any(text.startswith("ms, of") and text.endswith("…") for text in said)
