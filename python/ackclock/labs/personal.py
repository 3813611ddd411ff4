"""Networks of each student: values of a lab's scenarios that differ from one student to the next.

The file `personal.yaml` of a lab has, for each scenario that differs, a list of values for each
path. Which of them a student gets is decided by the student's name, the path, and the teacher's
secret if there is one, so that scenarios that are compared with each other agree. Without a secret
every student can find out the networks of every other.
"""

from __future__ import annotations

import codecs
import hashlib
import hmac
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ackclock.document import Document
from ackclock.errors import InputError, ScenarioError, unknown
from ackclock.labs.questions import Lab
from ackclock.labs.runs import Runs

PERSONAL = "personal.yaml"
STUDENT = "student"
"""The key of `answers.yaml` that says whose networks they are."""

DRAWN = "drawn"
"""The key of `answers.yaml` that says how, where that is not by the name alone."""

BY_SECRET = "with a secret"

_MOST = 200
_LEAST_SECRET = 8


def student(value: Any) -> str | None:
    """Return the name of a student as it decides, from what is written in `answers.yaml`.

    Spaces around it, capital letters, and how letters such as é are put together do not count. None
    without a name.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    plain = unicodedata.normalize("NFC", str(value))
    return " ".join(plain.split()).casefold()[:_MOST] or None


def secret_of(file: Path | None) -> bytes | None:
    """Return what a teacher's file of a secret holds, without what editors put around it.

    Raises:
        InputError: it cannot be read, or is so short that it can be guessed.
    """
    if file is None:
        return None
    try:
        secret = file.read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    except OSError as error:
        raise InputError(f"--secret: '{file}' cannot be read: {error.strerror}") from None
    if len(secret) < _LEAST_SECRET:
        raise InputError(f"--secret: '{file}' holds fewer than {_LEAST_SECRET} characters")
    return secret


def is_personal(lab: Lab) -> bool:
    """Whether students can have networks of their own in this lab."""
    return (lab.folder / PERSONAL).is_file()


def networks(lab: Lab, name: str | None, secret: bytes | None = None) -> dict[str, dict[str, Any]]:
    """Return the values of a student by scenario and path; nothing without a name.

    Raises:
        InputError: this lab has the same networks for all.
        ScenarioError: `personal.yaml` is not as it should be, or gives values that cannot be run.
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
            message = unknown("scenario of this lab", scenario, lab.scenarios)
            raise ScenarioError([document.problem((scenario,), message)])
        if not isinstance(paths, Mapping) or not all(
            isinstance(values, list) and values for values in paths.values()
        ):
            message = "a scenario has a list of values for each path"
            raise ScenarioError([document.problem((scenario,), message)])
        found[scenario] = {
            path: _drawn(values, name, path, secret) for path, values in paths.items()
        }
    runs = Runs(lab.folder, lab.scenarios, found)
    for scenario in found:
        try:
            runs.scenario(scenario)
        except ScenarioError as error:
            raise document.placed((scenario,), error) from None
    return found


def _drawn(values: list[Any], name: str, path: str, secret: bytes | None) -> Any:
    text = f"{name}\0{path}".encode()
    if secret is None:
        digest = hashlib.sha256(text).digest()
    else:
        digest = hmac.digest(secret, text, "sha256")
    return values[int.from_bytes(digest[:8], "big") % len(values)]
