"""What a class declares, checked when it is loaded: the methods that are called, and when."""

from __future__ import annotations

import ast
import inspect

from ackclock import _core
from ackclock.controllers import CongestionControl, Program
from ackclock.controllers.loading import ProgramError

_SHORTEST_NS = 100_000
"""What the engine takes, too."""

_NEVER_RUN = {
    "coroutine": inspect.iscoroutinefunction,
    "generator": inspect.isgeneratorfunction,
    "asynchronous generator": inspect.isasyncgenfunction,
}
"""What a call may return in place of running."""


def require_methods(kind: type[Program], base: type[Program], origin: str) -> None:
    """Check that the methods of a class can be called as those of `base`.

    Raises:
        ProgramError: one takes other arguments, or a call of it would not run it.
    """
    for name, wanted in vars(base).items():
        method = inspect.getattr_static(kind, name)
        if not name.startswith("on_") or method is wanted or isinstance(method, property):
            continue
        written = inspect.unwrap(getattr(method, "__func__", method))
        arguments = list(inspect.signature(wanted).parameters)
        code = getattr(written, "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}" if code else origin
        hint = f"write `def {name}({', '.join(arguments)}):`"
        for what, returns in _NEVER_RUN.items():
            if returns(written):
                message = f"{place}: a call of {name} returns a {what}, and runs nothing of it"
                raise ProgramError(message, hint=f"{hint}, without `async` and `yield`")
        if not _takes(kind, name, arguments):
            shown = f"{name}{inspect.signature(written)}" if callable(written) else f"{name}"
            message = f"{place}: {shown} cannot be called as {name}({', '.join(arguments[1:])})"
            raise ProgramError(message, hint=hint)


def _takes(kind: type, name: str, arguments: list[str]) -> bool:
    """Whether a method can be called with these arguments, of which the first is the object."""
    method = inspect.getattr_static(kind, name)
    bare = isinstance(method, staticmethod | classmethod) or not hasattr(method, "__get__")
    try:
        inspect.signature(getattr(kind, name)).bind(*arguments[bare:])
    except TypeError:
        return False
    except ValueError:  # of what is not written in Python
        return True
    return True


def require_period(kind: type[CongestionControl], source: str, origin: str) -> None:
    """Check the time between calls of `on_tick`.

    Raises:
        ProgramError: it is not a time, or too short.
    """
    period: object = kind.tick_period
    what, amount = (_core.quantity(period) if isinstance(period, str) else None) or ("", 0)
    if period is not None and (what != "time" or amount < _SHORTEST_NS):
        classes = {one.name: one for one in ast.parse(source).body if isinstance(one, ast.ClassDef)}
        lines = [
            statement.lineno
            for base in kind.__mro__
            if base.__name__ in classes
            for statement in classes[base.__name__].body
            for name in ast.walk(statement)
            if isinstance(name, ast.Name) and name.id == "tick_period"
        ]
        place = f"{origin}:{lines[0]}" if lines else origin
        raise ProgramError(
            f"{place}: tick_period = {period!r}: not a time of at least 100 us, with its unit",
            hint='write `tick_period = "10 ms"`',
        )
