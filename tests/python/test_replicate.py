"""Replications: the same as single runs, with any number of workers; kept, saved, summed up."""

import itertools
import json
import math
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from small import document

from ackclock import (
    InputError,
    Replications,
    ReplicationsFailedError,
    ReplicationsInterrupted,
    ResultsError,
    Scenario,
    replicate,
    run,
)
from ackclock.columns import FLOWS
from ackclock.replications import MEASURED, OF_FLOW

LOSSY = "bene/reliability-text-dynamic"
FLOW_FIELDS = list(OF_FLOW)


@pytest.fixture(scope="module")
def lossy():
    """A transfer of 10,000 bytes over a link that loses a tenth of data and ACKs."""
    return Scenario.load(LOSSY)


@pytest.fixture(scope="module")
def stalling(lossy):
    """The same with a timer that is not restarted: some transfers are never finished."""
    return lossy.set("flows.F1.tcp.timer_restart", "on-send")


@pytest.fixture(scope="module")
def two_flows():
    """Two flows over one lossy link, one of them endless."""
    data = document()
    data["links"][0]["loss"] = {"kind": "bernoulli", "p": 0.02}
    data["flows"][1]["send"] = "unlimited"
    data["stop"] = {"when": "time", "at_latest": "2 s"}
    return Scenario.from_dict(data)


def same(one, other):
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


@pytest.mark.parametrize("name", ["lossy", "stalling", "two_flows"])
def test_each_replication_is_the_run_with_its_seed(name, request):
    scenario = request.getfixturevalue(name)
    found = replicate(scenario, 12, first_seed=40)
    assert found.flows == [flow["id"] for flow in scenario.model["flows"]]
    for i, seed in enumerate(range(40, 52)):
        summary = run(scenario.set("seed", seed).set("record", "none")).summary
        assert found.arrays["seed"][i] == seed
        assert found.arrays["digest"][i] == summary["digest"]
        assert found.arrays["end_s"][i] == summary["end_s"]
        assert found.stalled[i] == (summary["stop_reason"] == "stalled")
        for flow, field in itertools.product(found.flows, FLOW_FIELDS):
            expected = OF_FLOW[field].of(summary["flows"][flow])
            value = found.values(field, flow)[i]
            assert math.isnan(value) if expected is None else value == expected


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(stalling):
    one = replicate(stalling, 1000, workers=1)
    same(one.arrays, replicate(stalling, 1000, workers=2).arrays)
    same(one.arrays, replicate(stalling, 1000, workers=7).arrays)


@pytest.mark.slow
def test_seeds_count_on(lossy):
    whole = replicate(lossy, 300)
    later = replicate(lossy, 100, first_seed=201)
    same({k: v[200:] for k, v in whole.arrays.items()}, later.arrays)
    assert len(np.unique(whole.arrays["digest"])) > 50


@pytest.mark.slow
def test_the_seed_and_the_records_of_the_scenario_do_not_matter(lossy):
    other = lossy.set("seed", 99).set("record", "all").set("title", "Another")
    found = replicate(other, 50)
    same(found.arrays, replicate(lossy, 50).arrays)
    assert found.scenario_digest == replicate(lossy, 1).scenario_digest
    slower = lossy.set("links.L1.rate", "5 Mbps")
    assert replicate(slower, 1).scenario_digest != found.scenario_digest


@pytest.mark.slow
def test_progress_is_told_and_ends_at_the_end(lossy):
    states = []
    replicate(lossy, 5000, progress=states.append)
    assert [state.done for state in states] == sorted(state.done for state in states)
    assert (states[-1].done, states[-1].total) == (5000, 5000)
    assert states[-1].wall_s > 0


@pytest.mark.slow
def test_interrupted_replications_keep_what_is_done(lossy):
    def interrupt(state):
        # Late enough that the first batch is done, too, however slow its process is.
        if state.done >= 10_000:
            raise KeyboardInterrupt

    with pytest.raises(ReplicationsInterrupted) as caught:
        replicate(lossy, 60_000, progress=interrupt)
    assert isinstance(caught.value, KeyboardInterrupt)
    found = caught.value.replications
    assert found.partial
    assert 20 <= len(found) < 60_000
    assert found.asked == 60_000
    # From the first seed on without a gap, though two processes were at work.
    same(found.arrays, replicate(lossy, len(found)).arrays)


def test_interrupted_before_the_first_one(lossy, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ackclock.sweep.executor.LocalExecutor.submit", interrupt)
    with pytest.raises(ReplicationsInterrupted) as caught:
        replicate(lossy, 10)
    assert len(caught.value.replications) == 0
    assert caught.value.replications.summary("finish_s")["F1"].count == 0


@pytest.mark.slow
def test_a_replication_that_takes_too_long_is_counted_apart(two_flows, tmp_path):
    endless = two_flows.set("stop.at_latest", "100 d")
    with pytest.raises(ReplicationsFailedError, match=r"2 of 2 .* seed 5: not done") as caught:
        replicate(endless, 2, first_seed=5, workers=1, time_limit_s=0.2)
    found = caught.value.replications
    assert (len(found), found.asked, found.partial) == (0, 2, True)
    assert set(found.failures) == {5, 6}
    assert "0.2 s, the limit of time" in found.failures[5]
    assert Replications.load(found.save(tmp_path / "x.parquet")).failures == found.failures


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "0 replications"),
        ((10**9,), "take 1 to 1000000"),
        ((1, -1), "seeds from -1"),
        ((1, 2**63), "seeds from"),
        ((1, 1, 0), "`workers` is 0; needed is a whole number from 1 to 1024"),
    ],
)
def test_what_makes_no_sense_is_refused(lossy, arguments, message):
    with pytest.raises(InputError, match=message):
        replicate(lossy, *arguments)


@pytest.mark.slow
def test_a_hundred_thousand_transfers_take_seconds(lossy):
    # Of the processor: a loaded machine may need many times as long.
    started = time.process_time()
    found = replicate(lossy, 100_000)
    assert time.process_time() - started < 30
    assert len(found) == 100_000
    assert found.summary("finish_ack_s")["F1"].quantile(0.5).value == pytest.approx(1.106, abs=0.01)


# What is not finished.


@pytest.mark.slow
def test_unfinished_transfers_are_a_result_of_their_own(stalling):
    found = replicate(stalling, 2000)
    times = found.values("finish_s", "F1")
    unfinished = found.unfinished("F1")
    assert 100 < unfinished.sum() < 500
    for field in FLOW_FIELDS:
        statistics = found.summary(field)["F1"]
        assert statistics.count == 2000
        assert statistics.mean.count == 2000 - statistics.missing.count
        assert "did not finish" in statistics.notes[0]
        if field not in ("finish_s", "finish_ack_s", "completion_s"):
            finished = found.values(field, "F1")[~unfinished]
            assert statistics.mean.value == pytest.approx(finished.mean())
    statistics = found.summary("finish_s", shares=(0.5, 0.99))["F1"]
    assert statistics.mean.value == pytest.approx(times[~unfinished].mean())
    assert statistics.quantile(0.99).value == math.inf
    expected = np.sort(np.where(unfinished, np.inf, times))[999]
    assert statistics.quantile(0.5).value == expected
    # Less than any rate.
    assert found.summary("goodput_bps")["F1"].quantile(0.05).value == 0


def test_flows_have_all_figures_of_sweeps_and_completion_counts_from_the_start(two_flows):
    figures = {column.name for column in FLOWS if column.sweep} - {"flow"}
    assert set(FLOW_FIELDS) == figures >= {"completion_s", "rtt_s_mean", "bytes_delivered"}
    started = two_flows.set("flows.F1.start", "500 ms")
    found = replicate(started.set("stop.at_latest", "1620 ms"), 40)
    finish, completion = (found.values(name, "F1") for name in ("finish_s", "completion_s"))
    assert 0 < found.unfinished("F1").sum() < 40
    np.testing.assert_allclose(completion, finish - 0.5)
    np.testing.assert_allclose(found.cut_off("completion_s", "F1"), 1.12)
    statistics = found.summary("completion_s", shares=(0.999,))["F1"]
    assert statistics.quantile(0.999).value == math.inf


def test_an_endless_flow_cannot_be_unfinished(two_flows):
    found = replicate(two_flows, 50)
    assert found.endless == ["F2"]
    assert not found.unfinished("F2").any()
    statistics = found.summary("goodput_bps")["F2"]
    assert (statistics.missing.count, statistics.mean.count) == (0, 50)
    assert found.summary("finish_s")["F2"].mean is None


@pytest.mark.slow
def test_a_mean_that_does_not_exist_is_flagged(lossy):
    found = replicate(lossy.set("links.L1.loss.p", 0.5), 5000)
    statistics = found.summary("finish_s")["F1"]
    # Waits double with probability 1 - 0.5^2 each, so P(X > x) ~ x^-0.415.
    assert statistics.tail.low < math.log(4 / 3) / math.log(2) < statistics.tail.high
    assert statistics.mean.exists == "none"
    assert found.summary("timeouts")["F1"].mean.exists == "exists"


def test_unknown_words_name_the_nearest(two_flows):
    found = replicate(two_flows, 2)
    for call, message in (
        (lambda: found.summary("finsh_s"), "did you mean 'finish_s'"),
        (lambda: found.summary("digest"), "unknown field 'digest'"),
        (lambda: found.values("finish_s", "f1"), "did you mean 'F1'"),
        (lambda: found.values("finish_s"), "name one"),
        (lambda: found.values("end_s", "F1"), "as a whole"),
    ):
        with pytest.raises(InputError, match=message):
            call()


# Files.


def test_a_file_holds_everything(stalling, tmp_path):
    found = replicate(stalling, 200, first_seed=7)
    path = found.save(tmp_path / "x.parquet")
    again = Replications.load(path)
    same(again.arrays, found.arrays)
    for name in ("scenario", "scenario_digest", "flows", "endless", "asked", "partial", "wall_s"):
        assert getattr(again, name) == getattr(found, name)
    assert again.summary("finish_s") == found.summary("finish_s")
    assert [place.name for place in tmp_path.iterdir()] == ["x.parquet"]


def test_a_row_for_each_replication_and_flow_with_units(two_flows, tmp_path):
    found = replicate(two_flows, 5)
    table = pq.read_table(found.save(tmp_path / "x.parquet"))
    assert table.num_rows == 10
    assert table["flow"].to_pylist() == ["F1", "F2"] * 5
    assert table["seed"].to_pylist() == [seed for seed in range(1, 6) for _ in range(2)]
    assert table["finish_s"].to_pylist()[1::2] == [None] * 5
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema}
    assert units["finish_s"] == units["end_s"] == "s"
    assert units["goodput_bps"] == "bit/s"
    assert all(field.metadata[b"description"] for field in table.schema)
    assert table.schema.metadata[b"partial"] == b"false"


def test_notebooks_have_a_frame_and_a_table(lossy):
    found = replicate(lossy, 20)
    frame = found.frame()
    assert frame.shape == (20, found.table().num_columns)
    assert frame["goodput_bps"].tolist() == found.values("goodput_bps", "F1").tolist()
    shown = found._repr_html_()
    assert "20 of 20 replications" in shown and "and 8 more rows" in shown


def test_files_that_are_none(small_results, lossy, tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Replications.load(tmp_path / "none.parquet")
    run_directory = small_results.save(tmp_path / "run")
    with pytest.raises(InputError, match="holds no replications"):
        Replications.load(run_directory / "records" / "cwnd.parquet")
    path = replicate(lossy, 50).save(tmp_path / "x.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ResultsError, match="is damaged"):
        Replications.load(path)


def test_nothing_is_left_of_a_failed_write(lossy, tmp_path):
    found = replicate(lossy, 5)
    with pytest.raises(InputError, match=r"there is no folder '.*no-folder' for 'x\.parquet'"):
        found.save(tmp_path / "no-folder" / "x.parquet")
    with pytest.raises(InputError, match=r"choose a name that ends in \.parquet"):
        found.save(tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


# The command.


@pytest.fixture
def ackclock(ackclock, monkeypatch):
    """The program on a terminal of 110 columns."""
    monkeypatch.setenv("COLUMNS", "110")
    return ackclock


@pytest.mark.slow
def test_the_command_shows_quantiles_intervals_and_tail(ackclock):
    done = ackclock("replicate", LOSSY, "-n", "500")
    assert (done.code, done.err) == (0, "")
    for expected in (
        LOSSY, "500, seeds 1 to 500", "Unfinished", "Median", "95 %", "Mean", "Tail index",
        "finish_s", "goodput_bps", "timeouts", "confidence",
    ):  # fmt: skip
        assert expected in done.out


def test_narrow_terminals_have_whole_figures_and_say_what_is_left_out(ackclock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = ackclock("replicate", LOSSY, "-n", "50", "--field", "finish_s").out
    assert "Left out to fit the terminal: Tail index (empty), 25 %, 75 %." in out
    heading = next(line for line in out.splitlines() if "Median" in line)
    assert heading.split() == ["Flow", "5", "%", "Median", "95", "%", "Mean"]
    assert all(len(line) <= 80 for line in out.splitlines())


def test_help_teaches_with_examples(ackclock):
    done = ackclock("replicate", "--help")
    assert (done.code, done.err) == (0, "")
    assert "ackclock replicate bene/reliability-text-dynamic -n 10000" in done.out
    assert "below 1 no mean exists" in " ".join(done.out.split())


@pytest.mark.slow
def test_the_command_says_when_nothing_is_random(ackclock, small_file):
    message = "nothing in this scenario is random"
    assert message in ackclock("replicate", small_file, "-n", "3").out
    assert message not in ackclock("replicate", LOSSY, "-n", "30").out


@pytest.mark.slow
def test_the_command_flags_a_mean_that_does_not_exist(ackclock):
    done = ackclock(
        "replicate", LOSSY, "--set", "links.L1.loss.p=0.5", "--field", "finish_s", "-n", "2000"
    )
    assert done.code == 0
    assert "no mean exists: the tail index is 0." in " ".join(done.out.split())
    assert "goodput" not in done.out


@pytest.mark.slow
def test_the_command_says_what_is_unfinished(ackclock):
    done = ackclock("replicate", LOSSY, "--set", "flows.F1.tcp.timer_restart=on-send")
    assert done.code == 0
    assert "stalled" in done.out
    assert "did not finish: quantiles count them as infinite" in " ".join(done.out.split())
    assert "never" in done.out


@pytest.mark.slow
def test_json_is_one_document_and_nothing_else(ackclock):
    command = ["replicate", LOSSY, "-n", "300", "--json", "--set", "links.L1.loss.p=0.5"]
    done = ackclock(*command)
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["replications"], report["partial"]) == (300, False)
    assert report["end_s"]["count"] == 300
    flow = report["flows"]["F1"]
    assert set(flow) == {"unfinished", *MEASURED} - {"end_s"}
    assert flow["finish_s"]["mean"]["exists"] == "none"
    assert flow["finish_s"]["mean"]["value"] is None
    again = json.loads(ackclock(*command, "--workers", "1").out)
    assert {**again, "wall_s": 0} == {**report, "wall_s": 0}


@pytest.mark.painted
@pytest.mark.slow
def test_the_command_writes_a_file_and_a_plot(ackclock, tmp_path):
    command = ["replicate", LOSSY, "-n", "200", "--seed", "5", "--out", "x.parquet"]
    done = ackclock(*command, "--plot", "x.svg", "--set", "links.L1.loss.p=0.5")
    assert done.code == 0
    assert Replications.load(tmp_path / "x.parquet").arrays["seed"][0] == 5
    drawn = (tmp_path / "x.svg").read_text()
    assert "<svg" in drawn
    assert ackclock(*command).code == 0  # replaces what it wrote before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-n", "0"], "--count"),
        (["--seed", "-1"], "--seed"),
        (["--workers", "0"], "--workers"),
        (["--flows", "f1"], "did you mean 'F1'"),
        (["--field", "finsh_s"], "did you mean 'finish_s'"),
        (["--set", "links.L1.loss.p=2"], "links.L1.loss.p"),
        (["--out", "no/folder/x.parquet"], "there is no folder"),
        (["--out", "mine.parquet"], "is left alone"),
        (["--out", "x.csv"], "choose a name that ends in .parquet"),
        (["--out", "folder"], "is left alone"),
        (["--out", "other.parquet"], "holds replications of 'tests/small'"),
        (["--plot", "x.gif"], "unknown format 'gif'"),
        (["--plot", "no/folder/x.png"], "there is no folder"),
    ],
)
def test_bad_input_is_a_message_with_status_2_and_writes_nothing(
    ackclock, small_scenario, tmp_path, args, message
):
    (tmp_path / "mine.parquet").write_text("mine")
    (tmp_path / "folder").mkdir()
    replicate(small_scenario, 1).save(tmp_path / "other.parquet")
    done = ackclock("replicate", LOSSY, "-n", "5", *args)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert "Traceback" not in done.err
    assert {path.name for path in tmp_path.iterdir()} == {
        "folder", "mine.parquet", "other.parquet"
    }  # fmt: skip
    assert (tmp_path / "mine.parquet").read_text() == "mine"


@pytest.mark.slow
def test_a_part_does_not_take_the_place_of_a_whole(ackclock, tmp_path, monkeypatch):
    assert ackclock("replicate", LOSSY, "-n", "30", "--out", "x.parquet").code == 0
    table = replicate(Scenario.load(LOSSY), 20).table()
    part = Replications(table.replace_schema_metadata({**table.schema.metadata, b"asked": b"30"}))

    def interrupted(*arguments, **options):
        raise ReplicationsInterrupted(part)

    monkeypatch.setattr("ackclock.replicate", interrupted)
    done = ackclock("replicate", LOSSY, "-n", "30", "--out", "x.parquet")
    assert done.code == 130
    assert "keeping 20 of 30" in done.err
    assert "partial" in done.out
    assert len(Replications.load(tmp_path / "x.parquet")) == 30
    assert Replications.load(tmp_path / "x-partial.parquet").partial


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path):
    # Says when something is done.
    program = """
import sys
from ackclock.cli.app import main
from ackclock.sweep import LocalExecutor
submit = LocalExecutor.submit
def telling(executor, batch):
    future = submit(executor, batch)
    future.add_done_callback(lambda _: print("at work", file=sys.stderr, flush=True))
    LocalExecutor.submit = submit
    return future
LocalExecutor.submit = telling
main()
"""
    # Each takes far longer than those of LOSSY: it does not come to an end before the signal.
    arguments = ["replicate", "teach/sawtooth", "-n", "10000", "--out", "x.parquet"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline() == "at work\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; keeping" in err
    assert "partial" in out
    found = Replications.load(tmp_path / "x.parquet")
    assert found.partial
    assert len(found) > 0
