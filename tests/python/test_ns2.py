"""The scenarios of ns-2.35: the figures of ns-2.35 itself, and of the lab of 2021.

`crates/sim/tests/ns2.rs` compares more: each drop of the lab, the same losses.
"""

import math
import statistics

import pytest

from ackclock.run import run
from ackclock.scenario import Scenario

# Packets sent (the first one, without data, included), sent again, dropped; timeouts.
COUNTS = {
    "tahoe": {"F1": (9777, 96, 55, 0)},
    "reno-delayed-acks": {"F1": (10_553, 73, 28, 1)},
    "window-limited": {"F1": (1885, 0, 0, 0)},
    "short-transfer": {"F1": (21, 0, 0, 0)},
    "rtt-mix": {"short": (115_606, 449, 350, 7), "long": (64_648, 169, 95, 3)},
    "vegas-against-reno": {"vegas": (4587, 0, 0, 0), "reno": (43_684, 138, 87, 1)},
    "parking-lot": {
        "long": (3755, 595, 415, 75),
        "hop1": (116_419, 141, 141, 0),
        "hop2": (116_534, 228, 141, 1),
        "hop3": (116_499, 234, 141, 2),
    },
    "newreno-against-cbr": {"tcp": (19_268, 193, 113, 4)},
    "lab-as-run": {
        "tahoe": (738, 16, 10, 0),
        "reno": (731, 15, 11, 1),
        "vegas": (940, 1, 1, 0),
    },
}
# Means and standard deviations over 110 seeds of ns-2.35; delivered are segments.
NS2_SEEDS, OURS = 110, 40
RANDOM_LOSSES = {
    "tahoe-loss": {
        "bytes_delivered": (28_904.5, 1145.3),
        "retransmissions": (335.5, 16.4),
        "timeouts": (9.0, 3.0),
    },
    "newreno-loss-delayed-acks": {
        "bytes_delivered": (23_489.3, 1007.7),
        "retransmissions": (257.6, 16.7),
        "timeouts": (7.8, 2.7),
    },
}
MEASURES = ("packets_on_wire", "retransmissions", "segments_dropped", "timeouts")


def summary(name, **changes):
    document = dict(Scenario.load(f"ns2/{name}").document) | {"record": "none"} | changes
    return run(Scenario.from_dict(document)).summary


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_flows_send_the_packets_of_ns2(name):
    flows = summary(name)["flows"]
    found = {flow: tuple(flows[flow][measure] for measure in MEASURES) for flow in COUNTS[name]}
    assert found == COUNTS[name]


@pytest.mark.parametrize(
    ("name", "utilization", "queue"),
    [
        ("tahoe", 0.897547, 9.58037),
        ("reno-delayed-acks", 0.971225, 9.96045),
        ("newreno-against-cbr", 0.995661, 20.2085),
        ("lab-as-run", 0.969252, 12.223),
    ],
)
def test_the_bottleneck_is_as_busy_and_as_full_as_in_ns2(name, utilization, queue):
    bottleneck = summary(name)["links"]["bottleneck"]["forward"]
    # ns-2 counts a transmission when it begins, we count its time.
    assert bottleneck["utilization"] == pytest.approx(utilization, abs=2e-4)
    assert bottleneck["queue_packets"]["mean"] == pytest.approx(queue, rel=2e-5)


def test_the_table_of_the_lab_is_exact():
    whole = summary("lab-as-run")
    sent = {name: flow["bytes_on_wire"] for name, flow in whole["flows"].items()}
    assert sent == {"tahoe": 766_520, "reno": 759_240, "vegas": 940_000}
    assert whole["links"]["bottleneck"]["forward"]["queue_packets"]["max"] == 19


def test_as_its_text_means_it_the_lab_is_hardly_congested():
    flows = summary("lab-as-meant")["flows"]
    for flow in flows.values():
        assert flow["bytes_delivered"] == pytest.approx(625_000, rel=1e-3)
        assert flow["timeouts"] == 0
    assert sum(flow["segments_dropped"] for flow in flows.values()) < 10


def test_the_last_ack_of_a_short_transfer_comes_when_it_does_in_ns2():
    finish = summary("short-transfer")["flows"]["F1"]["finish_ack_s"]
    assert finish == pytest.approx(0.528384, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RANDOM_LOSSES))
def test_with_random_losses_the_means_agree(name):
    runs = [summary(name, seed=seed)["flows"]["F1"] for seed in range(1, OURS + 1)]
    for measure, (mean, deviation) in RANDOM_LOSSES[name].items():
        values = [run[measure] / (1000 if measure == "bytes_delivered" else 1) for run in runs]
        error = math.hypot(deviation / NS2_SEEDS**0.5, statistics.stdev(values) / OURS**0.5)
        assert abs(statistics.mean(values) - mean) < 2 * error, measure
        assert statistics.stdev(values) == pytest.approx(deviation, rel=0.35), measure
