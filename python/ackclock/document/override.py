"""Setting values of a document from outside: `--set flows.F1.tcp.cc=reno`."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from ackclock import _core
from ackclock.document.node import Path, normal_key
from ackclock.errors import Problem, nearest, refuse

# What a word stands for when a parameter of it is set: `cc: fast` and `cc.alpha=60` make
# `cc: {kind: fast, alpha: 60}`, and `tcp: reno` is a preset.
_WORD_KEY = {"tcp": "preset"}


class OverrideError(Exception):
    """An override that cannot be applied. Holds the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def parse_value(text: str) -> Any:
    """Return the value of `--set PATH=TEXT`.

    Text that starts with a bracket or a quote is read as YAML; anything else is one scalar, so
    that `10 Mbps`, `question: why?` and `a, b` need no quotes.

    Raises:
        ValueError: the YAML is broken.
    """
    stripped = text.strip()
    try:
        if stripped[:1] not in ("{", "[", '"', "'"):
            return _core.scalar(stripped)
        read, problems = _core.read_text(stripped, "yaml")
    except UnicodeEncodeError:
        raise ValueError("text with half of a surrogate pair") from None
    if problems:
        raise ValueError(problems[0][0])
    return None if read is None else read.data()


def apply(document: dict[str, Any], path: str, value: Any) -> list[Path]:
    """Set `path` of `document` (changed in place) to `value`; return the places that were set.

    A step is a key, the `id` of an element of a list, its index from 0, or `*` for all elements.
    An element must exist. A key need not: absent means its default, and setting it is the point;
    whether the key has a meaning is judged with the rest of the scenario.

    A link or flow that only comes into being when the simulator writes short forms out cannot be
    set here. The path and the value are noted in the document's list `set`, which the simulator
    applies then.

    Raises:
        OverrideError: a step leads nowhere; names the nearest that exists.
    """
    if not isinstance(path, str):
        refuse("path", path, "the path of a value, such as 'links.L1.rate'")
    steps = path.split(".")
    if not all(steps):
        raise _problem(path, value, "a path is keys, ids or indexes with dots between")
    if len(steps) > 16:
        raise _problem(path, value, "a path with more than 16 steps leads nowhere")
    if _comes_later(document, steps):
        return [_note(document, path, value)]
    changed: list[Path] = []
    _walk(document, steps, 0, (), path, value, changed)
    return changed


def _comes_later(document: dict[str, Any], steps: list[str]) -> bool:
    """Return whether the path leads to what a short form makes."""
    if steps[0] not in ("links", "flows") or len(steps) < 3:
        return False
    written = document.get(steps[0])
    elements = written if isinstance(written, list) else []
    if steps[0] == "links":
        is_short = "topology" in document
    else:
        is_short = any(isinstance(flow, dict) and "count" in flow for flow in elements)
    if steps[1] == "*":
        # All links are more than the written ones. Setting all flows is setting their short forms,
        # unless something was set in single ones before, which this must overrule.
        return is_short and (steps[0] == "links" or "set" in document)
    return is_short and _index(elements, steps[1]) is None


def _note(document: dict[str, Any], path: str, value: Any) -> Path:
    later = document.get("set")
    if not isinstance(later, list):
        later = document["set"] = []
    later.append({"path": path, "value": value})
    return ("set", len(later) - 1)


def _walk(
    container: Any,
    steps: list[str],
    at: int,
    done: Path,
    path: str,
    value: Any,
    changed: list[Path],
) -> None:
    here = ".".join(steps[:at])
    for key in _keys(container, steps[at], here, path, value):
        place = (*done, key)
        if at == len(steps) - 1:
            # A copy: what is set in one element later must not show in the others.
            container[key] = copy.deepcopy(value) if isinstance(value, dict | list) else value
            changed.append(place)
            continue
        inner = container.get(key) if isinstance(container, dict) else container[key]
        if inner is None:
            inner = container[key] = {}
        elif isinstance(inner, str):
            inner = container[key] = {_WORD_KEY.get(steps[at], "kind"): inner}
        elif not isinstance(inner, dict | list):
            message = (
                f"'{'.'.join(steps[: at + 1])}' is the value {inner}; nothing can be set in it"
            )
            raise _problem(path, value, message)
        _walk(inner, steps, at + 1, place, path, value, changed)


def _keys(container: Any, step: str, here: str, path: str, value: Any) -> list[Any]:
    """Return the keys or indexes of `container` that `step` means."""
    if step == "*":
        if not container:
            raise _problem(path, value, f"'{here}' holds nothing that '*' could match")
        return list(container if isinstance(container, dict) else range(len(container)))
    if isinstance(container, dict):
        return [normal_key(step)]
    index = _index(container, step)
    if index is None:
        names = [_name(item, index) for index, item in enumerate(container)]
        raise _problem(path, value, f"there is no '{step}' in '{here}'", step, names)
    return [index]


def _index(container: Sequence[Any], step: str) -> int | None:
    """Return the index of the element that a step means."""
    for index, item in enumerate(container):
        if _name(item, index) == step:
            return index
    if re.fullmatch(r"[0-9]{1,9}", step) and int(step) < len(container):
        return int(step)
    return None


def _name(item: Any, index: int) -> str:
    """Return the name of an element: its id, itself when it is a name, or its index."""
    if isinstance(item, dict) and isinstance(item.get("id"), str):
        return item["id"]
    return item if isinstance(item, str) else str(index)


def _problem(
    path: str, value: Any, message: str, name: str | None = None, known: Sequence[str] = ()
) -> OverrideError:
    hint = allowed = None
    if name is not None and known:
        close = nearest(name, known)
        hint = f"did you mean '{close[0]}'?" if close else None
        allowed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    shown = value if isinstance(value, str | int | float) else "..."
    return OverrideError(
        Problem(message, path=path, allowed=allowed, hint=hint, file=f"--set {path}={shown}")
    )
