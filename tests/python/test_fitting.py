"""The summary of a run on terminals of all widths: whole figures, and what is left out."""

import io
import json
import shlex
from typing import Any

import pytest
from rich.console import Console
from small import document

import ackclock
from ackclock.cli.summary import print_summary


@pytest.fixture(scope="module")
def results():
    return ackclock.run(ackclock.Scenario.load("teach/sawtooth"))


def printed(results, width, summary=None):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    print_summary(console, summary or results.summary, {}, None, None)
    return out.getvalue()


@pytest.mark.parametrize("width", [200, 80, 72, 60, 50])
def test_no_figure_is_torn_apart(results, width):
    text = printed(results, width)
    row = next(line.split() for line in text.splitlines() if line.startswith("reno "))
    assert row[1:4] == ["Reno", "9.603", "Mbps"], text
    assert row[-1] == "117"
    assert all(len(line) <= width for line in text.splitlines())


def test_eighty_columns_show_the_round_trips_and_name_what_they_do_not_show(results):
    text = printed(results, 80)
    assert "60.1/95.5/122" in text
    assert "Left out to fit the terminal: Finish (empty)." in text
    assert "Finish" not in text.split("Left out", maxsplit=1)[0]
    wide = printed(results, 200)
    assert "Finish" in wide
    assert "Left out" not in wide
    assert "Left out to fit the terminal: " in printed(results, 60)


def test_a_narrow_terminal_keeps_name_goodput_and_drops(results):
    text = printed(results, 40)
    head = next(line for line in text.splitlines() if line.startswith("Flow"))
    assert "Goodput" in head
    assert "Drops" in head


def test_what_a_summary_proposes_next_can_be_done(ackclock, tmp_path):
    mixed: dict[str, Any] = document() | {"stop": {"when": "time", "at_latest": "100 ms"}}
    mixed["flows"][0] = {
        "id": "F1", "from": "A", "to": "B", "udp": {"source": {"kind": "cbr", "rate": "1 Mbps"}},
    }  # fmt: skip
    (tmp_path / "mixed.json").write_text(json.dumps(mixed))
    done = ackclock("run", "mixed.json", "--no-plots", "--no-chart")
    assert "the same in every run" in done.out  # it is, though flows are unfinished
    proposed = [line for line in done.out.splitlines() if line.startswith("  ackclock run ")]
    assert proposed == ["  ackclock run mixed.json --set flows.F2.tcp.cc=reno"]
    assert ackclock(*shlex.split(proposed[0])[1:], "--no-plots").code == 0
    mixed["flows"].pop()
    (tmp_path / "mixed.json").write_text(json.dumps(mixed))
    done = ackclock("run", "mixed.json", "--no-plots", "--out", "udp")
    assert "tcp.cc=" not in done.out


@pytest.mark.parametrize("width", [200, 110, 80, 60])
def test_a_result_table_is_divided_between_columns_not_within_figures(
    ackclock, tmp_path, monkeypatch, width
):
    """What does not fit stands in a block below, which begins with the name of each row."""
    (tmp_path / "small.json").write_text(json.dumps(document()))
    assert ackclock("run", "small.json", "--no-plots", "--out", "small").code == 0
    plain = ackclock("table", "small", "--format", "csv").out.splitlines()
    monkeypatch.setenv("COLUMNS", str(width))
    done = ackclock("table", "small")
    assert all(len(line) <= width for line in done.out.splitlines())
    blocks = sum(line.startswith("Flow ") for line in done.out.splitlines())
    assert [line.split()[0] for line in done.out.splitlines() if line[:2] in ("F1", "F2")] == [
        "F1",
        "F2",
    ] * blocks
    assert (blocks == 1) == (width == 200)
    words = done.out.split()
    assert {"Delivered", "Transferred", "Timeouts"} <= set(words)
    delivered = plain[0].split(",").index("bytes_delivered")
    assert plain[1].split(",")[delivered] in words
