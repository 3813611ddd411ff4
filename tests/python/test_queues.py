"""Queue disciplines in networks: ns-2.35, closed forms, and what their scenarios promise."""

from typing import Any

import numpy as np
import pytest

from ackclock import Results, Scenario, run

RECORD = {"kind": "none", "transmissions": "changes", "drops": "changes", "marks": "changes"}


def waits(results: Results, after_s: float, flow: str | None = None) -> tuple[np.ndarray, float]:
    """Return the waits at the bottleneck after a time, in seconds, and how busy it was since."""
    table = results.table("transmissions").to_pandas()
    table = table[(table.link == "bottleneck") & (table.direction == "forward")]
    table = table[table.time_s > after_s]
    links = results.scenario.model["links"]
    rate = next(link for link in links if link["id"] == "bottleneck")["forward"]["rate_bps"]
    busy = 8 * table.bytes.sum() / rate / (results.summary["end_s"] - after_s)
    if flow is not None:
        table = table[table.flow == flow]
    return (table.time_s - table.entered_s).to_numpy(), float(busy)


def downloads(
    queue: dict[str, Any], count: int, delay_ms: int = 18, mbps: int = 10, ecn: bool = False
) -> Results:
    """Return a run of Reno flows of 60 s over this bottleneck; round trip 2 (delay + 2 ms)."""
    edge = {"rate": "1 Gbps", "delay": "1 ms", "queue": {"kind": "droptail", "limit": "unlimited"}}
    middle = {
        **edge,
        "rate": f"{mbps} Mbps",
        "delay": f"{delay_ms} ms",
        "forward": {"queue": queue},
    }
    ends = [[f"{end}{i}" for i in range(1, count + 1)] for end in "SD"]
    access = [{**edge, "id": f"in{i}", "between": [s, "R1"]} for i, s in enumerate(ends[0])]
    egress = [{**edge, "id": f"out{i}", "between": ["R2", d]} for i, d in enumerate(ends[1])]
    flow = {"id": "F", "count": count, "from": "S*", "to": "D*"}
    tcp: dict[str, Any] = {
        "sender": "classic",
        "initial_window": 10,
        "cc": "reno",
        "recovery": "newreno",
    }
    tcp["ecn"] = ecn
    start = {"kind": "spread", "over": "1 s"}
    document = {
        "hosts": [*ends[0], *ends[1]],
        "routers": ["R1", "R2"],
        "links": [*access, *egress, {**middle, "id": "bottleneck", "between": ["R1", "R2"]}],
        "flows": [{**flow, "start": start, "tcp": tcp}],
        "stop": {"when": "time", "at_latest": "60 s"},
        "record": RECORD,
    }
    return run(Scenario.from_dict(document))


@pytest.mark.slow
def test_red_with_ten_flows_is_that_of_ns_2():
    """Ten runs of ns-2.35, 20 to 120 s: 8.761 (sd 0.025) packets wait, 1995 (18) are dropped."""
    results = run(Scenario.load("queues/red-ns2").set("record", RECORD))
    wait, busy = waits(results, 20.0)
    drops = results.table("drops").to_pandas()
    drops = drops[(drops.link == "bottleneck") & (drops.time_s > 20.0)]
    # One run lies within three standard deviations of theirs.
    assert wait.sum() / 100 == pytest.approx(8.761, abs=3 * 0.025 + 0.02)
    assert len(drops) == pytest.approx(1995, abs=3 * 18)
    assert set(drops.reason) == {"early"}
    assert busy == pytest.approx(0.9847, abs=0.003)


@pytest.mark.slow
@pytest.mark.parametrize(("spacing", "often"), [("none", 1.0), ("uniform", 2.0), ("wait", 2 / 3)])
def test_red_settles_where_its_line_meets_the_response_of_reno(spacing: str, often: float):
    """p = 1.5 / W² of Reno is p = often max_p (q - min) / (max - min) of RED; W = (C R + q) / N."""
    flows, low, high, most = 10, 20, 120, 0.02
    queue = {
        "kind": "red",
        "limit": "1000 packets",
        "min": f"{low} packets",
        "max": f"{high} packets",
        "max_p": most,
        "spacing": spacing,
        "mean_packet": "1500 B",
    }
    wait, busy = waits(downloads(queue, flows, delay_ms=23, mbps=30), 20.0)
    assert busy > 0.99
    rate = 30e6 / (8 * 1500)
    predicted = float(low)
    for _ in range(200):
        window = (rate * 0.05 + predicted) / flows
        meets = low + 1.5 / window**2 / (often * most) * (high - low)
        predicted = 0.9 * predicted + 0.1 * meets
    assert rate * wait.mean() == pytest.approx(predicted, rel=0.05)


@pytest.mark.parametrize(("delay_ms", "spell"), [(18, 2.4), (48, 1.0)])
def test_one_flow_through_codel_uses_the_link_as_its_sawtooth_says(delay_ms: int, spell: float):
    """Its window grows to P + rate target, and for the interval on by a packet each round trip.

    Utilisation of a sawtooth with B beyond the P packets of the path, b = B / P:
    3/4 (1 + b)² / (1 + b + b²).
    """
    wait, busy = waits(downloads({"kind": "codel"}, 1, delay_ms), 10.0)
    path = 10e6 * 2 * (delay_ms + 2) * 1e-3 / (8 * 1500)
    b = (10e6 * 0.005 / (8 * 1500) + spell) / path
    assert busy == pytest.approx(0.75 * (1 + b) ** 2 / (1 + b + b**2), rel=0.03)
    assert np.median(wait) < 0.005


@pytest.mark.parametrize(
    ("queue", "target_s"),
    [({"kind": "codel"}, 0.005), ({"kind": "fq-codel"}, 0.005), ({"kind": "pie"}, 0.015)],
)
def test_several_flows_keep_the_link_busy_with_a_wait_near_the_target(
    queue: dict[str, Any], target_s: float
):
    wait, busy = waits(downloads(queue, 4), 10.0)
    assert busy > 0.95
    assert 0.5 * target_s < wait.mean() < 2 * target_s


def test_udp_flows_get_equal_shares_of_fq_codel_whatever_their_packets():
    """Four greedy sources with packets of 200 to 1500 B: shares within a quantum at any time."""
    sizes = [200, 600, 1000, 1500]
    flows = [
        {
            "id": f"F{i}",
            "from": "A",
            "to": "B",
            "udp": {"source": {"kind": "cbr", "rate": "5 Mbps", "write": f"{size} B"}},
        }
        for i, size in enumerate(sizes)
    ]
    document = {
        "hosts": ["A", "B"],
        "links": [
            {
                "id": "bottleneck",
                "between": ["A", "B"],
                "rate": "8 Mbps",
                "delay": "1 ms",
                "queue": {"kind": "fq-codel", "queues": "by-flow"},
            }
        ],
        "flows": flows,
        "stop": {"when": "time", "at_latest": "10 s"},
        "record": RECORD,
    }
    results = run(Scenario.from_dict(document))
    table = results.table("transmissions").to_pandas()
    table = table[table.time_s > 1.0]
    sent = np.array([np.where(table.flow == f"F{i}", table.bytes, 0) for i in range(4)]).cumsum(1)
    # Each pair over any interval: a quantum and a packet at either end of it.
    spread = sent[:, None, :] - sent[None, :, :]
    assert (spread.max(axis=2) - spread.min(axis=2)).max() <= 2 * (1514 + 1500)
    assert sent[:, -1].min() > 2_200_000


def test_marks_reach_the_receiver_and_the_records():
    source = {"source": {"kind": "cbr", "rate": "6 Mbps", "write": "1000 B"}}
    document = {
        "hosts": ["A", "B"],
        "links": [
            {
                "id": "bottleneck",
                "between": ["A", "B"],
                "rate": "10 Mbps",
                "delay": "1 ms",
                "queue": {"kind": "codel", "ecn": True, "limit": "unlimited"},
            }
        ],
        "flows": [
            {"id": "marked", "from": "A", "to": "B", "udp": {**source, "ecn": True}},
            {"id": "plain", "from": "A", "to": "B", "udp": source},
        ],
        "stop": {"when": "time", "at_latest": "5 s"},
        "record": RECORD,
    }
    results = run(Scenario.from_dict(document))
    marks, drops = results.table("marks").to_pandas(), results.table("drops").to_pandas()
    link = results.summary["links"]["bottleneck"]["forward"]
    assert link["marks"] == len(marks) > 10
    assert link["drops"]["codel"] == len(drops) > 10
    assert set(marks.flow) == {"marked"} and set(drops.flow) == {"plain"}
    # What waits or travels at the end has not arrived.
    received = results.summary["flows"]["marked"]["marks_received"]
    assert len(marks) - 5 <= received <= len(marks)
    # Drops at the head: these packets had waited for longer than the target.
    assert (drops.time_s - drops.entered_s).min() >= 0.005


@pytest.mark.parametrize("kind", ["red", "codel", "pie", "fq-codel"])
def test_flows_that_answer_to_marks_lose_nothing_to_a_queue_that_marks(kind: str):
    queue: dict[str, Any] = {"kind": kind, "limit": "unlimited", "ecn": True}
    if kind == "red":
        # Marks beyond twice `max`, too.
        queue |= {"min": "10 packets", "max": "30 packets", "hard_drop": False}
    if kind == "pie":
        queue |= {"mark_limit": 1}
    results = downloads(queue, 4, ecn=True)
    link = results.summary["links"]["bottleneck"]["forward"]
    assert sum(link["drops"].values()) == 0
    assert link["marks"] > 100
    marks = results.table("marks").to_pandas()
    # Neither openings of connections nor ACKs say that they are ECN-capable.
    assert set(marks.kind) == {"data"}
    for name, flow in results.summary["flows"].items():
        assert flow["retransmissions"] == 0
        # At most one cut a round trip, whatever it has of marks.
        assert 20 < flow["ecn_reductions"] <= (marks.flow == name).sum()
    assert waits(results, 10.0)[1] > 0.9


@pytest.mark.slow
def test_a_call_waits_as_the_scenarios_say():
    def call(kind: str) -> tuple[float, float, float]:
        scenario = Scenario.load(f"queues/{kind}").set("record", RECORD)
        results = run(scenario)
        table = results.table("transmissions").to_pandas()
        table = table[(table.link == "bottleneck") & (table.direction == "forward")]
        table = table[table.time_s > 10.0]
        wait = (table.time_s - table.entered_s)[table.flow == "call"]
        return 1e3 * wait.mean(), 1e3 * wait.max(), 8 * table.bytes.sum() / 10e6 / 50

    mean, longest, busy = call("bufferbloat")
    assert 800 < mean < 880 and 900 < longest < 1050 and busy > 0.999
    mean, _, busy = call("codel")
    assert 8.5 < mean < 9.5 and 0.98 < busy < 0.995
    _, longest, busy = call("codel-ecn")
    assert longest < 30 and 0.98 < busy < 0.995
    mean, _, busy = call("pie")
    assert 17 < mean < 19 and busy > 0.985
    mean, longest, busy = call("fq-codel")
    assert mean < 1 and longest < 5 and busy > 0.995
    mean, _, busy = call("red")
    assert 6 < mean < 7 and 0.86 < busy < 0.89


def test_a_capture_knows_packets_that_left_the_queue_without_being_sent(tmp_path):
    """Drops at the head and queues by flow change the order of packets; the numbers follow."""
    queue = {"kind": "fq-codel", "limit": "20 packets", "batch": 4, "target": "1 ms"}
    results = downloads({**queue, "interval": "20 ms"}, 3)
    table = results.table("transmissions").to_pandas()
    middle = table[(table.link == "bottleneck") & (table.direction == "forward")]
    drops = results.table("drops").to_pandas()
    drops = drops[drops.link == "bottleneck"]
    assert len(set(drops.reason)) == 2
    # A packet is sent or dropped, once, and belongs to the flow that its first link knew.
    assert not set(middle.packet_id) & set(drops.packet_id)
    assert middle.packet_id.is_unique and drops.packet_id.is_unique
    flow_of = table[table.link != "bottleneck"].drop_duplicates("packet_id").set_index("packet_id")
    for rows in (middle, drops):
        assert (flow_of.flow.loc[rows.packet_id].to_numpy() == rows.flow.to_numpy()).all()
        assert (flow_of.seq.loc[rows.packet_id].to_numpy() == rows.seq.to_numpy()).all()


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ({"kind": "red", "min": "20 packets"}, "`min` (20 packets) is above `max` (15 packets)"),
        ({"kind": "red", "min": "5 kB"}, "`min` and `max` are in different units"),
        ({"kind": "red", "hard_drop": False}, "`hard_drop` has no effect without ecn: true"),
        ({"kind": "red", "adapt_interval": "1 s"}, "`adapt_interval` has no effect without"),
        ({"kind": "codel", "target": "1 s"}, "`target` (1 s) is above `interval` (100 ms)"),
        ({"kind": "pie", "mark_limit": 0.2}, "`mark_limit` has no effect without ecn: true"),
        ({"kind": "cobalt", "target": "1 s"}, "`target` (1 s) is above `interval` (100 ms)"),
        ({"kind": "cake", "overhead": "8 B"}, "`overhead` has no effect without `rate`"),
        ({"kind": "cake", "framing": "atm"}, "`framing` has no effect without `rate`"),
    ],
)
def test_settings_that_clash_are_errors(queue: dict[str, Any], words: str):
    from ackclock.errors import ScenarioError

    document = {
        "hosts": ["A", "B"],
        "links": [{"id": "L", "between": ["A", "B"], "queue": queue}],
        "flows": [{"id": "F", "from": "A", "to": "B", "send": "1 MB"}],
    }
    with pytest.raises(ScenarioError) as error:
        Scenario.from_dict(document)
    assert words in str(error.value)


def shares_of_two_hosts(isolation: str) -> list[float]:
    """Return what five flows get of a shaper: one of host A, four of host B, all to host D."""
    queue = {"kind": "cake", "rate": "20 Mbps", "isolation": isolation}
    edge = {"rate": "1 Gbps", "delay": "1 ms"}
    document = {
        "hosts": ["A", "B", "D"],
        "routers": ["R", "S"],
        "links": [
            {"id": "a", "between": ["A", "R"], **edge},
            {"id": "b", "between": ["B", "R"], **edge},
            {
                "id": "L",
                "between": ["R", "S"],
                "rate": "100 Mbps",
                "delay": "18 ms",
                "forward": {"queue": queue},
            },
            {"id": "d", "between": ["S", "D"], **edge},
        ],
        "flows": [{"id": f"F{i}", "from": "B" if i else "A", "to": "D"} for i in range(5)],
        "stop": {"when": "time", "at_latest": "30 s"},
        "record": "none",
    }
    flows = run(Scenario.from_dict(document)).summary["flows"].values()
    return [flow["goodput_bps"] / (20e6 * 1448 / 1500) for flow in flows]


@pytest.mark.parametrize(
    ("isolation", "lone"), [("senders", 1 / 2), ("triple", 1 / 5), ("flows", 1 / 5)]
)
def test_cake_shapes_and_is_fair_among_hosts(isolation: str, lone: float):
    shares = shares_of_two_hosts(isolation)
    assert 0.93 < sum(shares) <= 1
    # A lone flow of CUBIC leaves a tenth of its share idle behind CoDel's drops.
    assert shares[0] == pytest.approx(lone, rel=0.1)
    assert shares[1:] == pytest.approx([(1 - lone) / 4] * 4, rel=0.1)
