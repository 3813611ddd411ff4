"""The converter of the Caltech simulator's topologies, on documents written here."""

import copy
import json
from decimal import Decimal

import pytest
from ruamel.yaml import YAML

from ackclock import convert
from ackclock.convert import quantities
from ackclock.errors import InputError, ScenarioError
from ackclock.library import find
from ackclock.run import run
from ackclock.scenario import Scenario

MIBPS = 1048576.0


def host(name):
    return {
        "py/object": "network_simulator.host.Host",
        "address": name,
        "flow_packets_received": {},
        "flows": None,
        "link": None,
    }


def router(name):
    return {
        "py/object": "network_simulator.router.Router",
        "address": name,
        "links": None,
        "neighbors": [],
        "new_routing_table": {},
        "stable_routing_table": None,
        "neighb_to_host_dists": {},
        "self_to_host_dists": {},
        "self_to_neighb_dists": {},
        "last_table_update_timestamp": 0.0,
    }


def link(name, end_1, end_2, mibps, kib):
    return {
        "py/object": "network_simulator.link.Link",
        "name": name,
        "end_1_addr": end_1,
        "end_2_addr": end_2,
        "end_1_device": None,
        "end_2_device": None,
        "busy": False,
        "static_delay_sec": 0.01,
        "capacity_bps": mibps * MIBPS,
        "link_buffer": {
            "py/object": "network_simulator.link.LinkBuffer",
            "max_buffer_size_bits": kib * 8192.0,
            "curr_buffer_size_bits": 0,
            "queue": None,
            "queuing_delays": None,
        },
    }


OF_CLASS = {
    "FlowReno": {"ss_thresh": 100.0, "flow_state": 0, "packet_id_to_ack_gaps": {}},
    "FlowFast": {"alpha": 50.0, "gamma": 0.5, "num_packets_ave_for_rtt": 40, "base_rtt": None},
    "FlowDummy": {},
}


def flow(kind, name, source, dest, mib, start, **more):
    return {
        "py/object": f"network_simulator.flow.{kind}",
        "flow_id": name,
        "source_addr": source,
        "dest_addr": dest,
        "source": None,
        "dest": None,
        "data_size_bits": mib * 1024 * 8192.0,
        "start_time_sec": start,
        "window_size_packets": 1.0,
        "packets_in_transit": {"py/set": []},
        "packet_rtts": [],
        "max_packet_id_sent": -1,
        "gap_retrans_packets": {"py/set": []},
        "num_timeouts_pending": {},
        **OF_CLASS[kind],
        **more,
    }


def topology(links, hosts, routers, flows):
    return {
        "py/object": "network_simulator.network_topology.NetworkTopology",
        "links": links,
        "hosts": [host(name) for name in hosts],
        "routers": [router(name) for name in routers] or None,
        "flows": flows,
    }


def case_0(kind):
    return topology(
        [link("L1", "H1", "H2", 10, 64)], ["H1", "H2"], [], [flow(kind, "F1", "H1", "H2", 20, 1)]
    )


def case_1(kind):
    more = {"alpha": 30.0} if kind == "FlowFast" else {}
    ends = ["H1 R1", "R1 R2", "R1 R3", "R2 R4", "R3 R4", "R4 H2"]
    links = [
        link(f"L{i}", *pair.split(), 12.5 if "H" in pair else 10, 64) for i, pair in enumerate(ends)
    ]
    flows = [flow(kind, "F1", "H1", "H2", 20, 0.5, **more)]
    return topology(links, ["H1", "H2"], ["R1", "R2", "R3", "R4"], flows)


def case_2(kind):
    access = ["S1 R1", "T1 R4", "S2 R1", "T2 R2", "S3 R3", "T3 R4"]
    links = [
        link("L1", "R1", "R2", 10, 128),
        link("L2", "R2", "R3", 10, 128),
        link("L3", "R3", "R4", 10, 128),
        *(link(f"L{pair[:2]}", *pair.split(), 12.5, 128) for pair in access),
    ]
    flows = [
        flow(kind, "F1", "S1", "T1", 35, 0.5),
        flow(kind, "F2", "S2", "T2", 15, 10),
        flow(kind, "F3", "S3", "T3", 30, 20),
    ]
    hosts = ["S1", "S2", "S3", "T1", "T2", "T3"]
    return topology(links, hosts, ["R1", "R2", "R3", "R4"], flows)


CASES = {0: case_0, 1: case_1, 2: case_2}
KINDS = {"fast": "FlowFast", "reno": "FlowReno", "fixed": "FlowDummy"}
TEXTS = ("name", "title", "question", "expectation", "source")


@pytest.fixture
def save(tmp_path):
    def write(document, name="topology.json"):
        path = tmp_path / name
        path.write_text(document if isinstance(document, str) else json.dumps(document, indent=4))
        return path

    return write


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_our_own_scenario(case, kind, save, tmp_path):
    out = tmp_path / "converted.yaml"
    convert.convert_file(save(CASES[case](KINDS[kind])), out)
    ours = Scenario.load(f"caltech/test-case-{case}-{kind}").model
    converted = Scenario.load(out).model
    for text in TEXTS:
        ours.pop(text), converted.pop(text)
    assert converted == ours


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["fast", "reno"])
def test_the_run_is_the_run_of_our_own_scenario(case, kind, save, tmp_path):
    out = tmp_path / "converted.yaml"
    convert.convert_file(save(CASES[case](KINDS[kind])), out)
    ours = run(Scenario.load(f"caltech/test-case-{case}-{kind}")).summary
    assert run(Scenario.load(out)).summary["digest"] == ours["digest"]


@pytest.mark.parametrize("case", CASES)
def test_the_document_says_what_our_file_says(case, save):
    """Also the quantities are the ones a person writes, not only equal numbers."""
    converted = convert.convert(save(CASES[case]("FlowFast")))
    with find(f"caltech/test-case-{case}-fast").open() as file:
        ours = YAML(typ="safe").load(file)
    assert converted["links"] == ours["links"]
    assert converted["flows"] == ours["flows"]
    assert converted["stop"] == ours["stop"]


def faults(path):
    with pytest.raises(ScenarioError) as caught:
        convert.read(path)
    return {problem.path: problem for problem in caught.value.problems}


def at(document, *steps):
    for step in steps:
        document = document[step]
    return document


@pytest.mark.parametrize(
    ("place", "key", "value", "path"),
    [
        ((), "speed", 1, "speed"),
        (("flows", 0), "beta", 0.5, "flows.0.beta"),
        (("links", 0), "loss", 0, "links.0.loss"),
        (("links", 0, "link_buffer"), "kind", "red", "links.0.link_buffer.kind"),
        (("hosts", 1), "py/id", 4, "hosts.1.py/id"),
        (("routers", 2), "cost", 2, "routers.2.cost"),
    ],
)
def test_an_unknown_key_is_named(place, key, value, path, save):
    document = case_1("FlowFast")
    at(document, *place)[key] = value
    found = faults(save(document))
    assert list(found) == [path]
    assert "unknown key" in found[path].message
    assert found[path].value == value


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (("links", 0), "busy", True),
        (("links", 1), "end_1_device", {}),
        (("links", 1, "link_buffer"), "curr_buffer_size_bits", 8192),
        (("hosts", 0), "flow_packets_received", {"F1": [0]}),
        (("routers", 0), "stable_routing_table", {}),
        (("flows", 0), "packets_in_transit", {"py/set": [3]}),
        (("flows", 0), "max_packet_id_sent", 17),
        (("flows", 0), "flow_state", 1),
    ],
)
def test_the_state_of_a_running_program_is_refused(place, key, value, save):
    document = case_1("FlowReno")
    at(document, *place)[key] = value
    path = ".".join(map(str, (*place, key)))
    found = faults(save(document))
    assert list(found) == [path]
    assert "state of a running simulation" in found[path].message


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("flows", 0, "alpha"), "50"),
        (("flows", 0, "alpha"), -1),
        (("flows", 0, "alpha"), True),
        (("flows", 0, "alpha"), 1e300),
        (("flows", 0, "num_packets_ave_for_rtt"), 2.5),
        (("flows", 0, "start_time_sec"), None),
        (("flows", 0, "flow_id"), ""),
        (("flows", 0, "dest_addr"), "R1"),
        (("flows", 0, "dest_addr"), "H1"),
        (("flows", 0, "data_size_bits"), 8191),
        (("links", 2, "capacity_bps"), 0),
        (("links", 2, "capacity_bps"), 100.5),
        (("links", 2, "end_1_addr"), "R9"),
        (("links", 2, "name"), "L1"),
        (("hosts", 1, "address"), "R1"),
        (("routers", 1, "address"), "R1"),
        (("hosts",), None),
        (("links", 0, "link_buffer"), 8192),
    ],
)
def test_an_unusable_value_is_named(place, value, save):
    document = case_1("FlowFast")
    at(document, *place[:-1])[place[-1]] = value
    path = ".".join(map(str, place))
    found = faults(save(document))
    assert path in found
    if value not in (None, ""):
        assert str(value) in str(found[path])


def test_unknown_classes_are_named(save):
    document = case_1("FlowFast")
    document["flows"][0]["py/object"] = "network_simulator.flow.FlowCubic"
    del document["hosts"][0]["py/object"]
    found = faults(save(document))
    assert found["flows.0.py/object"].value == "network_simulator.flow.FlowCubic"
    assert found["hosts.0"].message == "not an object with a class name"


def test_parallel_links_and_hosts_with_two_links_are_refused_as_in_the_original(save):
    document = case_1("FlowFast")
    document["links"].append(link("L6", "R2", "R1", 10, 64))
    document["links"].append(link("L7", "R3", "H1", 10, 64))
    document["links"].append(link("L8", "R3", "R3", 10, 64))
    found = faults(save(document))
    assert set(found) == {"links.6", "links.7.end_2_addr", "links.8.end_2_addr"}


def test_all_faults_come_at_once_with_their_lines(save):
    document = case_0("FlowReno")
    document["links"][0]["busy"] = 1
    document["flows"][0]["colour"] = "red"
    del document["flows"][0]["ss_thresh"]
    path = save(document)
    lines = path.read_text().splitlines()
    found = faults(path)
    assert set(found) == {"links.0.busy", "flows.0.colour", "flows.0"}
    for key in ("busy", "colour"):
        (problem,) = [p for p in found.values() if p.path.endswith(key)]
        assert f'"{key}"' in lines[problem.line - 1]
    assert "ss_thresh" in found["flows.0"].message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ('{"py/object": 1, "py/object": 2}', "duplicate key 'py/object'"),
        ('{"capacity": NaN}', "NaN is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "not a file of any format"),
        ('{"hosts": []}', "not a file of any format"),
    ],
)
def test_a_file_of_another_kind_is_refused(text, message, save):
    with pytest.raises(ScenarioError, match=message):
        convert.read(save(text))


def test_a_missing_or_binary_file_is_an_error_of_input(tmp_path):
    with pytest.raises(InputError, match=r"none\.json"):
        convert.read(tmp_path / "none.json")
    (tmp_path / "image.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match="UTF-8"):
        convert.read(tmp_path / "image.json")


def test_nothing_is_written_on_an_error(save, tmp_path):
    document = case_0("FlowFast")
    document["flows"][0]["gamma"] = "half"
    with pytest.raises(ScenarioError):
        convert.convert_file(save(document), tmp_path / "out.yaml")
    assert not (tmp_path / "out.yaml").exists()


def test_a_part_of_a_packet_is_cut_off_and_said(save, tmp_path):
    document = case_0("FlowFast")
    document["flows"][0]["data_size_bits"] = 3 * 8192 + 100
    conversion = convert.convert_file(save(document), tmp_path / "out.yaml")
    assert conversion.document["flows"][0]["send"] == "3 KiB"
    assert "3 whole packets" in conversion.notes[0]
    assert "100 bit" in (tmp_path / "out.yaml").read_text()


def test_a_buffer_of_odd_bits_and_a_time_below_a_nanosecond_are_rounded_and_said(save):
    document = case_0("FlowFast")
    document["links"][0]["link_buffer"]["max_buffer_size_bits"] = 65540
    document["links"][0]["static_delay_sec"] = 0.0123456789012
    conversion = convert.read(save(document))
    assert conversion.document["links"][0]["queue"]["limit"] == "8193 B"
    assert conversion.document["links"][0]["delay"] == "12.345679 ms"
    assert len(conversion.notes) == 2


def test_the_window_in_the_file_is_ignored_as_in_the_original(save):
    document = case_0("FlowReno")
    other = copy.deepcopy(document)
    other["flows"][0]["window_size_packets"] = 8.0
    assert convert.convert(save(document)) == convert.convert(save(other))


def test_the_time_limit_grows_with_the_data(save):
    document = case_0("FlowReno")
    assert convert.convert(save(document))["stop"]["at_latest"] == "200 s"
    document["flows"][0]["data_size_bits"] = 200 * 10 * MIBPS  # 200 s at 10 Mibps
    assert (
        convert.convert(save(document))["stop"]["at_latest"] == "500 s"
    )  # 1 + 2 * 200, rounded up


def test_only_several_reno_flows_get_their_duplicates_acknowledged(save):
    assert "defaults" not in convert.convert(save(case_1("FlowReno")))
    several = convert.read(save(case_2("FlowReno")))
    assert several.document["defaults"] == {"tcp": {"ack_duplicates": "always"}}
    assert "ack_duplicates" in several.notes[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (quantities.rate(10485760), "10 Mibps"),
        (quantities.rate(13107200), "12.5 Mibps"),
        (quantities.rate(10_000_000), "10 Mbps"),
        (quantities.rate(1_000_001), "1000001 bps"),
        (quantities.rate(1_234_567_891), "1234567891 bps"),
        (quantities.rate(7), "7 bps"),
        (quantities.size(65536), "64 KiB"),
        (quantities.size(36700160), "35 MiB"),
        (quantities.size(20_000_000), "20 MB"),
        (quantities.size(1), "1 B"),
        (quantities.time(0), "0 s"),
        (quantities.time(500_000_000), "0.5 s"),
        (quantities.time(10_000_000), "10 ms"),
        (quantities.time(20_000_000_000), "20 s"),
        (quantities.time(1), "1 ns"),
        (quantities.plain(Decimal("50.0")), 50),
        (quantities.plain(Decimal("0.5")), 0.5),
    ],
)
def test_quantities_are_exact_and_short(written, expected):
    assert written == expected
