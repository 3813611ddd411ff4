"""Controllers compiled by numba, `compile: true`: a call without the interpreter takes nanoseconds.

The engine calls functions over arrays of numbers (`layout`); `rewriting` makes them of the class,
`support` is what they call.
"""

from __future__ import annotations

import ast
import inspect
import math
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from ackclock import _core
from ackclock.controllers import OURS, CongestionControl
from ackclock.controllers.compiled.layout import (
    CODES,
    FAULTS,
    MOST_ROWS,
    STATE,
    WORDS,
    E,
)
from ackclock.controllers.compiled.rewriting import (
    HINT,
    CannotCompileError,
    Rewritten,
    Source,
    rewrite,
)
from ackclock.controllers.faults import ControllerError, report
from ackclock.controllers.loading import ProgramError, defaults, names_of, variables

_INSTALL = "pip install 'ackclock[numba]', or leave `compile` out"


def require(controller: type[CongestionControl], source: str, origin: str) -> None:
    """Check that a controller can be compiled, as far as its text says.

    Raises:
        ProgramError: numba is missing, or something cannot be compiled.
    """
    if find_spec("numba") is None:
        raise ProgramError("numba is not installed", "compile", _INSTALL)
    try:
        _rewritten(controller, source, frozenset())
    except CannotCompileError as error:
        place = origin if error.line is None else f"{origin}:{error.line}"
        raise ProgramError(f"{place}: {error}", "compile", HINT) from None


def _own_hooks(controller: type[CongestionControl]) -> list[str]:
    return [
        name
        for name in _core.HOOKS
        if getattr(controller, name) is not getattr(CongestionControl, name)
    ]


def _rewritten(
    controller: type[CongestionControl], source: str, flags: frozenset[str]
) -> Rewritten:
    tree = ast.parse(source)
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    methods: dict[str, ast.FunctionDef] = {}
    for kind in controller.__mro__:
        if kind in OURS:
            continue
        for one in classes[kind.__name__].body if kind.__name__ in classes else ():
            if isinstance(one, ast.FunctionDef):
                methods.setdefault(one.name, one)
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    names = names_of(controller)
    parts = Source(methods, functions, names, flags, tuple(variables(controller, source)))
    return rewrite(parts, _own_hooks(controller))


Compiled = tuple[list[int | None], list[float], int]
"""Addresses of the functions of an engine's hooks, the first state, and its number of rows."""


def build(made: CongestionControl, source: str, origin: str, flow: str) -> Compiled:
    """Compile the controller of a flow.

    Raises:
        ControllerError: it cannot be compiled, or holds what is no number.
    """
    own = vars(made)
    flags = frozenset(name for name, value in own.items() if isinstance(value, bool))
    flags |= {
        name
        for kind in type(made).__mro__
        if kind not in OURS
        for name, value in vars(kind).items()
        if isinstance(value, bool) and name not in own
    }
    try:
        rewritten = _rewritten(type(made), source, flags)
    except CannotCompileError as error:
        raise report(f"{error}; {HINT}", origin, error.line, "", flow, None) from None
    state = [_initial(made, name, origin, flow) for name in rewritten.attributes]
    key = (source, origin, type(made).__name__, flags)
    addresses = _addresses(*key, _Held(type(made), rewritten, flow))
    return addresses, [0.0] * len(STATE) + state, MOST_ROWS


def _initial(made: CongestionControl, name: str, origin: str, flow: str) -> float:
    value = getattr(made, name, None)
    if value is None:
        return math.nan
    if isinstance(value, str) and value in WORDS:
        return WORDS[value]
    if isinstance(value, bool | int | float):
        return float(value)
    kind = type(value).__name__
    raise report(
        f"`self.{name}` is of type {kind}: only numbers and flags can be compiled; {HINT}",
        origin,
        None,
        "",
        flow,
        None,
    )


class _Held:
    """What a compilation needs beside its key; equal to every other."""

    def __init__(
        self, controller: type[CongestionControl], rewritten: Rewritten, flow: str
    ) -> None:
        self.controller, self.rewritten, self.flow = controller, rewritten, flow

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held)

    def __hash__(self) -> int:
        return 0


_KEPT: list[Any] = []
"""Compiled functions stay as long as the process: the engine has their addresses."""


@lru_cache(maxsize=256)
def _addresses(
    source: str, origin: str, name: str, flags: frozenset[str], held: _Held
) -> list[int | None]:
    """Return the addresses of the hooks; equal programs are compiled once in a process."""
    import numba
    from numba.core.errors import NumbaError

    from ackclock.controllers.compiled import support

    rewritten = held.rewritten
    module = ast.Module(list(rewritten.functions.values()), [])
    names: dict[str, Any] = dict(support.NAMES)
    exec(compile(module, origin, "exec"), names)
    for function in rewritten.functions:
        names[function] = support.inner(names[function])
    pointer = numba.types.CPointer(numba.float64)
    signature = numba.int32(pointer, pointer, pointer)
    length = len(STATE) + len(rewritten.attributes)
    found: list[int | None] = []
    for hook in _core.HOOKS:
        function = names.get(f"m_{hook}")
        if function is None:
            found.append(None)
            continue
        try:
            made = numba.cfunc(signature)(_caller(function, length))
        except NumbaError as error:
            line = getattr(getattr(error, "loc", None), "line", None)
            words = "this method cannot be compiled"
            if line is None or not 1 <= line <= source.count("\n") + 1:
                line = inspect.getsourcelines(getattr(held.controller, hook))[1]
            raise report(f"{words}; {HINT}", origin, line, hook, held.flow, None) from error
        _KEPT.append(made)
        found.append(made.address)
    return found


def _caller(function: Any, length: int) -> Any:
    """Return what the engine calls: 0 if all went well, 1 if there was an exception."""
    from numba import carray

    fields, rows = len(E), 2 * MOST_ROWS

    def call(state: Any, event: Any, written: Any) -> int:
        try:
            function(
                carray(state, length),
                carray(written, rows),
                carray(event, fields),
            )
        except Exception:
            return 1
        return 0

    return call


def fault(
    made: CongestionControl, source: str, hook: str, place: tuple[int, float, float], at: tuple
) -> ControllerError:
    """Return the error for a call that has failed.

    Args:
        made: The controller.
        source: Text of its program.
        hook: The method that was called.
        place: Line, code and value, as the call left them.
        at: Name of the program, flow, and simulated time in seconds.
    """
    line, code, value = place
    origin, flow, time_s = at
    words = "ZeroDivisionError: division by zero"
    if code >= CODES["raise"]:
        raised = _rewritten(type(made), source, frozenset()).raised
        words = raised[int(code - CODES["raise"])]
    elif code >= 1:
        shown = "NaN" if math.isnan(value) else f"{value:g}"
        words = list(FAULTS.values())[int(code) - 1].format(value=shown)
    return report(words, origin, int(line) or None, hook, flow, time_s)


__all__ = ["build", "defaults", "fault", "require"]
