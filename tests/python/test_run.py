"""Running: progress, interruption, repetition."""

import itertools
import signal
import time
from importlib import import_module

import pytest
from small import document

import ackclock
from ackclock import RunInterrupted, Scenario, _core, run


def test_two_runs_give_the_same(small_scenario, small_results):
    again = run(small_scenario)
    assert again.summary["digest"] == small_results.summary["digest"]
    strip = {"wall_s": None}
    assert again.summary | strip == small_results.summary | strip


def test_recording_changes_nothing_else(small_results):
    quiet = run(Scenario.from_dict(document() | {"record": "none"}))
    assert quiet.summary["flows"] == small_results.summary["flows"]
    assert quiet.summary["links"] == small_results.summary["links"]
    assert quiet.summary["events"] == small_results.summary["events"]


def test_the_canonical_document_runs_to_the_same_digest(small_results):
    assert run(small_results.scenario).summary["digest"] == small_results.summary["digest"]


def test_progress_is_told_and_ends_at_the_end(small_scenario):
    states = []
    results = run(small_scenario, states.append)
    last = states[-1]
    assert last.events == results.summary["events"]
    assert last.packet_hops == results.summary["packet_hops"]
    assert (last.flows_done, last.flows_total) == (2, 2)
    assert last.stop_s == 20
    assert 0 <= last.wall_s <= results.summary["wall_s"]


def test_an_interrupted_run_keeps_what_there_is(small_scenario):
    endless = small_scenario.set("flows.*.send", "unlimited").set("stop.at_latest", "100 h")

    def interrupt(state):
        if state.now_s > 1:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as caught:
        run(endless.set("record", "none"), interrupt)
    assert isinstance(caught.value, KeyboardInterrupt)
    summary = caught.value.results.summary
    assert summary["finished"] is False
    assert summary["stop_reason"] == "interrupted"
    assert 1 < summary["end_s"] < 360_000
    assert summary["flows"]["F1"]["bytes_delivered"] > 0
    assert "interrupted" in caught.value.results.log


def test_the_function_wins_over_the_module_of_its_name():
    import_module("ackclock.run")
    assert ackclock.run is run
    assert callable(run)


def test_a_run_counts_what_leaves_the_senders_without_records(small_scenario, small_results):
    packets = small_results.table("packets").to_pylist()
    plain = run(small_scenario.set("record", "none")).summary["flows"]
    for name, flow in plain.items():
        sent = [
            packet
            for packet in packets
            if (packet["flow"], packet["kind"], packet["event"]) == (name, "data", "sent")
        ]
        # One link: what the hosts sent and its queue did not drop.
        assert flow["packets_on_wire"] == len(sent) - flow["segments_dropped"]
        assert sum(drops["packets"] for drops in flow["drops"]) == flow["segments_dropped"]
        assert {drops["link"] for drops in flow["drops"]} <= {"L1"}
        assert flow["bytes_on_wire"] >= flow["bytes_delivered"]
    assert any(flow["segments_dropped"] for flow in plain.values())


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("64 KiB", ("size", 65536)),
        ("1.5 Mbps", ("rate", 1_500_000)),
        ("20 packets", ("packets", 20)),
        ("10 ms", ("time", 10_000_000)),
        ("64", None),
        ("reno", None),
    ],
)
def test_quantities_are_read_by_their_unit(text, read):
    assert _core.quantity(text) == read


def test_a_limit_of_events_ends_a_run_in_the_middle(small_scenario):
    whole = run(small_scenario).summary
    part = run(small_scenario.set("stop.events", 100)).summary
    assert (part["stop_reason"], part["finished"], part["events"]) == (
        "too-many-events",
        False,
        100,
    )
    assert 0 < part["end_s"] < whole["end_s"]
    assert part == {**run(small_scenario.set("stop.events", 100)).summary, "wall_s": part["wall_s"]}
    enough = run(small_scenario.set("stop.events", whole["events"] + 1)).summary
    assert (enough["stop_reason"], enough["digest"]) == ("flows-complete", whole["digest"])


def test_the_summary_sums_up_flows_and_names_the_bottleneck(small_scenario):
    summary = run(small_scenario).summary
    flows = summary["flows"].values()
    delivered = sum(flow["bytes_delivered"] for flow in flows)
    lasted = max(flow["finish_s"] for flow in flows) - min(flow["start_s"] for flow in flows)
    assert summary["totals"]["goodput_bps"] == pytest.approx(8 * delivered / lasted, rel=1e-12)
    for name in ("retransmissions", "timeouts", "bytes_on_wire"):
        assert summary["totals"][name] == sum(flow[name] for flow in flows)
    assert summary["totals"]["packets_dropped"] == sum(summary["packets_dropped"].values())
    ways = [way for link in summary["links"].values() for way in link.values()]
    busiest = max(ways, key=lambda way: way["utilization"])
    found = summary["bottleneck"]
    assert summary["links"][found["link"]][found["direction"]] == busiest
    assert found["queueing_delay_s_mean"] == busiest["queueing_delay_s"]["mean"]
    for way in ways:
        assert way["packets_dropped"] == sum(way["drops"].values())


@pytest.mark.slow
def test_progress_is_reported_in_short_turns_also_where_single_events_are_heavy():
    # A window of a million segments over a short queue: one event sends them, and most are lost.
    scenario = Scenario.from_dict(
        {
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms"}],
            "flows": [
                {
                    "id": "F",
                    "from": "A",
                    "to": "B",
                    "tcp": {
                        "sender": "selective-repeat",
                        "cc": {"kind": "fixed", "window": 1_000_000},
                        "segment": "2 B",
                    },
                }
            ],
            "stop": {"at_latest": "1 h"},
            "record": "none",
        }
    )
    turns = []

    def progress(state):
        turns.append(time.process_time())
        if len(turns) == 5:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as interrupted:
        run(scenario, progress)
    assert max(b - a for a, b in itertools.pairwise(turns)) < 1
    assert interrupted.value.results.summary["stop_reason"] == "interrupted"


def test_a_second_ctrl_c_ends_a_run_whose_links_are_far_ahead():
    """A queue on the first link is known for minutes, in which the other flow sends millions."""
    slow = {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1000 B"}}
    fast = {"source": {"kind": "cbr", "rate": "1 Gbps", "write": "100 B"}}
    document = {
        "hosts": ["A", "B", "C", "D"],
        "routers": ["R"],
        "links": [
            {"id": "slow", "between": ["A", "R"], "rate": "10 kbps", "delay": "1 ms"},
            {"id": "next", "between": ["R", "B"], "rate": "1 Mbps", "delay": "1 ms"},
            {"id": "fast", "between": ["C", "D"], "rate": "1 Gbps", "delay": "1 ms"},
        ],
        "defaults": {"link": {"queue": {"limit": "unlimited"}}},
        "flows": [
            {"id": "F1", "from": "A", "to": "B", "udp": slow},
            {"id": "F2", "from": "C", "to": "D", "start": "1 s", "udp": fast},
        ],
        "stop": {"when": "time", "at_latest": "10 h"},
        "record": "none",
    }
    simulation = _core.Simulation(Scenario.from_dict(document).handle)
    while simulation.now_s < 1:
        simulation.advance(0.0)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    started = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            simulation.finish()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.process_time() - started < 1


def test_jains_index_counts_who_has_begun():
    """A flow that begins after the end is no user of the network."""
    scenario = Scenario.load("teach/cubic-bbr").set("stop.at_latest", "2 s")
    both = run(scenario).summary["fairness_jain"]
    alone = run(scenario.set("flows.bbr.start", "3 s")).summary
    assert both < 1.0
    assert alone["flows"]["bbr"]["goodput_bps"] is None and alone["fairness_jain"] == 1.0
    # Who has begun, and gets nothing, counts.
    assert run(scenario.set("flows.bbr.start", "1.9999 s")).summary["fairness_jain"] == 0.5
