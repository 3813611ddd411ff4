"""The scenarios of the package that a page can run."""

from __future__ import annotations

from typing import Any

from ackclock import library
from ackclock.scenario import Scenario


def gallery() -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Scenarios of the package that run in a browser, and why the others do not, by name."""
    shown, left = [], {}
    for name in library.names():
        path = library.find(name)
        scenario = Scenario.load(name)
        if scenario.files:
            left[name] = "it sends files"
        elif scenario.document != scenario.source.data:
            left[name] = "it names files: programs in Python, or lists of rates"
        else:
            head = scenario.source.data
            shown.append(
                {
                    "name": name,
                    "group": name.partition("/")[0],
                    "title": _line(head.get("title", name)),
                    "question": _line(head.get("question", "")),
                    "expectation": _line(head.get("expectation", "")),
                    "text": path.read_text(encoding="utf-8"),
                }
            )
    return shown, left


def _line(text: Any) -> str:
    return " ".join(str(text).split())
