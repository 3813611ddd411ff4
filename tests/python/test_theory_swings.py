"""Flows without an equilibrium: between which windows they swing, next to runs."""

import numpy as np
import pytest

from ackclock import Scenario, run
from ackclock.theory import predict
from ackclock.theory.network import Network
from ackclock.theory.swings import swing_of


def document(tcp=None, *, buffer="50 packets", flows=1, **link):
    forward = {
        "id": "L",
        "between": ["A", "B"],
        "rate": "10 Mbps",
        "delay": "20 ms",
        "queue": {"limit": buffer},
        **link,
    }
    named = [
        {"id": f"F{i}", "from": "A", "to": "B", "start": f"{137 * i} ms"} for i in range(flows)
    ]
    for flow in named:
        if tcp is not None:
            flow["tcp"] = tcp
    return {
        "name": "tests/swings",
        "hosts": ["A", "B"],
        "links": [forward],
        "flows": named,
        "stop": {"when": "time", "at_latest": "60 s"},
        "record": {"kind": "none", "cwnd": "changes", "queue": "changes"},
    }


def scenario(*args, **more):
    return Scenario.from_dict(document(*args, **more))


def told(*args, **more):
    return predict(scenario(*args, **more).model).notes


@pytest.mark.parametrize(
    ("tcp", "buffer", "left"),
    [
        (None, "50 packets", 0.7),
        ({}, "20 packets", 0.7),
        ({"cc": "reno"}, "50 packets", 0.5),
        ({"cc": {"kind": "cubic", "decrease": 0.5}}, "75 kB", 0.5),
    ],
)
def test_the_window_swings_between_the_predicted_ones(tcp, buffer, left):
    """After slow start, greatest and least window within two packets."""
    made = scenario(tcp, buffer=buffer)
    model = made.model
    swing = swing_of(model, Network(model), [0])
    assert swing is not None
    assert swing.low_packets == pytest.approx(left * swing.high_packets)
    results = run(made)
    cwnd = results.table("cwnd")
    window = cwnd["cwnd_bytes"].to_numpy() / 1448
    time = cwnd["time_s"].to_numpy()
    late = window[time > 20.0]
    assert late.max() == pytest.approx(swing.high_packets, abs=2.0)
    assert late.min() == pytest.approx(swing.low_packets, abs=2.0)
    queue = results.table("queue")
    waiting = queue["queue_data_packets"].to_numpy()
    assert waiting.max() <= np.ceil(swing.queue_high_packets)
    busy = results.summary["links"]["L"]["forward"]["utilization"] > 0.99
    assert busy == swing.busy


def test_flows_that_are_alike_share_the_link():
    (note,) = told(flows=2)
    assert "share L equally" in note
    assert "4.827 Mbps" in note
    flows = run(scenario(flows=2)).summary["flows"]
    rates = [flow["goodput_bps"] for flow in flows.values()]
    assert sum(rates) == pytest.approx(2 * 4.827e6, rel=0.02)


@pytest.mark.parametrize(("tcp", "p"), [(None, 0.005), ({"cc": "reno"}, 0.005)])
def test_random_losses_give_the_window_of_the_response_function(tcp, p):
    (note,) = told(tcp, loss={"kind": "bernoulli", "p": p})
    assert "mean window of about 17.3 packets" in note
    made = scenario(tcp, loss={"kind": "bernoulli", "p": p})
    mean = run(made.set("stop.at_latest", "400 s")).summary["flows"]["F0"]["cwnd_bytes"]["mean"]
    assert mean / 1448 == pytest.approx(17.3, rel=0.15)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tcp": {"cc": "bbr"}}, "no theory of equilibrium applies to bbr"),
        ({"tcp": {"receive_window": "30 packets"}}, "no theory of equilibrium applies to cubic"),
        ({"tcp": "newreno"}, "no theory of equilibrium applies to reno"),
        ({"buffer": "unlimited"}, "no theory of equilibrium applies to cubic"),
        ({"loss": {"kind": "periodic", "every": 100}}, "no theory of equilibrium applies to cubic"),
        ({"loss": {"kind": "bernoulli", "p": 1e-9}}, "what limits it is the link"),
        ({"queue": {"kind": "codel"}}, "no theory of equilibrium applies to"),
    ],
)
def test_what_is_not_known_is_not_predicted(more, words):
    (note,) = told(**more)
    assert words in note


def test_the_link_idles_where_the_buffer_is_small():
    (note,) = told(buffer="10 packets")
    assert "the link idles after each loss" in note
