"""What modern senders report of themselves: `tcp_info`, events, and their plots."""

import modern_runs
import numpy as np
import pytest

from ackclock import plots

NAMES = ("tcp-info", "tcp-segments", "tcp-times", "tcp-rates", "cwnd-events")


@pytest.fixture(scope="module")
def late():
    return modern_runs.simulated(send="1 MB", late=True)


@pytest.fixture(scope="module")
def lossy():
    return modern_runs.simulated()


def columns(run, table="tcp_info"):
    return {name: run.table(table)[name].to_numpy() for name in run.table(table).column_names}


@pytest.mark.parametrize("cc", ["cubic", "bbr", "reno"])
def test_recording_changes_nothing(cc):
    recorded = modern_runs.simulated(tcp={"cc": cc})
    silent = modern_runs.simulated(tcp={"cc": cc}, record="none")
    assert recorded.summary["digest"] == silent.summary["digest"]
    assert recorded.table("tcp_info").num_rows > 100


def test_a_table_does_not_depend_on_the_others(lossy):
    assert {"recovery", "recovery-end"} <= set(columns(lossy, "events")["event"])
    for name in lossy.tables:
        alone = modern_runs.simulated(record={"kind": "none", name: "changes"})
        assert list(alone.tables) == [name]
        np.testing.assert_equal(columns(alone, name), columns(lossy, name), name)


def test_what_is_reported_agrees_with_the_other_records(lossy):
    info, flow = columns(lossy), lossy.summary["flows"]["F"]
    assert info["retransmissions"][-1] == flow["retransmissions"]
    # The SYN and the FIN count, too.
    assert info["delivered"][-1] == flow["packets_offered"] + 1
    assert info["in_flight"][-1] == info["lost"][-1] == info["sacked"][-1] == 0
    assert (info["retransmitted"] <= info["lost"]).all()
    cwnd = columns(lossy, "cwnd")
    known = dict(zip(cwnd["time_s"], cwnd["cwnd_bytes"] / 1448, strict=True))
    assert all(
        known[time] == pytest.approx(window)
        for time, window in zip(info["time_s"], info["cwnd"], strict=True)
        if time in known
    )
    assert np.nanmin(info["min_rtt_s"]) == pytest.approx(flow["rtt_s"]["min"])


def test_the_delivery_rate_is_that_of_the_bottleneck(lossy):
    info = columns(lossy)
    settled = info["delivery_rate_bps"][info["time_s"] > 1]
    assert np.median(settled) == pytest.approx(10e6 * 1448 / 1488, rel=0.02)


def test_paced_flows_report_their_pace():
    info = columns(modern_runs.simulated(tcp={"cc": "bbr"}))
    assert np.isfinite(info["pacing_rate_bps"][-1])
    assert np.median(info["pacing_rate_bps"][info["time_s"] > 1]) == pytest.approx(10e6, rel=0.1)


def test_rows_can_be_sampled(lossy):
    sampled = modern_runs.simulated(record={"tcp_info": "every 10 ms"})
    all_rows, rows = columns(lossy), columns(sampled)
    intervals = np.floor(rows["time_s"] / 0.01 + 1e-9)
    assert len(np.unique(intervals)) == len(intervals)
    assert set(rows["time_s"]) <= set(all_rows["time_s"])
    assert len(rows["time_s"]) < len(all_rows["time_s"]) / 3


def test_episodes_begin_and_end(late):
    events = [row["event"] for row in late.table("events").to_pylist()]
    turns = [e for e in events if e in ("timeout", "recovery", "reduction", "recovery-end", "undo")]
    assert turns == ["timeout", "undo", "recovery-end", "recovery", "recovery-end"]
    assert "spurious" in events
    states = late.table("tcp_info")["state"].to_pylist()
    assert {"open", "loss", "recovery"} <= set(states)
    assert states[-1] == "open"


def test_a_mark_begins_a_reduction():
    run = modern_runs.simulated(tcp={"ecn": True}, queue=modern_runs.ECN)
    events = [row["event"] for row in run.table("events").to_pylist()]
    assert events.count("reduction") == run.summary["flows"]["F"]["ecn_reductions"] > 0


def test_classic_flows_report_nothing():
    classic = modern_runs.simulated(tcp={"sender": "classic", "cc": "reno"})
    assert classic.table("tcp_info").num_rows == classic.table("window_rules").num_rows == 0


@pytest.mark.parametrize("kind", NAMES)
def test_plots_show_what_is_reported(late, kind):
    figure = plots.figure(late, kind)
    words = {text.get_text() for axes in figure.axes for text in axes.texts}
    legends = [figure.legends, *([axes.get_legend()] for axes in figure.axes)]
    words |= {t.get_text() for group in legends for one in group if one for t in one.get_texts()}
    wanted = {
        "tcp-segments": "lost",
        "tcp-times": "RTO",
        "tcp-rates": "delivery rate",
        "tcp-info": "in flight",
        "cwnd-events": "needless retransmission: 1",
    }
    assert wanted[kind] in words
