"""Studies: axes in all their forms, the order of runs, keys, and what is told about mistakes."""

import copy
import json
import pickle

import pytest
from small import document

from ackclock import InputError, Scenario, ScenarioError
from ackclock.sweep import Study


@pytest.fixture
def study_file(tmp_path):
    """Return a function that writes a study over the small scenario, and reads it."""
    (tmp_path / "small.json").write_text(json.dumps(document()), encoding="utf-8")

    def load(text, *overrides, name="grid.yaml"):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return Study.load(file, overrides)

    return load


def problems(load, text, plan=True):
    with pytest.raises(ScenarioError) as caught:
        study = load(text)
        assert plan, "wrong before the combinations are looked at"
        study.plan(1)
    return caught.value.problems


def rows(study):
    plan = study.plan(1)
    return [(*plan.labels(i), plan.replication(i)) for i in range(len(plan))]


GRID = """
base: small.json
grid:
  links.L1.rate: [5 Mbps, 10 Mbps]
  recovery:
    none-at-all: {flows.*.tcp.sender: classic, flows.*.tcp.recovery: timeout}
    new-reno: {flows.*.tcp.sender: classic, flows.*.tcp.recovery: newreno}
zip:
  delay: {path: links.L1.delay, values: [1 ms, 2 ms, 3 ms]}
  window: {paths: [flows.F1.tcp.initial_window, flows.F2.tcp.initial_window], values: [1, 2, 3]}
replications: 2
"""


def test_grid_zip_and_replications_make_a_product_with_the_last_one_fastest(study_file):
    study = study_file(GRID)
    assert study.columns == ["links.L1.rate", "recovery", "delay", "window"]
    assert len(study) == 2 * 2 * 3 * 2
    expected = [
        (rate, recovery, f"{number} ms", number, replication)
        for rate in ("5 Mbps", "10 Mbps")
        for recovery in ("none-at-all", "new-reno")
        for number in (1, 2, 3)
        for replication in (0, 1)
    ]
    assert rows(study) == expected


def test_each_run_gets_what_its_choices_set(study_file):
    plan = study_file(GRID).plan(1)
    last = json.loads(plan.document(len(plan) - 1))
    assert last["links"][0]["rate"] == "10 Mbps"
    assert last["links"][0]["delay"] == "3 ms"
    assert [flow["tcp"]["initial_window"] for flow in last["flows"]] == [3, 3]
    assert [flow["tcp"]["recovery"] for flow in last["flows"]] == ["newreno", "newreno"]
    assert last["seed"] == 2
    assert last["record"] == "none"


def test_several_zips_are_combined(study_file):
    study = study_file(
        """
base: small.json
zip:
  - {links.L1.rate: [5 Mbps, 10 Mbps], links.L1.delay: [1 ms, 2 ms]}
  - {flows.F1.start: [0 s, 1 s], flows.F2.start: [1 s, 0 s]}
"""
    )
    assert rows(study) == [
        ("5 Mbps", "1 ms", "0 s", "1 s", 0),
        ("5 Mbps", "1 ms", "1 s", "0 s", 0),
        ("10 Mbps", "2 ms", "0 s", "1 s", 0),
        ("10 Mbps", "2 ms", "1 s", "0 s", 0),
    ]


def test_a_study_without_axes_is_one_run_or_its_replications(study_file):
    assert rows(study_file("base: small.json")) == [(0,)]
    assert rows(study_file("base: small.json\nreplications: 3")) == [(0,), (1,), (2,)]


def test_numbers_stay_numbers_and_mappings_become_text(study_file):
    study = study_file(
        """
base: small.json
grid:
  flows.F1.tcp.initial_window: [1, 2]
  cwnd: {1: {flows.F2.tcp.initial_window: 1}, 10: {flows.F2.tcp.initial_window: 10}}
  flows.F1.tcp.cc: [reno, {kind: fast, alpha: 5}]
"""
    )
    assert rows(study)[-1] == (2, 10, '{"kind": "fast", "alpha": 5}', 0)


def test_a_study_in_python_is_the_study_of_the_file(study_file):
    ours = Study(
        Scenario.from_dict(document()),
        grid={
            "links.L1.rate": ["5 Mbps", "10 Mbps"],
            "recovery": {
                "none-at-all": {"flows.*.tcp.sender": "classic", "flows.*.tcp.recovery": "timeout"},
                "new-reno": {"flows.*.tcp.sender": "classic", "flows.*.tcp.recovery": "newreno"},
            },
        },
        zip={
            "delay": {"path": "links.L1.delay", "values": ("1 ms", "2 ms", "3 ms")},
            "window": {"path": "flows.*.tcp.initial_window", "values": (1, 2, 3)},
        },
        replications=2,
    )
    assert ours.plan(1).keys == study_file(GRID).plan(2).keys


@pytest.mark.parametrize("copied", [lambda study: pickle.loads(pickle.dumps(study)), copy.deepcopy])
def test_a_copy_of_a_study_is_that_study_and_knows_where_things_stand(copied, study_file):
    for study in (study_file(GRID), Study("bene/one-flow", grid={"links.L1.rate": ["1 Mbps"]})):
        assert copied(study).identity() == study.identity()
        assert copied(study).plan(1).keys == study.plan(1).keys
    wrong = "scenario:\n  hosts: [A, B]\n  flows: []\n  linkz: 1\n"
    found = problems(lambda text: copied(study_file(text)), wrong)
    assert any(p.path == "scenario.linkz" and p.line == 4 for p in found)


def test_bases_are_files_names_and_inline_scenarios(study_file, tmp_path, monkeypatch):
    inline = json.dumps({"scenario": document(), "grid": {"links.L1.rate": ["5 Mbps"]}})
    beside = study_file("{base: small.json, grid: {links.L1.rate: [5 Mbps]}}")
    assert study_file(inline, name="inline.json").plan(1).keys == beside.plan(1).keys
    toml = 'base = "small.json"\n[grid]\n"links.L1.rate" = ["5 Mbps"]\n'
    assert study_file(toml, name="grid.toml").plan(1).keys == beside.plan(1).keys
    monkeypatch.chdir("/")  # the base stands beside the file, wherever one is
    assert study_file("base: small.json").plan(1).keys
    assert study_file("base: bene/one-flow").plan(1).keys
    assert Study("bene/one-flow").name == "bene/one-flow"


def test_settings_and_overrides_come_before_the_axes(study_file):
    text = "{base: small.json, set: {seed: 7}, grid: {links.L1.rate: [5 Mbps]}}"
    study = study_file(text, ("flows.F1.send", "1 KB"), ("links.*.rate", "1 Mbps"))
    found = json.loads(study.plan(1).document(0))
    assert found["seed"] == 7
    assert found["flows"][0]["send"] == "1 KB"
    assert found["links"][0]["rate"] == "5 Mbps"


def test_keys_tell_apart_what_differs_and_only_that():
    def key(**changed):
        return Study({**document(), **changed}).plan(1).keys[0]

    assert key() == key(title="Another title", record="none", name="other/name")
    assert len({key(), key(seed=2), key(stop={"at_latest": "10 s"})}) == 3


def test_the_key_of_a_replication_is_that_of_its_seed():
    three = Study(document(), replications=3).plan(1)
    assert list(three.seeds) == [1, 2, 3]
    assert three.keys[2] == Study({**document(), "seed": 3}).plan(1).keys[0]


def test_equal_runs_have_equal_keys_and_own_rows(study_file):
    plan = study_file("{base: small.json, grid: {links.L1.rate: [10 Mbps, 10000 kbps]}}").plan(1)
    assert len(plan) == 2
    assert plan.keys[0] == plan.keys[1]


def test_values_do_not_run_into_each_other():
    """`*` sets the same mapping in all flows; what is set in one of them later stays there."""
    study = Study(
        document(),
        settings={"flows.*.tcp.cc": {"kind": "fast", "alpha": 5}},
        grid={"flows.F1.tcp.cc.alpha": [6, 7]},
    )
    flows = json.loads(study.plan(1).document(1))["flows"]
    assert [flow["tcp"]["cc"]["alpha"] for flow in flows] == [7, 5]


WRONG = {
    "grids: {}": ("unknown key 'grids'", 2, "did you mean 'grid'?"),
    "matrix: {}": ("unknown key 'matrix'", 2, "did you mean 'grid'?"),
    "seeds: 5": ("unknown key 'seeds'", 2, "did you mean 'replications'?"),
    "hosts: [A]": ("unknown key 'hosts'", 2, "under 'scenario'"),
    "grid: {links.L1.rate: 5 Mbps}": ("a list of values", 2, "under 'set'"),
    "grid: [1]": ("a mapping of axes", 2, "such as"),
    "grid: {w: {path: flows.F1.send, values: []}}": ("at least one value", 2, None),
    "grid: {w: {values: [1]}}": ("'path' is missing", 2, "such as"),
    "grid: {w: {path: seed, values: [1], step: 2}}": ("unknown key 'step'", 2, None),
    "grid: {seed: [1, 2]}": ("a column of every table", 2, "replications"),
    'grid: {"": {path: seed, values: [1, 2]}}': ("an axis without a name", 2, "a column"),
    "grid: {drops: {a: {seed: 1}}}": ("a column of every table", 2, "another name"),
    "grid: {flows.F1.send: [1 KB, 1 KB]}": ("occurs here twice", 2, "replications"),
    "grid: {a: {x: 5}}": ("a mapping of paths", 2, "such as"),
    "zip: {flows.F1.send: [1 KB], links.L1.delay: [1 ms, 2 ms]}": ("equally many", 2, "grid"),
    "grid: {links.L1.rate: {from: 1 Mbps, to: 2 Mbps}}": ("a range is not a list", 2, "sample"),
    "sample: 5": ("a mapping is needed", 2, "points"),
    "sample: {over: {flows.F1.send: [1 KB]}}": ("'points' is missing", 2, "100"),
    "sample: {points: 5}": ("'over' is missing", 2, "over"),
    "sample: {points: 0, over: {flows.F1.send: [1 KB]}}": ("not a number of points", 2, None),
    "sample: {points: 5, method: sobl, over: {flows.F1.send: [1 KB]}}": (
        "unknown",
        2,
        "sobol",
    ),
    "sample: {points: 5, method: sobol, over: {flows.F1.send: [1 KB]}}": ("powers of two", 2, "8"),
    "sample: {points: 5, seed: -1, over: {flows.F1.send: [1 KB]}}": ("not a seed", 2, None),
    "sample: {points: 5, axes: 3, over: {flows.F1.send: [1 KB]}}": ("unknown key 'axes'", 2, None),
    "sample: {points: 5, over: {a: {from: 1, to: 2, by: 1}}}": ("unknown key 'by'", 2, None),
    "sample: {points: 5, over: {a: {from: 1}}}": ("both 'from' and 'to'", 2, "such as"),
    "sample: {points: 5, over: {a: {from: 2, to: 2}}}": ("smaller to a larger", 2, "such as"),
    "sample: {points: 5, over: {a: {from: 0, to: 2, scale: log}}}": ("above 0", 2, "such as"),
    "sample: {points: 5, over: {a: {from: 1, to: 2, scale: lgo}}}": ("unknown", 2, "log"),
    "sample: {points: 5, over: {a: {from: 1 B, to: 2 ms}}}": ("of one kind", 2, "such as"),
    "sample: {points: 5, over: {a: {from: 1, to: 2 ms}}}": ("two numbers", 2, "such as"),
    "replications: 0": ("not a number of replications", 2, None),
    "replications: many": ("a whole number", 2, None),
    "study: ../x": ("cannot be the name", 2, "title"),
    "grid:\n  links.L1.rate: [5 Mbps]\nzip:\n  links.L1.rate: [1 Mbps]": (
        "a second axis",
        5,
        "grid",
    ),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_in_the_grammar_are_told_with_their_line(study_file, text):
    message, line, hint = WRONG[text]
    (found,) = problems(study_file, f"base: small.json\n{text}", plan=False)
    assert message in found.message
    assert found.line == line
    assert found.file.endswith("grid.yaml")
    assert hint is None or hint in found.hint


@pytest.mark.parametrize("text", ["", "- a"])
def test_what_is_no_mapping_is_answered_with_how_a_study_begins(study_file, text):
    (found,) = problems(study_file, text, plan=False)
    assert found.hint == "start with 'study: my-study'"


def test_a_file_that_is_not_there_is_told_at_the_line_that_names_it(study_file):
    cc = "flows.F1.tcp.cc: [{kind: python, file: no.py}]"
    text = f"base: small.json\ngrid:\n  w: {{path: seed, values: [1, 2]}}\n  {cc}"
    (found,) = problems(study_file, text)
    assert (found.path, found.line) == ("flows.F1.tcp.cc.file", 4)
    assert found.message == "there is no such file" and found.file.endswith("grid.yaml")
    assert "relative to the file that names it" in found.hint


def test_all_mistakes_are_told_at_once(study_file):
    text = "base: nowhere/at-all\nreplications: 0\ngrid: {seed: [1]}\nstudi: x"
    assert [p.line for p in problems(study_file, text, plan=False)] == [1, 2, 3, 4]


@pytest.mark.parametrize("base", ["nowhere", "missing.yaml", "[1]", "''"])
def test_a_base_that_is_not_there(study_file, base):
    (found,) = problems(study_file, f"base: {base}", plan=False)
    assert (found.line, found.path) == (1, "base")


def test_a_study_needs_one_scenario(study_file):
    (none,) = problems(study_file, "grid: {links.L1.rate: [1 Mbps]}", plan=False)
    assert "no scenario" in none.message
    text = "base: small.json\nscenario: {hosts: [A]}"
    (both,) = problems(study_file, text, plan=False)
    assert "exclude each other" in both.message


def test_a_value_that_the_simulator_refuses_is_told_where_it_stands(study_file):
    text = "base: small.json\ngrid:\n  links.L1.rate:\n    - 5 Mbps\n    - 5 parsecs\n"
    (found,) = problems(study_file, text)
    assert (found.line, found.column) == (5, 7)
    assert found.path == "links.L1.rate"
    assert found.value == "5 parsecs"
    assert found.allowed


def test_a_path_that_leads_nowhere_is_told_once(study_file):
    text = """base: small.json
grid:
  links.L1.rate: [1 Mbps, 2 Mbps]
  w: {path: links.L2.rate, values: [1 Mbps]}
"""
    (found,) = problems(study_file, text)
    assert "there is no 'L2'" in found.message
    assert found.line == 4
    assert found.allowed == "L1"


def test_what_is_wrong_in_some_combinations_names_one(study_file):
    text = """
base: small.json
grid:
  loss:
    some: {links.L1.loss: {kind: bernoulli}}
    none: {links.L1.loss: {kind: none}}
  share: {path: links.L1.loss.p, values: [0.1, 0.2]}
"""
    found = problems(study_file, text)
    assert {p.line for p in found} == {7}
    assert all("(with loss: none)" in p.message for p in found)


def test_what_is_wrong_in_the_base_is_told_there(study_file, tmp_path):
    broken = {**document(), "flows": [{"id": "F", "from": "A", "to": "Z", "send": "1 KB"}]}
    (tmp_path / "broken.json").write_text(json.dumps(broken, indent=1), encoding="utf-8")
    (found,) = problems(study_file, "base: broken.json\ngrid: {links.L1.rate: [1 Mbps, 2 Mbps]}")
    assert found.file.endswith("broken.json")
    text = "scenario:\n  hosts: [A, B]\n  flows: []\n  linkz: 1\n"
    told = problems(study_file, text)
    assert any(p.path == "scenario.linkz" and p.line == 4 for p in told)


def test_what_is_set_from_outside_is_named(study_file):
    study = study_file("base: small.json", ("links.L1.rate", "fast"))
    with pytest.raises(ScenarioError) as caught:
        study.plan(1)
    (found,) = caught.value.problems
    assert found.file == "--set links.L1.rate=fast"


def test_too_many_runs_are_refused():
    with pytest.raises(ScenarioError, match="too many"):
        Study(document(), grid={"stop.at_latest": ["1 s", "2 s"]}, replications=600_000)


def test_numbers_of_workers_that_make_no_sense():
    with pytest.raises(InputError):
        Study(document()).plan(0)


def test_values_of_numpy_and_ranges_are_those_of_python():
    numpy = pytest.importorskip("numpy")
    base = Scenario.from_dict(document())
    axes = {
        "links.L1.corruption": numpy.linspace(0, 0.5, 3),
        "flows.F1.tcp.initial_window": range(1, 3),
    }
    study = Study(base, grid=axes, replications=numpy.int64(1))
    lists = {"links.L1.corruption": [0.0, 0.25, 0.5], "flows.F1.tcp.initial_window": [1, 2]}
    assert len(study) == 6
    assert study.dimensions == Study(base, grid=lists).dimensions


@pytest.mark.parametrize("base", [None, 5, ["teach/sawtooth"], b"x"])
def test_what_is_not_a_scenario_is_not_a_base(base):
    with pytest.raises(InputError, match="is not a scenario; needed is a file, a name"):
        Study(base)
