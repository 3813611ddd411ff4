"""What is reported when a controller fails."""

from __future__ import annotations

import inspect
import linecache
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ackclock.errors import InputError, printable

ORIGINS: set[str] = set()
"""Names of programs that were loaded, as they stand in tracebacks."""


class ControllerError(InputError):
    """A controller in Python failed. `results` holds what was simulated until then.

    Attributes:
        file: The program, as the scenario names it; empty where the place is not known.
        line: The line of the program, from 1; None where it is not known.
        flow: The flow; of a queue discipline the link.
        time_s: Simulated time, seconds; None before the run.
    """

    def __init__(
        self, message: str, file: str, line: int | None, flow: str, time_s: float | None
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.flow = flow
        self.time_s = time_s
        self.results: Any = None


class CallLimitError(Exception):
    """Interrupts a call of a controller that has not come to an end."""


@dataclass
class Limit:
    """The time that a call may take, and whether one was interrupted for it."""

    seconds: float = 10.0
    expired: bool = False


LIMIT = Limit()


def explain(
    error: BaseException,
    flow: str,
    time_s: float | None,
    what: str = "flow",
    method: Any = None,
) -> BaseException:
    """Return the exception that a run raises for one of a controller, of a flow or a link.

    An answer that cannot be used has no line of its own: the place is then that of the `method`.
    """
    if isinstance(error, ControllerError) and error.__traceback__ is None:
        return error  # of compiled code, which knows its place
    late = LIMIT.expired and isinstance(error, KeyboardInterrupt | CallLimitError)
    if isinstance(error, KeyboardInterrupt) and not late:
        return error
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in ORIGINS]
    words = traceback.format_exception_only(error)[0].strip()
    if late:
        words = f"the call had not ended after {LIMIT.seconds:g} s, and was interrupted"
    file, line, name = "", None, ""
    if frames:
        file, line, name = frames[-1].filename, frames[-1].lineno, frames[0].name
    elif code := getattr(inspect.unwrap(method), "__code__", None) if method else None:
        file, line, name = code.co_filename, code.co_firstlineno, code.co_name
    made = report(words, file, line, name, flow, time_s, what)
    with suppress(AttributeError):
        made.__cause__ = error
    return made


def report(
    what: str,
    file: str,
    line: int | None,
    method: str,
    flow: str,
    time_s: float | None,
    owner: str = "flow",
) -> ControllerError:
    """Return the error for something that happened in this line of a program."""
    what, code = printable(what), ""
    if line is not None:
        source = linecache.getline(file, line).strip()
        code = f"\n    {printable(source)}" if source else ""
        what = f"{file}:{line}: {what}"
    within = f"in {method}, " if method else ""
    at = "" if time_s is None else f", at {time_s:.6g} s of simulated time"
    return ControllerError(f"{what}{code}\n  {within}{owner} {flow}{at}", file, line, flow, time_s)
