"""Record tables that are too long for memory: what plots need of them, while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from ackclock.arrays import Floats, Integers
from ackclock.metrics.condense import SUBJECTS, by_names
from ackclock.metrics.series import HasPieces
from ackclock.metrics.windows import window_edges, windowed_rates

from .errors import PlotError

Series = tuple[Floats, Floats]
Names = tuple[tuple[str, str], ...]
"""Columns and the names that rows have in them."""
CarriedIn = Callable[[Mapping[str, str], Floats, Integers, float, float, float], Series]
"""Edges and rates of the transmissions of a link: its names, their times and sizes, and windows."""


class LongRecords:
    """A record table that is read piece by piece, once for each kind of thing asked for.

    Args:
        results: The run.
        table: Name of the table.
        span: The span of time that is drawn, seconds.
    """

    def __init__(self, results: HasPieces, table: str, span: tuple[float, float]) -> None:
        self._results = results
        self._table = table
        self._span = span
        self._rates: dict[Names, Floats] = {}

    def series(self, column: str, **names: str) -> Series:
        """Times and values of a flow or link, condensed (see `ackclock.metrics.condense`)."""
        if self._table not in SUBJECTS:
            raise self.too_long()
        found = self._results.condensed(self._table, column, self._span)
        key = tuple(names[subject] for subject in SUBJECTS[self._table])
        return found.get(key, (np.empty(0), np.empty(0)))

    def rates(
        self,
        wanted: Mapping[str, str],
        among: Iterable[Mapping[str, str]],
        end_s: float,
        width_s: float,
        carried: CarriedIn | None = None,
    ) -> Series:
        """Rate in windows of time of the rows with these names.

        Args:
            wanted: Columns and the names that rows have in them.
            among: The same for all that will be asked for, with the same columns; they are counted
                together.
            end_s: End of the run.
            width_s: Width of a window.
            carried: For transmissions, which last.
        """
        key = tuple(wanted.items())
        if key not in self._rates:
            self._count([wanted, *among], end_s, width_s, carried)
        return window_edges(0.0, end_s, width_s), self._rates[key]

    def _count(
        self,
        among: list[Mapping[str, str]],
        end_s: float,
        width_s: float,
        carried: CarriedIn | None,
    ) -> None:
        columns = tuple(among[0])
        windows = len(window_edges(0.0, end_s, width_s)) - 1
        sums = {tuple(names.items()): np.zeros(windows) for names in among}
        pieces = self._results.pieces(self._table, ["time_s", "bytes", *columns])
        for piece, groups in by_names(pieces, columns):
            time_s, size = piece["time_s"].to_numpy(), piece["bytes"].to_numpy()
            for own, rows in groups:
                names = dict(zip(columns, own, strict=True))
                total = sums.get(tuple(names.items()))
                if total is not None:
                    own_carried = partial(carried, names) if carried else None
                    _add(total, time_s[rows], size[rows], end_s, width_s, own_carried)
        self._rates |= sums

    def too_long(self) -> PlotError:
        """Why a plot that needs each row cannot be drawn, and what can be done."""
        rows = self._results.rows(self._table)
        return PlotError(
            f"'{self._table}' has {rows / 1e6:.0f} million rows, too many to draw each; record a "
            "shorter run for this plot, or read the rows that matter from "
            f"records/{self._table}.parquet"
        )


def _add(
    total: Floats,
    time_s: Floats,
    size: Integers,
    end_s: float,
    width_s: float,
    carried: Callable[[Floats, Integers, float, float, float], Series] | None,
) -> None:
    """Add the rates of some rows, in the windows that they reach."""
    first = min(int(time_s[0] / width_s), len(total) - 1)
    last = min(int(time_s[-1] / width_s) + 1, len(total))
    first, last = max(0, first - 1), max(last, first + 1)
    if carried is None:
        inside = time_s <= end_s
        span = (first * width_s, last * width_s)
        _, rates = windowed_rates(time_s[inside], size[inside], *span, width_s)
    else:  # nobody knows how long the last one takes
        _, rates = carried(time_s, size, first * width_s, len(total) * width_s, width_s)
    count = min(len(rates), len(total) - first)
    total[first : first + count] += rates[:count]
