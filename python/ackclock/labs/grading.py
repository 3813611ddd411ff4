"""Grades submissions: one, or a folder of them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.errors import AckclockError, InputError, save_as_utf8
from ackclock.files import write_text
from ackclock.labs import answers, archives, programs
from ackclock.labs.marking import Mark, Marker, as_word, ended, not_a_word
from ackclock.labs.programs import Limits
from ackclock.labs.questions import ANSWERS, Choice, Lab, Number
from ackclock.labs.units import Unit, UnitError
from ackclock.labs.writing import asked_for


@dataclass(frozen=True)
class Grade:
    """What a submission earns.

    Attributes:
        lab: The lab.
        name: Name of the submission's folder.
        marks: By question, in the order of the lab.
        remarks: What is wrong with the submission as a whole.
        student: Whose networks its figures are of.
    """

    lab: Lab
    name: str
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...]
    student: str | None = None

    @property
    def points(self) -> float:
        """The sum of the points."""
        return round(sum(mark.points for mark in self.marks), 2)

    @property
    def most(self) -> float:
        """The most that there was to earn."""
        return sum(mark.most for mark in self.marks)


def grade(marker: Marker, place: Path, *, name: str | None = None, own: bool = False) -> Grade:
    """Grade one submission, a folder or a .zip file.

    Args:
        marker: Marks answers.
        place: The submission.
        name: What it is called; default the name of its folder or file.
        own: Whether each student must have networks of their own: figures without a student's name
            earn nothing.

    Raises:
        InputError: there is no such folder, or the archive cannot be read.
        ScenarioError: the lab, or its hidden networks, cannot be run.
    """
    with archives.opened(place) as (folder, remarks):
        return _graded(marker, folder, name or place.absolute().stem, own, remarks)


def _graded(marker: Marker, folder: Path, name: str, own: bool, remarks: list[str]) -> Grade:
    submission = answers.read(marker.lab, folder)
    remarks, personal = [*remarks, *submission.problems], marker.of_student(submission.student)
    if submission.student is not None:
        remarks.append(f"Figures are marked for the networks of student '{submission.student}'.")
    unknown = submission.secret and marker.secret is None
    if unknown:
        remarks.append("These networks were drawn with a secret, which --secret FILE has to give.")
    marks = []
    for question in marker.lab.questions:
        answer = submission.answers.get(question.name)
        figure = isinstance(question, Number | Choice)
        if figure and own and submission.student is None:
            said = f"{ANSWERS} does not say whose networks these are: `student: NAME`."
            marks.append(Mark(question.name, 0.0, question.points, said))
            continue
        if figure and unknown:
            said = "Not marked: the networks of this student were drawn with a secret."
            marks.append(Mark(question.name, 0.0, question.points, said))
            continue
        try:
            # Programs are tried on networks that are the same for all.
            marks.append((personal if figure else marker).mark(question, answer, folder))
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            if isinstance(error, AckclockError):
                raise
            said = f"The answer could not be marked: {error}"
            marks.append(Mark(question.name, 0.0, question.points, said))
    return Grade(marker.lab, name, tuple(marks), tuple(remarks), submission.student)


def check(marker: Marker, folder: Path) -> list[tuple[str, str, bool]]:
    """Look at a student's work: what is missing, what cannot be, and what is known to be wrong.

    Returns:
        Question, what there is to say, and whether it is in order. Nothing is said about whether
        an answer is right unless the question is public.
    """
    submission = answers.read(marker.lab, folder)
    marker = marker.of_student(submission.student)
    found = [("", problem, False) for problem in submission.problems]
    for question in marker.lab.questions:
        if not isinstance(question, Number | Choice):
            mark = marker.try_program(question, folder)
            feedback = mark.feedback
            if mark.full:
                feedback = "Right on the network of the lab."
            found.append((question.name, feedback, mark.full))
            continue
        answer = submission.answers[question.name]
        if answer is not None and question.public and not submission.secret:
            mark = marker.mark(question, answer, folder, final=False)
            found.append((question.name, mark.feedback, mark.full))
        else:
            found.append((question.name, *_readable(question, answer)))
    return found


def check_alone(folder: Path, limits: Limits) -> list[tuple[str, str, bool]]:
    """Look at a student's work without its lab: can answers be read, and programs be loaded?

    Questions are those that `answers.yaml` names.

    Args:
        folder: The student's work.
        limits: Of each program.

    Returns:
        As `check`.
    """
    questions = asked_for(folder / ANSWERS)
    submission = answers.read_for([one.name for one in questions], folder, None)
    found = [("", problem, False) for problem in submission.problems]
    found += [(one.name, *_readable(one, submission.answers[one.name])) for one in questions]
    for file in answers.files(folder):
        if file.suffix == ".py":
            (case,) = programs.run(folder, {"kind": "load", "file": file.name}, [None], limits)
            found.append((file.name, case.fault or "Can be loaded.", case.fault is None))
    return found


def _readable(question: Number | Choice, answer: Any) -> tuple[str, bool]:
    """Return whether an answer can be read and can be right, in words and as a flag."""
    if answer is None:
        return "No answer yet.", False
    if isinstance(question, Choice):
        known = as_word(answer) in question.options
        return ("Readable.", True) if known else (not_a_word(question, answer), False)
    unit = Unit.of(question.unit)
    try:
        given = unit.read(answer)
    except UnitError as error:
        return ended(f"This cannot be read: {error}"), False
    if not question.least <= given <= question.most:
        return f"{unit.show(given)} is not possible; check it.", False
    return f"Readable: {unit.show(given)}.", True


def submissions(folder: Path) -> list[Path]:
    """Return the folders and .zip files of a folder of submissions, in the order of their names."""
    if not folder.is_dir():
        raise InputError(f"no such folder: '{folder}'")
    found = [
        one
        for one in folder.iterdir()
        if (one.is_dir() or archives.is_archive(one)) and not one.name.startswith(".")
    ]
    return sorted(found, key=lambda one: one.name)


def left_out(folder: Path) -> list[str]:
    """Return the names of what is in a folder of submissions and cannot be one, but for tables."""
    counted = {*submissions(folder)}
    return sorted(
        one.name
        for one in folder.iterdir()
        if one not in counted and not one.name.startswith(".") and one.suffix != ".csv"
    )


def holds_one(lab: Lab, folder: Path) -> bool:
    """Return whether this folder is one submission, rather than many."""
    return any((folder / name).is_file() for name in (ANSWERS, *lab.programs))


@dataclass(frozen=True)
class BulkProgress:
    """How far the grading of many submissions is."""

    done: int
    total: int
    name: str


@dataclass(frozen=True)
class Bulk:
    """What came of many submissions: how many were graded now, and before; those that failed."""

    graded: int
    before: int
    failed: tuple[str, ...]


def grade_all(
    marker: Marker,
    folder: Path,
    table: Path,
    identity: str,
    progress: Callable[[BulkProgress], None] | None = None,
    each: Callable[[Grade], None] | None = None,
    *,
    own: bool = False,
) -> Bulk:
    """Grade all submissions of a folder into a table, which is complete after each of them.

    A submission that is in the table already, and has not changed since, is not graded again. One
    that cannot be graded gets a row that says why.

    Args:
        marker: Marks answers.
        folder: One folder for each submission.
        table: A file of comma-separated values.
        identity: What else decides over grades: lab, seed, hidden networks, version.
        progress: Called before each submission.
        each: Called with each new grade.
        own: As of `grade`.
    """
    names = [question.name for question in marker.lab.questions]
    head = ["submission", "student", "points", "most", "percent", *names, "remarks", "key"]
    before = _rows(table, head)
    rows: list[dict[str, str]] = []
    graded, kept, failed = 0, 0, []
    todo = submissions(folder)
    if not todo:
        raise InputError(
            f"'{folder}' holds no submissions; each is a folder of its own, or a .zip file"
        )
    called = _called(todo)
    students: dict[str, dict[str, str]] = {}
    for i, one in enumerate(todo):
        if progress is not None:
            progress(BulkProgress(i, len(todo), one.name))
        name = _cell(called[one])
        key = f"{identity} {own} {answers.fingerprint(one)}"
        key = hashlib.sha256(key.encode()).hexdigest()[:16]
        old = before.get(name)
        if old is not None and old["key"] == key:
            rows.append(old)
            _compare(old, students)
            kept += 1
            continue
        row = {"submission": name, "key": key}
        try:
            found = grade(marker, one, name=called[one], own=own)
            row["student"] = _cell(found.student or "")
            row |= {mark.question: f"{mark.points:g}" for mark in found.marks}
            row |= {"points": f"{found.points:g}", "most": f"{found.most:g}"}
            row["percent"] = f"{100 * found.points / found.most:.1f}"
            row["remarks"] = _cell("; ".join(remark.rstrip(".") for remark in found.remarks))
            _compare(row, students)
            graded += 1
            if each is not None:
                each(found)
        except (OSError, archives.ArchiveError) as error:
            # Not a fault of the lab, which would be the same for all.
            failed.append(one.name)
            row |= {"remarks": _cell(f"not graded: {error}"), "key": ""}
        rows.append(row)
        later = [before[_cell(called[o])] for o in todo[i + 1 :] if _cell(called[o]) in before]
        _write(table, head, [*rows, *later])
    _write(table, head, rows)
    return Bulk(graded, kept, tuple(failed))


def _compare(row: dict[str, str], students: dict[str, dict[str, str]]) -> None:
    """Remark in both rows where a submission has the networks of a student that one had before."""
    if not row["student"]:
        return
    first = students.setdefault(row["student"], row)
    for one, other in ((first, row), (row, first)):
        said = f"'{other['submission']}' has the networks of this student, too"
        if one is not other and said not in one["remarks"]:
            one["remarks"] = "; ".join(filter(None, (one["remarks"], said)))


def _called(submissions: list[Path]) -> dict[Path, str]:
    """What submissions are called: archives without their suffix, unless there is such a folder."""
    folders = {one.name for one in submissions if one.is_dir()}
    return {
        one: one.name if one.is_dir() or one.stem in folders else one.stem for one in submissions
    }


def _write(table: Path, head: list[str], rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, head, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(table, text.getvalue())


def _rows(table: Path, head: list[str]) -> dict[str, dict[str, str]]:
    if not table.exists():
        return {}
    try:
        # Spreadsheets save a byte order mark and, in some countries, semicolons.
        with table.open(encoding="utf-8-sig", newline="") as stream:
            begins = stream.readline()
            stream.seek(0)
            reader = csv.DictReader(stream, delimiter=";" if f"{head[0]};" in begins else ",")
            if reader.fieldnames != head:
                raise InputError(
                    f"'{table}' is not a table of grades of this lab; choose another with --csv"
                )
            return {row["submission"]: row for row in _whole(reader)}
    except UnicodeDecodeError:
        raise InputError(f"'{table}' is not a table of grades; {save_as_utf8(b'')}") from None
    except csv.Error as error:
        raise InputError(f"'{table}' is not a table of grades: {error}") from None


def _whole(reader: csv.DictReader[str]) -> Iterator[dict[str, str]]:
    for row in reader:
        if None not in row and None not in row.values():
            yield row


def _cell(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return f"'{plain}" if plain[:1] in ("=", "+", "-", "@") else plain
