"""What a student hands in: a file of answers, and programs."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ackclock.document import Document
from ackclock.errors import InputError, Problem, ScenarioError, nearest
from ackclock.labs import personal
from ackclock.labs.questions import ANSWERS, Choice, Lab, Number

_MOST_BYTES = 1 << 20
_MOST_FILES = 100
SUFFIXES = (".py", ".yaml", ".yml")
"""How names of answers and programs end, in small letters."""


@dataclass(frozen=True)
class Submission:
    """A folder that a student handed in.

    Attributes:
        folder: The folder.
        answers: Values by question; None where nothing was written.
        problems: What is wrong with the file of answers, apart from the answers themselves.
        student: Whose networks the answers are of; None for those of the lab.
    """

    folder: Path
    answers: dict[str, Any]
    problems: tuple[str, ...]
    student: str | None = None
    secret: bool = False


def read(lab: Lab, folder: Path) -> Submission:
    """Read what a student handed in; whatever is wrong with the file is kept as a sentence.

    Raises:
        InputError: there is no such folder.
    """
    asked = [one.name for one in lab.questions if isinstance(one, Number | Choice)]
    found = read_for(asked, folder, lab.name)
    if found.student is not None and not personal.is_personal(lab):
        said = f"{ANSWERS}: `student` has no effect; all have the networks of this lab"
        return replace(found, problems=(*found.problems, said), student=None, secret=False)
    return found


def read_for(asked: Sequence[str], folder: Path, lab: str | None) -> Submission:
    """Read the answers to questions of these names, as `read`.

    Args:
        asked: Names of questions.
        folder: What a student handed in.
        lab: Name of the lab; None if it is not known.
    """
    if not folder.is_dir():
        is_file = f"'{folder}' is a file; give the folder that it is in"
        raise InputError(is_file if folder.exists() else f"no such folder: '{folder}'")
    file = folder / ANSWERS
    nothing: dict[str, Any] = dict.fromkeys(asked)
    if not asked:
        return Submission(folder, nothing, ())
    if not is_plain(file):
        said = f"there is no {ANSWERS} in the folder{alike(file)}"
        if inner := sorted(folder.glob(f"*/{ANSWERS}")):
            said += f", but in '{inner[0].parent.name}' within it: hand in that folder"
        if any(folder.glob("*.ipynb")):
            said += f"; a notebook does not count, whether it was run or not: write into {ANSWERS}"
        return Submission(folder, nothing, (said,))
    try:
        document = Document.read(file, f"lab: {lab or 'NAME'}")
    except (ScenarioError, InputError) as error:
        wrong = error.problems if isinstance(error, ScenarioError) else (Problem(str(error)),)
        return Submission(folder, nothing, tuple(f"{ANSWERS}: {_placed(one)}" for one in wrong))
    problems = []
    if "lab" not in document.data:
        problems.append(f"{ANSWERS}: `lab: {lab or 'NAME'}` is missing")
    given = document.data.get("answers")
    # A lab of one's own may have been renamed or copied: what it asks for says which it is.
    named = document.data.get("lab", lab)
    if lab is not None and named != lab and not (isinstance(given, dict) and {*given} == {*asked}):
        problems.append(f"{ANSWERS}: `lab` is {named!r}, not '{lab}'")
    if not isinstance(given, dict):
        problems.append(f"{ANSWERS}: `answers` needs an answer after the name of each question")
        given = {}
    for name in given:
        if name not in asked:
            close = nearest(str(name), asked, 1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            problems.append(f"{ANSWERS}: there is no question '{name}'{hint}")
    who = personal.student(document.data.get(personal.STUDENT))
    secret = who is not None and document.data.get(personal.DRAWN) == personal.BY_SECRET
    return Submission(
        folder, {name: given.get(name) for name in asked}, tuple(problems), who, secret
    )


def _placed(problem: Problem) -> str:
    hint = f"; {problem.hint}" if problem.hint else ""
    place = f"line {problem.line}: " if problem.line else ""
    return f"{place}{problem.message}{hint}"


def is_plain(file: Path) -> bool:
    """Return whether this is a file of a sane size, and not a link to somewhere else."""
    return file.is_file() and not file.is_symlink() and file.stat().st_size <= _MOST_BYTES


def alike(file: Path) -> str:
    """Return what to say where a file is missing: that one of a similar name is there.

    Browsers write `answers (1).yaml` for a second download, editors may choose another ending.
    """
    wanted = (_plain_stem(file), _ending(file))
    for one in files(file.parent):
        if (_plain_stem(one), _ending(one)) == wanted:
            return f"; '{one.name}' must be called {file.name} to count"
    return ""


def _plain_stem(file: Path) -> str:
    return re.sub(r"[\W_]*(?:copy|\d+)?[\W_]*$", "", file.stem.casefold())


def _ending(file: Path) -> str:
    return file.suffix.lower().replace(".yml", ".yaml")


def files(folder: Path) -> list[Path]:
    """Return the files of a submission that count: answers and programs."""
    found = [file for file in sorted(folder.glob("*")) if file.suffix.lower() in SUFFIXES]
    return [file for file in found if is_plain(file)][:_MOST_FILES]


def fingerprint(folder: Path) -> str:
    """Return 16 hexadecimal digits that differ if the submission does."""
    made = hashlib.sha256()
    for file in files(folder) if folder.is_dir() else [folder]:
        data = file.read_bytes()
        made.update(f"{file.name}\0{len(data)}\0".encode() + data)
    return made.hexdigest()[:16]


def copy_programs(folder: Path, to: Path) -> None:
    """Copy the programs of a submission."""
    for file in files(folder):
        if file.suffix.lower() == ".py":
            shutil.copyfile(file, to / file.name)
