"""The converter of Bene's network files, on texts written here."""

import os

import pytest

from ackclock import convert
from ackclock.document import Document
from ackclock.errors import InputError, ScenarioError
from ackclock.run import run
from ackclock.scenario import Scenario

ONE_HOP = """\
# n1 -- n2
#
n1 n2
n2 n1

# link configuration
n1 n2 10Mbps 10ms 100pkts 0.25loss
n2 n1 10Mbps 10ms
"""
TREE = """\
a b
b a c d
c b
d b

b c 1.5Mbps 0.25seconds
c b 1.5Mbps 0.25seconds
"""


def write(tmp_path, text):
    path = tmp_path / "net.txt"
    path.write_text(text, encoding="utf-8")
    return path


def problems(tmp_path, text):
    """Places and messages of everything that is wrong with a file."""
    with pytest.raises(ScenarioError) as caught:
        convert.convert(write(tmp_path, text))
    return [
        (problem.line, problem.column, problem.value, problem.message)
        for problem in caught.value.problems
    ]


def test_directions_keep_their_own_values(tmp_path):
    model = Scenario.from_dict(convert.convert(write(tmp_path, ONE_HOP))).model
    (link,) = model["links"]
    assert link["ends"] == ["n1", "n2"]
    assert link["duplex"] == "full"
    for direction in ("forward", "backward"):
        assert link[direction]["rate_bps"] == 10_000_000
        assert link[direction]["delay_ns"] == 10_000_000
        assert link[direction]["queue"]["counts"] == "waiting"
    assert link["forward"]["queue"]["limit_packets"] == 100
    assert link["backward"]["queue"].get("limit_packets") is None
    loss = {"kind": "bernoulli", "p": 0.25, "at": "entry", "applies_to": "all"}
    assert link["forward"]["loss"] == loss
    assert link["backward"]["loss"]["kind"] == "none"


def test_leaves_are_hosts_and_the_rest_routers(tmp_path):
    conversion = convert.read(write(tmp_path, TREE))
    assert conversion.document["hosts"] == ["a", "c", "d"]
    assert conversion.document["routers"] == ["b"]
    assert any("routers" in note for note in conversion.notes)
    links = {link["id"]: link for link in conversion.document["links"]}
    assert list(links) == ["a-b", "b-c", "b-d"]
    assert (links["b-c"]["rate"], links["b-c"]["delay"]) == ("1.5 Mbps", "0.25 s")
    # What a file does not say is Bene's.
    assert (links["a-b"]["rate"], links["a-b"]["delay"]) == ("1 Mbps", "1 ms")
    assert links["a-b"]["queue"]["limit"] == "unlimited"


def test_a_ring_gets_two_hosts_and_a_note(tmp_path):
    conversion = convert.read(write(tmp_path, "a b c\nb a c\nc a b\n"))
    assert conversion.document["hosts"] == ["a", "c"]
    assert conversion.document["routers"] == ["b"]
    assert any("single link" in note for note in conversion.notes)
    Scenario.from_dict(conversion.document)


def test_the_written_file_runs_and_says_that_the_flow_is_to_be_filled_in(tmp_path):
    out = tmp_path / "net.yaml"
    convert.convert_file(write(tmp_path, TREE), out)
    assert "placeholder" in out.read_text(encoding="utf-8")
    assert Document.read(out).data["profile"] == "bene"
    assert run(Scenario.load(out, [("flows.F1.send", "20 kB")])).summary["finished"]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("100packets", "100pkts"),
        ("100pkt", "100pkts"),
        ("10mbps", "10Mbps"),
        ("10msec", "10ms"),
        ("10", "together"),
        ("Mbps", "together"),
        ("fast", "ignore"),
        ("-1ms", "digits alone"),
        ("1e3Mbps", "digits alone"),
    ],
)
def test_words_that_bene_ignores_are_errors_with_line_and_column(word, hint, tmp_path):
    with pytest.raises(ScenarioError) as caught:
        convert.convert(write(tmp_path, f"n1 n2\nn2 n1\n\nn1 n2 10Mbps {word} 10ms\n"))
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.value) == (4, 14, word)
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("0Mbps", "a rate is at least 1bps"),
        ("0.5bps", "not a whole number of bits per second"),
        ("0.0000001ms", "finer than a nanosecond"),
        ("0pkts", "a limit is at least 1pkts; for none, leave it out"),
        ("2.5pkts", "not a whole number of packets"),
        ("1.5loss", "a probability is at most 1"),
    ],
)
def test_values_that_mean_nothing_are_errors(word, message, tmp_path):
    found = problems(tmp_path, f"n1 n2\nn2 n1\n\nn1 n2 {word}\n")
    assert found == [(4, 7, word, message)]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a b\nb a\n\na x 1ms\n", (4, 3), "no such node"),
        ("a b\nb a c\nc b\n\na c 1ms\n", (5, 3), "a has no such neighbour"),
        ("a b\nb a\n\na b 1ms\na b 2ms\n", (5, 1), "the values of a to b are given already"),
        ("a b\nb a\n\na b 1ms 2ms\n", (4, 9), "a second delay of the same link"),
        ("a b\nb a\n\na b\n", (4, 1), "a link line without values"),
        ("a b c\nb a\n", (1, 5), "the link from a to c has no way back"),
        ("a b\nb a\nc\n", (3, 1), "a node without neighbours"),
        ("a b b\nb a\n", (1, 5), "this neighbour is named twice"),
        ("a b\nb a a1\na b\na1 b\n", (3, 1), "this node has its line of neighbours already"),
        ("a b\nb a b\n", (2, 5), "a node is not its own neighbour"),
        ("a b\nb a\na b 10Mbps\n", (3, 5), "not the name of a node"),
    ],
)
def test_links_that_do_not_fit_together_are_errors(text, place, message, tmp_path):
    found = problems(tmp_path, text)
    assert [(line, column) for line, column, _, said in found if said == message] == [place]


def test_all_errors_are_told_at_once_and_nothing_is_written(tmp_path):
    path = write(tmp_path, "n1 n2\nn2 n1\n\nn1 n2 1kbps 2packets\nn2 n1 3sec\n")
    out = tmp_path / "out.yaml"
    with pytest.raises(ScenarioError) as caught:
        convert.convert_file(path, out)
    assert [(p.line, p.column) for p in caught.value.problems] == [(4, 7), (4, 13), (5, 7)]
    assert not out.exists()


def test_what_no_scenario_can_have_is_an_error(tmp_path):
    with pytest.raises(ScenarioError, match=r"net\.txt: links\.n1-n2\.rate: .* is too large"):
        convert.convert(write(tmp_path, ONE_HOP.replace("10Mbps", "99999999999999999999Mbps")))


@pytest.mark.parametrize(
    ("text", "receiver"),
    [
        ("a b\nb a\nc d\nd c\n", "b"),
        ("a b c\nb a c\nc a b\nd e f\ne d f\nf d e\n", "c"),
    ],
    ids=["leaves", "rings"],
)
def test_the_flow_to_fill_in_has_a_path_where_a_file_holds_several_networks(
    text, receiver, tmp_path
):
    document = convert.convert(write(tmp_path, text))
    assert (document["flows"][0]["from"], document["flows"][0]["to"]) == ("a", receiver)


def test_a_mark_of_byte_order_is_skipped(tmp_path):
    path = write(tmp_path, "\ufeff" + TREE)
    assert convert.convert(path) == convert.convert(write(tmp_path, TREE))


def test_the_command_writes_what_can_be_run_or_says_why_not(ackclock, tmp_path):
    source = write(tmp_path, ONE_HOP)
    done = ackclock("convert", "net.txt", "-o", "net.yaml")
    assert done.code == 0 and "net.yaml: 1 flow, 1 link\n" in done.out
    assert ackclock("validate", "net.yaml").code == 0
    assert ackclock("convert", "net.txt", "-o", "-").out == (tmp_path / "net.yaml").read_text(
        encoding="utf-8"
    )
    for out, said in {
        "net.txt": "is the file that is converted",
        f"..{os.sep}{tmp_path.name}{os.sep}net.txt": "is the file that is converted",
        ".": "'.' is a folder",
        f"none{os.sep}net.yaml": "no folder 'none'",
    }.items():
        done = ackclock("convert", "net.txt", "-o", out)
        assert done.code == 2 and said in done.err, out
    assert source.read_text(encoding="utf-8") == ONE_HOP
    assert sorted(file.name for file in tmp_path.iterdir()) == ["net.txt", "net.yaml"]


def test_what_is_no_network_file_is_not_taken_for_one(tmp_path):
    with pytest.raises(ScenarioError, match="not a file of any format"):
        convert.convert(write(tmp_path, "name: mine\nhosts: [a, b]\n"))
    with pytest.raises(ScenarioError, match="not a file of any format"):
        convert.convert(write(tmp_path, "# only a comment\n"))
    with pytest.raises(InputError):
        convert.convert(tmp_path / "absent.txt")
