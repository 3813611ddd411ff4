"""Programs with controllers: read, checked, made ready for a run.

A resolved scenario holds the text of the program, so that a run can be repeated where the file is
not, and a change of the program makes another scenario.
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import random
import sys
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from ackclock.controllers import OURS, CongestionControl, Program, QueueDiscipline
from ackclock.controllers.faults import ORIGINS, explain
from ackclock.errors import nearest

Kind = TypeVar("Kind", bound=Program)

MODULE = "<controller>"
"""Name of the module that a program is: no module of users can have it."""

WHOLE = (
    "write what it needs into the program, which is stored with each run, or install that as a "
    "package (docs/python-controllers.md)"
)
"""What to do about a second file."""

_TYPES = {"float": (float, int), "int": (int,), "bool": (bool,), "str": (str,)}


class ProgramError(ValueError):
    """A program that cannot be used, the key of the scenario that it is about, and a hint."""

    def __init__(self, message: str, key: str = "file", hint: str | None = None) -> None:
        super().__init__(message)
        self.key = key
        self.hint = hint


@lru_cache(maxsize=64)
def _code(source: str, origin: str) -> CodeType:
    ORIGINS.add(origin)
    lines = source.splitlines(keepends=True)
    linecache.cache[origin] = (len(source), None, lines, origin)
    return compile(source, origin, "exec", dont_inherit=True)


def _executed(source: str, origin: str) -> dict[str, Any]:
    """Run a program; return its names. Nothing is shared with another call."""
    module = ModuleType(MODULE)
    module.__file__ = origin
    sys.modules[MODULE] = module  # `dataclass` and others look their class up there
    exec(_code(source, origin), vars(module))
    return vars(module)


@lru_cache(maxsize=64)
def executed(source: str, origin: str) -> dict[str, Any]:
    """Return the names of a program, to look at.

    Raises:
        ProgramError: the program cannot be run.
    """
    try:
        return _executed(source, origin)
    except SyntaxError as error:
        raise ProgramError(f"{origin}:{error.lineno}: {error.msg}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        hint = WHOLE if isinstance(error, ModuleNotFoundError) else None
        message = str(explain(error, "", None)).split("\n")[0]
        raise ProgramError(message, hint=hint) from error


def programs(source: str, origin: str) -> dict[str, type[Program]]:
    """Return the controllers and disciplines of a program by name, to look at.

    Raises:
        ProgramError: the program cannot be run.
    """
    return {
        name: found
        for name, found in executed(source, origin).items()
        if isinstance(found, type) and issubclass(found, Program) and found.__module__ == MODULE
    }


def chosen(source: str, origin: str, name: object, base: type[Kind]) -> type[Kind]:
    """Return the class of this name derived from `base`, or the only one if the name is None.

    Raises:
        ProgramError: there is none of this name.
    """
    found = {n: one for n, one in programs(source, origin).items() if issubclass(one, base)}
    if name is None:
        own = [n for n, one in found.items() if not any(one in o.__bases__ for o in found.values())]
        if len(own) == 1:
            return found[own[0]]
        if not own:
            raise ProgramError(
                f"there is no class derived from ackclock.{base.__name__} in this program"
            )
        hint = f"keep one in the file, or write `class: {own[0]}` in the scenario"
        raise ProgramError(f"several classes: {', '.join(own)}", hint=hint)
    if not isinstance(name, str) or name not in found:
        close = nearest(str(name), found) or list(found)
        hint = f"did you mean {close[0]}?" if close else None
        what = "controller" if base is CongestionControl else "discipline"
        raise ProgramError(f"no {what} of this name in the program", "class", hint)
    return found[name]


def defaults(controller: type[Program]) -> dict[str, tuple[str, Any]]:
    """Return the parameters: annotation and default of each; `inspect.Parameter.empty` for none."""
    found: dict[str, tuple[str, Any]] = {}
    if controller.__init__ is not Program.__init__:
        arguments = list(inspect.signature(controller.__init__).parameters.values())[1:]
        for one in arguments:
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                found[one.name] = (_word(one.annotation), one.default)
        return found
    for base in reversed(controller.__mro__):
        if base in OURS:
            continue
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_") and "ClassVar" not in _word(annotation):
                empty = inspect.Parameter.empty
                found[name] = (_word(annotation), getattr(controller, name, empty))
    return found


def _word(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def parameters(controller: type[Program], given: dict[str, Any]) -> dict[str, Any]:
    """Return all parameters, those that are given and the defaults of the others.

    Raises:
        ProgramError: an unknown parameter, a missing one, one of another type.
    """
    known = defaults(controller)
    for name, value in given.items():
        if name not in known:
            names = ", ".join(known) or "none"
            close = nearest(name, known)
            hint = f"did you mean {close[0]}?" if close else f"parameters: {names}"
            message = f"{controller.__name__} has no parameter '{name}'"
            raise ProgramError(message, "parameters", hint)
        types = _TYPES.get(known[name][0])
        wrong = types is not None and not isinstance(value, types)
        if wrong or (isinstance(value, bool) and types not in (None, (bool,))):
            message = f"{name} = {json.dumps(value)}: not of type {known[name][0]}"
            raise ProgramError(message, "parameters")
    for name, (_, default) in known.items():
        if name not in given and default is inspect.Parameter.empty:
            raise ProgramError(f"{controller.__name__} needs the parameter '{name}'", "parameters")
    values = {name: given.get(name, default) for name, (_, default) in known.items()}
    for name, value in values.items():
        if known[name][0] == "float" and isinstance(value, int):
            values[name] = float(value)
    try:
        json.dumps(values, allow_nan=False)
    except (TypeError, ValueError):
        message = "parameters are finite numbers, texts, true or false, lists and mappings of them"
        raise ProgramError(message, "parameters") from None
    return values


def names_of(controller: type[Program]) -> dict[str, Any]:
    """Return the names of the module that a controller is from, as its methods see them."""
    for kind in controller.__mro__:
        for one in vars(kind).values() if kind not in OURS else ():
            if isinstance(one, FunctionType):
                return one.__globals__
    return {}


def variables(controller: type[CongestionControl], source: str) -> list[str]:
    """Return what a controller writes down: declared, and written out in calls of `self.record`."""
    names = dict.fromkeys(controller.variables)
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="record"), args=[ast.Constant(value=name), *_]):
                if isinstance(name, str):
                    names.setdefault(name)
    return list(names)


def build(described: list[str], stream: str) -> tuple[CongestionControl, list[str]]:
    """Make the controller of one flow, which shares nothing with others; and its variables.

    Args:
        described: source, origin, class and parameters, as in a resolved scenario.
        stream: Name of its random stream, the seed included.
    """
    made = _made(described, stream, stream.split("/cc/", 1)[1], "flow")
    return made, variables(type(made), described[0])


def build_queue(described: list[str], stream: str, link: str) -> QueueDiscipline:
    """Make the discipline of one queue, as `build`."""
    return _made(described, stream, link, "link")


def _made(described: list[str], stream: str, name: str, owner: str) -> Any:
    source, origin, class_, given = described
    try:
        kind = _executed(source, origin)[class_]
        made = kind.__new__(kind)
        made.random = random.Random(stream)
        made.__init__(**json.loads(given))
    except Exception as error:
        raise explain(error, name, None, owner) from error
    return made
