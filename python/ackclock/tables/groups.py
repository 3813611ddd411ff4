"""Means of a table: by the values of some columns, and as a cross table of two."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ackclock.arrays import Flags, Floats
from ackclock.columns import ENDS, PERCENTILES, Column
from ackclock.errors import InputError, listed, names_of, one_of, refuse, several
from ackclock.metrics.statistics import LEVEL, Interval, t_interval
from ackclock.tables.table import ResultTable, require_numbers, require_table
from ackclock.tables.values import ordered, spelled


def ranked(share: float) -> Callable[[Sequence[float]], float]:
    """Return what gives the nearest-rank percentile: a value that this share does not exceed."""
    return lambda values: float(np.quantile(values, share, method="inverted_cdf"))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "sum": math.fsum,
    "median": statistics.median,
    "min": min,
    "max": max,
    "p95": ranked(PERCENTILES["p95"]),
    "p99": ranked(PERCENTILES["p99"]),
}
"""What can be made of several values, by its word."""

_PARTS = ("run", "flow", "link", "direction", "reason")
"""Columns that distinguish the rows of one run; a mean over them is not one over replications."""

WORDS = {"mean": "mean", "sum": "sum", "median": "median", "min": "minimum", "max": "maximum"}
WORDS |= {"p95": "95th percentile", "p99": "99th percentile"}
"""What these are called."""


_Run = tuple[str, ...]
"""A seed, and the values that were drawn: which runs of two settings belong together."""


@dataclass(frozen=True)
class Group:
    """Values that belong together.

    Attributes:
        key: The values of the columns that they share.
        value: What was made of them; none without values, infinite for an end that never came.
        count: How many there are.
        interval: Confidence interval of the mean by Student's t; none unless these are at least two
            replications of one run.
    """

    key: tuple[Any, ...]
    value: float | None
    count: int
    interval: Interval | None


def groups(
    table: ResultTable,
    by: Sequence[str],
    value: str,
    aggregate: str = "mean",
    replicated: bool = True,
) -> list[Group]:
    """Return what becomes of the values of a column for each combination of other columns.

    Args:
        table: The table.
        by: Columns whose values belong together.
        value: The column of numbers.
        aggregate: A name of `AGGREGATES`.
        replicated: Whether rows of a group are replications, so that a mean has an interval.

    Raises:
        InputError: there is no such column or aggregate, or it holds no numbers.
    """
    one_of("aggregate", aggregate, AGGREGATES)
    require_numbers(table, value)
    keys, places = combinations(table, by)
    numbers = counted(table, value, aggregate)
    order = np.argsort(places, kind="stable")
    parts = np.split(numbers[order], np.searchsorted(places[order], range(1, len(keys))))
    meant, make = aggregate == "mean" and replicated, AGGREGATES[aggregate]
    return [
        Group(key, make(mine), len(mine), t_interval(mine) if meant else None)
        if (mine := part[~np.isnan(part)].tolist())
        else Group(key, None, 0, None)
        for key, part in zip(keys, parts[: len(keys)], strict=True)
    ]


def counted(table: ResultTable, value: str, aggregate: str) -> Floats:
    """Return the numbers of a column that an aggregate takes, NaN for those that it leaves out.

    In quantiles of times of an end, flows that did not finish are later than all others, that is
    infinite, unless they have no end.
    """
    numbers = table.numbers(value)
    if not _by_rank(value, aggregate):
        return numbers
    return np.where(np.isnan(numbers) & ~_endless(table, value), np.inf, numbers)


def _by_rank(value: str, aggregate: str) -> bool:
    return value in ENDS and aggregate not in ("mean", "sum")


def _endless(table: ResultTable, value: str) -> Flags:
    """Which rows are of flows without an end.

    Sweeps do not keep how much a flow has to send: there it is those that finish in no run.
    """
    without = np.isnan(table.numbers(value))
    if "bytes_offered" in table.names:
        return without & np.isnan(table.numbers("bytes_offered"))
    if "flow" not in table.names:
        return np.zeros(len(table), np.bool_)
    flows, codes = table.coded("flow")
    return np.bincount(codes[~without], minlength=len(flows))[codes] == 0


def combinations(table: ResultTable, by: Sequence[str]) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Return the combinations of values of columns that occur, in order, and which each row has."""
    keys: list[tuple[Any, ...]] = [()] if len(table) else []
    places = np.zeros(len(table), np.int64)
    for name in by:
        values, codes = table.coded(name)
        levels = ordered(values)
        rank = {value: place for place, value in enumerate(levels)}
        own = np.array([rank[value] for value in values], np.int64)
        there, places = np.unique(places * len(levels) + own[codes], return_inverse=True)
        pairs = (divmod(place, len(levels)) for place in there.tolist())
        keys = [(*keys[before], levels[level]) for before, level in pairs]
    return keys, places


def grouped(
    table: ResultTable,
    by: Sequence[str],
    values: Sequence[str],
    aggregate: str = "mean",
    axes: Sequence[str] = (),
    sampled: Sequence[str] = (),
) -> ResultTable:
    """Return a row for each combination of some columns, with means and their intervals.

    Args:
        table: The table.
        by: Columns whose values belong together.
        values: Columns of numbers to sum up.
        aggregate: A name of `AGGREGATES`.
        axes: Columns over which no interval makes sense; where one of them differs within a group
            there is none, and a note says so.
        sampled: Those of these axes whose values were drawn, so that few rows share one.

    Raises:
        InputError: there is no such column or aggregate, or one that holds no numbers.
    """
    require_table(table)
    by, values, axes = (
        names_of(name, given, "goodput_bps")
        for name, given in (("by", by), ("values", values), ("axes", axes))
    )
    mixed = _mixed(table, by, axes)
    keys, _ = combinations(table, by)
    made: dict[Column, list[Any]]
    made = {table.column(name): [key[i] for key in keys] for i, name in enumerate(by)}
    parts: list[_Part] = []
    for name in values:
        meant, found = table.column(name), groups(table, by, name, aggregate, not mixed)
        summed = summed_up(meant, aggregate)
        cells: dict[Column, list[Any]] = {summed: [group.value for group in found]}
        if any(group.interval for group in found):
            own = replace(
                summed, meaning=meant.meaning, formula="Student's t over the replications"
            )
            cells |= _ends(own, [group.interval for group in found])
        parts.append(_Part(meant, [group.count for group in found], cells))
    made |= _joined(Column("rows", "Rows", "count", meaning="How many rows are summed up"), parts)
    left_out = (note for name in values for note in without_value(table, name, aggregate))
    return ResultTable.of(
        made, table.title, (*table.notes, *_notes(mixed, aggregate, sampled), *left_out)
    )


class _Part(NamedTuple):
    """The columns that are made of one, and how many rows or pairs they are made of."""

    meant: Column
    counts: list[int]
    cells: Mapping[Column, list[Any]]


def _joined(counting: Column, parts: Sequence[_Part]) -> dict[Column, list[Any]]:
    """Return all columns, with one for the counts; if these differ each part has its own."""
    made: dict[Column, list[Any]] = {}
    alike = all(part.counts == parts[0].counts for part in parts)
    for meant, counts, cells in parts:
        name, title = f"{meant.name}_{counting.name}", f"{meant.title}, {counting.title.lower()}"
        made[counting if alike else replace(counting, name=name, title=title)] = counts
        made |= cells
    return made


def _ends(column: Column, intervals: Sequence[Interval | None]) -> dict[Column, list[Any]]:
    """The ends of confidence intervals of the means of a column."""
    return {
        replace(
            column,
            name=f"{column.name}_{end}",
            title=f"{title}, {LEVEL * 100:g} %",
            meaning=f"{word} end of the confidence interval of the mean: {column.meaning}",
        ): [getattr(interval, end, None) for interval in intervals]
        for end, word, title in (("low", "Lower", "from"), ("high", "Upper", "to"))
    }


def paired(
    table: ResultTable,
    by: Sequence[str],
    values: Sequence[str],
    against: tuple[str, str],
    sampled: Sequence[str] = (),
) -> ResultTable:
    """Return how values differ from those of one setting, seed by seed or point by point.

    All settings are simulated with the same seeds, so that much of the randomness is common to both
    and falls out of the difference (common random numbers: Law, Simulation Modeling and Analysis,
    5th ed. 2015, section 11.2). So it is with the points of a sample, which are the same for all;
    replications of a point are averaged first, since only points are independent of each other.

    Args:
        table: A table with a column `seed`.
        by: Columns whose values belong together, `against` among them.
        values: Columns of numbers to compare.
        against: Column and value, as text, with which all others are compared.
        sampled: Columns whose values a study has drawn; those that `by` does not name distinguish
            the runs that are compared, as their seeds do.

    Raises:
        InputError: there is no such column or value, or something other than the seed differs
            within a group.
    """
    require_table(table)
    by, values = names_of("by", by, "flows.*.tcp.cc"), names_of("values", values, "goodput_bps")
    pair = several(against) or []
    if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        refuse("against", against, "a column and its value, such as ('flows.*.tcp.cc', 'reno')")
    name, wanted = pair
    if name not in by:
        raise InputError(f"--against compares values of '{name}', which --by has to name")
    if "seed" not in table.names:
        raise InputError("only results of a sweep can be compared seed by seed")
    base = table.where({name: [wanted]}).values(name)
    others = [one for one in by if one != name]
    place = by.index(name)
    drawn = [one for one in names_of("sampled", sampled, "links.L1.rate") if one not in by]
    parts: list[_Part] = []
    compared: list[tuple[Any, ...]] = []
    unit = "point of the sample" if drawn else "seed"
    averaged = ", each averaged over its replications" if drawn else ""
    for value in values:
        meant, found = require_numbers(table, value), _by_seed(table, by, value, drawn)
        compared = [key for key in found if key[place] != base[0]]
        references = [found.get((*k[:place], base[0], *k[place + 1 :]), {}) for k in compared]
        apart = [
            _apart(found[key], theirs) for key, theirs in zip(compared, references, strict=True)
        ]
        difference = replace(
            meant,
            name=f"{value}_difference",
            title=f"{meant.title}, difference",
            kind="real",
            meaning=f"Mean of the difference from {name}={wanted}: {meant.meaning}",
            formula=f"Student's t over the differences of runs with the same {unit}{averaged}",
        )
        cells: dict[Column, list[Any]]
        cells = {difference: [statistics.fmean(mine) if mine else None for mine in apart]}
        own = replace(difference, meaning=difference.meaning.removeprefix("Mean of the "))
        cells |= _ends(own, [t_interval(mine) if mine else None for mine in apart])
        parts.append(_Part(meant, [len(mine) for mine in apart], cells))
    made: dict[Column, list[Any]]
    made = {table.column(one): [key[i] for key in compared] for i, one in enumerate(by)}
    meaning = f"How many {'points' if drawn else 'seeds'} both have"
    made |= _joined(Column("pairs", "Pairs", "count", meaning=meaning), parts)
    way = "point by point" if drawn else "seed by seed"
    title = f"{table.title}: differences from {name}={wanted}, {way}"
    notes = list(table.notes)
    if max((count for part in parts for count in part.counts), default=0) < 2:
        more = "a larger sample" if drawn else "a study with `replications`"
        notes.append(f"One pair gives no interval; {more} has several.")
    if others and not compared:
        notes.append(f"No other value of '{name}' shares all of {', '.join(others)}.")
    return ResultTable.of(made, title, notes)


def _apart(mine: Mapping[_Run, float], theirs: Mapping[_Run, float]) -> list[float]:
    """Return the differences of runs, averaged over the seeds of each point of a sample."""
    found: dict[Any, list[float]] = {}
    for (seed, *point), number in mine.items():
        if (seed, *point) in theirs:
            unit = tuple(point) or seed
            found.setdefault(unit, []).append(number - theirs[seed, *point])
    return [statistics.fmean(differences) for differences in found.values()]


def _by_seed(
    table: ResultTable, by: Sequence[str], value: str, drawn: Sequence[str]
) -> dict[tuple[Any, ...], dict[_Run, float]]:
    """Return numbers by what `by` names, and then by seed and by what was drawn."""
    found: dict[tuple[Any, ...], dict[_Run, float]] = {}
    keys, places = combinations(table, by)
    numbers = table.numbers(value).tolist()
    runs = zip(*(map(str, table.values(one)) for one in ("seed", *drawn)), strict=True)
    for place, run, number in zip(places, runs, numbers, strict=True):
        key = keys[place]
        mine = found.setdefault(key, {})
        if run in mine:
            raise InputError(
                f"several runs have the seed {run[0]} and {', '.join(map(spelled, key))}; name "
                "what differs between them with --by, or choose one with --where"
            )
        if math.isfinite(number):
            mine[run] = number
    return found


def pivoted(
    table: ResultTable,
    rows: str,
    across: str,
    value: str,
    aggregate: str = "mean",
    axes: Sequence[str] = (),
    sampled: Sequence[str] = (),
) -> ResultTable:
    """Return a cross table: a row for each value of one column, a column for each of another.

    Arguments and errors as in `grouped`.
    """
    require_table(table)
    axes = names_of("axes", axes, "links.L1.rate")
    for column in (rows, across):
        table.column(column)
    if rows == across:
        raise InputError(f"rows and columns are both '{rows}'; choose two different ones")
    mixed = _mixed(table, (rows, across), axes)
    meant = require_numbers(table, value)
    found = {group.key: group.value for group in groups(table, (rows, across), value, aggregate)}
    down, over = ordered(table.different(rows)), ordered(table.different(across))
    summed = summed_up(meant, aggregate)
    made = {table.column(rows): down}
    for here in over:
        column = replace(summed, name=f"{across}={spelled(here)}", title=spelled(here))
        made[column] = [found.get((key, here)) for key in down]
    title = f"{_title(meant, aggregate)}: {rows} down, {across} across"
    notes = (
        *table.notes,
        *_notes(mixed, aggregate, sampled),
        *without_value(table, value, aggregate),
    )
    return ResultTable.of(made, title, notes)


def _mixed(table: ResultTable, by: Sequence[str], axes: Sequence[str]) -> list[str]:
    """Columns besides the replication that differ within a group."""
    apart = [*axes, *(name for name in _PARTS if name in table.names)]
    return [n for n in dict.fromkeys(apart) if n not in by and varies(table, by, n)]


def varies(table: ResultTable, by: Sequence[str], name: str) -> bool:
    """Whether a column has several values within a combination of others."""
    return len(combinations(table, [*by, name])[0]) > len(combinations(table, by)[0])


def summed_up(column: Column, aggregate: str) -> Column:
    """Return the meaning of what is made of the values of a column."""
    whole = column.kind == "count" and aggregate in ("sum", "min", "max")
    meaning = f"{WORDS[aggregate].capitalize()} of: {column.meaning}"
    kind, title = "count" if whole else "real", _title(column, aggregate)
    return replace(column, kind=kind, title=title, meaning=meaning, formula="")


def _title(column: Column, aggregate: str) -> str:
    return f"{column.title}, {WORDS[aggregate]}"


def without_value(table: ResultTable, value: str, aggregate: str) -> Iterator[str]:
    """Say how many rows have no value, such as flows without a finish: the others look better."""
    numbers = counted(table, value, aggregate)
    if late := int(np.isinf(numbers).sum()):
        yield (
            f"{late} of {len(table)} rows have no '{value}', since they did not finish: they count "
            "as later than all others."
        )
    left_out = np.flatnonzero(np.isnan(numbers))
    if len(left_out) and _by_rank(value, aggregate) and "flow" in table.names:
        names = sorted(map(str, table.take(left_out).different("flow")))
        yield f"Left out, since they finish in no run: {listed(names, 5)}."
    elif len(left_out):
        yield f"{len(left_out)} of {len(table)} rows have no '{value}' and are left out."


def _notes(mixed: Sequence[str], aggregate: str, sampled: Sequence[str]) -> Iterator[str]:
    if drawn := ", ".join(name for name in mixed if name in sampled):
        yield f"Each {WORDS[aggregate]} is over the points of the sample ({drawn})."
    if names := ", ".join(name for name in mixed if name not in sampled):
        yield (
            f"Each {WORDS[aggregate]} is over all values of {names}, too; choose one with --where, "
            "or name it with --by."
        )
