"""What transmitters can carry: the bits that they offer up to a time, also where rates change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ackclock.arrays import Floats

from .lanes import State

Offered = Callable[[Floats], Floats]
"""Bits that were offered up to each of some times, seconds."""

_OPPORTUNITY_BITS = 1504 * 8
"""What can leave at an opportunity of a Mahimahi trace."""


def offered(states: Sequence[State], rule: Mapping[str, Any] | None) -> Offered:
    """The bits that a transmitter offers, whether its link is up or down.

    Args:
        states: Its states.
        rule: By which its rate changes; none where it is constant between changes of the link.
    """
    if rule and rule["kind"] == "mahimahi":
        return _opportunities(np.asarray(rule["opportunities"], np.int64))
    if rule is None:
        times, rates = ([getattr(s, name) for s in states] for name in ("time_s", "rate_bps"))
        return _stepped(times, rates)
    times = [step["at_ns"] * 1e-9 for step in rule["steps"]]
    once = _stepped(times, [step["rate_bps"] for step in rule["steps"]])
    if not rule.get("repeat_ns"):
        return once
    round_s = rule["repeat_ns"] * 1e-9
    whole = float(once(np.array([round_s]))[0])

    def until(time_s: Floats) -> Floats:
        rounds, rest = np.divmod(time_s, round_s)
        return rounds * whole + once(rest)

    return until


def _stepped(times_s: Sequence[float], rates_bps: Sequence[float]) -> Offered:
    """Of rates that apply from some times on."""
    times, rates = np.array(times_s), np.array(rates_bps, np.float64)
    before = np.concatenate(([0.0], np.cumsum(rates[:-1] * np.diff(times))))

    def until(time_s: Floats) -> Floats:
        at = np.searchsorted(times, time_s, side="right") - 1
        return before[at] + rates[at] * (time_s - times[at])

    return until


def while_up(bits: Offered, states: Sequence[State], end_s: float) -> Offered:
    """The same without what is offered while the link is down."""
    ends = pairwise([*states, states[-1]._replace(time_s=max(end_s, states[-1].time_s))])
    down = [(state.time_s, then.time_s) for state, then in ends if not state.up]

    def until(time_s: Floats) -> Floats:
        found = bits(time_s)
        for span in down:
            found = found - (bits(np.clip(time_s, *span)) - bits(np.array(span[:1])))
        return found

    return until


def _opportunities(times_ms: np.ndarray) -> Offered:
    """Those of a trace that begins again at its end."""
    times_ns = times_ms * 1_000_000

    def until(time_s: Floats) -> Floats:
        # In whole nanoseconds, as an opportunity at the edge of a window belongs to one of them.
        rounds, rest = np.divmod(np.rint(time_s * 1e9).astype(np.int64), times_ns[-1])
        count = rounds * len(times_ns) + np.searchsorted(times_ns, rest, side="right")
        return count.astype(np.float64) * _OPPORTUNITY_BITS

    return until
