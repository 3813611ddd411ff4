"""Methods of a controller as functions over arrays of numbers, which numba can compile.

`self.x` becomes a place of the array of state, `ack.rtt` one of the array of the event, `is None` a
test for NaN, words numbers, `self.helper(x)` a call of a function. What numbers cannot say is an
error with its line. Where plain Python raises (None in arithmetic, a square root of -1), so do the
functions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ackclock.controllers.compiled.layout import CODES, EVENT, FLAGS, KNOWN, STATE, WORDS, E, S

HINT = "leave `compile` out: plain Python can do it"

_OF_ONE = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf"),
    *("erfc", "exp", "exp2", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "sin"),
    *("sinh", "sqrt", "tan", "tanh", "trunc"),
)
_OF_TWO = ("atan2", "copysign", "fmod", "nextafter", "pow", "remainder")
MATH = {**dict.fromkeys(_OF_ONE, 1), **dict.fromkeys(_OF_TWO, 2)}
"""Functions of `math` that there are, and their numbers of arguments.

Python computes `hypot`, `gamma` and `lgamma` in ways of its own, with other last digits.
"""

_MATH_TESTS = {"isnan": "_unknown", "isfinite": "_finite", "isinf": "_infinite"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SET = {"cwnd": "_set_cwnd", "ssthresh": "_set_ssthresh", "pacing_rate": "_set_pacing_rate"}
_FIXED = STATE[: STATE.index("answer")]


class CannotCompileError(ValueError):
    """Something that cannot be compiled, and its line."""

    def __init__(self, node: ast.AST | None, what: str) -> None:
        super().__init__(f"{what} cannot be compiled")
        self.line: int | None = getattr(node, "lineno", None)


@dataclass
class Rewritten:
    """The functions of a program.

    Attributes:
        functions: By name, `m_` before methods and `f_` before functions of the module.
        attributes: Names of the program's own attributes, in the order of their places.
        raised: Words of the exceptions that the program raises, in the order of their codes.
    """

    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Source:
    """What is known of a program: its definitions, and the values of its names.

    Attributes:
        methods: Definitions of methods by name, those of the class before those of its bases.
        functions: Definitions of functions of the module.
        names: Values of the names of the module.
        flags: Attributes that are true or false at the start.
        variables: Names that are recorded, in the order of their codes.
    """

    methods: dict[str, ast.FunctionDef]
    functions: dict[str, ast.FunctionDef]
    names: dict[str, Any]
    flags: frozenset[str]
    variables: tuple[str, ...]


def rewrite(source: Source, hooks: list[str]) -> Rewritten:
    """Rewrite these methods, and what they call.

    Raises:
        CannotCompileError: there is something in them that numbers cannot say.
    """
    made = Rewritten()
    calls: dict[str, set[str]] = {}
    todo = [f"m_{name}" for name in hooks]
    while todo:
        name = todo.pop()
        if name in made.functions:
            continue
        known = source.methods if name[0] == "m" else source.functions
        definition = known.get(name[2:])
        if definition is None:
            raise CannotCompileError(None, f"`{name[2:]}`, which no `def` of the program makes,")
        function = _Function(source, made, definition, hook=name[0] == "m" and name[2:] in hooks)
        made.functions[name] = function.rewritten(name)
        calls[name] = function.calls
        todo += sorted(function.calls)
    for name in made.functions:
        if name in _reached(name, calls):
            raise CannotCompileError(made.functions[name], "a function that calls itself")
    return made


def _reached(name: str, calls: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = list(calls[name])
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += calls[one]
    return found


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _place(array: ast.expr, place: int, context: ast.expr_context) -> ast.Subscript:
    return ast.Subscript(array, ast.Constant(place), context)


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_load(function), list(arguments), [])


class _Function:
    """One function on its way."""

    def __init__(
        self, source: Source, made: Rewritten, definition: ast.FunctionDef, *, hook: bool
    ) -> None:
        self.source, self.made, self.definition, self.hook = source, made, definition, hook
        self.calls: set[str] = set()
        arguments = definition.args
        extra = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs)
        if any(extra) or definition.decorator_list:
            raise CannotCompileError(definition, "a function with decorators or such arguments")
        names = [one.arg for one in arguments.args]
        method = definition.name in source.methods and source.methods[definition.name] is definition
        self.myself = names.pop(0) if method and names else None
        self.parameters = names
        self.locals = set(names)
        for node in ast.walk(definition):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.locals.add(node.id)
        self.answers = any(
            isinstance(node, ast.Return) and node.value is not None for node in ast.walk(definition)
        )

    def rewritten(self, name: str) -> ast.FunctionDef:
        body = self.block(self.definition.body)
        if self.hook:
            body.append(ast.Return(ast.Constant(0)))
        elif self.answers:
            body.append(ast.Return(_load("_none")))
        arguments = ast.arguments(
            [],
            [ast.arg(one) for one in ("S_", "R_", *self.parameters)],
            None,
            [],
            [],
            None,
            [self.value(one) for one in self.definition.args.defaults],
        )
        made = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None)
        return ast.fix_missing_locations(ast.copy_location(made, self.definition))

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in statements:
            new = self.statement(statement)
            if new:
                line = ast.Constant(float(statement.lineno))
                new = [ast.Assign([_place(_load("S_"), S["line"], ast.Store())], line), *new]
            for one in new:
                made.append(ast.copy_location(one, statement))
        return made

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Expr(value=value):
                return [ast.Expr(self.value(value))]
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, self.stored(target, value))
            case ast.Assign(targets=targets, value=value):
                made: list[ast.stmt] = [
                    ast.Assign([ast.Name("_shared", ast.Store())], self.value(value))
                ]
                for target in targets:
                    made += self.assign(target, _load("_shared"))
                return made
            case ast.AnnAssign(target=target, value=value):
                return [] if value is None else self.assign(target, self.stored(target, value))
            case ast.AugAssign(target=target, op=op, value=value):
                loaded = ast.copy_location(_loaded(target), target)
                sum_ = ast.copy_location(ast.BinOp(loaded, op, value), node)
                return self.assign(target, self.value(sum_))
            case ast.If(test=test, body=body, orelse=orelse):
                return [
                    ast.If(self.truth(test), self.block(body) or [ast.Pass()], self.block(orelse))
                ]
            case ast.While(test=test, body=body, orelse=[]):
                return [ast.While(self.truth(test), self.loop(body), [])]
            case ast.For(target=ast.Name() as target, iter=ast.Call() as turns, orelse=[]):
                return [ast.For(target, self.range(turns), self.loop(node.body), [])]
            case ast.Break() | ast.Continue():
                return [node]
            case ast.Return(value=value):
                return self.answer(value)
            case ast.Raise(exc=raised):
                words = "an exception" if raised is None else _words(raised)
                return self.fault(words)
            case ast.Assert(test=test, msg=None):
                no = ast.UnaryOp(ast.Not(), self.truth(test))
                failed = ast.Expr(_call("_fail", _load("S_"), ast.Constant(CODES["assert"])))
                return [ast.If(no, [failed], [])]
        raise CannotCompileError(node, f"`{_head(node)}`")

    def fault(self, words: str) -> list[ast.stmt]:
        code = CODES["raise"] + len(self.made.raised)
        self.made.raised.append(words)
        return [ast.Expr(_call("_fail", _load("S_"), ast.Constant(code)))]

    def loop(self, body: list[ast.stmt]) -> list[ast.stmt]:
        turn = ast.copy_location(ast.Expr(_call("_turn", _load("S_"))), body[0])
        return [turn, *self.block(body)]

    def range(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[_, *_] as bounds, keywords=[]):
                return _call(
                    "range", *(_call("_whole", _load("S_"), self.number(b)) for b in bounds)
                )
        raise CannotCompileError(node, f"a loop over `{ast.unparse(node)}`")

    def answer(self, value: ast.expr | None) -> list[ast.stmt]:
        if value is None or (isinstance(value, ast.Constant) and value.value is None):
            none = ast.Constant(0) if self.hook else _load("_none")
            return [ast.Return(none if self.hook or self.answers else None)]
        if not self.hook:
            return [ast.Return(_call("_number", self.value(value)))]
        # A sum that is not a number is an answer, and a wrong one; what is None is no answer.
        sure = ast.Constant(not isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.IfExp))
        kept = _call("_answer", _load("S_"), _call("_number", self.value(value)), sure)
        return [ast.Expr(kept), ast.Return(ast.Constant(0))]

    def stored(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple):
            if not isinstance(value, ast.Tuple):
                raise CannotCompileError(value, f"`{ast.unparse(value)}` for several names")
            if not all(isinstance(one, ast.Name) for one in target.elts):
                raise CannotCompileError(target, "several attributes set at once")
            return ast.Tuple([self.value(one) for one in value.elts], ast.Load())
        return self.value(value)

    def assign(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Name() | ast.Tuple():
                return [ast.Assign([target], value)]
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == self.myself:
                if attr in _SET:
                    return [ast.Expr(_call(_SET[attr], _load("S_"), _call("_number", value)))]
                if attr in (*_FIXED, "in_slow_start", "random", "given", "record"):
                    raise CannotCompileError(target, f"setting `self.{attr}`, which is read only,")
                place = _place(_load("S_"), self.slot(attr), ast.Store())
                return [ast.Assign([place], _call("_number", value))]
        raise CannotCompileError(target, f"setting `{ast.unparse(target)}`")

    def slot(self, attribute: str) -> int:
        known = self.made.attributes
        if attribute not in known:
            known.append(attribute)
        return len(STATE) + known.index(attribute)

    # Expressions: as a value that may be None, as a number that is known, as true or false.

    def value(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(self._value(node), node)

    def _value(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.Constant(value=None):
                return _load("_none")
            case ast.Constant(value=bool() | int() | float()):
                return node
            case ast.Constant(value=str(word)) if word in WORDS:
                return ast.Constant(WORDS[word])
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                return self.attribute(node, name, attr)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _call("_power", _load("S_"), self.number(left), self.number(right))
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                return ast.BinOp(self.number(left), op, self.number(right))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                return ast.UnaryOp(op, self.number(operand))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Not(), self.truth(operand))
            case ast.BoolOp(op=op, values=values):
                if self.is_flag(node):
                    return ast.BoolOp(op, [self.truth(one) for one in values])
                return self.choice(op, values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                flags = self.is_flag(body) and self.is_flag(orelse)
                yes, no = self.value(body), self.value(orelse)
                if not flags:
                    yes, no = _call("_number", yes), _call("_number", no)
                return ast.IfExp(self.truth(test), yes, no)
            case ast.Compare():
                return self.compare(node)
            case ast.Call():
                return self.call(node)
        raise CannotCompileError(node, f"`{ast.unparse(node)}`")

    def number(self, node: ast.expr) -> ast.expr:
        made = self.value(node)
        known = isinstance(node, ast.Constant) and node.value is not None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            mine = node.value.id == self.myself
            known = node.attr in (_FIXED[:5] if mine else KNOWN)
        if known or isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
            return made
        return ast.copy_location(_call("_known", _load("S_"), made), node)

    def truth(self, node: ast.expr) -> ast.expr:
        match node:
            case ast.BoolOp(op=op, values=values):
                return ast.copy_location(ast.BoolOp(op, [self.truth(v) for v in values]), node)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return self.value(node)
        return ast.copy_location(_call("_truth", self.value(node)), node)

    def is_flag(self, node: ast.expr) -> bool:
        match node:
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
                return True
            case ast.BoolOp(values=values):
                return all(self.is_flag(one) for one in values)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                mine = name == self.myself
                return attr in (self.source.flags | {"in_slow_start"}) if mine else attr in FLAGS
        return False

    def choice(self, op: ast.boolop, values: list[ast.expr]) -> ast.expr:
        """`a or b` is a if that is true, and b otherwise; both are numbers here."""
        first, rest = values[0], values[1:]
        if not rest:
            return _call("_number", self.value(first))
        if any(isinstance(inner, ast.Call | ast.NamedExpr) for inner in ast.walk(first)):
            raise CannotCompileError(first, f"`{ast.unparse(first)}` before `and` or `or`")
        other, own = self.choice(op, rest), _call("_number", self.value(first))
        yes, no = (other, own) if isinstance(op, ast.And) else (own, other)
        return ast.IfExp(self.truth(first), yes, no)

    def compare(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(
                left=left,
                ops=[ast.Is() | ast.IsNot() as op],
                comparators=[ast.Constant(value=None)],
            ):
                unknown = _call("_unknown", self.value(left))
                return unknown if isinstance(op, ast.Is) else ast.UnaryOp(ast.Not(), unknown)
            case ast.Compare(
                left=left,
                ops=[ast.In() | ast.NotIn() as op],
                comparators=[ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_]) | ast.Set() as among],
            ):
                value = self.value(left)
                each: list[ast.expr] = [
                    ast.Compare(value, [ast.Eq()], [self.value(one)]) for one in among.elts
                ]
                found = ast.BoolOp(ast.Or(), each) if len(each) > 1 else each[0]
                return found if isinstance(op, ast.In) else ast.UnaryOp(ast.Not(), found)
        ordered = all(isinstance(op, _ORDER) for op in node.ops)
        if not ordered and not all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            raise CannotCompileError(node, f"`{ast.unparse(node)}`")
        of = self.number if ordered else self.value
        return ast.Compare(of(node.left), node.ops, [of(one) for one in node.comparators])

    def name(self, node: ast.expr, name: str) -> ast.expr:
        if name in self.locals:
            return node
        known = self.source.names.get(name)
        if isinstance(known, bool | int | float):
            return ast.Constant(known)
        raise CannotCompileError(node, f"`{name}`")

    def attribute(self, node: ast.expr, name: str, attr: str) -> ast.expr:
        if name == self.myself:
            if attr == "in_slow_start":
                low, high = (_place(_load("S_"), S[k], ast.Load()) for k in ("cwnd", "ssthresh"))
                return ast.Compare(low, [ast.Lt()], [high])
            if attr in ("random", "given", "record") or attr in self.source.methods:
                raise CannotCompileError(node, f"`self.{attr}`")
            place = S[attr] if attr in _FIXED else self.slot(attr)
            made = _place(_load("S_"), place, ast.Load())
            return _call("_truth", made) if attr in self.source.flags else made
        if self.source.names.get(name) is math and name not in self.locals:
            value = getattr(math, attr, None)
            if isinstance(value, float):
                return _load("_none") if value != value else ast.Constant(value)
        elif name in self.parameters and attr in EVENT:
            made = _place(_load(name), E[attr], ast.Load())
            return _call("_truth", made) if attr in FLAGS else made
        raise CannotCompileError(node, f"`{name}.{attr}`")

    def call(self, node: ast.Call) -> ast.expr:
        if node.keywords:
            raise CannotCompileError(node, f"`{ast.unparse(node)}`, with a named argument,")
        arguments = node.args
        match node.func:
            case ast.Attribute(value=ast.Name(id=name), attr="record") if name == self.myself:
                return self.record(node)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == self.myself:
                if attr in self.source.methods:
                    return self.inner(f"m_{attr}", arguments)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in self.locals:
                if self.source.names.get(name) is math:
                    return self.math(node, attr)
            case ast.Name(id=name) if name not in self.locals:
                if name in self.source.functions:
                    return self.inner(f"f_{name}", arguments)
                known = self.source.names.get(name)
                if known is not None and known is getattr(math, name, None):
                    return self.math(node, name)
                if name in _BUILTINS and name not in self.source.names:
                    return _BUILTINS[name](self, node)
        raise CannotCompileError(node, f"`{ast.unparse(node)}`")

    def inner(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        self.calls.add(name)
        # A name may be that of the event.
        given = [
            self.value(one) if isinstance(one, ast.Name) else _call("_number", self.value(one))
            for one in arguments
        ]
        return _call(name, _load("S_"), _load("R_"), *given)

    def record(self, node: ast.Call) -> ast.expr:
        match node.args:
            case [ast.Constant(value=str(name)), value] if name in self.source.variables:
                code = ast.Constant(float(self.source.variables.index(name)))
                number = _call("_number", self.number(value))
                return _call("_record", _load("S_"), _load("R_"), code, number)
        raise CannotCompileError(node, f"`{ast.unparse(node)}`")

    def math(self, node: ast.Call, name: str) -> ast.expr:
        arguments = [_call("_number", self.number(one)) for one in node.args]
        if name in _MATH_TESTS:
            return _call(_MATH_TESTS[name], *(self.value(one) for one in node.args))
        if len(arguments) != MATH.get(name):
            raise CannotCompileError(node, f"`{ast.unparse(node)}`")
        if name == "pow":
            return _call("_power", _load("S_"), *arguments)
        return _call(f"_math_{name}", _load("S_"), *arguments)


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
        case ast.Attribute(value=value, attr=attr):
            return ast.Attribute(value, attr, ast.Load())
    raise CannotCompileError(target, f"changing `{ast.unparse(target)}`")


def _words(raised: ast.expr) -> str:
    match raised:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(words))]):
            return f"{name}: {words}"
        case ast.Call(func=ast.Name(id=name)) | ast.Name(id=name):
            return name
    raise CannotCompileError(raised, f"`{ast.unparse(raised)}`")


def _head(node: ast.stmt) -> str:
    return ast.unparse(node).split("\n")[0]


def _one(function: str, *, state: bool = True) -> Callable[[_Function, ast.Call], ast.expr]:
    def make(own: _Function, node: ast.Call) -> ast.expr:
        if len(node.args) != 1:
            raise CannotCompileError(node, f"`{ast.unparse(node)}`")
        number = own.number(node.args[0])
        return _call(function, *([_load("S_")] if state else []), number)

    return make


def _most(function: str) -> Callable[[_Function, ast.Call], ast.expr]:
    def make(own: _Function, node: ast.Call) -> ast.expr:
        if len(node.args) < 2:
            raise CannotCompileError(node, f"`{ast.unparse(node)}`")
        made, *others = (_call("_number", own.number(one)) for one in node.args)
        for other in others:
            made = _call(function, made, other)
        return made

    return make


def _bool(own: _Function, node: ast.Call) -> ast.expr:
    if len(node.args) != 1:
        raise CannotCompileError(node, f"`{ast.unparse(node)}`")
    return own.truth(node.args[0])


_BUILTINS: dict[str, Callable[[_Function, ast.Call], ast.expr]] = {
    "abs": _one("abs", state=False),
    "bool": _bool,
    "float": _one("_number", state=False),
    "int": _one("_int"),
    "max": _most("_max"),
    "min": _most("_min"),
    "round": _one("_round"),
}
