"""A few of the random documents of `make fuzz`, and that its checks can fail."""

import pytest
from fuzz import WrongError, _possible, outcome, run
from random_documents import Maker, mend

from ackclock import Scenario


@pytest.mark.parametrize("cases", [40, pytest.param(100, marks=pytest.mark.slow)])
def test_random_documents_are_refused_or_simulated(cases: int):
    found = []
    counts = run(range(1, cases + 1), lambda seed, wrong: found.append((seed, wrong)))
    assert found == []
    assert sum(counts.values()) == cases
    assert counts["flows complete"] > cases / 10
    assert counts["flows complete"] + counts["time up"] > cases / 2
    assert counts["refused"] > cases / 20


def test_cases_come_again():
    assert Maker(7).document() == Maker(7).document()


def test_mending_takes_out_what_is_refused(tmp_path):
    document = {
        "hosts": ["A", "B"],
        "links": [
            {"id": "L", "between": ["A", "B"], "rate": "1 Mbps", "delay": "1 s", "queue": "x"}
        ],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB", "colour": 1}],
    }
    mend(document)
    assert Scenario.from_dict(document).document["flows"] == [
        {"id": "F", "from": "A", "to": "B", "send": "1 MB"}
    ]


SUMMARY = {
    "packets_created": 3, "packets_delivered": 2, "packets_dropped": {"loss": 1},
    "flows": {}, "links": {"L": {"forward": {"utilization": 1.0}}},
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"packets_delivered": 3},
        {"links": {"L": {"forward": {"utilization": 1.1}}}},
        {"links": {"L": {"forward": {"queue_packets": {"mean": 2.0, "max": 1}}}}},
        {"links": {"L": {"forward": {"queueing_delay_s": {"mean": -1.0, "max": 1}}}}},
        {"links": {"L": {"forward": {"utilization": float("nan")}}}},
    ],
)
def test_impossible_figures_are_found(wrong):
    _possible(SUMMARY, {}, {"flows": []})
    with pytest.raises(WrongError):
        _possible(SUMMARY | wrong, {}, {"flows": []})


def test_windows_below_a_segment_are_found():
    model = {"flows": [{"id": "F", "tcp": {"segment_bytes": 1000}}]}
    _possible(SUMMARY, {"cwnd": {"flow": [0], "cwnd_bytes": [1000.0]}}, model)
    with pytest.raises(WrongError, match="a window of 999"):
        _possible(SUMMARY, {"cwnd": {"flow": [0], "cwnd_bytes": [999.0]}}, model)


def test_what_the_program_did_not_expect_is_found(monkeypatch):
    monkeypatch.setattr("fuzz.to_yaml", lambda document: 1 / 0)
    seed = next(seed for seed in range(1, 50) if outcome(Maker(seed).document(), seed)[1])
    assert "ZeroDivisionError" in outcome(Maker(seed).document(), seed)[1]
