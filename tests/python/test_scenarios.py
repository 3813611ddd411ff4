"""The scenarios of the package: complete, as the paper has them, and true to their expectations."""

import itertools

import numpy as np
import pytest

from ackclock import library
from ackclock.metrics import rtt_series, transmission_series
from ackclock.run import run
from ackclock.scenario import Scenario

CASES = [
    f"caltech/test-case-{n}-{k}" for n, k in itertools.product((0, 1, 2), ("fast", "fixed", "reno"))
]
MIBPS = 2**20


def test_the_package_has_the_nine_scenarios_of_the_caltech_paper():
    assert [name for name in library.names() if name.startswith("caltech/")] == sorted(CASES)


@pytest.mark.parametrize("name", library.names())
def test_a_scenario_is_named_by_its_place_and_says_what_it_asks(name):
    scenario = Scenario.load(name)
    assert scenario.name == name
    assert not scenario.warnings
    for text in ("title", "question", "expectation", "source"):
        assert len(scenario.model[text]) > 10, text
    assert scenario.model["question"].endswith("?")


@pytest.mark.parametrize("name", library.names())
def test_the_resolved_scenario_resolves_to_itself(name):
    scenario = Scenario.load(name)
    again = Scenario.from_dict(scenario.canonical)
    # A canonical document has no profile: all its values are written out.
    ours, its = dict(scenario.model), dict(again.model)
    ours.pop("profile"), its.pop("profile")
    assert its == ours


@pytest.mark.parametrize("name", CASES)
def test_links_are_half_duplex_with_the_rates_of_the_paper(name):
    model = Scenario.load(name).model
    case = int(name.split("-")[2])
    for link in model["links"]:
        inner = {*link["ends"]} <= {"R1", "R2", "R3", "R4"} or case == 0
        assert link["duplex"] == "half"
        assert link["forward"]["rate_bps"] == (10 if inner else 12.5) * MIBPS
        assert link["forward"]["delay_ns"] == 10_000_000
        assert link["forward"]["queue"] == {
            "kind": "droptail",
            "limit_bytes": (128 if case == 2 else 64) * 1024,
            "counts": "waiting",
            "admission": "strict",
        }


@pytest.mark.parametrize(
    ("case", "links"),
    [
        (1, "L0 L1 L2 L3 L4 L5"),
        (2, "L1 L2 L3 LS1 LT1 LS2 LT2 LS3 LT3"),
    ],
)
def test_links_stand_in_the_order_that_decides_ties_of_routing(case, links):
    for kind in ("fast", "fixed", "reno"):
        model = Scenario.load(f"caltech/test-case-{case}-{kind}").model
        assert [link["id"] for link in model["links"]] == links.split()


@pytest.mark.parametrize("case", [0, 1, 2])
def test_the_three_kinds_of_a_case_differ_in_transport_only(case):
    def rest(kind):
        model = dict(Scenario.load(f"caltech/test-case-{case}-{kind}").model)
        for part in ("name", "title", "question", "expectation", "source", "stop"):
            model.pop(part)
        model["flows"] = [
            {k: v for k, v in flow.items() if k not in ("tcp", "label")} for flow in model["flows"]
        ]
        return model

    assert rest("fast") == rest("reno") == rest("fixed")


def test_the_settings_of_the_paper():
    fast = [f["tcp"] for f in Scenario.load("caltech/test-case-1-fast").model["flows"]]
    assert fast[0]["cc"] == {
        "kind": "fast",
        "alpha": 30,
        "gamma": 0.5,
        "update": "period",
        "period_ns": 50_000_000,
        "averaging": "samples",
        "samples": 40,
    }
    assert fast[0]["recovery"]["threshold"] == 1
    for flow in Scenario.load("caltech/test-case-2-reno").model["flows"]:
        tcp = flow["tcp"]
        assert (tcp["segment_bytes"], tcp["header_bytes"], tcp["ack_bytes"]) == (1024, 0, 64)
        assert (tcp["initial_window"], tcp["initial_ssthresh"]) == (1, 100)
        assert tcp["recovery"]["threshold"] == 3
        assert tcp["recovery"]["reduction"] == "per-packet"
        assert tcp["rto"] == {"kind": "fixed", "timeout_ns": 500_000_000}
        assert tcp["ack_view"] == "live"


def test_duplicates_are_acknowledged_in_test_case_2_with_reno_only():
    for name in CASES:
        rules = {flow["tcp"]["ack_duplicates"] for flow in Scenario.load(name).model["flows"]}
        assert rules == {"always" if name.endswith("2-reno") else "never"}


@pytest.mark.parametrize(
    ("case", "flow", "rtt_ms", "packets", "start_s"),
    [
        (0, "F1", 20.830078125, 20480, 1.0),
        (1, "F1", 82.98828125, 20480, 0.5),
        (2, "F1", 103.818359375, 35840, 0.5),
        (2, "F2", 62.158203125, 15360, 10.0),
        (2, "F3", 62.158203125, 30720, 20.0),
    ],
)
def test_a_window_of_one_packet_makes_one_round_trip_a_packet(case, flow, rtt_ms, packets, start_s):
    """The RTT of the empty path in closed form: transmissions and propagations of both ways."""
    record = {"rtt": "changes", "transmissions": "changes"}
    results = run(Scenario.load(f"caltech/test-case-{case}-fixed", [("record", record)]))
    _, rtt_s = rtt_series(results, flow)
    summary = results.summary["flows"][flow]
    assert rtt_s.size == packets
    assert summary["retransmissions"] == 0
    assert rtt_s.min() * 1e3 == pytest.approx(rtt_ms, abs=1e-5)
    # Nobody waits for longer than a packet of another takes, and few do.
    assert np.median(rtt_s) * 1e3 == pytest.approx(rtt_ms, abs=1e-5)
    # F2 and F3 fall into step with F1: five of their round trips to three of F1's.
    step_ms = 3 / 5 * 103.818359375 if flow in ("F2", "F3") else rtt_ms
    assert summary["finish_ack_s"] == pytest.approx(start_s + packets * step_ms / 1e3, rel=3e-5)
    if case == 1:
        assert transmission_series(results, "L2", kind="data")[0].size == 0


@pytest.mark.parametrize("name", [name for name in CASES if not name.endswith("fixed")])
def test_every_flow_completes(name):
    summary = run(Scenario.load(name, [("record", "none")])).summary
    assert summary["finished"]
    assert summary["stop_reason"] == "flows-complete"
    for flow in summary["flows"].values():
        assert flow["bytes_delivered"] == flow["bytes_offered"]


def test_with_its_clock_and_its_order_of_sends_the_caltech_program_is_imitated_to_the_millisecond():
    """The original program completes F2 of test case 2 with FAST at 29.716 s."""
    ties = {"kind": "first-come", "sends": "queued", "clock": "double"}
    changes = [("ties", ties), ("record", "none")]
    flows = run(Scenario.load("caltech/test-case-2-fast", changes)).summary["flows"]
    assert flows["F2"]["finish_ack_s"] == pytest.approx(29.716, abs=5e-4)
