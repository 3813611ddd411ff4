"""Means of a table: by the values of some columns, and as a cross table of two."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ackclock.columns import PERCENTILES, Column
from ackclock.errors import InputError, names_of, one_of, refuse, several
from ackclock.metrics.statistics import LEVEL, Interval, t_interval
from ackclock.tables.table import ResultTable, require_numbers, require_table
from ackclock.tables.values import ordered, spelled


def _ranked(share: float) -> Callable[[Sequence[float]], float]:
    """Return what gives the nearest-rank percentile: a value that this share does not exceed."""
    return lambda values: float(np.quantile(values, share, method="inverted_cdf"))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "sum": math.fsum,
    "median": statistics.median,
    "min": min,
    "max": max,
    "p95": _ranked(PERCENTILES["p95"]),
    "p99": _ranked(PERCENTILES["p99"]),
}
"""What can be made of several values, by its word."""

_PARTS = ("run", "flow", "link", "direction", "reason")
"""Columns that distinguish the rows of one run; a mean over them is not one over replications."""

WORDS = {"mean": "mean", "sum": "sum", "median": "median", "min": "minimum", "max": "maximum"}
WORDS |= {"p95": "95th percentile", "p99": "99th percentile"}
"""What these are called."""


@dataclass(frozen=True)
class Group:
    """Values that belong together.

    Attributes:
        key: The values of the columns that they share.
        value: What was made of them; none without values.
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
    numbers = table.numbers(value)
    order = np.argsort(places, kind="stable")
    parts = np.split(numbers[order], np.searchsorted(places[order], range(1, len(keys))))
    meant, make = aggregate == "mean" and replicated, AGGREGATES[aggregate]
    return [
        Group(key, make(mine), len(mine), t_interval(mine) if meant else None)
        if (mine := part[np.isfinite(part)].tolist())
        else Group(key, None, 0, None)
        for key, part in zip(keys, parts[: len(keys)], strict=True)
    ]


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
    every = {name: groups(table, by, name, aggregate, not mixed) for name in values}
    first = next(iter(every.values()), [])
    made = {table.column(name): [group.key[i] for group in first] for i, name in enumerate(by)}
    counted = Column("rows", "Rows", "count", meaning="How many rows are summed up")
    made[counted] = [group.count for group in first]
    for name, found in every.items():
        summed = summed_up(table.column(name), aggregate)
        made[summed] = [group.value for group in found]
        if any(group.interval for group in found):
            formula = "Student's t over the replications"
            own = replace(summed, meaning=table.column(name).meaning, formula=formula)
            made |= _ends(own, [group.interval for group in found])
    left_out = (note for name in values for note in _left_out(table, name))
    return ResultTable.of(
        made, table.title, (*table.notes, *_notes(mixed, aggregate, sampled), *left_out)
    )


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
    """Return how values differ from those of one setting, seed by seed.

    All settings are simulated with the same seeds, so that much of the randomness is common to both
    and falls out of the difference (common random numbers: Law, Simulation Modeling and Analysis,
    5th ed. 2015, section 11.2). So it is with the points of a sample, which are the same for all.

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
    made: dict[Column, list[Any]] = {}
    pairs: list[int] = []
    same = "seed and point of the sample" if drawn else "seed"
    what = "pairs of seed and point" if drawn else "seeds"
    for value in values:
        meant, found = require_numbers(table, value), _by_seed(table, by, value, drawn)
        compared = [key for key in found if key[place] != base[0]]
        references = [found.get((*k[:place], base[0], *k[place + 1 :]), {}) for k in compared]
        apart = [
            [mine - theirs[run] for run, mine in found[key].items() if run in theirs]
            for key, theirs in zip(compared, references, strict=True)
        ]
        if not made:
            made = {table.column(one): [key[i] for key in compared] for i, one in enumerate(by)}
            pairs = [len(mine) for mine in apart]
            made[Column("pairs", "Pairs", "count", meaning=f"How many {what} both have")] = pairs
        difference = replace(
            meant,
            name=f"{value}_difference",
            title=f"{meant.title}, difference",
            kind="real",
            meaning=f"Mean of the difference from {name}={wanted}: {meant.meaning}",
            formula=f"Student's t over the differences of runs with the same {same}",
        )
        made[difference] = [statistics.fmean(mine) if mine else None for mine in apart]
        own = replace(difference, meaning=difference.meaning.removeprefix("Mean of the "))
        made |= _ends(own, [t_interval(mine) if mine else None for mine in apart])
    way = "point by point" if drawn else "seed by seed"
    title = f"{table.title}: differences from {name}={wanted}, {way}"
    notes = list(table.notes)
    if max(pairs, default=0) < 2:
        notes.append("One pair gives no interval; a study with `replications` has several.")
    if others and not pairs:
        notes.append(f"No other value of '{name}' shares all of {', '.join(others)}.")
    return ResultTable.of(made, title, notes)


def _by_seed(
    table: ResultTable, by: Sequence[str], value: str, drawn: Sequence[str]
) -> dict[tuple[Any, ...], dict[Any, float]]:
    """Return numbers by what `by` names, and then by seed and by what was drawn."""
    found: dict[tuple[Any, ...], dict[Any, float]] = {}
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
    notes = (*table.notes, *_notes(mixed, aggregate, sampled), *_left_out(table, value))
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


def _left_out(table: ResultTable, value: str) -> Iterator[str]:
    """Say how many rows have no value, such as flows without a finish: the others look better."""
    if count := int(np.isnan(table.numbers(value)).sum()):
        yield f"{count} of {len(table)} rows have no '{value}' and are left out."


def _notes(mixed: Sequence[str], aggregate: str, sampled: Sequence[str]) -> Iterator[str]:
    if drawn := ", ".join(name for name in mixed if name in sampled):
        yield f"Each {WORDS[aggregate]} is over the points of the sample ({drawn})."
    if names := ", ".join(name for name in mixed if name not in sampled):
        yield (
            f"Each {WORDS[aggregate]} is over all values of {names}, too; choose one with --where, "
            "or name it with --by."
        )
