"""Equilibria of networks whose answer is known, and properties that hold on all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from theory_models import MS, cbr, fast, flow, link, model

from ackclock import InputError, Scenario, run
from ackclock.theory import TheoryError, predict
from ackclock.theory.demand import Demand, Demands
from ackclock.theory.equilibrium import Bottlenecks
from ackclock.theory.laws import LAWS

RATE = 1e7


def dumbbell(alphas, duplex="full", cc=fast, ack=0, **flow_options):
    count = len(alphas)
    hosts = [f"{side}{i}" for side in "ST" for i in range(count)]
    links = [link("B", ["R1", "R2"], RATE, 10, duplex)]
    links += [
        link(f"A{h}", [h, "R1" if h[0] == "S" else "R2"], 10 * RATE, 2, duplex) for h in hosts
    ]
    flows = [
        flow(f"F{i}", (f"S{i}", f"T{i}"), cc=cc(alpha), ack=ack, **flow_options)
        for i, alpha in enumerate(alphas)
    ]
    return model(hosts, ["R1", "R2"], links, flows)


def parking_lot(count, duplex="full", ack=0):
    routers = [f"R{i}" for i in range(count + 1)]
    hosts = ["S", "T", *(f"{side}{i}" for side in "ST" for i in range(count))]
    links = [link(f"B{i}", [routers[i], routers[i + 1]], RATE, 10, duplex) for i in range(count)]
    links += [link("AS", ["S", "R0"], 10 * RATE, 1, duplex)]
    links += [link("AT", ["T", routers[-1]], 10 * RATE, 1, duplex)]
    for i in range(count):
        links.append(link(f"AS{i}", [f"S{i}", routers[i]], 10 * RATE, 1, duplex))
        links.append(link(f"AT{i}", [f"T{i}", routers[i + 1]], 10 * RATE, 1, duplex))
    flows = [flow("long", ("S", "T"), ack=ack)]
    flows += [flow(f"short{i}", (f"S{i}", f"T{i}"), ack=ack) for i in range(count)]
    return model(hosts, routers, links, flows)


@pytest.mark.parametrize("duplex", ["half", "full"])
@pytest.mark.parametrize("ack", [0, 64])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_parking_lot_is_proportionally_fair(count, ack, duplex):
    """The long flow gets C / (n + 1), each short one n C / (n + 1)."""
    prediction = predict(parking_lot(count, duplex, ack), "paper-with-acks")
    flows = prediction.periods[0].flows
    capacity = RATE * (1024 / (1024 + ack) if duplex == "half" else 1.0)
    assert flows["long"].rate_bps == pytest.approx(capacity / (count + 1), rel=1e-9)
    for i in range(count):
        assert flows[f"short{i}"].rate_bps == pytest.approx(capacity * count / (count + 1))


@pytest.mark.parametrize("count", [1, 2, 4, 50])
def test_flows_that_start_together_share_evenly_and_queue_alpha_each(count):
    """On a full-duplex link without load on the way back all alpha packets are data."""
    prediction = predict(dumbbell([20] * count), "paper-with-acks")
    states = prediction.periods[0].flows.values()
    assert [s.rate_bps for s in states] == pytest.approx([RATE / count] * count)
    assert [s.own_queue_packets for s in states] == pytest.approx([20] * count)
    assert all(s.path_queue_packets == pytest.approx(20 * count) for s in states)


def test_shares_are_as_alphas():
    prediction = predict(dumbbell([10, 30, 60]), "paper-with-acks")
    rates = [s.rate_bps for s in prediction.periods[0].flows.values()]
    assert rates == pytest.approx([0.1 * RATE, 0.3 * RATE, 0.6 * RATE])


def test_half_duplex_queues_half_of_alpha_as_data_and_costs_the_acks():
    prediction = predict(dumbbell([20], "half", ack=64), "paper-with-acks")
    (state,) = prediction.periods[0].flows.values()
    assert state.own_queue_packets == pytest.approx(10)
    assert state.rate_bps == pytest.approx(RATE * 1024 / 1088)
    bottleneck = prediction.periods[0].queues["B", "both"]
    assert bottleneck.packets == pytest.approx(20)
    assert bottleneck.utilization == pytest.approx(1.0)
    assert predict(dumbbell([20], "half", ack=64), "paper").periods[0].flows[
        "F0"
    ].rate_bps == pytest.approx(RATE)


def test_headers_cost_capacity_and_are_no_data():
    prediction = predict(dumbbell([20], header=40), "paper-with-acks")
    assert prediction.periods[0].flows["F0"].rate_bps == pytest.approx(RATE * 1024 / 1064)


def test_a_latecomer_counts_the_standing_queue_as_path():
    """The equations of a second FAST flow: alpha / p + alpha / (p - p0) = C, alpha / p0 = C."""
    alpha, size = 20, 1024 * 8
    case = dumbbell([alpha, alpha])
    case["flows"][1]["start_ns"] = 20 * 1000 * MS
    prediction = predict(case, "paper-with-acks")
    before = alpha * size / RATE
    delay = before * (3 + 5**0.5) / 2  # root of 1 / p + 1 / (p - p0) = 1 / p0 above p0
    first, second = prediction.periods[1].flows.values()
    assert first.queueing_s == pytest.approx(delay)
    assert second.base_rtt_s - case_rtt(prediction) == pytest.approx(before)
    assert first.rate_bps == pytest.approx(alpha * size / delay)
    assert second.rate_bps == pytest.approx(alpha * size / (delay - before))
    # Followed by its law it sees the same queue (to the packets that it adds itself).
    followed = predict(case).periods[1].flows["F1"]
    assert followed.base_rtt_s == pytest.approx(second.base_rtt_s, rel=0.01)
    assert followed.rate_bps == pytest.approx(second.rate_bps, rel=0.01)


def case_rtt(prediction):
    return prediction.flows["F1"].empty_rtt_s


def test_base_rtt_falls_when_the_queue_runs_short_after_a_departure():
    """The law is followed, so that the queue that F0 leaves behind empties for a moment."""
    case = dumbbell([40, 5])
    case["flows"][0]["send_bytes"] = 20_000_000
    case["flows"][1]["start_ns"] = 5_000 * MS
    prediction = predict(case)
    assert [list(p.flows) for p in prediction.periods] == [["F0"], ["F0", "F1"], ["F1"]]
    during, after = (prediction.periods[i].flows["F1"].base_rtt_s for i in (1, 2))
    assert during == pytest.approx(case_rtt(prediction) + 40 * 8192 / RATE, rel=0.02)
    assert after < during - 0.01
    assert after >= case_rtt(prediction)


def test_a_fixed_window_fills_the_path_and_queues_the_rest():
    def window(packets):
        return {"kind": "fixed", "window": packets}

    small = predict(dumbbell([4], cc=window)).periods[0].flows["F0"]
    assert small.queueing_s == 0
    assert small.rate_bps == pytest.approx(4 * 8192 / small.base_rtt_s)
    large = predict(dumbbell([100], cc=window)).periods[0].flows["F0"]
    assert large.rate_bps == pytest.approx(RATE)
    assert large.own_queue_packets == pytest.approx(100 - RATE / 8192 * large.base_rtt_s)


def test_a_constant_source_takes_its_share_off_the_capacity():
    case = dumbbell([20])
    case["hosts"] += ["X", "Y"]
    case["links"] += [link("AX", ["X", "R1"], 10 * RATE), link("AY", ["Y", "R2"], 10 * RATE)]
    case["flows"].append(cbr("U", ("X", "Y"), 0.3 * RATE))
    flows = predict(case, "paper-with-acks").periods[0].flows
    assert flows["U"].rate_bps == pytest.approx(0.3 * RATE)
    assert flows["U"].window_packets is None
    assert flows["F0"].rate_bps == pytest.approx(0.7 * RATE)

    case["flows"][1]["udp"]["source"]["rate_bps"] = int(1.1 * RATE)
    overloaded = predict(case)
    assert overloaded.periods == []
    assert any("more than a link can carry" in note for note in overloaded.notes)


def test_only_flows_that_share_queues_with_an_unknown_one_are_left_out():
    case = dumbbell([20, 20])
    case["flows"][1]["tcp"]["cc"] = {"kind": "reno"}
    assert predict(case).periods == []

    case["hosts"] += ["X", "Y"]
    case["links"] += [link("XY", ["X", "Y"], RATE, 5)]
    case["flows"].append(flow("F2", ("X", "Y")))
    prediction = predict(case)
    assert list(prediction.periods[0].flows) == ["F2"]
    assert set(prediction.flows) == {"F0", "F1", "F2"}


def test_two_way_traffic_shares_both_directions():
    """Full duplex: data of one flow and ACKs of the other meet in each direction."""
    case = dumbbell([20, 20], ack=64)
    other = case["flows"][1]
    other["from"], other["to"] = other["to"], other["from"]
    prediction = predict(case, "paper-with-acks")
    rates = [s.rate_bps for s in prediction.periods[0].flows.values()]
    assert rates == pytest.approx([RATE * 1024 / 1088] * 2)
    queues = prediction.periods[0].queues
    assert queues["B", "forward"].utilization == pytest.approx(1.0)
    assert queues["B", "backward"].utilization == pytest.approx(1.0)


def test_a_bottleneck_of_acks():
    """A slow way back limits the flow: 64 bytes of ACK per packet at a hundredth of the rate."""
    case = dumbbell([20], ack=64)
    case["links"][0]["backward"]["rate_bps"] = int(RATE / 100)
    state = predict(case, "paper-with-acks").periods[0].flows["F0"]
    assert state.rate_bps == pytest.approx(RATE / 100 * 1024 / 64)
    assert state.own_queue_packets == pytest.approx(0.0, abs=1e-9)  # ACKs wait, no data


def test_buffers_that_are_too_small_are_noted():
    case = dumbbell([50])
    case["links"][0]["forward"]["queue"]["limit_bytes"] = 20 * 1024
    assert any("longer than the buffer" in note for note in predict(case).notes)


def test_the_end_of_the_run_ends_the_last_period():
    case = dumbbell([20])
    assert predict(case).periods[-1].end_s == 200.0
    case["stop"]["at_latest_ns"] = None
    assert predict(case).periods[-1].end_s is None
    assert predict(case, "paper").periods[-1].end_s is None


def test_start_and_end_of_two_equal_flows_at_one_time_make_one_period():
    case = dumbbell([20, 20], send_bytes=4_000_000)
    for assumptions in ("ours", "paper"):
        prediction = predict(case, assumptions)
        assert len(prediction.periods) == 1
        ends = {facts.finish_ack_s for facts in prediction.flows.values()}
        assert len(ends) == 1


def test_unknown_assumptions_and_missing_paths_are_errors():
    with pytest.raises(TheoryError, match="paper-with-acks"):
        predict(dumbbell([20]), "papre")
    case = dumbbell([20])
    del case["links"][0]
    with pytest.raises(TheoryError, match="no path from S0 to T0"):
        predict(case)


def test_laws_are_registered_by_name():
    assert all(law.name == name and law.summary for name, law in LAWS.items())


@pytest.mark.parametrize("update", ["rtt", "period"])
@pytest.mark.parametrize("averaging", ["ewma", "samples"])
def test_all_clocks_and_averages_of_fast_lead_to_the_same_equilibrium(update, averaging):
    case = dumbbell(
        [20, 20],
        cc=lambda alpha: fast(alpha, update=update, averaging=averaging),
        send_bytes=20_000_000,
        initial_window=10,
    )
    prediction = predict(case)
    (period,) = prediction.periods
    for name, state in period.flows.items():
        assert state.rate_bps == pytest.approx(RATE / 2, rel=1e-6)
        ideal = 20_000_000 * 8 / state.rate_bps
        assert ideal < prediction.flows[name].finish_ack_s < ideal + 0.5


def random_network(draw):
    """Any tree of routers with mixed links, and flows between any hosts."""
    count = draw(st.integers(2, 5))
    routers = [f"R{i}" for i in range(count)]
    rate = st.sampled_from([1e6, 1e7, 1e7, 3.3e7, 1e9])
    duplex = st.sampled_from(["half", "full"])
    links = [
        link(
            f"B{i}",
            [routers[draw(st.integers(0, i - 1))], routers[i]],
            draw(rate),
            draw(st.sampled_from([0, 1, 10, 77])),
            draw(duplex),
            back_rate=draw(rate),
        )
        for i in range(1, count)
    ]
    hosts = [f"H{i}" for i in range(draw(st.integers(2, 6)))]
    links += [
        link(f"A{h}", [h, draw(st.sampled_from(routers))], draw(rate), 1, draw(duplex))
        for h in hosts
    ]
    ends = st.permutations(hosts).map(lambda order: (order[0], order[1]))
    flows = [
        flow(
            f"F{i}",
            draw(ends),
            draw(st.sampled_from([0.0, 0.0, 1.0, 2.5])),
            cc=fast(draw(st.floats(1, 300))),
            segment=draw(st.sampled_from([200, 1024, 1460])),
            ack=draw(st.sampled_from([0, 40, 64])),
        )
        for i in range(draw(st.integers(1, 6)))
    ]
    return model(hosts, routers, links, flows, at_latest_s=4.0)


networks = st.composite(random_network)()


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(networks, st.sampled_from(["paper", "paper-with-acks"]))
def test_capacity_holds_and_packets_wait_only_where_it_is_used_up(case, assumptions):
    for period in predict(case, assumptions).periods:
        for queue in period.queues.values():
            assert queue.utilization <= 1 + 1e-9
            assert queue.wait_s >= 0
            assert queue.wait_s == 0 or queue.utilization == pytest.approx(1.0, abs=1e-9)
        for name, state in period.flows.items():
            params = next(f for f in case["flows"] if f["id"] == name)["tcp"]
            assert state.base_rtt_s < state.rtt_s
            # The law: alpha packets are in queues beyond what the base RTT contains.
            kept = state.rate_bps / (params["segment_bytes"] * 8)
            kept *= state.rtt_s - state.base_rtt_s
            assert kept == pytest.approx(params["cc"]["alpha"], rel=1e-6)


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(networks)
def test_the_law_ends_in_the_equilibrium(case):
    """Following the windows never breaks a capacity, and no base RTT is below the empty path."""
    prediction = predict(case)
    assert prediction.periods
    for period in prediction.periods:
        assert all(queue.utilization <= 1 + 1e-9 for queue in period.queues.values())
        for name, state in period.flows.items():
            assert state.base_rtt_s >= prediction.flows[name].empty_rtt_s * (1 - 1e-12)


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(networks, st.sampled_from(["paper", "paper-with-acks"]), st.sampled_from([1, 0.125, 4, 32]))
def test_neither_the_order_of_flows_nor_the_unit_of_time_matters(case, assumptions, factor):
    """Flows turned round, all rates times k, all times over k: the same queues, rates times k."""
    scaled = {**case, "links": [], "flows": []}
    for entry in case["links"]:
        sides = {
            side: {
                **entry[side],
                "rate_bps": entry[side]["rate_bps"] * factor,
                "delay_ns": entry[side]["delay_ns"] / factor,
            }
            for side in ("forward", "backward")
        }
        scaled["links"].append({**entry, **sides})
    for entry in reversed(case["flows"]):
        scaled["flows"].append({**entry, "start_ns": entry["start_ns"] / factor})
    scaled["stop"] = {"at_latest_ns": case["stop"]["at_latest_ns"] / factor}
    for old, new in zip(
        predict(case, assumptions).periods, predict(scaled, assumptions).periods, strict=True
    ):
        for name, state in old.flows.items():
            assert new.flows[name].rate_bps == pytest.approx(state.rate_bps * factor, rel=1e-6)
            assert new.flows[name].path_queue_packets == pytest.approx(
                state.path_queue_packets, rel=1e-6, abs=1e-6
            )


def test_of_equal_links_the_first_on_the_path_has_the_queue():
    """F's data queue before the link on which they would meet the ACKs of G, and not there."""
    case = model(
        ["A", "B", "C"],
        ["R"],
        [link(f"L{h}", [h, "R"], 1e6, 1, "full") for h in "ABC"],
        [flow("G", ("B", "C"), segment=200, ack=0), flow("F", ("A", "B"), ack=0)],
    )
    for _ in range(2):
        queues = predict(case, "paper").periods[0].queues
        # Its ACKs wait behind the 50 packets of G, each of 200 bytes, while F sends 1 Mbit/s in
        # packets of 1024 bytes: the rest of its own 50 stands in queues.
        assert queues["LA", "forward"].data_packets == pytest.approx(50 - 50 * 200 / 1024)
        assert queues["LB", "backward"].data_packets == 0
        case["flows"].reverse()


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_the_solver_finds_the_optimum_that_a_general_minimiser_finds(seed):
    """With equal loads and passes the waits minimise a convex dual; scipy minimises it as well."""
    random = np.random.default_rng(seed)
    stations, flows = random.integers(1, 5), random.integers(1, 6)
    uses = (random.random((stations, flows)) < 0.6).astype(float)
    uses[random.integers(stations), uses.sum(axis=0) == 0] = 1.0
    capacity = random.uniform(0.5, 2.0, stations)
    alpha = random.uniform(1, 10, flows)
    demands = Demands.of([Demand(empty_s=1.0, alpha=a) for a in alpha])
    rates = Bottlenecks(uses, uses, capacity, 0 * uses).solve(demands).rate

    def dual(wait):
        return capacity @ wait - alpha @ np.log(uses.T @ wait)

    def slope(wait):
        return capacity - uses @ (alpha / (uses.T @ wait))

    start = np.full(stations, alpha.sum() / capacity.min())
    bounds = [(1e-9, None)] * int(stations)
    found = minimize(dual, start, jac=slope, bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    assert rates == pytest.approx(alpha / (uses.T @ found.x), rel=1e-4)


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("tcp", None, "a part of `model` lacks tcp or udp; needed is a scenario"),
        ("from", ..., "a part of `model` lacks from; needed is a scenario"),
        ("tcp", {}, "a part of `model` lacks "),
        ("tcp", 3, "a part of `model` is faulty: "),
    ],
)
def test_a_model_with_an_incomplete_flow_is_refused(part, value, words):
    whole = dumbbell([3])
    flow = whole["flows"][0]
    flow[part] = value
    if value is ...:
        del flow[part]
    with pytest.raises(InputError, match=words):
        predict(whole)


def test_a_scenario_or_results_stand_for_their_model():
    scenario = Scenario.load("caltech/test-case-0-fast", overrides=[("stop.at_latest", "1 s")])
    assert predict(scenario) == predict(scenario.model) == predict(run(scenario))
