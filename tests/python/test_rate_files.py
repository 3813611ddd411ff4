"""Rates of links from files."""

import json
from pathlib import Path

import pytest

import ackclock
from ackclock.errors import ScenarioError


def scenario(folder: Path, rate: str) -> Path:
    path = folder / "s.yaml"
    path.write_text(
        "hosts: [A, B]\n"
        f"links: [{{id: L, between: [A, B], rate: {rate}, delay: 10 ms}}]\n"
        "flows: [{id: F, from: A, to: B, send: 200 kB, tcp: {sender: classic}}]\n",
        encoding="utf-8",
    )
    return path


def test_a_table_is_read_with_units_in_its_cells_or_its_head(tmp_path):
    (tmp_path / "a.csv").write_text("# a link that slows down\n0 s, 10 Mbps\n0.05 s, 2 Mbps\n")
    (tmp_path / "b.csv").write_text("time_ms,rate_kbps\n0,10000\n50,2000\n")
    (tmp_path / "c.csv").write_bytes(b"time,rate\r\n0 s,10 Mbps\r\n0.05 s,2 Mbps\r\n")
    (tmp_path / "d.csv").write_text('\ufeff"Time_s","rate_Mbps"\n"0","10"\n0.05,2\n', "utf-8")
    loaded = [
        ackclock.Scenario.load(scenario(tmp_path, f"{{kind: table, file: {name}.csv}}"))
        for name in "abcd"
    ]
    assert all(one.canonical == loaded[0].canonical for one in loaded)
    steps = [{"at": "0 s", "rate": "10 Mbps"}, {"at": "50 ms", "rate": "2 Mbps"}]
    assert loaded[0].canonical["links"][0]["rate"]["steps"] == steps
    inline = "{kind: table, steps: [[0 s, 10 Mbps], [50 ms, 2 Mbps]]}"
    same = ackclock.Scenario.load(scenario(tmp_path, inline))
    digests = {ackclock.run(one).summary["digest"] for one in (*loaded, same)}
    assert len(digests) == 1


def test_a_trace_is_in_the_resolved_scenario_and_runs_without_its_file(tmp_path):
    trace = tmp_path / "up.trace"
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 200, 2)))
    first = ackclock.Scenario.load(scenario(tmp_path, "{kind: mahimahi, file: up.trace}"))
    digest = ackclock.run(first).summary["digest"]
    trace.unlink()
    again = ackclock.Scenario.from_dict(json.loads(json.dumps(first.canonical)))
    assert ackclock.run(again).summary["digest"] == digest
    # 100 opportunities of 1504 bytes in 199 ms.
    assert first.model["links"][0]["forward"]["rate_bps"] == round(100 * 1504 * 8 / 0.199)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (None, "table", "there is no such file"),
        ("1\nx\n", "mahimahi", "line 2: `x` is not a whole number"),
        ("3\n# \n", "mahimahi", "line 2: `#` is not a whole number"),
        ("3\n\n2\n", "mahimahi", "line 3: 2 is below the one before it"),
        ("0\n", "mahimahi", "a trace lasts longer than 0 ms"),
        ("", "table", "the table is empty"),
        ("0 s\n", "table", "line 1 has 1 values, not a time and a rate"),
        ("time_s,speed\n0,1\n", "table", "line 2: `1` below `time_s,speed` is not a rate with"),
        ("0,1 Mbps\n", "table", "line 1: `0` is not a time with its unit"),
        ("time,rate\n\n0 s,1 Mbps\n1 s,-2 Mbps\n", "table", "line 4: `-2 Mbps` below `time,rate`"),
        ("time,rate\n0 s,1 Mbps\n0 s,2 Mbps\n", "table", "line 3: 0 s is not after the time bef"),
        ("1 s, 1 Mbps\n", "table", "line 1: the first time is 1 s, not 0 s"),
    ],
)
def test_bad_files_are_errors_with_the_place_of_their_name(tmp_path, content, kind, message):
    if content is not None:
        (tmp_path / "f").write_text(content)
    with pytest.raises(ScenarioError) as caught:
        ackclock.Scenario.load(scenario(tmp_path, f"{{kind: {kind}, file: f}}"))
    (problem,) = caught.value.problems
    assert problem.message.startswith(message)
    assert (problem.path, problem.line) == ("links.L.rate.file", 2)
    assert problem.allowed
