"""Written documents read back to the same values."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ackclock import Scenario, library
from ackclock.canonical import to_yaml
from ackclock.document import Document

TRICKY = ["no", "1e6", "~", "", " x", "x ", "a: b", "a #b", "- a", "[a]", "10 Mbps", "null", "0x1F"]
MORE = ["-", "a:", "...", "---", "word " * 40, "it's", 'say "x"', "a, b", "50 us ", "# no", "<<"]
TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from([*TRICKY, *MORE])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
# As a regular expression they would take a third of the time.
KEYS = st.builds(
    str.__add__,
    st.sampled_from(string.ascii_lowercase),
    st.text(string.ascii_lowercase + string.digits + "_", max_size=12),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)


@pytest.mark.slow
@given(DOCUMENTS)
def test_what_is_written_reads_back_here_and_elsewhere(document):
    text = to_yaml(document, ["A header", "of two lines"])
    assert Document.parse(text).data == document
    assert YAML(typ="safe", pure=True).load(text) == document


@pytest.mark.slow
def test_lines_are_short_and_lists_have_a_line_for_each_element():
    for name in library.names():
        scenario = Scenario.load(name)
        lines = to_yaml(scenario.canonical).splitlines()
        if len(scenario.flows) > 100:
            continue  # Large documents are written as JSON.
        assert max(map(len, lines)) <= 100
        # Many nodes stand one a line, too.
        nodes = {f"  - {node}" for node in (*scenario.hosts, *scenario.routers)}
        elements = [line for line in lines if line.startswith("  - ") and line not in nodes]
        assert len(elements) == len(scenario.model["links"]) + len(scenario.model["flows"])


def test_long_text_is_folded_and_reads_back():
    document = {"name": "x", "question": "why " * 60 + "?"}
    text = to_yaml(document)
    assert "question: >-\n" in text
    assert Document.parse(text).data == document


@pytest.mark.slow
def test_a_scenario_of_many_flows_is_written_and_read_in_no_time(tmp_path):
    flow = {"from": "A", "to": "B", "send": "1 MiB", "tcp": {"cc": {"kind": "reno"}, "ack": "40 B"}}
    document = {"name": "many", "flows": [{"id": f"F{i}", **flow} for i in range(60_000)]}
    path = tmp_path / "scenario.yaml"
    started = time.process_time()
    path.write_text(to_yaml(document, ["As it was run"]))
    assert path.stat().st_size > 4 << 20
    assert Document.read(path).data == document
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("import x\n\n\nclass A:\n    b = '#: [1]'\n", True),
        ("one line\n", False),
        ("two lines\n  without an end", True),
        ("no end", False),
        ("two ends\n\n", False),
        ("  begins with a blank\n", False),
        ("a tab\there\n", False),
        ("a form feed\x0chere\n", False),
    ],
)
def test_programs_are_written_as_they_are_and_read_back(text, literal, tmp_path):
    written = to_yaml({"outer": {"text": text, "next": 1}})
    assert ("text: |" in written) == literal
    path = tmp_path / "a.yaml"
    path.write_text(written, encoding="utf-8")
    assert Document.read(path).data == {"outer": {"text": text, "next": 1}}
