"""The law of Vegas: closed forms, and real runs."""

import numpy as np
import pytest
from test_theory_networks import RATE, dumbbell, parking_lot
from theory_models import vegas

from ackclock import Scenario, run
from ackclock.theory import compare, predict


def flows_of(model):
    return predict(model, "paper").periods[0].flows


@pytest.mark.parametrize("kept", [(1, 3), (2, 2), (3, 6)])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_flow_keeps_the_middle_of_alpha_and_beta(kept, count):
    flows = flows_of(dumbbell([kept] * count, cc=lambda pair: vegas(*pair)))
    middle = sum(kept) / 2
    for state in flows.values():
        assert state.rate_bps == pytest.approx(RATE / count)
        assert state.path_queue_packets == pytest.approx(count * middle)
        assert state.queue_slack_packets == count * (kept[1] - kept[0]) / 2


def test_alone_the_rate_is_certain_and_together_it_is_not():
    (alone,) = flows_of(dumbbell([(1, 3)], cc=lambda pair: vegas(*pair))).values()
    assert alone.rate_slack == 0
    for state in flows_of(dumbbell([(1, 3)] * 2, cc=lambda pair: vegas(*pair))).values():
        # Three of four packets at most, one of four at least: half more or less than one half.
        assert state.rate_slack == pytest.approx(0.5)
    for state in flows_of(dumbbell([(2, 2)] * 2, cc=lambda pair: vegas(*pair))).values():
        assert state.rate_slack == 0


def test_rounding_widens_the_range():
    (state,) = flows_of(
        dumbbell([(1, 3)], cc=lambda pair: vegas(*pair, compare="rounded"))
    ).values()
    # 0.5 to 3.5 packets count as 1 to 3.
    assert (state.path_queue_packets, state.queue_slack_packets) == (pytest.approx(2), 1.5)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_with_alpha_equal_to_beta_a_parking_lot_is_proportionally_fair(count):
    """Low, Peterson, Wang 2002: the rates maximise the sum of alpha log x."""
    model = parking_lot(count)
    for flow in model["flows"]:
        flow["tcp"]["cc"] = vegas(2, 2)
    flows = flows_of(model)
    assert flows["long"].rate_bps == pytest.approx(RATE / (count + 1))
    for i in range(count):
        assert flows[f"short{i}"].rate_bps == pytest.approx(RATE * count / (count + 1))


def test_a_run_alone_keeps_between_alpha_and_beta_packets():
    for alpha, beta in ((1, 3), (4, 4), (10, 20)):
        scenario = Scenario.load(
            "vegas/alone",
            [("flows.F.tcp.cc", f"{{kind: vegas, alpha: {alpha}, beta: {beta}}}")],
        )
        results = run(scenario)
        comparison = compare(predict(scenario.model), results)
        assert comparison.agrees, comparison.figures
        rate, queue = comparison.figures[:2]
        assert rate.error is not None and abs(rate.error) < 0.002
        assert queue.measured is not None
        # The window is whole segments: with alpha = beta it moves by one to and fro.
        assert alpha - 1 <= queue.measured <= beta + 1
        assert results.summary["flows"]["F"]["retransmissions"] == 0


def test_two_flows_in_a_run_share_within_what_their_law_allows():
    scenario = Scenario.load(
        "vegas/against-reno",
        [
            ("flows.reno.tcp.cc", "vegas"),
            ("flows.reno.tcp.recovery", "vegas"),
            ("flows.*.tcp.cc", "{kind: vegas, alpha: 3, beta: 4}"),
        ],
    )
    comparison = compare(predict(scenario.model), run(scenario))
    assert comparison.agrees, comparison.figures
    judged = {f.quantity for f in comparison.figures if f.agrees is not None}
    assert judged == {"rate", "path-queue"}


def test_beside_reno_vegas_gives_way():
    results = run(Scenario.load("vegas/against-reno"))
    flows = results.summary["flows"]
    assert flows["vegas"]["goodput_bps"] < 0.2 * flows["reno"]["goodput_bps"]
    queue = results.table("queue")
    assert np.max(queue["queue_packets"]) == 40
