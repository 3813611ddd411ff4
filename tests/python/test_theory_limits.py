"""Where the models of the theory end: what they must not claim there, and what still holds."""

from typing import Any

import pytest

from ackclock import Scenario, run
from ackclock.theory import compare, predict
from ackclock.theory.estimate import Estimate

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
        ("reno", "500 kbps", "300 ms", "10 packets", 0.069, "The window grows for"),
        ("reno", "500 kbps", "150 ms", "4 packets", None, "shown, not judged"),
        # A round trip of more than a minute, with the buffer full.
        ("cubic", "10 kbps", "20 ms", "60 packets", 0.0, "a loss is noticed only after one"),
        ("reno", "10 kbps", "20 ms", "60 packets", 0.044, "The window grows for"),
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


@pytest.mark.slow
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


def shared(
    senders: list[dict[str, Any]], delays: list[str], start: str, rate: str = "20 Mbps"
) -> Scenario:
    """Two flows over one bottleneck of 1 ms, each with links of its own."""
    free = {"limit": "unlimited"}
    links = [{"id": "L", "between": ["R1", "R2"], "rate": rate, "delay": "1 ms", "queue": free}]
    for place, delay in enumerate(delays):
        for host, router in ((f"S{place}", "R1"), (f"D{place}", "R2")):
            own = {"id": host, "between": [host, router], "delay": delay, "queue": free}
            links.append(own | {"rate": "1 Gbps"})
    return Scenario.from_dict(
        {
            "name": "tests/shared",
            "hosts": [f"{side}{place}" for side in "SD" for place in range(len(delays))],
            "routers": ["R1", "R2"],
            "links": links,
            "flows": [
                {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", "tcp": tcp, "start": f"{i} s"}
                for i, tcp in enumerate(senders)
            ],
            "stop": {"when": "time", "at_latest": "60 s"},
            "record": RECORDED,
        }
    ).set("flows.F1.start", start)


def rate_errors(made: Scenario) -> list[tuple[float, bool | None]]:
    last = compare(predict(made.model), run(made)).periods[-1]
    return [(f.error or 0.0, f.agrees) for f in last.figures if f.quantity == "rate"]


@pytest.mark.parametrize(("far", "certain"), [("9 ms", True), ("19 ms", False)])
def test_a_latecomer_of_fast_with_another_rtt_may_find_the_empty_path(far: str, certain: bool):
    """Windows reach the queue at times that differ by 40 ms, and the queue lasts for 12 ms."""
    made = shared([{"preset": "fast"}] * 2, ["9 ms", far], "20 s")
    assert bool(predict(made.model).uncertain) is not certain
    errors = rate_errors(made)
    assert {agrees for _, agrees in errors} == {True if certain else None}
    assert (max(abs(error) for error, _ in errors) < 0.03) is certain


@pytest.mark.parametrize(
    ("windows", "sender", "words"),
    [
        ([60, 60], "selective-repeat", "windows that fill no link go in bursts"),
        ([5], "modern", "the receiver delays ACKs"),
        ([5], "selective-repeat", ""),
        ([60], "modern", ""),
    ],
)
def test_windows_that_fill_no_link_are_not_a_liquid(windows: list[int], sender: str, words: str):
    tcp = [{"sender": sender, "cc": {"kind": "fixed", "window": size}} for size in windows]
    made = shared([*tcp, *tcp][:2], ["29 ms", "24 ms"], "0 s", "20 Mbps")
    if len(windows) == 1:
        made = made.set("flows.F1.start", "100 s")
    notes = predict(made.model).notes
    assert any(words in note and "not judged" in note for note in notes) is bool(words)


def test_a_window_that_fills_no_link_is_averaged_over_many_round_trips():
    """A burst more or less counts: within 3 % after 33 round trips of 118 ms."""
    tcp = {"sender": "selective-repeat", "cc": {"kind": "fixed", "window": 20}}
    for start, count in (("4 s", 1), ("5 s", 2)):
        comparison = compare(
            predict((made := shared([tcp] * 2, ["29 ms", "29 ms"], start)).model), run(made)
        )
        assert sum(bool(period.figures) for period in comparison.periods) == count


@pytest.mark.parametrize(("buffer", "judged"), [("0.2 BDP", False), ("4 BDP", True)])
def test_flows_of_bbr_before_a_buffer_below_their_queue_are_not_judged(buffer: str, judged: bool):
    made = shared([{"cc": "bbr"}] * 2, ["19 ms", "19 ms"], "0 s", "50 Mbps")
    made = made.set("links.L.queue", {"limit": buffer})
    (averages,) = predict(made.model).averages
    assert (averages.estimates[0].accuracy is not None) is judged
    assert ("packets are lost" in predict(made.model).notes[0]) != judged


def test_of_many_flows_together_only_some_are_named():
    names = tuple(f"F{i}" for i in range(1, 15))
    whole = Estimate("rate", names, ("L", "forward"), 1.0, 2.0, None)
    assert whole.named(14) == "all 14 flows"
    assert whole.named(15) == "F1 + F2 + F3 and 11 more"
    assert whole._replace(flows=names[:4]).named(4) == "F1 + F2 + F3 + F4"
    assert whole._replace(quantity="queue").named(14) == "L"
