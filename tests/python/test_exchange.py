"""Other people's formats: qlog, scripts for real hosts, measurements beside a run."""

import ast
import heapq
import json
import re
import shutil
import subprocess

import jsonschema
import numpy as np
import pytest
from small import document as small_document

from ackclock import InputError, Scenario, measured, metrics, plots, run
from ackclock.export import export, hosts
from ackclock.plots import Options

# What the drafts of the main schema and of the events of QUIC ask of version 0.3.
HEADER = {
    "type": "object",
    "required": ["packet_type", "packet_number"],
    "properties": {"packet_type": {"const": "1RTT"}, "packet_number": {"type": "integer"}},
    "additionalProperties": False,
}
STREAM = {
    "required": ["frame_type", "stream_id", "offset", "length"],
    "properties": {"frame_type": {"const": "stream"}, "length": {"minimum": 0}},
}
ACK = {
    "required": ["frame_type", "acked_ranges"],
    "properties": {
        "frame_type": {"const": "ack"},
        "acked_ranges": {
            "minItems": 1,
            "items": {"type": "array", "minItems": 1, "maxItems": 2},
        },
    },
}
RAW = {"required": ["length"]}
METRICS = [
    *("congestion_window", "ssthresh", "bytes_in_flight", "smoothed_rtt", "latest_rtt"),
    *("min_rtt", "rtt_variance", "pacing_rate", "pto_count", "packets_in_flight"),
]
DATA = {
    "transport:packet_sent": {
        "required": ["header", "raw", "frames"],
        "properties": {"header": HEADER, "raw": RAW, "frames": {"items": STREAM}},
    },
    "transport:packet_received": {
        "required": ["header", "raw", "frames"],
        "properties": {"header": HEADER, "raw": RAW, "frames": {"items": ACK}},
    },
    "recovery:packet_lost": {
        "required": ["header", "trigger"],
        "properties": {
            "header": HEADER,
            "trigger": {"enum": ["reordering_threshold", "time_threshold", "pto_expired"]},
        },
    },
    "recovery:metrics_updated": {
        "minProperties": 1,
        "properties": {name: {"type": "number", "minimum": 0} for name in METRICS},
        "additionalProperties": False,
    },
    "recovery:congestion_state_updated": {
        "required": ["new"],
        "properties": {
            name: {
                "enum": ["slow_start", "congestion_avoidance", "application_limited", "recovery"]
            }
            for name in ("old", "new")
        },
        "additionalProperties": False,
    },
}
QLOG = {
    "required": ["qlog_version", "qlog_format", "traces"],
    "properties": {
        "qlog_version": {"const": "0.3"},
        "qlog_format": {"const": "JSON"},
        "traces": {
            "items": {
                "required": ["vantage_point", "common_fields", "events"],
                "properties": {
                    "vantage_point": {"properties": {"type": {"enum": ["client", "server"]}}},
                    "common_fields": {"properties": {"time_format": {"const": "relative"}}},
                    "events": {
                        "items": {
                            "required": ["time", "name", "data"],
                            "properties": {
                                "time": {"type": "number"},
                                "name": {"enum": list(DATA)},
                            },
                            "allOf": [
                                {
                                    "if": {"properties": {"name": {"const": name}}},
                                    "then": {"properties": {"data": data}},
                                }
                                for name, data in DATA.items()
                            ],
                        }
                    },
                },
            }
        },
    },
}


@pytest.fixture(scope="module")
def lossy():
    return run(Scenario.load("teach/tail-loss", [("record", "all")]))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["teach/tail-loss", "small"])
def test_qlog_is_what_the_drafts_ask(scenario, tmp_path, small_results, lossy):
    results = small_results if scenario == "small" else lossy
    (path,) = export(results, "qlog", tmp_path / "run.qlog")
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(document, QLOG)
    assert len(document["traces"]) == len(results.model["flows"])
    for trace, flow in zip(document["traces"], results.model["flows"], strict=True):
        events = trace["events"]
        assert [e["time"] for e in events] == sorted(e["time"] for e in events)
        named = {name: [e["data"] for e in events if e["name"] == name] for name in DATA}
        sent = [data["header"]["packet_number"] for data in named["transport:packet_sent"]]
        assert sent == list(range(len(sent)))
        ranges = [
            r for d in named["transport:packet_received"] for r in d["frames"][0]["acked_ranges"]
        ]
        acked = [number for low, high in ranges for number in range(low, high + 1)]
        lost = [data["header"]["packet_number"] for data in named["recovery:packet_lost"]]
        assert len(acked) == len(set(acked))
        assert not set(acked) & set(lost)
        figures = results.summary["flows"][flow["id"]]
        assert len(lost) == figures["retransmissions"]
        # Each byte arrives in one packet that is acknowledged.
        sizes = {
            d["header"]["packet_number"]: d["frames"][0] for d in named["transport:packet_sent"]
        }
        assert sum(sizes[n]["length"] for n in acked) >= figures["bytes_delivered"]


def test_qlog_of_a_scenario_without_a_title_says_what_made_it(tmp_path):
    results = run(Scenario.from_dict({k: v for k, v in small_document().items() if k != "title"}))
    (path,) = export(results, "qlog", tmp_path / "run.qlog")
    head = json.loads(path.read_text(encoding="utf-8"))
    assert head["description"].startswith("simulated by ackclock ")


def shell_is_right(path):
    subprocess.run(["bash", "-n", str(path)], check=True)


@pytest.mark.parametrize(
    "scenario",
    ["teach/cubic-bbr", "teach/bufferbloat-codel", "caltech/test-case-2-fast", "bene/two-flows"],
)
def test_scripts_for_hosts_are_programs(scenario, tmp_path):
    loaded = Scenario.load(scenario)
    (shell,) = export(loaded, "netem", tmp_path / "x.sh")
    if shutil.which("bash"):
        shell_is_right(shell)
    (program,) = export(loaded, "mininet", tmp_path / "x.py")
    ast.parse(program.read_text())
    text = shell.read_text()
    assert text.count("iperf3 -c") == len(loaded.flows)
    assert text.count("limit 1000000000") == 2 * len(loaded.links)


def test_queues_delays_and_losses_are_those_of_the_scenario(tmp_path):
    scenario = Scenario.load(
        "teach/bufferbloat-codel",
        [("links.bottleneck.loss", "{kind: bernoulli, p: 0.01}")],
    )
    (path,) = export(scenario, "netem", tmp_path / "x.sh")
    text = path.read_text()
    assert "codel limit 1000 target 5000us interval 100000us noecn" in text
    assert "tbf rate 10000000bit" in text
    assert text.count("netem limit 1000000 delay 18ms loss random 1%") == 2
    (path,) = export(Scenario.load("teach/cubic-bbr"), "netem", tmp_path / "x.sh")
    # One bandwidth-delay product: 20 Mbps times 40 ms.
    assert "bfifo limit 100000" in path.read_text()


def test_what_hosts_cannot_do_is_named(tmp_path):
    plan = hosts.plan(Scenario.load("caltech/test-case-2-fast").model)
    said = "\n".join(plan.unsaid)
    for words in ("link L1: half duplex", "flow F1: FAST", "routing distance-vector"):
        assert words in said
    (path,) = export(Scenario.load("caltech/test-case-2-fast"), "netem", tmp_path / "x.sh")
    assert path.read_text().count("# NOT REPEATED: ") == len(plan.unsaid)
    assert not hosts.plan(Scenario.load("teach/cubic-bbr").model).unsaid


@pytest.mark.parametrize("cc", ["westwood", "htcp", "bic"])
def test_linux_is_asked_for_the_congestion_control_that_it_has(cc, tmp_path):
    scenario = Scenario.load("teach/cubic-bbr", [("flows.bbr.tcp.cc", cc)])
    assert not hosts.plan(scenario.model).unsaid
    (path,) = export(scenario, "netem", tmp_path / "x.sh")
    assert re.search(rf"iperf3 -c .* -C {cc}\b", path.read_text())


def test_routes_lead_from_each_source_to_its_target():
    plan = hosts.plan(Scenario.load("teach/cubic-bbr").model)
    owner = {w.address(s): w.sides[s].node for w in plan.wires for s in (0, 1)}
    near = {
        node: {
            w.address(0).rpartition(".")[0] for w in plan.wires for s in w.sides if s.node == node
        }
        for node in owner.values()
    }
    for stream in plan.streams:
        node, network = stream.source, stream.address.rpartition(".")[0]
        for _ in range(10):
            if network in near[node]:
                break
            ways = dict(plan.routes[node])
            node = owner[ways[network + ".0/24"]]
        assert owner[stream.address] == stream.target
        assert network in near[node]


WIRE = {"rate": "8 Mbps", "delay": "1 ms"}
FABRIC = {
    "topology": {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 1}
    | {"access": WIRE, "uplink": WIRE},
    "flows": [
        {"id": "F", "from": "H1", "to": "H2", "path": ["leaf1", "spine2", "leaf2"]},
        {"id": "G", "from": "H1", "to": "H2"},
    ],
    "stop": {"when": "time", "at_latest": "5 s"},
}


def way(plan, stream):
    """The nodes that packets of a flow cross by the routes of a plan."""
    owner = {w.address(s): w.sides[s].node for w in plan.wires for s in (0, 1)}
    node, nodes = stream.source, []
    while network := plan.routes.get(node):
        node = owner[network[stream.address.rpartition(".")[0] + ".0/24"]]
        nodes.append(node)
        if node == "leaf2":
            return nodes
    raise AssertionError(nodes)


def test_explicit_paths_become_routes_by_destination():
    """`G` and all ACKs go over the first spine, `F` over the second: both cannot be had."""
    scenario = Scenario.from_dict(FABRIC)
    alone = hosts.plan(scenario.model, ["F"])
    assert way(alone, alone.streams[0]) == ["leaf1", "spine2", "leaf2"]
    assert not alone.unsaid
    both = hosts.plan(scenario.model)
    assert both.unsaid == [
        "flow G: its data leave leaf1 over link uplink1; here routes are by destination, and lead "
        "another way"
    ]
    other = {"id": "F", "from": "H1", "to": "H2", "ack_path": ["leaf2", "spine2", "leaf1"]}
    backward = Scenario.from_dict({**FABRIC, "flows": [other]})
    plan = hosts.plan(backward.model)
    assert plan.routes["leaf2"] == {"10.0.0.0/24": "10.0.5.2"}
    assert plan.routes["leaf1"] == {"10.0.1.0/24": "10.0.2.2"}
    hashed = hosts.plan(Scenario.from_dict({**FABRIC, "routing": "ecmp", "seed": 3}).model)
    assert all(" leave " in line for line in hashed.unsaid)


def test_limits_of_scripts_are_those_of_the_engine():
    """The longest round trip over a direction counts, that of a path given explicitly, too."""
    delays = [f"{ms} ms" for ms in (1, 9, 1, 9)]
    uplink = {**WIRE, "delay": delays, "queue": {"limit": "1 BDP"}}
    topology = {**FABRIC["topology"], "access": {**WIRE, "delay": "0 ms"}, "uplink": uplink}
    scenario = Scenario.from_dict({**FABRIC, "topology": topology})
    plan = hosts.plan(scenario.model, [])
    limits = [[side.queue["limit_bytes"] for side in wire.sides] for wire in plan.wires[2:]]
    # Data of `F` go over the second and fourth, those of `G` and all ACKs over the others.
    assert limits == [[4_000, 20_000], [20_000, 0], [20_000, 4_000], [0, 20_000]]


def test_a_plan_of_many_flows_takes_a_search_per_destination(monkeypatch):
    """Of 400 flows; searches that visit all hosts took minutes for thousands."""
    searches = []
    pop = heapq.heappop
    monkeypatch.setattr(heapq, "heappop", lambda heap: searches.append(1) or pop(heap))
    document = {
        "topology": {"kind": "dumbbell", "leaves": 400, "access": WIRE, "bottleneck": WIRE},
        "flows": [{"id": "F", "count": 400, "from": "S*", "to": "D*"}],
        "stop": {"when": "time", "at_latest": "1 s"},
    }
    plan = hosts.plan(Scenario.from_dict(document).model)
    assert len(plan.streams) == 400
    # Each of 800 hosts is looked for once, over two routers.
    assert len(searches) <= 800 * 4


SAMPLES = """\
# 1000.0
ESTAB 0 0 10.0.0.1:60496 10.0.3.2:5201
\t cubic rto:204 rtt:0.2/0.1 mss:1448 cwnd:10 bytes_sent:186 bytes_acked:187
ESTAB 0 500 10.0.0.1:60504 10.0.3.2:5201
\t cubic rto:240 rtt:40.5/2 mss:1448 cwnd:10 bytes_sent:14480 bytes_acked:1449 unacked:9
# 1000.1
ESTAB 0 500 10.0.0.1:60504 10.0.3.2:5201
\t cubic rto:240 rtt:50/2 mss:1448 cwnd:20 ssthresh:20 bytes_sent:44480 bytes_acked:14490 unacked:18
"""


def test_samples_of_ss(tmp_path):
    (tmp_path / "F1.ss").write_text(SAMPLES)
    found = measured.read(tmp_path / "F1.ss")
    assert found.connection == "10.0.0.1:60504 → 10.0.3.2:5201"
    times, windows = found.series["window"]
    assert times == pytest.approx([0, 0.1])
    assert list(windows) == [10, 20]
    assert list(found.series["flight"][1]) == [9, 18]
    assert list(found.series["rtt"][1]) == pytest.approx([0.0405, 0.05])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nothing\n", "neither a capture .* nor a trace"),
        (SAMPLES.replace("# 1000.0\n", ""), "without times; print one before each"),
        (b"\n\r\r\n\x00\x00", "damaged capture"),
    ],
)
def test_what_cannot_be_read_is_refused(content, message, tmp_path):
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(InputError, match=message):
        measured.read(tmp_path / "x")
    with pytest.raises(InputError, match="cannot read"):
        measured.read(tmp_path / "none")


@pytest.mark.slow
def test_a_capture_of_a_run_gives_its_flight_and_round_trip_times(tmp_path):
    """There and back: what was in flight and measured comes out of the packets alone."""
    overrides = [("record", "all"), ("stop.at_latest", "2 s")]
    results = run(Scenario.load("teach/rtt-unfairness-reno", overrides))
    flow = results.model["flows"][0]["id"]
    (path,) = export(results, "pcapng", tmp_path / "x.pcapng", flows=[flow])
    found = measured.read(path)
    mine = {"flow": flow, "host": results.model["flows"][0]["from"]}
    columns = ("time_s", "seq")
    sent_s, sent = metrics.select(results, "packets", columns, kind="data", event="sent", **mine)
    acked_s, acked = metrics.select(results, "packets", columns, kind="ack", **mine)
    segment = results.model["flows"][0]["tcp"]["segment_bytes"]
    for place in (50, 400, 900):
        end = sent[: place + 1].max() + segment
        times, flight = found.series["flight"]
        after_s = sent_s[place] - sent_s[0]
        seen = flight[np.searchsorted(times, after_s + 1e-7, side="right") - 1]
        known = acked[acked_s <= sent_s[place]].max(initial=0)
        assert seen == pytest.approx((end - known) / segment, abs=1.01)
    own = metrics.rtt_series(results, flow)[1]
    assert np.median(found.series["rtt"][1]) == pytest.approx(np.median(own), rel=0.05)


@pytest.mark.slow
def test_an_ack_that_covers_retransmitted_data_is_no_sample(tmp_path):
    """Behind a repaired hole are data that arrived a round trip or more before their ACK."""
    overrides = [("flows.reno.tcp.cc", "cubic"), ("stop.at_latest", "12 s"), ("record", "all")]
    results = run(Scenario.load("teach/sawtooth", overrides))
    assert results.summary["flows"]["reno"]["retransmissions"] > 3
    own = metrics.rtt_series(results, "reno")[1]
    for name in ("pcapng", "ns2"):
        (path,) = export(results, name, tmp_path / name)
        rtt = measured.read(path).series["rtt"][1]
        assert rtt.size > own.size / 2, name
        assert rtt.max() == pytest.approx(own.max(), rel=0.02), name


def test_an_ns2_trace_without_data_is_refused(tmp_path):
    (tmp_path / "acks.tr").write_text("r 1.0 1 0 ack 40 ------- 1 1.0 0.0 3 7\n" * 3)
    with pytest.raises(InputError, match="ACKs of flow 1, but none of its data"):
        measured.read(tmp_path / "acks.tr")


@pytest.mark.slow
def test_time_begins_with_the_first_data_in_every_trace(tmp_path):
    """Not with the handshake, which an ns-2 trace numbers as a packet."""
    scenario = Scenario.load("teach/sawtooth", [("stop.at_latest", "3 s"), ("record", "all")])
    results = run(scenario)
    times = [
        measured.read(export(results, name, tmp_path / name)[0]).series["rtt"][0]
        for name in ("pcapng", "ns2")
    ]
    np.testing.assert_allclose(times[0], times[1], atol=1e-6)


def test_a_measurement_is_laid_over_its_flow(tmp_path, small_results):
    (tmp_path / "F2.ss").write_text(SAMPLES)
    options = Options(overlay=[f"F2={tmp_path / 'F2.ss'}"])
    figure = plots.figure(small_results, "flow-window", options=options)
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    packets = small_results.table("packets").to_pylist()
    first = next(r["time_s"] for r in packets if r["flow"] == "F2" and r["kind"] == "data")
    assert any(
        list(line.get_ydata()) == [10, 20]
        and np.asarray(line.get_xdata())[0] == pytest.approx(first, abs=1e-3)
        for line in lines
    )
    legend = [
        text.get_text()
        for axes in figure.axes
        if (box := axes.get_legend())
        for text in box.get_texts()
    ]
    assert "measured: F2.ss" in legend
    with pytest.raises(InputError, match="unknown flow 'F9'"):
        plots.figure(small_results, "flow-window", options=Options(overlay=["F9=x"]))
    with pytest.raises(InputError, match="overlay"):
        plots.figure(small_results, "topology", options=options)


def test_the_command_exports_scenarios_without_running_them(ackclock, small_file, tmp_path):
    done = ackclock("export", small_file, "--format", "netem", "--out", "x.sh")
    assert done.code == 0
    assert (tmp_path / "x.sh").read_text().startswith("#!/usr/bin/env bash")
    done = ackclock("export", small_file, "--format", "mininet", "--links", "L1")
    assert done.code == 2
    assert "--links has no meaning for 'mininet'" in done.err


def test_xpl_has_each_segment_and_the_last_ack(lossy, tmp_path):
    (path,) = export(lossy, "xpl", tmp_path / "run.xpl", flows=["probe"])
    lines = path.read_text(encoding="utf-8").splitlines()
    flow = lossy.summary["flows"]["probe"]
    assert lines[0] == "timeval unsigned"
    assert lines[-1] == "go"
    assert sum(line.startswith("darrow ") for line in lines) == flow["segments_sent"]
    assert lines.count("R") == flow["retransmissions"]
    assert sum(line.startswith("x ") for line in lines) == flow["segments_dropped"] == 3
    acked = [int(line.split()[-1]) for line in lines[lines.index("green") :] if "line" in line]
    assert acked == sorted(acked)
    assert acked[-1] == flow["bytes_delivered"] + 1
    for line in lines:
        if line.startswith("line "):
            _, from_s, _, to_s, _ = line.split()
            assert 0 <= float(from_s) <= float(to_s) <= lossy.summary["end_s"]


def test_xpl_of_numbered_packets_counts_bytes(tmp_path):
    scenario = Scenario.load("caltech/test-case-0-fast", [("flows.F1.send", "50 KiB")])
    results = run(scenario)
    (path,) = export(results, "xpl", tmp_path / "run.xpl")
    lines = path.read_text(encoding="utf-8").splitlines()
    size = results.model["flows"][0]["tcp"]["segment_bytes"]
    last = max(int(line.split()[2]) for line in lines if line.startswith("uarrow"))
    assert last == 50 * size
    assert int(lines[-2].split()[-1]) == last


def test_xpl_is_of_one_flow(lossy, tmp_path):
    with pytest.raises(InputError, match="probe, no-probe"):
        export(lossy, "xpl", tmp_path / "run.xpl")


def test_a_script_tries_the_kernel_before_it_makes_anything(tmp_path):
    (path,) = export(Scenario.load("teach/bufferbloat-codel"), "netem", tmp_path / "run.sh")
    text = path.read_text(encoding="utf-8")
    tried = text.index("this kernel has no netem")
    assert "this kernel has no codel" in text
    assert tried < text.index('ip netns add "$p"n0')
    # iperf3 takes whole seconds, and cuts off the rest.
    assert re.findall(r"iperf3 -c \S+ -p \d+ -t (\S+)", text)
    assert all(n.isdigit() for n in re.findall(r" -t (\S+)", text))


def test_a_trace_of_ns2_gives_what_the_sender_saw(tmp_path):
    """Our own run as a trace of ns-2, read back: data in flight and round-trip times of the run."""
    results = run(Scenario.load("bene/two-flows", [("record", "all")]))
    (path,) = export(results, "ns2", tmp_path / "run.tr")
    found = measured.read(path)
    flow = max(results.summary["flows"], key=lambda f: results.summary["flows"][f]["segments_sent"])
    sent = results.table("packets").to_pandas().query("flow == @flow and kind == 'data'")
    assert len(sent)
    _, rtt = found.series["rtt"]
    own = metrics.rtt_series(results, flow)[1]
    assert rtt.min() == pytest.approx(own.min(), abs=2e-6)
    assert np.median(rtt) == pytest.approx(np.median(own), rel=0.02)
    _, flight = found.series["flight"]
    segment = results.model["flows"][0]["tcp"]["segment_bytes"]
    cwnd = metrics.cwnd_series(results, flow)[1] / segment
    assert 0 < flight.max() <= np.ceil(cwnd.max())


def test_variables_of_ns2_are_read(tmp_path):
    path = tmp_path / "cwnd.tr"
    path.write_text(
        "0.00000  0  0  3  0  cwnd_ 1.000\n"
        "0.00000  0  0  3  0  ssthresh_ 20\n"
        "0.25000  0  0  3  0  rtt_ 0.200\n"
        "0.25000  0  0  3  0  cwnd_ 2.000\n",
        encoding="utf-8",
    )
    found = measured.read(path)
    assert found.connection == "0.0 → 3.0"
    assert [part.tolist() for part in found.series["window"]] == [[0.0, 0.25], [1.0, 2.0]]
    assert found.series["rtt"][1].tolist() == [0.2]


def test_tcp_probe_is_read(tmp_path):
    line = (
        "  iperf3-812 [001] ..s1. {time}: tcp_probe: family=AF_INET src=10.0.0.1:{port} "
        "dest=10.0.1.2:5201 mark=0x0 data_len=0 snd_nxt=0x5a8 snd_una=0x0 snd_cwnd={cwnd} "
        "ssthresh=2147483647 snd_wnd=65536 srtt=40120 rcv_wnd=64256 sock_cookie=1\n"
    )
    rows = [(12.5, 10, 40000), (12.54, 11, 40000), (12.6, 99, 40001)]
    path = tmp_path / "trace.txt"
    text = "# tracer: nop\n" + "".join(line.format(time=t, cwnd=c, port=p) for t, c, p in rows)
    path.write_text(text, encoding="utf-8")
    found = measured.read(path)
    assert found.connection == "10.0.0.1:40000 → 10.0.1.2:5201"
    assert found.series["window"][1].tolist() == [10.0, 11.0]
    assert found.series["rtt"][1].tolist() == pytest.approx([0.04012, 0.04012])
    path.write_text(text.replace("srtt=40120 ", ""), encoding="utf-8")
    with pytest.raises(InputError, match="line of tcp_probe"):
        measured.read(path)


def test_a_broken_trace_of_ns2_is_an_error(tmp_path):
    path = tmp_path / "run.tr"
    path.write_text("+ 0 0 1 tcp 60 ------- 0 0.0 1.0 0 0\n+ 0 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="continues in another format"):
        measured.read(path)
