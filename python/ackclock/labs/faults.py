"""Mistakes in a teacher's lab, as errors with the line of its program."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ackclock.errors import AckclockError, InputError

PROGRAM = "lab.py"


@contextmanager
def faults_of(folder: Path) -> Iterator[None]:
    """Let what a lab's own program raises be an error that names its line.

    Raises:
        InputError: the program is not Python, has raised something, or has called `exit()`.
        AckclockError: a run has failed; bad input that this program has not given.
    """
    try:
        yield
    except (Exception, SystemExit) as error:  # whatever the mistakes of a teacher lead to
        line = _line(error, folder.absolute() / PROGRAM)
        ours = isinstance(error, AckclockError) and not isinstance(error, InputError)
        if ours or (isinstance(error, InputError) and line is None):
            raise
        place = PROGRAM if line is None else f"{PROGRAM} line {line}"
        raise InputError(f"{place}: {_words(error)}") from None


def _line(error: BaseException, program: Path) -> int | None:
    """Return the line of the program that has led to an error, if any has."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [one.lineno for one in frames if Path(one.filename) == program]
    if lines:
        return lines[-1]
    if isinstance(error, SyntaxError) and error.filename == str(program):
        return error.lineno
    return None


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "the program called exit()"
    if isinstance(error, AckclockError):
        return str(error)
    if isinstance(error, SyntaxError):
        return error.msg
    return traceback.format_exception_only(error)[-1].strip()
