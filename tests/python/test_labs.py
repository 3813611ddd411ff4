"""The labs, as students and teachers go through them."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from ackclock import labs
from ackclock.cli.app import main
from ackclock.errors import InputError
from ackclock.labs.hidden import Hidden
from ackclock.labs.marking import RIGHT, Marker
from ackclock.labs.programs import Limits
from ackclock.labs.units import Unit, UnitError
from ackclock.labs.writing import solution, student

NAMES = labs.names()
BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@pytest.fixture(scope="module")
def marker():
    """Return a function that gives the marker of a lab; its runs are shared by the tests."""
    made = {}

    def get(name):
        if name not in made:
            lab = labs.find(name)
            made[name] = Marker(lab, Hidden(lab, 0), Limits(seconds=60))
        return made[name]

    return get


def questions(kind):
    return [
        pytest.param(name, question, id=f"{name}/{question.name}")
        for name in NAMES
        for question in labs.find(name).questions
        if isinstance(question, kind)
    ]


def test_there_are_ten_labs_that_say_what_they_are():
    assert len(NAMES) >= 10
    for name in NAMES:
        lab = labs.find(name)
        assert lab.title and lab.about.endswith(".") and lab.source.endswith(".")
        assert sum(question.public for question in lab.questions) == 1 or name == "own-controller"
        for question in lab.questions:
            assert question.why.endswith("."), question.name


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_teachers_solution_has_all_points(name, marker, tmp_path):
    """Whatever networks the seed draws."""
    from ackclock.labs.grading import grade

    lab = labs.find(name)
    shutil.copytree(lab.folder / "solution", tmp_path / "solved")
    (tmp_path / "solved" / "answers.yaml").write_text(solution(marker(name)), encoding="utf-8")
    for seed in (0, 1, 2):
        one = marker(name)
        one.hidden = Hidden(lab, seed)
        done = grade(one, tmp_path / "solved")
        assert done.points == done.most == lab.points, [m for m in done.marks if not m.full]
        assert done.remarks == ()


@pytest.mark.parametrize(("name", "question"), questions(labs.Number))
def test_wrong_numbers_get_the_feedback_of_their_mistake(name, question, marker):
    one, unit = marker(name), Unit.of(question.unit)
    right = one.reference(question)
    assert one.number(question, unit.show(right)) == (1.0, RIGHT)
    assert question.mistakes, "each question knows some wrong answers"
    for mistake in question.mistakes:
        wrong = mistake.value(one.runs)
        given = f"{wrong / unit.scale!r} {unit.name}".strip()
        assert one.number(question, given) == (mistake.credit, mistake.feedback)
        assert unit.show(right) not in mistake.feedback, "feedback does not say the answer"


@pytest.mark.parametrize(("name", "question"), questions(labs.Number))
def test_wrong_units_of_numbers_get_feedback(name, question, marker):
    one, unit = marker(name), Unit.of(question.unit)
    right = one.reference(question) / unit.scale
    known = [mistake.value(one.runs) / unit.scale for mistake in question.mistakes]
    for factor, said in ((8, "a byte has 8 bits"), (1000, "factor of 1000")):
        if not any(abs(wrong / (right * factor) - 1) < 0.1 for wrong in known):
            share, feedback = one.number(question, f"{right * factor!r} {unit.name}".strip())
            assert share == 0.0 and said in feedback
    if unit.kind in ("time", "rate", "size"):
        assert "unit is missing" in one.number(question, right)[1]
    if unit.kind in ("time", "rate", "size", "packets"):
        other = "3 Mbps" if unit.kind != "rate" else "3 ms"
        assert "is a unit of" in one.number(question, other)[1]


@pytest.mark.parametrize(("name", "question"), questions(labs.Choice))
def test_each_wrong_choice_gets_its_feedback(name, question, marker):
    one = marker(name)
    right = one.reference(question)
    assert right in question.options
    for word in question.options:
        share, feedback = one.choice(question, word)
        assert (share, feedback) == ((1.0, RIGHT) if word == right else (0.0, feedback))
        assert word == right or feedback == question.mistakes[word]
    assert "is not one of" in one.choice(question, "maybe")[1]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "question"), questions(labs.Formula))
def test_wrong_formulas_get_the_feedback_of_their_mistake(name, question, marker):
    """On at least one of the networks: there may be some on which a wrong formula is right."""
    from ackclock.labs.programs import Case

    one = marker(name)
    if question.options:
        return
    for mistake in question.mistakes:
        said = set()
        for changes in one.hidden.networks(question.name):
            facts, right = one._network(question, changes)
            said.add(one._returned(question, Case(mistake.value(**facts)), facts, right))
        assert (mistake.credit, mistake.feedback) in said


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("unpainted")
def test_the_commands_of_a_page_run(name, tmp_path, monkeypatch, capsys):
    """In the folder that a student begins with; runs are shorter and fewer: no figure counts."""
    student(labs.find(name), tmp_path, notebook=False, force=False)
    for file in tmp_path.glob("*.yaml"):
        shorter = re.sub(r"at_latest: \d\d+ s", "at_latest: 12 s", file.read_text("utf-8"))
        file.write_text(shorter, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for block in BLOCK.finditer((tmp_path / "lab.md").read_text(encoding="utf-8")):
        if block["file"]:
            Path(block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["language"] == "python":
            exec(compile(block["text"], name, "exec"), {"__name__": "__main__"})
        else:
            for line in block["text"].splitlines():
                few = line.replace("--count 1000", "--count 100")
                monkeypatch.setattr(sys, "argv", shlex.split(few))
                with pytest.raises(SystemExit) as done:
                    main()
                assert not done.value.code, f"{line}\n{capsys.readouterr()}"


def test_a_student_starts_and_sees_what_is_missing(ackclock, tmp_path):
    done = ackclock("lab", "start", "bufferbloat")
    assert done.code == 0
    assert "bufferbloat/lab.md" in done.out
    files = {file.name for file in (tmp_path / "bufferbloat").iterdir()}
    assert files == {"lab.md", "answers.yaml", "formulas.py", "bloat.yaml", "codel.yaml"}
    page = (tmp_path / "bufferbloat" / "lab.md").read_text(encoding="utf-8")
    assert "Question 6" in page and "400" not in page, "no answers in the student's part"
    again = ackclock("lab", "start", "bufferbloat")
    assert again.code == 2 and "--force" in again.err
    checked = ackclock("lab", "check", "bufferbloat")
    assert checked.code == 1 and "No answer yet" in checked.out
    assert "not written yet" in " ".join(checked.out.split())


def test_a_check_reads_answers_and_marks_the_first_alone(ackclock, tmp_path):
    ackclock("lab", "start", "cubic-bbr", "-o", "mine")
    file = tmp_path / "mine" / "answers.yaml"
    text = file.read_text(encoding="utf-8")
    for name, answer in {
        "bbr_share": "10.7 %",
        "crossing": "200",
        "cubic_queue": "3 kg",
        "bbr_queue": "0,3 ms",
        "why": "losses",
    }.items():
        text = text.replace(f"{name}: null", f"{name}: {answer}")
    file.write_text(text + "  bufer: 3\n", encoding="utf-8")
    out = " ".join(ackclock("lab", "check", "mine").out.split())
    for said in (
        "That is the share of the other flow",
        "200 is not possible",
        "'kg' is not a unit; write a number with its unit, such as 12.5 ms",
        "write a point, as in 0.3",
        "no question 'bufer'",
    ):
        assert said in out


@pytest.mark.slow
def test_a_check_tries_a_controller(ackclock, tmp_path):
    ackclock("lab", "start", "own-controller", "-o", "mine")
    done = ackclock("lab", "check", "mine")
    out = " ".join(done.out.split())
    assert done.code == 1 and "delay:" in out and "Packets wait" in out
    shutil.copy(labs.find("own-controller").folder / "solution" / "mine.py", tmp_path / "mine")
    done = ackclock("lab", "check", "mine")
    assert done.code == 0 and "Right" in done.out


@pytest.fixture
def own_lab(tmp_path):
    """Return a function that writes a lab of a teacher, with one text replaced in its program."""

    def write(old="", new="", name="ours"):
        shutil.copytree(labs.find("bufferbloat").folder, tmp_path / name)
        file = tmp_path / name / "lab.py"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        return f".{os.sep}{name}"

    return write


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ("minutes=60", "minuts=60", "LAB = Lab(", "unexpected keyword argument 'minuts'"),
        ("LAB = Lab(", "LAB = = Lab(", "LAB = =", "invalid syntax"),
        ("LAB = Lab(", "exit()\nLAB = Lab(", "exit()", "the program called exit()"),
        ("LAB = Lab(", "import nothing_such\nLAB = Lab(", "nothing_such", "No module named"),
        (
            'unit="ms"',
            'unit="milliseconds"',
            "Number(",
            "`unit` is 'milliseconds'; needed is a unit",
        ),
        ("tolerance=0.03", "tolerance='3 %'", "Number(", "`tolerance` is '3 %'; needed is a share"),
        ("tolerance=0.03", "tolerance=3", "Number(", "`tolerance` is 3; needed is a share from 0"),
        (
            "tolerance=0.03",
            "tolerance=-1",
            "Number(",
            "`tolerance` is -1; needed is a share from 0",
        ),
        ("most=60.0", "most=-1.0", "Number(", "`least` is 0.0; needed is a number that is not"),
        ('name="longest_wait"', 'name="longest wait"', "Number(", "`name` is 'longest wait'"),
        ('name="longest_wait"', 'name="mean_wait"', "LAB =", "two questions have the name"),
        ("credit=0.5", "credit=50", "Mistake(", "`credit` is 50; needed is a share from 0 to 1"),
        ('"same":', '"Same":', "Choice(", "`options` is 'Same'; needed is words in small letters"),
        ('scenario="bloat"', 'scenario="blat"', "LAB =", "unknown scenario of this lab 'blat'"),
    ],
)
def test_a_mistake_in_a_lab_is_an_error_with_its_line(
    ackclock, own_lab, tmp_path, old, new, at, said
):
    done = ackclock("lab", "start", own_lab(old, new), "-o", "mine")
    assert done.code == 2 and not (tmp_path / "mine").exists()
    found = re.match(r"error: lab\.py line (\d+): ", done.err)
    assert found and said in done.err
    assert (
        at
        in (tmp_path / "ours" / "lab.py")
        .read_text(encoding="utf-8")
        .splitlines()[int(found[1]) - 1]
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('runs.of("bloat")', 'runs.of("blat")', "lab.py line 49: unknown scenario of this lab"),
        ('["max"]', '["maxi"]', "lab.py line 30: KeyError: 'maxi'"),
        (
            'value=lambda runs: _longest(runs.of("bloat"))',
            "value=lambda runs: float('nan')",
            "lab.py: `value` of 'longest_wait' gives nan, not a finite number",
        ),
    ],
)
def test_a_mistake_in_what_a_lab_measures_costs_no_points(
    ackclock, own_lab, tmp_path, old, new, said
):
    ours = own_lab(old, new)
    answers = tmp_path / "in" / "ada" / "answers.yaml"
    answers.parent.mkdir(parents=True)
    answers.write_text("lab: ours\nanswers: {longest_wait: 400.6 ms}\n", encoding="utf-8")
    for command in (
        ("grade", ours, Path("in", "ada")),
        ("grade", ours, "in", "--csv", "g.csv"),
        ("lab", "teach", ours, "-o", "taught"),
    ):
        done = ackclock(*command)
        assert (done.code, done.out) == (2, "") and done.err.startswith(f"error: {said}")
    assert not (tmp_path / "g.csv").exists()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("{'rate': 1}", "`facts` of 'longest_wait_of' do not give rate_bps, limit_bytes"),
        ("{'rate_bps': results, 'limit_bytes': 1}", "needed is a number, text or list"),
        ("{'rate_bps': 1 / 0}", r"lab\.py line \d+: ZeroDivisionError"),
    ],
)
def test_a_mistake_in_what_a_function_gets_costs_no_points(own_lab, tmp_path, facts, said):
    own_lab("facts=_facts", f"facts=lambda results: {facts}")
    lab = labs.find(str(tmp_path / "ours"))
    with pytest.raises(InputError, match=said):
        Marker(lab, Hidden(lab, 0), Limits()).try_program(lab.questions[-1], tmp_path)


def test_what_a_lab_prints_is_not_part_of_documents(ackclock, own_lab, tmp_path):
    ours = own_lab("LAB = Lab(", 'print("loaded")\nLAB = Lab(')
    (tmp_path / "mine").mkdir()
    done = ackclock("grade", ours, "mine", "--format", "gradescope")
    assert json.loads(done.out)["score"] == 0
    assert done.err == "loaded\n"


@pytest.mark.parametrize("command", [("lab", "start"), ("lab", "teach")])
def test_a_lab_without_its_page_is_bad_input(ackclock, own_lab, tmp_path, command):
    ours = own_lab()
    (tmp_path / "ours" / "page.md").unlink()
    done = ackclock(*command, ours, "-o", "made")
    assert done.code == 2 and "the lab 'ours' has no page.md" in done.err
    assert not (tmp_path / "made").exists()


def test_work_of_a_lab_that_is_not_there_is_checked_as_far_as_it_says(ackclock, own_lab, tmp_path):
    """Students do not have the folder of their teacher's lab."""
    student(labs.find(own_lab()), tmp_path / "mine", notebook=False, force=False)
    shutil.rmtree(tmp_path / "ours")
    file = tmp_path / "mine" / "answers.yaml"
    started = file.read_text(encoding="utf-8")
    for name, answer in {
        "longest_wait": "400 ms",
        "mean_wait": "3 kg",
        "small_buffer": "bigger",
        "price": "-3 %",
    }.items():
        started = started.replace(f"{name}: null", f"{name}: {answer}")
    file.write_text(started + "  pryce: 3\n", encoding="utf-8")
    (tmp_path / "mine" / "own.py").write_text("import nothing_such\n", encoding="utf-8")
    done = ackclock("lab", "check", "mine", "--json")
    assert done.code == 1 and "'ours' is not a lab of the package" in done.err
    said = {one["question"]: (one["fine"], one["text"]) for one in json.loads(done.out)}
    assert said["longest_wait"] == (True, "Readable: 400 ms.")
    assert said["price"] == (True, "Readable: -3 %.")
    assert said["codel_wait"] == (False, "No answer yet.")
    assert said["mean_wait"][1].startswith("This cannot be read: 'kg' is not a unit")
    assert said["small_buffer"][1] == "'bigger' is not one of same, half, tenth."
    assert "no question 'pryce'; did you mean 'price'?" in said[""][1]
    assert said["formulas.py"] == (True, "Can be loaded.")
    assert "own.py line 1: ModuleNotFoundError" in said["own.py"][1]
    file.write_text("lab: ours\nanswers: {price: 3 %}\n", encoding="utf-8")
    done = ackclock("lab", "check", "mine")
    assert done.code == 2 and "no longer says in comments" in done.err


def test_a_lab_may_be_renamed(own_lab, tmp_path):
    from ackclock.labs import answers

    own_lab(name="spring")
    lab = labs.find(str(tmp_path / "spring"))
    student(lab, tmp_path / "mine", notebook=False, force=False)
    file = tmp_path / "mine" / "answers.yaml"
    started = file.read_text(encoding="utf-8")
    file.write_text(started.replace("lab: spring", "lab: autumn"), encoding="utf-8")
    assert answers.read(lab, tmp_path / "mine").problems == ()
    file.write_text("lab: cubic-bbr\nanswers: {bbr_share: 3 %}\n", encoding="utf-8")
    assert "`lab` is 'cubic-bbr', not 'spring'" in answers.read(lab, tmp_path / "mine").problems[0]


def test_a_notebook_has_commands_and_files_as_cells(ackclock, tmp_path):
    ackclock("lab", "start", "cubic-bbr", "--format", "notebook", "-o", "nb")
    cells = json.loads((tmp_path / "nb" / "lab.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code[0].startswith("!ackclock run duel.yaml")
    assert any(text.startswith("%%writefile buffers.yaml\nstudy: buffers") for text in code)


@pytest.mark.slow
def test_notebooks_are_valid(ackclock, tmp_path):
    import nbformat

    for name in NAMES:
        ackclock("lab", "start", name, "--format", "notebook", "-o", f"nb-{name}")
        page = nbformat.read(tmp_path / f"nb-{name}" / "lab.ipynb", as_version=4)
        nbformat.validate(page)


@pytest.mark.slow
def test_a_teachers_version_is_a_lab_with_answers(ackclock, tmp_path):
    assert ackclock("lab", "teach", "bufferbloat", "-o", "ours").code == 0
    page = (tmp_path / "ours" / "teacher.md").read_text(encoding="utf-8")
    assert "**400.59 ms**" in page and "Tolerance: 3 %" in page and "50 % of the points" in page
    done = ackclock("grade", "ours", "ours/solution")
    assert "14 of 14 points" in done.out
    assert ackclock("lab", "teach", "bufferbloat", "-o", "ours").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lab", "start", "buffer"], "did you mean 'bufferbloat'"),
        (["lab", "start", "."], "it has no lab.py"),
        (["lab", "check", "."], "has no answers.yaml"),
        (["grade", "bufferbloat", "a-file"], "'a-file' is a file; give the folder that it is in"),
        (["grade", "bufferbloat", "nowhere"], "no such folder: 'nowhere'"),
        (["grade", "bufferbloat", ".", "--hidden", "none.yaml"], "no such file"),
        (["grade", "bufferbloat", ".", "--feedback", "x"], "--feedback needs --csv"),
    ],
)
def test_bad_input_is_named(ackclock, tmp_path, arguments, said):
    (tmp_path / "a-file").touch()
    done = ackclock(*arguments)
    assert done.code == 2 and said in done.err


def test_networks_are_drawn_by_the_seed_and_described_in_a_file(tmp_path):
    lab = labs.find("bufferbloat")
    drawn = [Hidden(lab, seed).networks("longest_wait_of") for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    rates = [network["links.bottleneck.rate"] for network in drawn[0]]
    assert len(set(rates)) == len(rates), "none comes twice"
    own = tmp_path / "own.yaml"
    own.write_text("longest_wait_of:\n  networks: [{links.bottleneck.rate: 3 Mbps}]\n")
    assert Hidden(lab, 1, own).networks("longest_wait_of") == [{"links.bottleneck.rate": "3 Mbps"}]
    for text, said in (
        ("other: {networks: 1}\n", "unknown question 'other'"),
        ("longest_wait_of: {networks: 0}\n", "from 1 to 100"),
        ("longest_wait_of: {networks: 2, set: {a.b: 3}}\n", "list of values"),
    ):
        own.write_text(text)
        with pytest.raises(Exception, match=said):
            Hidden(lab, 1, own).networks("longest_wait_of")


@pytest.mark.parametrize(
    ("unit", "written", "value"),
    [
        ("ms", "0.4 s", 0.4),
        ("ms", "400ms", 0.4),
        ("kB/s", "80 kbps", 80e3),
        ("Mbps", "1 MB/s", 8e6),
        ("packets", "3 segments", 3.0),
        ("packets", 3, 3.0),  # a count needs no unit
        ("%", "85 %", 0.85),
        ("%", 0.85, 0.85),
        ("", "7.5", 7.5),
        ("", 7, 7.0),
        ("s", "1e-3 s", 0.001),
    ],
)
def test_answers_are_read_in_any_unit_of_their_kind(unit, written, value):
    assert Unit.of(unit).read(written) == pytest.approx(value)


@pytest.mark.parametrize(
    ("unit", "written"),
    [
        ("ms", "4"),
        ("ms", True),
        ("ms", "x ms"),
        ("ms", "3 Mbps"),
        ("", "nan"),
        ("", "1 s"),
        ("s", [1]),
    ],
)
def test_answers_that_are_none_are_refused(unit, written):
    with pytest.raises(UnitError):
        Unit.of(unit).read(written)
