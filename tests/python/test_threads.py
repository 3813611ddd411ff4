"""Runs in several threads: results, warnings, bad numbers."""

import json
import logging
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.bench import document, measure
from ackclock.cli.app import application
from ackclock.errors import InputError

_FABRIC = document("clos", "4x2x4", 0.002)


def _scenario(**changes: object) -> ackclock.Scenario:
    return ackclock.Scenario.from_dict({**_FABRIC, **changes})


def _summary(scenario: ackclock.Scenario, threads: int) -> dict[str, object]:
    summary = ackclock.run(scenario, threads=threads).summary
    return {key: value for key, value in summary.items() if key != "wall_s"}


def test_threads_give_the_summary_of_one(caplog: pytest.LogCaptureFixture) -> None:
    expected = json.dumps(_summary(_scenario(), 1))
    for threads in (2, 3):
        assert json.dumps(_summary(_scenario(), threads)) == expected
    assert not caplog.records


def test_what_is_not_divided_runs_in_one_thread_and_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scenario = _scenario(ties="first-come")
    expected = _summary(scenario, 1)
    with caplog.at_level(logging.WARNING, "ackclock"):
        assert _summary(scenario, 2) == expected
    assert [record.message for record in caplog.records] == [
        "one thread runs the network instead of 2: with `ties: first-come` simultaneous events "
        "come in an order of the whole network"
    ]


@pytest.mark.slow
def test_a_plain_scenario_is_divided_with_all_its_records(tmp_path: Path, caplog) -> None:
    # Records and the end are those that a scenario has by default: all tables, and the last flow.
    flows = [
        {"id": f"F{i}", "from": f"H{i + 1}", "to": f"H{(i + 5) % 8 + 1}", "send": "300 kB"}
        for i in range(8)
    ]
    access = {"rate": "1 Gbps", "delay": "2 us"}
    topology = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "access": access}
    scenario = ackclock.Scenario.from_dict(
        {"topology": topology, "flows": flows, "routing": "ecmp"}
    )
    one, two = (
        ackclock.run(scenario, directory=tmp_path / str(threads), threads=threads)
        for threads in (1, 2)
    )
    assert not caplog.records
    assert two.summary["stop_reason"] == "flows-complete"
    assert two.summary["digest"] == one.summary["digest"]
    names = sorted(path.name for path in (tmp_path / "1" / "records").iterdir())
    assert len(names) > 8
    for name in names:
        tables = [pq.read_table(tmp_path / folder / "records" / name) for folder in ("1", "2")]
        # As text, in which a number that is none equals itself.
        first, second = (repr(table.to_pydict()) for table in tables)
        assert first == second, name


def test_a_network_of_few_parts_takes_fewer_threads(caplog: pytest.LogCaptureFixture) -> None:
    scenario = ackclock.Scenario.from_dict(document("chain", "1", 0.001))
    with caplog.at_level(logging.WARNING, "ackclock"):
        ackclock.run(scenario, threads=99)
    assert "threads run the network instead of 99" in caplog.text


@pytest.mark.parametrize("threads", [0, -1, 257, True])
def test_numbers_that_are_none_are_refused(threads: int) -> None:
    with pytest.raises(InputError, match="needed is a whole number from 1 to 256"):
        ackclock.run(_scenario(), threads=threads)


@pytest.mark.slow
def test_the_command_line_takes_threads(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fabric.json").write_text(json.dumps(_FABRIC))
    made = {}
    for threads in ("1", "2"):
        arguments = ["run", "fabric.json", "--no-plots", "--threads", threads, "--out", threads]
        outcome = CliRunner().invoke(application(), arguments)
        assert outcome.exit_code == 0, outcome.output
        made[threads] = json.loads((tmp_path / threads / "summary.json").read_text())
        made[threads].pop("wall_s", None)
    assert made["1"] == made["2"]
    assert (
        CliRunner().invoke(application(), ["run", "fabric.json", "--threads", "0"]).exit_code == 2
    )


def test_bench_says_how_many_threads_ran() -> None:
    one, two = measure(_FABRIC), measure(_FABRIC, 2)
    assert (one["threads"], two["threads"]) == (1, 2)
    assert one["digest"] == two["digest"]
