"""How compiled controllers see the world: three arrays of numbers, which the engine fills.

Everything is a 64-bit float. What is None in plain Python is NaN here, words are numbers, flags are
0 and 1. `crates/py/src/compiled.rs` declares the places.
"""

from __future__ import annotations

from ackclock import _core

STATE = tuple(_core.COMPILED_STATE)
"""Places of the array of state; attributes of the program's own come after these."""

EVENT = tuple(_core.COMPILED_EVENT)
"""Places of the array of an event."""

FLAGS = frozenset({"app_limited", "may_grow"})
"""Fields of an event that are true or false."""

KNOWN = frozenset(
    {"now", "newly_acked", "in_flight", "una", "nxt", "newly_lost", "total_lost", "transmissions"}
)
"""Fields of an event that are never None; the same for the first attributes of a controller."""

WORDS = {word: float(code) for code, word in enumerate(_core.COMPILED_WORDS, 1)}
"""Words of `signal` and `state`."""

MOST_ROWS = 64
"""Values that one call can record."""

MOST_TURNS = 10_000_000
"""Turns of loops that one call can take."""

FAULTS = {
    "none": "TypeError: a value is None or not a number here",
    "domain": "ValueError: math domain error",
    "overflow": "OverflowError: math range error",
    "turns": f"the call had not ended after {MOST_TURNS:,} turns of its loops".replace(",", " "),
    "rows": f"more than {MOST_ROWS} values recorded in one call",
    "range": "TypeError: range() of a number that is not whole",
    "cwnd": "ValueError: cwnd = {value}: the window is a number above 0 and up to 1e9 segments",
    "ssthresh": "ValueError: ssthresh = {value}: the slow-start threshold is 0 or more",
    "pacing_rate": "ValueError: pacing_rate = {value}: 1 to 1e15 bit/s, or None",
    "paces": "ValueError: pacing_rate has no effect: write `needs_rate = True` in the class",
    "assert": "AssertionError",
    "raise": "{raised}",
}
"""What the number in `fault` means: 0 is a division by zero, then these from 1 on."""

CODES = {name: float(code) for code, name in enumerate(FAULTS, 1)}

S = {name: place for place, name in enumerate(STATE)}
E = {name: place for place, name in enumerate(EVENT)}
