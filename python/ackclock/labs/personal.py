"""Networks of each student: values of a lab's scenarios that differ from one student to the next.

The file `personal.yaml` of a lab has, for each scenario that differs, a list of values for each
path. Which of them a student gets is decided by the student's name, the path and nothing else, so
that scenarios that are compared with each other agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from ackclock.document import Document
from ackclock.errors import InputError, ScenarioError, unknown
from ackclock.labs.questions import Lab

PERSONAL = "personal.yaml"
STUDENT = "student"
"""The key of `answers.yaml` that says whose networks they are."""

_MOST = 200


def student(value: Any) -> str | None:
    """Return the name of a student as it decides, from what is written in `answers.yaml`.

    Spaces around it and capital letters do not count. None without a name.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return " ".join(str(value).split()).casefold()[:_MOST] or None


def is_personal(lab: Lab) -> bool:
    """Whether students can have networks of their own in this lab."""
    return (lab.folder / PERSONAL).is_file()


def networks(lab: Lab, name: str | None) -> dict[str, dict[str, Any]]:
    """Return the values of a student by scenario and path; nothing without a name.

    Raises:
        InputError: this lab has the same networks for all.
        ScenarioError: `personal.yaml` is not as it should be.
    """
    if name is None:
        return {}
    if not is_personal(lab):
        raise InputError(
            f"the lab '{lab.name}' has the same networks for all students: it has no {PERSONAL}"
        )
    document = Document.read(lab.folder / PERSONAL)
    found: dict[str, dict[str, Any]] = {}
    for scenario, paths in document.data.items():
        if scenario not in lab.scenarios:
            message = unknown("scenario", scenario, lab.scenarios)
            raise ScenarioError([document.problem((scenario,), message)])
        if not isinstance(paths, Mapping) or not all(
            isinstance(values, list) and values for values in paths.values()
        ):
            message = "a scenario has a list of values for each path"
            raise ScenarioError([document.problem((scenario,), message)])
        found[scenario] = {path: _drawn(values, name, path) for path, values in paths.items()}
    return found


def _drawn(values: list[Any], name: str, path: str) -> Any:
    digest = hashlib.sha256(f"{name}\0{path}".encode()).digest()
    return values[int.from_bytes(digest[:8], "big") % len(values)]
