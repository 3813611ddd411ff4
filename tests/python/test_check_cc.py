"""`ackclock check-cc`: what it says of good algorithms, and what it finds in bad ones."""

import ast
import importlib
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import small

import ackclock
from ackclock import conformance
from ackclock.conformance import check_cc, page
from ackclock.conformance.checks import SUITE, Tried
from ackclock.conformance.measures import figures
from ackclock.conformance.networks import ALL
from ackclock.controllers.lint import flaws, unanswered

_COMMAND = [sys.executable, "-c", "from ackclock.cli.app import main; main()", "check-cc"]

# Every mistake of this program has its check.
_BAD = """\
import random
import ackclock


class Bad(ackclock.CongestionControl):
    def on_start(self, event):
        self.cwnd = 3

    def on_ack(self, ack):
        self.cwnd += 0.001 * random.random()

    def on_loss(self, loss):
        if loss.signal == "timeout":
            raise RuntimeError("no idea")
        self.cwnd = 0.5 * self.segment
"""

_HALVING = """\
import ackclock


class Halving(ackclock.CongestionControl):
    share: float = 0.5

    def on_ack(self, ack):
        if ack.may_grow:
            self.cwnd += self.segment * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        return self.share * self.cwnd
"""

# What it prints must not be read as figures.
_GREEDY = """\
import sys

import ackclock


class Greedy(ackclock.CongestionControl):
    needs_rate = True
    owns_window = True

    def on_start(self, event):
        self.cwnd = 300 * self.segment
        print(self.cwnd, file=sys.__stdout__)

    def on_undo(self, event):
        pass
"""


def run(arguments, folder):
    return subprocess.run(
        [*_COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_cubic_conforms_and_shares_a_link_with_itself_evenly(tmp_path):
    done = run(["cubic", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["conforms"] and card["subject"] == "cubic" and card["file"] is None
    verdicts = [check["verdict"] for check in card["checks"]]
    assert verdicts.count("passed") == len(verdicts) - 1 >= 14
    scores = {score["name"]: score["values"] for score in card["scores"]}
    assert set(scores["Fairness"]) == {"cubic", "Reno", "BBR"}
    assert scores["Share against CUBIC"]["cubic"] == pytest.approx(50, abs=5)
    # What every textbook says.
    assert scores["RTT bias"]["cubic"] > 2 and scores["RTT bias"]["Reno"] > 2
    assert scores["Share against CUBIC"]["BBR"] > 60
    assert scores["Queueing delay"]["BBR"] < scores["Queueing delay"]["Reno"]
    assert scores["Loss tolerance"]["BBR"] > 90 > 50 > scores["Loss tolerance"]["cubic"]


@pytest.fixture
def one_reference(monkeypatch):
    """Beside an algorithm stands CUBIC alone, which its checks need: all three are tried above."""
    monkeypatch.setattr(conformance, "REFERENCES", {"cubic": "CUBIC"})


@pytest.mark.slow
@pytest.mark.usefixtures("one_reference")
def test_mistakes_are_found_with_their_lines(ackclock, tmp_path):
    (tmp_path / "bad.py").write_text(_BAD)
    done = ackclock("check-cc", "bad.py", "--json", "-o", "card.html")
    assert done.code == 1, done.err
    card = json.loads(done.out)
    checks = {check["name"]: check for check in card["checks"]}
    raised = checks["runs without errors"]
    assert raised["verdict"] == "failed" and raised["place"] == "bad.py:14"
    assert "RuntimeError: no idea" in raised["seen"]
    below = checks["at least one segment"]
    assert below["verdict"] == "failed" and below["place"] == "bad.py:15"
    differ = checks["same run twice"]
    assert differ["verdict"] == "failed" and differ["place"] == "bad.py:9"
    assert checks["grows when alone"]["verdict"] == "failed"
    assert checks["recovers"]["verdict"] == "skipped"
    (warning,) = card["warnings"]
    assert warning["place"] == "bad.py:10" and "random.random()" in warning["message"]
    text = (tmp_path / "card.html").read_text()
    HTMLParser().feed(text)
    assert "bad.py:14" in text and "<script" not in text and "http" not in text


@pytest.mark.slow
@pytest.mark.usefixtures("one_reference")
def test_an_algorithm_that_never_gives_way(tmp_path):
    program = tmp_path / "greedy.py"
    program.write_text(_GREEDY)
    card = check_cc(program, workers=2)
    failed = {check.name: check for check in card.checks if check.verdict == "failed"}
    assert set(failed) >= {"reacts to losses", "leaves CUBIC a share"}
    assert failed["reacts to losses"].place == f"{program}:6"
    text = page.markdown(card)
    assert "| ✗ | reacts to losses |" in text
    assert "| Share against CUBIC, % |" in text


@pytest.mark.slow
@pytest.mark.usefixtures("one_reference")
def test_a_class_is_checked_as_its_file_is(tmp_path, monkeypatch):
    (tmp_path / "halving.py").write_text(_HALVING)
    monkeypatch.syspath_prepend(tmp_path)
    halving = importlib.import_module("halving").Halving
    card = check_cc(halving(share=0.6), workers=2)
    checks = {check.name: check for check in card.checks}
    assert (card.subject, Path(card.origin or "").name) == ("Halving", "halving.py")
    assert checks["runs without errors"].verdict == "passed"
    assert checks["reacts to losses"].verdict == "passed"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.py"], "there is no such file"),
        (["cubc"], "unknown cc `cubc`"),
        (["cubic", "--class", "X"], "--class is for programs"),
        (["cubic", "-p", "c"], "--parameter needs NAME=VALUE"),
        (["cubic", "-o", "card.txt"], "neither .html nor .md"),
        (["cubic", "-o", "none/card.md"], "there is no folder 'none'"),
        (["bad.py", "-p", "x=1"], "Bad has no parameter 'x'"),
    ],
)
def test_bad_input_is_refused_before_any_run(ackclock, tmp_path, arguments, words):
    (tmp_path / "bad.py").write_text(_BAD)
    done = ackclock("check-cc", *arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split()) and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("line", "unrepeatable"),
    [
        ("import time; time.time()", True),
        ("from time import perf_counter as now; now()", True),
        ("import datetime; datetime.datetime.now()", True),
        ("import random; random.gauss(0, 1)", True),
        ("import random; random.Random()", True),
        ("import numpy as np; np.random.rand()", True),
        ("hash('x')", True),
        ("def f():\n    global g\n    g = 1", False),
        ("g = []\ndef f():\n    g.append(1)", False),
        ("g = {}\ndef f():\n    g[1] = 2", False),
        ("class A:\n    n = 0\n    def f(self):\n        A.n += 1", False),
    ],
)
def test_the_lint_finds(line, unrepeatable):
    (flaw,) = flaws(ast.parse(line))
    assert flaw.unrepeatable == unrepeatable and flaw.line >= 1 and flaw.hint


@pytest.mark.parametrize(
    "line",
    [
        "import random; random.Random(3).random()",
        "import numpy as np; np.random.default_rng(7)",
        "import datetime; datetime.timedelta(seconds=1)",
        "import math; math.sqrt(2)",
        "g = []\ndef f():\n    g = []\n    g.append(1)",
        "def f(self):\n    self.random.random()\n    self.seen.append(1)",
    ],
)
def test_the_lint_leaves_alone(line):
    assert flaws(ast.parse(line)) == []


@pytest.mark.parametrize(
    ("body", "silent"),
    [
        ("self.cwnd / 2", True),
        ("cwnd = 0.7 * self.cwnd", True),
        ("max(2 * self.segment, self.cwnd / 2)", True),
        ("cwnd = self.cwnd / 2; return None", True),
        ("return self.cwnd / 2", False),
        ("self.cwnd /= 2", False),
        ("self.late = loss.in_flight - 1", False),  # may answer later
        ("self.reduce(loss.in_flight / 2)", False),
        ("pass", False),
        ("return", False),
    ],
)
def test_a_loss_that_has_no_effect_by_oversight_is_seen(body: str, silent: bool):
    found = unanswered(ast.parse(f"class A:\n    def on_loss(self, loss):\n        {body}\n"))
    assert [flaw.line for flaw in found] == ([2] if silent else [])


def test_an_on_loss_without_effect_gives_a_warning(ackclock, tmp_path):
    text = "import ackclock\nclass A(ackclock.CongestionControl):\n    def on_loss(self, loss):\n"
    (tmp_path / "a.py").write_text(f"{text}        self.cwnd / 2\n")
    setting = "flows.*.tcp.cc={kind: python, file: a.py}"
    done = ackclock("validate", "teach/tail-loss", "--set", setting)
    said = " ".join(done.err.split())
    assert done.code == 0
    assert "a.py:3: on_loss() neither returns a threshold nor sets self.cwnd" in said


def test_clocks_and_foreign_random_numbers_give_a_warning_at_validation():
    document = small.document()
    document["flows"][0]["tcp"] = {"cc": {"kind": "python", "source": _BAD, "origin": "bad.py"}}
    (warning,) = ackclock.Scenario.from_dict(document).warnings
    assert "bad.py:10: random.random()" in warning.message
    assert warning.path == "flows.F1.tcp.cc" and "self.random" in (warning.hint or "")


_MARKS = """\
import ackclock


class Marks(ackclock.CongestionControl):
    after_mark: float = 0.5

    def on_ack(self, ack):
        self.cwnd += ack.newly_acked * (1 if self.in_slow_start else self.segment / self.cwnd)

    def on_loss(self, loss):
        return self.cwnd * (self.after_mark if loss.signal == "ecn" else 0.5)
"""


@pytest.mark.parametrize(
    ("after_mark", "failing"),
    [(0.5, None), (1.0, "reacts to marks"), (0.01, "does not over-react to marks")],
)
def test_marks_are_to_be_answered_as_losses_are(after_mark, failing, tmp_path):
    """Of the networks only the one with marks is run, and of the checks only those two."""
    program = tmp_path / "marks.py"
    program.write_text(_MARKS)
    cc = {"kind": "python", "file": str(program), "parameters": {"after_mark": after_mark}}
    network = ALL["marks"]
    results = ackclock.run(ackclock.Scenario.from_dict(network.document(cc)))
    tried = Tried({"marks": figures(network, results)}, {}, {}, {}, {})
    outcomes = {name: check(tried)[0] for name, _, on, check in SUITE if on == ("marks",)}
    assert len(outcomes) == 2
    assert outcomes == {name: name != failing for name in outcomes}
