"""Networks for each student, and submissions as archives."""

import csv
import io
import stat
import zipfile

import pytest

from ackclock import Scenario, labs
from ackclock.errors import InputError, ScenarioError
from ackclock.labs import archives, personal, writing
from ackclock.labs.grading import grade
from ackclock.labs.hidden import Hidden
from ackclock.labs.marking import Marker
from ackclock.labs.programs import Limits

LAB = labs.find("bufferbloat")


@pytest.fixture(scope="module")
def marker():
    return Marker(LAB, Hidden(LAB, 0), Limits())


def _solved(folder, marker):
    folder.mkdir()
    (folder / "answers.yaml").write_text(writing.solution(marker), encoding="utf-8")
    program = (LAB.folder / "solution" / "formulas.py").read_text(encoding="utf-8")
    (folder / "formulas.py").write_text(program, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_each_student_has_own_answers_that_the_grader_knows(marker, tmp_path):
    ada, bob = (marker.of_student(name) for name in ("ada", "bob"))
    assert personal.networks(LAB, "ada") != personal.networks(LAB, "bob")
    done = grade(marker, _solved(tmp_path / "a", ada), own=True)
    assert (done.points, done.student) == (done.most, "ada")
    # Bob hands in what Ada has found.
    text = (tmp_path / "a" / "answers.yaml").read_text(encoding="utf-8")
    assert 'student: "ada"' in text
    (tmp_path / "a" / "answers.yaml").write_text(text.replace('"ada"', "bob"), encoding="utf-8")
    copied = grade(marker, tmp_path / "a")
    assert copied.points < done.points
    assert bob.runs is not ada.runs


@pytest.mark.slow
def test_without_a_name_the_networks_are_those_of_the_lab(marker, tmp_path):
    folder = _solved(tmp_path / "a", marker)
    assert grade(marker, folder).points == LAB.points
    refused = grade(marker, folder, own=True)
    assert refused.points == 4  # the function, which is tried on other networks
    assert "student: NAME" in refused.marks[0].feedback


def network(scenario):
    """What a scenario simulates, without what it says of that: students do not get these texts."""
    return {key: of for key, of in scenario.model.items() if key not in ("question", "expectation")}


@pytest.mark.parametrize("name", [n for n in labs.names() if personal.is_personal(labs.find(n))])
def test_what_students_get_is_what_the_grader_runs(name, ackclock, tmp_path):
    lab = labs.find(name)
    assert ackclock("lab", "start", name, "--student", " Ada  Lovelace", "--out", "own").code == 0
    marker = Marker(lab, Hidden(lab, 0), Limits()).of_student("ada lovelace")
    for scenario in lab.scenarios:
        written = network(Scenario.load(tmp_path / "own" / f"{scenario}.yaml"))
        assert written == network(marker.runs.scenario(scenario))
        assert written != network(Scenario.load(marker.runs.file(scenario)))
    assert 'student: "ada lovelace"' in (tmp_path / "own" / "answers.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lab", "start", "incast", "--student", "ada"), "the same networks for all students"),
        (("lab", "start", "bufferbloat", "--student", " "), "--student: the value is empty"),
        (("grade", "incast", ".", "--personal"), "the same networks for all"),
    ],
)
def test_what_has_no_effect_is_refused(ackclock, arguments, said):
    done = ackclock(*arguments)
    assert done.code == 2
    assert said in done.err


def test_a_wrong_file_of_networks_is_named(tmp_path):
    folder = tmp_path / "own"
    writing.teacher(Marker(LAB, Hidden(LAB, 0), Limits()), folder)
    own = labs.find(str(folder))
    (folder / "personal.yaml").write_text("blaot: {links.bottleneck.rate: [1 Mbps]}\n", "utf-8")
    with pytest.raises(ScenarioError, match="did you mean 'bloat'"):
        personal.networks(own, "ada")
    (folder / "personal.yaml").write_text("bloat: {links.bottleneck.rate: 1 Mbps}\n", "utf-8")
    with pytest.raises(ScenarioError, match="list of values"):
        personal.networks(own, "ada")
    (folder / "personal.yaml").write_text(
        "# ours\nbloat:\n  links.bottleneck.rate: [1 kg]\n", "utf-8"
    )
    with pytest.raises(ScenarioError, match=r"personal\.yaml:\d:\d: bloat: links.bottleneck.rate"):
        personal.networks(own, "ada")
    (folder / "personal.yaml").unlink()
    with pytest.raises(InputError, match="same networks"):
        personal.networks(own, "ada")


def _zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def test_an_archive_is_a_submission(marker, tmp_path):
    folder = _solved(tmp_path / "a", marker)
    files = {f"handed-in/{file.name}": file.read_bytes() for file in folder.iterdir()}
    path = _zip(tmp_path / "ada.zip", {**files, "__MACOSX/handed-in/answers.yaml": "x"})
    done = grade(marker, path)
    assert (done.name, done.points) == ("ada", LAB.points)


def test_of_two_files_of_one_name_in_an_archive_the_grade_says_which_counts(marker, tmp_path):
    path = _zip(tmp_path / "ada.zip", {"new/answers.yaml": "lab: x", "old/answers.yaml": "lab: y"})
    with archives.opened(path) as (folder, remarks):
        assert (folder / "answers.yaml").read_text(encoding="utf-8") == "lab: y"
    assert remarks == ["The archive has 2 files answers.yaml: 'old/answers.yaml' counts."]
    assert grade(marker, path).remarks[0] == remarks[0]


def test_no_path_of_an_archive_leads_out(tmp_path):
    link = zipfile.ZipInfo("answers.yaml")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../formulas.py", "x = 1")
        archive.writestr("..\\..\\other.py", "x = 2")
        archive.writestr(link, "/etc/passwd")
    with archives.opened(path) as (folder, _):
        assert list(folder.rglob("*")) == []
    assert not folder.exists()
    assert [file.name for file in tmp_path.iterdir()] == ["evil.zip"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"answers.yaml": b"#" * (3 << 20)}, "larger than 1 MiB"),
        ({f"{n}.py": b"" for n in range(101)}, "more than 100"),
        (None, "cannot be unpacked"),
    ],
)
def test_an_archive_that_is_too_much_is_refused(files, said, tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\3\4 broken") if files is None else _zip(path, files)
    with pytest.raises(archives.ArchiveError, match=said), archives.opened(path):
        pass


@pytest.mark.slow
def test_many_submissions_some_of_them_archives(marker, ackclock, tmp_path):
    many = tmp_path / "many"
    many.mkdir()
    folder = _solved(many / "ada", marker.of_student("ada"))
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    _zip(many / "copy.zip", files)
    (many / "broken.zip").write_bytes(b"PK")
    done = ackclock("grade", "bufferbloat", "many", "--csv", "grades.csv", "--personal")
    assert done.code == 1
    assert "not graded: broken.zip" in done.err
    text = (tmp_path / "grades.csv").read_text(encoding="utf-8")
    rows = {row["submission"]: row for row in csv.DictReader(io.StringIO(text))}
    assert rows["ada"]["points"] == rows["copy"]["points"] == "14"
    assert rows["ada"]["student"] == "ada"
    assert "'ada' has the networks of this student, too" in rows["copy"]["remarks"]
    assert "'copy' has the networks of this student, too" in rows["ada"]["remarks"]
    before = (tmp_path / "grades.csv").read_bytes()
    ackclock("grade", "bufferbloat", "many", "--csv", "grades.csv", "--personal")
    assert (tmp_path / "grades.csv").read_bytes() == before
    assert "cannot be unpacked" in rows["broken"]["remarks"]


@pytest.mark.slow
def test_with_a_secret_nobody_else_can_draw_the_networks(ackclock, tmp_path):
    key = tmp_path / "secret.txt"
    key.write_text("of which nobody knows\n", encoding="utf-8")
    secret = personal.secret_of(key)
    drawn = {
        str(personal.networks(LAB, "ada", one)) for one in (None, secret, b"another of some length")
    }
    assert len(drawn) > 1
    start = ("lab", "start", "bufferbloat", "--student", "ada", "--secret", str(key))
    assert ackclock(*start, "--out", "own").code == 0
    marker = Marker(LAB, Hidden(LAB, 0), Limits(), secret=secret)
    ada = marker.of_student("ada")
    done = grade(marker, _solved(tmp_path / "a", ada), own=True)
    assert done.points == done.most
    assert "drawn: with a secret" in (tmp_path / "a" / "answers.yaml").read_text(encoding="utf-8")
    without = grade(Marker(LAB, Hidden(LAB, 0), Limits()), tmp_path / "a")
    assert without.points == 4  # the function, which is tried on other networks
    assert any("--secret FILE" in remark for remark in without.remarks)


def test_a_name_is_the_same_however_its_letters_are_put_together():
    assert personal.student("Zoe\u0301  M\u00dcLLER") == personal.student("zo\u00e9 mu\u0308ller")


def test_a_secret_is_the_same_with_what_editors_add(tmp_path):
    plain, marked = tmp_path / "plain", tmp_path / "marked"
    plain.write_text("of which nobody knows", encoding="utf-8")
    marked.write_text("of which nobody knows\r\n", encoding="utf-8-sig")
    assert personal.secret_of(plain) == personal.secret_of(marked)


def test_a_secret_has_to_be_one(ackclock, tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("abc", encoding="utf-8")
    for more, said in [
        (("--secret", str(short), "--student", "ada"), "fewer than 8 characters"),
        (("--secret", str(tmp_path / "none"), "--student", "ada"), "cannot be read"),
    ]:
        done = ackclock("lab", "start", "bufferbloat", *more, "--out", "own")
        assert (done.code, said in done.err) == (2, True)
    short.write_text("long enough", encoding="utf-8")
    done = ackclock("lab", "start", "bufferbloat", "--secret", str(short), "--out", "own")
    assert done.code == 2
    assert "give --student, too" in done.err
