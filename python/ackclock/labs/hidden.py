"""The networks that students do not see."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from ackclock.document import Document
from ackclock.errors import InputError, Problem, ScenarioError, unknown
from ackclock.labs.questions import HIDDEN, Lab


class Hidden:
    """Networks that students do not see, drawn by the teacher's seed.

    The file has an entry for each question that is tried on them: `networks`, how many, and `set`,
    with a list of values for each path. Each network takes one value of each list; no value comes
    twice before all of them were used. `networks` may also be a list of mappings of paths to
    values, of which `take` are drawn (default: all of them).
    """

    def __init__(self, lab: Lab, seed: int, file: Path | None = None) -> None:
        self.file = file if file is not None else lab.folder / HIDDEN
        self.seed = seed
        begin = "QUESTION: {networks: 4, set: {PATH: [VALUE, VALUE]}}"
        there = self.file.is_file()
        self._document = Document.read(self.file, begin) if there else Document({})
        if file is not None and not file.is_file():
            raise InputError(f"no such file: '{file}'")
        names = [question.name for question in lab.questions]
        for name in self._document.data:
            if name not in names:
                message = unknown("question", name, names)
                raise ScenarioError([self._document.problem((name,), message)])

    def networks(self, question: str) -> list[dict[str, Any]]:
        """Return the networks of a question, as values to set.

        Raises:
            ScenarioError: the file describes none.
        """
        found = self._document.data.get(question)
        entry: dict[str, Any] = found if isinstance(found, dict) else {}
        described = entry.get("networks")
        if isinstance(described, list) and all(isinstance(one, dict) for one in described):
            take = entry.get("take", len(described))
            if not isinstance(take, int) or not 1 <= take <= len(described):
                raise self._wrong(question, f"`take` is a number from 1 to {len(described)}")
            taken = random.Random(f"{question}/{self.seed}").sample(range(len(described)), take)
            return [dict(described[i]) for i in sorted(taken)]
        ranges = entry.get("set")
        if not isinstance(described, int) or not 1 <= described <= 100:
            raise self._wrong(question, "`networks` is a number from 1 to 100, or a list of them")
        if not isinstance(ranges, dict) or not all(
            isinstance(values, list) and values for values in ranges.values()
        ):
            raise self._wrong(question, "`set` is a list of values for each path")
        drawn: list[dict[str, Any]] = [{} for _ in range(described)]
        for path, values in ranges.items():
            # A stream of its own for each path: another path moves no value.
            shuffled = random.Random(f"{question}/{path}/{self.seed}").sample(values, len(values))
            for i, network in enumerate(drawn):
                network[path] = shuffled[i % len(values)]
        return drawn

    def placed(self, question: str, error: ScenarioError) -> ScenarioError:
        """Return the error of a network with the place of its question in the file."""
        return self._document.placed((question,), error)

    def _wrong(self, question: str, message: str) -> ScenarioError:
        if question not in self._document.data:
            hint = "docs/labs.md has an example"
            message = f"no networks for the question '{question}'"
            return ScenarioError([Problem(message, file=str(self.file), hint=hint)])
        return ScenarioError([self._document.problem((question,), message)])
