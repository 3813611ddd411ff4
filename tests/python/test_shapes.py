"""Short forms of networks and flows, as a user of the command line and of notebooks meets them."""

import copy
import json

import jsonschema
import pytest

from ackclock import Scenario, ScenarioError, replicate, run
from ackclock.cli.app import main

DUMBBELL = {
    "name": "tests/dumbbell",
    "topology": {
        "kind": "dumbbell",
        "leaves": 3,
        "access": {"rate": "100 Mbps", "delay": ["1 ms", "2 ms", "3 ms"]},
        "bottleneck": {"rate": "10 Mbps", "delay": "10 ms", "queue": {"limit": "50 packets"}},
    },
    "flows": [
        {
            "id": "F",
            "count": 3,
            "from": "S*",
            "to": "D*",
            "send": "100 kB",
            "start": {"kind": "uniform", "to": "100 ms"},
        }
    ],
    "record": "none",
}


SHAPES = ["dumbbell", "parking-lot", "chain", "star", "leaf-spine", "fat-tree"]


@pytest.fixture
def file(tmp_path):
    """Return a scenario file with short forms, one value a line."""
    path = tmp_path / "dumbbell.json"
    path.write_text(json.dumps(DUMBBELL, indent=1), encoding="utf-8")
    return path


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["ackclock", *map(str, arguments)])
    with pytest.raises(SystemExit) as done:
        main()
    captured = capsys.readouterr()
    return done.value.code or 0, captured.out, captured.err


def links(scenario):
    return {link["id"]: link["forward"] for link in scenario.model["links"]}


def test_overrides_reach_the_short_form_and_what_it_makes(file):
    scenario = Scenario.load(
        file,
        [
            ("topology.bottleneck.rate", "2 Mbps"),
            ("links.bottleneck.delay", "3 ms"),
            ("links.*.queue.limit", "7 packets"),
            ("links.access2.queue.limit", "8 packets"),
            ("flows.F.count", 2),
            ("flows.F2.tcp.cc", "fast"),
            ("flows.F2.tcp.cc.alpha", 9),
        ],
    )
    made = links(scenario)
    assert made["bottleneck"]["rate_bps"] == 2_000_000
    assert made["bottleneck"]["delay_ns"] == 3_000_000
    assert made["egress1"]["queue"]["limit_packets"] == 7
    assert made["access2"]["queue"]["limit_packets"] == 8
    kinds = [flow["tcp"]["cc"]["kind"] for flow in scenario.model["flows"]]
    assert kinds == ["cubic", "fast"]
    assert scenario.model["flows"][1]["tcp"]["cc"]["alpha"] == 9
    assert Scenario.from_dict(scenario.document).model == scenario.model


def test_what_is_set_of_all_flows_overrules_what_was_set_of_one(file):
    scenario = Scenario.load(file).set("flows.F2.tcp.cc", "fast").set("flows.*.tcp.cc", "fixed")
    assert {flow["tcp"]["cc"]["kind"] for flow in scenario.model["flows"]} == {"fixed"}


def test_a_written_element_is_set_where_it_stands(file):
    scenario = Scenario.load(file).set("flows.F.send", "1 MB").set("flows.0.tcp.cc", "fast")
    assert "set" not in scenario.document
    assert all(flow["send_bytes"] == 1_000_000 for flow in scenario.model["flows"])


@pytest.mark.parametrize(
    ("override", "message", "hint"),
    [
        (("flows.F9.send", "1 MB"), "there is no `F9` in `flows`", "did you mean `F1`?"),
        (("flows.F3.send", "1"), "`1` has no unit", "for example `1 KiB`"),
        (("links.access7.rate", "1 bps"), "no `access7` in `links`", "did you mean `access1`?"),
        (("links.access1.rats", "1 bps"), "unknown key `rats`", "did you mean `rate`?"),
    ],
)
def test_a_faulty_override_of_a_made_element_names_the_option(file, override, message, hint):
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file, [override])
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.hint == hint
    assert problem.file == f"--set {override[0]}={override[1]}"
    assert problem.path == override[0]


@pytest.mark.parametrize(
    ("place", "value", "line", "path"),
    [
        (("topology", "leaves"), 0, 5, "topology.leaves"),
        (("topology", "access", "delay", 1), "2", 10, "topology.access.delay.1"),
        (("topology", "bottleneck", "queue", "limit"), 5, 18, "topology.bottleneck.queue.limit"),
        (("flows", 0, "from"), "H*", 26, "flows.F.from"),
        (("flows", 0, "start", "to"), "0 s", 31, "flows.F.start.to"),
    ],
)
def test_faults_are_told_where_they_stand_in_the_file(file, place, value, line, path):
    document = copy.deepcopy(DUMBBELL)
    inner = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    file.write_text(json.dumps(document, indent=1), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(file)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == (path, line)


def test_a_file_has_its_own_exceptions(tmp_path):
    path = tmp_path / "set.yaml"
    short = {k: v for k, v in DUMBBELL.items() if k != "name"}
    lines = [f"{key}: {json.dumps(value)}" for key, value in short.items()]
    path.write_text(
        "\n".join([*lines, "set:", "  - {path: flows.F1.send, value: 9}"]), encoding="utf-8"
    )
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line) == ("flows.F1.send", 5)


def test_drawn_starts_differ_by_seed_and_show_in_summary_and_model(file):
    first, second = (run(Scenario.load(file, seed=seed)) for seed in (1, 2))
    starts = [[r.summary["flows"][f"F{n}"]["start_s"] for n in (1, 2, 3)] for r in (first, second)]
    assert len({*starts[0], *starts[1]}) == 6
    assert all(0 <= start < 0.1 for start in starts[0] + starts[1])
    assert [flow["start_ns"] / 1e9 for flow in first.model["flows"]] == pytest.approx(starts[0])
    # The resolved scenario draws the same again.
    again = run(Scenario.from_dict(first.canonical))
    assert again.summary["digest"] == first.summary["digest"]
    replications = replicate(Scenario.load(file), 2, first_seed=1)
    assert [r.summary["digest"] for r in (first, second)] == list(replications.values("digest"))


@pytest.mark.slow
def test_the_schema_knows_short_forms():
    from ackclock import _core

    schema = json.loads(_core.schema())
    document = copy.deepcopy(DUMBBELL)
    document["set"] = [{"path": "flows.F1.tcp.cc", "value": {"kind": "fast"}}]
    jsonschema.validate(document, schema)  # looks at the schema, too
    validator = jsonschema.validators.validator_for(schema)(schema)
    for start in ("1 s", ["1 s", "2 s", "3 s"], {"kind": "spread", "over": "1 s"}):
        document["flows"][0]["start"] = start
        validator.validate(document)
        Scenario.from_dict(document)
    document["flows"][0]["start"] = {"kind": "poisson"}
    assert not validator.is_valid(document)
    del document["flows"][0]["start"], document["topology"]
    assert not validator.is_valid(document)


def test_validate_writes_short_forms_out(file, tmp_path, monkeypatch, capsys):
    status, out, _ = command(monkeypatch, capsys, "validate", file, "--expand")
    assert status == 0
    long = tmp_path / "long.yaml"
    long.write_text(out, encoding="utf-8")
    assert Scenario.load(long).model == Scenario.load(file).model
    assert "topology:" not in out and "count:" not in out
    status, out, _ = command(monkeypatch, capsys, "validate", file, "--expand", "--json")
    assert json.loads(out)["files"][0]["resolved"]["routers"] == ["R1", "R2"]


def test_what_is_registered_is_listed(monkeypatch, capsys):
    status, out, _ = command(monkeypatch, capsys, "list", "topology", "--json")
    assert status == 0
    assert [e["name"] for e in json.loads(out)] == SHAPES
    status, out, _ = command(monkeypatch, capsys, "list", "start", "uniform")
    assert status == 0
    assert "Earliest start" in out


def test_a_file_is_sent_by_one_flow(file, tmp_path):
    (tmp_path / "notes.txt").write_text("text", encoding="utf-8")
    with pytest.raises(ScenarioError, match="one flow"):
        Scenario.load(file, [("flows.F.send", {"file": str(tmp_path / "notes.txt")})])


def test_the_dumbbell_favours_short_round_trips():
    results = run(Scenario.load("shapes/dumbbell").set("record", "none"))
    flows = results.summary["flows"]
    assert flows["F1"]["rtt_s"]["mean"] == pytest.approx(0.061, rel=0.02)
    assert flows["F10"]["rtt_s"]["mean"] == pytest.approx(0.154, rel=0.02)
    rest = sum(flows[f"F{n}"]["goodput_bps"] for n in (8, 9, 10)) / 3
    assert flows["F1"]["goodput_bps"] / rest == pytest.approx(2.7, rel=0.05)
    assert results.summary["links"]["bottleneck"]["forward"]["utilization"] > 0.997


def test_the_long_flow_of_the_parking_lot_gets_a_quarter():
    """FAST's equilibrium: rate = alpha / queueing delay, so x = (C - x) / 3."""
    flows = run(Scenario.load("shapes/parking-lot").set("record", "none")).summary["flows"]
    wire = {name: flow["goodput_bps"] * 1500 / 1460 for name, flow in flows.items()}
    assert wire["long"] == pytest.approx(2.5e6, rel=0.005)
    assert [wire[f"X{n}"] for n in (1, 2, 3)] == pytest.approx([7.5e6] * 3, rel=0.005)


def test_the_queue_of_the_chain_stands_at_the_slowest_link():
    summary = run(Scenario.load("shapes/chain").set("record", "none")).summary
    flow = summary["flows"]["F1"]
    assert flow["goodput_bps"] == pytest.approx(40 * 1460 * 8 / 0.24, rel=0.005)
    assert flow["rtt_s"]["mean"] == pytest.approx(0.24, rel=0.005)
    # On the way: 28 ms there and back, a packet's time on each of five links, an ACK's back.
    on_the_way = 2 * 0.028 + 12_000 * (2e-8 + 1e-7 + 2e-7 + 5e-7) + 320 * (2e-8 + 8e-7)
    waiting = (0.24 - on_the_way) * 2e6 / 12_000
    means = [summary["links"][f"hop{n}"]["forward"]["queue_packets"]["mean"] for n in (1, 2, 3)]
    assert means[:2] == pytest.approx([0, 0], abs=0.05)
    assert means[2] == pytest.approx(waiting, abs=0.3)


def test_incast_at_the_star_waits_for_timers():
    flows = run(Scenario.load("shapes/star").set("record", "none")).summary["flows"]
    late = [name for name, flow in flows.items() if flow["finish_s"] > 0.0088]
    assert late == ["A2", "A3"]
    assert all(flows[name]["timeouts"] == 1 for name in late)
    assert max(flow["finish_s"] for flow in flows.values()) == pytest.approx(0.202, abs=0.001)
