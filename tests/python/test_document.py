"""Documents: what is read, what is refused, and the place every complaint names."""

import json
import time

import pytest

from ackclock.document import MAX_BYTES, Document
from ackclock.errors import InputError, ScenarioError


def problems(text, suffix=".yaml"):
    with pytest.raises(ScenarioError) as caught:
        Document.parse(text, suffix, "file")
    return caught.value.problems


def only(text, suffix=".yaml"):
    (problem,) = problems(text, suffix)
    return problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("10:30", "10:30"),
        ("1e6", 1e6),
        ("-0.5", -0.5),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 17),
        ("~", None),
        ("", None),
        ("true", True),
        ("10 Mbps", "10 Mbps"),
        ("'7'", "7"),
        ('"7"', "7"),
        ("2026-01-01", "2026-01-01"),
        ("1_000", "1_000"),
    ],
)
def test_scalars_follow_yaml_1_2(text, value):
    assert Document.parse(f"a: {text}\n").data == {"a": value}


def test_the_three_formats_read_the_same():
    yaml = "name: x\nlinks:\n  - {id: L1, rate: 10 Mbps}\nstop: {at-latest: 5 s}\n"
    as_json = (
        '{"name": "x", "links": [{"id": "L1", "rate": "10 Mbps"}], "stop": {"at-latest": "5 s"}}'
    )
    toml = 'name = "x"\nlinks = [{id = "L1", rate = "10 Mbps"}]\n[stop]\nat-latest = "5 s"\n'
    expected = {
        "name": "x",
        "links": [{"id": "L1", "rate": "10 Mbps"}],
        "stop": {"at_latest": "5 s"},
    }
    assert Document.parse(yaml).data == expected
    assert Document.parse(as_json, ".json").data == expected
    assert Document.parse(toml, ".toml").data == expected


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbfa: 1\nb: 2\n", b"a: 1\r\nb: 2\r\n"])
def test_byte_order_mark_and_windows_lines_are_accepted(tmp_path, raw):
    path = tmp_path / "x.yaml"
    path.write_bytes(raw)
    assert Document.read(path).data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a: 1\n\tb: 2\n", 2, 1, "tab"),
        ("a: 1\nb:\n  - {x: 1, x: 2}\n", 3, 12, "duplicate key 'x'"),
        ("at_latest: 1\nat-latest: 2\n", 2, 1, "duplicate key 'at-latest'"),
        ("a: b: c\n", 1, 5, "':'"),
        ("a:\n  b: 1\n c: 2\n", 3, 2, "indentation"),
        ("a: [1, 2]]\n", 1, 10, "closing bracket"),
        ("---\na: 1\n---\nb: 2\n", 3, 1, "one scenario"),
        ("a: *x\n", 1, 4, "alias '*x'"),
        ("a: &a [*a]\n", 1, 8, "inside its own anchor"),
        ("a: !!python/object:os.system x\n", 1, 4, "tag"),
        ("? [a]\n: b\n", 1, 3, "key"),
        ("a: \x01\n", 1, 4, "U+0001"),
        ("a: .nan\n", 1, 4, "finite"),
        ("a: 1e999\n", 1, 4, "finite"),
        ("a: -.inf\n", 1, 4, "finite"),
        ("a: 99999999999999999999\n", 1, 4, "64 bits"),
        ("a: [1,\nb: 2\n", 3, 1, "ends inside"),
        ("a: [\n", 2, 1, "ends inside"),
        ("a:\n  b: [\n  1]\n", 3, 3, "closing bracket was expected"),
        ("a: {b: 1 c: 2}\n", 1, 11, "',' or a closing bracket"),
        ("a: 'x' y\n", 1, 8, "after the closing quote"),
        ("a: 'x\ny'\n", 1, 4, "quoted text is not indented"),
        ('a: "\\q"\n', 1, 4, "escape"),
        ("a: @x\n", 1, 4, "'@'"),
        ("a: - b\n", 1, 4, "'-'"),
        ("a: [,]\n", 1, 5, "a value was expected"),
        ("a:\tx\n", 1, 4, "tab"),
        ("a: 1\nword\n", 2, 1, "without ':'"),
        ("a:\n  - b: 1\n    c:10 M\n    d: 2\n", 3, 5, "a space is missing after the ':'"),
        ("a:\n  - b:1\n\n    c: 2\n", 2, 5, "a space is missing after the ':'"),
        ("a: 1\nb:[2]  # last\n", 2, 1, "a space is missing after the ':'"),
        ("a: |\n  b:1\nc: d: 2\n", 3, 5, "no key can stand"),
        ("a: http://x\n b: 1\n", 2, 3, "no key can stand"),
    ],
)
def test_yaml_complaints_name_the_place(text, line, column, message):
    problem = only(text)
    assert (problem.line, problem.column) == (line, column)
    assert message in problem.message


def test_an_open_bracket_is_named_where_it_was_opened():
    problem = only("a: 1\nb: [1,\nc: 'x\n")
    assert "ends inside" in problem.message
    assert "line" in problem.hint


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{"a": 1,\n "a": 2}', 2, 2, "duplicate key 'a'"),
        ('{"a": 1,\n}', 2, 1, "key in double quotes"),
        ('{"a" 1}', 1, 6, "':'"),
        ('{"a": [1 2]}', 1, 10, "','"),
        ('{"a": tru}', 1, 7, "'tru'"),
        ('{"a": NaN}', 1, 7, "'NaN'"),
        ('{"a": 1e999}', 1, 7, "finite"),
        ('{"a": "x\n"}', 1, 7, "text that does not end"),
        ('{"a": "\\ud800"}', 1, 7, "surrogate"),
        ('{"a": "\\q"}', 1, 7, "escape"),
        ('{"a": 1} x', 1, 10, "more text"),
        ('{"a": [1,', 1, 10, "ends in the middle"),
        ('{"a": ' + "9" * 5000 + "}", 1, 7, "finite"),
    ],
)
def test_json_complaints_name_the_place(text, line, column, message):
    problem = only(text, ".json")
    assert message in problem.message
    assert (problem.line, problem.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\na = 2\n", 2, "TOML"),
        ("a = \n", 1, "TOML"),
        ("[x]\na = 1\nb = 2026-01-01\n", 3, "date"),
        ("[[links]]\nid = 'L1'\n[[links]]\nrate = nan\n", 4, "finite"),
    ],
)
def test_toml_complaints_name_the_line(text, line, message):
    problem = only(text, ".toml")
    assert message in problem.message
    assert problem.line == line


@pytest.mark.parametrize(
    ("suffix", "opening", "closing"),
    [(".yaml", "[", "]"), (".yaml", "{a: ", "}"), (".json", "[", "]"), (".json", '{"a":', "}")],
)
@pytest.mark.parametrize("depth", [100, 100_000])
def test_absurd_nesting_is_a_clean_error(suffix, opening, closing, depth):
    started = time.process_time()
    text = opening * depth + closing * depth
    assert any("nested" in problem.message for problem in problems(text, suffix))
    assert time.process_time() - started < 5


def test_absurd_nesting_in_toml_is_a_clean_error():
    assert "nested" in only("a = " + "[" * 100_000, ".toml").message
    assert "nested" in only("a = " + "[" * 80 + "]" * 80, ".toml").message


def test_aliases_that_multiply_are_refused():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "too many" in only("\n".join(lines)).message


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".toml"])
@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_said_to_be_empty(suffix, text):
    assert only(text, suffix).message == "the file is empty"


@pytest.mark.parametrize("text", ["- a\n", "word\n", "7\n"])
def test_the_top_must_be_a_mapping(text):
    assert "mapping" in only(text).message


def test_versions_of_yaml_to_come_are_read_as_this_one():
    assert Document.parse("%YAML 1.9\n---\na: yes\n").data == {"a": "yes"}


LONG = {
    ".yaml": "flows:\n" + "- {id: F, from: A, send: 1 MB, tcp: {cc: reno}}\n" * 100_000,
    ".json": '{"flows": ['
    + ",\n".join(['{"id": "F", "from": "A", "send": "1 MB"}'] * 100_000)
    + "]}",
    ".toml": "[[flows]]\nid = 'F'\nfrom = 'A'\nsend = '1 MB'\n" * 80_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", LONG)
def test_a_hundred_thousand_flows_are_read_in_seconds(suffix):
    started = time.process_time()
    document = Document.parse(LONG[suffix], suffix)
    place = document.problem(("flows", 70_000, "send"), "wrong").line
    assert time.process_time() - started < 5
    assert len(document.data["flows"]) >= 80_000
    assert place is not None and place > 70_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["key{}: 1\n", "? key{}\n", "key{}: &a{} 1\n", "key{}: [[a, b], {{c: d}}]\n"]
)
def test_reading_takes_time_in_proportion_to_the_text(line):
    """200,000 keys in one mapping: each costs what the first costs."""
    text = "".join(line.format(i, i) for i in range(200_000))
    started = time.process_time()
    assert len(Document.parse(text).data) == 200_000
    assert time.process_time() - started < 5


def test_a_list_of_all_problems_has_an_end():
    assert len(problems("a: 1\n" * 100_000)) == 100


def test_text_from_python_may_hold_half_a_character():
    assert "surrogate" in only("a: \ud800").message


def test_not_utf8_names_the_byte(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(ScenarioError) as caught:
        Document.read(path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (2, 7)
    path.write_bytes("a: 1\n".encode("utf-16"))
    with pytest.raises(ScenarioError, match="UTF-16"):
        Document.read(path)


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".toml"])
def test_a_huge_file_is_refused_unread(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES[suffix] + 1)
    started = time.process_time()
    with pytest.raises(ScenarioError, match=f"larger than {MAX_BYTES[suffix] >> 20} MiB"):
        Document.read(path)
    assert time.process_time() - started < 1


def test_a_file_that_cannot_be_opened_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        Document.read(tmp_path)


TEXT = """\
name: x
links:
  - {id: L1, rate: 10 Mbps}
  - id: L2
    rate: 5
    queue:
      limit: 7
"""


@pytest.mark.parametrize(
    ("path", "shown", "line", "column"),
    [
        (("links", 0, "rate"), "links.L1.rate", 3, 20),
        (("links", 1, "rate"), "links.L2.rate", 5, 11),
        (("links", 1, "queue", "limit"), "links.L2.queue.limit", 7, 14),
        (("links", 1, "delay"), "links.L2.delay", 4, 5),
        (("links", 7), "links.7", 3, 3),
        (("flows",), "flows", 1, 1),
        ((), "", 1, 1),
    ],
)
def test_places_of_values(path, shown, line, column):
    problem = Document.parse(TEXT, file="f.yaml").problem(path, "wrong")
    assert (problem.path, problem.line, problem.column) == (shown, line, column)


def test_an_unknown_key_is_placed_at_the_key():
    problem = Document.parse(TEXT).problem(("links", 1, "rate"), "unknown key 'rate'")
    assert (problem.line, problem.column) == (5, 5)


def test_places_in_json_and_toml():
    data = {"name": "x", "links": [{"id": "L1", "rate": "5"}]}
    problem = Document.parse(json.dumps(data, indent=1), ".json").problem(("links", 0, "rate"), "w")
    assert (problem.line, problem.column) == (6, 12)
    toml = 'name = "x"\n\n[[links]]\nid = "L1"\n[[links]]\nid = "L2"\nqueue.limit = 7\n'
    problem = Document.parse(toml, ".toml").problem(("links", 1, "queue", "limit"), "w")
    assert (problem.path, problem.line) == ("links.L2.queue.limit", 7)
