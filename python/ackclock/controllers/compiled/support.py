"""What compiled controllers call: settings of windows with their checks, arithmetic as Python's.

Functions of `math` are those of the C library that Python itself calls, by their addresses, so that
the results are the same to the bit.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from typing import Any

import numba

from ackclock.controllers.compiled.layout import CODES, MOST_ROWS, MOST_TURNS, S
from ackclock.controllers.compiled.rewriting import MATH

_CALLED: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Compiled code alone calls these functions: other ways into them take time to compile."""

_njit = numba.njit(inline="never", **_CALLED)
_small = inner = numba.njit(**_CALLED)

_none = math.nan

_CWND, _SSTHRESH, _SEGMENT, _PACING = S["cwnd"], S["ssthresh"], S["segment"], S["pacing_rate"]
_ANSWER, _ANSWERED, _FAULT, _VALUE = S["answer"], S["answered"], S["fault"], S["value"]
_TURNS, _RECORDS, _ROWS, _PACES = S["turns"], S["records"], S["rows"], S["paces"]

_NONE, _DOMAIN, _OVERFLOW = CODES["none"], CODES["domain"], CODES["overflow"]
_ENDLESS, _FULL, _RANGE = CODES["turns"], CODES["rows"], CODES["range"]
_BAD_CWND, _BAD_SSTHRESH, _BAD_PACING = CODES["cwnd"], CODES["ssthresh"], CODES["pacing_rate"]
_NO_PACES = CODES["paces"]

_MOST_SEGMENTS = 1e9


@_njit
def _fail(state: Any, code: float) -> None:
    state[_FAULT] = code
    raise RuntimeError


@_njit
def _fail_of(state: Any, code: float, value: float) -> None:
    state[_VALUE] = value
    state[_FAULT] = code
    raise RuntimeError


@_small
def _number(x: Any) -> float:
    return x * 1.0


@_small
def _truth(x: Any) -> bool:
    return x == x and x != 0


@_small
def _unknown(x: Any) -> bool:
    return x != x


@_small
def _finite(x: Any) -> bool:
    return x - x == 0


@_small
def _infinite(x: Any) -> bool:
    return x == math.inf or x == -math.inf


@_small
def _known(state: Any, x: Any) -> Any:
    if x != x:
        _fail(state, _NONE)
    return x


@_small
def _whole(state: Any, x: Any) -> int:
    n = int(x)
    if n != x:
        _fail(state, _RANGE)
    return n


@_small
def _int(state: Any, x: Any) -> float:
    if x - x != 0:
        _fail(state, _OVERFLOW)
    return float(math.floor(x)) if x >= 0 else float(math.ceil(x))


@_small
def _round(state: Any, x: Any) -> float:
    if x - x != 0:
        _fail(state, _OVERFLOW)
    low = math.floor(x * 1.0)
    off = x - low
    if off > 0.5 or (off == 0.5 and low % 2 != 0):
        return low + 1.0
    return low * 1.0


@_small
def _min(a: float, b: float) -> float:
    return b if b < a else a


@_small
def _max(a: float, b: float) -> float:
    return b if b > a else a


@_small
def _turn(state: Any) -> None:
    state[_TURNS] += 1.0
    if state[_TURNS] > MOST_TURNS:
        _fail(state, _ENDLESS)


@_small
def _set_cwnd(state: Any, value: float) -> None:
    if not (value > 0.0 and value <= _MOST_SEGMENTS * state[_SEGMENT]):
        _fail_of(state, _BAD_CWND, value)
    state[_CWND] = value


@_small
def _set_ssthresh(state: Any, value: float) -> None:
    if not value >= 0.0:
        _fail_of(state, _BAD_SSTHRESH, value)
    state[_SSTHRESH] = value


@_small
def _set_pacing_rate(state: Any, value: float) -> None:
    if value == value:
        if state[_PACES] == 0.0:
            _fail(state, _NO_PACES)
        if not (value >= 1.0 and value <= 1e15):
            _fail_of(state, _BAD_PACING, value)
    state[_PACING] = value


@_small
def _answer(state: Any, value: float, sure: bool) -> None:
    state[_ANSWER] = value
    state[_ANSWERED] = 1.0 if sure or value == value else 0.0


@_small
def _record(state: Any, rows: Any, code: float, value: float) -> None:
    if state[_RECORDS] != 0.0:
        n = int(state[_ROWS])
        if n >= MOST_ROWS:
            _fail(state, _FULL)
        rows[2 * n] = code
        rows[2 * n + 1] = value
        state[_ROWS] = n + 1.0


def _of_library(name: str, arguments: int) -> Any:
    """Return a function of the C library."""
    function = getattr(_LIBRARY, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * arguments
    return function


_LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
_pow = _of_library("pow", 2)


@_small
def _power(state: Any, x: Any, y: Any) -> float:
    a, b = x * 1.0, y * 1.0
    if a == 0.0 and b < 0.0:
        # As a division by zero.
        _fail(state, 0.0)
    result = _pow(a, b)
    if a - a == 0 and b - b == 0 and result - result != 0:
        _fail(state, _DOMAIN if result != result else _OVERFLOW)
    return result


_GROWING = frozenset({"cosh", "exp", "exp2", "expm1", "sinh"})
"""Where these are infinite, the result is too large for a number; elsewhere it is undefined."""

_WHOLE = frozenset({"ceil", "floor", "trunc"})


def _math(name: str) -> Any:
    function = _of_library(name, MATH[name])
    whole = name in _WHOLE  # an integer in Python, which cannot be infinite
    infinite = _OVERFLOW if whole or name in _GROWING else _DOMAIN

    def one(state: Any, a: float) -> float:
        result = function(a)
        if result != result:
            _fail(state, _DOMAIN)
        if result - result != 0 and (whole or a - a == 0):
            _fail(state, infinite)
        return result

    def two(state: Any, a: float, b: float) -> float:
        result = function(a, b)
        if result != result:
            _fail(state, _DOMAIN)
        return result

    return inner(one if MATH[name] == 1 else two)


NAMES: dict[str, Any] = {
    name: value for name, value in globals().items() if name[0] == "_" and name[1].islower()
} | {f"_math_{name}": _math(name) for name in MATH.keys() - {"pow"}}
"""All of them, as the names of compiled functions."""
