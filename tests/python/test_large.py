"""What many flows and many runs need: summaries that can be read, columns that are not loaded."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ackclock import Scenario, run
from ackclock.bench.workloads import dumbbell
from ackclock.cli.app import main
from ackclock.manifest import read_summary
from ackclock.sweep import table as tables


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A run of 400 flows over 801 links, without records."""
    folder = tmp_path_factory.mktemp("many") / "r"
    return run(Scenario.from_dict(dumbbell(400, 0.05)).set("record", "none"), directory=folder)


def test_a_summary_of_many_flows_has_a_line_for_each_and_reads_the_same(many):
    path = many.directory / "summary.json"
    lines = path.read_text().splitlines()
    assert sum(line.startswith('    "F') for line in lines) == 400
    assert len(lines) < 1300
    assert read_summary(path) == many.summary
    small = run(Scenario.from_dict(dumbbell(2, 0.01)).set("record", "none"))
    small.save(many.directory.parent / "small")
    written = (many.directory.parent / "small/summary.json").read_text()
    assert written == json.dumps(small.summary, indent=2, ensure_ascii=False) + "\n"


def test_the_command_shows_what_all_flows_got(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.json").write_text(json.dumps(dumbbell(60, 0.2)))
    command = ["ackclock", "run", "many.json", "--no-plots", "--set", "record=none"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "All 60 flows" in out
    summary = json.loads(next(tmp_path.glob("runs/**/summary.json")).read_text())
    (row,) = [line for line in out.splitlines() if line.startswith("Goodput  ")]
    total = sum(flow["goodput_bps"] for flow in summary["flows"].values())
    assert f"{total / 1e6:.4g} Mbps" in row


def test_a_run_that_was_done_wins_then_the_last():
    rows = [("a", "failed"), ("b", "done"), ("a", "done"), ("b", "failed"), ("c", "failed"),
            ("a", "failed"), ("c", "failed"), ("b", "done")]  # fmt: skip
    table = pa.table({"key": [key for key, _ in rows], "status": [state for _, state in rows]})
    assert tables.latest(table).tolist() == [2, 6, 7]
    assert tables.latest(table.slice(0, 2)).tolist() == [0, 1]
    assert tables.latest(table.slice(0, 0)).tolist() == []


def test_equal_values_have_equal_codes_across_chunks():
    column = pa.chunked_array([["x", None, "y"], [], ["y", "x", None]], pa.string())
    codes = tables.codes(column)
    assert codes[0] == codes[4] and codes[2] == codes[3] and codes[1] == codes[5]
    assert len(np.unique(codes)) == 3
