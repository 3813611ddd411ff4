"""Errors a user can act on: what is wrong, where, what is allowed, how to fix it."""

from __future__ import annotations

import difflib
import json
import math
import operator
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, SupportsIndex, cast

_LISTS = {"scenario": "list scenario", "plot": "list plot", "lab": "lab list"}
"""Commands that show all things of a kind."""

_MOST_KNOWN = 40
"""How many of other kinds an error names: all columns of any table, but not a thousand flows."""

_MOST_BITS = 1024
"""Whole numbers with more bits than this are too large for a float, and too long to show."""

A_RUN = "the results of a run, as `ackclock.run` returns them"


class AckclockError(Exception):
    """An error with a message meant for the user; the command line shows it without traceback.

    `exit_code` is the exit status of the command line: 1 when a run or a comparison failed.
    """

    exit_code = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is sent to another process: the words as they are, and all attributes."""
        return _again, (type(self), self.args), dict(vars(self))


def _again(kind: type[AckclockError], words: tuple[Any, ...]) -> AckclockError:
    return kind.__new__(kind, *words)


class InputError(AckclockError, ValueError):
    """Something given by the user is wrong: a name, an option, a file. Exit status 2."""

    exit_code = 2


class EngineFault(AckclockError):  # noqa: N818
    """The engine has met a state that it holds for impossible: a fault of Ackclock."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"a fault of the engine: {what}\n  hint: please report it with the scenario"
        )


class Problem(NamedTuple):
    """One thing that is wrong with a scenario.

    `path` names the value as `--set` would (`links.L1.rate`; empty for the whole document).
    `file` is the file, or the override the value came from; `line` and `column` count from 1 and
    are None where a place is not known. `value` is what stands there (None: nothing worth showing).
    """

    message: str
    path: str = ""
    value: Any = None
    allowed: str | None = None
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the problem as a plain mapping with the fields of this class."""
        return self._asdict()

    def _place(self) -> str:
        parts = [self.file] if self.file else []
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)

    def render(self, *, colour: bool = False) -> str:
        """Return `file:line:col: path: message`, then value, allowed values and hint, indented."""
        bold, red, dim, reset = (
            ("\x1b[1m", "\x1b[31m", "\x1b[2m", "\x1b[0m") if colour else [""] * 4
        )
        head = []
        if place := self._place():
            head.append(f"{bold}{printable(place)}{reset}")
        if self.path and not (self.file or "").startswith("--"):
            head.append(f"{bold}{printable(self.path)}{reset}")
        head.append(f"{red}{printable(self.message)}{reset}")
        lines = [": ".join(head)]
        if self.value is not None:
            lines.append(f"    {dim}value:{reset}   {_shown(self.value)}")
        if self.allowed:
            lines.append(_field("allowed:", self.allowed, dim, reset))
        if self.hint:
            lines.append(_field("hint:   ", self.hint, dim, reset))
        return "\n".join(lines)


class ScenarioError(InputError):
    """A scenario that cannot be run. `problems` holds everything that is wrong with it.

    Example:
        >>> import ackclock
        >>> try:
        ...     ackclock.Scenario.load("teach/tail-loss", [("flows.probe.send", "3")])
        ... except ackclock.ScenarioError as error:
        ...     print(error.problems[0].path, "|", error.problems[0].message)
        flows.probe.send | `3` has no unit
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(render(self.problems))


def render(problems: Sequence[Problem], *, colour: bool = False) -> str:
    """Return all problems as text for a terminal, one after the other."""
    return "\n".join(rendered(problems, colour=colour))


def rendered(problems: Iterable[Problem], *, colour: bool = False) -> list[str]:
    """Return problems as texts, each once: what is set in all flows is wrong in each of them."""
    return list(dict.fromkeys(problem.render(colour=colour) for problem in problems))


def refuse(name: str, given: object, wanted: str) -> NoReturn:
    """Raise the error about an argument of a function that is not what is needed."""
    if isinstance(given, type):
        shown = f"the class `{given.__name__}`"
    elif isinstance(given, int) and given.bit_length() > _MOST_BITS:
        shown = f"a number of {given.bit_length()} bits"
    elif given is None or isinstance(given, str | int | float | tuple):
        shown = repr(given)
    else:
        shown = f"of the class `{type(given).__name__}`"
    raise InputError(f"`{name}` is {shown}; needed is {wanted}")


def path_of(name: str, given: object, wanted: str = "a path, as text or `Path`") -> Path:
    """Return the argument of this name as a path.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(given, str | PathLike) or not str(given) or "\0" in str(given):
        refuse(name, given, wanted)
    return Path(given)


def whole_number(name: str, given: object, most: int | None = None) -> int:
    """Return the argument of this name, a whole number of Python or numpy; from 1 to `most`.

    Raises:
        InputError: it is something else.
    """
    wanted = "a whole number" + (", such as 2" if most is None else f" from 1 to {most}")
    # Classes and arrays have the method without being numbers.
    if not isinstance(given, bool):
        with suppress(TypeError):
            number = operator.index(cast("SupportsIndex", given))
            if most is not None and not 1 <= number <= most:
                refuse(name, given, wanted)
            return number
    refuse(name, given, wanted)


def must_have(given: object, *needed: str, name: str = "results", wanted: str = A_RUN) -> None:
    """Check that an argument has what is needed of the results of a run, and is no class.

    Raises:
        InputError: it has not.
    """
    if isinstance(given, type) or not all(hasattr(given, attribute) for attribute in needed):
        refuse(name, given, wanted)


def function_of(name: str, given: object) -> None:
    """Check that an optional argument can be called.

    Raises:
        InputError: it cannot.
    """
    if given is not None and not callable(given):
        refuse(name, given, "a function of one argument")


def number_of(name: str, given: Any, above: float | None = None) -> Any:
    """Return an optional argument, a number of Python or numpy, above `above` if that is given.

    Raises:
        InputError: it is something else.
    """
    return None if given is None else real_of(name, given, above)


def real_of(
    name: str, given: Any, above: float | None = None, *, least: float = -math.inf
) -> float:
    """Return an argument, a number of Python or numpy, above `above` and not below `least`.

    Raises:
        InputError: it is something else, or not a number.
    """
    if isinstance(given, Real) and not isinstance(given, bool):
        with suppress(OverflowError):
            size = float(given)
            if size >= least and (above is None or size > above):
                return given if isinstance(given, int | float) else size
    allowed = "" if above is None else f" above {above:g}"
    allowed += "" if least == -math.inf else f", {least:g} or above"
    refuse(name, given, f"a number{allowed}")


def flag_of(name: str, given: Any) -> bool:
    """Return an argument that is true or false.

    Raises:
        InputError: it is something else.
    """
    # Comparisons of numpy give a class of its own.
    if isinstance(given, str) or str(given) not in ("True", "False"):
        refuse(name, given, "True or False")
    return bool(given)


def span_of(name: str, given: Any) -> tuple[float, float] | None:
    """Return an optional argument, a span of time in seconds.

    Raises:
        InputError: it is something else.
    """
    if given is None:
        return None
    try:
        start_s, end_s = given
        if 0 <= number_of(name, start_s) < number_of(name, end_s):
            return float(start_s), float(end_s)
    except (TypeError, ValueError):
        pass
    refuse(name, given, "a start and a later end in seconds, such as (1, 2.5)")


def outside(from_s: float, to_s: float, end_s: float) -> InputError:
    """Return the error about a span of time in which nothing of a run is."""
    end = min(to_s, end_s)
    return InputError(
        f"nothing of the run is between {from_s:g} s and {end:g} s; it lasts {end_s:g} s"
    )


def pairs_of(name: str, given: object) -> list[tuple[str, Any]]:
    """Return the paths and values that an argument gives.

    Raises:
        InputError: it is something else.
    """
    pairs = None if isinstance(given, Mapping) else several(given)
    if pairs is None or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs
    ):
        refuse(name, given, "a list of paths and values, such as [('links.L1.rate', '5 Mbps')]")
    return pairs


def mapping_of(
    name: str,
    given: object,
    wanted: str = "a mapping of names to values",
    values: type = object,
) -> dict[str, Any]:
    """Return an optional argument, a mapping of texts to values of this type; empty for None.

    Raises:
        InputError: it is something else.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(key, str) and isinstance(value, values) for key, value in given.items()
    ):
        refuse(name, given, wanted)
    return dict(given)


def names_of(name: str, given: object, such_as: str) -> list[str]:
    """Return the names that an argument gives: one as text, or several.

    Raises:
        InputError: it is something else.
    """
    found = [given] if isinstance(given, str) else several(given)
    if found is None or not all(isinstance(one, str) for one in found):
        refuse(name, given, f"a name such as '{such_as}', or a list of names")
    return found


def text_of(name: str, given: Any, such_as: str) -> Any:
    """Return an optional argument, a name.

    Raises:
        InputError: it is something else.
    """
    if given is not None and not isinstance(given, str):
        refuse(name, given, f"a name such as '{such_as}'")
    return given


def several(given: object) -> list[Any] | None:
    """Return what a list holds, or anything like one; none of text, and of what is none."""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        with suppress(TypeError):  # arrays without a dimension seem to be iterable
            return list(given)
    return None


def nearest(name: str, choices: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` of `choices` that look like `name`, the most similar first.

    Names that contain it come first, so that `test-case-0` finds `caltech/test-case-0-fast`.
    """
    known = list(dict.fromkeys(choices))
    lowered: dict[str, str] = {}
    for choice in known:
        lowered.setdefault(choice.lower(), choice)
    wanted = name.lower()
    found = [c for c in known if wanted in c.lower()] if len(wanted) >= 3 else []
    found += [lowered[m] for m in difflib.get_close_matches(wanted, lowered, count, cutoff=0.6)]
    return list(dict.fromkeys(found))[:count]


def unknown(kind: str, name: object, choices: Iterable[str]) -> str:
    """Return the message for a name that does not exist, with the nearest names or all of them."""
    known = sorted(set(choices))
    if not isinstance(name, str):
        refuse(kind, name, f"a name; known: {listed(known)}")
    if close := nearest(name, known):
        advice = f"did you mean {_either(close)}?"
    elif not known:
        advice = "there are none"
    else:
        advice = f"known: {listed(known) if kind in _LISTS else listed(known, _MOST_KNOWN)}"
    shown = f" ('ackclock {_LISTS[kind]}' shows all)" if kind in _LISTS else ""
    return f"unknown {kind} '{name}'; {advice}{shown}"


def one_of(kind: str, name: object, known: Collection[str]) -> str:
    """Return a name that is known.

    Raises:
        InputError: it is not; says the nearest names, or all of them.
    """
    if isinstance(name, str) and name in known:
        return name
    raise InputError(unknown(kind, name, known))


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names as a list for people; of very many the first ones and the number of the rest."""
    more = len(names) - most
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:most])} and {more} more"


def _either(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _field(label: str, text: str, dim: str, reset: str) -> str:
    wrapped = textwrap.wrap(printable(text), width=88) or [""]
    indent = "\n" + " " * (len(label) + 5)
    return f"    {dim}{label}{reset} {indent.join(wrapped)}"


def _shown(value: Any) -> str:
    """Return a value on one line: text as it is written in a scenario, the rest as JSON."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    text = printable(text)
    return text if len(text) <= 80 else f"{text[:77]}..."


def printable(text: str) -> str:
    """Return text with control characters, such as of a hostile file, made visible."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def save_as_utf8(raw: bytes) -> str:
    """Return what to do about a file that is not text as it should be."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "this looks like UTF-16; save the file as UTF-8"
    return "save the file as UTF-8"
