"""Predictions next to real runs: no constant is fitted to any of them."""

import copy

import pytest

from ackclock import InputError, Scenario, run
from ackclock.theory import compare, predict


def loaded(name, *overrides):
    # What is compared is recorded, and no more.
    tables = dict.fromkeys(("packets", "queue", "cwnd", "rtt", "routes"), "changes")
    return Scenario.load(name, [*overrides, ("record", {"kind": "none", **tables})])


def compared(name, *overrides):
    scenario = loaded(name, *overrides)
    return compare(predict(scenario.model), run(scenario))


@pytest.fixture(scope="module")
def case_2():
    """What is predicted of test case 2, and a run of it."""
    scenario = loaded("caltech/test-case-2-fast")
    return predict(scenario.model), run(scenario)


def assert_agrees(comparison):
    assert comparison.agrees, [figure for figure in comparison.figures if figure.agrees is False]


@pytest.mark.slow
def test_test_case_2_agrees_in_every_steady_period(case_2):
    """Rates within 3 %, queues along each path within 5 %, completion times within 0.7 s."""
    comparison = compare(*case_2)
    assert_agrees(comparison)
    assert [sorted(period.predicted.flows) for period in comparison.periods] == [
        ["F1"],
        ["F1", "F2"],
        ["F1", "F2", "F3"],
        ["F1", "F3"],
        ["F3"],
    ]
    judged = [figure for figure in comparison.figures if figure.tolerance is not None]
    assert len(judged) == 21
    for figure in judged:
        assert figure.measured is not None
        limit = {"rate": 0.03, "path-queue": 0.05, "finish": 0.7}[figure.quantity]
        assert abs(figure.error) <= limit, figure
    rtts = [figure for figure in comparison.figures if figure.quantity in ("rtt", "window")]
    assert all(abs(figure.error) < 0.03 for figure in rtts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_simultaneous_events_does_not_matter(case_2, seed):
    prediction, _ = case_2
    ties = ("ties", f"{{kind: random, seed: {seed}}}")
    assert_agrees(compare(prediction, run(loaded("caltech/test-case-2-fast", ties))))


@pytest.mark.slow
@pytest.mark.parametrize(
    "overrides",
    [
        [("flows.F2.start", "10.31 s")],
        [("flows.F2.start", "0.5 s"), ("flows.F3.start", "0.5 s")],
        [("links.L3.rate", "9 Mibps"), ("links.LS1.rate", "20 Mibps")],
        [("links.L1.rate", "8 Mibps")],
    ],
)
def test_variations_of_test_case_2_agree(overrides):
    assert_agrees(compared("caltech/test-case-2-fast", *overrides))


@pytest.mark.parametrize("case", ["test-case-0-fast", "test-case-1-fast", "test-case-0-fixed"])
def test_one_flow_agrees(case):
    comparison = compared(f"caltech/{case}")
    assert_agrees(comparison)
    for figure in comparison.figures:
        if figure.quantity in ("rate", "rtt", "window"):
            assert abs(figure.error) < 0.002, figure
        if figure.quantity == "finish":
            assert abs(figure.error) < 0.05, figure


@pytest.mark.slow
def test_the_run_saw_the_rtt_of_the_empty_network(case_2):
    prediction, results = case_2
    flows = results.summary["flows"]
    for name in ("F1", "F3"):  # F2 comes while there is a queue on its path
        assert flows[name]["base_rtt_s"] == pytest.approx(
            prediction.flows[name].empty_rtt_s, abs=2e-9
        )


def fast_network(routers, links, ends, alpha=20, starts=None, stop="30 s", duplex="full"):
    """Links (name, a, b, rate, delay) and a FAST flow per pair of hosts; no loss."""
    queue = {"kind": "droptail", "limit": "unlimited"}
    hosts = list(dict.fromkeys(host for pair in ends for host in pair))
    return {
        "name": "tests/fast-network",
        "hosts": hosts,
        "routers": routers,
        "links": [
            {
                "id": name,
                "between": [a, b],
                "rate": rate,
                "delay": delay,
                "duplex": duplex,
                "queue": copy.deepcopy(queue),
            }
            for name, a, b, rate, delay in links
        ],
        "flows": [
            {
                "id": f"F{index}",
                "from": source,
                "to": target,
                "start": starts[index] if starts else "0 s",
                "tcp": {
                    "sender": "selective-repeat",
                    "initial_window": 1,
                    "cc": {"kind": "fast", "alpha": alpha, "update": "rtt"},
                },
            }
            for index, (source, target) in enumerate(ends)
        ],
        "stop": {"when": "time", "at_latest": stop},
    }


def agreement(document):
    scenario = Scenario.from_dict(document)
    return compare(predict(scenario.model), run(scenario))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_fast_flows_over_one_link_queue_alpha_each(count):
    ends = [(f"S{i}", f"T{i}") for i in range(count)]
    links = [("B", "R1", "R2", "10 Mbps", "10 ms")]
    links += [(f"A{s}", s, "R1", "100 Mbps", "2 ms") for s, _ in ends]
    links += [(f"A{t}", t, "R2", "100 Mbps", "2 ms") for _, t in ends]
    comparison = agreement(fast_network(["R1", "R2"], links, ends))
    assert_agrees(comparison)
    (period,) = comparison.periods
    queue = next(f for f in period.figures if f.quantity == "path-queue")
    assert queue.measured == pytest.approx(20 * count, rel=0.02)


def test_a_parking_lot_is_proportionally_fair():
    routers = [f"R{i}" for i in range(4)]
    ends = [("S", "T"), ("S0", "T0"), ("S1", "T1"), ("S2", "T2")]
    links = [(f"B{i}", f"R{i}", f"R{i + 1}", "10 Mbps", "10 ms") for i in range(3)]
    links += [("AS", "S", "R0", "100 Mbps", "1 ms"), ("AT", "T", "R3", "100 Mbps", "1 ms")]
    for i in range(3):
        links.append((f"AS{i}", f"S{i}", f"R{i}", "100 Mbps", "1 ms"))
        links.append((f"AT{i}", f"T{i}", f"R{i + 1}", "100 Mbps", "1 ms"))
    comparison = agreement(fast_network(routers, links, ends, stop="40 s"))
    assert_agrees(comparison)
    rates = {f.subject: f.measured for f in comparison.figures if f.quantity == "rate"}
    capacity = 1e7 * 1460 / 1500
    assert rates["F0"] == pytest.approx(capacity / 4, rel=0.03)
    assert all(rates[f"F{i}"] == pytest.approx(capacity * 3 / 4, rel=0.03) for i in (1, 2, 3))


def test_latecomers_over_equal_links_agree():
    routers = ["R0", "R1", "R2"]
    ends = [("S", "T"), ("U", "V")]
    links = [("B0", "R0", "R1", "10 Mbps", "10 ms"), ("B1", "R1", "R2", "10 Mbps", "10 ms")]
    links += [("AS", "S", "R0", "12 Mbps", "1 ms"), ("AT", "T", "R2", "12 Mbps", "1 ms")]
    links += [("AU", "U", "R0", "12 Mbps", "1 ms"), ("AV", "V", "R1", "12 Mbps", "1 ms")]
    comparison = agreement(fast_network(routers, links, ends, starts=["0 s", "15 s"], stop="40 s"))
    assert len(comparison.periods) == 2
    assert_agrees(comparison)


def test_acks_of_no_length_wait_for_nobody():
    scenario = Scenario.load("teach/sawtooth", [("flows.*.tcp.ack", "0 B")])
    assert predict(scenario.model).flows


def test_a_run_of_another_scenario_is_refused():
    prediction = predict(Scenario.load("teach/cubic-bbr").model)
    other = run(Scenario.load("teach/sawtooth", [("stop.at_latest", "1 s")]))
    with pytest.raises(InputError, match="of 'teach/cubic-bbr', the run of 'teach/saw"):
        compare(prediction, other)
