"""Controllers in scenario documents: files and classes become the text of a program."""

from __future__ import annotations

import ast
import copy
import json
import linecache
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ackclock.controllers import OURS, CongestionControl, Program, QueueDiscipline
from ackclock.controllers.lint import flaws, unanswered, uncalled
from ackclock.controllers.loading import ProgramError, chosen, parameters
from ackclock.controllers.plugins import program
from ackclock.errors import save_as_utf8
from ackclock.files import named

if TYPE_CHECKING:
    from ackclock.document import Document
    from ackclock.errors import Problem

Place = tuple[str | int, ...]

_WRITTEN = ("kind", "file", "plugin", "class", "parameters")
_PROGRAM = ("source", "origin")
_KEYS = {
    "cc": ((*_WRITTEN, "compile"), (*_PROGRAM, "needs_rate", "owns_window", "tick_period")),
    "queue": ((*_WRITTEN, "limit"), _PROGRAM),
}
"""Keys that users write, and those that only a resolved scenario has."""
_MOST_BYTES = 1_000_000


def resolve(
    data: dict[str, Any], document: Document, folder: Path
) -> tuple[dict[str, Any], list[Problem], list[Problem]]:
    """Return the document with the text of each program in its place, errors, and warnings.

    Args:
        data: the document; it is not changed.
        document: the same as written.
        folder: where relative paths start; those set from outside start in the current folder.
    """
    data = copy.deepcopy(data)
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for place, holder in list(_places(data)):
        key = str(place[-1])
        written = holder[key]
        file = (*place, "file")
        outside = any(file[: len(p)] == p for p, _ in document.overrides)
        try:
            holder[key] = _resolved(key, written, Path() if outside else folder)
            warnings += _warnings(place, holder[key], document)
        except ProgramError as error:
            # With something in its place, the rest of the document can be checked as well.
            holder[key] = "reno" if key == "cc" else "droptail"
            where = (*place, error.key) if error.key in written else place
            value = written.get(error.key)
            shown = value if isinstance(value, str) else None
            problems.append(document.problem(where, str(error), value=shown, hint=error.hint))
    return data, problems, warnings


def _warnings(place: Place, cc: dict[str, Any], document: Document) -> Iterator[Problem]:
    """Warn of what makes runs differ, and of losses without effect, at the place that names it."""
    tree = ast.parse(cc["source"])
    for flaw in flaws(tree):
        if flaw.unrepeatable:
            message = f"{cc['origin']}:{flaw.line}: {flaw.message}: runs may differ"
            yield document.problem(place, message, hint=flaw.hint)
    events = {name for kind in OURS for name in vars(kind) if name.startswith("on_")}
    for flaw in (*unanswered(tree), *uncalled(tree, events)):
        message = f"{cc['origin']}:{flaw.line}: {flaw.message}"
        yield document.problem(place, message, hint=flaw.hint)


def _places(value: Any, place: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if not isinstance(one, dict | list):
            continue
        if key in ("cc", "queue") and isinstance(one, dict) and one.get("kind") == "python":
            assert isinstance(value, dict)
            yield (*place, key), value
        else:
            yield from _places(one, (*place, key))


def _resolved(place: str, written: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the value of `cc` or `queue` with its program in it."""
    own, only_resolved = _KEYS[place]
    for key in written:
        if key not in (*own, *only_resolved):
            raise ProgramError(f"unknown key `{key}`", key, f"keys: {', '.join(own[1:])}")
    if "source" in written:
        if "file" in written:
            raise ProgramError(
                "'source' and 'file' exclude each other", hint="leave one of them out"
            )
        source, origin = written["source"], written.get("origin", "controller.py")
        if not isinstance(source, str) or not isinstance(origin, str):
            raise ProgramError("not the text of a program", "source")
    elif "plugin" in written:
        for other in ("file", "class"):
            if other in written:
                raise ProgramError(
                    f"'{other}' and 'plugin' exclude each other", other, "leave one out"
                )
        file, name = program(place, written["plugin"])
        source, origin, written = _read(str(file), folder), file.name, {**written, "class": name}
    elif "file" in written:
        source, origin = _read(written["file"], folder), str(written["file"])
    else:
        hint = "write `file: PATH`, a Python program, or `plugin: NAME`"
        raise ProgramError("`file` is missing", "kind", hint)
    base = CongestionControl if place == "cc" else QueueDiscipline
    kind = chosen(source, origin, written.get("class"), base)
    given = written.get("parameters", {})
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            raise ProgramError("not a mapping of names and values", "parameters") from None
    if not isinstance(given, dict):
        raise ProgramError("not a mapping of names and values", "parameters")
    resolved: dict[str, Any] = {
        "kind": "python",
        "class": kind.__name__,
        "source": source,
        "origin": origin,
        "parameters": json.dumps(parameters(kind, given), sort_keys=True),
    }
    if not issubclass(kind, CongestionControl):
        return resolved | ({"limit": written["limit"]} if "limit" in written else {})
    compiled = written.get("compile", False)
    if not isinstance(compiled, bool):
        raise ProgramError("not true or false", "compile")
    if compiled:
        from ackclock.controllers.compiled import require

        require(kind, source, origin)
    resolved |= {
        "needs_rate": bool(kind.needs_rate),
        "owns_window": bool(kind.owns_window),
        "compile": compiled,
    }
    if kind.tick_period is not None:
        resolved["tick_period"] = kind.tick_period
    return resolved


def _read(written: Any, folder: Path) -> str:
    try:
        with named(written, folder) as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except ValueError as error:
        absent = isinstance(error.__cause__, FileNotFoundError)
        hint = "relative to the scenario file, with --set to the current folder" if absent else None
        raise ProgramError(str(error), hint=hint) from None
    if len(raw) > _MOST_BYTES:
        raise ProgramError("larger than 1 MB: not a program")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ProgramError("not UTF-8 text", hint=save_as_utf8(raw)) from None


def mapping(controller: Program | type[Program]) -> dict[str, Any]:
    """Return a controller as a value of a scenario.

    Raises:
        ProgramError: the text of its class is not known.
    """
    kind = controller if isinstance(controller, type) else type(controller)
    args, named = ((), {}) if isinstance(controller, type) else controller.given
    compiled = not isinstance(controller, type) and controller.compiled
    from ackclock.controllers.loading import defaults

    given = {**dict(zip(defaults(kind), args, strict=False)), **named}
    source, origin = _text_of(kind)
    return {
        "kind": "python",
        "class": kind.__name__,
        "source": source,
        "origin": origin,
        "parameters": given,
        **({"compile": True} if compiled else {}),
    }


def _text_of(kind: type) -> tuple[str, str]:
    """Return the lines of a program that a class needs, the others empty, and its name."""
    functions = [one for one in vars(kind).values() if isinstance(one, FunctionType)]
    file = functions[0].__code__.co_filename if functions else ""
    lines = linecache.getlines(file)
    if not lines:
        raise ProgramError(
            f"the text of {kind.__name__} is not known", hint="write the class into a file"
        )
    if kind.__module__ == "controller":
        return "".join(lines), file
    statements = ast.parse("".join(lines)).body
    if not any(kind.__name__ in _bound(statement) for statement in statements):
        raise ProgramError(
            f"the class {kind.__name__} is defined within something else, such as a function: "
            "what it needs of its surroundings cannot be stored with a run",
            hint="move it to the top level of its file",
        )
    needed, left = {kind.__name__}, [kind.__name__]
    kept: dict[int, ast.stmt] = {}
    while left:
        name = left.pop()
        for statement in statements:
            if name in _bound(statement) and id(statement) not in kept:
                kept[id(statement)] = statement
                used = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}
                left += sorted(used - needed)
                needed |= used
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            kept[id(statement)] = statement
    _require_same(kind, [one for one in statements if id(one) in kept])
    text = [""] * len(lines)
    for statement in kept.values():
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        text[first - 1 : statement.end_lineno] = lines[first - 1 : statement.end_lineno]
    joined = "".join(line if line.endswith("\n") else line + "\n" for line in text)
    return joined.rstrip() + "\n", Path(file).name


def _require_same(kind: type, statements: Sequence[ast.stmt]) -> None:
    """Check that what the text says still holds: it is the text that runs use.

    Looked at are constants of the module, and the methods that the class defines.
    """
    said: dict[str, Any] = {}
    defined: list[ast.FunctionDef] = []
    for statement in statements:
        said |= dict.fromkeys(_bound(statement), _UNKNOWN)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            with suppress(ValueError):
                said |= dict.fromkeys(_bound(statement), ast.literal_eval(statement.value))
        elif isinstance(statement, ast.ClassDef) and statement.name == kind.__name__:
            defined = [one for one in statement.body if isinstance(one, ast.FunctionDef)]
    module = sys.modules.get(kind.__module__)
    here = vars(module) if module else {}
    for name, value in said.items():
        if value is not _UNKNOWN and name in here and here[name] != value:
            raise ProgramError(
                f"{name} is {here[name]!r} now, and {value!r} in the file of {kind.__name__}: runs "
                "use what the file has",
                hint="make it a parameter: `gain: float = 1.0` in the class, then `Mine(gain=2)`",
            )
    for one in (one for one in defined if not one.decorator_list):
        method = vars(kind).get(one.name)
        if isinstance(method, FunctionType) and method.__code__.co_firstlineno != one.lineno:
            raise ProgramError(
                f"{one.name} of {kind.__name__} has been replaced, and runs use the class as its "
                "file has it",
                hint="write a class with the other method, or derive one",
            )


_UNKNOWN = object()


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(one.asname or one.name).split(".")[0] for one in names}
        case ast.Assign(targets=targets):
            return {one.id for one in targets if isinstance(one, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()
