"""The figures of the ns-2 and ns-3 labs, beside those of the simulators themselves."""

from collections import Counter

import pytest

from ackclock import reproduce
from ackclock.reproduce.report import Verdict


@pytest.fixture(scope="module")
def ns3():
    (report,) = reproduce.run(["ns3-lab"])
    return report


@pytest.mark.slow
def test_all_figures_of_the_ns_3_lab_agree(ns3):
    assert Counter(row.verdict for row in ns3.rows) == {Verdict.AGREES: 304}
    assert ns3.exit_code == 0


@pytest.mark.slow
def test_printed_figures_have_no_room_but_their_last_digit(ns3):
    rows = list(ns3.cases[0].rows)
    assert len(rows) == 10
    assert {row.tolerance.absolute for row in rows} == {0.5, 0.05}
    assert all(row.source == "tables" and row.paper is not None for row in rows)


@pytest.mark.slow
def test_counts_have_no_tolerance(ns3):
    counted = [row for case in ns3.cases[2:] for row in case.rows]
    assert len(counted) == 96 + 2 * 96
    assert {(row.tolerance.relative, row.tolerance.absolute) for row in counted} == {(0, 0)}


@pytest.mark.slow
def test_the_ns_2_lab_agrees_with_and_without_pauses_of_its_sources():
    (report,) = reproduce.run(["ns2-lab"])
    assert Counter(row.verdict for row in report.rows) == {Verdict.AGREES: 36}
    lost, transferred = (
        [row.ours for row in report.cases[0].groups[group].rows] for group in (0, 1)
    )
    assert (lost, transferred) == ([10, 11, 1], [766520, 759240, 940000])


@pytest.mark.slow
def test_a_wrong_rule_is_noticed():
    """Without the lab's missing guard, the figures of lossy cells must not agree."""
    from ackclock.reproduce import ns3_lab
    from ackclock.reproduce.comparison import run_scenario

    figures = {e.name: e for e in reproduce.EXPERIMENTS}["ns3-lab"].figures
    guarded = ("flows.*.tcp.recovery.guard", "recover")
    report = ns3_lab.compare(
        "ns3-lab", figures, runner=lambda name, over: run_scenario(name, [*over, guarded])
    )
    assert report.exit_code == 1
    assert Verdict.DIFFERS in {row.verdict for row in report.cases[0].rows}
