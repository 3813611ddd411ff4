"""Arrays of numbers as users give them: lists, arrays and columns become arrays, or are refused."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from ackclock.arrays import Array, Floats, Integers
from ackclock.errors import InputError, real_of, refuse

_WANTED = "a list, an array or a column of numbers, such as [1.0, 2.5]"
_KINDS = {"O": "text", "U": "text", "S": "text", "M": "dates", "m": "time spans"}
_KINDS |= {"c": "complex numbers", "V": "records"}


def numbers_of(name: str, given: Any, *, width: int | None = None, gaps: bool = True) -> Floats:
    """Return the argument of this name as numbers.

    Args:
        name: Its name.
        given: A list, an array, or a column of pandas or Arrow; a value that is not there is NaN.
        width: How many numbers each row has; default one, and the array one dimension.
        gaps: Whether a value may be missing.

    Raises:
        InputError: it is something else; says what is wrong with it.
    """
    numbers = _array(name, given, width).astype(np.float64, copy=False)
    if not gaps and (lost := np.flatnonzero(np.isnan(numbers))).size:
        _fail(name, f"has no value in row {lost[0]}, counted from 0")
    return numbers


def wholes_of(name: str, given: Any) -> Integers:
    """Return the argument of this name as whole numbers. Errors as of `numbers_of`."""
    found = _array(name, given, None)
    if found.dtype.kind in "iu" or not found.size:
        return found.astype(np.int64, copy=False)
    # 2^63 is the first float that is too large.
    if found.dtype.kind != "f" or not (np.abs(found) < 2.0**63).all() or (found % 1).any():
        _fail(name, "holds numbers that are not whole", "whole numbers, such as [0, 2]")
    return found.astype(np.int64)


def series_of(*, ascending: bool = False, **given: Any) -> tuple[Floats, ...]:
    """Return times and what goes with them, as many of each; the times come first, without gaps.

    Raises:
        InputError: one of them is no array of numbers, or times do not ascend as they must.
    """
    (name, times), *others = given.items()
    found = [numbers_of(name, times, gaps=False)]
    if ascending and (back := np.flatnonzero(np.diff(found[0]) < 0)).size:
        _fail(name, f"goes back in row {back[0] + 1}, counted from 0", "times that ascend")
    found += [numbers_of(other, values) for other, values in others]
    for (other, _), values in zip(others, found[1:], strict=True):
        require_equal(name, len(found[0]), other, len(values))
    return tuple(found)


def each_of(name: str, given: Any, count: int) -> Floats:
    """Return a number for each event, of which there are `count`: an array, or one for all."""
    if isinstance(given, Real):
        return np.full(count, real_of(name, given))
    numbers = numbers_of(name, given)
    require_equal("time_s", count, name, len(numbers))
    return numbers


def within(value: float, what: str) -> float:
    """Return a number that is between 0 and 1.

    Raises:
        InputError: it is not.
    """
    if not isinstance(value, Real) or not 0 < value < 1:
        raise InputError(f"a {what} must be between 0 and 1, not {value!r}")
    return float(value)


def require_time(start_s: float, end_s: float) -> None:
    """Check that there is time between two moments, and not without end.

    Raises:
        InputError: there is none, it is infinite, or these are not numbers.
    """
    if not real_of("end_s", end_s) > real_of("start_s", start_s):
        raise InputError(f"there is no time between {start_s} s and {end_s} s to average over")
    if not math.isfinite(end_s - start_s):
        raise InputError(f"the time between {start_s} s and {end_s} s to average over is infinite")


def _array(name: str, given: Any, width: int | None) -> Array:
    try:
        # NumPy would load it here, for a tenth of a small run. Without it nothing is masked.
        # Where another thread is loading it, the module is there before its class, and nothing is
        # masked yet either.
        masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
        if masked is not None and isinstance(given, masked):
            given = given.astype(np.float64).filled(np.nan)
        found = np.asarray(given)
        texts = (isinstance(one, str | bytes) for one in found.flat)  # would become numbers, too
        if found.ndim and found.dtype == object and not any(texts):
            found = np.asarray(given, np.float64)
    except OverflowError:
        _fail(name, "holds a number that is too large")
    except TypeError:
        _fail(name, "holds what is not a number")
    except ValueError:
        _fail(name, "has rows of different lengths")
    if not found.ndim:
        refuse(name, given, _WANTED)
    if found.dtype.kind in _KINDS:
        _fail(name, f"holds {_KINDS[found.dtype.kind]}")
    row = () if width is None else (width,)
    if found.size and found.shape[1:] != row:
        _fail(
            name, f"has the shape {found.shape}", _WANTED if width is None else f"rows of {width}"
        )
    return found.reshape(-1, *row)


def require_equal(name: str, count: int, other: str, others: int) -> None:
    """Check that two arguments have equally many values.

    Raises:
        InputError: they have not.
    """
    if count != others:
        many = "1 value" if others == 1 else f"{others} values"
        _fail(other, f"has {many}, but `{name}` has {count}", "as many of each")


def _fail(name: str, fault: str, wanted: str = _WANTED) -> NoReturn:
    raise InputError(f"`{name}` {fault}; needed is {wanted}")
