"""`warmup`: figures that begin after the start of a run."""

import json
import math

import numpy as np
import pytest
from matplotlib.text import Text
from report_runs import Page

import ackclock
from ackclock import plots, report
from ackclock.errors import ScenarioError
from ackclock.metrics.series import cwnd_series, queue_series, rtt_series
from ackclock.metrics.steps import step_mean
from ackclock.sweep import Study
from ackclock.tables import of_records, of_run

WARMUP_S = 4.0

QUEUES = [
    "droptail",
    {"kind": "codel", "ecn": False},
    {"kind": "red", "limit": "50 packets", "min": "5 packets", "max": "15 packets"},
]


def network(queue: object = "droptail", **more: object) -> ackclock.Scenario:
    """Two TCP flows of which one ends in the warm-up, a third that starts after it, and UDP."""
    ends = [{"id": f"F{i}", "from": f"S{i}", "to": f"D{i}"} for i in range(1, 5)]
    own = [
        {"tcp": "linux-cubic"},
        {"tcp": "newreno", "send": "500 kB"},
        {"tcp": "newreno", "start": "5 s"},
        {"udp": {"source": {"kind": "cbr", "rate": "500 kbps", "write": "500 B"}}},
    ]
    return ackclock.Scenario.from_dict(
        {
            "name": "warm",
            "topology": {
                "kind": "dumbbell",
                "leaves": 4,
                "access": {"rate": "100 Mbps", "delay": "1 ms"},
                "bottleneck": {"rate": "10 Mbps", "delay": "10 ms", "queue": queue},
            },
            "flows": [{**end, **flow} for end, flow in zip(ends, own, strict=True)],
            "stop": {"when": "time", "at_latest": "10 s"},
            **more,
        }
    )


@pytest.fixture(scope="module", params=QUEUES, ids=lambda queue: str(queue)[:16])
def runs(request):
    """A whole run, and the same with a warm-up."""
    whole = ackclock.run(network(request.param))
    return whole, ackclock.run(network(request.param, warmup=f"{WARMUP_S} s"))


def test_a_warmup_changes_neither_the_run_nor_its_records(runs):
    whole, rest = runs
    assert rest.summary["digest"] == whole.summary["digest"]
    assert rest.summary["warmup_s"] == WARMUP_S
    assert "warmup_s" not in whole.summary
    assert set(rest.tables) == set(whole.tables)
    for name in whole.tables:
        mine, others = (run.table(name).to_pandas() for run in (rest, whole))
        # Which link's rows are written first depends on how the engine saves work.
        columns = list(mine.columns)
        mine, others = (rows.sort_values(columns, ignore_index=True) for rows in (mine, others))
        assert mine.equals(others), name


def test_figures_are_those_of_the_records_since(runs):
    whole, rest = runs
    steady = of_records({"": whole}, "steady", WARMUP_S)
    of_flow = dict(zip(steady.values("flow"), steady.values("goodput_bps"), strict=True))
    for name, flow in rest.summary["flows"].items():
        times, samples = rtt_series(whole, name)
        since = samples[times > WARMUP_S]
        assert flow["start_s"] == whole.summary["flows"][name]["start_s"]
        if flow["start_s"] < WARMUP_S and flow["finish_s"] is None:
            assert flow["goodput_bps"] == pytest.approx(of_flow[name], rel=1e-3)
        if len(since):
            assert flow["rtt_s"]["min"] == since.min()
            assert flow["rtt_s"]["max"] == since.max()
            assert flow["rtt_s"]["mean"] == pytest.approx(since.mean())
            assert flow["base_rtt_s"] == samples.min()
            windows = cwnd_series(whole, name)
            start = max(WARMUP_S, flow["start_s"])
            assert flow["cwnd_bytes"]["mean"] == pytest.approx(step_mean(*windows, start, 10.0))
        else:
            assert flow.get("rtt_s") is None
    times, lengths = queue_series(whole, "bottleneck", "forward", "queue_packets")
    first = max(0, np.searchsorted(times, WARMUP_S, side="right") - 1)
    queue = rest.summary["links"]["bottleneck"]["forward"]["queue_packets"]
    assert queue["max"] == lengths[first:].max()
    assert queue["mean"] == pytest.approx(step_mean(times, lengths, WARMUP_S, 10.0))


@pytest.mark.slow
def test_tables_of_a_span_begin_at_the_end_of_the_warmup(runs):
    whole, rest = runs
    for what in ("steady", "sharing", "delays"):
        since = of_records({"": whole}, what, WARMUP_S).rows()
        assert of_records({"": rest}, what).rows() == since, what
        assert of_records({"": rest}, what, 0.0).rows() == of_records({"": whole}, what).rows()
    # What is asked for may lie within the warm-up.
    assert of_records({"": rest}, "steady", None, 3.0).values("from_s")[0] == 0
    figure = plots.figure(rest, "delays")
    assert "from 4 s to 10 s" in " ".join(text.get_text() for text in figure.findobj(Text))


def test_losses_of_a_report_are_those_of_the_figures(runs, tmp_path):
    _, rest = runs
    page = Page(report.write(rest, tmp_path / "page.html").read_text(encoding="utf-8"))
    lanes = {lane["id"]: lane for lane in page.document["runs"][0]["lanes"]}
    drops = rest.summary["links"]["bottleneck"]["forward"]["drops"]
    assert lanes["bottleneck forward"]["lost"] == sum(drops.values())


def test_queueing_delays_are_of_packets_that_entered_since(runs):
    whole, rest = runs
    rows = whole.table("transmissions").to_pandas()
    rows = rows[(rows["link"] == "bottleneck") & (rows["direction"] == "forward")]
    waiting = whole.table("waiting").to_pandas()
    waiting = waiting[(waiting["link"] == "bottleneck") & (waiting["direction"] == "forward")]
    waits = np.concatenate(
        [
            (rows["time_s"] - rows["entered_s"])[rows["entered_s"] > WARMUP_S],
            (10.0 - waiting["time_s"])[waiting["time_s"] > WARMUP_S],
        ]
    )
    delay = rest.summary["links"]["bottleneck"]["forward"]["queueing_delay_s"]
    assert delay["mean"] == pytest.approx(waits.mean(), rel=1e-9)
    assert delay["max"] == pytest.approx(waits.max(), rel=1e-9)


@pytest.mark.parametrize("queue", QUEUES, ids=lambda queue: str(queue)[:16])
@pytest.mark.parametrize("end", ["60 ms", "300 ms", "1 s"])
def test_packets_that_waited_before_the_warmup_ended_count_in_no_queueing_delay(queue, end):
    """Four datagrams of 80 ms at once, of which three wait when figures begin, and a late one."""
    writes = [["0 s", "10 kB"], ["1 us", "10 kB"], ["2 us", "10 kB"], ["3 us", "10 kB"]]
    scenario = {
        "name": "late",
        "hosts": ["A", "B"],
        "links": [
            {"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "10 ms", "queue": queue}
        ],
        "flows": [{"id": "U", "from": "A", "to": "B", "udp": {"source": None}}],
        "warmup": "40 ms",
        "stop": {"when": "time", "at_latest": end},
    }
    late = [["290 ms", "10 kB"], ["291 ms", "10 kB"]]
    scenario["flows"][0]["udp"]["source"] = {"kind": "schedule", "writes": [*writes, *late]}
    results = ackclock.run(ackclock.Scenario.from_dict(scenario))
    waits = {"60 ms": [0.0], "300 ms": [0.01, 0.009], "1 s": [0.03, 0.109]}[end]
    delay = results.summary["links"]["L"]["forward"]["queueing_delay_s"]
    assert delay["mean"] == pytest.approx(np.mean(waits), abs=1e-6)
    assert delay["max"] == pytest.approx(max(waits), abs=1e-6)


def test_percentiles_are_of_the_time_since(runs):
    whole, rest = runs
    shown = of_run(rest, "flows", percentiles=True)
    found = dict(zip(shown.values("flow"), shown.values("rtt_s_p95"), strict=True))
    times, samples = rtt_series(whole, "F1")
    since = np.sort(samples[times > WARMUP_S])
    assert found["F1"] == since[math.ceil(0.95 * len(since)) - 1]
    assert found["F2"] is None


def test_a_flow_that_was_done_before_has_no_figures_and_no_share(runs):
    _, rest = runs
    done = rest.summary["flows"]["F2"]
    assert done["finish_s"] < WARMUP_S
    assert done["completion_s"] == done["finish_s"]
    assert done["goodput_bps"] is None
    assert done["goodput_to_end_bytes_per_s"] is None
    assert done["segments_sent"] == done["packets_on_wire"] == 0
    others = [rest.summary["flows"][name]["goodput_bps"] for name in ("F1", "F3", "F4")]
    assert rest.summary["fairness_jain"] == pytest.approx(ackclock.metrics.jain(others))


def test_runs_that_end_within_their_warmup_have_nothing():
    short = network(
        flows=[{"id": "F", "from": "S1", "to": "D1", "send": "100 kB", "tcp": "newreno"}],
        stop={"when": "flows-complete", "at_latest": "1 min"},
        warmup="30 s",
    )
    summary = ackclock.run(short).summary
    assert summary["end_s"] < 30
    assert summary["stop_reason"] == "flows-complete"
    assert summary["flows"]["F"]["goodput_bps"] is None
    assert summary["fairness_jain"] is None
    assert summary["links"]["bottleneck"]["forward"]["bytes_carried"] == 0


def test_a_run_that_is_interrupted_within_its_warmup_has_no_goodput():
    scenario = network(warmup="4 s", stop={"when": "time", "at_latest": "10 s", "events": 1000})
    summary = ackclock.run(scenario).summary
    assert summary["stop_reason"] == "too-many-events"
    assert summary["end_s"] < WARMUP_S
    assert all(flow["goodput_bps"] is None for flow in summary["flows"].values())
    assert summary["fairness_jain"] is None


def test_a_warmup_as_long_as_the_run_is_refused():
    with pytest.raises(ScenarioError, match=r"warmup: nothing is left after 10 s") as caught:
        network(warmup="10 s")
    assert "a shorter warm-up" in str(caught.value)


@pytest.mark.parametrize("word", ["warm_up", "warmup_period"])
def test_other_words_lead_to_it(word):
    with pytest.raises(ScenarioError, match="did you mean `warmup`"):
        network(**{word: "1 s"})


def test_sweeps_keep_figures_after_the_warmup(tmp_path):
    study = Study(network(), name="warm", grid={"warmup": ["1 s", "4 s"]})
    results = study.run(tmp_path / "out", 1)
    rows = results.select(["goodput_bps", "flows"]).to_pylist()
    for row, warmup in zip(rows, ("1 s", "4 s"), strict=True):
        summary = ackclock.run(network(warmup=warmup)).summary
        assert row["goodput_bps"] == summary["totals"]["goodput_bps"]
        assert [flow.get("goodput_bps") for flow in row["flows"]] == [
            flow["goodput_bps"] for flow in summary["flows"].values()
        ]


@pytest.mark.slow
def test_the_command_line_says_from_when_on_figures_count(ackclock, tmp_path):
    scenario = tmp_path / "warm.yaml"
    scenario.write_text(json.dumps(network(warmup="4 s").document), encoding="utf-8")
    done = ackclock("run", str(scenario), "--no-plots", "--out", str(tmp_path / "run"))
    assert done.code == 0
    assert "from 4 s on" in done.out
    done = ackclock("table", str(tmp_path / "run"), "--what", "flows")
    assert done.code == 0
    done = ackclock("report", str(tmp_path / "run"), "--out", str(tmp_path / "report.html"))
    assert done.code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Figures from" in page
