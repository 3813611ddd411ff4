"""The law of Vegas: closed forms, and real runs."""

import math
from typing import Any

import numpy as np
import pytest
from test_theory_networks import RATE, dumbbell, parking_lot
from theory_models import vegas

from ackclock import Scenario, run
from ackclock.theory import compare, predict
from ackclock.theory.equilibrium import Bottlenecks


def flows_of(model):
    return predict(model, "paper").periods[0].flows


def ranges_of(*kept, assumptions="paper", **other):
    """Ranges of flows that start alone, from a minute to the next."""
    model = dumbbell(kept, cc=lambda pair: vegas(*pair, **other))
    for place, flow in enumerate(model["flows"]):
        flow["start_ns"] = place * 60 * 10**9
    return predict(model, assumptions).periods[-1].ranges


@pytest.mark.parametrize("kept", [(1, 3), (2, 2), (3, 6)])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_flow_keeps_the_middle_of_alpha_and_beta(kept, count):
    period = predict(dumbbell([kept] * count, cc=lambda pair: vegas(*pair)), "paper").periods[0]
    for name, state in period.flows.items():
        assert state.rate_bps == pytest.approx(RATE / count)
        assert state.path_queue_packets == pytest.approx(count * sum(kept) / 2)
        # What the others send at the same time may be taken for a part of the path.
        assert period.ranges["path-queue", name][0] == pytest.approx(count * kept[0])
        assert period.ranges["path-queue", name][1] >= count * kept[1] * (1 - 1e-9)


def test_alone_the_rate_is_certain_and_together_it_is_not():
    assert ranges_of((1, 3))["rate", "F0"] == pytest.approx((RATE, RATE))
    for kept in ((1, 3), (2, 2)):
        found = ranges_of(kept, kept)
        # The second may take for the path what the first keeps at most, and a packet in service.
        met = kept[1] + 1
        most, least = kept[1], kept[0]
        # Shares a / (q - met) + b / q = 1, in packets of queueing delay q.
        for second, first, name in ((most, least, "F1"), (most, most, None)):
            q = (second + first + met) / 2
            q += math.sqrt(q * q - first * met)
            if name:
                assert found["rate", "F1"][1] == pytest.approx(RATE * second / (q - met))
                assert found["rate", "F0"][0] == pytest.approx(RATE * first / q)
            else:
                assert found["path-queue", "F0"] == pytest.approx((2 * least, q))
        assert found["rate", "F0"][1] == pytest.approx(RATE * most / (most + least))
        assert found["rate", "F1"][0] == pytest.approx(RATE * least / (most + least))


def test_rounding_and_whole_packets_widen_the_range():
    # 0.5 to 3.5 packets count as 1 to 3.
    assert ranges_of((1, 3), compare="rounded")["path-queue", "F0"] == pytest.approx((0.5, 3.5))
    for kept, ends in (((1, 3), (1, 3)), ((4, 4), (3, 5)), ((4, 4.5), (3.5, 5))):
        found = ranges_of(kept, assumptions="ours")
        assert found["path-queue", "F0"] == pytest.approx(ends, abs=0.05)


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


def two(tcp, rates="10 Mbps", delays=("9 ms", "29 ms"), start="30 s"):
    """Two flows with different RTTs over one bottleneck, the second long after the first."""
    ends = [(f"{side}{i}", delay) for side in "SD" for i, delay in enumerate(delays)]
    free = {"limit": "unlimited"}
    return Scenario.from_dict(
        {
            "hosts": [host for host, _ in ends],
            "routers": ["R1", "R2"],
            "links": [
                {"id": "L", "between": ["R1", "R2"], "rate": rates, "delay": "1 ms", "queue": free},
                *(
                    {"id": host, "between": [host, router], "rate": "1 Gbps", "delay": delay}
                    for host, delay in ends
                    for router in ["R1" if host[0] == "S" else "R2"]
                ),
            ],
            "flows": [
                {"id": "F0", "from": "S0", "to": "D0", "tcp": tcp},
                {"id": "F1", "from": "S1", "to": "D1", "tcp": tcp, "start": start},
            ],
            "stop": {"when": "time", "at_latest": "80 s"},
            "record": {"kind": "none", "packets": "changes", "queue": "changes"},
        }
    )


IMMEDIATE = {"preset": "vegas", "receiver": "immediate"}


@pytest.mark.parametrize("delays", [("9 ms", "29 ms"), ("29 ms", "9 ms"), ("9 ms", "9 ms")])
@pytest.mark.parametrize("start", ["0 s", "30 s"])
def test_flows_with_different_rtts_are_within_the_range(delays, start):
    comparison = compare(
        predict((made := two(IMMEDIATE, delays=delays, start=start)).model), run(made)
    )
    rates = [figure for figure in comparison.periods[-1].figures if figure.quantity == "rate"]
    assert [figure.agrees for figure in rates] == [True, True], rates
    for figure in rates:
        assert figure.range is not None
        assert figure.error == 0.0


def test_a_flow_that_rests_beside_an_idle_link_is_not_predicted():
    """With delayed ACKs the paper's rules see a packet in queues where there is none."""
    made = two("vegas", rates="50 Mbps", delays=("4 ms", "4 ms"))
    assert run(made).summary["links"]["L"]["forward"]["utilization"] < 0.5
    prediction = predict(made.model)
    assert not prediction.periods
    assert "the window can rest while the link idles" in prediction.notes[0]


@pytest.mark.parametrize(
    ("tcp", "start", "words"),
    [
        ({"cc": "vegas"}, "30 s", "the minimum RTT of each round trip"),
        (IMMEDIATE, "1 s", "before these have settled"),
    ],
)
def test_what_the_range_does_not_have_is_said_and_not_judged(tcp, start, words):
    prediction = predict(two(tcp, start=start).model)
    assert any(words in note for note in prediction.notes)
    assert prediction.uncertain


def test_beside_reno_vegas_gives_way():
    results = run(Scenario.load("vegas/against-reno"))
    flows = results.summary["flows"]
    assert flows["vegas"]["goodput_bps"] < 0.2 * flows["reno"]["goodput_bps"]
    queue = results.table("queue")
    assert np.max(queue["queue_packets"]) == 40


def staggered(flows: int) -> dict[str, Any]:
    """Vegas flows of a dumbbell, of which one starts every 2 s."""
    links = [{"id": "L", "between": ["R1", "R2"], "rate": "100 Mbps", "delay": "10 ms"}]
    ends: list[dict[str, Any]] = []
    for i in range(flows):
        near = {"id": f"A{i}", "between": [f"S{i}", "R1"], "rate": "1 Gbps", "delay": "1 ms"}
        far = {"id": f"B{i}", "between": ["R2", f"T{i}"], "rate": "1 Gbps", "delay": "1 ms"}
        links += [near, far]
        path = {"id": f"F{i}", "from": f"S{i}", "to": f"T{i}", "tcp": {"cc": "vegas"}}
        ends.append({**path, "start": f"{2 * i} s"})
    return {
        "hosts": [f"{side}{i}" for side in "ST" for i in range(flows)],
        "routers": ["R1", "R2"],
        "links": links,
        "flows": ends,
        "stop": {"at_latest": f"{2 * flows + 10} s"},
    }


@pytest.mark.slow
def test_newtons_method_finds_what_the_search_finds_in_fewer_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Scenario.from_dict(staggered(12)).model
    evaluations = 0
    spare = Bottlenecks._spare

    def counted(*arguments: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return spare(*arguments)

    monkeypatch.setattr(Bottlenecks, "_spare", counted)
    fast = predict(model)
    few, evaluations = evaluations, 0
    monkeypatch.setattr(Bottlenecks, "_newton", lambda *_: False)
    slow = predict(model)
    assert 2 * few < evaluations
    for one, other in zip(fast.periods, slow.periods, strict=True):
        for name, flow in one.flows.items():
            assert flow.rate_bps == pytest.approx(other.flows[name].rate_bps, rel=1e-11)
            assert flow.rtt_s == pytest.approx(other.flows[name].rtt_s, rel=1e-11)
