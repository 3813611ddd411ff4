"""The Bene labs: scenarios, single runs to the digit, many runs by quantiles, rules by name."""

import json
import math

import numpy as np
import pytest
from ruamel.yaml import YAML

from ackclock import Scenario, reproduce, run
from ackclock.metrics import select
from ackclock.reproduce import bene_congestion, bene_reliability, report, sampling
from ackclock.reproduce.report import Verdict

EXPERIMENTS = {experiment.name: experiment for experiment in reproduce.EXPERIMENTS}
CONGESTION = EXPERIMENTS["bene-congestion"].figures
RELIABILITY = EXPERIMENTS["bene-reliability"].figures


def few(name, overrides, count):
    """A part of the runs: sampling errors are worked out from the number there is."""
    few = min(count, 300 if "pdf" in name else 4000)
    return bene_reliability.replicate(name, overrides, few, workers=1)


@pytest.fixture(scope="module")
def reliability():
    return bene_reliability.compare("bene-reliability", RELIABILITY, replicator=few)


@pytest.fixture(scope="module")
def congestion():
    return bene_congestion.compare("bene-congestion", CONGESTION)


def case_of(report, start):
    return next(case for case in report.cases if case.title.startswith(start))


# Reliability


@pytest.mark.slow
def test_the_window_table_agrees_to_every_printed_digit(reliability):
    rows = list(case_of(reliability, "Table 3").rows)
    assert len(rows) == 30
    assert {row.verdict for row in rows} == {Verdict.AGREES}
    assert {row.tolerance.absolute for row in rows if row.unit == "bit/s"} == {0.005}


@pytest.mark.parametrize("window", [1, 2, 5, 10, 15, 20])
def test_the_window_table_has_a_closed_form(window):
    changes = [("flows.F1.tcp.cc.window", window), ("flows.F1.tcp.initial_window", window)]
    summary = run(Scenario.load("bene/reliability-windows", changes)).summary
    acked = 514 // window * 0.0208 + 514 % window * 0.0008 + 0.020416
    assert summary["flows"]["F1"]["finish_ack_s"] == pytest.approx(acked, abs=1e-9)
    assert summary["flows"]["F1"]["finish_s"] == pytest.approx(acked - 0.01, abs=1e-9)
    delay = summary["links"]["L1"]["forward"]["queueing_delay_s"]["mean"]
    assert delay == pytest.approx(0.0008 * window * (window - 1) / 2 / 515, abs=1e-9)


@pytest.mark.slow
def test_the_trace_of_the_timer_is_the_printed_one(reliability):
    rows = list(case_of(reliability, "Snippet 1").rows)
    assert len(rows) == 19
    assert {row.verdict for row in rows} == {Verdict.AGREES}


@pytest.mark.slow
def test_the_scripted_losses_agree_to_the_microsecond(reliability):
    case = case_of(reliability, "Scripted losses")
    assert len(case.groups) == 6
    assert {row.verdict for row in case.rows} == {Verdict.AGREES}
    assert all(row.tolerance.absolute <= 1e-6 for row in case.rows)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["Table 1: test.txt, quantiles", "Table 2: the PDF, quantiles"])
def test_quantiles_and_unfinished_shares_of_the_timer_as_handed_in(reliability, table):
    group = case_of(reliability, table).groups[0]
    assert group.title.startswith("Timer as handed in")
    assert len(group.rows) == 24
    assert [row.what for row in group.rows if row.verdict is not Verdict.AGREES] == []
    shares = [row.ours for row in group.rows if "unfinished" in row.what]
    assert min(shares) > 10


@pytest.mark.slow
@pytest.mark.parametrize("table", ["Table 1: test.txt, quantiles", "Table 2: the PDF, quantiles"])
def test_a_mended_timer_leaves_nothing_unfinished(reliability, table):
    group = case_of(reliability, table).groups[1]
    assert group.title.startswith("Timer mended")
    assert {row.ours for row in group.rows if "unfinished" in row.what} == {0.0}
    assert {row.verdict for row in group.rows} == {Verdict.AGREES}


@pytest.mark.slow
def test_a_mean_that_does_not_exist_is_no_figure(reliability):
    for table in ("Table 1: test.txt, means", "Table 2: the PDF, means"):
        case = case_of(reliability, table)
        without = [row for row in case.rows if row.verdict is Verdict.NOT_REPRODUCIBLE]
        assert {row.what for row in without} == {"dynamic timer, loss 50 %"}
        assert all("0.415" in row.reason and row.spread is None for row in without)
        assert "powers of ten" in case.about


@pytest.mark.slow
def test_means_beyond_the_spread_of_the_mended_timer_have_their_reason(reliability):
    for table in ("Table 1: test.txt, means", "Table 2: the PDF, means"):
        groups = case_of(reliability, table).groups
        (mended,) = [group for group in groups if group.title.startswith("Timer mended")]
        outside = [row for row in mended.rows if row.verdict is Verdict.OUTSIDE]
        assert outside
        assert all("16 March" in row.reason for row in outside)


@pytest.mark.slow
def test_the_tail_has_the_index_of_the_closed_form(reliability):
    """Far below 1, where means begin to exist."""
    (row,) = case_of(reliability, "Why there is no mean").rows
    assert row.original[0] == pytest.approx(math.log(4 / 3) / math.log(2), abs=5e-4)
    assert row.ours == pytest.approx(row.original[0], abs=0.06)  # a part of the runs


@pytest.mark.slow
def test_averages_without_a_mean_differ_by_powers_of_ten():
    half = [("links.L1.loss.p", 0.5)]
    runs = bene_reliability.replicate("bene/reliability-text-dynamic", half, 10000, workers=1)
    spread = sampling.averages(runs["end_s"], 100)
    assert len(spread.values) == 100
    assert spread.high > 100 * spread.low
    assert spread.middle > 10 * np.median(runs["end_s"])


@pytest.mark.slow
def test_the_reliability_report_can_be_printed_and_written(reliability):
    text = reproduce.markdown(reliability)
    assert "| 384270.68 |" in text
    assert "10.711616" in text
    assert json.loads(json.dumps(reliability.to_json(), allow_nan=False))["counts"]["agrees"] > 100


# Congestion


@pytest.mark.slow
def test_all_rules_in_all_experiments_agree(congestion):
    """Finish times within 1 %, counts exactly."""
    rows = list(congestion.rows)
    assert len(rows) > 240
    assert [(c.title, row.what, row.figure) for c, row in congestion.failures] == []
    times = [row for row in rows if row.what.endswith("is complete")]
    assert len(times) == 5 * (1 + 7 * 2 + 5)
    assert {row.tolerance.relative for row in times} == {0.01}
    drops = [row for row in rows if row.what == "drops"]
    assert len(drops) == 45
    assert all(row.difference == 0 for row in drops)


@pytest.mark.slow
def test_one_flow_loses_nothing(congestion):
    rows = {row.what: row.ours for row in case_of(congestion, "One flow").groups[0].rows}
    assert rows["F1 is complete"] == pytest.approx(0.8892, abs=1e-9)
    assert (rows["drops"], rows["most packets waiting"]) == (0, 82)


@pytest.mark.slow
def test_five_flows_agree_with_what_the_report_reads_at_1_s(congestion):
    rows = [row for row in case_of(congestion, "Five flows").rows if row.source]
    assert [row.paper for row in rows] == pytest.approx([1000 / 3, 6, 2, 1, 9])
    assert {row.verdict for row in rows} == {Verdict.AGREES}


@pytest.mark.slow
def test_the_rules_are_named_in_the_report(congestion):
    titles = {group.title for case in congestion.cases for group in case.groups}
    with CONGESTION.open(encoding="utf-8") as file:
        variants = YAML(typ="safe").load(file)["variants"]
    assert len(titles) == len(variants) == 5
    assert "literal: the profile" in titles
    assert "partial: flows.*.tcp.framing=fill" in titles


def test_what_is_delivered_is_what_the_receiver_acknowledged():
    results = run(Scenario.load("bene/one-flow"))
    finish = results.summary["flows"]["F1"]["finish_s"]
    assert bene_congestion.delivered(results, "F1", 0.0) == 0
    assert bene_congestion.delivered(results, "F1", finish) == 1_000_000
    assert bene_congestion.delivered(results, "F1", finish - 1e-6) == 999_000


# Forced drops, the timer, the statistics


def test_forced_drops_hit_the_first_transmission_only():
    results = run(Scenario.load("bene/forced-drops"))
    (lost,) = select(results, "drops", ("seq",), flow="F1")
    assert list(lost) == [14000, 26000, 28000]
    assert results.summary["flows"]["F1"]["fast_retransmits"] == 1
    assert results.summary["flows"]["F1"]["finish_s"] == pytest.approx(7.32816, abs=1e-9)


def test_without_loss_both_timers_take_four_round_trips():
    for timer in ("fixed", "dynamic"):
        changes = [("links.L1.loss.p", 0)]
        summary = run(Scenario.load(f"bene/reliability-text-{timer}", changes)).summary
        assert summary["flows"]["F1"]["finish_ack_s"] == pytest.approx(0.0832, abs=1e-9)


def test_a_sampling_error_covers_what_it_should():
    """Medians of two samples of one distribution: beyond three errors in few cases of many."""
    random = np.random.default_rng(460)
    outside = 0
    for _ in range(400):
        ours, others = random.exponential(size=1000), random.exponential(size=500)
        figure = float(np.median(others))
        error = sampling.quantile_error(ours, 0.5, 500, figure)
        outside += abs(figure - np.median(ours)) > error.absolute
    assert outside <= 8


def test_a_tail_index_is_the_slope_of_the_tail():
    pareto = (1 - np.arange(100_000) / 100_000) ** (-1 / 0.415)
    assert sampling.tail_index(pareto, 10.0, 1e6) == pytest.approx(0.415, abs=0.002)
    assert sampling.tail_index(np.ones(5), 0.5, 2.0) == math.inf


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [("384270.68", 384270.68, 0.005), ("0.06990", 0.0699, 5e-6), ("1.4E+8", 1.4e8, 5e6)],
)
def test_a_printed_number_leaves_half_a_digit_open(text, value, half):
    assert report.value(text) == value
    assert report.tolerance(text).absolute == pytest.approx(half)
