"""Small documents that once hung or came to impossible figures: an error, or a right figure."""

import time
from typing import Any

import pytest

from ackclock import Scenario, ScenarioError, _core, run
from ackclock.plots import fairness
from ackclock.plots.view import View

Doc = dict[str, Any]


def document(flow: Doc, link: Doc | None = None, **more: Any) -> Doc:
    """Return flow F from A to B over link L of 10 Mbps and 1 ms."""
    return {
        "hosts": ["A", "B"],
        "links": [
            {"id": "L", "between": ["A", "B"], "rate": "10 Mbps", "delay": "1 ms", **(link or {})}
        ],
        "flows": [{"id": "F", "from": "A", "to": "B", **flow}],
        **more,
    }


def source(**periods: Doc) -> Doc:
    return {"source": {"kind": "on-off", "rate": "1 Mbps", "write": "1000 B", **periods}}


def test_a_flow_may_be_stopped_before_its_connection_is_open():
    """Its SYN, the answer, or what a queue still holds of them, come to an end that is gone."""
    for stop in ("50 ms", "150 ms"):
        flows = [{"id": "F", "from": "A", "to": "B", "stop": stop}]
        flows.append({"id": "G", "from": "A", "to": "B", "send": "100 kB"})
        data = document({}, {"delay": "100 ms"}, stop={"at_latest": "5 s"})
        results = run(Scenario.from_dict({**data, "flows": flows}))
        assert results.summary["flows"]["F"]["bytes_delivered"] == 0
        assert results.summary["flows"]["G"]["bytes_delivered"] == 100_000


@pytest.mark.parametrize("kind", ["droptail", "codel"])
def test_no_packet_waits_longer_than_the_run(kind):
    """Of a packet that still waits at the end counts for how long it has waited."""
    slows = {"rate": "1 Mbps", "changes": [{"at": "1 s", "rate": "1 kbps"}]}
    for link in (slows, {"rate": "100 kbps"}):
        cbr = {"udp": {"source": {"kind": "cbr", "rate": "1500 kbps", "write": "1000 B"}}}
        queue = {"queue": {"kind": kind, "limit": "100 packets"}}
        data = document(cbr, {**link, **queue}, stop={"when": "time", "at_latest": "5 s"})
        results = run(Scenario.from_dict(data))
        waits = results.summary["links"]["L"]["forward"]["queueing_delay_s"]
        held = results.table("waiting").to_pandas()["time_s"]
        started = results.table("transmissions").to_pandas()
        longest = max((started["time_s"] - started["entered_s"]).max(), 5.0 - held.min())
        assert waits["max"] == pytest.approx(longest, abs=1e-9)
        assert waits["mean"] <= waits["max"] < 5.0


@pytest.mark.parametrize("kind", ["sfq", "drr", "cake", "fq-codel", "fq-pie"])
def test_a_limit_in_bytes_holds_where_packets_differ_in_size(kind):
    """A large packet may take the place of several small ones."""
    small = {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "40 B"}}
    large = {"source": {"kind": "cbr", "rate": "100 kbps", "write": "1500 B"}}
    ends = {"from": "A", "to": "B"}
    starts = {"kind": "uniform", "to": "100 ms"}
    flows = [{"id": "S", **ends, "udp": small}]
    flows.append({"id": "F", "count": 100, **ends, "start": starts, "udp": large})
    queue = {"rate": "1 Mbps", "queue": {"kind": kind, "limit": "3000 B"}}
    data = document({}, queue, stop={"when": "time", "at_latest": "2 s"}, record="none")
    results = run(Scenario.from_dict({**data, "flows": flows}))
    assert 1500 <= results.summary["links"]["L"]["forward"]["queue_bytes"]["max"] <= 3000


@pytest.mark.parametrize("limit", ["stop.events=100", "stop.max_packets=1"])
def test_a_run_that_is_aborted_ends_with_status_1(ackclock, tmp_path, limit):
    out = ("--out", tmp_path / "out", "--no-plots")
    status, out, _ = ackclock("run", "teach/sawtooth", *out, "--set", limit)
    assert status == 1
    assert "allows; " in out


def test_a_flow_that_is_stopped_is_not_called_complete(ackclock, tmp_path):
    stops = ("--set", "flows.*.stop=1 s", "--set", "stop.when=flows-complete")
    out = ackclock("run", "teach/sawtooth", "--out", tmp_path / "out", "--no-plots", *stops)[1]
    assert "all flows are complete or stopped" in out


def test_the_plot_of_fairness_has_the_index_of_the_summary():
    """Without a flow that was to start after the end."""
    data = document({}, stop={"when": "time", "at_latest": "2 s"})
    flows = [{"id": name, "from": "A", "to": "B"} for name in "FG"]
    flows.append({"id": "late", "from": "A", "to": "B", "start": "5 s"})
    results = run(Scenario.from_dict({**data, "flows": flows}))
    shown = fairness._of_run(View(results))
    assert shown.goodputs.keys() == {"F", "G"}
    assert shown.fairness == pytest.approx(results.summary["fairness_jain"])


@pytest.mark.parametrize("kind", ["tbf", "policer"])
def test_a_bucket_that_holds_no_packet_is_warned_of(kind):
    queue = {"kind": kind, "rate": "1 Mbps", "burst": "1000 B"}
    scenario = Scenario.from_dict(document({"send": "1 MB"}, {"forward": {"queue": queue}}))
    (problem,) = scenario.warnings
    assert problem.path.endswith("queue.burst")
    assert problem.message.startswith("no packet ever fits: data packets of flow `F` have 1500 B")


@pytest.mark.parametrize(
    ("queue", "key"),
    [
        ({"kind": "tbf", "rate": "1 Mbps", "burst": "1000 B"}, "burst"),
        ({"kind": "policer", "rate": "1 Mbps", "burst": "1000 B"}, "burst"),
        ({"limit": "1000 B"}, "limit"),
    ],
)
def test_where_only_small_packets_of_a_flow_fit_it_is_said_so(queue, key):
    writes = [{"at": f"{at} ms", "size": size} for at, size in [(1, "1500 B"), (2, "100 B")]]
    flow = {"udp": {"source": {"kind": "schedule", "writes": writes}}}
    scenario = Scenario.from_dict(document(flow, {"forward": {"queue": queue}}))
    (problem,) = scenario.warnings
    assert problem.path.endswith(f"queue.{key}")
    assert problem.message.startswith("some packets never fit: packets of flow `F` have up to 1500")
    large = {"udp": {"source": {"kind": "schedule", "writes": writes[:1]}}}
    if key == "limit":
        with pytest.raises(ScenarioError, match="no packet ever fits: packets of flow `F` have"):
            Scenario.from_dict(document(large, {"forward": {"queue": queue}}))
        # A warning of one flow does not hide that another one never gets through.
        data = document(flow, {"forward": {"queue": queue}})
        data["flows"].append({"id": "G", "from": "A", "to": "B", "send": "1 MB"})
        with pytest.raises(ScenarioError, match="no packet ever fits: data packets of flow `G`"):
            Scenario.from_dict(data)
    else:
        (problem,) = Scenario.from_dict(document(large, {"forward": {"queue": queue}})).warnings
        assert problem.message.startswith("no packet ever fits: packets of flow `F` have 1500 B")


ZERO = {"kind": "fixed", "mean": "0 s"}
FAST = {"sender": "classic", "recovery": "newreno", "segment": "536 B"}


@pytest.mark.parametrize(
    ("flow", "place", "words"),
    [
        (
            {"tcp": {**FAST, "cc": {"kind": "fast", "alpha": 800_000_000, "update": "rtt"}}},
            "flows.F.tcp.cc.alpha",
            "too large",
        ),
        (
            {"send": "10 KB", "tcp": {"rto": {"kind": "ticks", "tick": f"{2**64 - 1} ns"}}},
            "flows.F.tcp.rto.tick",
            "too large",
        ),
        (
            {"send": "10 KB", "udp": source(on=ZERO, off=ZERO)},
            "flows.F.udp.source.on.mean",
            "on-periods of no length hold no write",
        ),
        ({"send": {"file": "~nouser/x"}}, "flows.F.send.file", "there is no such file"),
    ],
    ids=["a window without end", "a tick of centuries", "periods of no length", "nobody's home"],
)
def test_what_cannot_be_simulated_is_an_error_at_its_place(flow: Doc, place: str, words: str):
    with pytest.raises(ScenarioError) as error:
        Scenario.from_dict(document(flow))
    assert f"{place}: " in str(error.value)
    assert words in str(error.value)


@pytest.mark.slow
def test_a_window_of_a_million_packets_leaves_in_turns():
    tcp = {"sender": "selective-repeat", "cc": {"kind": "fixed", "window": 1_000_000}}
    flow = {"tcp": {**tcp, "segment": "2 B"}}
    scenario = Scenario.from_dict(document(flow, stop={"at_latest": "1 h"}, record="none"))
    simulation = _core.Simulation(scenario.handle)
    for _ in range(8):
        before = time.process_time()
        simulation.advance(0.02)
        assert time.process_time() - before < 1
    assert simulation.now_s < 3600


def seconds_a_packet(tcp: Doc | str, link: Doc, stop: str) -> float:
    """CPU time of a run for each packet sent, the least of three."""
    scenario = Scenario.from_dict(
        document({"tcp": tcp}, link, stop={"at_latest": stop}, record="none")
    )
    times = []
    for _ in range(3):
        before = time.process_time()
        sent = run(scenario).summary["flows"]["F"]["segments_sent"]
        times.append((time.process_time() - before) / sent)
    return min(times)


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["modern", "selective-repeat"])
def test_an_ack_takes_no_longer_where_thousands_of_packets_are_missing(sender: str):
    """Far more is sent than the queue takes, so that every other packet of a window is missing."""

    def seconds(window: int) -> float:
        tcp = {"sender": sender, "cc": {"kind": "fixed", "window": window}, "segment": "2 B"}
        return seconds_a_packet(tcp, {"rate": "1 Gbps"}, "200 ms")

    assert seconds(20_000) < 4 * seconds(1_000)


@pytest.mark.slow
def test_a_slow_start_far_beyond_the_queue_of_a_long_path_takes_its_packets_and_no_more():
    """Every other packet of the last round is missing at the receiver: 80 of them, or 80,000."""

    def seconds(rate: str) -> float:
        link = {"rate": rate, "delay": "50 ms", "queue": {"limit": "1 BDP"}}
        return seconds_a_packet("newreno", link, "2.5 s")

    assert seconds("10 Gbps") < 2 * seconds("100 Mbps")


def test_a_rate_that_changes_during_a_transmission_does_not_make_a_link_busier_than_time():
    changes = [{"at": "1 ms", "rate": "1 Mbps"}]
    link = {"rate": "100 bps", "changes": changes}
    flow = {"send": "10 KB", "tcp": "fast"}  # without a handshake
    results = run(Scenario.from_dict(document(flow, link, stop={"at_latest": "10 s"})))
    # The first packet takes two minutes at the rate at which it began.
    forward = results.summary["links"]["L"]["forward"]
    assert forward["utilization"] == pytest.approx(1.0, abs=1e-4)
    assert forward["utilization"] <= 1
    assert results.summary["flows"]["F"]["bytes_delivered"] == 0


def test_a_window_has_its_mean_between_its_bounds_though_the_flow_ends_early():
    flows = document({"send": "4 KB"}, {"rate": "10 kbps", "delay": "2 s"})
    flows["flows"].append({"id": "G", "from": "A", "to": "B"})
    results = run(
        Scenario.from_dict({**flows, "stop": {"when": "time", "at_latest": "100 s"}}),
    )
    for flow in results.summary["flows"].values():
        assert 1460 <= flow["cwnd_bytes"]["mean"] <= flow["cwnd_bytes"]["max"]


def test_a_cut_that_subtracts_more_than_there_is_leaves_a_segment():
    cc = {"kind": "aiad", "subtract": 20}
    results = run(
        Scenario.from_dict(
            document(
                {
                    "send": "200 KB",
                    "tcp": {"sender": "classic", "recovery": "vegas", "cc": cc},
                },
                {"loss": {"kind": "periodic", "every": 15}, "queue": {"limit": "20 packets"}},
                stop={"at_latest": "60 s"},
            )
        )
    )
    segment = results.scenario.model["flows"][0]["tcp"]["segment_bytes"]
    assert results.table("cwnd").to_pandas().cwnd_bytes.min() >= segment
    assert results.summary["flows"]["F"]["bytes_delivered"] == 200_000
