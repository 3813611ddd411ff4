"""Controllers given as classes and objects: their text becomes part of the scenario.

Runs use the text, so that other processes can simulate it and a run can be repeated. So all that a
class needs of its module must be in it, and hold: an error says what does not.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import symtable
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from tokenize import TokenError
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ackclock.controllers import Program
from ackclock.controllers.faults import ORIGINS
from ackclock.controllers.imports import require_whole
from ackclock.controllers.loading import MODULE, ProgramError, defaults, executed, names_of

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


def _same(one: Any, other: Any, texts: Mapping[str, list[str]] | None = None) -> bool:
    """Whether functions say the same, or values are equal, or cannot be compared, as arrays.

    Args:
        one: A value.
        other: Another one.
        texts: Lines of files that are not those that Python knows by these names.
    """
    functions = _function(one), _function(other)
    if any(functions):
        said = [None if f is None else _said(f, texts or {}) for f in functions]
        return said[0] == said[1]
    try:
        missing = one != one and other != other  # NaN
        mere = type(one) is type(other) and type(one).__eq__ is object.__eq__
        return mere or missing or bool(one == other)
    except (TypeError, ValueError):
        return True


def _function(value: Any) -> FunctionType | None:
    """Return the function of a method, as it was written."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, staticmethod | classmethod | MethodType):
        value = value.__func__
    found = inspect.unwrap(value) if isinstance(value, FunctionType) else None
    return found if isinstance(found, FunctionType) else None


def _said(function: FunctionType, texts: Mapping[str, list[str]]) -> tuple[str, list[str]]:
    """Return the name of a function, and its lines without comments."""
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    lines = texts.get(file) or linecache.getlines(file)
    block = lines[first - 1 :]
    with suppress(SyntaxError, TokenError):  # of a file that has changed since
        block = inspect.getblock(block)
    stripped = (line.strip() for line in block)
    return function.__qualname__, [line for line in stripped if line and line[0] != "#"]


def _text_of(kind: type[Program]) -> tuple[str, str]:
    """Return the lines of a program that a class needs, the others empty, and its name.

    What it needs of other cells of a notebook, or by `from module import *`, stands before them.
    """
    text = _defining(kind)
    if kind.__module__ == MODULE:
        return "\n".join(text.lines), text.file
    if not any(kind.__name__ in _bound(one) for one in text.statements):
        raise ProgramError(
            f"the class {kind.__name__} is defined within something else, such as a function: "
            "what it needs of its surroundings cannot be stored with a run",
            hint="move it to the top level of its file",
        )
    module = sys.modules.get(kind.__module__)
    home = getattr(module, kind.__name__, None) is kind
    here = vars(module) if home and module else names_of(kind)
    kept, missing = _needed(text, [kind.__name__])
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
    source, origin = "\n".join(lines).rstrip() + "\n", Path(text.file).name.strip("<>")
    require_whole(source, origin, _folder(text.file))
    _require_as_written(kind, here, source, origin)
    return source, origin


def _folder(file: str) -> Path:
    """Return the folder of a file; for the cell of a notebook the current one."""
    return Path(file).parent if Path(file).is_file() else Path()


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
    if functions := [one for one in map(_function, own) if one is not None]:
        return [one.__code__.co_filename for one in functions]
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


def _require_as_written(kind: type, here: dict[str, Any], source: str, origin: str) -> None:
    """Check that the text of a class makes what is there now: it is the text that runs use.

    Compared are constants and functions of the module, and all that its classes have.
    """
    try:
        written = executed(source, origin)
    except ProgramError:
        return  # reported where the text is put into a scenario
    texts = {origin: source.splitlines(keepends=True)}
    now = {**here, kind.__name__: kind}
    names = [name for name in written if name in now and not _is_of_python(name)]
    _require_equal(kind, "", now, written, names, texts)
    pairs = [(now[name], written[name]) for name in names]
    pairs += zip(kind.__mro__, getattr(written.get(kind.__name__), "__mro__", ()), strict=False)
    for its, fresh in pairs:
        if its is not fresh and isinstance(its, type) and isinstance(fresh, type):
            names = [
                name
                for name in {**vars(fresh), **vars(its)}
                if not _is_of_python(name) or _function(getattr(its, name, None))
            ]
            _require_equal(kind, f"{its.__name__}.", vars(its), vars(fresh), names, texts)


def _is_of_python(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _require_equal(
    kind: type,
    prefix: str,
    now: Mapping[str, Any],
    written: Mapping[str, Any],
    names: Iterable[str],
    texts: Mapping[str, list[str]],
) -> None:
    for name in names:
        one, other = now.get(name, _UNKNOWN), written.get(name, _UNKNOWN)
        methods = _function(one) or _function(other)
        # Two values of a class of the program are of two classes, and cannot be compared.
        if one is other or not (methods or _is_data(one) or _is_data(other)):
            continue
        if _same(one, other, texts):
            continue
        if methods:
            of = f" of {prefix[:-1]}" if prefix else ""
            raise ProgramError(
                f"{name}{of} has been replaced, and runs use what the file of {kind.__name__} has",
                hint="write a class with the other one, or derive one",
            )
        first, second = ("not set" if v is _UNKNOWN else repr(v) for v in (one, other))
        raise ProgramError(
            f"{prefix}{name} is {first} now, and {second} in the file of {kind.__name__}: runs "
            "use what the file has",
            hint="annotate it in the class (`gain: float = 1.0`) and give it to an object: "
            f"`{kind.__name__}(gain=2)`",
        )


def _is_data(value: Any) -> bool:
    """Whether something consists of numbers and texts."""
    if isinstance(value, dict):
        return all(map(_is_data, chain.from_iterable(value.items())))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_data, value))
    return value is None or isinstance(value, int | float | complex | str | bytes)


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
