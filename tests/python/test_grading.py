"""Grading: feedback of programs, hostile submissions, documents for other graders, many at once."""

import csv
import json
import os
import re
import shutil

import jsonschema
import pytest

from ackclock import labs
from ackclock.labs.hidden import Hidden
from ackclock.labs.marking import Marker
from ackclock.labs.programs import Limits

LAB = labs.find("bufferbloat")
OWN = labs.find("own-controller")
QUICK = Limits(seconds=3, memory_mb=300)
RIGHT = "def longest_wait_of(rate_bps, limit_bytes):\n    return limit_bytes * 8 / rate_bps\n"


@pytest.fixture(scope="module")
def marker():
    return Marker(LAB, Hidden(LAB, 0), QUICK)


@pytest.fixture
def formula(marker, tmp_path):
    """Return a function that marks the text of a program, on one network or on all."""

    def mark(text, networks=1):
        (tmp_path / "formulas.py").write_text(text, encoding="utf-8")
        tried = marker.hidden.networks(LAB.questions[-1].name)[:networks]
        return marker._formula(LAB.questions[-1], tmp_path, tried)

    return mark


def body(*lines):
    inner = "".join(f"    {line}\n" for line in lines)
    return f"def longest_wait_of(rate_bps, limit_bytes):\n{inner}"


@pytest.mark.slow
def test_a_formula_that_is_right_on_some_networks_has_a_part_of_the_points(formula):
    assert formula(RIGHT, 4).points == 4
    mark = formula(body("return limit_bytes * 8 / rate_bps if rate_bps < 10e6 else 1"), 4)
    assert mark.points == 2 and "Right on 2 of 4 networks" in mark.feedback
    mark = formula(body("return limit_bytes / rate_bps"), 4)
    assert mark.points == 0 and "a byte has 8 bits" in mark.feedback


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def longest_wait_of(rate_bps):\n    return 1\n", "keep the names of its arguments"),
        ("def other():\n    pass\n", "no function longest_wait_of()"),
        ("def broken(:\n", "formulas.py line 1: invalid syntax"),
        ("import nothing_of_this_name\n", "No module named"),
        (body("return 1 / 0"), "formulas.py line 2: ZeroDivisionError"),
        (body("return 'much'"), "It returns 'much', not a number"),
        (body("return float('nan')"), "not a finite number"),
        (body("return [1]"), "returned a list"),
        (body("return None"), "not written yet"),
        ("exit()\n" + RIGHT, "called exit()"),
        (body("raise SystemExit(0)"), "called exit()"),
        (body("import os", "os._exit(0)"), "ended before there was an answer"),
        (body("import os", "os.kill(os.getpid(), 9)"), "may not end processes"),
        (body("raise KeyboardInterrupt"), "KeyboardInterrupt"),
        (body("return longest_wait_of(rate_bps, limit_bytes)"), "RecursionError"),
        (body("import os", "os.system('true')"), "may not do this"),
        (body("import os", "return os.fork()"), "may not do this"),
        (body("import subprocess", "subprocess.run(['true'])"), "may not do this"),
        (body("open('/etc/motd', 'w')"), "may not change '/etc/motd'"),
        (body("open('../escaped', 'w')"), "may not change '../escaped'"),
        (body("import os", "os.remove('/etc/motd')"), "may not change '/etc/motd'"),
        (
            body("import socket", "socket.create_connection(('127.0.0.1', 1))"),
            "may not do this: socket.connect",
        ),
        (
            body("import ctypes", "ctypes.CDLL('libc.so.6')"),
            "may not load the library 'libc.so.6'",
        ),
        (
            body("import ctypes", "ctypes.CDLL('./own.so')"),
            "may not load the library './own.so'",
        ),
        (
            body("import ctypes", "ctypes.CDLL(None).system(b'true')"),
            "may not call the C function system()",
        ),
        (body("x = bytearray(2 << 30)"), "MemoryError"),
        (body("with open('big', 'wb') as f:", "    f.write(bytes(64 << 20))"), "File too large"),
    ],
)
def test_a_bad_program_costs_its_points_and_says_where(formula, text, said):
    mark = formula(text)
    assert mark.points == 0
    assert said in mark.feedback


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("numpy", marks=pytest.mark.slow),
        "ctypes",
        pytest.param("scipy.optimize, scipy.stats", marks=pytest.mark.slow),
        pytest.param("pandas", marks=pytest.mark.slow),
        pytest.param("matplotlib.pyplot", marks=pytest.mark.slow),
    ],
)
def test_a_program_may_use_the_libraries_that_are_installed(tmp_path, library):
    """Within the limit of memory that the grader has by default."""
    pytest.importorskip(library.partition(",")[0])
    text = f"import {library}\nfrom ackclock.labs import units\n{RIGHT}"
    (tmp_path / "formulas.py").write_text(text, encoding="utf-8")
    one = Marker(LAB, Hidden(LAB, 0), Limits())
    mark = one._formula(LAB.questions[-1], tmp_path, one.hidden.networks("longest_wait_of")[:1])
    assert mark.feedback == "Right."


@pytest.mark.slow
def test_a_program_may_use_all_of_ackclock(tmp_path):
    (tmp_path / "formulas.py").write_text(f"from ackclock import *\n{RIGHT}", encoding="utf-8")
    one = Marker(LAB, Hidden(LAB, 0), Limits())
    assert one.try_program(LAB.questions[-1], tmp_path).points == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "loop",
    [
        ("while True: pass",),
        ("import time", "time.sleep(1000)"),
        ("while True:", "    try:", "        while True: pass", "    except BaseException: pass"),
    ],
    ids=["busy", "asleep", "stubborn"],
)
def test_a_program_that_never_ends_is_ended_with_its_line(tmp_path, loop):
    (tmp_path / "formulas.py").write_text(body(*loop), encoding="utf-8")
    own = tmp_path / "hidden.yaml"
    own.write_text("longest_wait_of:\n  networks: [{links.bottleneck.rate: 3 Mbps}]\n")
    one = Marker(LAB, Hidden(LAB, 0, own), Limits(seconds=0.3, memory_mb=300))
    mark = one.mark(LAB.questions[-1], None, tmp_path)
    assert mark.points == 0
    assert "had not ended after 0.3 s, in formulas.py line " in mark.feedback


def test_what_a_program_prints_and_leaves_does_not_count(formula, tmp_path):
    noise = (
        "import sys, os, threading, atexit, time\n"
        "print('{\"value\": 1}' * 1000)\n"
        "sys.stderr.write('x' * 100000)\n"
        "os.write(1, b'garbage')\n"
        "open('mine.txt', 'w').write('allowed here')\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "atexit.register(time.sleep, 1000)\n"
    )
    assert formula(noise + RIGHT).points == 4
    assert not (tmp_path / "mine.txt").exists(), "it worked on a copy"


def test_a_program_sees_no_environment_and_its_own_modules_alone(formula, monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "1")
    (tmp_path / "json.py").write_text("raise RuntimeError('shadowed')\n", encoding="utf-8")
    (tmp_path / "helper.py").write_text("EIGHT = 8\n", encoding="utf-8")
    text = "import os, helper\nassert 'SECRET_OF_THE_GRADER' not in os.environ\n"
    assert formula(text + RIGHT.replace("8", "helper.EIGHT")).points == 4


def test_links_out_of_a_submission_are_not_followed(marker, tmp_path):
    (tmp_path / "elsewhere.py").write_text(RIGHT, encoding="utf-8")
    folder = tmp_path / "linked"
    folder.mkdir()
    (folder / "formulas.py").symlink_to(tmp_path / "elsewhere.py")
    assert "there is no such file" in marker.mark(LAB.questions[-1], None, folder).feedback


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no class derived from"),
        ("import ackclock\nclass A(ackclock.CongestionControl):\n    def on_ack(", "mine.py:3"),
        ("    def on_ack(self, ack):\n        self.cwnd = 1 / 0\n", "mine.py:4: ZeroDivisionError"),
        ("    def on_ack(self, ack):\n        self.cwnd = -1.0\n", "mine.py"),
        ("    def on_ack(self, ack):\n        while True: pass\n", "mine.py:4"),
        ("    def on_ack(self, ack):\n        exit()\n", "mine.py"),
    ],
    ids=["empty", "syntax", "raises", "negative", "endless", "exit"],
)
def test_a_controller_that_fails_has_no_points_and_its_line(tmp_path, text, said):
    if text.startswith("    "):
        text = "import ackclock\nclass Mine(ackclock.CongestionControl):\n" + text
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    own = tmp_path / "hidden.yaml"
    own.write_text("mine:\n  networks: [{topology.bottleneck.rate: 6 Mbps}]\n")
    one = Marker(OWN, Hidden(OWN, 0, own), Limits(seconds=2, memory_mb=500))
    mark = one.mark(OWN.questions[0], None, tmp_path)
    assert mark.points == 0 and said in mark.feedback


@pytest.mark.slow
def test_a_mistake_in_a_criterion_is_no_fault_of_a_controller(ackclock, tmp_path):
    shutil.copytree(OWN.folder, tmp_path / "ours")
    file = tmp_path / "ours" / "lab.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("def _delay(results):", "def _delay(result):"), encoding="utf-8")
    done = ackclock("grade", f".{os.sep}ours", "ours")
    assert done.code == 2 and re.match(r"error: lab\.py line \d+: NameError: ", done.err)


@pytest.mark.slow
def test_a_controller_earns_what_it_does(tmp_path):
    """The one that students begin with fills the queue: everything but the delay."""
    one = Marker(OWN, Hidden(OWN, 0), Limits(seconds=60))
    mark = one.mark(OWN.questions[0], None, OWN.folder)
    assert 6 < mark.points < 13
    assert "delay" in mark.feedback and "Packets wait" in mark.feedback
    assert mark.board is not None and mark.board[1] < 0.5


def submission(folder, **answers):
    """Write a submission to the lab; what is not given is wrong or missing."""
    folder.mkdir(parents=True)
    lines = "".join(f"  {name}: {value}\n" for name, value in answers.items())
    text = f"lab: bufferbloat\nanswers:\n{lines or '  longest_wait: null'}"
    (folder / "answers.yaml").write_text(text, encoding="utf-8")
    (folder / "formulas.py").write_text(RIGHT, encoding="utf-8")


@pytest.mark.slow
def test_documents_for_gradescope_and_otter(ackclock, tmp_path):
    submission(tmp_path / "ada", longest_wait="400.6 ms", mean_wait="320.2 ms")
    done = ackclock("grade", "bufferbloat", "ada", "--json", "results.json")
    assert done.code == 0 and "7 of 14 points" in done.out
    made = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert made["score"] == 7 == sum(test["score"] for test in made["tests"])
    assert made["tests"][1] == {
        "name": "mean_wait",
        "number": "2",
        "score": 1.0,
        "max_score": 2.0,
        "status": "failed",
        "output": LAB.questions[1].mistakes[0].feedback,
        "visibility": "visible",
    }
    done = ackclock("grade", "bufferbloat", "ada", "--format", "otter")
    (second,) = [
        one
        for one in json.loads(done.out)["test_file_results"]
        if one["filename"] == "mean_wait.py"
    ]
    assert second["points"] == [1.0, 1.0]
    assert [case["passed"] for case in second["test_case_results"]] == [True, False]


@pytest.mark.slow
def test_many_submissions_one_of_them_bad(ackclock, tmp_path):
    submission(tmp_path / "in" / "ada", longest_wait="400.6 ms")
    submission(tmp_path / "in" / "=bob")
    (tmp_path / "in" / "=bob" / "answers.yaml").write_bytes(b"\xff\x00: [")
    (tmp_path / "in" / "eve").mkdir()
    refused = ackclock("grade", "bufferbloat", "in")
    assert refused.code == 2 and "--csv" in refused.err
    done = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv", "--feedback", "said")
    assert done.code == 0 and "3 graded" in done.out
    with (tmp_path / "g.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["submission"]: row for row in csv.DictReader(stream)}
    assert {name: row["points"] for name, row in rows.items()} == {
        "ada": "6",
        "'=bob": "4",
        "eve": "0",
    }
    assert "UTF-8" in rows["'=bob"]["remarks"] and "no answers.yaml" in rows["eve"]["remarks"]
    assert "there is no such file" in (tmp_path / "said" / "eve.txt").read_text(encoding="utf-8")

    before = (tmp_path / "g.csv").read_bytes()
    again = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert "0 graded, 3 were in the table already" in again.out
    assert (tmp_path / "g.csv").read_bytes() == before
    (tmp_path / "in" / "ada" / "formulas.py").unlink()
    again = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert "1 graded, 2 were in the table already" in again.out
    assert "3 graded" in ackclock("grade", "bufferbloat", "in", "--csv", "g.csv", "--seed", 5).out


@pytest.mark.slow
def test_a_table_that_was_cut_short_is_completed(ackclock, tmp_path):
    for name in ("ada", "bob"):
        submission(tmp_path / "in" / name)
    ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    whole = (tmp_path / "g.csv").read_bytes()
    (tmp_path / "g.csv").write_bytes(whole[: whole.rindex(b"bob") + 5])
    done = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert "1 graded, 1 were in the table already" in done.out
    assert (tmp_path / "g.csv").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_that_a_spreadsheet_has_saved_is_continued(ackclock, tmp_path, delimiter):
    submission(tmp_path / "in" / "Müller")
    ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    plain = (tmp_path / "g.csv").read_bytes()
    rows = list(csv.reader(plain.decode().splitlines()))
    with (tmp_path / "g.csv").open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    again = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert "0 graded, 1 were in the table already" in again.out
    assert (tmp_path / "g.csv").read_bytes() == plain
    (tmp_path / "g.csv").write_bytes(plain.decode().encode("cp1252"))
    refused = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert refused.code == 2 and "save the file as UTF-8" in refused.err


@pytest.mark.slow
def test_an_interrupted_table_says_what_it_holds(ackclock, tmp_path, monkeypatch):
    from ackclock.labs import grading

    for name in ("ada", "bob", "eve"):
        (tmp_path / "in" / name).mkdir(parents=True)
    graded = grading.grade

    def interrupted(marker, place, **options):
        if place.name == stop:
            raise KeyboardInterrupt
        return graded(marker, place, **options)

    monkeypatch.setattr(grading, "grade", interrupted)
    stop = "eve"
    done = ackclock("grade", "bufferbloat", "in", "--csv", "g.csv")
    assert done.code == 130
    assert (
        "stopped: 2 of 3 submissions are in g.csv; the same command grades the others" in done.err
    )
    stop = "ada"
    (tmp_path / "g.csv").unlink()
    assert "stopped before a submission was graded" in (
        ackclock("grade", "bufferbloat", "in", "--csv", "g.csv").err
    )


def test_files_that_cannot_be_written_are_refused_before_the_work(ackclock, tmp_path):
    submission(tmp_path / "in" / "ada")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for options, said in {
        ("in/ada", "--out", "none/x.json"): "there is no folder 'none'",
        ("in/ada", "--out", "in"): "'in' is a folder; choose a file with --out",
        ("in", "--csv", "none/g.csv"): "there is no folder 'none'",
        ("in", "--csv", "in"): "'in' is a folder; choose a file with --csv",
        ("in", "--csv", "g.csv", "--feedback", "file"): "--feedback: 'file' is not a folder",
    }.items():
        done = ackclock("grade", "bufferbloat", *options)
        assert (done.code, done.out) == (2, "") and said in done.err


@pytest.mark.parametrize(
    ("lab", "question"), [("bufferbloat", "longest_wait_of"), ("own-controller", "mine")]
)
def test_a_network_that_cannot_be_is_no_fault_of_a_program(ackclock, tmp_path, lab, question):
    (tmp_path / "ada").mkdir()
    (tmp_path / "own.yaml").write_text(
        f"# ours\n{question}:\n  networks: [{{links.none.rate: 4 Mbps}}]\n", encoding="utf-8"
    )
    done = ackclock("grade", lab, "ada", "--hidden", "own.yaml")
    assert done.code == 2
    assert re.match(rf"own\.yaml:\d:\d: {question}: links\.none\.rate: there is no", done.err)


def test_a_file_that_is_no_table_of_grades_is_not_replaced(ackclock, tmp_path):
    submission(tmp_path / "in" / "ada")
    (tmp_path / "notes.csv").write_text("my,notes\n", encoding="utf-8")
    done = ackclock("grade", "bufferbloat", "in", "--csv", "notes.csv")
    assert done.code == 2 and "not a table of grades" in done.err
    assert (tmp_path / "notes.csv").read_text(encoding="utf-8") == "my,notes\n"


@pytest.mark.slow
def test_the_lab_can_be_somewhere_else(ackclock, tmp_path):
    """And a change of it grades again."""
    shutil.copytree(LAB.folder, tmp_path / "bufferbloat")
    submission(tmp_path / "in" / "ada")
    assert ackclock("grade", f".{os.sep}bufferbloat", "in", "--csv", "g.csv").code == 0
    with (tmp_path / "bufferbloat" / "hidden.yaml").open("a", encoding="utf-8") as stream:
        stream.write("# changed\n")
    done = ackclock("grade", f".{os.sep}bufferbloat", "in", "--csv", "g.csv")
    assert "1 graded: g.csv" in done.out


# Gradescope, "Autograder Specifications": what results.json may hold.
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_FORMATS = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_TEST = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "max_score": {"type": "number"},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": _FORMATS,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": _FORMATS,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
    },
    "additionalProperties": False,
}
_RESULTS = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": _FORMATS,
        "test_output_format": _FORMATS,
        "test_name_format": _FORMATS,
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "items": _TEST},
        "leaderboard": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "value": {"type": ["number", "string"]},
                    "order": {"enum": ["asc", "desc"]},
                },
                "required": ["name", "value"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["tests"],
    "additionalProperties": False,
}


@pytest.mark.slow
def test_gradescope_knows_every_field(ackclock, tmp_path):
    submission(tmp_path / "ada", longest_wait="400.6 ms", small_buffer="half")
    ackclock("grade", "bufferbloat", "ada", "--json", "results.json")
    made = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(made, _RESULTS)
    assert sum(test["max_score"] for test in made["tests"]) == LAB.points
