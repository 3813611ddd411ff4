"""Leaf-spine and fat-tree networks, equal-cost multipath, and paths that a scenario gives."""

import time

import pytest

from ackclock import Scenario, ScenarioError, run
from ackclock.theory.network import Network

FABRIC = {
    "topology": {
        "kind": "leaf-spine",
        "leaves": 2,
        "spines": 4,
        "hosts": 8,
        "access": {"rate": "100 Mbps", "delay": "10 us", "queue": {"limit": "64 packets"}},
    },
    "flows": [
        {"id": f"F{i}", "from": f"H{i}", "to": f"H{i + 8}", "send": "20 kB"} for i in range(1, 9)
    ],
    "routing": "ecmp",
    "record": "all",
}


def spines(scenario):
    """The spine over which the data of each flow go, as the records have it."""
    table = run(scenario).table("transmissions").to_pandas().astype({"link": str, "flow": str})
    up = table[(table["kind"] == "data") & (table["direction"] == "forward")]
    up = up[up["link"].str.startswith("uplink")]
    assert (up.groupby("flow", observed=True)["link"].nunique() == 1).all(), "a flow stays"
    return up.groupby("flow", observed=True)["link"].first().to_dict()


def problem(document):
    with pytest.raises(ScenarioError) as error:
        Scenario.from_dict(document)
    return error.value.problems[0]


def test_a_hash_spreads_flows_and_depends_on_seed_and_name_only():
    first = spines(Scenario.from_dict(FABRIC))
    assert len(first) == 8
    assert 2 <= len(set(first.values())) <= 4
    assert spines(Scenario.from_dict(FABRIC)) == first
    assert spines(Scenario.from_dict(FABRIC).set("seed", 2)) != first
    pinned = {**FABRIC, "routing": {"kind": "ecmp", "seed": 1}}
    assert spines(Scenario.from_dict(pinned).set("seed", 2)) == first
    fewer = {**FABRIC, "flows": FABRIC["flows"][3:]}
    assert spines(Scenario.from_dict(fewer)) == {k: v for k, v in first.items() if int(k[1:]) >= 4}


def test_without_a_hash_the_first_spine_gets_all():
    static = {**FABRIC, "routing": "shortest-path"}
    assert set(spines(Scenario.from_dict(static)).values()) == {"uplink1"}


def test_a_given_path_is_taken_for_data_and_for_acks_apart():
    flow = {**FABRIC["flows"][0], "path": ["leaf1", "spine3", "leaf2"]}
    flow["ack_path"] = ["leaf2", "spine2", "leaf1"]
    scenario = Scenario.from_dict({**FABRIC, "flows": [flow]})
    table = run(scenario).table("transmissions").to_pandas().astype({"link": str, "kind": str})
    crossed = {kind: list(dict.fromkeys(part["link"])) for kind, part in table.groupby("kind")}
    assert crossed["data"] == ["access1", "uplink3", "uplink7", "access9"]
    assert crossed["ack"] == ["access9", "uplink6", "uplink2", "access1"]
    # The resolved scenario says the same, and so does what the theory reads.
    resolved = Scenario.from_dict(scenario.document)
    assert resolved.canonical == scenario.canonical
    facts = Network(scenario.model).flows[0]
    assert facts.links == ("access1", "uplink3", "uplink7", "access9")


def test_the_theory_follows_the_hash():
    scenario = Scenario.from_dict(FABRIC)
    chosen = spines(scenario)
    for flow in Network(scenario.model).flows:
        assert flow.links[1] == chosen[flow.id]


def test_an_asterisk_in_a_path_is_the_number_of_the_flow():
    flow = {"id": "F", "count": 2, "from": "H*", "to": "H1*", "send": "2 kB"}
    flow["path"] = ["leaf1", "spine*", "leaf2"]
    made = Scenario.from_dict({**FABRIC, "flows": [flow]})
    assert list(spines(made).values()) == ["uplink1", "uplink2"]


@pytest.mark.parametrize(
    ("path", "message", "place"),
    [
        (["leaf1", "spin3", "leaf2"], "unknown router `spin3`", "flows.0.path.1"),
        (["leaf1", "H3", "leaf2"], "`H3` is a host", "flows.0.path.1"),
        (["leaf1", "leaf2"], "no link leads from `leaf1` to `leaf2`", "flows.0.path"),
        (["leaf2", "spine1", "leaf1"], "no link leads from `H1` to `leaf2`", "flows.0.path"),
        (["leaf1", "spine1", "leaf1"], "`leaf1` occurs here twice", "flows.0.path.2"),
        ([], "no link leads from `H1` to `H9`", "flows.0.path"),
        ("leaf1", "`path` needs a list of names of routers", "flows.0.path"),
    ],
)
def test_a_faulty_path_is_reported(path, message, place):
    found = problem({**FABRIC, "flows": [{**FABRIC["flows"][0], "path": path}]})
    assert message in found.message
    assert found.path.replace("F1", "0") == place


def test_a_path_that_could_have_no_effect_is_refused():
    flow = {**FABRIC["flows"][0], "path": ["leaf1", "spine1", "leaf2"]}
    found = problem({**FABRIC, "flows": [flow], "routing": "distance-vector"})
    assert "routers choose the path" in found.message
    datagrams = {"id": "F", "from": "H1", "to": "H9", "ack_path": ["leaf2", "spine1", "leaf1"]}
    datagrams["udp"] = {"source": {"kind": "cbr", "rate": "1 Mbps", "write": "1000 B"}}
    stop = {"when": "time", "at_latest": "1 s"}
    found = problem({**FABRIC, "flows": [datagrams], "stop": stop})
    assert "no ACKs" in found.message


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ({"kind": "fat-tree", "ports": 5}, "5 is odd"),
        ({"kind": "leaf-spine", "leaves": 9999, "spines": 2, "hosts": 9999}, "are too many"),
    ],
)
def test_a_fabric_that_cannot_be_is_refused(topology, message):
    access = FABRIC["topology"]["access"]
    found = problem({**FABRIC, "topology": {**topology, "access": access}})
    assert message in found.message


@pytest.mark.slow
def test_a_fat_tree_of_thousands_of_hosts_is_ready_in_seconds():
    hosts = 8192
    flows = [
        {"id": f"F{i}", "from": f"H{i}", "to": f"H{(i + hosts // 2) % hosts + 1}", "send": "15 kB"}
        for i in range(1, hosts + 1)
    ]
    link = {"rate": "10 Gbps", "delay": "1 us", "queue": {"limit": "100 packets"}}
    before = time.process_time()
    scenario = Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "ports": 32, "access": link},
            "flows": flows,
            "routing": "ecmp",
            "stop": {"when": "flows-complete", "at_latest": "1 s"},
            "record": "none",
        }
    )
    summary = run(scenario).summary
    assert summary["stop_reason"] == "flows-complete"
    # Six links there and back, but for pairs in one pod.
    assert summary["packet_hops"] >= hosts * 11 * 12 * 0.9
    assert time.process_time() - before < 20


def test_a_buffer_of_some_bdp_counts_the_paths_of_a_hash_with_its_own_seed():
    """The theory, the engine and every seed of the run have the same ones."""
    topology = FABRIC["topology"] | {"uplink": {"rate": "100 Mbps", "delay": "10 us"}}
    topology["uplink"]["queue"] = {"limit": "4 BDP"}
    document = FABRIC | {"topology": topology}
    with pytest.raises(ScenarioError, match="or fix the routes"):
        Scenario.from_dict(document)
    scenario = Scenario.from_dict(document | {"routing": {"kind": "ecmp", "seed": 1}})
    limits = {
        (one.link, one.direction): one.limit_bytes for one in Network(scenario.model).stations
    }
    for seed in (1, 2):
        summary = run(scenario.set("seed", seed)).summary
        for link, ways in summary["links"].items():
            for way, told in ways.items():
                assert told["queue_limit"].get("bytes") == limits[link, way]


def test_the_largest_fat_tree_is_as_documented():
    with pytest.raises(ScenarioError, match="2 to 110"):
        Scenario.from_dict(FABRIC | {"topology": {"kind": "fat-tree", "ports": 112}})


def test_an_empty_list_of_a_block_is_one_fault():
    access = {"rate": [], "delay": "1 ms"}
    topology = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "access": access}
    with pytest.raises(ScenarioError) as fault:
        Scenario.from_dict(FABRIC | {"topology": topology, "flows": FABRIC["flows"][:1]})
    assert str(fault.value).count("a list without values") == 1
