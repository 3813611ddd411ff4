"""Each lab with a list of submissions that are wrong in one way: each gets feedback that helps."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from forked import Forked

from ackclock import Scenario, labs
from ackclock.labs import Controller, Formula, Number, answers, programs
from ackclock.labs.grading import check, grade
from ackclock.labs.hidden import Hidden
from ackclock.labs.marking import Marker
from ackclock.labs.programs import Limits
from ackclock.labs.units import Unit, UnitError
from ackclock.labs.writing import solution, student

NO_ANSWER = "There is no answer"
NOT_WRITTEN = "not written yet"


class Work:
    """What a student started and filled in, with all points until a case spoils it."""

    def __init__(self, lab, marker, folder):
        self.lab, self.marker, self.folder = lab, marker, folder
        self.figures = [question for question in lab.questions if isinstance(question, Number)]
        self.tried = [q for q in lab.questions if isinstance(q, Formula | Controller)]
        student(lab, folder, notebook=False, force=False)
        self.answers = folder / "answers.yaml"
        self.started = self.answers.read_text(encoding="utf-8")
        self.answers.write_text(solution(marker), encoding="utf-8")
        for file in (lab.folder / "solution").glob("*.py"):
            shutil.copy(file, folder)

    def value(self, question):
        """The right figure, in the unit of its question."""
        return self.marker.reference(question) / Unit.of(question.unit).scale

    def answer(self, question, written):
        """Replace one answer."""
        text = self.answers.read_text(encoding="utf-8")
        text, found = re.subn(rf"^(  {question.name}:).*$", rf"\1 {written}", text, flags=re.M)
        assert found == 1
        self.answers.write_text(text, encoding="utf-8")

    def figure(self, question, value):
        """Replace one figure; it is in the unit of its question."""
        self.answer(question, f"{value!r} {question.unit}".rstrip())

    def program(self, *lines):
        """Replace all programs by ones that do this wherever they are called."""
        for question in self.tried:
            if isinstance(question, Formula):
                head = f"def {question.name}({', '.join(question.arguments)}):\n"
                text = head + "".join(f"    {line}\n" for line in lines)
                (self.folder / "formulas.py").write_text(text, encoding="utf-8")
            else:
                head = "import ackclock\n\nclass Mine(ackclock.CongestionControl):\n"
                text = f"{head}    def on_ack(self, ack):\n"
                text += "".join(f"        {line}\n" for line in lines)
                (self.folder / question.file).write_text(text, encoding="utf-8")

    def empty(self):
        """Remove all that there is to hand in."""
        for file in self.folder.iterdir():
            file.unlink()

    def programs(self):
        return [self.folder / name for name in self.lab.programs]


# Each case spoils the work and returns what is said to the questions that lose by it.


def nothing_handed_in(work):
    work.empty()
    return {q.name: "here is no" for q in work.lab.questions}


def empty_files(work):
    for file in (work.answers, *work.programs()):
        file.write_text("", encoding="utf-8")
    return {q.name: f"{NO_ANSWER}|no function|no class" for q in work.lab.questions}


def as_it_was_started(work):
    folder = work.folder.with_name("started")
    student(work.lab, folder, notebook=False, force=False)
    work.folder = folder
    return {q.name: rf"{NO_ANSWER}|{NOT_WRITTEN}|delay: \d\.\d\d, \d" for q in work.lab.questions}


def notebook_alone(work):
    """Answers and functions were left in the notebook, which was never run."""
    work.empty()
    folder = work.folder.with_name("notebook")
    student(work.lab, folder, notebook=True, force=False)
    shutil.copy(folder / "lab.ipynb", work.folder)
    return {q.name: "here is no" for q in work.lab.questions}


def text_for_a_number(work):
    for question in work.figures:
        work.answer(question, "about ten")
    return {q.name: "'about ten' is not a number; write a" for q in work.figures}


def a_unit_of_something_else(work):
    others = {"rate": "3 ms", "time": "3 Mbps"}
    for question in work.figures:
        work.answer(question, others.get(Unit.of(question.unit).kind, "3 ms"))
    return {q.name: "expected a (plain )?number" for q in work.figures}


def a_unit_that_there_is_not(work):
    for question in work.figures:
        work.answer(question, "3 furlongs")
    return {q.name: "'furlongs'" for q in work.figures}


def no_unit(work):
    plain = ("share", "number", "packets")
    with_unit = [q for q in work.figures if Unit.of(q.unit).kind not in plain]
    for question in with_unit:
        work.answer(question, repr(work.value(question)))
    return {q.name: "the unit is missing; write a number with its unit" for q in with_unit}


def off_by_a_thousand(work):
    for question in work.figures:
        work.figure(question, 1000 * work.value(question))
    return {q.name: "factor of 1000" for q in work.figures}


def the_wrong_sign(work):
    for question in work.figures:
        work.figure(question, -work.value(question))
    return {q.name: "sign" for q in work.figures if work.value(q)}


def a_comma_for_the_point(work):
    for question in work.figures:
        work.answer(
            question, f"'{work.value(question) + 0.5:.1f} {question.unit}'".replace(".", ",")
        )
    return {q.name: "write a point, as in" for q in work.figures}


def a_list_for_a_number(work):
    for question in work.figures:
        work.answer(question, "[1, 2]")
    return {q.name: "This cannot be read: write a" for q in work.figures}


def of_another_question(work):
    """The answers to the figures, each one question further down."""
    moved = [*work.figures[1:], *work.figures[:1]]
    said = {}
    for question, other in zip(work.figures, moved, strict=True):
        if question is other:
            continue
        work.figure(question, work.value(other))
        if question.unit != other.unit:
            work.answer(question, f"{work.value(other)!r} {other.unit}".rstrip())
        said[question.name] = ".*"
    return said


def no_such_words(work):
    words = [q for q in work.lab.questions if isinstance(q, labs.Choice)]
    for question in words:
        work.answer(question, "all of them")
    return {q.name: "'all of them' is not one of" for q in words}


def misspelt_names(work):
    text = work.answers.read_text(encoding="utf-8")
    for question in work.figures:
        text = text.replace(f"  {question.name}:", f"  {question.name}s:")
    work.answers.write_text(text, encoding="utf-8")
    return {q.name: NO_ANSWER for q in work.figures}


def not_yaml(work):
    work.answers.write_text("lab: [\nanswers: {{{\n", encoding="utf-8")
    return {q.name: NO_ANSWER for q in work.lab.questions if q not in work.tried}


def another_encoding(work):
    """What Notepad calls Unicode."""
    for file in (work.answers, *work.programs()):
        file.write_text(file.read_text(encoding="utf-8"), encoding="utf-16")
    return {q.name: f"{NO_ANSWER}|UTF-8" for q in work.lab.questions}


def letters_of_an_old_encoding(work):
    for file in work.programs():
        file.write_bytes("# Für die Übung\n".encode("latin-1") + file.read_bytes())
    return {q.name: "UTF-8" for q in work.tried}


def an_endless_loop(work):
    # A controller is called only after its simulation has been made; a call may take a quarter.
    seconds = 0.3 if isinstance(work.tried[0], Formula) else 2
    work.marker.limits = replace(work.marker.limits, seconds=seconds)
    work.program("while True: pass")
    return {q.name: r"\.py(:| line )\d" for q in work.tried}


def an_error(work):
    work.program("return {}['rate']")
    return {q.name: r"\.py(:| line )\d.*KeyError: 'rate'" for q in work.tried}


def not_python(work):
    for file in work.programs():
        file.write_text("rate = = 3\n", encoding="utf-8")
    return {q.name: r"\.py(:| line )1.*invalid syntax" for q in work.tried}


def files_of_others(work):
    work.program("open('/etc/passwd').read()")
    return {q.name: "may not read '/etc/passwd'" for q in work.tried}


def the_solution(work):
    """The program reads the answers of the teacher."""
    inside = work.lab.folder / "solution" / work.lab.programs[0]
    work.program(f"open({str(inside)!r}).read()")
    return {q.name: "may not read" for q in work.tried}


def another_process(work):
    work.program("import subprocess", "subprocess.run(['true'])")
    return {q.name: "may not do this" for q in work.tried}


def text_for_a_result(work):
    work.program("self = None" if isinstance(work.tried[0], Formula) else "self.cwnd = 'much'")
    if isinstance(work.tried[0], Formula):
        work.program("return 'much'")
    return {q.name: "'much'|number|str" for q in work.tried}


WRONG = [
    nothing_handed_in,
    empty_files,
    as_it_was_started,
    notebook_alone,
    text_for_a_number,
    a_unit_of_something_else,
    a_unit_that_there_is_not,
    no_unit,
    off_by_a_thousand,
    the_wrong_sign,
    a_comma_for_the_point,
    a_list_for_a_number,
    of_another_question,
    no_such_words,
    misspelt_names,
    not_yaml,
    another_encoding,
    letters_of_an_old_encoding,
    an_endless_loop,
    an_error,
    not_python,
    files_of_others,
    the_solution,
    another_process,
    text_for_a_result,
]


# Fine, though it may not look so: none of it costs a point.


def with_a_mark_of_order(work):
    """UTF-8 as some editors of Windows write it, with their ends of lines."""
    for file in (work.answers, *work.programs()):
        text = file.read_text(encoding="utf-8").replace("\n", "\r\n")
        file.write_bytes(b"\xef\xbb\xbf" + text.encode())


def capital_letters(work):
    for question in work.lab.questions:
        if isinstance(question, labs.Choice):
            work.answer(question, f"' {work.marker.reference(question).upper()} '")


def much_output(work):
    for file in work.programs():
        text = "import sys\nprint('x' * 5_000_000)\nsys.stderr.write('y' * 5_000_000)\n"
        file.write_text(text + file.read_text(encoding="utf-8"), encoding="utf-8")


FINE = [with_a_mark_of_order, capital_letters, much_output]


def start(_command, *, stdin, stdout, stderr, start_new_session, **place):
    """What `programs` starts; `test_grading.py` has it start Python."""
    assert start_new_session
    streams = (stdin.name, stdout.name, stderr.name)
    return Forked("ackclock.labs.child:main", streams=streams, **place)


@pytest.fixture(scope="module", autouse=True)
def known():
    """Programs are run once, in forked processes: most cases leave those of the solution."""
    run, found = programs.run, {}

    def once(folder, job, cases, limits):
        texts = {file.name: file.read_bytes() for file in folder.glob("*.py")}
        key = repr((sorted(texts.items()), job, cases, limits))
        if key not in found:
            found[key] = run(folder, job, cases, limits)
        return found[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(programs, "run", once)
        popen = SimpleNamespace(Popen=start, TimeoutExpired=subprocess.TimeoutExpired)
        patched.setattr(programs, "subprocess", popen)
        yield


@pytest.fixture(scope="module")
def markers():
    """Return a function that gives a marker of a lab; its runs are shared by the cases."""
    made = {}

    def get(name):
        if name not in made:
            lab = labs.find(name)
            hidden = Hidden(lab, 0)
            # One network for a program is enough to see what is said.
            all_networks = hidden.networks
            hidden.networks = lambda question: all_networks(question)[:1]
            made[name] = Marker(lab, hidden, Limits())
        made[name].limits = Limits(seconds=60)
        return made[name]

    return get


def readable(feedback):
    """Whether feedback is a sentence for a student, and not what a program says to its author."""
    # The package itself may be anywhere.
    feedback = feedback.replace(str(Path(labs.__file__).parent), "labs")
    return feedback.strip().endswith((".", "!", "?", ")")) and not re.search(
        r"Traceback|could not be marked|/tmp|/site-packages|<class|NoneType", feedback
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", labs.names())
@pytest.mark.parametrize("spoil", WRONG, ids=lambda case: case.__name__)
def test_each_wrong_submission_gets_feedback(name, spoil, markers, tmp_path):
    work = Work(labs.find(name), markers(name), tmp_path / "work")
    expected = spoil(work)
    done = grade(work.marker, work.folder)
    marks = {mark.question: mark for mark in done.marks}
    for question in work.lab.questions:
        mark = marks[question.name]
        if question.name not in expected:
            assert mark.full or question in work.tried, mark
            continue
        assert mark.points < mark.most and readable(mark.feedback), mark
        known = [getattr(one, "feedback", one) for one in getattr(question, "mistakes", ())]
        # A mistake that the lab knows says more than the rule for all labs.
        assert mark.feedback in known or re.search(expected[question.name], mark.feedback, re.S), (
            mark
        )
        assert mark.feedback not in ("Too large.", "Too small."), "which helps nobody"
    assert all(readable(f"{remark}.") for remark in done.remarks)
    # The student's own look finds the same work wanting, in words.
    for _, text, _ in check(work.marker, work.folder):
        assert text and "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", labs.names())
@pytest.mark.parametrize("change", FINE, ids=lambda case: case.__name__)
def test_what_only_looks_wrong_costs_nothing(name, change, markers, tmp_path):
    work = Work(labs.find(name), markers(name), tmp_path / "work")
    change(work)
    done = grade(work.marker, work.folder)
    assert done.points == done.most == work.lab.points, done
    assert done.remarks == ()


@pytest.mark.slow
def test_a_controller_that_hardly_sends_earns_nothing_for_short_queues(tmp_path):
    """It has no queue, and two of it are fair."""
    lab = labs.find("own-controller")
    body = "def on_start(self, event):\n        self.cwnd = 2 * self.segment\n"
    head = "import ackclock\nclass Mine(ackclock.CongestionControl):\n    "
    (tmp_path / "mine.py").write_text(f"{head}{body}", encoding="utf-8")
    mark = Marker(lab, Hidden(lab, 0), Limits()).mark(lab.questions[0], None, tmp_path)
    assert mark.points == 0
    assert "delay: 0 of 6. The link is used less than half" in mark.feedback
    assert mark.board is None


@pytest.mark.slow
def test_one_fault_of_a_controller_is_said_once(tmp_path):
    lab = labs.find("own-controller")
    text = "import ackclock\nclass Mine(ackclock.CongestionControl):\n"
    text += "    def on_ack(self, ack):\n        self.cwnd += nothing\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    mark = Marker(lab, Hidden(lab, 0), Limits()).mark(lab.questions[0], None, tmp_path)
    assert mark.feedback.count("NameError") == 1


@pytest.mark.slow
def test_a_program_that_cannot_be_tried_says_what_it_has_instead(tmp_path):
    lab = labs.find("bufferbloat")
    (tmp_path / "formulas.py").write_text("def longest(rate):\n    return 1\n", encoding="utf-8")
    said = Marker(lab, Hidden(lab, 0), Limits()).mark(lab.questions[-1], None, tmp_path).feedback
    wanted = "it has no function longest_wait_of(); it has longest()."
    assert said == f"formulas.py cannot be loaded: {wanted}"


def test_answers_that_are_handed_in_wrongly_get_a_hint(tmp_path):
    lab = labs.find("bufferbloat")
    marker = Marker(lab, Hidden(lab, 0), Limits())
    (tmp_path / "mine").mkdir()
    file = tmp_path / "mine" / "answers.yaml"
    file.write_text("answers: {small_buffer: [same], mean_wait: 339.7 s}\n", encoding="utf-8")
    outside = grade(marker, tmp_path).remarks
    assert outside == (
        "there is no answers.yaml in the folder, but in 'mine' within it: hand in that folder",
    )
    said = {name: text for name, text, _ in check(marker, tmp_path / "mine")}
    assert said[""] == "answers.yaml: `lab: bufferbloat` is missing"
    assert said["small_buffer"] == "Write one word, without brackets: same, half, tenth."
    assert said["mean_wait"] == "339700 ms is not possible; check it."


@pytest.mark.parametrize(
    "name",
    ["answers (1).yaml", "answers.yml", "Answers.YML", "answers-2.yaml", "answers copy.yaml"],
)
def test_answers_of_a_similar_name_get_a_hint(name, ackclock, tmp_path):
    (tmp_path / name).write_text("lab: bufferbloat\nanswers: {}\n", encoding="utf-8")
    (tmp_path / "solver.yaml").write_text("a: 1\n", encoding="utf-8")
    (problem,) = answers.read(labs.find("bufferbloat"), tmp_path).problems
    hint = f"; '{name}' must be called answers.yaml to count"
    assert problem.endswith(hint)
    done = ackclock("lab", "check", ".")
    assert done.code == 2 and done.err.endswith(f"{hint}\n")


def test_programs_of_a_similar_name_get_a_hint(tmp_path):
    (tmp_path / "formulas (1).py").write_text("", encoding="utf-8")
    job = {"kind": "load", "file": "formulas.py"}
    (case,) = programs.run(tmp_path, job, [None], Limits())
    assert case.fault == (
        "formulas.py cannot be loaded: there is no such file; "
        "'formulas (1).py' must be called formulas.py to count"
    )


@pytest.mark.slow
def test_a_straight_line_between_far_buffers_is_no_crossing(markers):
    """The shares bend: the page asks for buffers between them."""
    marker = markers("cubic-bbr")
    question = next(q for q in marker.lab.questions if q.name == "crossing")
    share, said = marker.number(question, 3.22)
    assert share == 0.5 and "the shares bend there" in said
    assert marker.number(question, 2.61) == (1.0, "Right.")


@pytest.mark.parametrize("name", labs.names())
def test_scenarios_of_students_do_not_say_what_they_show(name, tmp_path):
    """`bene/two-flows` expects the drops, `ns3/lab-one-flow` has a rate in its question."""
    lab = labs.find(name)
    student(lab, tmp_path / "work", notebook=False, force=False)
    for one in lab.scenarios:
        document = Scenario.load(tmp_path / "work" / f"{one}.yaml").document
        assert "title" in document and not document.keys() & {"question", "expectation"}


@pytest.mark.slow
def test_a_small_value_is_no_mistake_because_the_right_one_is_large(tmp_path):
    """Milliseconds for seconds are a thousandth of the right rate, as is one without a segment."""
    lab = labs.find("rtt-fairness")
    body = "return segment_bytes * 8 / rtt_s * (1.5 / loss) ** 0.5 / 1000"
    text = f"def reno_rate(rtt_s, loss, segment_bytes):\n    {body}\n"
    (tmp_path / "formulas.py").write_text(text, encoding="utf-8")
    said = Marker(lab, Hidden(lab, 0), Limits()).mark(lab.questions[-1], None, tmp_path).feedback
    assert "Off by a factor of 1000" in said and "segment is missing" not in said


@pytest.mark.parametrize(
    ("name", "body", "points", "said"),
    [
        (
            "fast-reno",
            "alpha + rate_bps * 2 * delay_s / 8 / 1024",
            2.0,
            "Each data packet has an ACK",
        ),
        (
            "window-and-queue",
            "8 * min(window_bytes / rtt_s, rate_bps / 8 / (1 + header_bytes / segment_bytes))",
            None,
            "Only whole segments fit into the window.",
        ),
        (
            "reliability",
            "delay_s + 8000 / rate_bps * ((segments - 1) % window + 1)"
            " + (segments - 1) // window * (2 * delay_s + 8000 / rate_bps)",
            None,
            "A window larger than the pipe keeps the link busy",
        ),
    ],
)
def test_formulas_that_leave_one_thing_out_are_told_which(name, body, points, said, tmp_path):
    lab = labs.find(name)
    [question] = [q for q in lab.questions if isinstance(q, Formula)]
    text = f"def {question.name}({', '.join(question.arguments)}):\n    return {body}\n"
    (tmp_path / "formulas.py").write_text(text, encoding="utf-8")
    mark = Marker(lab, Hidden(lab, 0), Limits()).mark(question, None, tmp_path)
    assert 0 < mark.points < mark.most and said in mark.feedback
    assert points in (None, mark.points) and "second bound" not in mark.feedback


def test_a_figure_without_marks_earns_nothing_however_it_is_rounded(markers):
    """CUBIC's slowest answer and that of DCTCP at a queue that does not mark differ by 0.02 ms."""
    marker = markers("incast")
    [question] = [q for q in marker.lab.questions if isinstance(q, Number) and q.name == "dctcp"]
    for written in ("203.98 ms", "204 ms", "0.204 s"):
        share, said = marker.number(question, written)
        assert share == 0 and said.startswith("That is without marks.")


def test_what_cannot_be_a_submission_is_not_passed_over_in_silence(ackclock, tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "bob.tar.gz").touch()
    done = ackclock("grade", "bufferbloat", "in", "--csv", "in/grades.csv")
    assert done.err.splitlines()[-1].endswith(
        "not graded: bob.tar.gz: not a folder and not a .zip file"
    )


def test_the_teachers_page_lists_wrong_words_only(ackclock, tmp_path):
    assert ackclock("lab", "teach", "fast-reno", "-o", "ours").code == 0
    page = (tmp_path / "ours" / "teacher.md").read_text(encoding="utf-8")
    assert "> - `reno`: Compare" in page and "> - `fast`: Compare" not in page


@pytest.mark.parametrize("text", ["", "- a\n- b\n"])
def test_answers_that_are_empty_or_a_list_are_told_how_to_begin(text, tmp_path):
    lab = labs.find("bufferbloat")
    (tmp_path / "answers.yaml").write_text(text)
    (problem,) = answers.read(lab, tmp_path).problems
    assert problem.endswith("; start with 'lab: bufferbloat'")
    assert "scenario" not in problem


def test_a_sentence_ends_once(markers):
    """Also where a hint asks a question."""
    question = next(q for q in labs.find("bufferbloat").questions if q.name == "longest_wait")
    said = markers("bufferbloat").mark(question, "400 msec", Path()).feedback
    assert said.endswith("did you mean `400 ms`?")


@pytest.mark.parametrize(
    ("asked", "written", "hint"),
    [
        ("kbps", "24.2 KB/s", "'KB/s' is not a unit; did you mean `24.2 kB/s`?"),
        ("Mbps", "9.4 mbps", "'mbps' is not a unit; did you mean `9.4 Mbps`?"),
        ("ms", "0.25 sec", "'sec' is not a unit; did you mean `0.25 s`?"),
        ("kB", "3 kg", "'kg' is not a unit; did you mean `3 kB`?"),
        ("ms", "3 kg", "'kg' is not a unit; write a number with its unit, such as 12.5 ms"),
        ("%", "6 Prozent", "expected a number, such as 0.85 or 85 %, without 'Prozent'"),
        ("", "7 ms", "expected a plain number, without 'ms'"),
    ],
)
def test_a_unit_that_there_is_not_has_the_one_that_was_meant(asked, written, hint):
    with pytest.raises(UnitError) as caught:
        Unit.of(asked).read(written)
    assert str(caught.value) == hint
