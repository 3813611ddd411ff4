"""What many flows and many runs need: summaries that can be read, columns that are not loaded."""

import hashlib
import json
import re

import numpy as np
import pyarrow as pa
import pytest

import ackclock
from ackclock import Scenario, library, manifest, report, run, summaries
from ackclock.bench.workloads import dumbbell
from ackclock.cli import figures as words
from ackclock.cli.app import main
from ackclock.differences import of_results
from ackclock.plots import text
from ackclock.plots.network import Network
from ackclock.plots.view import View
from ackclock.sweep import figures
from ackclock.sweep import table as tables
from ackclock.tables.arrow_column import ArrowColumn


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
    assert summaries.read(path) == many.summary
    small = run(Scenario.from_dict(dumbbell(2, 0.01)).set("record", "none"))
    small.save(many.directory.parent / "small")
    written = (many.directory.parent / "small/summary.json").read_text()
    assert written == json.dumps(small.summary, indent=2, ensure_ascii=False) + "\n"


@pytest.fixture
def short(monkeypatch):
    """What only very large runs do is done for all."""
    monkeypatch.setattr("ackclock.scenario.MOST_HELD", 5)
    monkeypatch.setattr("ackclock.results.MOST_HELD", 5)
    monkeypatch.setattr("ackclock.plots.lanes._MOST_RANKED", 5)
    monkeypatch.setattr("ackclock.plots.lanes._MOST_NOTABLE", 3)
    monkeypatch.setattr("ackclock.summaries.MOST_HELD", 5)
    monkeypatch.setattr("ackclock.summaries._LEAST_BYTES", 0)


def _files(folder):
    """The files of a run without what the clock measured, and without the scenario."""
    files = {path.name: path.read_text() for path in folder.glob("*.*") if path.name != "log.txt"}
    del files["manifest.json"], files["scenario.yaml"]
    files["summary.json"] = re.sub(r'"wall_s": .*', "", files["summary.json"])
    return files


@pytest.mark.slow
def test_entries_that_stay_text_are_those_that_are_held(many, tmp_path, short):
    lazy = run(
        Scenario.from_dict(dumbbell(400, 0.05)).set("record", "none"), directory=tmp_path / "r"
    )
    assert isinstance(lazy.summary["flows"], summaries.Rows)
    assert _files(lazy.directory) == _files(many.directory)
    again = ackclock.Results.load(lazy.directory)
    in_memory = run(lazy.scenario)
    for results in (lazy, again, in_memory):
        assert isinstance(results.summary["links"], summaries.Rows)
        for kind in ("flows", "links"):
            rows, held = results.summary[kind], many.summary[kind]
            assert dict(rows) == dict(rows.items()) == held
            assert list(rows) == list(held)
            assert list(rows.values()) == list(held.values())
            assert len(rows) == len(held)
            assert "S1" not in rows
        assert results.summary["flows"]["F400"] == many.summary["flows"]["F400"]
    in_memory.save(tmp_path / "saved")
    again.save(tmp_path / "copied")
    assert _files(tmp_path / "saved") == _files(tmp_path / "copied") == _files(many.directory)


def test_what_differs_between_very_large_runs_is_what_differs(many, tmp_path, short):
    given = Scenario.from_dict(dumbbell(400, 0.05)).set("record", "none")
    lazy = run(given, directory=tmp_path / "r")
    assert list(of_results(lazy, ackclock.Results.load(tmp_path / "r"))) == []
    for other in (
        given.set("links.access7.rate", "5 Mbps"),
        Scenario.from_dict(dumbbell(399, 0.05)).set("record", "none"),
    ):
        found = run(other)
        entries = {kind: dict(found.summary[kind]) for kind in ("flows", "links")}
        expected = ackclock.Results({**found.summary, **entries}, None, {})
        assert isinstance(found.summary["flows"], summaries.Rows)
        for pair in ((lazy, found), (found, lazy)):
            held = [many if one is lazy else expected for one in pair]
            differences = list(of_results(*pair))
            assert differences == list(of_results(*held))
            assert len(differences) > 3


@pytest.mark.slow
def test_a_very_large_run_keeps_its_scenario_as_it_was_given(many, tmp_path, short):
    given = Scenario.from_dict(dumbbell(400, 0.05)).set("record", "none")
    folder = tmp_path / "r"
    results = run(given, directory=folder)
    assert (folder / "scenario.yaml").stat().st_size < 2000
    assert (many.directory / "scenario.yaml").stat().st_size > 100_000
    loaded = ackclock.Results.load(folder)
    for one in (results, loaded):
        assert one.scenario.fingerprint == given.fingerprint
        assert one.canonical == given.canonical == many.canonical
        assert one.model == many.model
    again = run(Scenario.load(folder), directory=tmp_path / "again")
    assert again.summary["digest"] == many.summary["digest"]
    # Its place is taken by the run of the same scenario, not by that of another one.
    assert run(loaded.scenario, directory=folder).replaced
    with pytest.raises(ackclock.InputError, match="another"):
        run(given.set("seed", 2), directory=folder)


def test_what_a_very_large_run_was_of_may_resolve_in_another_way(tmp_path, short, caplog):
    folder = run(Scenario.from_dict(dumbbell(400, 0.01)), directory=tmp_path / "r").directory
    assert folder is not None
    summary = folder / "summary.json"
    summary.write_text(re.sub(r'"ackclock": "[^"]*"', '"ackclock": "0.0.1"', summary.read_text()))
    (folder / "manifest.json").unlink()
    ackclock.Results.load(folder)
    assert "was run by ackclock 0.0.1" in caplog.text


def test_a_model_shares_what_elements_have_in_common(many):
    model = many.model
    assert len({id(flow["tcp"]) for flow in model["flows"]}) == 1
    assert len({id(link["forward"]) for link in model["links"]}) < 20
    assert all("like" not in entry for entry in (*model["flows"], *model["links"]))


@pytest.mark.slow
def test_of_very_many_links_only_the_notable_ones_are_looked_at(many, tmp_path, monkeypatch):
    record = {"kind": "none", "drops": "changes", "queue": "changes"}
    document = {**dumbbell(400, 0.3), "record": record}
    document["topology"]["bottleneck"]["queue"]["limit"] = "150 KB"
    results = run(Scenario.from_dict(document))
    every = View(results)
    assert every.all_lanes_are_here
    for name, few in (("_MOST_RANKED", 5), ("_MOST_NOTABLE", 3)):
        monkeypatch.setattr(f"ackclock.plots.lanes.{name}", few)
    some = View(results)
    assert not some.all_lanes_are_here
    assert len(some.all_lanes) == 6
    assert some.lanes == every.lanes
    lost = [len(view.loss_times(lane)) for view in (every,) for lane in view.all_lanes]
    shown = sum(len(some.loss_times(lane)) for lane in some.all_lanes)
    assert shown + len(some.other_loss_times()) == sum(lost) == len(every.loss_times()) > 0
    assert View(results, links=["egress7"]).lanes[0].link == "egress7"


def test_a_summary_with_rows_that_are_damaged_is_refused(many, tmp_path, short):
    whole = (many.directory / "summary.json").read_text()
    damaged = tmp_path / "summary.json"
    damaged.write_text(whole.replace('"F7": {"transport"', '"F7": {"transport', 1))
    with pytest.raises(ackclock.ResultsError, match="damaged"):
        dict(summaries.read(damaged)["flows"])
    damaged.write_text(whole.replace('"seed": ', '"seed: ', 1))
    with pytest.raises(ackclock.ResultsError, match="damaged"):
        summaries.read(damaged)


@pytest.mark.parametrize("name", [*library.names()][::7])
def test_the_engine_spells_a_document_as_python_does(name):
    scenario = Scenario.load(name).set("title", 'Größe "x"\t\x7f \U0001f600').set("seed", 2**63)
    for escaped in (False, True):
        text = json.dumps(scenario.canonical, sort_keys=True, ensure_ascii=escaped)
        expected = hashlib.sha256(text.encode()).hexdigest()
        assert scenario.canonical_sha256(escaped=escaped) == expected
    assert scenario.fingerprint == manifest.fingerprint(scenario.canonical)


def test_a_fabric_is_drawn_with_a_node_for_each_distance_from_hosts():
    topology = {"kind": "fat-tree", "ports": 16, "access": {"rate": "1 Gbps", "delay": "2 us"}}
    flow = {"id": "F", "from": "H1", "to": "H1000"}
    stop = {"when": "time", "at_latest": "1 us"}
    scenario = {"name": "fabric", "topology": topology, "flows": [flow], "stop": stop}
    network = Network(View(run(Scenario.from_dict({**scenario, "record": "none"}))))
    sizes = {name: len(node.members) for name, node in network.nodes.items()}
    assert sizes == {
        "H1 … H1024": 1024,
        "edge1 … edge128": 128,
        "agg1 … agg128": 128,
        "core1 … core64": 64,
    }
    assert [len(edge.links) for edge in network.edges.values()] == [1024, 1024, 1024]
    assert network.rides() == []


@pytest.mark.slow
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
    total = summary["totals"]["goodput_bps"]
    assert f"{total / 1e6:.4g} Mbps" in row


@pytest.mark.slow
def test_the_command_shows_percentiles_of_completion_times(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    document = dumbbell(60, 5.0)
    document["flows"][0]["send"] = "20 kB"
    (tmp_path / "many.json").write_text(json.dumps(document))
    command = ["ackclock", "run", "many.json", "--no-plots", "--set", "record=none"]
    monkeypatch.setattr("sys.argv", command)
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    out = capsys.readouterr().out
    summary = json.loads(next(tmp_path.glob("runs/**/summary.json")).read_text())
    times = sorted(flow["finish_s"] - flow["start_s"] for flow in summary["flows"].values())
    (heading,) = [line for line in out.splitlines() if line.startswith("All 60 flows")]
    assert heading.split()[3:] == ["Least", "Median", "p95", "p99", "Most", "Mean", "Total"]
    (row,) = [line for line in out.splitlines() if line.startswith("Completion time ")]
    shown = re.findall(r"[\d.]+ m?s", row.removeprefix("Completion time"))
    # Nearest ranks of 60: 30, 57 and 60.
    wanted = [times[0], times[29], times[56], times[59], times[59], sum(times) / 60]
    assert shown == [words.seconds(time) for time in wanted]


@pytest.mark.slow
def test_unfinished_transfers_count_in_percentiles(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    document = dumbbell(60, 0.13)
    document["flows"][0]["send"] = "20 kB"
    (tmp_path / "many.json").write_text(json.dumps(document))
    command = ["ackclock", "run", "many.json", "--no-plots", "--set", "record=none"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit):
        main()
    summary = json.loads(next(tmp_path.glob("runs/**/summary.json")).read_text())
    late = [flow for flow in summary["flows"].values() if flow["completion_s"] is None]
    assert 60 / 20 < len(late) < 60 / 2
    (row,) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("Completion time ")
    ]
    # More than a twentieth has not finished; a mean would be of the others only.
    assert row.split()[-5:] == ["never", "never", "never", "-", "-"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(999.4, "999"), (999.6, "1 k"), (999.4e3, "999 k"), (999.6e3, "1 M"), (5.164e6, "5.16 M")],
)
def test_a_large_count_has_the_prefix_of_what_it_is_rounded_to(count, text):
    assert words.large(count) == text


def test_a_run_that_was_done_wins_then_the_last():
    rows = [("a", "failed"), ("b", "done"), ("a", "done"), ("b", "failed"), ("c", "failed"),
            ("a", "failed"), ("c", "failed"), ("b", "done")]  # fmt: skip
    table = pa.table({"key": [key for key, _ in rows], "status": [state for _, state in rows]})
    assert tables.latest(table).tolist() == [2, 6, 7]
    assert tables.latest(table.slice(0, 2)).tolist() == [0, 1]
    assert tables.latest(table.slice(0, 0)).tolist() == []


def test_a_table_is_sorted_without_being_in_memory(tmp_path, monkeypatch):
    """Runs that ended in any order, some of them equal, in several parts and several groups."""
    monkeypatch.setattr(tables, "_GROUP", 4)
    keys = [f"{i:064x}" for i in (5, 3, 9, 3, 1, 7, 8, 2, 6, 4, 0)]
    plan = pa.table({"key": keys, "axis": list("abcdefghijk"), "seed": range(11)})
    stored = sorted({*keys, "f" * 64}, key=lambda key: key[::-1])
    rows = [json.loads(figures.failed(key, 1, f"run {key[-1]}")) for key in [*stored, *stored[:3]]]
    rows[-1]["error"] = "the last one counts"
    whole = tables.of_rows(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    tables.write(whole.slice(0, 9), tmp_path / "1")
    tables.write(whole.slice(9, 4), tmp_path / "2")
    held = []
    beside = tables.beside
    monkeypatch.setattr(
        tables,
        "beside",
        lambda plan, rows, *rest: held.append(len(rows)) or beside(plan, rows, *rest),
    )
    source = tables.Stored([tmp_path / "1", tmp_path / "2"], whole.slice(13))
    tables.write_sorted(source, plan, {"about": "x"}, tmp_path / "sorted.parquet")
    assert held == [4, 4, 3]
    assert max(len(piece) for _, piece in source.pieces()) == 4
    sorted_ = tables.read(tmp_path / "sorted.parquet")
    assert sorted_.equals(tables.Rows(plan, source, {"about": "x"}).select(sorted_.column_names))
    assert sorted_["key"].to_pylist() == keys
    wanted = {row["key"]: row["error"] for row in rows}
    assert sorted_["error"].to_pylist() == [wanted[key] for key in keys]
    assert not list(tmp_path.glob(".*"))
    tables.write_latest([source], tmp_path / "merged")
    merged = tables.read(tmp_path / "merged")
    assert dict(zip(*merged.select(["key", "error"]).to_pydict().values(), strict=True)) == wanted
    assert len(merged) == len(stored)
    assert tables.holds(tmp_path / "merged", merged)
    assert not tables.holds(tmp_path / "merged", merged.slice(1))
    assert not tables.holds(tmp_path / "merged", merged.take([*range(1, len(merged)), 0]))


def _written_out(flows):
    """A dumbbell of so many flows with all its parts, one line for each."""
    links = [{"id": "bottleneck", "between": ["R1", "R2"], "rate": "10 Mbps", "delay": "5 ms"}]
    for i in range(flows):
        links += [{"id": f"{side}-{i}", "between": [f"{side}{i}", router], "rate": "1 Gbps",
                   "delay": "1 ms"} for side, router in (("S", "R1"), ("D", "R2"))]  # fmt: skip
    parts = {
        "hosts": [f"{side}{i}" for side in "SD" for i in range(flows)],
        "routers": ["R1", "R2"],
        "links": links,
        "flows": [
            {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "tcp": "reno"} for i in range(flows)
        ],
    }
    lines = ["name: written-out", "stop: {at_latest: 1 s}", "record: none"]
    for name, elements in parts.items():
        lines += [f"{name}:", *(f"- {json.dumps(one)}" for one in elements)]
    return "\n".join(lines) + "\n"


def test_a_document_goes_into_the_engine_without_objects_of_python(tmp_path):
    path = tmp_path / "s.yaml"
    text = _written_out(50)
    path.write_text(text)
    scenario = Scenario.load(path)
    assert scenario.source._data is None
    assert scenario.source._read is None, "what was read is given back"
    assert scenario == Scenario.from_dict(scenario.document)
    assert scenario.document["flows"][49]["id"] == "F49"
    wrong = text.replace('"from": "S49"', '"from": "S490"').replace('"F48"', '"F47"')
    path.write_text(wrong)
    with pytest.raises(ackclock.ScenarioError) as raised:
        Scenario.load(path)
    lines = wrong.splitlines()
    found = [(problem.path, problem.line) for problem in raised.value.problems]
    assert found == [
        (
            "flows.F47.id",
            next(
                i
                for i, line in enumerate(lines, 1)
                if '"D48"' in line and "id" in line and "F47" in line
            ),
        ),
        ("flows.F49.from", next(i for i, line in enumerate(lines, 1) if '"S490"' in line)),
    ]


def test_flows_with_a_count_may_stand_among_many(tmp_path):
    text = (
        _written_out(3)
        + "- {id: more, count: 2, from: S0, to: D0, start: {kind: spread, over: 1 s}}\n"
    )
    (tmp_path / "s.yaml").write_text(text)
    scenario = Scenario.load(tmp_path / "s.yaml")
    assert scenario.flows == ["F0", "F1", "F2", "more1", "more2"]
    assert scenario == Scenario.from_dict(scenario.document)


def test_equal_values_have_equal_codes_across_chunks():
    column = pa.chunked_array([["x", None, "y"], [], ["y", "x", None]], pa.string())
    values, codes = ArrowColumn(lambda: column, 5).coded()
    assert values == ["x", None, "y"]
    assert codes[0] == codes[4] and codes[2] == codes[3] and codes[1] == codes[5]
    assert len(np.unique(codes)) == 3


def test_a_very_large_run_has_no_charts_and_says_how_to_get_some(
    tmp_path, short, capsys, monkeypatch
):
    path = tmp_path / "s.json"
    document = {**dumbbell(400, 0.05), "record": "sampled"}
    path.write_text(json.dumps(document))
    command = ["ackclock", "run", str(path), "--no-plots", "--out", str(tmp_path / "r")]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    shown = capsys.readouterr().out
    assert "congestion window" not in shown
    assert "ackclock plot DIR --flows A,B --links L" in shown


def test_a_name_for_many_links_has_one_ellipsis_however_short_it_is():
    name = "access1 … access100000"
    for limit_mm in (40.0, 28.0, 22.0, 12.0):
        assert text.short(name, limit_mm, 7.0).count("…") == 1
    assert text.short(name, 100.0, 7.0) == name


@pytest.mark.slow
def test_a_report_of_several_runs_has_the_busiest_flows_of_each(tmp_path):
    given = [Scenario.from_dict(dumbbell(60, seconds)) for seconds in (0.1, 0.2)]
    runs = [run(scenario.set("record", {"kind": "none", "rtt": "changes"})) for scenario in given]
    page = tmp_path / "page.html"
    report.write(runs, page)
    (shown,) = re.findall(r"The busiest (\d+ of \d+) flows", page.read_text())
    assert shown == "40 of 120"
    table = re.search(r"<table.*?</table>", page.read_text(), re.DOTALL)
    assert table is not None
    cells = re.findall(r"<tr><td[^>]*>([^<]*)</td>", table[0])
    assert cells == [cells[0]] * 20 + [cells[-1]] * 20
    assert cells[0] != cells[-1]
