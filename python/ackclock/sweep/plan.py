"""All runs of a study: every combination checked, each run with a key.

The key of a run is the SHA-256 of the engine (version and fingerprint of its sources), the seed,
and the resolved scenario apart from texts and records. Equal keys mean equal results.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Sequence
from typing import Any

from ackclock.document import OverrideError
from ackclock.errors import Problem, ScenarioError, whole_number
from ackclock.sweep import axes
from ackclock.sweep.axes import Label, Setting
from ackclock.sweep.faults import explain
from ackclock.sweep.model import SEEDS, Design, Runs

# Documents that are checked in one call: control comes back for Ctrl-C in between.
_TURN = 200
_MOST_WORKERS = 1024


class Keys(Sequence[str]):
    """Keys of runs, kept as one text: as objects, a million of them take a hundred megabytes.

    Attributes:
        text: The hexadecimal digits of all, one key after the other.
    """

    digits = 64

    def __init__(self, text: bytes | bytearray) -> None:
        self.text = text

    def __len__(self) -> int:
        return len(self.text) // self.digits

    def __getitem__(self, index: Any) -> Any:
        text, digits = self.text, self.digits
        places = range(len(self))[index]
        if isinstance(places, range):
            return [text[at * digits : (at + 1) * digits].decode() for at in places]
        return text[places * digits : (places + 1) * digits].decode()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash(bytes(self.text))


class Plan:
    """The runs of a study, numbered in the order of its table.

    Combinations run through the product of the dimensions, the last one fastest; the replications
    of a combination stand together.

    Attributes:
        study: The study.
        keys: Key of each run.
        seeds: Seed of each run.
    """

    def __init__(self, study: Design, keys: Keys, seeds: Sequence[int]) -> None:
        self.study = study
        self.keys = keys
        self.seeds = seeds

    @classmethod
    def of(cls, study: Design, workers: int | None = None) -> Plan:
        """Check all combinations of a study.

        Raises:
            ScenarioError: some cannot be run; all errors are reported.
        """
        checker = _Checker(study, processes(workers))
        for start in range(0, study.points, _TURN):
            checker.check(range(start, min(start + _TURN, study.points)))
        checker.finish()
        return cls(study, Keys(checker.keys), checker.seeds)

    def __len__(self) -> int:
        return len(self.keys)

    def labels(self, index: int) -> list[Label]:
        """Return what is chosen on each axis for a run."""
        chosen = axes.point(self.study.dimensions, index // self.study.replications)
        return [choice.label for _, choice in chosen]

    def replication(self, index: int) -> int:
        """Return the number of a replication, from 0."""
        return index % self.study.replications

    def document(self, index: int) -> str:
        """Return the document of a run, as the simulator takes it."""
        data = self.study.document_of(index // self.study.replications)
        return json.dumps({**data, "seed": self.seeds[index]}, ensure_ascii=False)

    def runs(self, indexes: range) -> Runs:
        """Return runs of one combination, as an executor takes them."""
        first = indexes.start
        keys = tuple(self.keys[first : indexes.stop])
        return Runs(self.document(first), self.seeds[first], keys)


def engine() -> str:
    """Return version and build of the simulator, a part of every key."""
    from ackclock import _core

    return f"ackclock {_core.version()} {_core.build()}"


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def processes(workers: int | None) -> int:
    """Return how many processes `workers` asks for; one a core if it is None.

    Raises:
        InputError: it is not a whole number from 1 to 1024.
    """
    return cores() if workers is None else whole_number("workers", workers, _MOST_WORKERS)


class _Checker:
    """Collects keys and what is wrong."""

    def __init__(self, study: Design, workers: int) -> None:
        self.study = study
        self.workers = workers
        self.keys = bytearray()
        self.seeds = array("Q")
        self.wrong: list[tuple[int, dict[str, Any]]] = []
        self.problems: list[tuple[int, Problem, Setting | None]] = []
        self._engine = engine()

    def check(self, points: range) -> None:
        """Check some combinations."""
        documents = {point: data for point in points if (data := self._document(point)) is not None}
        for (point, data), (identity, seed, errors) in zip(
            documents.items(), self._identify(list(documents.values())), strict=True
        ):
            if identity is None:
                self.wrong += [(point, entry) for entry in json.loads(errors or "[]")]
            else:
                self._add(point, data, identity, seed)

    def finish(self) -> None:
        """Raise if anything is wrong."""
        if self.wrong or self.problems:
            raise ScenarioError(explain(self.study, self.wrong, self.problems))

    def _document(self, point: int) -> dict[str, Any] | None:
        try:
            return self.study.document_of(point)
        except OverrideError as error:
            paths = {setting.path: setting for setting in self.study.settings_of(point)}
            self.problems.append((point, error.problem, paths.get(error.problem.path)))
        except ScenarioError as error:
            self.problems += [(point, problem, None) for problem in error.problems]
        return None

    def _identify(
        self, documents: list[dict[str, Any]]
    ) -> list[tuple[str | None, int, str | None]]:
        from ackclock import _core

        texts = [json.dumps(document, ensure_ascii=False) for document in documents]
        return _core.identify(texts, self.workers)

    def _add(self, point: int, data: dict[str, Any], identity: str, first_seed: int) -> None:
        count = self.study.replications
        if first_seed + count > SEEDS:
            message = f"{count} replications go beyond the largest seed, {SEEDS - 1}"
            entry = {"path": ["seed"], "message": message, "value": first_seed}
            self.wrong.append((point, {**entry, "allowed": None, "hint": None}))
            return
        # Every seed resolves a scenario in the same way: rules that draw stay rules.
        common = hashlib.sha256(f"{self._engine}\n{identity}\n".encode())
        for seed in range(first_seed, first_seed + count):
            own = common.copy()
            own.update(str(seed).encode())
            self.keys += own.hexdigest().encode()
            self.seeds.append(seed)
