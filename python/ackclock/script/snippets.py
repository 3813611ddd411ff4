"""Assertions about the state of the sender: a small part of Python, looked at piece by piece."""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Callable
from typing import Any

from ackclock.script.model import MismatchError, NotSupportedError, ScriptError

CONSTANTS = {
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
    "TCP_INFINITE_SSTHRESH": 0x7FFFFFFF,
    "True": True,
    "False": False,
}

_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Not: operator.not_}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "min": min, "max": max, "int": int}


class Snippets:
    """The snippets of one script: variables live on from one to the next."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: dict[str, Any] = {}
        self.printed: list[str] = []

    def run(self, line: int, text: str, info: dict[str, int]) -> None:
        """Run one snippet with what the sender said of itself.

        Raises:
            MismatchError: an assertion does not hold.
            NotSupportedError: it uses more of Python than there is.
        """
        tree = parse(self.name, line, text)
        # Snippets begin anywhere in a line; what comes before counts.
        first = line - 1
        for statement in tree.body:
            self._statement(statement, first, info)

    def _statement(self, node: ast.stmt, first: int, info: dict[str, int]) -> None:
        line = first + node.lineno

        def value(expression: ast.expr) -> Any:
            return self._value(expression, line, info)

        match node:
            case ast.Assert(test, message):
                if not value(test):
                    raise MismatchError(
                        line,
                        f"assertion failed: {ast.unparse(test)}",
                        ast.unparse(test),
                        self._seen(test, message, line, info),
                    )
            case ast.Assign([ast.Name(name)], assigned):
                self.variables[name] = value(assigned)
            case ast.AugAssign(ast.Name(name) as target, operation, added):
                combine = _BINARY.get(type(operation))
                if combine is None:
                    raise NotSupportedError(line, f"'{ast.unparse(node)}' in a snippet")
                reading = ast.Name(target.id, ast.Load())
                self.variables[name] = combine(value(reading), value(added))
            case ast.Expr(ast.Call(ast.Name("print"), arguments)):
                self.printed.append(" ".join(str(value(argument)) for argument in arguments))
            case ast.Pass():
                pass
            case ast.Expr(expression):
                value(expression)
            case _:
                raise NotSupportedError(line, f"'{ast.unparse(node)}' in a snippet")

    def _seen(
        self, test: ast.expr, message: ast.expr | None, line: int, info: dict[str, int]
    ) -> str:
        names = dict.fromkeys(
            n.id for n in ast.walk(test) if isinstance(n, ast.Name) and n.id not in CONSTANTS
        )
        seen = [f"{name} = {self._name(name, line, info)}" for name in names]
        if message is not None and not isinstance(message, ast.Name):
            seen.append(str(self._value(message, line, info)))
        return ", ".join(seen)

    def _name(self, name: str, line: int, info: dict[str, int]) -> Any:
        for known in (self.variables, info, CONSTANTS):
            if name in known:
                return known[name]
        raise NotSupportedError(line, f"the name '{name}' in a snippet")

    def _value(self, node: ast.expr, line: int, info: dict[str, int]) -> Any:
        def value(inner: ast.expr) -> Any:
            return self._value(inner, line, info)

        try:
            match node:
                case ast.Constant(constant):
                    return constant
                case ast.Name(name):
                    return self._name(name, line, info)
                case ast.Tuple(parts):
                    return tuple(value(part) for part in parts)
                case ast.BoolOp(ast.And(), parts):
                    return all(value(part) for part in parts)
                case ast.BoolOp(ast.Or(), parts):
                    return any(value(part) for part in parts)
                case ast.UnaryOp(operation, part):
                    return _UNARY[type(operation)](value(part))
                case ast.BinOp(left, operation, right):
                    return _BINARY[type(operation)](value(left), value(right))
                case ast.Compare(first, operations, others):
                    values = [value(first), *map(value, others)]
                    return all(
                        _COMPARE[type(operation)](values[i], values[i + 1])
                        for i, operation in enumerate(operations)
                    )
                case ast.Call(ast.Name(function), arguments, []) if function in _FUNCTIONS:
                    return _FUNCTIONS[function](*map(value, arguments))
        except KeyError:  # an operation that is not among those that there are
            pass
        except (TypeError, ArithmeticError, ValueError) as error:
            raise NotSupportedError(line, f"'{ast.unparse(node)}' in a snippet: {error}") from None
        raise NotSupportedError(line, f"'{ast.unparse(node)}' in a snippet")


def parse(name: str, line: int, text: str) -> ast.Module:
    """Return the syntax tree of a snippet.

    Raises:
        ScriptError: it is not Python.
    """
    lines = text.split("\n")
    # The first line stands behind the opening mark, the others have an indentation of their own.
    rest = textwrap.dedent("\n".join(lines[1:]))
    source = f"{lines[0].strip()}\n{rest}".rstrip().removesuffix("\\")
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        at = line + (getattr(error, "lineno", None) or 1) - 1
        message = getattr(error, "msg", None) or "too deep"
        raise ScriptError(f"{name}:{at}: a snippet is not Python: {message}") from None
