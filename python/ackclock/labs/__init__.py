"""Labs: experiments with questions, and the marking of their answers.

A lab is a folder: `lab.py` describes it, `page.md` is what students read, `hidden.yaml` the
networks that they do not see, `solution/` what a student could hand in for all points. See
docs/labs.md.
"""

from __future__ import annotations

import dataclasses
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

from ackclock.errors import InputError, path_of, unknown
from ackclock.labs.faults import PROGRAM, faults_of
from ackclock.labs.questions import (
    Choice,
    Controller,
    Criterion,
    Formula,
    Lab,
    Mistake,
    Number,
    Question,
)

__all__ = [
    "Choice",
    "Controller",
    "Criterion",
    "Formula",
    "Lab",
    "Mistake",
    "Number",
    "Question",
    "exists",
    "find",
    "names",
]

_HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the labs of the package.

    Example:
        >>> from ackclock import labs
        >>> "bufferbloat" in labs.names()
        True
    """
    return sorted(file.parent.name for file in _HERE.glob(f"*/{PROGRAM}"))


def exists(name_or_folder: str) -> bool:
    """Return whether a lab of the package has this name, or is in this folder."""
    return name_or_folder in names() or (Path(name_or_folder) / PROGRAM).is_file()


def find(name_or_folder: str) -> Lab:
    """Return a lab of the package, or the one in a folder of your own.

    What its program prints while it is loaded goes to standard error.

    Raises:
        InputError: there is none, or its program has a mistake.

    Example:
        >>> from ackclock import labs
        >>> lab = labs.find("bufferbloat")
        >>> lab.points, [question.name for question in lab.questions][:2]
        (14.0, ['longest_wait', 'mean_wait'])
    """
    known = names()
    place = path_of("name_or_folder", name_or_folder, "the name of a lab, or a folder")
    folder = _HERE / place if name_or_folder in known else place
    folder = folder.absolute()
    file = folder / PROGRAM
    if not file.is_file():
        if folder.is_dir():
            raise InputError(f"'{name_or_folder}' is not a lab: it has no {PROGRAM}")
        raise InputError(unknown("lab", name_or_folder, known))
    with redirect_stdout(sys.stderr), faults_of(folder):
        described = runpy.run_path(str(file)).get("LAB")
    if not isinstance(described, Lab):
        raise InputError(f"'{name_or_folder}': its {PROGRAM} sets no LAB")
    return dataclasses.replace(described, folder=folder)
