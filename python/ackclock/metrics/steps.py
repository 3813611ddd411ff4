"""Step series: values that hold from one change to the next (queues, windows).

A series is given by the times of its changes, in ascending order, and the value after each. Before
the first change it has the value `initial`. Several changes may have the same time: the last one
counts, the others held for no time.
"""

from numbers import Real

import numpy as np

from ackclock.arrays import ArrayLike, Floats
from ackclock.errors import InputError, real_of
from ackclock.metrics.given import numbers_of, require_time, series_of


def step_at(time_s: ArrayLike, value: ArrayLike, at_s: ArrayLike, initial: float = 0.0) -> Floats:
    """Value of a step series at the given times (a change at that very time included).

    Args:
        time_s: Times of the changes, seconds, ascending; shape (m,).
        value: Values from then on, shape (m,).
        at_s: Times in seconds, shape (n,), or one.
        initial: Value before the first change.

    Returns:
        The values, of shape (n,).

    Raises:
        InputError: the times are not in order, or lengths differ.

    Example:
        >>> from ackclock.metrics import step_at
        >>> step_at([1.0, 2.0], [10.0, 5.0], [0.5, 1.5, 2.0]).tolist()
        [0.0, 10.0, 5.0]
    """
    times, values = series_of(ascending=True, time_s=time_s, value=value)
    at = real_of("at_s", at_s) if isinstance(at_s, Real) else numbers_of("at_s", at_s)
    place = np.searchsorted(times, at, side="right")
    return np.concatenate(([_before(initial)], values))[place]


def step_mean(
    time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float, initial: float = 0.0
) -> float:
    """Time-weighted mean over ``[start_s, end_s]``: the integral of the series over the span.

    Args:
        time_s: Times of changes, seconds, ascending; shape (m,).
        value: Value after each change; shape (m,).
        start_s: Start of the span, seconds.
        end_s: End of the span, seconds; above `start_s`.
        initial: Value before the first change.

    Returns:
        The mean, in the unit of `value`.

    Raises:
        InputError: the span is empty or infinite.

    Example:
        >>> from ackclock.metrics import step_mean
        >>> step_mean([0.0, 3.0], [10.0, 20.0], 0.0, 4.0)
        12.5
    """
    require_time(start_s, end_s)
    edges, held = _held(time_s, value, start_s, end_s, initial)
    return float(np.dot(held, np.diff(edges)) / (end_s - start_s))


def step_range(
    time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float, initial: float = 0.0
) -> tuple[float, float]:
    """Least and largest value that held for some time within ``[start_s, end_s]``.

    Args:
        time_s: Times of the changes, seconds, ascending; shape (m,).
        value: Values from then on, shape (m,).
        start_s: Start of the span, seconds.
        end_s: Its end.
        initial: Value before the first change.

    Returns:
        The two values.

    Raises:
        InputError: the times are not in order, lengths differ, or the span ends before its start.

    Example:
        >>> from ackclock.metrics import step_range
        >>> step_range([0.0, 1.0, 2.0], [10.0, 30.0, 20.0], 0.5, 3.0)
        (10.0, 30.0)
    """
    edges, held = _held(time_s, value, start_s, end_s, initial)
    lasting = held[np.diff(edges) > 0]
    chosen = lasting if lasting.size else held
    return float(chosen.min()), float(chosen.max())


def _before(initial: float) -> float:
    """The value before the first change; NaN where nothing is known of it."""
    return initial if isinstance(initial, float) else real_of("initial", initial)


def _held(
    time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float, initial: float
) -> tuple[Floats, Floats]:
    """Edges (n + 1) of the pieces within the span, and the value that held in each (n)."""
    times, values = series_of(ascending=True, time_s=time_s, value=value)
    span = [real_of("start_s", start_s), real_of("end_s", end_s)]
    if span[1] < span[0]:
        raise InputError(f"there is no time between {start_s} s and {end_s} s")
    first, last = np.searchsorted(times, span, side="right")
    before = values[first - 1] if first else _before(initial)
    edges = np.concatenate((np.array([start_s]), times[first:last], np.array([end_s])))
    return edges, np.concatenate((np.array([before]), values[first:last]))
