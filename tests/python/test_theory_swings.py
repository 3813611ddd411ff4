"""Flows without an equilibrium: averages of models, next to runs and to published figures."""

import math
import random

import numpy as np
import pytest

from ackclock import Scenario, run
from ackclock.theory import compare, predict
from ackclock.theory.errors import TheoryError
from ackclock.theory.long_run import averages_of, bbr_beside_loss, random_loss, sawtooth, sharing
from ackclock.theory.long_run.shared import shared_by
from ackclock.theory.network import Network

RECORDED = {"kind": "none", "cwnd": "changes", "queue": "changes", "packets": "changes"}


def document(tcp=None, *, buffer="50 packets", flows=1, at="60 s", **link):
    forward = {
        "id": "L",
        "between": ["A", "B"],
        "rate": "10 Mbps",
        "delay": "20 ms",
        "queue": {"limit": buffer},
        **link,
    }
    senders = tcp if isinstance(tcp, list) else [tcp] * flows
    named = [
        {"id": f"F{i}", "from": "A", "to": "B", "start": f"{137 * i} ms"}
        for i in range(len(senders))
    ]
    for flow, sender in zip(named, senders, strict=True):
        if sender is not None:
            flow["tcp"] = sender
    return {
        "name": "tests/swings",
        "hosts": ["A", "B"],
        "links": [forward],
        "flows": named,
        "stop": {"when": "time", "at_latest": at},
        "record": RECORDED,
    }


def scenario(*args, **more):
    return Scenario.from_dict(document(*args, **more))


def shared(made):
    model = made.model
    return shared_by(model, Network(model), range(len(model["flows"])))


def averages(made):
    model = made.model
    found, remark = averages_of(model, Network(model), range(len(model["flows"])))
    return found, remark


def verdicts(made):
    (known,) = compare(predict(made.model), run(made)).averages
    return {
        (figure.estimate.quantity, figure.estimate.subject): figure.agrees
        for figure in known.figures
    }


@pytest.mark.parametrize(
    ("tcp", "buffer", "left"),
    [
        (None, "50 packets", 0.7),
        ({}, "20 packets", 0.7),
        ({"cc": "reno"}, "50 packets", 0.5),
        ({"cc": {"kind": "cubic", "decrease": 0.5}}, "75 kB", 0.5),
        ({"cc": "reno"}, "1.5 BDP", 0.5),
        ({"cc": "reno"}, "60 ms", 0.5),
    ],
)
def test_the_window_swings_between_the_predicted_ones(tcp, buffer, left):
    """After slow start, greatest and least window within two packets, averages within 3 %."""
    made = scenario(tcp, buffer=buffer)
    cycle = sawtooth.cycle_of(shared(made))
    assert cycle is not None
    assert cycle.low == pytest.approx(left * cycle.high)
    results = run(made)
    cwnd = results.table("cwnd")
    window = cwnd["cwnd_bytes"].to_numpy() / 1448
    late = window[cwnd["time_s"].to_numpy() > 20.0]
    assert late.max() == pytest.approx(cycle.high, abs=2.0)
    assert late.min() == pytest.approx(cycle.low, abs=2.0)
    waiting = results.table("queue")["queue_data_packets"].to_numpy()
    assert waiting.max() <= np.ceil(shared(made).buffer)
    assert verdicts(made) == {("rate", "F0"): True, ("window", "F0"): True, ("queue", "L"): True}


@pytest.mark.parametrize("recovery", ["reno", "newreno"])
@pytest.mark.parametrize(("receiver", "growth"), [("immediate", 1.0), ("delayed", 0.5)])
def test_a_textbook_sender_has_the_same_sawtooth(recovery, receiver, growth):
    """With an ACK for every second packet its window grows half as fast (RFC 5681)."""
    tcp = {"preset": recovery, "receiver": receiver}
    made = scenario(tcp, buffer="40 packets", at="120 s").set("record.drops", "changes")
    assert shared(made).members[0].growth == growth
    results = run(made)
    (known,) = compare(predict(made.model), results).averages
    assert {figure.agrees for figure in known.figures} == {True}
    cycle, (begin, end) = sawtooth.cycle_of(shared(made)), known.span
    lost = results.table("drops")["time_s"].to_numpy()
    length = (end - begin) / ((lost > begin) & (lost <= end)).sum()
    # The model leaves out the round trips in which the loss is noticed and repaired.
    assert 2 <= (length - cycle.length_s) / (cycle.high / shared(made).rate) <= 3


def test_a_sawtooth_of_reno_has_its_closed_form():
    """Mean queue 7/9 (P + B) - P; and the use of a link with a small buffer."""
    deep = shared(scenario({"cc": "reno"}, buffer="100 packets"))
    cycle, path = sawtooth.cycle_of(deep), deep.path_packets
    assert cycle.queue == pytest.approx(7 / 9 * (path + 100) - path, rel=1e-3)
    flat = shared(scenario({"cc": "reno"}, buffer="10 packets"))
    cycle, path = sawtooth.cycle_of(flat), flat.path_packets
    high, low = path + 10, (path + 10) / 2
    sent = ((path**2 - low**2) + (high**2 - path**2)) / 2
    took = path * (path - low) + (high**2 - path**2) / 2
    assert cycle.utilization == pytest.approx(sent / took, rel=1e-3)


def test_response_functions_have_the_published_values():
    """RFC 9438 tables 1 and 2; Padhye and others, with RTT 0.1 s, a timer of 1 s."""
    windows = [random_loss.cubic(p, rtt, 0.4, 0.7) for p, rtt in [(1e-4, 0.1), (1e-5, 0.1)]]
    assert windows == [pytest.approx(187, abs=1), pytest.approx(1054, abs=1)]
    assert random_loss.cubic(1e-5, 0.01, 0.4, 0.7) < random_loss.mathis(1e-5)
    assert random_loss.mathis(1e-5) == pytest.approx(387, abs=1)
    packets = [random_loss.pftk(p, 0.1, 1.0) / 0.1 for p in (0.001, 0.01, 0.1)]
    assert packets == pytest.approx([379, 99.9, 9.8], rel=5e-3)


def test_the_share_of_bbr_has_the_published_values():
    """Ware and others' model, 10 Mbps and 40 ms: X = 4, 16, 64 with one flow, 8 with eight."""
    for flows, buffer, share in [(1, 4, 0.629), (1, 16, 0.491), (1, 64, 0.367), (8, 8, 0.644)]:
        made = shared(
            scenario([{"cc": "bbr"}] * flows + [None], buffer=f"{buffer} BDP", delay="19.3 ms")
        )
        assert bbr_beside_loss.ware(made) == pytest.approx(share, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["cubic", "reno"])
@pytest.mark.parametrize("buffer", [4, 16])
def test_the_share_of_bbr_beside_others_is_in_the_range(other, buffer):
    made = scenario([{"cc": "bbr"}, {"cc": other}], buffer=f"{buffer} BDP", at="160 s")
    assert verdicts(made) == {("rate", "F0"): True, ("rate", "F1"): True}


@pytest.mark.slow
@pytest.mark.parametrize("flows", [1, 2, 4])
def test_bbr_alone_keeps_the_queue_that_is_predicted(flows):
    found = verdicts(scenario({"cc": "bbr"}, flows=flows, buffer="4 BDP", at="100 s"))
    assert found["queue", "L"] is True
    assert found["rate", " + ".join(f"F{number}" for number in range(flows))] is True


def test_flows_that_are_alike_share_the_link():
    found, _ = averages(scenario(flows=2))
    assert [e.low for e in found.estimates if len(e.flows) == 1] == pytest.approx([4.82667e6] * 2)
    assert verdicts(scenario(flows=2))["rate", "F0 + F1"] is True


def test_unequal_flows_have_the_ratios_of_the_two_ends():
    """Reno's rate goes with RTT^-2 where all lose together, with RTT^-1 else."""
    made = shared(Scenario.load("teach/rtt-unfairness-reno"))
    together, queue, _ = sharing.synchronised(made)
    apart = sharing.independent(made, queue)
    near, far = (member.rtt_s + queue / made.rate for member in made.members)
    assert together[0] / together[1] == pytest.approx((far / near) ** 2, rel=1e-3)
    assert apart[0] / apart[1] == pytest.approx(far / near, rel=1e-3)
    assert sum(apart) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("rate", "delay"), [("10 Mbps", "20 ms"), ("20 Mbps", "20 ms"), ("50 Mbps", "40 ms")]
)
def test_bbr3_alone_keeps_the_rate_and_the_queue_that_are_predicted(rate, delay):
    """Probes come by round trips on the first path, by the clock on the last."""
    found = verdicts(scenario({"cc": "bbr3"}, buffer="4 BDP", at="60 s", rate=rate, delay=delay))
    assert found == {("rate", "F0"): True, ("queue", "L"): True}


def test_no_model_mixes_versions_of_bbr():
    for tcp in ([{"cc": "bbr"}, {"cc": "bbr3"}], [{"cc": "bbr"}, {"cc": "bbr3"}, None]):
        with pytest.raises(TheoryError, match="no model of averages is for these flows together"):
            averages(scenario(tcp, buffer="2 BDP"))


@pytest.mark.slow
def test_independent_losses_leave_a_larger_window_than_evenly_spaced_ones():
    """A fluid window, cut where a Poisson process of rate p in packets has a point; the RTT is 1 s.

    Between two losses Reno's window grows by 1 a second, CUBIC's is W + C (t - K)^3.
    """
    stream, p, c, left = random.Random(1), 1e-5, 0.4, 0.7
    sent = {"reno": 0.0, "cubic": 0.0}
    took = {"reno": 0.0, "cubic": 0.0}
    reno = cubic = 300.0
    for _ in range(20_000):
        packets = stream.expovariate(p)
        grown = math.sqrt(reno**2 / 4 + 2 * packets)
        took["reno"] += grown - reno / 2
        sent["reno"] += packets
        reno = grown
        k = (cubic * (1 - left) / c) ** (1 / 3)
        low, high = 0.0, packets / (left * cubic)
        for _ in range(40):
            middle = (low + high) / 2
            here = cubic * middle + c / 4 * ((middle - k) ** 4 - k**4)
            low, high = (middle, high) if here < packets else (low, middle)
        took["cubic"] += high
        sent["cubic"] += packets
        cubic += c * (high - k) ** 3
    ratio = {kind: sent[kind] / took[kind] for kind in sent}
    assert ratio["reno"] / random_loss.mathis(p) == pytest.approx(1.3098 / 1.2247, rel=0.01)
    even = random_loss.cubic(p, 1.0, c, left)
    assert ratio["cubic"] / even == pytest.approx(1.3004 / 1.0540, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tcp", "p", "low", "high"),
    [(None, 0.005, 16.9, 18.5), ({"cc": "reno"}, 0.005, 16.9, 18.5), (None, 0.001, 42.7, 53.0)],
)
def test_random_losses_give_the_window_of_the_response_function(tcp, p, low, high):
    long = p < 0.005
    made = scenario(
        tcp,
        loss={"kind": "bernoulli", "p": p},
        at="1400 s" if long else "700 s",
        rate="50 Mbps",
        delay="70 ms",
    )
    found, _ = averages(made)
    window = next(e for e in found.estimates if e.quantity == "window")
    assert (window.low, window.high) == (pytest.approx(low, abs=0.2), pytest.approx(high, abs=0.2))
    assert verdicts(made) == {("rate", "F0"): True, ("window", "F0"): True}


def test_too_few_losses_are_no_average():
    """The losses of the flow count, at its own rate, not those of a full link."""
    made = scenario(
        loss={"kind": "bernoulli", "p": 0.001}, at="300 s", rate="50 Mbps", delay="70 ms"
    )
    assert set(verdicts(made).values()) == {None}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tcp": {"receive_window": "30 packets"}}, "the receive window of F0 is smaller than"),
        ({"tcp": {"receive_buffer": "40 kB", "reads": "1 Gbps"}}, "F0 has a `receive_buffer`"),
        ({"tcp": {"ecn": True}}, "F0 has `ecn: true`"),
        ({"tcp": "tahoe"}, "averages are known of `sender: modern`, and of"),
        ({"tcp": "reno", "flows": 2}, "alone before its bottleneck also with `recovery: reno`"),
        (
            {"tcp": {"cc": "westwood"}},
            "averages are known of cubic, reno, bbr, bbr3, not of westwood",
        ),
        ({"tcp": ["newreno", {"cc": "reno"}]}, "the packets of these flows differ in size"),
        ({"buffer": "unlimited"}, "the queue of L has no limit"),
        ({"duplex": "half"}, "not all have one and the same slowest link, full duplex"),
        (
            {"backward": {"rate": "100 kbps"}},
            "the way back of F0 is too slow for one ACK per packet",
        ),
        ({"jitter": {"kind": "uniform", "spread": "1 ms"}}, "delays vary by jitter on L, which no"),
        ({"loss": {"kind": "periodic", "every": 100}}, "packets are lost on L, which no model"),
        ({"tcp": "newreno", "loss": {"kind": "bernoulli", "p": 0.01}}, "or wait for the timer"),
        ({"flows": 2, "loss": {"kind": "bernoulli", "p": 0.01}}, "of random losses, averages"),
        ({"loss": {"kind": "bernoulli", "p": 1e-9}}, "what limits it is the link"),
        ({"queue": {"kind": "codel"}}, "no theory applies to"),
        ({"tcp": [{"cc": "vegas"}, None]}, "no theory applies to cubic on this path: averages are"),
        ({"buffer": "10 packets"}, "the link idles for 1.1 % of the time"),
        ({"tcp": {"cc": "reno"}, "buffer": "33 packets"}, "the link idles for less than 0.1 % of"),
        (
            {"tcp": {"cc": "reno"}, "buffer": "12000 packets", "rate": "5 Gbps"},
            "A window of about 28668 packets",
        ),
        ({"buffer": "2 packets"}, "packets are lost before the path is full"),
        ({"buffer": "5 packets", "flows": 2}, "packets are lost before the path is full"),
        ({"flows": 2}, "decided by single packets"),
        ({"tcp": [{"cc": "bbr"}, None], "buffer": "1 BDP"}, "shown, not judged"),
        ({"tcp": [{"cc": "bbr"}] * 2, "buffer": "10 packets"}, "packets are lost, which no model"),
        ({"tcp": [{"cc": "bbr"}] * 2, "buffer": "4 BDP"}, "changes for minutes"),
        ({"tcp": [{"cc": "bbr"}] * 2, "rate": "1 Mbps"}, "4 that each flow of BBR has in flight"),
        (
            {"tcp": {"cc": "bbr3"}, "delay": "200 ms", "buffer": "4 BDP"},
            "before a probe and its drain",
        ),
        ({"tcp": {"cc": "bbr3"}, "rate": "1 Mbps"}, "4 that each flow of BBR has in flight"),
    ],
)
def test_what_is_not_known_is_said(more, words):
    (note,) = predict(scenario(**more).model).notes
    assert words in note


def compared(made):
    (known,) = compare(predict(made.model), run(made)).averages
    return known


def test_only_whole_swings_are_averaged():
    """From a loss to another one; each swing has a closed form, and the round trip of recovery."""
    known = compared(scenario({"cc": "reno"}, buffer="1 BDP", delay="40 ms", at="120 s"))
    swings = (known.span[1] - known.span[0]) / 8.45
    assert swings == pytest.approx(7, abs=0.01)
    assert known.unjudged is None
    assert {figure.agrees for figure in known.figures} == {True}


def test_a_run_with_too_few_swings_is_not_judged():
    known = compared(scenario({"cc": "reno"}, buffer="1 BDP", delay="40 ms", at="50 s"))
    assert "3 whole swings of the window" in (known.unjudged or "")
    assert {figure.agrees for figure in known.figures} == {None}


@pytest.mark.parametrize(("rate", "buffer"), [("5 Mbps", 100), ("1 Mbps", 25)])
def test_a_window_that_falls_twice_is_not_judged(rate, buffer):
    """A retransmission takes the place in the buffer that the next new packet needed."""
    known = compared(scenario(rate=rate, delay="10 ms", buffer=f"{buffer} packets", at="120 s"))
    assert "it fell twice" in (known.unjudged or "")
    assert all(figure.agrees is None for figure in known.figures)
    assert (known.figures[1].error or 0.0) > 0.1


def test_a_run_that_is_too_short_is_not_judged():
    found = verdicts(scenario([{"cc": "bbr"}, None], buffer="4 BDP", at="20 s"))
    assert set(found.values()) == {None}


@pytest.mark.parametrize(("rate", "unit"), [("99 kbps", "kbps"), ("1 Mbps", "Mbps")])
def test_rates_of_slow_paths_have_a_smaller_unit(rate, unit):
    assert predict(scenario(rate=rate).model).rate_unit[0] == unit
