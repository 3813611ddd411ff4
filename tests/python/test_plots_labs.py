"""Plots of the labs: the data of what is drawn."""

import lab_runs
import numpy as np
import pytest
from test_plots import legend, panels, words

from ackclock import plots
from ackclock.plots import Options, PlotError, palette


def sequence(run, flows=None, **options):
    figure = plots.figure(run, "sequence", flows, options=Options(**options))
    return figure, panels(figure)["Sequence number"]


def marks(axes, label):
    """Points of all marks of a kind, as (time, value)."""
    return [
        (float(x), float(y))
        for line in axes.lines
        if line.get_label() == label
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


# Sequence numbers


def test_the_sequence_plot_tells_what_became_of_each_segment():
    run = lab_runs.tahoe()
    told = run.summary["flows"]["F1"]
    spurious = told["spurious_retransmissions"]
    figure, axes = sequence(run, ["F1"])
    acks = sum(
        row["event"] == "received" and row["kind"] == "ack" and row["flow"] == "F1"
        for row in run.table("packets").to_pylist()
    )
    assert legend(axes) == [
        "sent: 1,000",
        f"retransmitted: {told['retransmissions'] - spurious}",
        f"retransmitted, spurious: {spurious}",
        f"dropped: {told['segments_dropped']}",
        f"ACK: {acks:,}",
    ]
    text = words(figure)
    assert "all of its data had already arrived" in text
    assert "at the last segment it covers" in text


def test_every_drop_has_its_mark_in_place_of_a_square():
    run = lab_runs.tahoe()
    _, axes = sequence(run, ["F1"], modulo=50)
    dropped = [
        (row["time_s"], row["seq"] / 1000 % 50)
        for row in run.table("drops").to_pylist()
        if row["flow"] == "F1"
    ]
    crosses = marks(axes, "dropped")
    for time, value in dropped:
        near = [abs(x - time) < 0.002 and abs(y - value) < 1e-9 for x, y in crosses]
        assert any(near), (time, value)
    squares = {(round(x, 9), y) for x, y in marks(axes, "sent")}
    assert not squares & {(round(time, 9), value) for time, value in dropped}


def test_acks_lie_beside_the_segment_they_cover():
    _, axes = sequence(lab_runs.tahoe(1))
    sent = dict(map(reversed, marks(axes, "sent")))
    for time, segment in marks(axes, "ACK")[:20]:
        if segment in sent:
            assert time - sent[segment] >= 0.0208 - 1e-9


def test_modulo_folds_the_numbers():
    figure, axes = sequence(lab_runs.tahoe(1), modulo=50)
    values = [y for _, y in marks(axes, "sent")]
    assert max(values) == 49
    assert "segments of 1,000 B, modulo 50" in [text.get_text() for text in axes.texts]
    assert "too often to distinguish" not in words(figure)


@pytest.mark.slow
def test_a_long_run_is_thinned_but_no_place_with_a_mark_is_left_empty():
    run = lab_runs.tahoe(2, "15 MB")
    _, axes = sequence(run)
    drawn = np.array(marks(axes, "sent"))
    assert len(drawn) < 12_000
    assert "sent: 30,000" in legend(axes)
    drops = np.array([(r["time_s"], r["seq"] / 1000) for r in run.table("drops").to_pylist()])
    crosses = np.array(marks(axes, "dropped"))
    scale = np.array([run.summary["end_s"] / 165, 15_600 / 82])  # one millimetre on paper
    gaps = np.abs(drops[:, None, :] - crosses[None, :, :]) / scale
    assert gaps.max(axis=2).min(axis=1).max() < 0.13
    folded, _ = sequence(run, modulo=50)
    assert "too often to distinguish" in words(folded)


def test_flows_together_keep_their_colours_and_the_shapes_tell_the_kinds():
    _, axes = sequence(lab_runs.tahoe())
    assert legend(axes)[:2] == ["F1", "F2"]
    colors = {line.get_color() for line in axes.lines if line.get_label() == "dropped"}
    markers = {
        line.get_markeredgecolor() for line in axes.lines if line.get_label() == "dropped"
    } | colors
    assert set(palette.FLOWS[:2]) <= markers


@pytest.mark.slow
def test_a_figure_for_each_flow_or_one_for_all(tmp_path, unpainted):
    run = lab_runs.tahoe()
    apart = plots.plot(run, ["sequence", "cwnd-events"], out=tmp_path)
    assert [path.name for path in apart] == [
        "sequence-F1.png",
        "sequence-F2.png",
        "cwnd-events-F1.png",
        "cwnd-events-F2.png",
    ]
    together = plots.plot(run, ["sequence"], out=tmp_path, options=Options(together=True))
    assert [path.name for path in together] == ["sequence.png"]
    alone = plots.plot(run, ["sequence"], ["F2"], out=tmp_path / "alone")
    assert [path.name for path in alone] == ["sequence.png"]
    rates = plots.plot(run, ["receiver-rate"], out=tmp_path, options=Options(together=False))
    assert [path.name for path in rates] == ["receiver-rate-F1.png", "receiver-rate-F2.png"]


def test_lost_acks_are_shown():
    _, axes = sequence(lab_runs.timer())
    assert "ACK dropped: 2" in legend(axes)
    assert "dropped: 1" in legend(axes)


def test_flows_that_number_packets(small_results):
    _, axes = sequence(small_results, ["F1"])
    offered = small_results.summary["flows"]["F1"]["packets_offered"]
    assert f"sent: {offered}" in legend(axes)
    assert marks(axes, "ACK")[0][1] == 0  # the ACK of packet 0


# A span of time


def test_a_span_of_time_limits_the_axis_and_the_counts():
    figure, axes = sequence(lab_runs.tahoe(), ["F1"], from_s=0.5, to_s=0.6)
    assert axes.get_xlim() == (0.5, 0.6)
    assert marks(axes, "dropped")
    for label in ("sent", "retransmitted", "dropped", "ACK"):
        assert all(0.5 <= x <= 0.6 for x, _ in marks(axes, label))
    assert all(axes.get_xlim() == (0.5, 0.6) for axes in figure.axes)


@pytest.mark.parametrize("kind", ["flow-window", "link-queue", "flow-rtt", "overview"])
def test_other_plots_over_time_know_the_span_too(kind):
    figure = plots.figure(lab_runs.tahoe(), kind, options=Options(from_s=0.1, to_s=0.4))
    for axes in figure.axes:
        assert axes.get_xlim() == (100, 400)  # in ms
        for line in axes.lines:
            if line.get_color() == palette.LOSS:
                assert all(100 <= x <= 400 for x in line.get_xdata())


@pytest.mark.slow
def test_counts_and_scales_are_those_of_the_span():
    """The overshoot of slow start before it neither counts nor makes the rest flat."""
    results = lab_runs.tahoe()
    times = results.table("drops")["time_s"].to_numpy()
    cut = float(np.sort(times)[len(times) // 2]) + 1e-3
    after = int((times >= cut).sum())
    assert 0 < after < len(times)
    losses = panels(plots.figure(results, "link-losses", options=Options(from_s=cut)))[
        "Packets lost"
    ]
    said = [text.get_text() for text in losses.get_legend().get_texts()]
    assert sum(int(one.split(": ")[1]) for one in said) == after
    rates, whole = (
        panels(plots.figure(results, "flow-send-rate", options=options))["Send rate of flows"]
        for options in (Options(from_s=0.5), Options())
    )
    drawn = max(np.nanmax(line.get_ydata()) for line in rates.lines if len(line.get_ydata()) > 2)
    assert rates.get_ylim()[1] == pytest.approx(1.1 * drawn, rel=0.01)
    assert rates.get_ylim()[1] < whole.get_ylim()[1]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("sequence", {"modulo": 1}, "take 2 or more"),
        ("receiver-rate", {"bin_s": 0.0}, "must be above 0 s"),
        ("sequence", {"from_s": 2.0, "to_s": 1.0}, "no such time"),
        ("sequence", {"from_s": 99.0}, "nothing after 99 s"),
        ("queue-drops", {"modulo": 50}, "'modulo' has no effect"),
        ("topology", {"from_s": 0.5}, "'from' has no effect"),
        ("cwnd-events", {"sliding": True}, "'sliding' has no effect"),
    ],
)
def test_wishes_that_cannot_be_met_are_errors(kind, options, message):
    with pytest.raises(PlotError, match=message):
        plots.figure(lab_runs.tahoe(), kind, options=Options(**options))


# Rates at the receiver


def test_bins_of_a_tenth_of_a_second_and_the_sum_of_the_flows():
    run = lab_runs.tahoe(5, gap_ms=100)
    axes = panels(plots.figure(run, "receiver-rate"))["Receive rate"]
    assert legend(axes)[0] == "all flows"
    (total,) = [line for line in axes.lines if line.get_color() == palette.RULE][:1]
    assert np.max(total.get_ydata()) == pytest.approx(10.0, abs=0.2)
    assert "Mbps, all data packets, 0.1 s bins" in [t.get_text() for t in axes.texts]


@pytest.mark.parametrize(
    ("bin_s", "end_s", "rate_bps"), [(0.1, 0.8992, 0.0892 / 0.0992 * 10e6), (0.11, 0.88, 10e6)]
)
def test_the_last_bin_ends_with_the_run_or_is_left_out(bin_s, end_s, rate_bps):
    """The run ends at 0.8992 s: a bin of 0.1 s is nearly over then, one of 0.11 s just begun."""
    figure = plots.figure(lab_runs.tahoe(1), "receiver-rate", options=Options(bin_s=bin_s))
    (line,) = [
        line
        for line in panels(figure)["Receive rate"].lines
        if line.get_color() == palette.FLOWS[0] and len(line.get_xdata()) > 2
    ]
    assert line.get_xdata()[-1] == pytest.approx(end_s)
    assert line.get_ydata()[-1] * 1e6 == pytest.approx(rate_bps, rel=0.01)


@pytest.mark.slow
def test_the_sliding_window_of_the_labs_comes_with_a_warning():
    run = lab_runs.tahoe(5, gap_ms=100)
    figure = plots.figure(run, "receiver-rate", options=Options(sliding=True))
    axes = panels(figure)["Receive rate"]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    at_1_s = [
        dict(zip(np.round(x.get_xdata(), 6), x.get_ydata(), strict=True))[1.0] for x in dashed
    ]
    rows = [r for r in run.table("packets").to_pylist() if r["time_s"] <= 1.0]
    came = [r for r in rows if r["event"] == "received" and r["kind"] == "data"]
    expected = [sum(r["bytes"] for r in came if r["flow"] == f"F{i}") for i in range(1, 6)]
    assert at_1_s == pytest.approx([bytes_ * 8 / 1e6 for bytes_ in expected])
    # As measured with an independent program for the same network.
    assert at_1_s == pytest.approx([6.7, 1.3, 0.42, 0.03, 0.47], abs=0.05)
    assert "It misleads" in words(figure)
    plain = plots.figure(run, "receiver-rate")
    assert "It misleads" not in words(plain)


def test_the_sum_counts_each_byte_once():
    run = lab_runs.tahoe()
    assert run.summary["flows"]["F1"]["duplicates_received"] > 100
    axes = panels(plots.figure(run, "receiver-rate"))["Data received"]
    tops = [float(np.max(line.get_ydata())) for line in axes.lines if len(line.get_xdata()) > 2]
    assert tops[:2] == pytest.approx([1.0, 1.0])  # MB


# Queue, window


def test_drops_stand_above_the_limit_in_rows_of_their_flows():
    run = lab_runs.tahoe()
    figure = plots.figure(run, "queue-drops")
    axes = panels(figure)["Queue of L1 → n2"]
    drops = run.table("drops").num_rows
    assert f"dropped, buffer full: {drops}" in legend(axes)
    assert "buffer full (100)" in legend(axes)
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert [line.get_markeredgecolor() for line in crosses] == list(palette.FLOWS[:2])
    heights = [set(line.get_ydata()) for line in crosses]
    assert all(len(height) == 1 and min(height) > 100 for height in heights)
    assert heights[0] != heights[1]
    first = run.table("drops").to_pylist()[0]["time_s"]
    assert min(float(min(line.get_xdata())) for line in crosses) == pytest.approx(first)


def test_losses_that_are_no_overflow_have_another_mark():
    axes = panels(plots.figure(lab_runs.timer(), "queue-drops", links=["L1"]))["Queue of L1 → n2"]
    assert "lost (loss model): 1" in legend(axes)


def test_events_stand_on_the_window_that_they_cut():
    run = lab_runs.tahoe()
    axes = panels(plots.figure(run, "cwnd-events", ["F1"]))["Congestion window"]
    told = run.summary["flows"]["F1"]
    assert f"fast retransmit: {told['fast_retransmits']}" in legend(axes)
    (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert dots.get_xdata()[0] == pytest.approx(0.284)
    assert dots.get_ydata()[0] == pytest.approx(100.29, abs=0.01)
    assert "slow-start threshold" in legend(axes)


def test_recovery_is_shaded():
    reno = {"cc": "reno", "recovery": "newreno"}
    run = lab_runs.run(lab_runs.scenario(2, "1 MB", reno))
    figure = plots.figure(run, "cwnd-events", ["F1"])
    axes = panels(figure)["Congestion window"]
    states = [r["state"] for r in run.table("cwnd").to_pylist() if r["flow"] == "F1"]
    assert "recovery" in states
    assert axes.patches
    assert "Shaded: fast recovery." in words(figure)


# Windows against throughput


@pytest.mark.slow
def test_the_window_sweep_has_a_point_for_each_run(tmp_path):
    from ackclock.plots.view import View
    from ackclock.plots.window_sweep import of_run

    runs = [lab_runs.window(w) for w in (20, 1, 5, 10)]
    figure = plots.figure(runs, "window-sweep")
    axes = panels(figure)["Throughput"]
    line = axes.lines[0]
    assert line.get_xdata() == pytest.approx([1, 5, 10, 20])  # kB
    ends = [0.38427068, 1.91876249, 3.79573890, 7.46200255]
    assert line.get_ydata() == pytest.approx(ends, abs=1e-8)
    delays = panels(figure)["Mean queueing delay"].lines[0]
    assert delays.get_ydata() == pytest.approx([0, 15.534, 69.903, 295.146], abs=1e-3)  # µs
    (point,) = of_run(View(runs[0]))
    assert point.received_bps == pytest.approx(514_520 * 8 / 0.541616)
    assert "4 runs" in words(figure)
    (path,) = plots.plot(runs, ["window-sweep"], out=tmp_path)
    assert path.name == "window-sweep.png"


def test_each_reason_for_a_drop_has_marks_that_can_be_seen():
    from ackclock.plots.panel import mark_style
    from ackclock.plots.queue_drops import _REASONS

    for marker, _ in _REASONS.values():
        assert mark_style(marker, "#000000", 3.4)["mew"] > 0


def test_some_plots_take_one_run():
    with pytest.raises(PlotError, match="shows one run, not 2"):
        plots.figure([lab_runs.tahoe(), lab_runs.tahoe(1)], "topology")


def test_a_sweep_of_runs_without_a_limited_window_is_an_error():
    with pytest.raises(PlotError, match="none of these runs"):
        plots.figure([lab_runs.tahoe(), lab_runs.tahoe(1)], "window-sweep")
