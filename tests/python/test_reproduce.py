"""Comparison with published figures: verdicts, measures, data, rendering. No simulator."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from ruamel.yaml import YAML

from ackclock import reproduce
from ackclock.errors import InputError
from ackclock.library import find
from ackclock.reproduce.comparison import ORDERS, compare
from ackclock.reproduce.measures import MEASURES, Place, Run, measure
from ackclock.reproduce.paper import load
from ackclock.reproduce.report import Row, Spread, Tolerance, Verdict

CALTECH = load(reproduce.EXPERIMENTS[0].figures)


def row(**changes):
    given = {
        "what": "queue",
        "unit": "packets",
        "source": "Figure 1",
        "read": "axis",
        "paper": 100.0,
        "predicted": None,
        "original": (),
        "ours": 100.0,
        "tolerance": Tolerance("steady", relative=0.02),
    }
    return Row(**{**given, **changes})


def test_a_row_agrees_within_its_tolerance_and_not_beyond():
    assert row(ours=102.0).verdict is Verdict.AGREES
    assert row(ours=98.0).verdict is Verdict.AGREES
    assert row(ours=102.1).verdict is Verdict.DIFFERS
    assert row(ours=math.nan).verdict is Verdict.DIFFERS
    assert row(ours=math.inf).verdict is Verdict.DIFFERS
    assert row(ours=math.inf, paper=math.inf).verdict is Verdict.AGREES


def test_an_absolute_tolerance_holds_beside_a_relative_one():
    packet = Tolerance("packet", relative=0.02, absolute=1)
    assert packet.holds(4.0, 3.0)
    assert packet.holds(102.0, 100.0)
    assert not packet.holds(4.1, 3.0)
    assert packet.text() == "2 % or 1"
    assert Tolerance("count").text() == "none"
    assert not Tolerance("count").holds(1, 0)


def test_a_reason_alone_excuses_nothing():
    reason = "known"
    assert row(ours=110.0, reason=reason).verdict is Verdict.DIFFERS
    assert row(ours=110.0, reason=reason, original=(80.0,)).verdict is Verdict.DIFFERS
    assert row(ours=110.0, reason=reason, original=(80.0, 111.0)).verdict is Verdict.EXPLAINED
    assert row(ours=110.0, original=(111.0,)).verdict is Verdict.DIFFERS
    inside, beside = Spread((90.0, 110.0)), Spread((105.0, 110.0))
    assert row(ours=110.0, reason=reason, spread=inside).verdict is Verdict.EXPLAINED
    assert row(ours=110.0, reason=reason, spread=beside).verdict is Verdict.DIFFERS


def test_without_a_published_figure_the_original_program_is_the_measure():
    assert row(paper=None, original=(50.0,), ours=50.5).verdict is Verdict.AGREES
    assert row(paper=None, original=(50.0,), ours=52.0, reason="known").verdict is Verdict.DIFFERS
    assert row(paper=None, original=(50.0,)).against == "original"


def test_a_figure_of_one_order_is_compared_with_the_spread_only():
    def verdict(*values):
        return row(ours=None, by_spread=True, spread=Spread(values)).verdict

    assert verdict(90.0, 95.0, 120.0) is Verdict.INSIDE
    assert verdict(90.0, math.inf) is Verdict.INSIDE
    assert verdict(101.0, 102.0) is Verdict.OUTSIDE
    alone = row(ours=None, by_spread=True, paper=None, original=(1.0,), spread=Spread((1.0,)))
    assert alone.verdict is Verdict.NOT_REPRODUCIBLE


# The paper's data


def test_the_caltech_figures_name_links_and_flows_that_exist():
    for case in CALTECH.cases:
        with find(case.scenario).open(encoding="utf-8") as file:
            document = YAML(typ="safe").load(file)
        names = {""} | {entry["id"] for part in ("links", "flows") for entry in document[part]}
        assert {figure.place.of for figure in case.figures} <= names


def test_the_caltech_figures_cover_all_result_figures_and_the_printed_comparison():
    sources = {figure.source for case in CALTECH.cases for figure in case.figures}
    wanted = {f"Figure {n}" for n in (4, 5, 8, 9, 12, 13)} | {"section 3.4.2"}
    assert wanted <= sources
    printed = [f for c in CALTECH.cases for f in c.figures if f.source == "section 3.4.2"]
    assert len(printed) == 19  # every "Actual" of the section
    assert all(figure.predicted is not None for figure in printed)


def test_the_caltech_tolerances_are_the_agreed_ones():
    for case in CALTECH.cases:
        for figure in case.figures:
            tolerance = figure.tolerance
            if figure.measure == "end" and case.orders != "instead":
                assert (tolerance.relative, tolerance.absolute) == (0.01, 0)
            if "mean" in figure.measure and tolerance.name != "zero":
                assert (tolerance.relative, tolerance.absolute) == (0.02, 0)


SMALL = """
title: T
source: S
notes: [N]
tolerances: {end: {relative: 0.01}}
reasons: {}
cases:
  - title: C
    scenario: some/case
    about: A
    groups:
      - {title: G, tolerance: end, rows: [{what: end, measure: end, of: F1, paper: 10}]}
"""


def write(tmp_path, text):
    path = tmp_path / "figures.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: T", "titel: T"),
        ("what: end,", "what: end, unit: s,"),
        ("measure: end", "measure: beginning"),
        (", paper: 10", ""),
        ("reasons: {}", "reasons: {because: it is so}"),
        ("about: A", "about: A\n    orders: sometimes"),
    ],
)
def test_a_fault_in_a_file_of_figures_is_an_error(old, new, tmp_path):
    load(write(tmp_path, SMALL))
    assert old in SMALL
    with pytest.raises((ValueError, KeyError)):
        load(write(tmp_path, SMALL.replace(old, new)))


# Measures, on a run made by hand


class Made:
    """A run of one flow F1 over one link L1, with few and simple records."""

    def __init__(self):
        self.summary = {
            "end_s": 10.0,
            "flows": {
                "F1": {
                    "finish_ack_s": 9.0,
                    "segment_bytes": 1024,
                    "retransmissions": 3,
                    "segments_dropped": 2,
                    "packets_on_wire": 103,
                    "bytes_on_wire": 109000,
                    "timeouts": 1,
                },
                "F2": {"finish_ack_s": None, "segment_bytes": 1024, "retransmissions": 0},
            },
            "links": {
                # Of links of both kinds: the queue of the one, and the figures of the other.
                "L1": {
                    "forward": {"utilization": 0.75, "queue_packets": {"mean": 2.5, "max": 7}},
                    "both": {},
                },
                "L2": {"forward": {"utilization": 0.0, "queue_packets": {"mean": 0.0, "max": 0}}},
            },
        }
        step = np.arange(0, 10, 0.1) + 0.05
        self._tables = {
            "queue": self._made(
                time_s=[1.0, 2.0, 3.0, 4.0],
                link=["L1"] * 4,
                direction=["both"] * 4,
                queue_data_packets=[2, 8, 4, 0],
            ),
            "drops": self._made(time_s=[1.21, 1.25, 4.38, 6.58], link=["L1", "L1", "L1", "L2"]),
            "transmissions": self._made(
                time_s=np.tile(step, 2),
                link=["L1"] * 200,
                kind=["data"] * 100 + ["ack"] * 100,
                bytes=[1024] * 100 + [64] * 100,
            ),
            "packets": self._made(
                time_s=[*step, 9.97, 9.98, 9.99],
                flow=["F1"] * 103,
                event=["sent"] * 100 + ["received"] * 3,
                kind=["data"] * 100 + ["ack"] * 3,
                seq=[1024 * i for i in range(100)] + [2048, 51200, 51200],
                bytes=[1024] * 50 + [2048] * 50 + [40] * 3,
            ),
            "cwnd": self._made(
                time_s=[1.0, 2.0, 5.0],
                flow=["F1"] * 3,
                cwnd_bytes=[1024.0, 10240.0, 4096.0],
            ),
            "rtt": self._made(time_s=[1.0, 2.0, 3.0], flow=["F1"] * 3, rtt_s=[0.02, 0.06, 0.04]),
            "routes": self._made(time_s=[0.1, 5.15, 5.16], link=["L1", "L2", "L2"]),
            "events": self._made(
                time_s=[0.0, 2.0, 2.1, 2.2, 5.0],
                flow=["F1"] * 5,
                event=["start", "fast-retransmit", "fast-retransmit", "timeout", "fast-retransmit"],
            ),
        }

    @staticmethod
    def _made(**columns):
        made = {}
        for name, values in columns.items():
            array = pa.array(np.asarray(values)) if not isinstance(values[0], str) else None
            made[name] = pa.array(values).dictionary_encode() if array is None else array
        return pa.table(made)

    def table(self, name):
        return self._tables[name]


PACKET = 1024 * 8 / 0.1 / 2**20


@pytest.mark.parametrize(
    ("name", "place", "expected"),
    [
        ("end", Place("F1"), 9.0),
        ("end", Place(), math.inf),
        ("unfinished", Place(), 1),
        ("retransmissions", Place("F1"), 3),
        ("losses", Place(), 4),
        ("losses", Place("L1"), 3),
        ("losses", Place("L1", 1.2, 1.3), 2),
        ("loss_window", Place("L1", 2, 9, nth=1), 4.4),
        ("loss_window", Place("L1", 2, 9, nth=2), math.inf),
        ("loss_period", Place("", 2, 9), 2.2),
        ("queue_mean", Place("L1", 1.0, 4.0), 14 / 3),
        ("queue_middle", Place("L1", 1.0, 3.0), 5.0),
        ("queue_min", Place("L1", 1.5, 3.5), 2),
        ("queue_max", Place("L1"), 8),
        ("queue_peak_time", Place("L1"), 2.0),
        ("link_rate", Place("L1", 0, 10), PACKET * 17 / 16),
        ("first_data", Place("L1", 5.0, 9.0), 5.05),
        ("first_data", Place("L2", 5.0, 9.0), math.inf),
        ("route_switch", Place("L2", 5.0, 9.0), 5.15),
        ("route_switch", Place("L1", 5.0, 9.0), math.inf),
        ("send_rate", Place("F1", 0, 10), 1.5 * PACKET),
        ("send_rate_min", Place("F1", 4, 6), PACKET),
        ("send_rate_max", Place("F1", 4, 6), 2 * PACKET),
        ("window_mean", Place("F1", 1.0, 3.0), 5.5),
        ("window_at", Place("F1", at_s=2.5), 10),
        ("window_min", Place("F1", 2.0, 6.0), 4),
        ("window_max", Place("F1"), 10),
        ("rtt_mean", Place("F1", 0, 10), 40),
        ("rtt_min", Place("F1"), 20),
        ("rtt_max", Place("F1", 2.5), 40),
        ("reductions", Place("F1"), 2),
        ("reductions", Place("F2"), 0),
        ("lost", Place("F1"), 2),
        ("transferred", Place("F1"), 109000),
        ("packets", Place("F1"), 103),
        ("acknowledged", Place("F1"), 50),
        ("timeouts", Place("F1"), 1),
        ("utilization", Place("L1"), 0.75),
        ("waiting_mean", Place("L1"), 2.5),
        ("waiting_max", Place("L1"), 7),
    ],
)
def test_a_measure(name, place, expected):
    assert measure(name, Run(Made()), place) == pytest.approx(expected)


def test_every_measure_is_tested_and_explained():
    marks = test_a_measure.pytestmark[0].args[1]
    assert {name for name, _, _ in marks} == set(MEASURES)
    assert all(entry.meaning for entry in MEASURES.values())


# The comparison


def test_every_case_runs_as_often_as_there_are_orders(tmp_path):
    text = SMALL.replace("about: A", "about: A\n    orders: beside\n    overrides: {seed: 7}")
    asked, told = [], []

    def runner(name, overrides):
        asked.append((name, dict(overrides)))
        return Made()

    def progress(*state):
        told.append(state)

    report = compare("x", load(write(tmp_path, text)), progress, runner)
    assert [name for name, _ in asked] == ["some/case"] * (1 + len(ORDERS))
    assert all(overrides["seed"] == 7 for _, overrides in asked)
    ties = [overrides.get("ties") for _, overrides in asked]
    assert ties.count(None) == 1
    assert all(order in ties for order in ORDERS)
    assert told[-1] == ("C", len(asked), len(asked))
    (only,) = report.rows
    assert only.ours == 9.0
    assert only.spread == Spread((9.0,) * len(ORDERS))
    assert only.verdict is Verdict.DIFFERS


def test_only_what_is_measured_is_recorded(tmp_path):
    def runner(_name, overrides):
        (record,) = [value for key, value in overrides if key == "record"]
        assert record == {"kind": "none"}
        return Made()

    compare("x", load(write(tmp_path, SMALL)), None, runner)


def test_what_must_hold_in_every_order_is_judged_by_the_worst(tmp_path):
    text = SMALL.replace("about: A", "about: A\n    orders: instead")
    text = text.replace("paper: 10", "paper: 9, every_order: true")

    def runner(_name, overrides):
        run = Made()
        if dict(overrides)["ties"] == ORDERS[5]:
            run.summary["flows"]["F1"]["finish_ack_s"] = 8.0
        return run

    (only,) = compare("x", load(write(tmp_path, text)), None, runner).rows
    assert only.ours == 8.0
    assert only.verdict is Verdict.DIFFERS
    (good,) = compare("x", load(write(tmp_path, text)), None, lambda *_: Made()).rows
    assert good.verdict is Verdict.AGREES


@pytest.fixture
def report(tmp_path):
    rows = (
        "{what: worse, measure: end, of: F1, paper: 10}, "
        "{what: known, measure: end, of: F1, paper: 8, predicted: 7, original: 9, "
        "reason: because}, "
        "{what: good, measure: end, of: F1, paper: 9}, "
        "{what: last, measure: end, original: never}"
    )
    text = SMALL.replace("{what: end, measure: end, of: F1, paper: 10}", rows)
    text = text.replace("reasons: {}", "reasons: {because: it is so}")
    return compare("x", load(write(tmp_path, text)), None, lambda *_: Made())


def test_the_exit_status_is_1_when_a_row_differs_without_reason(report):
    assert [row.what for _, row in report.failures] == ["worse"]
    assert report.counts() == {"agrees": 2, "explained": 1, "differs": 1}
    assert not report.agrees
    assert reproduce.exit_code([report]) == 1
    assert reproduce.exit_code([]) == 0


def test_the_json_holds_every_number_and_verdict(report):
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["agrees"] is False
    rows = {row["what"]: row for row in document["cases"][0]["groups"][0]["rows"]}
    assert rows["known"]["paper"] == 8
    assert rows["known"]["predicted"] == 7
    assert rows["known"]["original"] == [9]
    assert rows["known"]["ours"] == 9
    assert rows["known"]["difference"] == 1
    assert rows["known"]["tolerance"] == {"name": "end", "relative": 0.01, "absolute": 0.0}
    assert rows["known"]["reason"] == "it is so"
    assert rows["last"]["ours"] == "never"
    assert rows["last"]["compared_with"] == "original"


def test_the_terminal_and_the_markdown_show_every_row_and_the_reasons(report):
    console = Console(width=110)
    with console.capture() as captured:
        reproduce.render(report, console)
    for shown in (captured.get(), reproduce.markdown(report)):
        for expected in ("worse", "known", "good", "last", "never", "(1) it is so", "+12.5 %"):
            assert expected in shown
        assert "ackclock run some/case" in shown
    assert "| known, s | 7 | 8 | 9 | 9 | +12.5 % | 1 % | explained (1) |" in reproduce.markdown(
        report
    )


def test_a_narrow_terminal_loses_columns_but_no_verdict(report):
    console = Console(width=60)
    with console.capture() as captured:
        reproduce.render(report, console)
    lines = captured.get().splitlines()
    assert max(len(line) for line in lines) <= 60
    assert "tolerance" not in captured.get()
    assert any("known" in line and "explained (1)" in line for line in lines)


def test_experiments_are_found_by_name():
    known = ["caltech", "bene-reliability", "bene-congestion", "ns3-lab", "ns2-lab", "linux"]
    assert list(reproduce.available()) == known
    with pytest.raises(InputError, match="caltech"):
        reproduce.run(["caltec"])
