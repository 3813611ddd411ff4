"""Plots: what a reader who sees the run for the first time could take for something else."""

import itertools
import json

import lab_runs
import numpy as np
import plot_runs as made
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from test_plots import busy_run, legend, lines, panels, words
from test_plots_look import EYES, seen
from test_plots_paths import ALTERNATING, diamond

from ackclock import Scenario, metrics, plots
from ackclock.plots import Options, heading, palette, saving, text
from ackclock.plots.view import View
from ackclock.report.moments import of_network


def changing(end_s=20.0):
    """One flow over one link, which becomes slower, fails and comes back."""
    link = made.link("L1", "H1", "H2", 10**7) | {
        "changes": [
            {"at_ns": 4 * 10**9, "direction": "both", "rate_bps": 5 * 10**6},
            {"at_ns": 8 * 10**9, "direction": "both", "state": "down"},
            {"at_ns": 10 * 10**9, "direction": "both", "state": "up", "delay_ns": 30 * 10**6},
        ]
    }
    maker = made.Maker(made.model(["H1", "H2"], [], [link], [made.tcp_flow("F1", "H1", "H2", 0.0)]))
    busy = [np.arange(0, 4, 8e-4), np.arange(4, 8, 16e-4), np.arange(10.5, end_s, 16e-4)]
    maker.transmissions("L1", np.concatenate(busy), 1000)
    times = np.concatenate([np.arange(0.1, 8, 0.05), np.arange(10.5, end_s, 0.05)])
    maker.rtt("F1", times, np.full(len(times), 0.04))
    return maker.run(end_s, path={"F1": ["L1"]})


# Links that change


def test_the_capacity_follows_the_changes_of_a_link():
    figure = plots.figure(changing(), "link-rate")
    axes = panels(figure)["Link rate"]
    (capacity,) = [line for line in lines(axes, palette.FAINT_INK) if len(line.get_xdata()) > 2]
    assert capacity.get_drawstyle() == "steps-post"
    assert list(capacity.get_xdata()) == [0, 4, 8, 10, 20]
    assert list(capacity.get_ydata()) == [10, 5, 0, 5, 5]


def by_a_rule(rule, ends_ms):
    """Packets of 1504 bytes over a link whose rate follows a rule, by when each is sent."""
    link = made.link("L1", "H1", "H2", 10**7) | {
        "changes": [{"at_ns": 10**9, "direction": "both", "delay_ns": 30 * 10**6}]
    }
    for way in ("forward", "backward"):
        link[way]["rate"] = rule
    maker = made.Maker(made.model(["H1", "H2"], [], [link], [made.tcp_flow("F1", "H1", "H2", 0.0)]))
    maker.transmissions("L1", np.array([0, *ends_ms[:-1]]) * 1e-3, 1504)
    return maker.run(2.0, path={"F1": ["L1"]})


def test_the_steps_of_a_table_are_the_states_of_a_link():
    rates = [{"at_ns": 0, "rate_bps": 10**7}, {"at_ns": 4 * 10**8, "rate_bps": 0}]
    run = by_a_rule({"kind": "table", "steps": rates, "repeat_ns": 8 * 10**8}, [400, 1200])
    (lane,) = View(run).lanes
    found = [(round(s.time_s, 9), s.rate_bps, s.delay_ns) for s in lane.states]
    early, late = 10_000_000, 30_000_000
    assert found == [
        *[(0, 10**7, early), (0.4, 0, early), (0.8, 10**7, early)],
        *[(1.0, 10**7, late), (1.2, 0, late), (1.6, 10**7, late)],
    ]
    (capacity,) = [
        line
        for line in lines(panels(plots.figure(run, "link-rate"))["Link rate"], palette.FAINT_INK)
        if len(line.get_xdata()) > 2
    ]
    assert [*capacity.get_ydata()] == [10, 0, 10, 10, 0, 10, 10]


def test_the_capacity_of_a_very_long_table_is_in_windows():
    # 10 Mbps and 2 Mbps in turn, each for 50 µs.
    rates = [{"at_ns": 0, "rate_bps": 10**7}, {"at_ns": 5 * 10**4, "rate_bps": 2 * 10**6}]
    run = by_a_rule({"kind": "table", "steps": rates, "repeat_ns": 10**5}, [2, 4])
    view = View(run)
    (lane,) = view.lanes
    assert len(lane.states) == 2  # of the delay
    assert view.capacity(lane)[1] == pytest.approx(np.full(200, 6e6))


def test_the_capacity_of_a_trace_is_that_of_its_opportunities():
    # Round after round, 8 packets in the first half and 2 in the second; a window has 10 ms.
    trace = [5, 5, 5, 5, 10, 10, 10, 10, 15, 20]
    full = [ms + base for base in range(0, 2000, 20) for ms in trace]
    run = by_a_rule({"kind": "mahimahi", "opportunities": trace}, full)
    view = View(run)
    (lane,) = view.lanes
    assert view.window_s == 0.01
    _, capacity = view.capacity(lane)
    each = 1504 * 8 / 0.01
    # An opportunity at the edge of two windows belongs to the one before it.
    assert capacity.tolist() == pytest.approx([8 * each, 2 * each] * 100)
    # A link that always sends shows exactly its capacity, also where that changes.
    assert view.link_rate(lane)[1].tolist() == pytest.approx(capacity.tolist())
    axes = panels(plots.figure(run, "link-rate"))["Link rate"]
    (drawn,) = [line for line in lines(axes, palette.FAINT_INK) if len(line.get_xdata()) > 2]
    assert drawn.get_ydata()[:2] * 1e6 == pytest.approx([8 * each, 2 * each])


def test_a_full_link_is_drawn_at_its_capacity_after_a_change_too():
    edges, rates = View(changing()).link_rate(View(changing()).lanes[0])
    inside = (edges[:-1] > 4.05) & (edges[1:] < 7.95)
    assert rates[inside] == pytest.approx(5e6, rel=1e-9)


def test_changes_and_failures_have_marks_in_all_panels():
    figure = plots.figure(changing(), "overview")
    for title in ("Link rate", "Round-trip time"):
        axes = panels(figure)[title]
        marked = [line.get_xdata()[0] for line in axes.lines if line.get_color() == palette.CHANGE]
        assert marked == [4, 8, 10]
        (down,) = axes.patches
        assert (down.get_x(), down.get_width()) == (8, 2)
    assert "L1 5 Mbps at 4 s, L1 down at 8 s, L1 up and 30 ms at 10 s" in words(figure)


def test_the_warm_up_is_shaded_and_only_figures_of_the_run_say_when_they_begin():
    busy = busy_run()
    run = made.FakeRun(busy.model, busy.summary | {"warmup_s": 5.0}, busy.tables)
    figure = plots.figure(run, "link-losses")
    (shade,) = panels(figure)["Packets lost"].patches
    assert (shade.get_x(), shade.get_width()) == (0, 5)
    assert "Grey: the warm-up until 5 s" in words(figure)
    assert "figures from" not in words(figure)
    assert "L: 4, 1 after the warm-up" in legend(panels(figure)["Packets lost"])
    assert "figures from 5 s on" in words(plots.figure(run, "fairness"))
    later = plots.figure(run, "link-losses", options=Options(from_s=6.0))
    assert "Grey" not in words(later)
    assert "L: 1" in legend(panels(later)["Packets lost"])


def test_no_line_joins_measurements_over_a_gap():
    axes = panels(plots.figure(changing(), "flow-rtt"))["Round-trip time"]
    (line,) = lines(axes, palette.FLOWS[0])
    times, values = np.array(line.get_xdata()), np.array(line.get_ydata())
    (gap,) = np.flatnonzero(np.isnan(values))
    assert times[gap - 1] == pytest.approx(7.95)
    assert times[gap + 1] == pytest.approx(10.5)


def test_a_single_measurement_between_gaps_is_a_point():
    maker = diamond()
    times = [*np.arange(1, 2, 0.01), 10.0, *np.arange(18, 19, 0.01)]
    maker.rtt("F1", times, np.full(len(times), 0.04))
    axes = panels(plots.figure(maker.run(20.0), "flow-rtt"))["Round-trip time"]
    (line,) = lines(axes, palette.FLOWS[0])
    assert line.get_marker() == "o"
    assert [line.get_xdata()[i] for i in line.get_markevery()] == [10.0]


def test_marks_of_events_stand_on_the_line_of_the_window():
    maker = diamond()
    times = np.linspace(0.5, 19.5, 60_000)
    sawtooth = 10 + 30 * (times % 1.0)
    maker.cwnd("F1", times, sawtooth)
    maker.events("F1", "fast-retransmit", [5.0, 6.0, 7.0])
    axes = panels(plots.figure(maker.run(20.0), "flow-window"))["Congestion window"]
    (window,) = lines(axes, palette.FLOWS[0])
    (marks,) = [line for line in axes.lines if line.get_marker() == "o"]
    drawn = dict(zip(marks.get_xdata(), marks.get_ydata(), strict=True))
    assert list(drawn) == [5, 6, 7]
    for at, value in drawn.items():
        near = np.abs(np.array(window.get_xdata()) - at) < 0.02
        assert np.array(window.get_ydata())[near].max() == pytest.approx(value, rel=0.02)


# Colours and looks


def test_the_directions_of_a_link_have_their_own_colours():
    view = View(busy_run(duplex="full"), links=["L"])
    there, back = view.lanes
    assert view.lane_color[there] != view.lane_color[back]


def test_no_colour_stands_twice_in_a_legend_of_many_links():
    names = [f"A{i}" for i in range(40)]
    links = [made.link(name, f"S{i}", "R", duplex="full") for i, name in enumerate(names)]
    hosts = [f"S{i}" for i in range(40)]
    flows = [made.tcp_flow(f"F{i}", host, "S0", 0.0) for i, host in enumerate(hosts[1:])]
    maker = made.Maker(made.model(hosts, ["R"], links, flows))
    for i, name in enumerate(names[::5], 1):
        maker.drops(name, np.linspace(1.0, 2.0, i), direction="forward")
        maker.queue(name, [0.5, 1.5], [10, 0], "forward")
        maker.queue(name, [0.5, 1.5], [10, 0], "backward")
    figure = plots.figure(maker.run(20.0), "overview", flows=["F0"])
    for title in ("Packets lost", "Queue length"):
        shown = panels(figure)[title].get_legend().get_lines()
        colors = [handle.get_color() for handle in shown]
        assert len(colors) > 5
        assert len(set(colors)) == len(colors)


def contrast(one, other):
    light, dark = sorted((seen(c, np.eye(3))[0] for c in (one, other)), reverse=True)
    luminance = [((lightness + 16) / 116) ** 3 for lightness in (light, dark)]
    return (luminance[0] + 0.05) / (luminance[1] + 0.05)


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("family", ["FLOWS", "LINKS"])
def test_the_dark_look_has_colours_as_far_apart(family, eyes):
    dark = palette.looks()["dark"]
    colors = [seen(color, EYES[eyes]) for color in dark[family][:6]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2)) > 12
    assert min(contrast(color, dark["GROUND"]) for color in dark[family]) > 3
    assert contrast(dark["INK"], dark["GROUND"]) > 10
    assert contrast(dark["FAINT_INK"], dark["GROUND"]) > 4.5


def test_a_dark_figure_has_dark_ground_and_light_words():
    figure = plots.figure(busy_run(), "overview", options=Options(style="dark"))
    dark = palette.looks()["dark"]
    assert to_hex(figure.get_facecolor()) == dark["GROUND"].lower()
    assert figure.texts[0].get_color() == dark["INK"]
    window = panels(figure)["Congestion window"]
    assert lines(window, dark["FLOWS"][0])
    assert not lines(window, palette.looks()["light"]["FLOWS"][0])
    assert palette.looks()["light"]["INK"] == palette.INK  # the look ends with the figure


def test_a_transparent_figure_has_no_ground(tmp_path):
    figure = plots.figure(busy_run(), "flow-rtt", options=Options(transparent=True))
    assert figure.get_facecolor()[3] == 0
    assert all(axes.get_facecolor()[3] == 0 for axes in figure.axes)


@pytest.mark.slow
def test_words_of_an_svg_are_words(tmp_path):
    (path,) = plots.plot(busy_run(), ["overview"], fmt="svg", out=tmp_path)
    text = path.read_text(encoding="utf-8")
    assert ">Congestion window</text>" in text
    assert ">F1</text>" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [({"width_mm": 7}, "60 to 600 mm"), ({"style": "drak"}, "unknown style 'drak'; .*'dark'")],
)
def test_a_look_that_there_is_not_is_refused(options, message):
    with pytest.raises(plots.PlotError, match=message):
        Options(**options)


@pytest.mark.parametrize("width_mm", [88.0, 180.0])
def test_the_footer_stays_within_the_margins_of_the_picture(width_mm):
    run = busy_run()
    run.model["title"] = "A title of many words " * 6
    figure = plots.figure(run, "overview", options=Options(width_mm=width_mm))
    run.model["title"] = "A made-up run"
    with saving.style():
        figure.set_dpi(1200 / figure.get_size_inches()[0])
        renderer = FigureCanvasAgg(figure).get_renderer()
        edge = 1200 * (1 - 2.5 / width_mm)
        assert max(text.get_window_extent(renderer).x1 for text in figure.texts) <= edge


# Networks


def shapes(leaves):
    """A dumbbell with as many hosts at each side."""
    sides = [("S", "R1", "access"), ("D", "R2", "egress")]
    hosts = [f"{letter}{i}" for letter, _, _ in sides for i in range(1, leaves + 1)]
    links = [
        made.link(f"{name}{i}", f"{letter}{i}", router, duplex="full")
        for letter, router, name in sides
        for i in range(1, leaves + 1)
    ]
    links.append(made.link("bottleneck", "R1", "R2", duplex="full"))
    flows = [made.tcp_flow(f"F{i}", f"S{i}", f"D{i}", 0.0) for i in range(1, leaves + 1)]
    path = {f"F{i}": [f"access{i}", "bottleneck", f"egress{i}"] for i in range(1, leaves + 1)}
    return made.Maker(made.model(hosts, ["R1", "R2"], links, flows)).run(5.0, path=path)


def test_a_thousand_hosts_at_one_router_are_one_node():
    figure = plots.figure(shapes(1000), "topology")
    axes = panels(figure)["Network"]
    shown = {text.get_text().split("\n")[0] for text in axes.texts}
    assert {"1,000", "S1 … S1000", "D1 … D1000", "R1", "R2", "bottleneck"} <= shown
    assert "access1 … access1000" in shown
    assert legend(axes) == ["1,000 flows, F1 … F1000"]
    assert len(axes.patches) == 1
    assert len(axes.collections[0].get_segments()) == 3


def test_labels_of_a_network_cover_no_other_label():
    figure = plots.figure(shapes(10), "topology")
    axes = panels(figure)["Network"]
    renderer = FigureCanvasAgg(figure).get_renderer()
    named = [text for text in axes.texts if text.get_text() not in ("", "Network")]
    boxes = [text.get_window_extent(renderer) for text in named]
    assert len(boxes) == 22 + 21
    assert not [1 for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]


# Runs beside each other


@pytest.mark.slow
def test_two_overviews_stand_beside_each_other_on_the_same_scales():
    one, other = busy_run(), busy_run(flows=2, end_s=40.0, losses=False)
    figure = plots.figure([one, other], "overview")
    left, right = (panels(part) for part in figure.subfigs)
    assert len(left) == len(right)
    for title in ("Congestion window", "Round-trip time"):
        assert left[title].get_xlim() == right[title].get_xlim() == (0, 40)
        assert left[title].get_ylim() == right[title].get_ylim()
        assert left[title].get_position().y0 == pytest.approx(right[title].get_position().y0)
    said = " ".join(text.get_text() for part in figure.subfigs for text in part.texts)
    assert "3 flows" in said
    assert "2 flows" in said


def test_too_many_runs_for_the_width_are_refused():
    with pytest.raises(plots.PlotError, match=r"need a figure of 240 mm \(--width\)"):
        plots.figure([busy_run()] * 4, "overview")
    assert plots.figure([busy_run()] * 4, "flow-rtt", options=Options(width_mm=240))


# Data in flight, timers, waits


def test_data_in_flight_fill_a_fixed_window():
    run = lab_runs.window(8)
    axes = panels(plots.figure(run, "flow-flight", flows=["F1"]))["Data in flight"]
    (line,) = lines(axes, palette.FLOWS[0])[:1]
    assert max(line.get_ydata()) == 8
    assert "congestion window" in legend(axes)


def test_data_in_flight_are_what_was_sent_less_what_was_acknowledged():
    times, values = metrics.outstanding([0, 1, 2, 3], [1, 2, 2, 3], [1.5, 2.5, 4], [1, 0, 3])
    assert times.tolist() == [0, 1, 1.5, 2, 2.5, 3, 4]
    assert values.tolist() == [1, 2, 1, 1, 1, 2, 0]


def test_the_timer_shows_samples_and_their_smoothed_value():
    maker = diamond()
    maker.rtt("F1", [1.0, 1.5, 2.0, 2.5], [0.08, 0.16, 0.08, 0.08])
    axes = panels(plots.figure(maker.run(5.0), "flow-timer"))["Retransmission timer"]
    points, line = lines(axes, palette.FLOWS[0])
    assert points.get_ydata() == pytest.approx([80, 160, 80, 80])
    assert line.get_ydata() == pytest.approx([80, 90, 88.75, 87.65625])


def test_waits_are_from_entering_to_the_start_of_transmission():
    run = lab_runs.tahoe()
    axes = panels(plots.figure(run, "link-sojourn"))["Queueing delay"]
    (drawn,) = set(legend(axes))
    link, direction = drawn.split(" ")[0], "forward"
    most = run.summary["links"][link][direction]["queueing_delay_s"]["max"]
    assert axes.get_ylim()[1] == pytest.approx(1.1e3 * most, rel=1e-6)


# Fairness


def test_the_index_of_some_flows_says_so():
    run = busy_run()
    (axes,) = plots.figure(run, "fairness", flows=["F0", "F2"]).axes
    (said,) = [text.get_text() for text in axes.texts if "Jain" in text.get_text()]
    assert said.startswith("Jain's index of these 2 of 3 flows 0.")
    (whole,) = plots.figure(run, "fairness").axes
    assert any(text.get_text().startswith("Jain's index 0.") for text in whole.texts)


def test_notes_of_the_theory_do_not_list_hundreds_of_names(small_scenario):
    from ackclock import theory
    from ackclock.scenario import Scenario

    document = json.loads(json.dumps(small_scenario.canonical))
    first = document["flows"][0]
    first["tcp"]["cc"] = {"kind": "reno"}
    document["flows"] = [first | {"id": f"F{i}"} for i in range(1, 201)]
    notes = theory.predict(Scenario.from_dict(document).model).notes
    assert max(map(len, notes)) < 400
    assert any("F12 and 188 more" in note for note in notes)


# Headings


@pytest.mark.parametrize(
    ("tcp", "name"),
    [
        ({}, "CUBIC"),
        ({"cc": "bbr"}, "BBR"),
        ("reno", "Reno"),
        ("tahoe", "Tahoe"),
        ("newreno", "NewReno"),
        ({"sender": "classic", "cc": {"kind": "aimd", "decrease": 0.8}}, "AIMD, decrease 0.8"),
        ({"sender": "classic", "cc": {"kind": "fixed", "window": 7}}, "Fixed window, window 7"),
    ],
)
def test_a_heading_names_the_algorithm_and_what_was_chosen(tcp, name):
    link = {"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 ms"}
    flow = {"id": "F", "from": "A", "to": "B", "tcp": tcp}
    document = {"hosts": ["A", "B"], "links": [link], "flows": [flow], "stop": {"at_latest": "1 s"}}
    model = Scenario.from_dict(document).model
    assert heading.algorithm(model["flows"][0]) == name


def test_changes_of_routes_are_named_with_both_links():
    found = [moment["text"] for moment in of_network(View(diamond(ALTERNATING).run(20.0)))]
    assert found == ["R1 reaches H2 over L2 instead of L1", "R1 reaches H2 over L1 instead of L2"]


# Long runs and many flows


def losing_every_two_seconds(end_s):
    link = made.link("L", "H1", "H2")
    maker = made.Maker(made.model(["H1", "H2"], [], [link], [made.tcp_flow("F", "H1", "H2", 0.0)]))
    times = np.arange(1.0, end_s, 2.0)
    maker.drops("L", times, "F", "both")
    maker.events("F", "fast-retransmit", times)
    steps = np.arange(0.0, end_s, 0.05)
    maker.cwnd("F", steps, 40 + 20 * (steps + 1) % 2, np.full(len(steps), 20.0))
    return maker.run(end_s)


@pytest.mark.parametrize(("end_s", "span"), [(20.0, {}), (2000.0, {"to_s": 20.0})])
def test_losses_are_counted_in_windows_of_rates_where_these_can_be_seen(end_s, span):
    run = losing_every_two_seconds(end_s)
    figure = plots.figure(run, "link-losses", options=Options(**span))
    assert "packets per 0.1 s" in panels(figure)


def test_losses_of_a_long_run_are_no_solid_block():
    axes = panels(plots.figure(losing_every_two_seconds(2000.0), "link-losses"))
    assert "packets per 10 s" in axes
    assert legend(axes["Packets lost"]) == ["L: 1,000"]
    (bars,) = axes["Packets lost"].collections
    assert {segment[1][1] for segment in bars.get_segments()} == {5.0}
    between = np.diff([segment[0][0] for segment in bars.get_segments()]).min()
    assert between * 150 / 2000.0 > bars.get_linewidth()[0] * text.MM_PER_POINT


def test_the_window_of_a_long_run_is_a_mean_with_its_range():
    few, many = (plots.figure(losing_every_two_seconds(s), "flow-window") for s in (20.0, 2000.0))
    note = "Line: mean; shading: minimum to maximum."
    assert note not in words(few)
    assert note in words(many)
    (line,) = lines(panels(many)["Congestion window"], palette.FLOWS[0])[:1]
    assert np.ptp(line.get_ydata()) < 10  # of 20 between the windows before and after a loss


def test_no_number_stands_beside_the_marks_of_drops():
    names = [f"F{i}" for i in range(8)]
    flows = [made.tcp_flow(name, "H1", "H2", 0.0) for name in names]
    maker = made.Maker(made.model(["H1", "H2"], [], [made.link("L", "H1", "H2")], flows))
    maker.queue("L", [0.0, 1.0], [64.0, 60.0])
    for name in names:
        maker.drops("L", [0.5], name)
    axes = panels(plots.figure(maker.run(2.0), "queue-drops"))["Queue of L"]
    assert axes.get_ylim()[1] > 100
    assert list(axes.get_yticks()) == [0, 50]


def test_a_flow_without_an_rtt_sample_is_missed():
    run = busy_run.__wrapped__()
    for name, rtt in (("F0", 0.05), ("F1", 0.06), ("F2", None)):
        run.summary["flows"][name]["rtt_s"] = rtt and {"mean": rtt, "min": rtt}
    assert "Not drawn: 1 without an RTT sample." in words(plots.figure(run, "throughput-delay"))
