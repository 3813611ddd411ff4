"""Controllers in scenario documents: files become the text of a program."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.controllers import CongestionControl, QueueDiscipline
from ackclock.controllers.declared import require_methods, require_period
from ackclock.controllers.imports import require_whole
from ackclock.controllers.lint import flaws, unanswered, uncalled
from ackclock.controllers.loading import ProgramError, chosen, parameters, programs
from ackclock.controllers.plugins import program
from ackclock.errors import save_as_utf8
from ackclock.files import expanded, named

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
    bases = (CongestionControl, QueueDiscipline)
    events = {base.__name__: [n for n in vars(base) if n.startswith("on_")] for base in bases}
    kinds = {
        one.__name__: base.__name__
        for one in programs(cc["source"], cc["origin"]).values()
        for base in bases
        if issubclass(one, base)
    }
    for flaw in (*unanswered(tree), *uncalled(tree, events, kinds)):
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
    if "file" in written:
        require_whole(source, origin, (folder / expanded(origin)).parent)
    require_methods(kind, base, origin)
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
    require_period(kind, source, origin)
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
        hint = "relative to the file that names it, with --set to the current folder"
        raise ProgramError(str(error), hint=hint if absent else None) from None
    if len(raw) > _MOST_BYTES:
        raise ProgramError("larger than 1 MB: not a program")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ProgramError("not UTF-8 text", hint=save_as_utf8(raw)) from None
