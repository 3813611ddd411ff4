"""Records go to disk while a run goes on; whatever ends it, what was written can be read."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from small import document

from ackclock import (
    AckclockError,
    InputError,
    Results,
    RunInterrupted,
    RunStoppedError,
    Scenario,
    record_stream,
    record_tables,
    run,
)
from ackclock.record_tables import Schemas

ENDLESS = document() | {"stop": {"when": "time", "at_latest": "100000 s"}}
for _flow in ENDLESS["flows"]:
    _flow.pop("send", None)


LONGER = document()
for _flow in LONGER["flows"]:
    _flow["send"] = "6 MB"


@pytest.fixture(scope="module")
def scenario():
    """A run of some ten thousand events."""
    return Scenario.from_dict(LONGER)


@pytest.fixture(scope="module")
def results(scenario):
    """The same run in memory."""
    return run(scenario)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of a few rows, so that a small run has many."""
    monkeypatch.setattr("ackclock.recording._OnDisk.most_rows", 2000)
    monkeypatch.setattr("ackclock.record_stream.LEAST_ROWS", 100)


def same_tables(one: Results, two: Results) -> None:
    assert sorted(one.tables) == sorted(two.tables)
    for name in one.tables:
        ours, theirs = one.table(name), two.table(name)
        assert theirs.schema.equals(ours.schema, check_metadata=True)
        assert theirs.equals(ours)


@pytest.mark.slow
def test_a_run_in_parts_is_the_run_in_one(results, scenario, small_parts, tmp_path):
    joined = []
    written = record_stream.parquet_join.join
    record_stream.parquet_join.join = lambda parts, *rest: (
        joined.append(len(parts)) or written(parts, *rest)
    )
    try:
        written_out = run(scenario, directory=tmp_path / "run")
    finally:
        record_stream.parquet_join.join = written
    assert max(joined) > 3
    again = Results.load(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run" / "records").iterdir()} == {
        f"{name}.parquet" for name in results.tables
    }
    same_tables(results, again)
    assert written_out.summary | {"wall_s": 0} == results.summary | {"wall_s": 0}


def test_a_short_run_is_the_same_bytes_as_a_saved_one(small_results, small_scenario, tmp_path):
    small_results.save(tmp_path / "saved")
    run(small_scenario, directory=tmp_path / "run")
    for path in sorted((tmp_path / "saved" / "records").iterdir()):
        assert (tmp_path / "run" / "records" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_files_pack_each_kind_of_column_by_its_values(results, tmp_path):
    results.save(tmp_path / "run")
    file = pq.ParquetFile(tmp_path / "run" / "records" / "transmissions.parquet")
    chunks = {field.name: file.metadata.row_group(0).column(i)
              for i, field in enumerate(file.schema_arrow)}  # fmt: skip
    assert "DELTA_BINARY_PACKED" in chunks["packet_id"].encodings
    assert "BYTE_STREAM_SPLIT" in chunks["arrival_s"].encodings
    assert "RLE_DICTIONARY" in chunks["bytes"].encodings
    # Statistics of words would cost as much as all the rest.
    assert [name for name, chunk in chunks.items() if chunk.is_stats_set] == ["time_s"]
    # Only where there may be none does a file say of each value whether it is there.
    assert [field.name for field in file.schema_arrow if field.nullable] == ["flow"]


def test_words_that_may_be_missing_are_null():
    columns = record_tables.descriptions()["drops"]["columns"]
    missing = [column["name"] for column in columns if column["optional"]]
    assert missing == ["link", "direction", "flow"]
    schemas = Schemas({c["category"]: ["a word"] for c in columns if c["category"]}, {}, {})
    kinds = {"float64": np.float64, "int64": np.int64, "int32": np.int32, "bool": np.bool_}
    row = {c["name"]: np.full(1, -int(c["optional"]), kinds[c["type"]]) for c in columns}
    (made,) = schemas.table("drops", row).to_pylist()
    assert [name for name, value in made.items() if value is None] == missing
    # Others are checked: a code without a word would be read as any text.
    with pytest.raises(pa.ArrowException):
        schemas.table("drops", row | {"reason": np.full(1, -1, np.int32)})


@pytest.mark.slow
def test_parts_do_not_depend_on_the_clock(scenario, small_parts, tmp_path, monkeypatch):
    run(scenario, directory=tmp_path / "one")
    monkeypatch.setattr(sys.modules["ackclock.run"], "_TURN_S", 1e-6)
    run(scenario, directory=tmp_path / "two")
    for path in sorted((tmp_path / "one" / "records").iterdir()):
        assert (tmp_path / "two" / "records" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
def test_parts_that_cannot_be_joined_stay(results, scenario, small_parts, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("ackclock.parquet_join.join", full)
    run(scenario, directory=tmp_path / "run")
    monkeypatch.undo()
    records = tmp_path / "run" / "records"
    assert (records / "packets").is_dir()
    assert not list(records.glob(".*"))
    loaded = Results.load(tmp_path / "run")
    for name in results.tables:
        assert loaded.table(name).equals(results.table(name))
        assert loaded.rows(name) == results.table(name).num_rows
    whole = pq.read_table(records / "packets")
    assert whole.num_rows == results.table("packets").num_rows
    again = loaded.save(tmp_path / "copy")
    assert Results.load(again).table("packets").num_rows == whole.num_rows


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    """Start an endless run that writes small parts, and wait for some of them."""
    (folder / "endless.json").write_text(json.dumps(ENDLESS), encoding="utf-8")
    script = (
        "from ackclock import recording, record_stream;"
        "recording._OnDisk.most_rows = 20000; record_stream.LEAST_ROWS = 1000;"
        "from ackclock.cli.app import main; main()"
    )
    command = [sys.executable, "-c", script, "run", "endless.json", "--no-plots", *more]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, text=True, **pipes)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("**/packets/part-*.parquet"))) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.mark.slow
def test_what_was_written_before_a_kill_can_be_read(tmp_path):
    process = start(tmp_path, "--out", "run")
    process.kill()
    process.communicate()
    left = tmp_path / "run.partial"
    for table in ("packets", "transmissions"):
        rows = pq.read_table(left / "records" / table)
        assert rows.num_rows >= 2000
        flows = rows["flow"].unique().to_pylist()
        assert {"F1", "F2"} <= set(flows)
    assert not (tmp_path / "run").exists()
    for name in (left, tmp_path / "run"):
        for load in (Results.load, Scenario.load):
            with pytest.raises(InputError, match=r"interrupted or is still going: .*read_parquet"):
                load(str(name))
    scenario = Scenario.from_dict(document())
    with pytest.raises(InputError, match=r"records of a run whose process died.*--force"):
        run(scenario, directory=tmp_path / "run")
    assert list(left.glob("records/packets/part-*.parquet"))
    run(scenario, directory=tmp_path / "run", force=True)
    assert not left.exists()
    assert Results.load(tmp_path / "run").table("packets").num_rows > 0


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_written(tmp_path):
    process = start(tmp_path, "--out", "run")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; keeping what there is" in err
    assert "Traceback" not in err
    results = Results.load(tmp_path / "run")
    assert results.summary["stop_reason"] == "interrupted"
    packets = results.table("packets")
    assert pa.compute.max(packets["time_s"]).as_py() == pytest.approx(
        results.summary["end_s"], abs=1
    )
    # No gap: what is sent is on the wire or has arrived.
    ids = packets.filter(pa.compute.equal(packets["event"], "sent"))["packet_id"].to_pylist()
    assert sorted(ids) == list(range(len(ids)))
    assert "Written to run/" in out


def test_ctrl_c_while_records_are_written_loses_none_of_them(tmp_path, monkeypatch):
    from ackclock import record_stream, recording
    from ackclock.record_stream import RecordStream

    monkeypatch.setattr(recording._OnDisk, "most_rows", 20_000)
    monkeypatch.setattr(record_stream, "LEAST_ROWS", 1000)
    write = RecordStream.write

    def interrupted(self, tables):
        os.kill(os.getpid(), signal.SIGINT)
        write(self, tables)

    monkeypatch.setattr(RecordStream, "write", interrupted)
    with pytest.raises(RunInterrupted) as stopped:
        run(Scenario.from_dict(ENDLESS), directory=tmp_path / "run")
    packets = stopped.value.results.table("packets")
    assert packets.num_rows > 1000
    ids = packets.filter(pa.compute.equal(packets["event"], "sent"))["packet_id"].to_pylist()
    assert sorted(ids) == list(range(len(ids)))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
def test_two_runs_into_one_folder_at_once(tmp_path):
    first = start(tmp_path, "--out", "run")
    # It holds its lock without simulating.
    first.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(InputError, match=r"another process is writing a run"):
            run(Scenario.from_dict(document()), directory=tmp_path / "run", force=True)
        second = subprocess.run(
            [sys.executable, "-c", "from ackclock.cli.app import main; main()",
             "run", "endless.json", "--out", "run"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert second.returncode == 2
        assert "another process is writing a run to" in second.stderr
    finally:
        first.send_signal(signal.SIGINT)
        first.send_signal(signal.SIGCONT)
        first.communicate(timeout=60)
    assert Results.load(tmp_path / "run").table("packets").num_rows > 0
    assert {path.name for path in tmp_path.iterdir()} == {"run", "endless.json"}


@pytest.mark.parametrize("how", ["before", "while"])
def test_a_full_disk_ends_the_run_and_keeps_what_was_written(
    how, small_parts, tmp_path, monkeypatch
):
    left = iter([10**9, 10**9, 10**9, 10**9, 10**9] if how == "while" else [10**9])

    class Usage:
        def __init__(self, *_: object) -> None:
            self.free = next(left, 1000)

    monkeypatch.setattr("shutil.disk_usage", Usage)
    scenario = Scenario.from_dict(ENDLESS)
    with pytest.raises(RunStoppedError, match=r"only 0 MB are left on the disk") as stopped:
        run(scenario, directory=tmp_path / "run")
    monkeypatch.undo()
    results = Results.load(tmp_path / "run")
    assert (
        results.summary["stop_reason"]
        == stopped.value.results.summary["stop_reason"]
        == "disk-full"
    )
    assert not results.summary["finished"]
    if how == "while":
        assert results.table("packets").num_rows > 0


def test_a_disk_without_room_for_a_part(small_parts, tmp_path, monkeypatch):
    """The disk fills in the middle of a part: the part goes, those before it stay."""
    written = []
    write = record_stream.record_tables.write

    def some(table: pa.Table, path: Path) -> None:
        if len(written) >= 3:
            path.write_bytes(b"PAR1")
            raise OSError(28, os.strerror(28))
        written.append(path)
        write(table, path)

    monkeypatch.setattr("ackclock.record_tables.write", some)
    with pytest.raises(RunStoppedError, match="no room is left"):
        run(Scenario.from_dict(ENDLESS), directory=tmp_path / "run")
    monkeypatch.undo()
    results = Results.load(tmp_path / "run")
    assert results.tables
    assert all(results.table(name).num_rows for name in results.tables)
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_disk_without_room_for_the_summary(scenario, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ackclock.summaries.write", full)
    place = tmp_path / "run"
    with pytest.raises(AckclockError, match=r"no room is left on the disk of .*stay there"):
        run(scenario, directory=place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.partial"]
    kept = pq.read_table(tmp_path / "run.partial" / "records" / "packets.parquet")
    assert kept.num_rows == run(scenario).rows("packets")
    nothing = Scenario.from_dict(LONGER | {"record": "none"})
    with pytest.raises(AckclockError, match="nothing was kept"):
        run(nothing, directory=tmp_path / "other")
    assert not (tmp_path / "other.partial").exists()


def test_an_error_in_the_middle_keeps_what_was_written(small_parts, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("ackclock.results.Results.complete", fail)
    with pytest.raises(RuntimeError):
        run(Scenario.from_dict(document()), directory=tmp_path / "run")
    assert pq.read_table(tmp_path / "run.partial" / "records" / "packets.parquet").num_rows > 0


def test_an_interrupted_run_does_not_take_the_place_of_a_whole_one(scenario, tmp_path, monkeypatch):
    run(scenario, directory=tmp_path / "run")
    monkeypatch.setattr(sys.modules["ackclock.run"], "_TURN_S", 1e-6)

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as stopped:
        run(scenario, interrupt, directory=tmp_path / "run")
    assert stopped.value.results.directory == tmp_path / "run-partial"
    assert Results.load(tmp_path / "run").summary["finished"]
    assert not Results.load(tmp_path / "run-partial").summary["finished"]


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_limit_of_records_ends_the_run_at_the_same_place(on_disk, tmp_path, monkeypatch):
    scenario = Scenario.from_dict(ENDLESS).set("record.limit", "2 MB")
    ends = []
    for turn_s in (0.05, 1e-6):
        monkeypatch.setattr(sys.modules["ackclock.run"], "_TURN_S", turn_s)
        place = tmp_path / f"run-{turn_s}" if on_disk else None
        with pytest.raises(RunStoppedError, match=r"limit of 2 MB at .*record\.limit") as stopped:
            run(scenario, directory=place)
        results = stopped.value.results
        assert results.summary["stop_reason"] == "record-limit"
        assert not results.summary["finished"]
        size = sum(results.table(name).nbytes for name in results.tables)
        assert 1.5e6 < size < 3e6
        ends.append((results.summary["digest"], results.table("packets").num_rows))
    assert ends[0] == ends[1]


def test_memory_has_a_limit_of_its_own(monkeypatch):
    monkeypatch.setattr("ackclock.recording.MEMORY_LIMIT", 3_000_000)
    with pytest.raises(RunStoppedError, match=r"limit of 3 MB .* directory=\.\.\."):
        run(Scenario.from_dict(ENDLESS))


def test_long_records_are_announced(tmp_path, caplog, monkeypatch):
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    fast = Scenario.from_dict(ENDLESS).set("links.*.rate", "10 Gbps")
    with pytest.raises(RunInterrupted):
        run(fast, interrupt)
    assert "kept in memory, and the run ends when they reach 2.1 GB" in caplog.text
    caplog.clear()
    with pytest.raises(RunInterrupted):
        run(fast, interrupt, directory=tmp_path / "run")
    assert "may take" in caplog.text
    assert "record.queue=every 10 ms" in caplog.text
    caplog.clear()
    with pytest.raises(RunInterrupted):
        run(fast.set("record", "none"), interrupt, directory=tmp_path / "none")
    assert caplog.text == ""
