"""What plots of a sweep share: its runs and flows, its axes, and which of them goes where."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ackclock.errors import InputError, nearest, one_of
from ackclock.errors import unknown as unknown_name
from ackclock.tables import AGGREGATES, TABLES, Column, ResultTable, of_sweep
from ackclock.tables.groups import WORDS, Group, combinations, counted, summed_up
from ackclock.tables.table import require_numbers
from ackclock.tables.values import ordered, scale, spelled

from .errors import PlotError, unknown
from .facets import Facets, beside
from .options import Options

MOST_PANELS = 30
"""More small panels than this cannot be read."""

Cell = tuple[Any, ...]


class Sweep(Protocol):
    """What plots need of a sweep; `ackclock.sweep.SweepResults` has it."""

    study: str
    axes: list[str]

    @property
    def sampled(self) -> list[str]:
        """The axes whose values were drawn."""
        ...

    @property
    def state(self) -> str:
        """How much there is of it, in words; empty if it is complete."""
        ...

    def select(self, columns: Sequence[str], /) -> Any:
        """Columns of its table with one row per run."""
        ...


def is_finite(group: Group) -> bool:
    """Whether a group has a value that can be drawn: not that of an end that never came."""
    return group.value is not None and math.isfinite(group.value)


class SweepView:
    """A sweep as plots see it.

    Args:
        sweep: The sweep.
        options: Plot options.

    Raises:
        PlotError: no run is done.
        InputError: an axis, a column or a value that the sweep does not have.
    """

    def __init__(self, sweep: Sweep, options: Options | None = None) -> None:
        self.options = options or Options()
        self.width_mm = self.options.page_mm
        title = (sweep.select([]).schema.metadata or {}).get(b"title", b"").decode()
        self._sampled = sweep.sampled
        self.name = sweep.study
        self.title = title or self.name
        self._sweep = sweep
        self._axes = list(sweep.axes)
        self._levels: dict[str, list[Any]] = {}
        wanted = {name: list(values) for name, values in self.options.where}
        flow = wanted.pop("flow", None)
        self.runs: ResultTable = of_sweep(sweep, "runs", self._axes).where(wanted)
        if not len(self.runs):
            raise PlotError("no run of this sweep is done, or none has the values asked for")
        self.wanted = wanted
        self.chosen = self.runs
        """What values are taken from: the runs, or flows, each by itself."""
        asked = self.options
        named = [asked.x, asked.y, asked.lines, *(asked.facets or ())]
        results = {asked.x, asked.y, asked.value} - {None, *self._axes, *self.runs.names}
        what = one_of("what", asked.what or "runs", ("runs", "flows"))
        if asked.what is None and results & {column.name for column in TABLES["flows"]}:
            what = "flows"  # runs have no such figure
        if flow is not None or "flow" in named:
            self.wanted = {**wanted, **({"flow": flow} if flow else {})}
            self._axes.append("flow")
            what = "flows"
        if what == "flows":
            self.chosen = self.flows()
        for axis in (asked.lines, *(asked.facets or ())):
            self.axis(axis)

    def axis(self, name: str | None) -> str | None:
        """The name of an axis that was asked for; none if none was.

        Raises:
            PlotError: there is no such axis.
        """
        if name is not None and name not in self._axes:
            raise unknown("axis", name, list(dict.fromkeys([*self._axes, "flow"])))
        return name

    def flows(self) -> ResultTable:
        """The flows of all runs."""
        return of_sweep(self._sweep, "flows", list(self._sweep.axes)).where(self.wanted)

    def begun(self, flows: ResultTable) -> np.ndarray:
        """Which of these flows their runs started, as far as is known."""
        if not {"key", "start_s"} <= {*flows.names} or "end_s" not in self.runs.names:
            return np.ones(len(flows), np.bool_)
        ends = dict(zip(self.runs.values("key"), self.runs.numbers("end_s"), strict=True))
        end_s = np.array([ends[key] for key in flows.values("key")], np.float64)
        return ~(flows.numbers("start_s") >= end_s)

    @property
    def varied(self) -> list[str]:
        """The axes with more than one value among the runs shown."""
        return [name for name in self._axes if len(self.levels(name)) > 1]

    def levels(self, axis: str) -> list[Any]:
        """The values of an axis, by size where they have one."""
        if axis not in self._levels:
            self._levels[axis] = ordered(self.chosen.different(axis))
        return self._levels[axis]

    def numeric(self, axis: str) -> bool:
        """Whether an axis has numbers or quantities of one kind."""
        return scale(self.levels(axis)) is not None

    def value(self, name: str | None = None) -> Column:
        """The column of this name, or else the one that is to be shown.

        Raises:
            InputError: there is none of this name, or it holds no numbers.
        """
        wanted = name or self.options.value or "goodput_bps"
        known = {column.name for columns in TABLES.values() for column in columns}
        if isinstance(wanted, str) and wanted not in {*known, *self.chosen.names}:
            raise InputError(self._unknown(wanted))
        return require_numbers(self.chosen, wanted)

    def _unknown(self, name: str) -> str:
        """What is said of a result that neither runs nor flows have."""
        of = {
            what: sorted(c.name for c in table.columns if c.kind in ("count", "real"))
            for what, table in (("runs", self.runs), ("flows", self.flows()))
        }
        every = [name for names in of.values() for name in names]
        if nearest(name, every):
            return unknown_name("column", name, every)
        known = "; ".join(f"of {what}: {', '.join(names)}" for what, names in of.items())
        return f"unknown column '{name}'; {known}"

    def called(self, column: Column) -> str:
        """What a column is called as it is shown; of means just its title, unless asked for."""
        return summed_up(column, self.aggregate).title if self.options.aggregate else column.title

    @property
    def aggregate(self) -> str:
        """What is made of several values.

        Raises:
            InputError: there is no such word.
        """
        return one_of("aggregate", self.options.aggregate or "mean", AGGREGATES)

    @property
    def over_flows(self) -> bool:
        """Whether values of several flows go together into one."""
        apart = self.chosen is self.runs or "flow" in self._axes
        return not apart and len(self.chosen.different("flow")) > 1

    def pooled(self, *, apart: bool = False) -> list[str]:
        """A sentence about what goes into one value, where it is not plain.

        With `apart` each point of a sample has a value of its own.
        """
        flows = f"{len(self.chosen.different('flow'))} flows" if self.over_flows else ""
        pool = " and ".join(filter(None, (flows, self._again if apart else self.meant)))
        asked = self.over_flows or self.options.aggregate or (self.sampled and not apart)
        return [f"Each value is the {WORDS[self.aggregate]} over {pool}."] if asked and pool else []

    def there(self, *columns: Column) -> np.ndarray:
        """Which rows have a value in all of these columns that the aggregate takes."""
        known = np.ones(len(self.chosen), np.bool_)
        for column in columns:
            known &= ~np.isnan(counted(self.chosen, column.name, self.aggregate))
        return known

    def known(self, found: Sequence[Group], value: Column) -> list[Group]:
        """Those of some groups that have a finite value.

        Raises:
            PlotError: there are none.
        """
        known = [group for group in found if is_finite(group)]
        if known:
            return known
        if self.never(found):
            which = f"{WORDS[self.aggregate]} of '{value.name}'"
            raise PlotError(f"nothing to draw: each {which} is of a flow that did not finish")
        raise PlotError(f"nothing to draw: no run has a value of '{value.name}'")

    def never(self, found: Sequence[Group]) -> list[str]:
        """A sentence about infinite values: times of an end that too often did not come."""
        late = sum(group.value is not None and not is_finite(group) for group in found)
        word = WORDS[self.aggregate]
        said = f"Not drawn: {late} of {len(found)} values, whose {word} is of an unfinished flow."
        return [said] if late else []

    def left_out(self, *columns: Column) -> list[str]:
        """A sentence about rows without a value, such as flows that did not finish."""
        without = int((~self.there(*columns)).sum())
        rows = "runs" if self.chosen is self.runs else "flows of all runs"
        names = " or ".join(column.name for column in columns)
        said = f"Left out: {without} of {len(self.chosen)} {rows}, which lack {names}."
        notes = [said] if without else []
        for column in columns:
            if late := int(np.isinf(counted(self.chosen, column.name, self.aggregate)).sum()):
                notes.append(
                    f"{late} of {len(self.chosen)} {rows} have no {column.name}, since they did "
                    "not finish: they count as later than all others."
                )
        return notes

    @property
    def replications(self) -> int:
        """Runs with equal settings, at most."""
        if "replication" not in self.runs.names:
            return 1
        return len(self.runs.different("replication"))

    def cells(self, axes: Sequence[str]) -> list[Cell]:
        """The combinations of values of some axes that occur, in order.

        Raises:
            PlotError: they are too many for panels of one figure.
        """
        found, _ = combinations(self.chosen, axes)
        if len(found) > MOST_PANELS:
            shown = " and ".join(axes)
            raise PlotError(
                f"{len(found)} combinations of {shown} are too many panels for one figure; choose "
                f"some with --where, such as --where '{axes[0]}={spelled(self.levels(axes[0])[0])}'"
            )
        return found

    def page(
        self,
        title: str,
        facets: Sequence[str],
        most: int,
        height_mm: float,
        *more: str,
        **sizes: Any,
    ) -> Facets:
        """A page with a panel of this height for each combination of values of some axes.

        Args:
            title: What is shown.
            facets: The axes.
            most: How many panels have room beside each other.
            height_mm: Height of the axes of a panel.
            more: What the subtitle says beside the runs.
            sizes: As `Facets` takes them.
        """
        cells, levels = self.cells(facets), len(self.levels(facets[-1])) if facets else 0
        return Facets(
            self.width_mm,
            title,
            self.subtitle(self.title, *more),
            self.caption(),
            len(cells),
            beside(len(cells), most, levels),
            height_mm,
            heads=[self.words(facets, cell) for cell in cells],
            notes=self.explained(facets),
            **sizes,
        )

    @property
    def sampled(self) -> list[str]:
        """The varied axes whose values were drawn: their points make no grid."""
        return [axis for axis in self.varied if axis in self._sampled]

    @property
    def meant(self) -> str:
        """What means are over that are shown for values of axes that were not drawn."""
        if self.sampled:
            return f"{len(combinations(self.runs, self.sampled)[0])} points of the sample"
        return self._again

    @property
    def _again(self) -> str:
        return f"{self.replications} replications" if self.replications > 1 else ""

    def left(self, *taken: str | None) -> list[str]:
        """The varied axes that are not taken and were not drawn."""
        return [axis for axis in self.varied if axis not in (*taken, *self._sampled)]

    def together(self, axis: str) -> list[str]:
        """The other varied axes of which each value of this one has one value, as in a `zip`."""
        count = len(self.levels(axis))
        return [a for a in self.left(axis) if len(combinations(self.chosen, [axis, a])[0]) == count]

    def in_order(self, axis: str) -> bool:
        """Whether what varies together with an axis grows or falls with it: points make a line."""
        if axis in self.sampled:
            return False
        for other in filter(self.numeric, self.together(axis)):
            sizes = scale([cell[1] for cell in combinations(self.chosen, [axis, other])[0]]) or ()
            if list(sizes) not in (sorted(sizes), sorted(sizes, reverse=True)):
                return False
        return True

    def words(self, axes: Sequence[str], cell: Cell) -> str:
        """What a combination of values is called."""
        return ", ".join(
            f"{self.short(axis)} {spelled(value)}" for axis, value in zip(axes, cell, strict=True)
        )

    def short(self, axis: str) -> str:
        """The end of an axis' path that no other axis has, such as "limit"."""
        parts = axis.split(".")
        for count in range(1, len(parts)):
            ends = [other.split(".")[-count:] for other in self._axes]
            if ends.count(parts[-count:]) == 1:
                return ".".join(parts[-count:])
        return axis

    def explained(self, axes: Sequence[str]) -> list[str]:
        """A sentence with the paths of axes that are shown by their ends."""
        shown = [f"{self.short(axis)}: {axis}" for axis in axes if self.short(axis) != axis]
        return [f"{', '.join(shown)}."] if shown else []

    def subtitle(self, *parts: str) -> str:
        """How many runs there are, what they have in common, and more."""
        fixed = [a for a in self._axes if a not in (*self.varied, "flow")]
        same = [f"{axis} {spelled(self.levels(axis)[0])}" for axis in fixed]
        count = len(self.runs)
        runs = f"{count} runs" if count != 1 else "1 run"
        state = f"the sweep is {self._sweep.state}" if self._sweep.state else ""
        return "  ·  ".join(part for part in (*parts, runs, state, *same) if part)

    @property
    def whose(self) -> str:
        """Whose values are shown, where they are those of some flows."""
        if "flow" not in self._axes:
            return ""
        return f" of {'each flow' if 'flow' in self.varied else self.levels('flow')[0]}"

    def caption(self) -> str:
        """Which sweep it is."""
        seeds = sorted(self.runs.different("seed"))
        shown = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
        return "  ·  ".join((self.name, shown))
