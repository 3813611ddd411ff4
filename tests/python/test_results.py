"""Results in memory and on disk."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ackclock import InputError, Results, ResultsError, Scenario, run


def test_tables_have_units_and_categories(small_results):
    cwnd = small_results.table("cwnd")
    assert cwnd.num_rows > 10
    assert cwnd.schema.field("time_s").metadata[b"unit"] == b"s"
    assert cwnd.schema.field("time_s").metadata[b"description"]
    assert pa.types.is_dictionary(cwnd.schema.field("flow").type)
    assert set(cwnd.column("flow").to_pylist()) == {"F1", "F2"}
    assert cwnd.schema.metadata[b"producer"].startswith(b"ackclock ")
    assert cwnd.schema.metadata[b"digest"].decode() == small_results.summary["digest"]


def test_tables_agree_with_the_summary(small_results):
    rows = small_results.table("packets").to_pylist()
    for name, flow in small_results.summary["flows"].items():
        sent = [
            r for r in rows if r["flow"] == name and r["event"] == "sent" and r["kind"] == "data"
        ]
        assert len(sent) == flow["segments_sent"]
        assert sum(r["retransmission"] for r in sent) == flow["retransmissions"]
    drops = small_results.table("drops")
    counted = sum(
        sum(direction["drops"].values())
        for link in small_results.summary["links"].values()
        for direction in link.values()
    )
    assert drops.num_rows == counted


def test_rows_are_in_order_of_time_within_a_flow(small_results):
    rtt = small_results.table("rtt")
    flow = np.array(rtt.column("flow").to_pylist())
    time_s = rtt.column("time_s").to_numpy()
    for name in ("F1", "F2"):
        assert np.all(np.diff(time_s[flow == name]) >= 0)


def test_an_unknown_table(small_results):
    with pytest.raises(InputError, match="did you mean 'cwnd'"):
        small_results.table("cwnds")


def test_a_saved_run_reads_back_the_same(small_results, tmp_path):
    path = small_results.save(tmp_path / "run")
    assert {p.name for p in path.iterdir()} == {
        "scenario.yaml",
        "summary.json",
        "records",
        "log.txt",
        "manifest.json",
    }
    again = Results.load(path)
    assert again.summary == small_results.summary
    assert again.canonical == small_results.canonical
    assert again.model == small_results.model
    assert sorted(again.tables) == sorted(small_results.tables)
    for name in again.tables:
        ours, theirs = small_results.table(name), again.table(name)
        assert theirs.schema.equals(ours.schema, check_metadata=True)
        assert theirs.to_pylist() == ours.to_pylist()
    text = (path / "scenario.yaml").read_text()
    assert text.startswith("# tests/small, as run by ackclock ")
    assert "# Question: Does it run?" in text
    assert small_results.summary["digest"] in (path / "log.txt").read_text()


def test_two_runs_are_the_same_bytes_on_disk(small_results, small_scenario, tmp_path):
    from ackclock import run

    one = small_results.save(tmp_path / "one")
    two = run(small_scenario).save(tmp_path / "two")
    for file in [*(one / "records").iterdir(), one / "scenario.yaml"]:
        assert (two / file.relative_to(one)).read_bytes() == file.read_bytes()


def test_what_is_no_run_directory(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        Results.load(tmp_path / "none")
    with pytest.raises(InputError, match="not a run directory"):
        Results.load(tmp_path)


def test_a_table_that_was_not_recorded(small_scenario):
    from ackclock import run

    results = run(small_scenario.set("record.packets", "off"))
    assert results.table("cwnd").num_rows > 0
    with pytest.raises(InputError, match="was not recorded"):
        results.table("packets")


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_damaged_table_is_noticed(small_results, tmp_path, damage):
    path = small_results.save(tmp_path / "run") / "records" / "packets.parquet"
    raw = bytearray(path.read_bytes())
    if damage == "cut":
        raw = raw[: len(raw) // 2]
    else:
        raw[len(raw) // 3] ^= 0x10
    path.write_bytes(raw)
    with pytest.raises(ResultsError, match=r"packets\.parquet' is damaged"):
        Results.load(tmp_path / "run").table("packets")


def test_a_damaged_summary_is_noticed(small_results, tmp_path):
    path = small_results.save(tmp_path / "run")
    (path / "summary.json").write_text((path / "summary.json").read_text()[:100])
    with pytest.raises(ResultsError, match=r"summary\.json' is damaged"):
        Results.load(path)


def test_the_summary_has_what_was_promised(small_results, tmp_path):
    summary = json.loads((small_results.save(tmp_path / "r") / "summary.json").read_text())
    assert {
        "ackclock", "scenario", "seed", "digest", "finished", "stop_reason", "end_s", "events",
        "packet_hops", "wall_s", "flows", "links", "fairness_jain", "ties",
    } <= set(summary)  # fmt: skip
    assert {
        "cc", "from", "to", "start_s", "finish_s", "finish_ack_s", "bytes_offered",
        "bytes_delivered", "goodput_bps", "segments_sent", "retransmissions",
        "spurious_retransmissions", "timeouts", "fast_retransmits", "segments_dropped", "rtt_s",
        "cwnd_bytes", "segment_bytes", "packets_offered", "bytes_sent", "duplicates_received",
        "reordered_received", "base_rtt_s",
    } <= set(summary["flows"]["F1"])  # fmt: skip
    assert {
        "utilization", "bytes_carried", "packets_carried", "drops", "queue_packets",
        "queue_bytes", "queueing_delay_s",
    } <= set(summary["links"]["L1"]["forward"])  # fmt: skip


@pytest.fixture
def saved(small_results, tmp_path):
    """A run directory to be damaged."""
    return small_results.save(tmp_path / "run")


def _edit(path, change):
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def _without_manifest(path):
    """As an older version wrote it: nothing tells whether a file was changed."""
    (path / "manifest.json").unlink()
    return path


@pytest.mark.parametrize("text", ["{}", "[]", "null", "17", "", '{"flows": null}', "[" * 100_000])
@pytest.mark.parametrize("manifest", [True, False])
def test_a_summary_that_is_none(saved, text, manifest):
    if not manifest:
        _without_manifest(saved)
    (saved / "summary.json").write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError, match=r"summary\.json' is damaged") as error:
        Results.load(saved)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda s: s.update(flows=None), "`flows` is missing or of a wrong type"),
        (lambda s: s.update(end_s="long"), "`end_s` is missing"),
        (lambda s: s.pop("digest"), "`digest` is missing"),
        (lambda s: s["flows"].update(F1=None), "`flows.F1` is not a mapping"),
        (lambda s: s["flows"]["F1"].pop("finish_s"), "`flows.F1.finish_s` is missing"),
        (lambda s: s["flows"]["F1"].update(goodput_bps=None), "`flows.F1.goodput_bps` is null"),
        (lambda s: s["links"].update(L1={}), "`links.L1` is not a mapping"),
        (
            lambda s: s["links"]["L1"]["forward"].update(drops=None),
            "`links.L1.forward.drops` is missing",
        ),
    ],
)
def test_a_summary_with_holes(saved, change, what):
    _edit(_without_manifest(saved) / "summary.json", change)
    with pytest.raises(ResultsError, match=what):
        Results.load(saved)


def test_a_flow_that_never_started_has_no_goodput(saved):
    def never(summary):
        summary["flows"]["F1"].update(goodput_bps=None, start_s=summary["end_s"])

    _edit(_without_manifest(saved) / "summary.json", never)
    assert Results.load(saved).summary["flows"]["F1"]["goodput_bps"] is None


def test_an_edited_figure_is_not_believed(saved):
    _edit(saved / "summary.json", lambda s: s["flows"]["F1"].update(goodput_bps=1e9))
    with pytest.raises(
        ResultsError, match="has been changed since the run wrote it; 'ackclock run"
    ):
        Results.load(saved)


def test_an_edited_scenario_is_reported(saved, caplog):
    path = saved / "scenario.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("seed: 1", "seed: 7"), encoding="utf-8"
    )
    assert Results.load(saved).summary["seed"] == 1
    assert "has been changed since the run" in caplog.text


def test_the_scenario_of_another_run(saved, tmp_path):
    from ackclock import Scenario, run

    run(Scenario.load("shapes/star"), directory=tmp_path / "other")
    (saved / "scenario.yaml").write_bytes((tmp_path / "other" / "scenario.yaml").read_bytes())
    with pytest.raises(ResultsError, match=r"is not the run's: its flows are others"):
        Results.load(saved)


def test_records_of_another_run(saved, small_scenario, tmp_path):
    from ackclock import run

    other = run(small_scenario.set("flows.F1.send", "150 KB"), directory=tmp_path / "other")
    (saved / "records" / "cwnd.parquet").write_bytes(
        (tmp_path / "other" / "records" / "cwnd.parquet").read_bytes()
    )
    with pytest.raises(ResultsError, match=r"cwnd\.parquet' (is|has) "):
        Results.load(saved).table("cwnd")
    assert other.table("cwnd").num_rows > 0


@pytest.mark.parametrize(
    ("file", "content", "what"),
    [
        ("log.txt", b"\xff\xfe\x00 not text", "log.txt' is damaged: it is not UTF-8 text"),
        ("manifest.json", b"[]", "manifest.json' is damaged"),
        ("manifest.json", b'{"files": {"summary.json": 1}}', "manifest.json' is damaged"),
        ("manifest.json", b"\xff", "manifest.json' is damaged"),
    ],
)
def test_other_damaged_files(saved, file, content, what):
    (saved / file).write_bytes(content)
    with pytest.raises(ResultsError, match=what):
        Results.load(saved)


def test_a_table_that_has_gone(saved):
    results = Results.load(saved)
    (saved / "records" / "rtt.parquet").unlink()
    with pytest.raises(ResultsError, match=r"rtt\.parquet' is missing"):
        results.table("rtt")
    _without_manifest(saved)
    with pytest.raises(InputError, match="was not recorded"):
        Results.load(saved).table("rtt")


def test_commands_refuse_damaged_run_directories(saved, ackclock):
    (saved / "summary.json").write_text("{}", encoding="utf-8")
    for command in (("plot",), ("table",), ("log",), ("export", "--format", "csv")):
        done = ackclock(command[0], str(saved), *command[1:])
        assert done.code == 2, done.err
        assert "is damaged" in done.err
        assert "Traceback" not in done.err


def test_flows_that_take_turns_get_no_more_together_than_the_link_carries():
    flow = {"from": "S1", "to": "D1", "send": "1 MB"}
    turns = Scenario.from_dict(
        {
            "topology": {
                "kind": "dumbbell",
                "leaves": 1,
                "access": {"rate": "100 Mbps", "delay": "1 ms"},
                "bottleneck": {"rate": "10 Mbps", "delay": "2 ms"},
            },
            "flows": [{"id": "early", **flow}, {"id": "late", **flow, "start": "2 s"}],
        }
    )
    summary = run(turns).summary
    early, late = summary["flows"].values()
    assert early["finish_s"] < 2.0 < late["finish_s"]
    assert early["goodput_bps"] + late["goodput_bps"] > 10e6
    expected = 8 * 2_000_000 / (late["finish_s"] - early["start_s"])
    assert summary["totals"]["goodput_bps"] == pytest.approx(expected, rel=1e-12)
    assert summary["totals"]["goodput_bps"] < 10e6
