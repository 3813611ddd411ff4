"""Sweeps: what the table holds, that nothing is simulated twice, whose folder it is."""

import json
import signal
import threading
from collections import Counter
from concurrent.futures import Future

import pyarrow.parquet as pq
import pytest
from small import document

from ackclock import InputError, ResultsError, Scenario, _core, run, tables
from ackclock.sweep import LocalExecutor, Receipt, Study, SweepInterrupted, load
from ackclock.sweep import figures as sweep_figures
from ackclock.sweep.session import outlook, status

AXES = {
    "links.L1.rate": ["5 Mbps", "10 Mbps"],
    "windows": {"path": "flows.*.tcp.initial_window", "values": [1, 4]},
}

HOARD = """
import ackclock

TABLE = list(range(100_000, 400_000))  # 12 MB


class Hoard(ackclock.CongestionControl):
    def on_ack(self, ack):
        pass

    def on_loss(self, loss):
        return self.cwnd / 2
"""


def study(**changed):
    given = {"grid": AXES, "replications": 2, **changed}
    return Study(Scenario.from_dict(document()), **given)


def starts(folder):
    """How often each run was begun and done."""
    words = [line.split() for line in (folder / "log.txt").read_text().splitlines()]
    return (
        Counter(key for _, _, what, key, *_ in words if what == "start"),
        Counter(key for _, _, what, key, *_ in words if what == "done"),
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A sweep that is done, and its folder."""
    folder = tmp_path_factory.mktemp("sweep") / "done"
    return study().run(folder, workers=2), folder


def test_the_table_has_a_row_for_each_run_in_the_order_of_the_study(done):
    results, _ = done
    plan = study().plan(1)
    assert results.table["key"].to_pylist() == plan.keys
    assert results.table["links.L1.rate"].to_pylist() == ["5 Mbps"] * 4 + ["10 Mbps"] * 4
    assert results.table["windows"].to_pylist() == [1, 1, 4, 4] * 2
    assert results.table["replication"].to_pylist() == [0, 1] * 4
    assert results.table["seed"].to_pylist() == [1, 2] * 4
    assert set(results.table["status"].to_pylist()) == {"done"}
    assert (len(results), results.runs, results.partial, results.failed) == (8, 8, False, 0)


@pytest.mark.slow
def test_what_a_program_holds_is_free_before_the_next_run(tmp_path):
    file = tmp_path / "hoard.py"
    file.write_text(HOARD)
    scenario = Scenario.from_dict(document())
    scenario = scenario.set("flows.*.tcp.cc", {"kind": "python", "file": str(file)})
    results = Study(scenario, replications=16).run(workers=1, memory_limit=100_000_000)
    assert set(results.table["status"].to_pylist()) == {"done"}


def test_a_row_is_what_the_single_run_says(done):
    results, _ = done
    row = results.table.to_pylist()[7]
    scenario = Scenario.from_dict(document()).set("links.L1.rate", "10 Mbps")
    summary = run(scenario.set("flows.*.tcp.initial_window", 4).set("seed", 2)).summary
    assert row["digest"] == summary["digest"]
    assert row["end_s"] == summary["end_s"]
    flows = summary["flows"]
    assert row["goodput_bps"] == summary["totals"]["goodput_bps"]
    assert row["retransmissions"] == sum(flow["retransmissions"] for flow in flows.values())
    assert row["drops"] == sum(summary["packets_dropped"].values())
    busiest = max(summary["links"]["L1"].values(), key=lambda way: way["utilization"])
    assert row["bottleneck_utilization"] == busiest["utilization"]
    assert row["queue_packets_mean"] == busiest["queue_packets"]["mean"]
    assert [flow["id"] for flow in row["flows"]] == ["F1", "F2"]
    for flow in row["flows"]:
        assert flow["finish_s"] == flows[flow["id"]]["finish_s"]
        assert flow["rtt_s_mean"] == flows[flow["id"]]["rtt_s"]["mean"]
    assert {(way["id"], way["direction"]) for way in row["links"]} == {
        ("L1", "forward"),
        ("L1", "backward"),
    }


def test_flows_and_links_have_rows_of_their_own(done):
    results, _ = done
    flows = results.flows()
    assert flows.num_rows == 16
    assert flows["flow"].to_pylist() == ["F1", "F2"] * 8
    assert flows["windows"].to_pylist() == [1, 1, 1, 1, 4, 4, 4, 4] * 2
    sums = Counter()
    for row in flows.to_pylist():
        sums[row["key"]] += row["bytes_on_wire"]
    assert sums == {row["key"]: row["bytes_on_wire"] for row in results.table.to_pylist()}
    assert results.links().num_rows == 16
    assert "flows" not in results.plain().schema.names


def test_columns_say_what_they_are(done):
    _, folder = done
    table = pq.read_table(folder / "results.parquet")
    for field in table.schema:
        assert field.metadata[b"description"]
    assert table.schema.field("goodput_bps").metadata[b"unit"] == b"bit/s"
    assert json.loads(table.schema.metadata[b"axes"]) == list(AXES)
    assert set(sweep_figures.RESERVED) | set(AXES) == set(table.schema.names)
    flow = table.schema.field("flows").type.value_type
    told = {flow.field(i).name: flow.field(i).metadata for i in range(flow.num_fields)}
    for column in tables.TABLES["flows"]:
        if column.name in told:
            assert told[column.name][b"description"].decode() == column.meaning
            assert told[column.name][b"unit"].decode() == column.unit


@pytest.mark.parametrize("what", ["runs", "flows", "links"])
def test_tables_of_a_sweep_say_what_those_of_its_runs_say(done, what):
    results, _ = done
    swept = tables.of_sweep(results.table, what, results.axes)
    given = {"links.L1.rate": ["10 Mbps"], "windows": ["4"], "replication": ["1"]}
    scenario = Scenario.from_dict(document()).set("links.L1.rate", "10 Mbps")
    single = tables.of_run(run(scenario.set("flows.*.tcp.initial_window", 4).set("seed", 2)), what)
    rows = swept.where(given).rows()
    assert len(rows) == len(single) > 0
    for row, alone in zip(rows, single.rows(), strict=True):
        # What a sweep does not keep is empty in all its rows.
        shared = {name for name in alone if name in row and any(swept.values(name))}
        assert len(shared) > 6
        assert {name: row[name] for name in shared} == {name: alone[name] for name in shared}


def test_results_are_loaded_from_the_folder_or_the_file(done):
    results, folder = done
    assert load(folder).table.equals(results.table)
    assert load(folder / "results.parquet").axes == results.axes


def test_the_same_again_simulates_nothing(done):
    results, folder = done
    before = (folder / "log.txt").read_text()
    assert study().run(folder, workers=1).table.equals(results.table)
    assert (folder / "log.txt").read_text() == before


def test_one_worker_and_two_give_the_same_bytes(done, tmp_path):
    _, folder = done
    study().run(tmp_path / "one", workers=1)
    assert (tmp_path / "one/results.parquet").read_bytes() == (
        folder / "results.parquet"
    ).read_bytes()


def test_without_a_folder_results_are_in_memory_only(done, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = study().run(workers=1)
    assert results.table.equals(done[0].table)
    assert results.path is None
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_study_that_grows_simulates_what_is_new(tmp_path):
    study().run(tmp_path / "s", workers=2)
    more = {**AXES, "links.L1.rate": ["10 Mbps", "20 Mbps", "5 Mbps"]}
    grown = study(grid=more, replications=3)
    results = grown.run(tmp_path / "s", workers=2)
    begun, finished = starts(tmp_path / "s")
    assert set(begun.values()) == set(finished.values()) == {1}
    assert len(begun) == len(results) == 18
    fresh = grown.run(tmp_path / "fresh", workers=1)
    assert fresh.table.equals(results.table)


def test_runs_that_are_equal_are_simulated_once(tmp_path):
    rates = {"links.L1.rate": ["10 Mbps", "10000 kbps"]}
    results = study(grid=rates, replications=1).run(tmp_path / "s", workers=2)
    assert len(results) == 2
    assert len(set(results.table["digest"].to_pylist())) == 1
    assert sum(starts(tmp_path / "s")[0].values()) == 1


@pytest.mark.slow
def test_what_repeats_the_same_run_is_named():
    """Nothing in the small scenario is random, and a queue that never fills changes nothing."""
    rates = {"links.L1.rate": ["5 Mbps", "10 Mbps"]}
    (same,) = study(grid=rates).run(workers=1).notes()
    assert "All replications are the same" in same
    queues = {**rates, "links.L1.queue.limit": ["1000 packets", "2000 packets"]}
    (idle,) = study(grid=queues, replications=1).run(workers=1).notes()
    assert idle.startswith("'links.L1.queue.limit' changes nothing")
    lossy = {"links.L1.loss": {"kind": "bernoulli", "p": 0.1}}
    assert study(grid=rates, settings=lossy).run(workers=1).notes() == []


DIFFERENT = {
    "its scenario": {"settings": {"flows.F1.send": "1 KB"}},
    "its axes": {"grid": {"links.L1.delay": ["1 ms"]}},
    "links.L1.rate: 10 Mbps": {"grid": {**AXES, "links.L1.rate": ["5 Mbps"]}},
    "has 2 replications": {"replications": 1},
    "'tests/small'": {"name": "another"},
}


@pytest.mark.parametrize("reason", DIFFERENT)
def test_the_folder_of_another_study_is_left_alone(done, reason, tmp_path):
    _, folder = done
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(InputError) as caught:
        study(**DIFFERENT[reason]).run(folder, workers=1)
    assert reason in str(caught.value)
    assert "--out" in str(caught.value)
    assert "--force" in str(caught.value)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_force_keeps_what_both_studies_have(tmp_path):
    folder = tmp_path / "s"
    study().run(folder, workers=1)
    other = study(grid={**AXES, "links.L1.rate": ["5 Mbps"]}, replications=1)
    results = other.run(folder, workers=1, force=True)
    assert len(results) == 2
    assert set(starts(folder)[0].values()) == {1}
    assert load(folder).runs == 2


@pytest.mark.parametrize("what", ["file", "file above", "folder"])
def test_what_is_no_sweep_is_left_alone(tmp_path, what):
    place = tmp_path / "mine"
    if what.startswith("file"):
        place.write_text("mine")
    else:
        place.mkdir()
        (place / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="choose another"):
        study().run(place / "below" if what == "file above" else place, workers=1)
    with pytest.raises(InputError, match=r"contains no sweep"):
        load(tmp_path / "nothing")


def test_damage_is_told(done, tmp_path):
    file = tmp_path / "results.parquet"
    data = bytearray((done[1] / "results.parquet").read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data[: len(data) - 3])
    with pytest.raises(ResultsError, match="damaged"):
        load(file)


class Failing:
    """An executor that fails some runs, or is interrupted, in the place of processes."""

    capacity = 1

    def __init__(self, fail, interrupt_after=None):
        self.fail = fail
        self.left = interrupt_after
        self.seen = []

    def submit(self, batch):
        from ackclock.sweep import worker

        receipts = []
        with worker.appending(batch.journal) as journal:
            for runs in batch.runs:
                for seed, key in enumerate(runs.keys, runs.first_seed):
                    if self.left == 0:
                        raise KeyboardInterrupt
                    self.left = None if self.left is None else self.left - 1
                    self.seen.append(key)
                    if key in self.fail:
                        line = sweep_figures.failed(key, seed, "out of luck")
                    else:
                        line, _ = _core.rows([(runs.document, seed, [key])], sweep_figures.LAYOUT)
                    worker.append(journal, line)
                    status = "failed" if key in self.fail else "done"
                    receipts.append(Receipt((key,), status, 0.0))
        future = Future()
        future.set_result(receipts)
        return future

    def close(self):
        raise AssertionError("an executor that was given is not closed")


def test_a_failed_run_is_a_row_and_is_repeated_only_when_asked_to(done, tmp_path):
    folder = tmp_path / "s"
    keys = study().plan(1).keys
    results = study().run(folder, executor=Failing({keys[3]}))
    assert results.failed == 1
    row = results.table.to_pylist()[3]
    assert (row["status"], row["error"], row["digest"], row["flows"]) == (
        "failed", "out of luck", None, None,
    )  # fmt: skip
    again = Failing(set())
    assert study().run(folder, executor=again).failed == 1
    assert again.seen == []
    assert results.flows().num_rows == 14
    retried = study().run(folder, executor=again, retry_failed=True)
    assert again.seen == [keys[3]]
    assert retried.table.equals(done[0].table)


def test_an_interrupted_sweep_keeps_what_is_done_and_goes_on(done, tmp_path):
    folder = tmp_path / "s"
    with pytest.raises(SweepInterrupted) as caught:
        study().run(folder, executor=Failing(set(), interrupt_after=3))
    partial = caught.value.results
    assert (len(partial), partial.runs, partial.partial) == (3, 8, True)
    assert not (folder / "results.parquet").exists()
    assert load(folder).table.equals(partial.table)
    rest = Failing(set())
    results = study().run(folder, executor=rest)
    assert len(rest.seen) == 5
    assert results.table.equals(done[0].table)
    assert (folder / "results.parquet").read_bytes() == (done[1] / "results.parquet").read_bytes()


class Watched(Future):
    """Notes when Ctrl-C could come while the main thread has its lock, and another one needs it."""

    def __init__(self, dangers):
        super().__init__()
        future = self

        class Condition(threading.Condition):
            def acquire(self, *arguments):
                self.look()
                return super().acquire(*arguments)

            def __enter__(self):
                self.look()
                return super().__enter__()

            def look(self):
                main = threading.current_thread() is threading.main_thread()
                held_back = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
                if main and not held_back and future._state != "FINISHED":
                    dangers.append(future)

        self._condition = Condition()


def test_ctrl_c_leaves_no_lock_behind_that_a_thread_waits_for(tmp_path):
    dangers = []

    class Local(LocalExecutor):
        def submit(self, batch):
            future = Watched(dangers)
            inner = super().submit(batch)
            inner.add_done_callback(lambda done: future.set_result(done.result()))
            return future

    executor = Local(2)
    try:
        assert len(study().run(tmp_path / "s", executor=executor)) == 8
    finally:
        executor.close()
    assert dangers == []


def test_half_a_line_in_a_journal_counts_for_nothing(tmp_path, done):
    folder = tmp_path / "s"
    with pytest.raises(SweepInterrupted):
        study().run(folder, executor=Failing(set(), interrupt_after=0))
    whole = sweep_figures.failed(study().plan(1).keys[0], 1, "written whole")
    half = sweep_figures.failed(study().plan(1).keys[1], 1, "cut off")[:-5]
    (folder / "journal/1-0.jsonl").write_bytes(half + b"\n" + whole + half)
    rest = Failing(set())
    results = study().run(folder, executor=rest)
    assert len(rest.seen) == 7
    assert results.table["error"].to_pylist()[0] == "written whole"


def test_probes_are_kept_and_give_an_estimate(tmp_path, done):
    folder = tmp_path / "s"
    plan = study().plan(1)
    before = status(plan, folder)
    assert (before.total, before.done, before.missing, before.run_s) == (8, 0, 8, None)
    assert not folder.exists()
    found = outlook(plan, folder, workers=1, probe_s=0.0)
    assert found.probed == found.done == 1
    assert found.left_s == pytest.approx(7 * found.run_s)
    assert status(plan, folder).done == 1
    study().run(folder, workers=2)
    assert set(starts(folder)[0].values()) == {1}
    assert (folder / "results.parquet").read_bytes() == (done[1] / "results.parquet").read_bytes()


def test_progress_counts_up_to_all_runs(tmp_path):
    seen = []
    study().run(tmp_path / "s", workers=2, progress=seen.append)
    assert [state.done for state in seen] == sorted(state.done for state in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].simulated) == (8, 8, 8)
    assert seen[-1].left_s == 0.0
