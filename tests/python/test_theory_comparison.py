"""Comparisons with runs that are made by hand to be as predicted, or not."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from theory_models import case_1, case_2

import ackclock
from ackclock import Scenario
from ackclock.cli.theory_tables import print_comparison, print_prediction
from ackclock.results import Results
from ackclock.theory import compare, predict


def words(value, count, names):
    return pa.DictionaryArray.from_arrays(
        pa.array(np.full(count, names.index(value)), pa.int32()), pa.array(names)
    )


def made_run(
    prediction, *, rate=1.0, queue=1.0, late=0.0, tables=("packets", "queue", "cwnd", "rtt")
):
    """A run that does exactly what is predicted, times the factors; ends come `late` seconds later.

    In the transient of each period nothing at all arrives, so that looking at it shows.
    """
    flows = list(prediction.flows)
    links = list(dict.fromkeys(link for p in prediction.periods for link, _ in p.queues))
    arrivals = {name: [] for name in flows}
    levels = {link: [(0.0, 0.0)] for link in links}
    windows = {name: [(0.0, 0.0)] for name in flows}
    samples = {name: [] for name in flows}
    end_s = max(p.end_s for p in prediction.periods) + late
    for period in prediction.periods:
        start = period.start_s + (late if period.start_s not in (0.5, 10.0, 20.0) else 0.0)
        end = period.end_s + (late if period.end_s not in (10.0, 20.0) else 0.0)
        settled = start + period.settling_s
        for name, state in period.flows.items():
            step = prediction.flows[name].segment_bytes * 8 / (state.rate_bps * rate)
            arrivals[name].append(np.arange(settled, end, step))
            windows[name].append((settled, state.window_packets * 1024))
            samples[name].append((settled + 0.1, state.rtt_s))
        for (link, _), state in period.queues.items():
            levels[link] += [(start, 500.0), (settled, state.data_packets * queue)]

    def joined(parts, columns):
        return {
            column: pa.concat_arrays(
                [a.combine_chunks() if isinstance(a, pa.ChunkedArray) else a for a in arrays]
            )
            for column, arrays in zip(columns, zip(*parts, strict=True), strict=True)
        }

    made = {
        "packets": joined(
            [
                (
                    pa.array(np.concatenate(arrivals[name])),
                    words(name, sum(map(len, arrivals[name])), flows),
                    words("received", sum(map(len, arrivals[name])), ["sent", "received"]),
                    words("data", sum(map(len, arrivals[name])), ["data", "ack"]),
                    pa.array(np.arange(sum(map(len, arrivals[name])))),
                )
                for name in flows
            ],
            ("time_s", "flow", "event", "kind", "seq"),
        ),
        "queue": joined(
            [
                (
                    pa.array([time for time, _ in sorted(levels[link])]),
                    words(link, len(levels[link]), links),
                    words("both", len(levels[link]), ["both"]),
                    pa.array([level for _, level in sorted(levels[link])]),
                )
                for link in links
            ],
            ("time_s", "link", "direction", "queue_data_packets"),
        ),
        "cwnd": joined(
            [
                (
                    pa.array([time for time, _ in windows[name]]),
                    words(name, len(windows[name]), flows),
                    pa.array([size for _, size in windows[name]]),
                )
                for name in flows
            ],
            ("time_s", "flow", "cwnd_bytes"),
        ),
        "rtt": joined(
            [
                (
                    pa.array([time for time, _ in samples[name]]),
                    words(name, len(samples[name]), flows),
                    pa.array([rtt for _, rtt in samples[name]]),
                )
                for name in flows
            ],
            ("time_s", "flow", "rtt_s"),
        ),
    }
    summary = {
        "scenario": prediction.scenario,
        "seed": 1,
        "finished": True,
        "end_s": end_s,
        "flows": {
            name: {
                "start_s": facts.start_s,
                "finish_s": facts.finish_s + late,
                "finish_ack_s": facts.finish_ack_s + late,
            }
            for name, facts in prediction.flows.items()
        },
    }
    return Results(summary, {}, {name: pa.table(made[name]) for name in tables})


@pytest.fixture(scope="module")
def prediction():
    return predict(case_2())


def figures(comparison, quantity):
    return [figure for figure in comparison.figures if figure.quantity == quantity]


@pytest.mark.slow
def test_a_run_as_predicted_agrees(prediction):
    comparison = compare(prediction, made_run(prediction))
    assert comparison.agrees
    assert len(comparison.periods) == 5
    counts = {name: len(figures(comparison, name)) for name in ("rate", "path-queue", "finish")}
    assert counts == {"rate": 9, "path-queue": 9, "finish": 3}
    for figure in comparison.figures:
        assert figure.measured is not None, figure
        assert figure.measured == pytest.approx(figure.predicted, rel=1e-3, abs=1e-9), figure


@pytest.mark.parametrize(
    ("change", "quantity"),
    [({"rate": 1.04}, "rate"), ({"queue": 0.93}, "path-queue"), ({"late": 0.8}, "finish")],
)
def test_each_tolerance_is_asked(prediction, change, quantity):
    comparison = compare(prediction, made_run(prediction, **change))
    assert comparison.agrees is False
    wrong = {figure.quantity for figure in comparison.figures if figure.agrees is False}
    assert wrong == {quantity}
    assert all(figure.agrees is False for figure in figures(comparison, quantity))


@pytest.mark.parametrize("change", [{"rate": 1.02}, {"queue": 0.97}, {"late": 0.6}])
def test_errors_within_the_tolerance_agree(prediction, change):
    assert compare(prediction, made_run(prediction, **change)).agrees


def test_periods_are_those_of_the_run(prediction):
    comparison = compare(prediction, made_run(prediction, late=2.0))
    last = comparison.periods[-1]
    assert last.start_s == pytest.approx(prediction.flows["F1"].finish_s + 2.0)
    assert last.predicted is prediction.periods[-1]
    ((start, end),) = last.spans
    assert start == pytest.approx(last.start_s + last.predicted.settling_s)
    assert end == pytest.approx(last.end_s)  # the end of the run


def test_the_last_rtt_of_a_flow_that_leaves_is_left_out(prediction):
    third = compare(prediction, made_run(prediction)).periods[2]
    ((_, end),) = third.spans
    assert third.end_s - end == pytest.approx(third.predicted.flows["F2"].rtt_s)


def test_what_was_not_recorded_is_not_judged(prediction):
    comparison = compare(prediction, made_run(prediction, tables=("packets",)))
    assert {figure.quantity for figure in comparison.figures if figure.agrees is not None} == {
        "rate",
        "finish",
    }
    assert any("queue, cwnd, rtt" in note for note in comparison.notes)


def test_flows_together_that_were_not_predicted_together(prediction):
    run = made_run(prediction)
    run.summary["flows"]["F1"]["finish_s"] = 15.0
    comparison = compare(prediction, run)
    assert any("not predicted that F2, F3" in note for note in comparison.notes)


def test_documents_and_tables(prediction):
    comparison = compare(prediction, made_run(prediction))
    document = json.loads(json.dumps(comparison.to_json(), allow_nan=False))
    assert document["agrees"] is True
    assert len(document["periods"]) == 5
    predicted = json.loads(json.dumps(prediction.to_json(), allow_nan=False))
    assert 20 < predicted["periods"][0]["links"]["L1"]["both"]["data_packets"] < 25
    assert predicted["flows"]["F1"]["empty_rtt_s"] == 0.103818359375

    text = io.StringIO()
    console = Console(file=text, width=110)
    print_prediction(console, prediction)
    print_comparison(console, comparison)
    shown = text.getvalue()
    assert " 103.8 ms " in shown
    assert "Mibps" in shown
    assert "agree in 21 of 21 figures" in shown


@pytest.mark.slow
def test_a_prediction_without_periods_can_be_shown():
    prediction = predict(case_2({"kind": "reno"}))
    run = made_run(predict(case_2()))
    comparison = compare(prediction, run)
    assert comparison.agrees is None
    text = io.StringIO()
    print_comparison(Console(file=text, width=110), comparison)
    print_prediction(Console(file=text, width=110), prediction)
    assert "no theory" in text.getvalue()


def test_routes_that_alternate_cut_the_steady_parts():
    prediction = predict(case_1())
    run = made_run(prediction)
    run._tables["routes"] = pa.table(
        {
            "time_s": [0.0, 5.15, 10.15],
            "previous_link": pa.DictionaryArray.from_arrays(
                pa.array([None, 0, 0], pa.int32()), pa.array(["L1"])
            ),
        }
    )
    (period,) = compare(prediction, run).periods
    settling = period.predicted.settling_s
    assert [start for start, _ in period.spans] == pytest.approx(
        [0.5 + settling, 5.15 + settling, 10.15 + settling]
    )


@pytest.mark.parametrize("name", ["bene/one-flow", "bene/competing-rtt", "teach/sawtooth"])
def test_the_empty_path_is_that_of_the_run(name):
    """There and back, also where ACKs have no length, as in Bene."""
    scenario = Scenario.load(name)
    flows = ackclock.run(scenario.set("stop.at_latest", "1 s")).summary["flows"]
    predicted = predict(scenario.model).flows
    assert {flow: facts.empty_rtt_s for flow, facts in predicted.items()} == pytest.approx(
        {flow: entry["path_rtt_s"] for flow, entry in flows.items()}
    )
