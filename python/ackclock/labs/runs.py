"""The runs behind the reference values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import library
from ackclock.errors import one_of

if TYPE_CHECKING:
    from ackclock.replications import Replications
    from ackclock.results import Results
    from ackclock.scenario import Scenario

Changes = Mapping[str, Any]
"""Values to set, by their paths."""


class Runs:
    """The scenarios of a lab, and their results; each run is simulated once, when it is needed."""

    def __init__(
        self,
        folder: Path,
        scenarios: Mapping[str, str],
        personal: Mapping[str, Changes] | None = None,
    ) -> None:
        """Take the folder of a lab and its scenarios; see `Lab`.

        `personal` are values to set by the name of a scenario: the networks of a student.
        """
        self._personal = personal or {}
        self._folder = folder
        self._scenarios = scenarios
        self._done: dict[str, Any] = {}

    def file(self, name: str) -> Path:
        """Return the file of a scenario of the lab.

        Raises:
            InputError: the lab has no scenario of this name, or there is none of that file.
        """
        own = self._folder / self._scenarios[one_of("scenario of this lab", name, self._scenarios)]
        return own if own.is_file() else library.find(self._scenarios[name])

    def scenario(self, name: str, changes: Changes | None = None) -> Scenario:
        """Return a scenario of the lab with values changed.

        Raises:
            ScenarioError: it cannot be run with these.
        """
        from ackclock.scenario import Scenario

        values = {**self._personal.get(name, {}), **(changes or {})}
        return Scenario.load(self.file(name), list(values.items()))

    def of(self, name: str, changes: Changes | None = None, record: Sequence[str] = ()) -> Results:
        """Return the results of a scenario, with the records that are named and no others."""
        key = json.dumps([name, changes or {}, list(record)])
        if key not in self._done:
            self._done[key] = simulate(self.scenario(name, changes), record)
        return self._done[key]

    def replicated(self, name: str, count: int, changes: Changes | None = None) -> Replications:
        """Return replications of a scenario."""
        from ackclock.replicate import replicate

        key = json.dumps([name, changes or {}, count])
        if key not in self._done:
            self._done[key] = replicate(self.scenario(name, changes), count, workers=1)
        return self._done[key]


def simulate(scenario: Scenario, record: Sequence[str] = ()) -> Results:
    """Run a scenario with these records."""
    from ackclock.run import run

    tables = {"kind": "none", **dict.fromkeys(record, "changes")}
    return run(scenario.set("record", tables))
