"""Controllers given as classes and objects: their text becomes part of the scenario.

Runs use the text, so that other processes can simulate it and a run can be repeated. So all that a
class needs of its module must be in it, and hold: an error says what does not.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import symtable
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from ackclock.controllers import Program
from ackclock.controllers.faults import ORIGINS
from ackclock.controllers.loading import ProgramError, defaults, names_of

_UNKNOWN = object()


class _Text(NamedTuple):
    """The text of a file, or of a cell of a notebook: its lines, without their ends."""

    file: str
    lines: tuple[str, ...]
    statements: tuple[ast.stmt, ...]

    def of(self, statement: ast.stmt) -> range:
        """Return the indexes of the lines of a statement."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(one.lineno for one in decorators)])
        return range(first - 1, statement.end_lineno or first)

    def written(self, statement: ast.stmt) -> str:
        """Return the text of a statement."""
        return "\n".join(self.lines[index] for index in self.of(statement))


def mapping(controller: Program | type[Program]) -> dict[str, Any]:
    """Return a controller as a value of a scenario.

    Raises:
        ProgramError: the text of its class is not known, or is not what the class is now.
    """
    kind = controller if isinstance(controller, type) else type(controller)
    args, named = ((), {}) if isinstance(controller, type) else controller.given
    compiled = not isinstance(controller, type) and controller.compiled
    if not isinstance(controller, type):
        _require_as_made(controller)
    source, origin = _text_of(kind)
    return {
        "kind": "python",
        "class": kind.__name__,
        "source": source,
        "origin": origin,
        "parameters": {**dict(zip(defaults(kind), args, strict=False)), **named},
        **({"compile": True} if compiled else {}),
    }


def _require_as_made(controller: Program) -> None:
    """Check that nothing was set after an object was made: runs make their own ones."""
    kind = type(controller)
    args, named = controller.given
    fresh = vars(kind(*args, **named, compile=controller.compiled))
    for name, value in vars(controller).items():
        if not _same(value, fresh.get(name, getattr(kind, name, None))):
            raise ProgramError(
                f"{name} of this {kind.__name__} was set to {value!r} after it was made, and runs "
                "make their own",
                hint=f"give it as an argument: `{kind.__name__}({name}={value!r})`",
            )


def _same(one: Any, other: Any) -> bool:
    """Whether values are equal, or cannot be compared, as arrays."""
    try:
        return type(one).__eq__ is object.__eq__ or bool(one == other)
    except (TypeError, ValueError):
        return True


def _text_of(kind: type[Program]) -> tuple[str, str]:
    """Return the lines of a program that a class needs, the others empty, and its name.

    What it needs of other cells of a notebook, or by `from module import *`, stands before them.
    """
    text = _defining(kind)
    if kind.__module__ == "controller":
        return "\n".join(text.lines), text.file
    if not any(kind.__name__ in _bound(one) for one in text.statements):
        raise ProgramError(
            f"the class {kind.__name__} is defined within something else, such as a function: "
            "what it needs of its surroundings cannot be stored with a run",
            hint="move it to the top level of its file",
        )
    module = sys.modules.get(kind.__module__)
    here = names_of(kind) or (vars(module) if module else {})
    kept, missing = _needed(text, [kind.__name__])
    _require_same(kind, here, kept)
    found = (_from_elsewhere(name, here, kind, {kind.__name__}) for name in missing)
    before = list(dict.fromkeys(chain.from_iterable(found)))
    lines = [""] * len(text.lines)
    for statement in kept:
        if before and _of_the_future(statement):
            before.insert(0, text.written(statement))  # must stand before all else
            continue
        for index in text.of(statement):
            lines[index] = text.lines[index]
    # The lines of the file keep their numbers where there is room above them.
    room = next(index for index, line in enumerate(lines) if line)
    above = [line for one in before for line in one.split("\n")]
    lines[max(0, room - len(above)) : room] = above
    # A terminal's own name for what was typed stays that of its text.
    return "\n".join(lines).rstrip() + "\n", Path(text.file).name.strip("<>")


def _needed(text: _Text, names: Iterable[str]) -> tuple[list[ast.stmt], list[str]]:
    """Return the statements of a text that names need, in its order, and the names it lacks."""
    left = list(names)
    asked, missing = set(left), []
    kept: set[int] = set()
    while left:
        name = left.pop()
        binding = [one for one in text.statements if name in _bound(one)]
        if not binding:
            missing.append(name)
        for statement in binding:
            if id(statement) not in kept:
                kept.add(id(statement))
                used = _used(statement) - asked
                left += sorted(used)
                asked |= used
    needed = [one for one in text.statements if id(one) in kept or _of_the_future(one)]
    return needed, sorted(missing)


def _from_elsewhere(name: str, here: dict[str, Any], kind: type, above: set[str]) -> Iterator[str]:
    """Yield lines that define a name which the text of a class lacks: of another cell, or by `*`.

    A name that nothing defines yields none: using it is an error like any other.
    """
    value = here.get(name, _UNKNOWN)
    if value is _UNKNOWN or name in above or getattr(builtins, name, _UNKNOWN) is value:
        return
    if isinstance(value, ModuleType):
        yield f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
        return
    home = getattr(value, "__module__", None)
    its = getattr(value, "__qualname__", "")
    if home != kind.__module__ and getattr(sys.modules.get(home or ""), its, _UNKNOWN) is value:
        yield f"from {home} import {its}" + ("" if its == name else f" as {name}")
        return
    if isinstance(value, FunctionType | type) and its == name:
        text = _defining(value)
        kept, missing = _needed(text, [name])
        _require_same(kind, here, kept)
        for other in missing:
            yield from _from_elsewhere(other, here, kind, above | {name})
        for statement in kept:
            if not _of_the_future(statement):
                yield text.written(statement)
        return
    with suppress(ValueError, SyntaxError):
        if ast.literal_eval(repr(value)) == value:
            yield f"{name} = {value!r}"
            return
    raise ProgramError(
        f"{kind.__name__} uses {name}, which is defined in another place and cannot be stored with "
        "a run",
        hint=f"define {name} in the cell or file of the class",
    )


def _defining(value: Any) -> _Text:
    """Return the text that defines a class or function at its top level, if there is such a one.

    Raises:
        ProgramError: no text is known.
    """
    found = None
    for file in _files(value):
        with suppress(SyntaxError):
            text = _parsed(file, "".join(linecache.getlines(file)))
            if any(value.__name__ in _bound(one) for one in text.statements):
                return text
            found = found or (text if text.lines else None)
    if found is None:
        raise ProgramError(
            f"the text of {value.__name__} is not known", hint="write the class into a file"
        )
    return found


def _files(value: Any) -> list[str]:
    """Return where a class or function may be defined, the likely places first."""
    own = [value, *(vars(value).values() if isinstance(value, type) else ())]
    functions = [getattr(one, "fget", None) or getattr(one, "__func__", one) for one in own]
    if files := [one.__code__.co_filename for one in functions if isinstance(one, FunctionType)]:
        return files
    if file := getattr(sys.modules.get(value.__module__), "__file__", None):
        return [file]
    # Cells of a notebook are texts without a file. The last one that has the class is it.
    texts = [file for file in reversed(list(linecache.cache)) if file not in ORIGINS]
    return [file for file in texts if not Path(file).exists()]


@lru_cache(maxsize=64)
def _parsed(file: str, text: str) -> _Text:
    return _Text(file, tuple(text.split("\n")), tuple(ast.parse(text).body))


def _of_the_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _used(statement: ast.stmt) -> set[str]:
    """Return the names that a statement takes from its module."""
    top = symtable.symtable(ast.unparse(statement), "<controller>", "exec")
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
    return used


def _require_same(kind: type, here: dict[str, Any], statements: Iterable[ast.stmt]) -> None:
    """Check that what the text says still holds: it is the text that runs use.

    Looked at are constants of the module and of its classes, and their methods.
    """
    advice = "make it a parameter: `gain: float = 1.0` in the class, then `Mine(gain=2)`"
    for statement in statements:
        _require_constants([statement], here, kind.__name__, "", advice)
        if not isinstance(statement, ast.ClassDef):
            continue
        its = kind if statement.name == kind.__name__ else here.get(statement.name)
        if not isinstance(its, type):
            continue
        _require_constants(
            statement.body,
            vars(its),
            kind.__name__,
            f"{its.__name__}.",
            f"annotate it in the class (`gain: float = 1.0`) and give it to an object: "
            f"`{kind.__name__}(gain=2)`",
        )
        for one in statement.body:
            if not isinstance(one, ast.FunctionDef) or one.decorator_list:
                continue
            method = vars(its).get(one.name)
            if isinstance(method, FunctionType) and method.__code__.co_firstlineno != one.lineno:
                raise ProgramError(
                    f"{one.name} of {its.__name__} has been replaced, and runs use the class as "
                    "its file has it",
                    hint="write a class with the other method, or derive one",
                )


def _require_constants(
    statements: Iterable[ast.stmt], now: Any, kind: str, prefix: str, advice: str
) -> None:
    said: dict[str, Any] = {}
    for statement in statements:
        said |= dict.fromkeys(_bound(statement), _UNKNOWN)
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            with suppress(ValueError):
                said |= dict.fromkeys(_bound(statement), ast.literal_eval(statement.value))
    for name, value in said.items():
        if value is not _UNKNOWN and name in now and not _same(now[name], value):
            raise ProgramError(
                f"{prefix}{name} is {now[name]!r} now, and {value!r} in the file of {kind}: runs "
                "use what the file has",
                hint=advice,
            )


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
