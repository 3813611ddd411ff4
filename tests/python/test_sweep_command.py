"""`ackclock sweep`: what it prints and writes, killed, interrupted, and two at once."""

import functools
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from forked import Program
from small import document

from ackclock import AckclockError, InputError
from ackclock.cli.app import main
from ackclock.sweep import Batch, LocalExecutor, Runs, Study, load
from ackclock.sweep.store import Store

GRID = """
study: tests/grid
title: Rates and windows
base: small.json
grid:
  links.L1.rate: [5 Mbps, 10 Mbps]
  windows: {path: flows.*.tcp.initial_window, values: [1, 4]}
"""


@pytest.fixture
def folder(ackclock, tmp_path, monkeypatch):
    """A folder with a small study; it is the current one."""
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "small.json").write_text(json.dumps(document()), encoding="utf-8")
    (tmp_path / "grid.yaml").write_text(GRID, encoding="utf-8")
    return tmp_path


@pytest.fixture
def sweep(folder, ackclock):
    """Return a function that calls the command; it gives status, output and errors."""
    return functools.partial(ackclock, "sweep")


def test_eighty_columns_have_whole_figures_and_say_what_is_left_out(sweep, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = sweep("grid.yaml", "--workers", "1")
    lines = out.splitlines()
    assert all(len(line) <= 80 for line in lines if "─" in line)
    key = load("sweeps/tests/grid").table["key"][0].as_py()
    (row,) = (line for line in lines if line.startswith(key[:6]))
    assert re.split(r" {2,}", row)[1:4] == ["5 Mbps", "1", "2.519 Mbps"]
    assert "Left out to fit the terminal: Timeouts" in out


def test_it_prints_the_runs_and_writes_the_table(sweep, folder):
    status, out, err = sweep("grid.yaml", "--workers", "1")
    assert (status, err) == (0, "")
    assert "4 runs: 2 links.L1.rate × 2 windows" in out
    assert "Simulated: 4 runs" in out
    assert "sweeps/tests/grid/results.parquet" in out
    key = load("sweeps/tests/grid").table["key"][0].as_py()
    assert key[:6] in out
    status, out, _ = sweep("grid.yaml")
    assert status == 0
    assert "Simulated: 0 runs" in out


def test_many_runs_are_summed_up_by_axis(sweep, folder):
    (folder / "grid.yaml").write_text(GRID + "replications: 6\n", encoding="utf-8")
    status, out, _ = sweep("grid.yaml", "--workers", "2")
    assert status == 0
    assert out.count("means over all runs with this value") == 2
    assert "All replications are the same: nothing in this scenario is random" in out


def test_json_is_one_document(sweep):
    status, out, _ = sweep("grid.yaml", "--json", "--out", "here")
    told = json.loads(out)
    assert status == 0
    assert (told["runs"], told["done"], told["failed"], told["simulated"]) == (4, 4, 0, 4)
    assert Path(told["table"]).is_file()
    plan = json.loads(sweep("grid.yaml", "--json", "--out", "here", "--status")[1])
    assert (plan["runs"], plan["missing"], plan["busy"]) == (4, 0, False)
    assert plan["axes"]["windows"] == [1, 4]


def test_a_plan_estimates_and_keeps_its_probes(sweep):
    status, out, _ = sweep("grid.yaml", "--plan", "--workers", "1")
    assert status == 0
    assert "as probes" in out
    done = len(load("sweeps/tests/grid"))
    assert done >= 1
    assert f"{done} done, 0 failed" in sweep("grid.yaml", "--status")[1]
    assert f"Simulated: {4 - done} run" in sweep("grid.yaml")[1]


def test_status_of_nothing_writes_nothing(sweep, folder):
    status, out, _ = sweep("grid.yaml", "--status")
    assert status == 0
    assert "0 done, 0 failed, 4 missing" in out
    assert not (folder / "sweeps").exists()


def test_why_gives_a_scenario_that_is_the_run(sweep, folder, monkeypatch, capsys):
    sweep("grid.yaml")
    row = load("sweeps/tests/grid").table.to_pylist()[2]
    status, out, _ = sweep("grid.yaml", "--why", row["key"][:8])
    assert status == 0
    assert "links.L1.rate: 10 Mbps, windows: 1, replication 0, seed 1" in out
    assert row["digest"] in out
    (folder / "one.yaml").write_text(out, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["ackclock", "run", "one.yaml", "--no-plots", "--json"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capsys.readouterr().out)["digest"] == row["digest"]
    told = json.loads(sweep("grid.yaml", "--why", row["key"], "--json")[1])
    assert (told["status"], told["starts"], told["axes"]["windows"]) == ("done", 1, 1)


@pytest.mark.parametrize("key", ["abc", "zzzzzz"])
def test_a_key_that_is_none(sweep, key):
    status, _, err = sweep("grid.yaml", "--why", key)
    assert status == 2
    assert key in err


def test_values_from_outside_get_a_folder_of_their_own(sweep, folder):
    assert sweep("grid.yaml", "--set", "flows.F1.send=10 KB")[0] == 0
    (made,) = (folder / "sweeps/tests").iterdir()
    assert made.name.startswith("grid-")


BAD = [
    ("missing.yaml",),
    ("grid.yaml", "--set", "links.L9.rate=1 Mbps"),
    ("grid.yaml", "--set", "links.L1.delay=fast"),
    ("grid.yaml", "--workers", "0"),
    ("grid.yaml", "--plan", "--status"),
    ("small.json",),
]


@pytest.mark.parametrize("args", BAD)
def test_bad_input_is_refused_and_nothing_is_written(sweep, folder, args):
    before = set(folder.iterdir())
    status, _, err = sweep(*args)
    assert status == 2
    assert err
    assert set(folder.iterdir()) == before


def test_another_study_in_the_folder(sweep, folder):
    assert sweep("grid.yaml", "--out", "here")[0] == 0
    (folder / "other.yaml").write_text(GRID.replace("tests/grid", "tests/other"), encoding="utf-8")
    status, _, err = sweep("other.yaml", "--out", "here")
    assert status == 2
    assert "--force" in err
    assert load("here").study == "tests/grid"
    assert sweep("other.yaml", "--out", "here", "--force")[0] == 0
    assert load("here").study == "tests/other"


# What happens to processes. Runs of some 20 ms, so that there is time for it.

SLOW = {
    "base": "slow.json",
    "grid": {"links.L1.rate": ["90 Mbps", "100 Mbps"]},
    "replications": 30,
}


@pytest.fixture
def slow(folder):
    data = document()
    data["flows"] = [{**flow, "send": "60 MB"} for flow in data["flows"]]
    (folder / "slow.json").write_text(json.dumps(data), encoding="utf-8")
    (folder / "slow.yaml").write_text(json.dumps(SLOW), encoding="utf-8")
    return folder


# It takes a second on a machine that has nothing else to do; what was to be ended takes minutes.
PROMPT_S = 60


def begin(*args):
    return Program("sweep", "slow.yaml", "--out", "s", *args)


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to it"
        time.sleep(0.02)


def log():
    try:
        lines = Path("s/log.txt").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [line.split() for line in lines]


@functools.cache
def keys_of(file):
    return Study.load(file).plan(1).keys


def count(what):
    """How often each run was begun, done or failed: a line of the log may be of several."""
    file = Path("slow.yaml").absolute()
    keys = keys_of(file) if file.is_file() else []
    found = Counter()
    for words in log():
        # A run whose turn did not come in its batch goes back, and begins in another one.
        if words[2] in {what, "back" if what == "start" else what}:
            at = keys.index(words[3]) if words[3] in keys else None
            runs = [words[3]] if at is None else keys[at : at + int(words[4])]
            (found.update if words[2] == what else found.subtract)(runs)
    return found


@pytest.mark.slow
def test_killed_again_and_again_it_loses_nothing_and_simulates_nothing_twice(slow):
    draw = random.Random(1)
    kills, interrupted, kept = 0, 0, 0
    while True:
        process = begin("--workers", "2")
        before = sum(count("done").values())
        # Somewhere in the middle: after some more runs, and a moment.
        goal = before + draw.randrange(1, 12)
        wait_for(
            lambda goal=goal, p=process: sum(count("done").values()) >= goal or p.poll() is not None
        )
        time.sleep(draw.random() * 0.03)
        if process.poll() is not None or kills == 5:
            break
        process.kill()
        process.communicate()
        kills += 1
        # Whoever was told that a run is done finds it in the store.
        wait_for(lambda: not Store(Path("s")).is_busy())
        stored = set(Store(Path("s")).stored(("key",))["key"].to_pylist())
        assert set(count("done")) <= stored
        assert len(stored) >= kept
        kept = len(stored)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert kills >= 3
    begun, done = count("start"), count("done")
    results = load("s")
    assert len(results) == len(begun) == 60
    # A run that was finished is never begun again: what was begun twice had been cut off, which
    # can have happened at each kill to the runs that a process simulated together.
    assert set(done.values()) == {1}
    interrupted = sum(begun.values()) - len(begun)
    assert interrupted <= 3 * 2 * kills
    fresh = Study.load("slow.yaml").run("fresh", workers=1)
    assert Path("s/results.parquet").read_bytes() == Path("fresh/results.parquet").read_bytes()
    assert len(fresh) == 60


@pytest.mark.slow
def test_two_at_once_simulate_nothing_twice(slow):
    """Whichever comes first works; the other is refused, or finds all done after it."""
    both = [begin("--workers", "1") for _ in range(2)]
    errors = [process.communicate()[1] for process in both]
    assert sorted({process.returncode for process in both}) in ([0], [0, 1])
    for process, err in zip(both, errors, strict=True):
        assert ("another sweep is running in 's'" in err) == (process.returncode == 1)
    assert set(count("start").values()) == {1}
    assert len(load("s")) == 60


_PRINTS = """
import ackclock
print("start 1 7")
class Mine(ackclock.CongestionControl):
    increase: float = 1.0
    def on_ack(self, ack):
        print("done x 1", self.cwnd)
        self.cwnd += self.increase * self.segment * ack.newly_acked / self.cwnd
"""


def test_a_controller_that_prints_is_one_like_others(sweep, folder, ackclock, monkeypatch):
    """It is beside the study, or in the current folder where `--set` names it."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    study = {
        "base": "../small.json",
        "set": {"flows.*.tcp.cc": {"kind": "python", "file": "mine.py"}},
        "grid": {"more": {"path": "flows.*.tcp.cc.parameters.increase", "values": [1, 2]}},
    }
    (elsewhere / "prints.yaml").write_text(json.dumps(study), encoding="utf-8")
    (elsewhere / "mine.py").write_text(_PRINTS, encoding="utf-8")
    assert sweep("elsewhere/prints.yaml", "--out", "s")[0] == 0
    assert load("s").table["status"].to_pylist() == ["done"] * 2
    monkeypatch.chdir(elsewhere)
    cc = "flows.*.tcp.cc={kind: python, file: mine.py}"
    assert sweep("../grid.yaml", "--out", "t", "--set", cc)[0] == 0
    assert ackclock("replicate", "../small.json", "-n", "2", "--set", cc)[0] == 0


_FAILS = """
import ackclock
class Mine(ackclock.CongestionControl):
    gain: float = 1.0
    def on_ack(self, ack):
        self.cwnd += self.segment / (self.gain - 2)
"""


def test_failed_runs_are_not_counted_as_done(sweep, folder):
    (folder / "fails.py").write_text(_FAILS, encoding="utf-8")
    study = {
        "base": "small.json",
        "set": {"flows.*.tcp.cc": {"kind": "python", "file": "fails.py"}},
        "grid": {"gain": {"path": "flows.*.tcp.cc.parameters.gain", "values": [2, 3]}},
    }
    (folder / "fails.yaml").write_text(json.dumps(study), encoding="utf-8")
    assert sweep("fails.yaml", "--out", "s")[0] == 1
    assert "1 done, 1 failed, 0 missing" in sweep("fails.yaml", "--out", "s", "--status")[1]


def test_a_limit_of_memory_is_a_number_of_bytes():
    with pytest.raises(InputError, match="memory_limit"):
        Study(document()).run(memory_limit="2 GB")


def test_what_an_axis_varies_cannot_be_set_for_all(sweep, folder):
    status, _, err = sweep("grid.yaml", "--set", "links.L1.rate=1 Mbps")
    assert status == 2
    assert "the axis 'links.L1.rate' varies links.L1.rate" in err


@pytest.mark.parametrize("others", [(), (".plan.parquet.k3_x1",), (".study.json.k3_x1",)])
def test_a_folder_that_is_being_begun_is_no_strange_one(folder, sweep, others):
    """Another process may be about to say what its study is; or it was ended before."""
    place = folder / "sweeps" / "tests" / "grid"
    for name in ("parts", "journal"):
        (place / name).mkdir(parents=True)
    for name in ("plan.parquet", *others):
        (place / name).touch()
    status, _, err = sweep("grid.yaml", "--workers", "1")
    assert (status, "exists and holds no sweep" in err) == (2, True)  # no sweep without its lock
    (place / "lock").touch()
    (place / "mine.txt").touch()
    assert sweep("grid.yaml", "--workers", "1")[0] == 2
    (place / "mine.txt").unlink()
    assert sweep("grid.yaml", "--workers", "1")[0] == 0
    assert len(load("sweeps/tests/grid")) == 4


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(slow):
    for number in (signal.SIGINT, signal.SIGTERM):
        before = sum(count("done").values())
        process = begin("--workers", "2")
        wait_for(lambda goal=before + 5: sum(count("done").values()) >= goal)
        begun = sum(count("start").values())
        process.send_signal(number)
        _, err = process.communicate(timeout=PROMPT_S)
        # Each worker may have begun another run before the signal came.
        assert sum(count("start").values()) <= begun + 2 * 2
        assert process.returncode == 130
        assert "interrupted; keeping" in err
        assert "ackclock" in err
        kept = load("s")
        assert kept.partial
        # What is in a journal counts, even where a process ended before it could say so.
        assert set(count("done")) <= set(kept.table["key"].to_pylist())
    again = begin("--workers", "2")
    again.communicate()
    assert again.returncode == 0
    assert set(count("done").values()) == {1}
    assert len(load("s")) == 60


@pytest.fixture
def endless(folder):
    """A study of one run that takes minutes; it is being simulated."""
    data = document()
    for flow in data["flows"]:
        flow["send"] = "unlimited"
    data["links"][0]["rate"] = "1 Gbps"
    data["stop"] = {"when": "time", "at_latest": "1000 s"}
    (folder / "slow.yaml").write_text(json.dumps({"scenario": data}), encoding="utf-8")
    process = begin()
    wait_for(lambda: sum(count("start").values()) == 1)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_run_that_takes_long_does_not_hold_up_ctrl_c(endless):
    endless.send_signal(signal.SIGINT)
    endless.communicate(timeout=PROMPT_S)
    assert endless.returncode == 130
    assert not Store(Path("s")).is_busy()
    assert (len(load("s")), load("s").runs) == (0, 1)


@pytest.mark.slow
def test_a_folder_in_use_is_refused(endless):
    second = begin()
    _, err = second.communicate()
    assert second.returncode == 1
    assert f"another sweep is running in 's' (process {endless.pid}" in err
    assert sum(count("start").values()) == 1
    status, _ = begin("--status", "--json").communicate()
    assert json.loads(status)["busy"]


@pytest.mark.slow
def test_killed_in_the_middle_of_a_run_it_leaves_nothing_that_goes_on(endless):
    endless.kill()
    endless.communicate()
    wait_for(lambda: not Store(Path("s")).is_busy(), 5.0)
    assert len(load("s")) == 0


@pytest.mark.slow
def test_a_process_that_dies_twice_costs_one_run(folder, monkeypatch):
    """As a crash of the engine would."""
    data = document()
    data["stop"] = {"when": "time", "at_latest": "1 s"}
    endless = {"flows.*.send": "unlimited", "links.L1.rate": "1 Gbps", "stop.at_latest": "2000 s"}
    lengths = {"short": {"seed": 1}, "endless": endless, "other": {"seed": 2}, "third": {"seed": 3}}
    study = Study(data, grid={"length": lengths})
    executors, kills = [], []

    def executor(*args):
        executors.append(LocalExecutor(*args))
        return executors[0]

    def kill(state):
        # Once in the middle of its first run, and once in the middle of its second.
        if state.simulated == 3 and sum(count("start").values()) == 4 + len(kills) < 6:
            kills.append(state)
            for process in executors[0].processes:
                os.kill(process, signal.SIGKILL)

    monkeypatch.setattr("ackclock.sweep.session.LocalExecutor", executor)
    results = study.run("s", workers=2, progress=kill)
    assert results.table["status"].to_pylist() == ["done", "failed", "done", "done"]
    assert results.table["error"][1].as_py() == "the process was ended by SIGKILL"
    assert sorted(count("start").values()) == [1, 1, 1, 2]


@pytest.mark.slow
def test_a_process_that_is_killed_once_costs_nothing(tmp_path):
    """As a system that is short of memory for a moment would."""
    data = document()
    for flow in data["flows"]:
        flow["send"] = "unlimited"
    data["links"][0]["rate"] = "1 Gbps"
    data["stop"] = {"when": "time", "at_latest": "3 s"}
    runs = Study(data, replications=3).plan(1).runs(range(3))
    executor = LocalExecutor(1)
    try:
        batch = Batch(tmp_path / "journal", tmp_path / "log", (runs,))
        future = executor.submit(batch)
        wait_for(lambda: batch.log.exists() and batch.log.read_text().count(" start ") == 2)
        (process,) = executor.processes
        os.kill(process, signal.SIGKILL)
        receipts = future.result(60)
    finally:
        executor.close()
    assert [key for receipt in receipts for key in receipt.keys] == list(runs.keys)
    assert {receipt.status for receipt in receipts} == {"done"}
    assert batch.log.read_text().count(" start ") == 4


@pytest.mark.slow
def test_a_run_that_never_ends_is_given_up(sweep, folder):
    stuck = {"stop.at_latest": "1000000 s", "links.L1.rate": "1 Gbps", "flows.*.send": "unlimited"}
    grid = {"length": {"short": {"seed": 1}, "stuck": stuck}}
    data = document() | {"stop": {"when": "time", "at_latest": "1 s"}}
    (folder / "stuck.yaml").write_text(json.dumps({"scenario": data, "grid": grid}))
    status, out, err = sweep("stuck.yaml", "--time-limit", "500 ms", "--workers", "1")
    assert (status, err) == (1, "")
    assert "0.5 s, the limit of time" in " ".join(out.split())
    table = load("sweeps/stuck").table
    assert table["status"].to_pylist() == ["done", "failed"]
    for bad in ("soon", "0 s", "5 MB"):
        status, _, err = sweep("stuck.yaml", "--time-limit", bad)
        assert status == 2
        assert "--time-limit" in err


def test_a_process_that_dies_idle_costs_nothing(tmp_path):
    plan = Study(document()).plan(1)
    run = plan.runs(range(1))
    executor = LocalExecutor(1)
    try:
        (process,) = executor.processes
        os.kill(process, signal.SIGKILL)
        batch = Batch(tmp_path / "journal", tmp_path / "log", (run,))
        (receipt,) = executor.submit(batch).result(60)
    finally:
        executor.close()
    assert (receipt.keys, receipt.status) == (run.keys, "done")
    assert executor.processes == []


@pytest.mark.slow
def test_processes_that_cannot_work_are_an_error(tmp_path):
    """Here: a journal in a folder that is not there, before any run is begun."""
    run = Runs("{}", 1, ("0" * 64,))
    executor = LocalExecutor(1)
    try:
        batch = Batch(tmp_path / "nowhere/journal", tmp_path / "log", (run,))
        with pytest.raises(AckclockError, match=r"cannot simulate: .*No such file"):
            executor.submit(batch).result(60)
    finally:
        executor.close()


def test_failed_runs_are_shown(sweep, folder, monkeypatch):
    from ackclock.sweep import figures, worker

    monkeypatch.setattr(
        "ackclock.sweep.session.LocalExecutor", lambda *_: _Failing(figures, worker)
    )
    status, out, _ = sweep("grid.yaml")
    assert status == 1
    assert "out of luck" in out
    assert "--retry-failed" in out
    assert "4 failed, 0 missing" in sweep("grid.yaml", "--status")[1]
    key = load("sweeps/tests/grid").table["key"][0].as_py()
    assert "Failed: out of luck" in sweep("grid.yaml", "--why", key)[1]


class _Failing:
    """An executor in which nothing succeeds."""

    capacity = 1

    def __init__(self, figures, worker):
        self.figures, self.worker = figures, worker

    def submit(self, batch):
        from concurrent.futures import Future

        from ackclock.sweep import Receipt

        with self.worker.appending(batch.journal) as journal:
            for runs in batch.runs:
                for key in runs.keys:
                    line = self.figures.failed(key, runs.first_seed, "out of luck")
                    self.worker.append(journal, line)
        future = Future()
        future.set_result([Receipt(runs.keys, "failed", 0.0) for runs in batch.runs])
        return future

    def close(self):
        pass


def test_a_column_of_another_table_is_named_with_it(sweep, ackclock):
    assert sweep("grid.yaml", "--workers", "1").code == 0
    done = ackclock("table", "sweeps/tests/grid", "--columns", "flow")
    assert done.code == 2
    assert "'flow' is a column of --what flows" in done.err
