"""Result tables: what the columns hold, sorting, means, cross tables, formats."""

import csv
import io
import json
import re
from functools import partial
from math import inf

import numpy as np
import pyarrow.parquet as pq
import pytest
from small import document

from ackclock import Scenario, run, tables
from ackclock.cli.summary import print_summary
from ackclock.cli.terminal import console
from ackclock.errors import InputError
from ackclock.metrics import jain
from ackclock.metrics.quantiles import quantiles
from ackclock.tables import Column, ResultTable
from ackclock.tables.formats import latex, markdown
from ackclock.tables.shown import decimals, shown
from ackclock.tables.values import measured, ordered, same


@pytest.fixture(scope="module")
def lab():
    """Two classic flows that share a link, one of them from 1 s on; nothing ends."""
    document = {
        "name": "tests/lab",
        "hosts": ["A", "B"],
        "routers": ["R"],
        "links": [
            {"id": "access", "between": ["A", "R"], "rate": "5 Mbps", "delay": "20 ms",
             "queue": {"limit": "4 packets"}},
            {"id": "bottleneck", "between": ["R", "B"], "rate": "1 Mbps", "delay": "50 ms",
             "queue": {"limit": "8 packets"}},
        ],
        "flows": [
            {"id": "F1", "from": "A", "to": "B", "tcp": {"sender": "classic"}},
            {"id": "F2", "from": "A", "to": "B", "start": "1 s", "tcp": {"sender": "classic"}},
        ],
        "stop": {"when": "time", "at_latest": "10 s"},
        "record": "all",
    }  # fmt: skip
    return run(Scenario.from_dict(document))


def made(**cells):
    """A table of words and numbers."""
    kinds = {str: "word", int: "count", float: "real", bool: "flag"}
    columns = tuple(
        Column(name, name.capitalize(), kinds[type(next(v for v in values if v is not None))])
        for name, values in cells.items()
    )
    return ResultTable(columns, cells)


def test_both_definitions_of_goodput(lab):
    rows = tables.of_run(lab).rows()
    for row, start in zip(rows, (0.0, 1.0), strict=True):
        assert row["goodput_to_end_bytes_per_s"] == pytest.approx(
            row["bytes_delivered"] / (10.0 - start)
        )
        assert row["goodput_bps"] == pytest.approx(8 * row["goodput_to_end_bytes_per_s"])


def test_goodput_to_the_end_goes_on_when_the_flow_is_done(small_results):
    rows = tables.of_run(small_results).rows()
    end = small_results.summary["end_s"]
    for row in rows:
        expected = row["bytes_delivered"] / (end - row["start_s"])
        assert row["goodput_to_end_bytes_per_s"] == pytest.approx(expected)
    early = min(rows, key=lambda row: row["finish_s"])
    assert 8 * early["goodput_to_end_bytes_per_s"] < early["goodput_bps"]


def test_transferred_bytes_are_what_the_access_link_began_to_send(lab):
    sent = [
        row
        for row in lab.table("transmissions").to_pylist()
        if row["link"] == "access" and row["kind"] == "data"
    ]
    for row in tables.of_run(lab).rows():
        mine = [packet["bytes"] for packet in sent if packet["flow"] == row["flow"]]
        assert (row["packets_on_wire"], row["bytes_on_wire"]) == (len(mine), sum(mine))
        # This access queue is short: not all that was sent got onto the wire.
        assert row["packets_on_wire"] < row["segments_sent"]


def test_lost_packets_of_flows_and_queues_add_up(lab):
    rows = tables.of_run(lab, "drops").rows()
    recorded = lab.table("drops").to_pylist()
    for row in rows:
        assert row["packets"] == sum(
            (r["flow"] if r["kind"] == "data" else None, r["link"], r["direction"], r["reason"])
            == (row["flow"], row["link"], row["direction"], row["reason"])
            for r in recorded
        )
    assert sum(row["packets"] for row in rows) == len(recorded) > 0
    links = {
        (row["link"], row["direction"]): row["drops"] for row in tables.of_run(lab, "links").rows()
    }
    for place, drops in links.items():
        here = [row["packets"] for row in rows if (row["link"], row["direction"]) == place]
        assert sum(here) == drops


def test_a_run_is_summed_up(lab):
    (row,) = tables.of_run(lab, "runs").rows()
    flows = tables.of_run(lab).rows()
    # F2 begins a second later: the rates of both, each over its own time, are more.
    delivered = sum(flow["bytes_delivered"] for flow in flows)
    assert row["goodput_bps"] == pytest.approx(8 * delivered / 10.0)
    assert row["fairness_jain"] == pytest.approx(jain([flow["goodput_bps"] for flow in flows]))
    assert row["bytes_on_wire"] == sum(flow["bytes_on_wire"] for flow in flows)
    links = tables.of_run(lab, "links").rows()
    busiest = max(links, key=lambda link: link["utilization"])
    assert row["queue_packets_mean"] == busiest["queue_packets_mean"]


def test_every_column_says_what_it_is():
    for columns in tables.TABLES.values():
        names = [column.name for column in columns]
        assert len(names) == len(set(names))
        for column in columns:
            assert column.title and column.meaning and not column.meaning.endswith("."), column
            unit = {"_bps": "bit/s", "_bytes_per_s": "B/s", "_s": "s"}
            for suffix, expected in unit.items():
                if column.name.endswith(suffix):
                    assert column.unit == expected, column
                    break


def test_rows_are_sorted_by_size_and_missing_ones_come_last():
    table = made(queue=["64 KiB", "2 KB", None, "16 KiB"], n=[1, 2, 3, 4])
    assert table.sort(["queue"]).values("n") == [2, 4, 1, 3]
    assert table.sort(["-queue"]).values("n") == [1, 4, 2, 3]
    two = made(word=["b", "a", "b"], n=[2, 3, 1])
    assert two.sort(["word", "-n"]).values("n") == [3, 2, 1]


def test_rows_are_chosen_by_value_also_in_other_units():
    table = made(queue=["64 KiB", "2 KB"], n=[1, 2])
    assert table.where({"queue": ["65536 B"]}).values("n") == [1]
    assert table.where({"n": ["2", "1"]}).values("n") == [1, 2]
    with pytest.raises(InputError, match="2 KB"):
        table.where({"queue": ["3 KB"]})
    with pytest.raises(InputError, match="did you mean 'queue'"):
        table.where({"queu": ["2 KB"]})


def test_values_of_axes_are_read():
    assert measured("2 MB") == ("size", 2e6)
    assert measured("10 ms") == ("time", pytest.approx(0.01))
    assert measured(True) is None and measured("reno") is None
    assert measured("12") == ("number", 12.0)
    assert ordered(["64 KiB", "2 KB", "64 KiB"]) == ["2 KB", "64 KiB"]
    assert ordered(["reno", "fast", "10 ms"]) == ["reno", "fast", "10 ms"]
    assert same(8000, "8000") and same(0.5, "0.50") and not same("reno", "fast")


def test_means_have_the_interval_of_students_t():
    # Of 1, 2, 3: mean 2, s = 1, t(0.975, 2) = 4.302653.
    table = made(cc=["a", "a", "a", "b"], replication=[0, 1, 2, 0], x=[1.0, 2.0, 3.0, 5.0])
    first, second = tables.grouped(table, ["cc"], ["x"]).rows()
    reach = 4.302652729696142 / 3**0.5
    assert first == {
        "cc": "a",
        "rows": 3,
        "x": 2.0,
        "x_low": pytest.approx(2 - reach),
        "x_high": pytest.approx(2 + reach),
    }
    assert second == {"cc": "b", "rows": 1, "x": 5.0, "x_low": None, "x_high": None}


def test_a_mean_over_different_things_has_no_interval_and_says_so():
    table = made(cc=["a", "a"], queue=[1, 2], x=[1.0, 2.0])
    mixed = tables.grouped(table, ["cc"], ["x"], axes=["cc", "queue"])
    assert mixed.names == ["cc", "rows", "x"]
    assert "queue" in mixed.notes[0]
    flows = made(cc=["a", "a"], flow=["F1", "F2"], x=[1.0, 2.0])
    assert "flow" in tables.grouped(flows, ["cc"], ["x"]).notes[0]


def test_percentiles_are_values_that_were_there_and_what_is_missing_is_said():
    values = [float(i) for i in range(1, 101)]
    table = made(cc=["a"] * 102, flow=["F"] * 102, x=[*values, None, None])
    for word, expected in (("p95", 95.0), ("p99", 99.0), ("max", 100.0)):
        found = tables.grouped(table, ["cc"], ["x"], word)
        assert found.rows() == [{"cc": "a", "rows": 100, "x": expected}]
        assert found.notes == ("2 of 102 rows have no 'x' and are left out.",)
    assert tables.pivoted(table, "cc", "flow", "x", "p95").notes == found.notes


def test_in_quantiles_of_an_end_what_did_not_finish_is_later_than_all_others():
    times = [1.0, 2.0, None, 4.0, None, None]
    table = made(cc=["a"] * 6, flow=["F", "F", "F", "F", "E", "E"], completion_s=times)
    for word, expected in (("median", 3.0), ("min", 1.0), ("p95", inf), ("max", inf)):
        found = tables.grouped(table, ["cc"], ["completion_s"], word)
        assert found.rows() == [{"cc": "a", "rows": 4, "completion_s": expected}]
        assert found.notes[-2:] == (
            "1 of 6 rows have no 'completion_s', since they did not finish: they count as later "
            "than all others.",
            "Left out, since they finish in no run: E.",
        )
    (cell,) = shown(found)[2].cells
    assert cell == "never" and ",inf\n" in tables.to_csv(found)
    assert tables.to_json(found)["rows"][0]["completion_s"] is None
    (mean,) = tables.grouped(table, ["cc"], ["completion_s"]).rows()
    assert (mean["rows"], mean["completion_s"]) == (3, pytest.approx(7 / 3))
    # A single run keeps how much a flow has to send.
    cells = {"completion_s": [None, None, 2.0], "bytes_offered": [1000, None, 1000]}
    (single,) = tables.grouped(
        made(flow=["F", "E", "G"], **cells), [], ["completion_s"], "p99"
    ).rows()
    assert single == {"rows": 2, "completion_s": inf}
    several = made(cc=["b", "c", "a"], completion_s=[2.0, 3.0, inf]).sort(["-completion_s"])
    assert several.values("cc") == ["a", "c", "b"]


def test_each_value_has_its_own_count_where_they_differ():
    table = made(cc=["a", "a", "b", "b"], seed=[1, 2, 1, 2], x=[1.0, 2.0, 3.0, 4.0], y=[1.0] * 4)
    assert tables.grouped(table, ["cc"], ["x", "y"]).names[:2] == ["cc", "rows"]
    gaps = made(
        cc=["a", "a", "b", "b"], seed=[1, 2, 1, 2], x=[1.0, 2.0, 3.0, 4.0], y=[1, None, 2, 5]
    )
    found = tables.grouped(gaps, ["cc"], ["x", "y"])
    assert (found.values("x_rows"), found.values("y_rows")) == ([2, 2], [1, 2])
    (row,) = tables.paired(gaps, ["cc"], ["x", "y"], ("cc", "a")).rows()
    assert (row["x_pairs"], row["y_pairs"]) == (2, 1)


def test_flow_completion_times_are_from_start_to_finish(lab):
    assert {flow["completion_s"] for flow in lab.summary["flows"].values()} == {None}, "no end"
    data = document()
    data["flows"][1]["start"] = "100 ms"
    flows = run(Scenario.from_dict(data)).summary["flows"]
    for flow in flows.values():
        assert flow["completion_s"] == pytest.approx(flow["finish_s"] - flow["start_s"], abs=1e-9)
    assert flows["F2"]["completion_s"] < flows["F2"]["finish_s"]


def test_a_cross_table():
    table = made(queue=["8 KB", "2 KB", "8 KB"], cc=["reno", "reno", "fast"], x=[1.0, 2.0, 4.0])
    crossed = tables.pivoted(table, "queue", "cc", "x")
    assert crossed.rows() == [
        {"queue": "2 KB", "cc=reno": 2.0, "cc=fast": None},
        {"queue": "8 KB", "cc=reno": 1.0, "cc=fast": 4.0},
    ]
    with pytest.raises(InputError, match="both 'cc'"):
        tables.pivoted(table, "cc", "cc", "x")
    with pytest.raises(InputError, match="holds no numbers; these do: x"):
        tables.pivoted(table, "queue", "cc", "cc")


@pytest.mark.parametrize(
    ("values", "digits", "expected"),
    [([27189.0, 59429.1], 6, 1), ([118000.0], 6, 0), ([0.0], 4, 0), ([0.012], 4, 5), ([1.0], 5, 4)],
)
def test_a_column_has_one_number_of_decimals(values, digits, expected):
    assert decimals(values, digits) == expected


def test_people_see_one_unit_a_column():
    column = Column("goodput_bps", "Goodput", unit="bit/s")
    table = ResultTable((column,), {"goodput_bps": [1_234_567.0, 4_000.0, None, -1e-9]})
    (text,) = shown(table)
    assert text.unit == "Mbps"
    assert text.cells == ("1.235", "0.004", "-", "0.000")


def test_counts_are_never_rounded():
    column = Column("bytes_on_wire", "Transferred", "count", "B")
    (text,) = shown(ResultTable((column,), {"bytes_on_wire": [766_520, 1]}), digits=2)
    assert text.cells == ("766520", "1")


def test_csv_is_read_back_to_the_last_digit(lab):
    table = tables.of_run(lab)
    read = list(csv.DictReader(io.StringIO(tables.to_csv(table))))
    for row, expected in zip(read, table.rows(), strict=True):
        assert float(row["goodput_bps"]) == expected["goodput_bps"]
        assert int(row["bytes_on_wire"]) == expected["bytes_on_wire"]
        assert row["finish_s"] == ""


def test_parquet_carries_units_and_meanings(lab, tmp_path):
    file = tmp_path / "flows.parquet"
    file.write_bytes(tables.to_parquet(tables.of_run(lab)))
    read = pq.read_table(file)
    assert read.to_pylist() == tables.of_run(lab).rows()
    told = read.schema.field("goodput_bps").metadata
    assert told[b"unit"] == b"bit/s" and b"bytes_delivered" in told[b"formula"]


def test_markdown_is_a_table_whatever_is_in_it():
    table = made(flow=["a|b", "*c*\n_d_"], n=[1, -20])
    lines = tables.to_markdown(table).splitlines()
    assert lines[0].split("|")[1].strip() == "Flow"
    assert re.fullmatch(r"\| -+ \| -+: \|", lines[1])
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert markdown("a_b|c") == r"a\_b\|c"


def test_a_table_without_rows_has_its_head_in_every_format():
    columns = (
        Column("flow", "Flow", "word", usual=True),
        Column("packets", "Lost", "count", "packets", usual=True),
    )
    table = ResultTable(columns, {"flow": [], "packets": []}).usual()
    assert table.names == ["flow", "packets"]
    assert tables.to_markdown(table).splitlines() == [
        "| Flow | Lost (packets) |",
        "| ---- | -------------: |",
    ]
    assert r"Flow & Lost \\" in tables.to_latex(table)
    assert tables.to_csv(table) == "flow,packets\n"


def test_latex_prints_what_is_there():
    assert latex("50 % of A_1 & {x}") == r"50 \% of A\_1 \& \{x\}"
    assert latex("a\\b~c^2") == r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}2"
    assert latex("-1.5") == "$-1.5$" and latex("-") == "--"
    table = made(flow=["F_1"], n=[1])
    text = tables.to_latex(table)
    lines = text.splitlines()
    assert "\\begin{tabular}{@{}lr@{}}" in lines
    assert [line for line in lines if "rule" in line] == ["\\toprule", "\\midrule", "\\bottomrule"]
    assert r"F\_1 & 1 \\" in lines


def test_latex_has_units_in_a_line_of_the_header(lab):
    lines = tables.to_latex(tables.of_run(lab).select(["flow", "goodput_bps"])).splitlines()
    top = lines.index("\\toprule")
    assert lines[top + 1] == r"Flow & Goodput \\"
    assert lines[top + 2] == r" & (kbps) \\"


# The command.


@pytest.fixture
def table(ackclock, monkeypatch):
    """Return a function that runs `ackclock table` and returns status, output and errors."""
    monkeypatch.setenv("COLUMNS", "200")
    return partial(ackclock, "table")


@pytest.fixture(scope="module")
def directory(lab, tmp_path_factory):
    return lab.save(tmp_path_factory.mktemp("runs") / "lab")


def test_the_command_shows_flows_of_a_run(table, directory, lab):
    status, out, _ = table(directory)
    assert status == 0
    assert "Transferred" in out and str(lab.summary["flows"]["F2"]["bytes_on_wire"]) in out
    assert "Finish" not in out  # no flow has one


def test_the_command_simulates_a_scenario(table, small_file, small_results):
    status, out, _ = table(small_file, "--json")
    document = json.loads(out)
    assert status == 0
    assert [row["flow"] for row in document["rows"]] == ["F1", "F2"]
    told = {column["name"]: column for column in document["columns"]}
    assert told["goodput_bps"]["unit"] == "bit/s" and told["goodput_bps"]["formula"]
    expected = small_results.summary["flows"]["F1"]["goodput_bps"]
    assert document["rows"][0]["goodput_bps"] == expected
    changed = json.loads(table(small_file, "--json", "--set", "flows.F1.send=100 KB")[1])
    assert changed["rows"][0]["bytes_delivered"] == 100_000


def test_the_suffix_says_the_format(table, directory, tmp_path):
    for name, start in (("t.csv", "flow,cc"), ("t.md", "| Flow"), ("t.tex", "% needs")):
        status, out, err = table(directory, "--out", tmp_path / name)
        assert (status, out) == (0, "") and name in err
        assert (tmp_path / name).read_text().startswith(start)
    table(directory, "--out", tmp_path / "t.txt")
    assert "Transferred" in (tmp_path / "t.txt").read_text()
    table(directory, "--out", tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").num_rows == 2
    assert json.loads(table(directory, "--json", "--what", "drops")[1])["rows"]


def test_several_runs_stand_below_each_other(table, directory, small_file):
    out = table(directory, small_file, "--rows", "flow", "--across", "run", "--format", "csv")[1]
    assert out.splitlines()[0] == f"flow,run={directory},run={small_file}"
    out = table(directory, small_file, "--what", "runs", "--sort", "-seed,run", "--json")[1]
    assert {row["run"] for row in json.loads(out)["rows"]} == {str(directory), str(small_file)}


def test_rows_can_be_sorted_by_a_column_that_is_not_shown(table, directory):
    out = table(directory, "--sort", "-start_s", "--columns", "flow", "--format", "csv")[1]
    assert out.split() == ["flow", "F2", "F1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--columns", "goodput"], "did you mean 'goodput_bps'"),
        (["--rows", "flow"], "both --rows and --across"),
        (["--value", "timeouts"], "need --by or --rows"),
        (["--by", "cc", "--value", "drops"], "a column of --what links and runs"),
        (["--by", "flow", "--rows", "flow"], "choose one"),
        (["--by", "flow", "--aggregate", "average"], "aggregate"),
        (["--where", "flow"], "NAME=VALUE"),
        (["--where", "flow=F3"], "F1"),
        (["--format", "parquet"], "--out FILE.parquet"),
        (["--out", "t.doc"], "names no format"),
        (["--set", "flows.F1.send=1 B"], "was simulated before"),
        (["--json", "--format", "csv"], "exclude each other"),
    ],
)
def test_bad_wishes_are_refused_with_a_reason(table, directory, arguments, message):
    status, _, err = table(directory, *arguments)
    assert status == 2
    assert message in err


# Percentiles, notebooks


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("groups", [1, 40])
def test_quantiles_of_groups_are_those_of_sorted_values(pieces, groups):
    rng = np.random.default_rng(1)
    of, values = rng.integers(0, groups, 3000), rng.pareto(1.5, 3000)
    values[::3], values[::5] = 0.04, 0.0
    cut = list(np.array_split(np.arange(3000), pieces))
    found = quantiles(lambda: ((of[rows], values[rows]) for rows in cut), (0.5, 0.95, 1.0))
    for group, at in found.items():
        mine = values[of == group]
        assert at == list(np.quantile(mine, (0.5, 0.95, 1.0), method="inverted_cdf"))
    assert len(found) == groups
    assert quantiles(list, (0.5,)) == {}


def test_percentiles_come_from_the_records(lab):
    samples = [row["rtt_s"] for row in lab.table("rtt").to_pylist() if row["flow"] == "F2"]
    flow = tables.detailed(lab)["flows"]["F2"]
    assert flow["rtt_s"]["p95"] == sorted(samples)[-(-95 * len(samples) // 100) - 1]
    spans = [
        *(
            (row, row["time_s"] - row["entered_s"])
            for row in lab.table("transmissions").to_pylist()
        ),
        *((row, lab.summary["end_s"] - row["time_s"]) for row in lab.table("waiting").to_pylist()),
    ]
    waits = sorted(
        round(wait, 9)
        for row, wait in spans
        if (row["link"], row["direction"]) == ("bottleneck", "forward")
    )
    way = tables.detailed(lab)["links"]["bottleneck"]["forward"]["queueing_delay_s"]
    assert way["p50"] == pytest.approx(waits[-(-len(waits) // 2) - 1], abs=1e-12)
    assert (
        way["p99"]
        <= way["max"]
        == lab.summary["links"]["bottleneck"]["forward"]["queueing_delay_s"]["max"]
    )
    table = tables.of_run(lab, "flows", percentiles=True)
    assert table.values("rtt_s_p95")[1] == flow["rtt_s"]["p95"]
    assert "rtt_s_p95" not in tables.of_run(lab, "flows").names


@pytest.mark.parametrize("kind", ["droptail", "drop-head", "codel", "fq-codel"])
def test_a_mean_wait_and_its_percentiles_are_of_the_same_packets(kind):
    """Ten times what the link carries: at the end most packets still wait."""
    document = {
        "name": "tests/overloaded",
        "hosts": ["A", "B"],
        "links": [
            {"id": "L", "between": ["A", "B"], "rate": "100 kbps", "delay": "1 ms",
             "queue": {"kind": kind}},
        ],
        "flows": [
            {"id": "U", "from": "A", "to": "B",
             "udp": {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "200 B"}}},
        ],
        "stop": {"at_latest": "100 ms"},
    }  # fmt: skip
    results = run(Scenario.from_dict(document))
    end_s = results.summary["end_s"]
    begun = results.table("transmissions").to_pylist()
    waiting = results.table("waiting").to_pylist()
    waits = [row["time_s"] - row["entered_s"] for row in begun if row["direction"] == "forward"]
    waits += [end_s - row["time_s"] for row in waiting]
    assert len(waiting) > len(begun)
    found = tables.detailed(results)["links"]["L"]["forward"]["queueing_delay_s"]
    assert found["mean"] == pytest.approx(np.mean(waits), rel=1e-9)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert found[name] == pytest.approx(
            np.quantile(waits, share, method="inverted_cdf"), abs=1e-9
        )
    assert found["mean"] < found["p95"] <= found["max"]


def test_there_are_no_percentiles_without_records(lab):
    bare = run(lab.scenario.set("record", "none"))
    assert tables.detailed(bare) == bare.summary


def test_the_round_trip_of_the_empty_path(lab):
    # Delays of 20 and 50 ms each way; the segment and its ACK by both links.
    tcp = lab.model["flows"][0]["tcp"]
    bits = 8 * (tcp["segment_bytes"] + tcp["header_bytes"] + tcp["ack_bytes"])
    expected = 0.140 + bits / 5e6 + bits / 1e6
    assert lab.summary["flows"]["F1"]["path_rtt_s"] == pytest.approx(expected, rel=1e-12)
    farther = run(lab.scenario.set("links.access.delay", "30 ms").set("record", "none"))
    longer = farther.summary["flows"]["F1"]["path_rtt_s"] - expected
    assert longer == pytest.approx(0.020, rel=1e-9)


def test_a_notebook_shows_a_run_as_tables(lab):
    shown = lab._repr_html_()
    assert shown.count("<table>") == 3
    assert shown.index("bottleneck") < shown.index("access")  # the busiest first
    for text in ("tests/lab", lab.summary["digest"], "Path RTT (ms)", "F2"):
        assert text in shown
    hostile = ResultTable((Column("a", "<b>", "word"),), {"a": ["<script>"]}, "x & y")
    assert "<script>" not in tables.to_html(hostile)
    assert "x &amp; y" in tables.to_html(hostile)


def test_the_summary_lists_the_bottleneck_first_and_says_so(lab, capsys):
    links = {
        f"A{i}": {"forward": way, "backward": way}
        for i, way in enumerate([lab.summary["links"]["access"]["backward"]] * 60)
    }
    links |= {"bottleneck": lab.summary["links"]["bottleneck"]}
    summary = lab.summary | {"links": links}

    def printed(*order, summary=summary):
        print_summary(console(), summary, lab.model, None, None, *order)
        return capsys.readouterr().out

    said = printed()
    assert "bottleneck" in said
    assert "A0 " not in said
    assert "Order: by utilisation, then drops" in said
    assert "121 more, below 5 % and without drops" in said
    # Of links that look equally busy those with drops come first, of others the busier one.
    near = dict(enumerate([0.98, 0.981, 0.9811, 0.979] * 20))
    dropped = dict.fromkeys(lab.summary["links"]["access"]["backward"]["drops"], 0)
    told = lab.summary["links"]["access"]["backward"] | {"drops": dropped}
    full = {f"K{i}": {"forward": told | {"utilization": used}} for i, used in near.items()}
    full["K81"] = {"forward": told | {"utilization": 0.9809, "drops": dict.fromkeys(dropped, 1)}}
    said = printed(summary=lab.summary | {"links": full})
    assert said.index("K81 ") < said.index("K1 ")
    assert "K0 " not in said
    busy = {
        name: {way: told | {"utilization": 0.1} for way, told in link.items()}
        for name, link in links.items()
        if name != "bottleneck"
    }
    busy["bottleneck"] = links["bottleneck"]
    crowded = printed(summary=summary | {"links": busy})
    assert crowded.index("bottleneck") < crowded.index("A0 ")
    assert "82 more, without drops (choose with --links" in crowded
    in_order = printed("file")
    assert "bottleneck" not in in_order
    assert "1 of them with drops" in in_order
    rtt = 1e3 * lab.summary["flows"]["F1"]["path_rtt_s"]
    assert f" {rtt:.0f} " in next(line for line in said.splitlines() if line.startswith("F1"))
