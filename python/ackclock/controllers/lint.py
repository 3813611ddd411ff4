"""Finds in the text of a program what makes its runs differ, and what it forgets at a loss.

A sign of trouble and no proof: a name can be bound to something else, and a program has many ways
to ask for the time. What the lint does not see, the check of two runs may.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ackclock.errors import listed

_UNREPEATABLE = {
    "random": "draws from a generator that the scenario's seed does not set",
    "secrets": "draws random numbers of the machine",
    "uuid": "draws random numbers of the machine",
    "time": "asks the clock of the machine",
    "datetime": "asks the clock of the machine",
    "numpy.random": "draws from a generator that the scenario's seed does not set",
    "os": "asks the machine",
}
"""Modules whose calls make a run that cannot be repeated."""

_HARMLESS = {
    "datetime": {"timedelta", "timezone"},
    "os": {"path"},
    "time": {"struct_time"},
}
_SEEDED = {"Random", "default_rng", "RandomState", "Generator", "PCG64", "SeedSequence"}
"""Calls of a random module that can be repeated if they are given a seed."""

_HINTS = {
    "random": "self.random is the flow's own random stream, set by the scenario's seed",
    "numpy.random": "self.random is the flow's own random stream, set by the scenario's seed",
    "time": "self.now is the simulated time, in seconds",
    "datetime": "self.now is the simulated time, in seconds",
}

_MUTATORS = {"append", "extend", "insert", "pop", "remove", "clear", "update", "add", "setdefault"}


@dataclass(frozen=True)
class Flaw:
    """Something that makes runs differ: line from 1, what it is, what to write instead."""

    line: int
    message: str
    hint: str
    unrepeatable: bool = True


def flaws(tree: ast.Module) -> list[Flaw]:
    """Return what makes runs of a program differ, in the order of lines.

    `unrepeatable` is false for what cannot make two runs here differ, since each flow has a copy
    of the program of its own, and would elsewhere: globals that change.
    """
    found = {*_calls(tree), *_globals(tree)}
    return sorted(found, key=lambda flaw: (flaw.line, flaw.message))


def unanswered(tree: ast.Module) -> list[Flaw]:
    """Return each `on_loss` that works something out and has no effect.

    It returns nothing, sets nothing of the controller, and calls nothing that could.
    """
    methods = (
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and one.name == "on_loss" and one.args.args
    )
    hint = "return the new threshold, as in `return self.cwnd / 2`; to ignore losses, leave it out"
    message = "on_loss() neither returns a threshold nor sets self.cwnd: a loss has no effect"
    return [Flaw(one.lineno, message, hint) for one in methods if not _acts(one)]


def uncalled(
    tree: ast.Module, events: Mapping[str, Collection[str]], kinds: Mapping[str, str]
) -> list[Flaw]:
    """Return each method that is called as events are, `on_...`, and that nothing calls.

    Args:
        tree: The program.
        events: Names of the methods that the engine calls, by the kind of class.
        kinds: Kind of each class that is of one; another may be a part of either.
    """
    nodes = list(ast.walk(tree))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    bound = {one.id for one in nodes if isinstance(one, ast.Name)} | used
    found: list[Flaw] = []
    for owner in (node for node in nodes if isinstance(node, ast.ClassDef)):
        kind = kinds.get(owner.name)
        own = [name for one in ([kind] if kind else events) for name in events[one]]
        for one in owner.body:
            if not isinstance(one, ast.FunctionDef) or one.name in used:
                continue
            of = next((other for other, names in events.items() if one.name in names), None)
            hint = f"events: {listed(sorted(own))}"
            if one.name in own:
                if one.name != "on_tick" or "tick_period" in bound:
                    continue
                why = "the class has no tick_period"
                hint = 'write `tick_period = "10 ms"` into the class'
            elif of is not None:
                why = f"it is an event of {of}, and {owner.name} is a {kind}"
            elif one.name.lower().startswith("on_"):
                why = "there is no event of this name"
            else:
                continue
            found.append(Flaw(one.lineno, f"{one.name}() is never called: {why}", hint))
    return found


def _acts(method: ast.FunctionDef) -> bool:
    """Whether a method returns, changes or calls something, or works nothing out on purpose."""
    idle = True
    for node in (inner for statement in method.body for inner in ast.walk(statement)):
        match node:
            case ast.BinOp() | ast.Assign() | ast.Call(func=ast.Name(id="min" | "max")):
                idle = False
            case ast.Return(value=None | ast.Constant(value=None)):
                pass
            case ast.Return() | ast.Raise() | ast.Call():
                return True
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                return True
    return idle


def _calls(tree: ast.Module) -> Iterator[Flaw]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    modules[one.asname or one.name.split(".")[0]] = (
                        one.name if one.asname else one.name.split(".")[0]
                    )
            case ast.ImportFrom(module=str(module), names=names):
                for one in names:
                    modules[one.asname or one.name] = f"{module}.{one.name}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _dotted(node.func)
        if name is None:
            continue
        head, _, rest = name.partition(".")
        if head in ("hash", "id") and not rest:
            yield Flaw(node.lineno, f"{head}() is another in each process", "compare the values")
        if head not in modules:
            continue
        full = modules[head] + (f".{rest}" if rest else "")
        module = next((m for m in _UNREPEATABLE if full.startswith(f"{m}.")), None)
        if module is None:
            continue
        inner = full.removeprefix(f"{module}.").split(".")
        if inner[0] in _HARMLESS.get(module, ()):
            continue
        if inner[-1] in _SEEDED and (node.args or node.keywords):
            continue
        hint = _HINTS.get(module, "use what the events and self say")
        yield Flaw(node.lineno, f"{full}() {_UNREPEATABLE[module]}", hint)


def _dotted(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            inner = _dotted(value)
            return None if inner is None else f"{inner}.{attr}"
    return None


def _globals(tree: ast.Module) -> Iterator[Flaw]:
    bound = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    classes = {one.name for one in tree.body if isinstance(one, ast.ClassDef)}
    hint = "keep it in self: each flow has its own copy of the program"
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        own = {arg.arg for arg in function.args.args}
        declared: set[str] = set()
        for node in ast.walk(function):
            match node:
                case ast.Global(names=names):
                    declared.update(names)
                case ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
        shared = (bound - own) | declared
        for node in ast.walk(function):
            name = _changed(node, shared, classes, declared)
            if name is not None:
                assert isinstance(node, ast.expr)
                yield Flaw(node.lineno, f"the global '{name}' changes", hint, unrepeatable=False)


def _changed(node: ast.AST, shared: set[str], classes: set[str], declared: set[str]) -> str | None:
    """Return the global that a node changes, if it does."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)):
            return name if name in shared and attr in _MUTATORS else None
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name if name in shared else None
        case ast.Name(id=name, ctx=ast.Store()):
            return name if name in declared else None
        case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
            return f"{name}.{attr}" if name in classes or name == "cls" else None
    return None
