"""Fair queues, priorities, shapers and policers in whole networks."""

import pytest
from test_congestion_laws import MSS, PACKET, one_link

import ackclock


def over(queue, *flows, rate="10 Mbps", delay="9 ms", end_s=20, record: object = "none"):
    """Run flows, TCP or UDP, over a dumbbell with this queue at its bottleneck."""
    document = {
        "topology": {
            "kind": "dumbbell",
            "leaves": len(flows),
            "access": {"rate": "1 Gbps", "delay": "0.5 ms"},
            "bottleneck": {"rate": rate, "delay": delay, "queue": queue},
        },
        "flows": [
            {"id": f"F{i}", "from": f"S{i}", "to": f"D{i}", **flow}
            for i, flow in enumerate(flows, 1)
        ],
        "stop": {"when": "time", "at_latest": f"{end_s} s"},
        "record": record,
    }
    return ackclock.run(ackclock.Scenario.from_dict(document))


def rates(results, end_s=20):
    flows = results.summary["flows"].values()
    return [flow["bytes_delivered"] * 8 / end_s / 1e6 for flow in flows]


FLOOD = {"udp": {"source": {"kind": "cbr", "rate": "20 Mbps", "write": "1472 B"}}}


@pytest.mark.parametrize("kind", ["drr", "sfq"])
def test_a_flood_takes_no_more_than_its_share(kind):
    queue = {"kind": kind, "limit": "100 packets", "queues": "by-flow"}
    cubic, flood = rates(over(queue, {"tcp": "linux-cubic"}, FLOOD))
    assert cubic == pytest.approx(5, rel=0.06)
    assert flood == pytest.approx(5, rel=0.06)
    cubic, flood = rates(over({"limit": "100 packets"}, {"tcp": "linux-cubic"}, FLOOD))
    assert cubic < 0.5
    assert flood > 9


def test_the_first_flow_of_a_priority_gets_all_it_wants():
    call = {"udp": {"source": {"kind": "cbr", "rate": "3 Mbps", "write": "972 B"}}}
    queue = {"kind": "priority", "bands": 2, "limit": "100 packets"}
    record = {"kind": "none", "transmissions": "changes"}
    results = over(queue, call, {"tcp": "linux-cubic"}, record=record)
    table = results.table("transmissions").to_pandas()
    mine = table[(table.link == "bottleneck") & (table.flow == "F1")]
    waits = mine.time_s - mine.entered_s
    # At most the rest of a packet in transmission: 1500 B at 10 Mbit/s.
    assert waits.max() <= 1500 * 8 / 10e6
    assert results.summary["flows"]["F1"]["segments_dropped"] == 0
    assert rates(results)[1] == pytest.approx((10 - 3 * 1000 / 972) * MSS / PACKET, rel=0.05)


def test_a_shaper_is_a_slow_link_with_a_queue():
    queue = {"kind": "tbf", "rate": "10 Mbps", "burst": "15 kB", "limit": "50 packets"}
    results = over(queue, {"tcp": "linux-reno"}, rate="100 Mbps", record="all")
    assert rates(results)[0] == pytest.approx(10 * MSS / PACKET, rel=0.05)
    table = results.table("transmissions").to_pandas()
    mine = table[(table.link == "bottleneck") & (table.direction == "forward")]
    # The queue is full now and then: 50 packets at the rate of the tokens.
    waits = mine.time_s - mine.entered_s
    assert waits.max() == pytest.approx(50 * PACKET * 8 / 10e6, rel=0.2)
    # In no second more than the burst and the rate.
    for second in range(20):
        sent = mine[mine.time_s.between(second, second + 1)].bytes.sum()
        assert sent <= 15_000 + 10e6 / 8 + PACKET
    assert results.summary["links"]["bottleneck"]["forward"]["utilization"] < 0.12


def test_a_shaper_gives_the_same_run_in_any_number_of_threads_and_orders():
    queue = {"kind": "tbf", "rate": "10 Mbps", "burst": "15 kB", "limit": "50 packets"}
    runs = [
        over(queue, {"tcp": "linux-cubic"}, FLOOD, rate="100 Mbps", end_s=5, record=record)
        for record in ("none", "all")
    ]
    assert runs[0].summary["digest"] == runs[1].summary["digest"]


def test_packets_longer_than_the_bucket_are_dropped_also_by_an_idle_link():
    queue = {"kind": "tbf", "rate": "10 Mbps", "burst": "1000 B"}
    results = over(queue, FLOOD, rate="100 Mbps", end_s=1)
    flow = results.summary["flows"]["F1"]
    assert flow["segments_dropped"] > 1000
    assert flow["bytes_delivered"] == 0
    forward = results.summary["links"]["bottleneck"]["forward"]
    assert forward["packets_dropped"] == flow["segments_dropped"]


@pytest.mark.parametrize(("packets", "low", "high"), [(8, 0.70, 0.80), (139, 0.95, 1.0)])
def test_reno_behind_a_policer_needs_a_bucket_for_the_top_of_its_sawtooth(packets, low, high):
    """Without a queue the window swings from W / 2 to W at a constant RTT.

    A tiny bucket cuts it at the rate: 3/4 of it is left. For all of it the bucket has to hold
    what is above the rate while it swings from 2/3 to 4/3 of the path's 50 packets: 50² / 18 = 139.
    """
    tcp = {
        "preset": "linux-reno",
        "pacing": "window",
        "receiver": {"kind": "immediate"},
        "initial_ssthresh": 30,
    }
    queue = {"kind": "policer", "rate": "15 Mbps", "burst": f"{packets * PACKET} B"}
    results = one_link(1000, 40, tcp, queue=queue, end_s=60)
    rate = results.summary["flows"]["F0"]["goodput_bps"] / 15e6 * PACKET / MSS
    assert low < rate < high


def test_bbr_takes_note_of_a_policer():
    queue = {"kind": "policer", "rate": "10 Mbps", "burst": "60 kB"}
    lost = {}
    for name, tcp in {
        "model": {"preset": "linux-bbr"},
        "none": {"preset": "linux-bbr", "cc": {"kind": "bbr", "policer_model": False}},
        "version 3": {"preset": "linux-bbr3"},
    }.items():
        flow = one_link(100, 40, tcp, queue=queue, end_s=10).summary["flows"]["F0"]
        lost[name] = flow["segments_dropped"] / flow["segments_sent"]
        assert flow["goodput_bps"] > 0.9 * 10e6, name
    # While the model is in force, 48 round trips, the flow does not probe.
    assert lost["model"] < 0.9 * lost["none"]
    assert lost["version 3"] < 0.7 * lost["none"]


@pytest.mark.slow
def test_blue_settles_where_the_queue_is_not_full():
    """Twenty flows that heed marks: after a while hardly anything is dropped for lack of room."""
    flow = {"tcp": {"preset": "linux-reno", "ecn": True}}
    full = []
    for queue in ({"kind": "blue", "ecn": True}, {"kind": "droptail"}):
        record = {"kind": "none", "drops": "changes"}
        results = over({**queue, "limit": "100 packets"}, *[flow] * 20, end_s=60, record=record)
        drops = results.table("drops").to_pandas()
        full.append(((drops.time_s > 30) & (drops.reason == "queue-full")).sum())
        assert sum(rates(results, 60)) > 0.9 * 10
    assert full[0] < 0.05 * full[1]


@pytest.mark.parametrize(
    ("queue", "word"),
    [
        ({"kind": "tbf", "rate": "1 Mbps"}, "burst"),
        ({"kind": "tbf", "rate": "0 bps", "burst": "9 kB"}, "rate: `0 bps` is too small"),
        ({"kind": "tbf", "rate": "5 Mbps", "burst": "9 kB", "peak_rate": "4 Mbps"}, "peak_rate"),
        ({"kind": "tbf", "rate": "5 Mbps", "burst": "9 kB", "mtu": "9 kB"}, "mtu"),
        ({"kind": "sfq", "queues": "by-flow", "perturb": "10 s"}, "perturb"),
        ({"kind": "priority", "band": "by-kind", "bands": 4}, "bands"),
    ],
)
def test_settings_that_cannot_be_are_refused(queue, word):
    with pytest.raises(ackclock.ScenarioError, match=word):
        over(queue, {"tcp": "linux-reno"})
