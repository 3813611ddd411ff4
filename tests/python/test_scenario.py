"""Loading, checking and changing scenarios."""

import json
import time

import numpy as np
import pytest
from small import document

import ackclock
from ackclock import InputError, Scenario, ScenarioError, _core, library
from ackclock.canonical import to_yaml
from ackclock.document import Document


def test_every_scenario_of_the_package_is_valid_and_named_after_its_file():
    names = library.names()
    assert len(names) >= 9
    for name in names:
        scenario = Scenario.load(name)
        assert scenario.name == name
        assert scenario.canonical["question"]
        assert scenario.canonical["expectation"]


def test_an_unknown_name_shows_the_nearest():
    with pytest.raises(InputError, match="did you mean 'caltech/test-case-0-fast'"):
        Scenario.load("caltech/test-case-0-fats")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.yaml", "no such file"),
        ("../../etc/passwd", "unknown scenario"),
        (".", "is a folder"),
        ("", "folder"),
    ],
)
def test_what_is_not_there(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        Scenario.load(name)


def test_overrides_and_seed():
    scenario = Scenario.load(
        "caltech/test-case-0-fast", [("flows.F1.tcp.cc", "reno"), ("links.*.delay", "3 ms")], seed=9
    )
    assert scenario.model["flows"][0]["tcp"]["cc"]["kind"] == "reno"
    assert {link["forward"]["delay_ns"] for link in scenario.model["links"]} == {3_000_000}
    assert scenario.seed == scenario.model["seed"] == 9
    assert scenario.overrides == [
        "--set flows.F1.tcp.cc=reno",
        *["--set links.*.delay=3 ms"] * len(scenario.model["links"]),
        "--seed 9",
    ]


def test_set_returns_a_new_scenario():
    scenario = Scenario.from_dict(document())
    slower = scenario.set("links.L1.rate", "1 Mbps")
    assert slower.model["links"][0]["forward"]["rate_bps"] == 1_000_000
    assert scenario.model["links"][0]["forward"]["rate_bps"] == 10_000_000
    assert scenario.overrides == []
    both = slower.set("flows.F1.tcp.cc", {"kind": "fixed", "window": 3})
    assert both.model["links"][0]["forward"]["rate_bps"] == 1_000_000
    assert both.model["flows"][0]["tcp"]["cc"] == {"kind": "fixed", "window": 3}


def test_from_dict_takes_a_copy():
    data = document()
    scenario = Scenario.from_dict(data)
    data["links"].clear()
    assert scenario.document["links"]


@pytest.mark.parametrize("value", [object(), float("nan"), {1: 2}, 2**70, {"a": {1, 2}}, b"x"])
def test_from_dict_refuses_what_no_file_could_hold(value):
    data = document()
    data["flows"][0]["send"] = value
    with pytest.raises(ScenarioError, match="flows"):
        Scenario.from_dict(data)


@pytest.mark.slow
def test_the_canonical_document_means_the_same_and_is_its_own():
    for name in library.names():
        scenario = Scenario.load(name)
        again = Scenario(Document.parse(to_yaml(scenario.canonical)))
        assert again.model == scenario.model
        assert again.canonical == scenario.canonical


BAD = """\
name: bad
hosts: [A, B, C]
links:
  - {id: L1, between: [A, B], rate: 10, delay: 5 ms}
  - {id: L1, between: [A, X], rate: 10 Mbps, delay: -5 ms}
  - {id: L3, between: [A, B], rat: 10 Mbps, rate: 10 Mbps, delay: 5 ms}
flows:
  - {id: F1, from: A, to: B, tcp: {cc: renno}}
stop: {when: flows-complete, at_latest: 20 s}
"""


def test_a_value_set_in_many_places_is_noted_once():
    base = Scenario.load("teach/cubic-bbr")
    changed = base.set("flows.*.start", "1 s").set("seed", 2).set("flows.*.start", "2 s")
    wanted = ["--set flows.*.start=1 s", "--set seed=2", "--set flows.*.start=2 s"]
    assert changed.overrides == wanted


def test_all_errors_of_a_file_at_once_each_with_its_place(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(BAD)
    started = time.process_time()
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    assert time.process_time() - started < 1
    places = {(p.file, p.line, p.column): p for p in caught.value.problems}
    assert (str(path), 4, 37) in places  # a rate without unit
    assert (str(path), 5, 10) in places  # a second L1
    assert (str(path), 5, 27) in places  # between a host and nothing
    assert (str(path), 5, 53) in places  # a delay below zero
    assert (str(path), 6, 31) in places  # an unknown key
    assert (str(path), 8, 40) in places  # an unknown word
    unknown_key = places[str(path), 6, 31]
    assert "rate" in f"{unknown_key.hint} {unknown_key.allowed}"
    assert places[str(path), 4, 37].value == 10
    assert "reno" in f"{places[str(path), 8, 40].hint} {places[str(path), 8, 40].allowed}"


def test_the_error_of_a_set_value_names_the_option():
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("caltech/test-case-0-fast", [("flows.F1.tcp.cc.alpha", "lots")])
    (problem,) = caught.value.problems
    assert problem.file == "--set flows.F1.tcp.cc.alpha=lots"


@pytest.mark.slow
def test_the_schema_accepts_every_scenario_of_the_package():
    jsonschema = pytest.importorskip("jsonschema")
    from ackclock import _core

    schema = json.loads(_core.schema())
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    assert "draft-07" in schema["$schema"]
    for name in library.names():
        raw = Document.read(library.find(name)).data
        assert list(validator(schema).iter_errors(raw)) == []
        assert list(validator(schema).iter_errors(Scenario.load(name).canonical)) == []
    assert list(validator(schema).iter_errors(document() | {"flow": []}))


@pytest.mark.parametrize(
    ("profile", "rules"),
    [
        (None, {"partial_timer": "first", "exit_window": "flight", "grow_on_exit": False}),
        ("realistic", {"partial_timer": "each", "exit_window": "flight", "grow_on_exit": False}),
        ("ns-3.24", {"partial_timer": "each", "exit_window": "ssthresh", "grow_on_exit": True}),
        ("ns-2.35", {"partial_timer": "first", "grow_on_exit": True, "repaired": "unsent"}),
    ],
)
def test_newreno_is_that_of_its_profile(profile, rules):
    changed = document()
    if profile:
        changed["profile"] = profile
    changed["flows"][0]["tcp"] = {"sender": "classic", "recovery": "newreno"}
    recovery = Scenario.from_dict(changed).canonical["flows"][0]["tcp"]["recovery"]
    assert {key: recovery[key] for key in rules} == rules


def test_a_large_short_form_runs_without_being_written_out():
    """Canonical text and numbers of 10,000 flows take a hundred times as long as checking them."""
    flows = {"id": "F", "count": 10_000, "from": "S*", "to": "D*", "send": "1 MB"}
    link = {"rate": "1 Gbps", "delay": "1 ms"}
    scenario = Scenario.from_dict(
        {
            "topology": {
                "kind": "dumbbell",
                "leaves": 10_000,
                "access": link,
                "bottleneck": link,
                "egress": link,
            },
            "flows": [{**flows, "tcp": {"sender": "classic"}}],
            "record": "none",
        }
    )
    assert (len(scenario.flows), len(scenario.links)) == (10_000, 20_001)
    assert scenario.hosts[:2] == ["S1", "S2"] and scenario.routers == ["R1", "R2"]
    simulation = _core.Simulation(scenario.handle)
    assert not simulation.advance(0.0) and simulation.events > 0
    assert not {"canonical", "model"} & set(vars(scenario))


def test_a_run_takes_the_seed_of_the_scenario_or_another():
    drawn = ("flows.F1.start", {"kind": "uniform", "to": "1 s"})
    scenario = Scenario.load("caltech/test-case-0-reno", [drawn, ("record", "none")])
    once, other, same = (
        _core.Simulation(scenario.handle, seed) for seed in (None, scenario.seed + 1, scenario.seed)
    )
    runs = [once, other, same, _core.Simulation(scenario.set("seed", scenario.seed + 1).handle)]
    for run in runs:
        run.advance(60.0)
    first, second, third, fourth = (json.loads(run.finish().summary) for run in runs)
    assert first == third and second == fourth
    assert first["digest"] != second["digest"]


def test_functions_take_a_scenario_its_name_or_its_file_and_say_so_of_anything_else():
    scenario = ackclock.Scenario.load("teach/tail-loss")
    digest = ackclock.run(scenario).summary["digest"]
    assert ackclock.run("teach/tail-loss").summary["digest"] == digest
    assert ackclock.replicate("teach/tail-loss", 1, workers=1).asked == 1
    with pytest.raises(ackclock.InputError, match=r"`dict` is not a scenario; .*from_dict"):
        ackclock.run(dict(scenario.head))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ackclock.InputError, match="`list` is not a scenario"):
        ackclock.replicate([scenario], 2)  # pyright: ignore[reportArgumentType]


def test_values_of_numpy_are_values():
    scenario = ackclock.Scenario.load("teach/tail-loss", seed=np.int64(7))
    assert scenario.seed == 7
    assert scenario.set("seed", np.uint8(3)).seed == 3
    document = scenario.canonical | {"seed": np.int32(9)}
    assert ackclock.Scenario.from_dict(document).seed == 9


@pytest.mark.parametrize("given", [3, None, ["teach/tail-loss"], b"teach/tail-loss"])
def test_what_is_no_scenario_is_refused_by_its_type(given):
    with pytest.raises(ackclock.InputError, match=f"`{type(given).__name__}` is not a scenario"):
        ackclock.Scenario.load(given)
    with pytest.raises(ackclock.InputError, match="a mapping, as in a scenario file"):
        ackclock.Scenario.from_dict(given)


def test_scenarios_are_equal_that_describe_the_same_run():
    scenario = Scenario.load("caltech/test-case-0-fast")
    same = scenario.set("flows.F1.tcp.cc.alpha", 50).set("links.L1.delay", "0.01 s")
    assert scenario == same and hash(scenario) == hash(same)
    assert scenario != scenario.set("links.L1.rate", "5 Mbps")
    assert scenario != scenario.name
