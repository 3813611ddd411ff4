"""The Caltech paper's figures, in the simulator. The full comparison is `ackclock reproduce`."""

import dataclasses

import pytest

from ackclock import reproduce
from ackclock.reproduce import __main__ as command
from ackclock.reproduce import comparison
from ackclock.reproduce.paper import load
from ackclock.reproduce.report import Verdict

PAPER = load(reproduce.EXPERIMENTS[0].figures)


def compared(number):
    """Compare one case in its own order of events only."""
    case = dataclasses.replace(PAPER.cases[number], orders="")
    return comparison.compare("caltech", dataclasses.replace(PAPER, cases=(case,)))


@pytest.fixture(scope="module", params=range(4), ids=["0-fast", "0-reno", "1-fast", "2-fast"])
def report(request):
    return compared(request.param)


@pytest.mark.slow
def test_completion_times_agree_within_1_percent(report):
    rows = [row for row in report.rows if row.tolerance.name == "end"]
    assert rows
    assert {row.verdict for row in rows} == {Verdict.AGREES}
    assert all(row.tolerance.relative == 0.01 for row in rows)


def test_losses_agree_exactly(report):
    rows = [row for row in report.rows if "losses" in row.what]
    assert rows
    assert all(row.difference == 0 for row in rows)


def test_steady_figures_agree_within_2_percent_unless_the_order_of_events_matters(report):
    rows = [row for row in report.rows if row.tolerance.name == "steady" and not row.reason]
    assert len(rows) > 5
    assert {row.verdict for row in rows} == {Verdict.AGREES}


def test_what_does_not_depend_on_the_order_is_exact():
    """Golden values of a port of the paper's program, the same in every order it was tried in."""
    fast, reno = ({row.what: row.ours for row in compared(n).rows} for n in (0, 1))
    assert fast["F1 is complete"] == pytest.approx(18.20665039, abs=1e-6)
    assert fast["window of F1"] == pytest.approx(75.141, abs=1e-3)
    assert fast["RTT of F1"] == pytest.approx(62.255859, abs=1e-4)
    assert reno["F1 is complete"] == pytest.approx(20.921426, abs=1e-6)
    assert reno["losses"] == 32


def test_the_result_does_not_depend_on_how_many_run_at_a_time(monkeypatch):
    many = compared(1).to_json()
    monkeypatch.setattr(comparison.os, "cpu_count", lambda: 1)
    assert compared(1).to_json() == many


def test_the_command_prints_markdown_under_its_own_name(monkeypatch, capsys):
    case = dataclasses.replace(PAPER.cases[0], orders="")
    monkeypatch.setattr(reproduce, "load", lambda _: dataclasses.replace(PAPER, cases=(case,)))
    assert command.main(["caltech"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {PAPER.title}\n")
    assert "python -m ackclock.reproduce caltech > docs/reproductions/caltech.md" in printed
    assert "| F1 is complete, s | 18.2 | 18.21 | 18.21 |" in printed


def test_the_command_refuses_what_it_does_not_know(capsys):
    assert command.main([]) == 2
    assert command.main(["--help"]) == 2
    assert "usage" in capsys.readouterr().err
    assert command.main(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
