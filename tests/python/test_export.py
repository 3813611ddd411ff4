"""Exports: what can be asked for, tables, the command."""

import json
import math
import sys

import numpy as np
import pyarrow.csv as pcsv
import pytest
from test_export_ns2 import LOSSY

from ackclock import InputError, Results, Scenario, run, tables
from ackclock.cli.app import main
from ackclock.export import FORMATS, export
from ackclock.export.windows import table
from ackclock.tables.cells import cell


@pytest.fixture(scope="module")
def lossy():
    return run(Scenario.from_dict(LOSSY))


def test_tables_of_csv_are_those_of_the_records(lossy, tmp_path):
    written = export(lossy, "csv", tmp_path / "all")
    assert [path.stem for path in written] == lossy.tables
    for path in written:
        expected = lossy.table(path.stem).to_pydict()
        found = pcsv.read_csv(path).to_pydict()
        assert list(found) == list(expected)
        for name, values in expected.items():
            there = found[name]
            if name in ("flow", "link"):
                there = [value or None for value in there]
            for value, back in zip(values, there, strict=True):
                same = value == back or (isinstance(value, float) and math.isnan(value))
                assert same, (path.stem, name, value, back)


def test_one_table_of_some_flows_is_one_file(lossy, tmp_path):
    options = {"tables": ["drops"], "flows": ["U"]}
    (path,) = export(lossy, "csv", tmp_path / "drops.csv", **options)
    rows = pcsv.read_csv(path).to_pylist()
    assert rows
    assert {row["flow"] for row in rows} == {"U"}


def test_windows_hold_until_they_change(lossy, tmp_path):
    rows = table(lossy).to_pylist()
    assert {row["flow"] for row in rows} == {"F1"}
    times = [row["time_s"] for row in rows]
    assert times == sorted(set(times))
    changes = {row["time_s"]: row for row in lossy.table("cwnd").to_pylist()}
    samples = {row["time_s"]: row["rtt_s"] for row in lossy.table("rtt").to_pylist()}
    timers = {row["time_s"]: row["rto_s"] for row in lossy.table("rto").to_pylist()}
    assert set(times) == set(changes) | set(samples) | set(timers)
    window, rto = None, None
    for row in rows:
        window = changes.get(row["time_s"], window)
        rto = timers.get(row["time_s"], rto)
        assert row["cwnd_bytes"] == window["cwnd_bytes"]
        assert row["cwnd_segments"] == window["cwnd_bytes"] / 1000
        assert row["state"] == window["state"]
        finite = math.isfinite(window["ssthresh_bytes"])
        assert row["ssthresh_bytes"] == (window["ssthresh_bytes"] if finite else None)
        assert row["rtt_s"] == samples.get(row["time_s"])
        assert row["rto_s"] == rto
    (path,) = export(lossy, "windows", tmp_path / "w.csv")
    head = "time_s,flow,cwnd_bytes,cwnd_segments,ssthresh_bytes,state,rtt_s,rto_s"
    assert path.read_text().splitlines()[0] == head
    assert np.allclose(pcsv.read_csv(path)["time_s"].to_numpy(), times, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pcap", {}, "unknown format 'pcap'; did you mean 'pcapng'"),
        (
            "ns2",
            {"hosts": ["n0"]},
            "`hosts` has no meaning for 'ns2', which knows `flows`, `links`",
        ),
        ("ns2", {"first_fid": -1}, "`first_fid` is -1; needed is a whole number from 0"),
        ("ns2", {"first_fid": "x"}, "`first_fid` is 'x'; needed is a whole number"),
        ("pcapng", {"snaplen": -1}, "`snaplen` is -1; needed is a whole number from 40 to 65535"),
        ("pcapng", {"snaplen": 64.5}, "`snaplen` is 64.5; needed is a whole number"),
        ("ns2", {"flows": ["F9"]}, "unknown flow 'F9'"),
        ("pcapng", {"hosts": ["n1"]}, "unknown host 'n1'"),
        ("pcapng", {"links": ["b"]}, "unknown link 'b'"),
        ("csv", {"tables": ["cwn"]}, "unknown table 'cwn'; did you mean 'cwnd'"),
        (
            "csv",
            {"tables": ["cwnd"], "links": ["B"]},
            "--links has no effect: cwnd has no column 'link'",
        ),
        (
            "csv",
            {"tables": ["queue", "routes"], "flows": ["U"]},
            "--flows has no effect: queue, routes have no column 'flow'",
        ),
        (
            "pcapng",
            {"hosts": ["n0"], "flows": ["U"]},
            "no packet of this run is left with --flows U --hosts n0",
        ),
        (
            "ns2",
            {"links": ["A"], "flows": ["U"]},
            "no packet of this run is left with --flows U --links A",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(lossy, tmp_path, name, options, message):
    with pytest.raises(InputError, match=message):
        export(lossy, name, tmp_path / "x", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_is_named(lossy, tmp_path):
    with pytest.raises(InputError, match=r"there is no folder '.*none' for 'x\.tr'"):
        export(lossy, "ns2", tmp_path / "none" / "x.tr")


OF_RUNS = [entry for entry in FORMATS if entry.of == "run"]


@pytest.mark.parametrize("entry", OF_RUNS, ids=lambda entry: entry.name)
def test_a_run_without_records_says_how_to_record(tmp_path, entry):
    results = run(Scenario.from_dict({**LOSSY, "record": "none"}))
    with pytest.raises(InputError, match="--set record=all"):
        export(results, entry.name, tmp_path / "x")


def test_a_failed_export_leaves_what_was_there(lossy, tmp_path, monkeypatch):
    from ackclock.export import ns2

    def breaks(results, options):
        yield b"+ 0"
        raise OSError(28, "No space left on device")

    path = tmp_path / "x.tr"
    path.write_text("before")
    monkeypatch.setattr(ns2, "chunks", breaks)
    with pytest.raises(OSError, match="No space"):
        export(lossy, "ns2", path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.tr"]
    assert path.read_text() == "before"


def test_runs_without_packets_can_be_exported(tmp_path):
    late = {**LOSSY, "flows": [{**LOSSY["flows"][0], "start": "3 s"}]}
    late["stop"] = {"when": "time", "at_latest": "1 s"}
    results = run(Scenario.from_dict(late))
    (path,) = export(results, "ns2", tmp_path / "x.tr")
    assert path.read_text() == ""
    (path,) = export(results, "pcapng", tmp_path / "x.pcapng")
    assert path.stat().st_size > 0
    (path,) = export(results, "windows", tmp_path / "x.csv")
    assert path.read_text().startswith("time_s,")


def command(monkeypatch, capfdbinary, *words):
    monkeypatch.setattr(sys, "argv", ["ackclock", "export", *words])
    with pytest.raises(SystemExit) as done:
        main()
    out, err = capfdbinary.readouterr()
    return done.value.code or 0, out, err.decode()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_command_exports_a_run_directory_as_it_exports_the_scenario(
    lossy, here, monkeypatch, capfdbinary
):
    lossy.save("saved")
    status, out, _ = command(monkeypatch, capfdbinary, "saved", "--format", "ns2", "--json")
    assert status == 0
    told = json.loads(out)
    assert told == {
        "files": ["saved/exports/lossy.tr"],
        "nodes": {"n0": 0, "n2": 2, "n3": 3, "n1": 1},
    }
    status, out, _ = command(
        monkeypatch, capfdbinary, "saved/scenario.yaml", "--format", "ns2", "--out", "-"
    )
    assert status == 0
    assert out == (here / "saved/exports/lossy.tr").read_bytes()
    for name in ("pcapng", "windows", "csv"):
        assert command(monkeypatch, capfdbinary, "saved", "--format", name)[0] == 0
    found = {path.name for path in (here / "saved/exports").iterdir()}
    assert found == {"lossy.tr", "lossy.pcapng", "lossy-windows.csv", "csv"}
    # The run directory may still be replaced by another run.
    Results.load("saved").save("saved")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["saved", "--format", "csv", "--out", "-"], "only one table fits"),
        (["saved", "--format", "ns2", "--seed", "3"], "has been run"),
        (["saved", "--format", "ns2", "--out", "-", "--json"], "both want standard output"),
        (["saved", "--format", "windows", "--links", "A"], "--links has no meaning"),
    ],
)
def test_command_refuses_what_makes_no_sense(lossy, here, monkeypatch, capfdbinary, words, message):
    lossy.save("saved")
    status, _, err = command(monkeypatch, capfdbinary, *words)
    assert status == 2
    assert message in err


def test_no_name_becomes_a_formula(tmp_path):
    """A spreadsheet runs what begins like a formula."""
    flows = [LOSSY["flows"][0] | {"id": "+cmd"}]
    results = run(Scenario.from_dict({**LOSSY, "flows": flows, "record": "all"}))
    (path,) = export(results, "csv", tmp_path / "cwnd.csv", tables=["cwnd"])
    rows = path.read_text().splitlines()
    assert rows[1].split(",")[1] == "'+cmd"
    text = tables.to_csv(tables.of_run(results, "flows"))
    assert "'+cmd" in text
    assert "\n+" not in text
    assert cell("-5") == "-5"
    assert cell("-1e-3") == "-1e-3"
    assert [cell(text) for text in ("=1+1", "@x", "-x", "\tx", "a=b", "")] == [
        "'=1+1", "'@x", "'-x", "'\tx", "a=b", "",
    ]  # fmt: skip
