"""A study: one scenario, what is varied in it, and how often each combination is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import library
from ackclock.document import SUFFIXES, Document, parse_value, require_plain
from ackclock.errors import (
    InputError,
    Problem,
    ScenarioError,
    pairs_of,
    path_of,
    refuse,
    whole_number,
)
from ackclock.files import expanded
from ackclock.scenario import Scenario, find, no_scenario, plain
from ackclock.sweep import figures
from ackclock.sweep.axes import Setting
from ackclock.sweep.grammar import MOST_RUNS, Grammar, tree_of
from ackclock.sweep.model import SEEDS, Design

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.sweep.executor import Executor
    from ackclock.sweep.plan import Plan
    from ackclock.sweep.results import SweepResults
    from ackclock.sweep.session import SweepProgress

_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*")


class Study(Design):
    """A scenario with axes along which it is varied.

    >>> from ackclock.sweep import Study
    >>> study = Study("bene/one-flow", grid={"links.L1.rate": ["1 Mbps", "2 Mbps"]})
    >>> study.run(workers=1).table.num_rows
    2

    Every value of a scenario can be varied; a path leads to it as in `--set`. The checks of
    scenarios apply to every combination, before anything runs.

    Args:
        base: What is varied: a `Scenario`, a file, a name of the package, or a document as a dict.
        grid: Axes of which every combination is run. An axis is a list of values under a path,
            `{"path": PATH, "values": [...]}` under a name (or `paths` with a list of paths), or
            `{LABEL: {PATH: VALUE, ...}, ...}` under a name, to set several things at once.
        zip: Axes that advance together: their first values, their second ones, ... A list of such
            mappings makes several groups, which are combined with each other and with the grid.
        sample: Points that are drawn, combined with the others: `points`, how many, and `over`,
            axes as in a grid or ranges, `{PATH: {"from": VALUE, "to": VALUE}}`, with `"scale":
            "log"` for equal ratios; also `method` (`latin-hypercube`, `random`, `sobol`), `seed`.
        replications: How many seeds each combination is run with: its own and those after it.
        settings: What is the same in all runs: values by path.
        name: What the study is called; by default as its scenario.
        title: A line about it.

    Raises:
        ScenarioError: a part of the study makes no sense.
        InputError: there is no such scenario.
    """

    def __init__(
        self,
        base: Scenario | str | Path | Mapping[str, Any],
        *,
        grid: Mapping[str, Any] | None = None,
        zip: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        sample: Mapping[str, Any] | None = None,
        replications: int = 1,
        settings: Mapping[str, Any] | None = None,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        given: dict[str, Any] = {"grid": grid, "zip": zip, "sample": sample, "set": settings}
        given["replications"] = replications
        parts = {key: plain(_lists(value)) for key, value in given.items() if value is not None}
        require_plain(parts)
        for key, text in (("name", name), ("title", title)):
            if text is not None and not isinstance(text, str):
                refuse(key, text, "text")
        self.file = None
        self.inline = False
        self.base, self.folder, own_name = _base(base)
        reader = Grammar(None, figures.RESERVED)
        self._take(reader, tree_of(parts), name or own_name, title)

    @classmethod
    def of_seeds(cls, scenario: Scenario, first_seed: int, count: int) -> Study:
        """Return a study without axes: a scenario with `count` seeds from `first_seed` on.

        Raises:
            InputError: a seed or count that makes no sense.
        """
        count, first_seed = whole_number("count", count), whole_number("first_seed", first_seed)
        if not 1 <= count <= MOST_RUNS:
            raise InputError(f"{count} replications: take 1 to {MOST_RUNS}")
        if first_seed < 0 or first_seed + count > SEEDS:
            raise InputError(f"seeds from {first_seed} on: they go from 0 to {SEEDS - 1}")
        return cls(scenario.set("seed", first_seed), replications=count)

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Iterable[tuple[str, Any]] = ()) -> Study:
        """Read a study from a file.

        Args:
            path: A YAML, JSON or TOML file, or the name of a study of the package.
            overrides: Paths and values that are set in all runs, before the axes; text is read as
                by `--set`.

        Raises:
            InputError: the file cannot be opened.
            ScenarioError: something in it makes no sense; all of it is reported.
        """
        study = cls.__new__(cls)
        pairs = pairs_of("overrides", overrides)
        place = path_of("path", path)
        if not place.is_file():
            place = library.study(str(path)) or place
        if not place.is_file():
            raise InputError(f"no such file: '{place}'; a sweep needs a study file")
        file = Document.read(place, begin="study: my-study")
        study.file = file
        root = file.tree()
        reader = Grammar(file.file, figures.RESERVED)
        reader.keys(root)
        name, title = reader.text(root, "study"), reader.text(root, "title")
        study.inline = "scenario" in root.value
        _load_base(study, reader, place)
        study._take(reader, root, name or _stem(place), title)
        study.settings += tuple(_outside(path_, value) for path_, value in pairs)
        study._require_free(pairs)
        return study

    def _require_free(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Check that no axis varies what is set from outside: its values would win."""
        for axis in (axis for dimension in self.dimensions for axis in dimension.axes):
            varied = {setting.path for choice in axis.choices for setting in choice.settings}
            for path in (path for path, _ in pairs if path in varied):
                raise InputError(
                    f"the axis '{axis.name}' varies {path}: a value set for all runs has no effect"
                )

    def _take(self, reader: Grammar, root: Any, name: str, title: str | None) -> None:
        """Read what is varied, and raise if anything is wrong with the study."""
        self.name, self.title = name, title
        node = root.value.get("study")
        if not _NAME.fullmatch(name):
            reader.problem(
                "study",
                "this cannot be the name of a study",
                node.position if node else None,
                value=name,
                allowed="letters, digits, `-`, `_`, `.`, with `/` between topics",
                hint="a `title` may hold any text",
            )
        self.settings = reader.settings(root.value.get("set"), "set")
        self.dimensions = (
            *reader.grid(root.value.get("grid")),
            *reader.zips(root.value.get("zip")),
            *reader.sample(root.value.get("sample")),
        )
        self.replications = reader.replications(root)
        if not reader.problems and len(self) > MOST_RUNS:
            reader.problem(
                "",
                f"{len(self)} runs are too many",
                None,
                allowed=f"at most {MOST_RUNS}",
                hint="several studies, or fewer values or replications",
            )
        if reader.problems:
            raise ScenarioError(sorted(reader.problems, key=lambda p: (p.line or 0, p.column or 0)))

    def plan(self, workers: int | None = None) -> Plan:
        """Check every combination and work out its key.

        Args:
            workers: Threads; default one for each core.

        Raises:
            ScenarioError: some combinations cannot be run.
        """
        from ackclock.sweep.plan import Plan

        return Plan.of(self, workers)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        workers: int | None = None,
        *,
        retry_failed: bool = False,
        force: bool = False,
        time_limit_s: float | None = None,
        memory_limit: int | None = None,
        progress: Callable[[SweepProgress], None] | None = None,
        executor: Executor | None = None,
    ) -> SweepResults:
        """Simulate what is missing and return the results of all runs.

        Args:
            out: Folder of the sweep. What an earlier call left there is not simulated again.
                Without one, results are kept in memory only.
            workers: Processes that simulate; default one for each core. The results are the same
                with any number.
            retry_failed: Simulate again what failed.
            force: Use a folder of another study: what both share is kept, the rest is set aside.
            time_limit_s: A run that takes longer is given up and counts as failed; above 0, by
                default no limit. Whether a run does depends on the machine, so this is for runs
                that may never end.
            memory_limit: Bytes that each process may take, from 64,000,000 up; a run that needs
                more counts as failed. By default no limit.
            progress: Called a few times per second with how far the sweep is.
            executor: What simulates, instead of processes on this machine, such as a
                `DaskExecutor`. It is not closed.

        Returns:
            One row per run, in the order of the study, whatever the order of the simulations.

        Raises:
            ScenarioError: some combinations cannot be run; nothing was.
            InputError: the folder belongs to something else, or an argument makes no sense.
            SweepInterrupted: Ctrl-C (a `KeyboardInterrupt`); carries what is done. Call again to go
                on.
        """
        from ackclock.sweep.session import run

        return run(
            self.plan(workers),
            out,
            workers,
            retry_failed=retry_failed,
            force=force,
            time_limit_s=time_limit_s,
            memory_limit=memory_limit,
            progress=progress,
            executor=executor,
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the axes, and how many runs there are."""
        from ackclock.tables.cards import study

        return study(self)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {len(self)} runs)"


def _lists(value: Any) -> Any:
    """Return data with lists in place of tuples, ranges and generators, as documents have them."""
    if isinstance(value, dict):
        return {key: _lists(inner) for key, inner in value.items()}
    return (
        [_lists(inner) for inner in value]
        if isinstance(value, list | tuple | range | Iterator)
        else value
    )


def _base(base: Scenario | str | Path | Mapping[str, Any]) -> tuple[Document, Path, str]:
    """Return the document that is varied, where its relative paths start, and its name."""
    if isinstance(base, Scenario):
        folder = base.path.parent if base.path else Path()
        return base.source, folder, base.name
    if isinstance(base, Mapping):
        data = plain(dict(base))
        require_plain(data)
        return Document(data), Path(), str(data.get("name", "sweep"))
    if not isinstance(base, str | PathLike):
        raise no_scenario(base, "a file, a name, a mapping or a `Scenario`")
    path = find(base)
    document = Document.read(path)
    return document, path.parent, str(document.data.get("name", path.stem))


def _load_base(study: Study, reader: Grammar, place: Path) -> None:
    """Find the scenario that a file names or holds; `study` has a valid base or `reader` a problem.

    A placeholder stands in when there is none, so that the rest of the file is checked as well.
    """
    assert study.file is not None
    data, root = study.file.data, study.file.tree()
    study.base, study.folder = Document({}), place.parent
    named = root.value.get("base")
    if study.inline:
        inner = data["scenario"]
        node = root.value["scenario"]
        if named is not None:
            message = "'base' and 'scenario' exclude each other"
            reader.problem("base", message, named.position, hint="keep one of the two")
        if isinstance(inner, dict):
            study.base = Document(inner)
        else:
            reader.problem("scenario", "a scenario is a mapping of keys to values", node.position)
        return
    if named is None:
        hint = "base: FILE or NAME, or a scenario under 'scenario'"
        reader.problem("", "there is no scenario to vary", (1, 1), hint=hint)
        return
    if not isinstance(named.value, str) or not named.value:
        reader.problem("base", "the name of a scenario or file is needed", named.position)
        return
    beside = place.parent / expanded(named.value)
    is_path = beside.exists() or beside.suffix.lower() in SUFFIXES
    try:
        path = find(beside if is_path else named.value)
    except InputError as error:
        allowed = "a file, relative to this one, or a name of 'ackclock list scenario'"
        reader.problem("base", str(error), named.position, value=named.value, allowed=allowed)
        return
    study.base, study.folder = Document.read(path), path.parent


def _stem(path: Path) -> str:
    return re.sub(r"[^\w.-]+", "-", path.stem).lstrip(".") or "study"


def _outside(path: str, value: Any) -> Setting:
    """Return a setting from outside, such as `--set`."""
    option = f"--set {path}={value}"
    if isinstance(value, str):
        try:
            value = parse_value(value)
        except ValueError as error:
            message = f"the value cannot be read: {error}"
            raise ScenarioError([Problem(message, path=path, file=option)]) from None
    return Setting(path, value, None, option)
