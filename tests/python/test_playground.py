"""The playground: what is in the page, and that its engine is the engine."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import digests
import numpy as np
import pytest

import ackclock
from ackclock import Scenario, library, playground
from ackclock.document import Document
from ackclock.errors import InputError
from ackclock.playground.gallery import gallery

ROOT = Path(__file__).parents[2]
FOLDER = Path(playground.__file__).parent
NODE = shutil.which("node")

needs_engine = pytest.mark.skipif(
    not playground.ENGINE.is_file(), reason="no engine for browsers: 'make engine' builds it"
)
needs_node = pytest.mark.skipif(not NODE, reason="node is not installed")


@pytest.fixture(scope="module")
def shown():
    return gallery()[0]


def in_node(tmp_path, script, given):
    """What a script of tests/wasm prints of something given as JSON."""
    file = tmp_path / "given.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    program = ROOT / "tests" / "wasm" / script
    call = [NODE, program, playground.ENGINE, FOLDER, file]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_every_scenario_is_in_the_gallery_or_named_with_a_reason():
    shown, left = gallery()
    assert sorted([entry["name"] for entry in shown] + list(left)) == library.names()
    assert set(left) == {name for name in library.names() if name.startswith("own/")}
    assert all(entry["title"] and entry["question"] for entry in shown)


def test_without_an_engine_it_says_how_to_build_one(ackclock, monkeypatch, tmp_path):
    monkeypatch.setattr(playground, "ENGINE", tmp_path / "none")
    done = ackclock("playground")
    assert done.code == 2
    assert "make playground" in done.err
    assert not (tmp_path / "playground.html").exists()


def test_it_replaces_nothing_but_a_playground(tmp_path):
    other = tmp_path / "notes.html"
    other.write_text("mine")
    with pytest.raises(InputError, match="--force"):
        playground.write(other)
    with pytest.raises(InputError, match="folder"):
        playground.write(tmp_path)
    with pytest.raises(InputError, match="no folder"):
        playground.write(tmp_path / "none" / "page.html")
    assert other.read_text() == "mine"


@pytest.mark.slow
@needs_engine
def test_engine_and_page_are_small_and_ask_nobody(ackclock, tmp_path):
    assert playground.ENGINE.stat().st_size <= 433_000
    done = ackclock("playground", "--json")
    assert json.loads(done.out) == {"playground": "playground.html"}
    page = (tmp_path / "playground.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 900_000
    assert "own/aimd" in page  # named as left out
    assert not re.search(r"<(link|script|img|iframe)[^>]* (src|href)=\"(?!data:)", page)
    again = ackclock("playground", "-o", "again.html")
    assert again.out == "again.html\n"
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


@pytest.mark.slow
@needs_engine
@needs_node
def test_runs_in_a_browser_have_the_digests_of_native_runs(shown, tmp_path):
    texts = {entry["name"]: entry["text"] for entry in shown}
    expected = {name: digests.golden()[name] for name in texts}
    # Those that take longest there run for a part of their time, and so natively.
    shorter = {name: shortened(texts[name], end) for name, end in SHORTER.items()}
    shorter["first"] = (FOLDER / "first.yaml").read_text(encoding="utf-8")
    for name, text in shorter.items():
        file = tmp_path / "shorter.yaml"
        file.write_text(text, encoding="utf-8")
        expected[name] = ackclock.run(Scenario.load(file)).summary["digest"]
    done = in_node(tmp_path, "digests.mjs", texts | shorter)
    assert {name: run.get("digest") for name, run in done.items()} == expected


SHORTER = {
    "ns2/parking-lot": "20 s",
    "ns2/rtt-mix": "30 s",
    "queues/dualpi2": "5 s",
    "queues/red-ns2": "20 s",
    "shapes/fat-tree": "100 ms",
    "shapes/leaf-spine": "200 ms",
    "teach/cubic-bbr": "20 s",
    "teach/rtt-unfairness-cubic": "20 s",
    "teach/rtt-unfairness-reno": "20 s",
}


def shortened(text, end):
    changed, count = re.subn(r"(?<=at_latest: )[^,}\n]+", end, text)
    assert count == 1
    return changed


@pytest.mark.slow
@needs_engine
@needs_node
def test_problems_have_the_places_and_words_of_the_command_line(tmp_path):
    text = (FOLDER / "first.yaml").read_text(encoding="utf-8")
    wrong = {
        "unit": text.replace("10 Mbps, delay", "10 Mbpz, delay"),
        "key": text.replace("leaves: 2", "leafs: 2"),
        "several": text.replace("cc: bbr", "cc: bbx").replace("S1", "S9"),
        "yaml": text.replace("leaves: 2", "leaves: [2"),
        "twice": text.replace("leaves: 2", "leaves: 2\n  leaves: 3"),
    }
    done = in_node(tmp_path, "digests.mjs", wrong)
    for name, changed in wrong.items():
        file = tmp_path / f"{name}.yaml"
        file.write_text(changed, encoding="utf-8")
        with pytest.raises(ackclock.ScenarioError) as caught:
            Scenario.load(file)
        expected = [(p.message, p.line, p.column, p.path) for p in caught.value.problems]
        found = [(p["message"], p["line"], p["column"], p["path"]) for p in done[name]["problems"]]
        assert found == expected


@pytest.mark.slow
@needs_engine
@needs_node
def test_models_that_a_browser_does_without_are_named(tmp_path):
    text = (FOLDER / "first.yaml").read_text(encoding="utf-8")
    names = ["yeah", "lp", "ledbat++", "vivace"]
    texts = {name: text.replace("cc: bbr", f"cc: {name}") for name in names}
    done = in_node(tmp_path, "digests.mjs", texts)
    for name in names:
        messages = [problem["message"] for problem in done[name]["problems"]]
        assert messages == [f"`{name}` is not in the engine for browsers"]


@pytest.mark.slow
@needs_engine
@needs_node
def test_records_are_those_of_a_native_run(tmp_path):
    text = (FOLDER / "first.yaml").read_text(encoding="utf-8").replace("20 s", "2 s")
    file = tmp_path / "short.yaml"
    file.write_text(text, encoding="utf-8")
    native = ackclock.run(Scenario.load(file))
    for way in ("whole", "pieces"):
        done = in_node(tmp_path, "records.mjs", {"text": text, "way": way})
        assert {"packets", "cwnd", "transmissions", "tcp_info", "waiting"} <= set(done)
        for name, columns in done.items():
            table = native.table(name)
            for column, (count, total) in columns.items():
                assert count == len(table)
                if column in ("time_s", "packet_id", "queue_packets", "cwnd_bytes", "rtt_s", "seq"):
                    assert total == pytest.approx(np.sum(table[column].to_numpy()), rel=1e-12)


@pytest.mark.slow
@needs_engine
@needs_node
def test_controls_change_one_value_and_leave_the_rest(shown, tmp_path):
    first = (FOLDER / "first.yaml").read_text(encoding="utf-8")
    base = ["topology", "bottleneck"]
    edits = [
        (first, [*base, "rate"], "25 Mbps", "25 Mbps"),
        (first, [*base, "queue", "limit"], "7 packets", "7 packets"),
        (first, [*base, "loss"], "{kind: bernoulli, p: 0.01}", {"kind": "bernoulli", "p": 0.01}),
        (first, ["flows", 1, "tcp"], "{cc: reno}", {"cc": "reno"}),
        (first, ["flows", 0, "start"], "1 s", "1 s"),
        (first, ["seed"], "7", 7),
    ]
    # Other ways to write a scenario: block mappings, comments, quotes, words.
    [other] = [entry["text"] for entry in shown if entry["name"] == "teach/cubic-bbr"]
    edits += [
        (other, ["links", 4, "rate"], "5 Mbps", "5 Mbps"),
        (other, ["links", 4, "forward", "queue", "limit"], "2 BDP", "2 BDP"),
        (other, ["links", 4, "loss"], "{kind: bernoulli, p: 0.1}", {"kind": "bernoulli", "p": 0.1}),
        (other, ["flows", 0, "tcp"], "{cc: vegas}", {"cc": "vegas"}),
    ]
    quoted = first.replace("rate: 10 Mbps", 'rate: "10 Mbps"').replace("20 s}", "20 s} # long, é")
    edits += [(quoted, [*base, "rate"], "1 Mbps", "1 Mbps"), (quoted, ["seed"], "2", 2)]
    done = in_node(tmp_path, "edits.mjs", [edit[:3] for edit in edits])
    for (text, path, _, value), changed in zip(edits, done, strict=True):
        expected, file = data_of(tmp_path, text), tmp_path / "changed.yaml"
        inner = expected
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        assert data_of(tmp_path, changed) == expected, path
        assert file.read_text(encoding="utf-8").count("#") == text.count("#")


def data_of(folder, text):
    file = folder / "changed.yaml"
    file.write_text(text, encoding="utf-8")
    return Document.read(file).data
