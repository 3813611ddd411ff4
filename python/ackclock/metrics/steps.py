"""Step series: values that hold from one change to the next (queues, windows).

A series is given by the times of its changes, in ascending order, and the value after each. Before
the first change it has the value `initial`. Several changes may have the same time: the last one
counts, the others held for no time.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def step_at(time_s: ArrayLike, value: ArrayLike, at_s: ArrayLike, initial: float = 0.0) -> Floats:
    """Value of a step series at the given times (a change at that very time included).

    Example:
        >>> from ackclock.metrics import step_at
        >>> step_at([1.0, 2.0], [10.0, 5.0], [0.5, 1.5, 2.0]).tolist()
        [0.0, 10.0, 5.0]
    """
    times, values = _series(time_s, value)
    place = np.searchsorted(times, np.asarray(at_s, dtype=np.float64), side="right")
    return np.concatenate(([initial], values))[place]


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
        ValueError: the span is empty.

    Example:
        >>> from ackclock.metrics import step_mean
        >>> step_mean([0.0, 3.0], [10.0, 20.0], 0.0, 4.0)
        12.5
    """
    if not end_s > start_s:
        raise ValueError(f"there is no time between {start_s} s and {end_s} s to average over")
    edges, held = _held(time_s, value, start_s, end_s, initial)
    return float(np.dot(held, np.diff(edges)) / (end_s - start_s))


def step_range(
    time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float, initial: float = 0.0
) -> tuple[float, float]:
    """Least and largest value that held for some time within ``[start_s, end_s]``.

    Example:
        >>> from ackclock.metrics import step_range
        >>> step_range([0.0, 1.0, 2.0], [10.0, 30.0, 20.0], 0.5, 3.0)
        (10.0, 30.0)
    """
    edges, held = _held(time_s, value, start_s, end_s, initial)
    lasting = held[np.diff(edges) > 0]
    chosen = lasting if lasting.size else held
    return float(chosen.min()), float(chosen.max())


def _series(time_s: ArrayLike, value: ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(time_s, dtype=np.float64), np.asarray(value, dtype=np.float64)


def _held(
    time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float, initial: float
) -> tuple[Floats, Floats]:
    """Edges (n + 1) of the pieces within the span, and the value that held in each (n)."""
    times, values = _series(time_s, value)
    first, last = np.searchsorted(times, [start_s, end_s], side="right")
    before = values[first - 1] if first else initial
    edges = np.concatenate((np.array([start_s]), times[first:last], np.array([end_s])))
    return edges, np.concatenate((np.array([before]), values[first:last]))
