"""`--set PATH=VALUE`."""

import copy

import pytest
import small

from ackclock import Scenario
from ackclock.document import Document, parse_value
from ackclock.errors import ScenarioError

DATA = {
    "name": "x",
    "hosts": ["A", "B"],
    "links": [{"id": "L1", "rate": "10 Mbps"}, {"id": "L2", "rate": "5 Mbps"}],
    "flows": [{"id": "F1", "tcp": {"cc": "fast"}}, {"id": "F2", "send": 3}],
    "stop": {"at_latest": "9 s"},
}


def changed(path, value):
    document = Document(copy.deepcopy(DATA))
    document.override(path, value)
    return document.data


def test_an_element_goes_by_id_index_or_star():
    assert changed("links.L2.rate", "1 Mbps")["links"][1]["rate"] == "1 Mbps"
    assert changed("links.0.rate", "1 Mbps")["links"][0]["rate"] == "1 Mbps"
    rates = [link["rate"] for link in changed("links.*.rate", "1 Mbps")["links"]]
    assert rates == ["1 Mbps", "1 Mbps"]
    assert changed("hosts.B", "C")["hosts"] == ["A", "C"]


def test_a_key_that_is_absent_is_made():
    assert changed("flows.F1.start", "2 s")["flows"][0]["start"] == "2 s"
    assert changed("flows.F2.tcp.cc", "reno")["flows"][1]["tcp"] == {"cc": "reno"}
    assert changed("seed", 7)["seed"] == 7


def test_a_parameter_of_a_word_makes_it_a_mapping():
    assert changed("flows.F1.tcp.cc.alpha", 60)["flows"][0]["tcp"]["cc"] == {
        "kind": "fast",
        "alpha": 60,
    }


@pytest.mark.parametrize("count", [{}, {"count": 2}])
def test_a_key_of_a_preset_makes_it_a_mapping(count):
    flow = {"id": "F", "from": "A", "to": "B", "tcp": "linux-reno", **count}
    data = small.document() | {"flows": [flow]}
    scenario = Scenario.from_dict(data).set("flows.F1.tcp.cc" if count else "flows.F.tcp.cc", "bbr")
    assert scenario.model["flows"][0]["tcp"]["cc"]["kind"] == "bbr"


def test_hyphens_are_read_as_underscores():
    assert changed("stop.at-latest", "5 s")["stop"] == {"at_latest": "5 s"}


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("links.l1.rate", "there is no 'l1' in 'links'", "did you mean 'L1'?"),
        ("links.9.rate", "there is no '9' in 'links'", None),
        ("links..rate", "dots between", None),
        ("", "dots between", None),
        ("flows.F2.send.x", "'flows.F2.send' is the value 3", None),
        (".".join("a" * 20), "16 steps", None),
    ],
)
def test_a_path_that_leads_nowhere(path, message, hint):
    with pytest.raises(ScenarioError) as caught:
        changed(path, 1)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.hint == hint
    assert problem.file == f"--set {path}=1"


def test_a_star_needs_something_to_match():
    document = Document({"links": []})
    with pytest.raises(ScenarioError, match="nothing that"):
        document.override("links.*.rate", 1)


def test_a_problem_with_a_set_value_names_the_option():
    document = Document.parse("name: x\nlinks:\n  - {id: L1, rate: 5 Mbps}\n", file="f.yaml")
    document.override("links.L1.rate", "7")
    assert document.problem(("links", 0, "rate"), "wrong").file == "--set links.L1.rate=7"
    assert document.problem(("links", 0), "wrong").file == "f.yaml"
    document.override("flowz.F1.cc", "reno")
    assert document.problem(("flowz",), "unknown key 'flowz'").file == "--set flowz.F1.cc=reno"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("reno", "reno"),
        ("10 Mbps", "10 Mbps"),
        ("50", 50),
        (" 0.5 ", 0.5),
        ("true", True),
        ("{kind: fast, alpha: 60}", {"kind": "fast", "alpha": 60}),
        ("[A, B]", ["A", "B"]),
        ("'50'", "50"),
        ("what: is this?", "what: is this?"),
        ("", None),
    ],
)
def test_values_are_read_as_yaml(text, value):
    assert parse_value(text) == value


def test_a_value_that_cannot_be_read():
    with pytest.raises(ValueError, match="ends inside"):
        parse_value("{kind: fast")


def test_a_value_that_is_no_number():
    with pytest.raises(ScenarioError, match="finite"):
        changed("seed", float("nan"))
