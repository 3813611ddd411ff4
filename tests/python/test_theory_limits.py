"""Where the models of the theory end: what they must not claim there, and what still holds."""

from typing import Any

import pytest

from ackclock import Scenario, run
from ackclock.theory import compare, predict

RECORDED = {"kind": "none", "cwnd": "changes", "queue": "changes", "packets": "changes"}


def scenario(tcp: dict[str, Any], at: str = "60 s", **link: Any) -> Scenario:
    """One flow over one link."""
    path = {"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "20 ms", **link}
    return Scenario.from_dict(
        {
            "name": "tests/limits",
            "hosts": ["A", "B"],
            "links": [path],
            "flows": [{"id": "F", "from": "A", "to": "B", "tcp": tcp}],
            "stop": {"when": "time", "at_latest": at},
            "record": RECORDED,
        }
    )


def verdicts(made: Scenario) -> dict[str, bool | None]:
    found = compare(predict(made.model), run(made))
    judged = {f.quantity: f.agrees for f in found.figures}
    return judged | {f.estimate.quantity: f.agrees for c in found.averages for f in c.figures}


def test_fast_on_a_long_path_settles_by_steps_of_gamma_alpha():
    """From 10 packets to more than 500 it adds 10 with each round trip of 0.3 s."""
    made = scenario({"cc": "fast"}, "120 s", rate="20 Mbps", delay="150 ms")
    (period,) = predict(made.model).periods
    assert period.settling_s > 0.3 * 500 / 10
    assert compare(predict(made.model), run(made)).agrees


def test_vegas_that_leaves_slow_start_late_is_given_time_to_come_back():
    made = scenario({"cc": "vegas"}, rate="50 Mbps", queue={"limit": "600 packets"})
    assert predict(made.model).periods[0].settling_s > 10
    assert verdicts(made)["path-queue"] is True


@pytest.mark.parametrize("cc", ["vegas", "fast", {"kind": "fixed", "window": 60}])
def test_a_receivers_window_below_the_equilibrium_leaves_none(cc: Any):
    made = scenario({"cc": cc, "receive_window": "20 packets"}, delay="50 ms")
    predicted = predict(made.model)
    assert not predicted.periods
    assert "the window that the receiver of F offers is smaller" in predicted.notes[0]
    wide = scenario({"cc": cc, "receive_window": "2 MB"}, delay="50 ms")
    assert predict(wide.model).periods


@pytest.mark.parametrize("receiver", ["linux", {"kind": "delayed", "count": 2}])
def test_a_window_of_one_packet_and_delayed_acks_are_left_to_the_receivers_timer(receiver: Any):
    """The packet waits 40 ms or more for its ACK, so that window / RTT is far from its rate."""
    tcp = {"cc": {"kind": "fixed", "window": 1}, "receiver": receiver}
    assert not predict(scenario(tcp).model).periods
    assert verdicts(scenario(tcp | {"receiver": "immediate"}, "10 s"))["rate"] is True


@pytest.mark.parametrize("cc", ["fast", "vegas"])
def test_where_the_buffer_is_too_short_for_the_equilibrium_nothing_is_judged(cc: str):
    made = scenario({"cc": cc}, queue={"limit": "1 packets"}, delay="5 ms")
    assert set(verdicts(made).values()) == {None}


@pytest.mark.parametrize(
    "also",
    [
        {"jitter": {"kind": "uniform", "spread": "2 ms"}},
        {"corruption": 0.05},
        {"duplication": 0.05},
        {"backward": {"loss": {"kind": "bernoulli", "p": 0.2}}},
    ],
)
def test_random_losses_beside_another_disturbance_have_no_model(also: dict[str, Any]):
    lossy: dict[str, Any] = {"loss": {"kind": "bernoulli", "p": 0.01}, "rate": "100 Mbps"}
    assert predict(scenario({}, **lossy).model).averages
    assert not predict(scenario({}, **lossy, **also).model).averages


def test_lost_acks_are_not_lost_data():
    loss = {"kind": "bernoulli", "p": 0.01, "applies_to": "acks"}
    assert not predict(scenario({}, loss=loss).model).averages


@pytest.mark.parametrize("cc", ["cubic", "reno", "bbr"])
def test_where_acks_cannot_come_back_in_time_no_average_is_claimed(cc: str):
    made = scenario({"cc": cc}, backward={"rate": "100 kbps"})
    assert not predict(made.model).averages
    assert predict(scenario({"cc": cc}, backward={"rate": "400 kbps"}).model).averages


@pytest.mark.parametrize("cc", ["cubic", "reno"])
def test_before_a_buffer_shorter_than_a_burst_nothing_is_predicted(cc: str):
    made = scenario({"cc": cc}, queue={"limit": "2 packets"})
    prediction = predict(made.model)
    assert not prediction.averages
    assert "packets are lost before the path is full" in prediction.notes[0]


@pytest.mark.parametrize(
    ("cc", "rate", "delay", "buffer", "accuracy", "words"),
    [
        # Of a cycle of fourteen round trips one is recovery, which the cycle has not.
        ("reno", "500 kbps", "300 ms", "10 packets", 0.069, "A cycle takes"),
        ("reno", "500 kbps", "150 ms", "4 packets", None, "shown, not judged"),
        # A round trip of more than a minute, with the buffer full.
        ("cubic", "10 kbps", "20 ms", "60 packets", 0.0, "a loss is noticed only after one"),
        ("reno", "10 kbps", "20 ms", "60 packets", 0.044, "A cycle takes"),
    ],
)
def test_a_sawtooth_of_few_round_trips_is_less_accurate_or_none(
    cc: str, rate: str, delay: str, buffer: str, accuracy: float | None, words: str
):
    made = scenario({"cc": cc}, rate=rate, delay=delay, queue={"limit": buffer})
    prediction = predict(made.model)
    assert words in prediction.notes[0]
    claimed = [one.accuracy for known in prediction.averages for one in known.estimates]
    assert bool(claimed) == (accuracy != 0.0)
    assert all(one == (accuracy and pytest.approx(accuracy, rel=0.1)) for one in claimed)


def test_bbr_with_round_trips_of_a_second_pays_two_of_them_for_each_probe():
    """One until the path is empty, and one with four packets in flight, every 12 s."""
    made = scenario({"cc": "bbr"}, "180 s", delay="500 ms", queue={"limit": "2000 packets"})
    (averages,) = predict(made.model).averages
    share = averages.estimates[0].high / (10e6 * 1448 / 1500)
    assert share == pytest.approx(10 / 12, rel=0.01)
    assert verdicts(made)["rate"] is True


def test_bbr_on_a_short_path_keeps_up_to_three_bursts_in_the_queue():
    """24 packets of 1500 B at 100 Mbps; a quarter of the path is 10."""
    made = scenario({"cc": "bbr"}, rate="100 Mbps", delay="2.4 ms", queue={"limit": "200 packets"})
    assert verdicts(made) == {"rate": True, "queue": True}


def test_bbr_empties_the_path_every_ten_seconds_though_the_least_round_trip_comes_again():
    """Linux since 5.11: only a sample below the least one puts the probe off (`tcp_bbr.c`)."""
    made = scenario({"cc": "bbr"}, delay="50 ms", queue={"limit": "200 packets"})
    cwnd = run(made).table("cwnd").to_pandas()
    held = cwnd[(cwnd.cwnd_bytes == 4 * 1448) & (cwnd.time_s > 5)].time_s
    starts = held[held.diff().fillna(10) > 5]
    assert len(starts) == 5
    assert starts.diff().dropna().between(10.2, 10.7).all()
