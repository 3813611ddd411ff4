"""How evenly something is shared."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from ackclock.arrays import ArrayLike, Floats
from ackclock.errors import InputError, flag_of, listed, real_of, refuse, several
from ackclock.metrics.given import numbers_of
from ackclock.metrics.windows import require_few


def jain(shares: ArrayLike) -> float | None:
    """Jain's fairness index, ``(sum x)^2 / (n sum x^2)``.

    1 when all shares are equal, 1/n when one has everything. Source: Jain, Chiu, Hawe, DEC Research
    Report TR-301, 1984.

    Args:
        shares: Shares of the flows, finite and none negative, in any unit; shape (n,).

    Returns:
        The index, or none if there is no share or all are 0.

    Raises:
        InputError: a share is negative, infinite or missing.

    Example:
        >>> from ackclock.metrics import jain
        >>> jain([5.0, 5.0]), jain([10.0, 0.0])
        (1.0, 0.5)
    """
    x = _shares(shares)
    largest = x.max(initial=0.0)
    if not largest > 0:
        return None
    scaled = x / largest  # the square of a tiny share must not vanish
    # Rounding must not put it above 1.
    return min(1.0, float(scaled.sum() ** 2 / (x.size * np.dot(scaled, scaled))))


def alpha_mean(shares: ArrayLike, alpha: float) -> float | None:
    """The equal share that gives the same alpha-fair utility as these shares.

    Alpha 0 is the arithmetic mean, 1 the geometric mean (proportional fairness), 2 the harmonic
    mean (minimum delay of equal transfers), infinity the least share (max-min fairness). Source:
    Mo, Walrand, IEEE/ACM ToN 8(5), 2000: utility ``x^(1-alpha) / (1-alpha)``, or ``log x`` for 1.

    Args:
        shares: Shares of the flows, finite and none negative, in any unit; shape (n,).
        alpha: How much small shares weigh, 0 or above.

    Returns:
        The mean in the unit of the shares; 0 from alpha 1 on if a flow got nothing. None without a
        share.

    Raises:
        InputError: alpha is negative, or a share is negative, infinite or missing.

    Example:
        >>> from ackclock.metrics import alpha_mean
        >>> [alpha_mean([1.0, 4.0], alpha) for alpha in (0, 1, 2, float("inf"))]
        [2.5, 2.0, 1.6, 1.0]
    """
    alpha = real_of("alpha", alpha, least=0)
    x = _shares(shares)
    if not x.any():
        return 0.0 if x.size else None
    least = float(x.min())
    if math.isinf(alpha) or (least == 0 and alpha >= 1):
        return least
    if alpha == 1:
        return float(np.exp(np.log(x).mean()))
    # Powers of ratios of at most 1 do not overflow, and that of the share that weighs most is 1.
    scale = least if alpha > 1 else float(x.max())
    ratios = scale / x if alpha > 1 else x / scale
    return scale * float(np.mean(ratios ** abs(1.0 - alpha)) ** (1.0 / (1.0 - alpha)))


def _shares(given: ArrayLike) -> Floats:
    """Return shares, which are finite and not negative."""
    x = numbers_of("shares", given, gaps=False)
    if (wrong := np.flatnonzero((x < 0) | np.isinf(x))).size:
        row = wrong[0]
        raise InputError(
            f"`shares` holds {x[row]:g} in row {row}, counted from 0; needed are finite numbers, "
            "0 or above"
        )
    return x


def max_min(capacities: Mapping[Hashable, float], paths: Sequence[Sequence[Hashable]]) -> Floats:
    """The max-min fair allocation, by progressive filling.

    All flows grow together; those of a link that is full stop there. Source: Bertsekas, Gallager,
    Data Networks, 2nd ed. 1992, section 6.5.2.

    Args:
        capacities: What each link can carry.
        paths: The links of each flow, at least one for each.

    Returns:
        The share of each flow, in the unit of the capacities.

    Example:
        >>> from ackclock.metrics import max_min
        >>> max_min({"A": 10.0, "B": 4.0}, [["A"], ["A", "B"], ["B"]]).tolist()
        [8.0, 2.0, 2.0]

    Raises:
        InputError: a capacity is not a number, or a flow has no link, or one without a capacity.
    """
    if not isinstance(capacities, Mapping):
        refuse("capacities", capacities, "a mapping of links to what they can carry")
    left = {link: real_of("capacities", room, least=0) for link, room in capacities.items()}
    flows = [several(path) or [] for path in several(paths) or ()]
    hashable = all(isinstance(link, Hashable) for flow in flows for link in flow)
    if several(paths) is None or not (hashable and all(f and left.keys() >= {*f} for f in flows)):
        refuse("paths", paths, f"a list of links for each flow, of {listed([*map(str, left)])}")
    shares = np.zeros(len(flows))
    growing = set(range(len(flows)))
    while growing:
        users = {link: sum(link in flows[flow] for flow in growing) for link in left}
        room = {link: left[link] / users[link] for link in left if users[link]}
        step = min(room.values())
        for flow in growing:
            shares[flow] += step
        for link in room:
            left[link] -= step * users[link]
        full = {link for link in room if room[link] <= step}
        growing -= {flow for flow in growing if full.intersection(flows[flow])}
    return shares


def harm(alone: float, beside: float, *, more_is_better: bool) -> float | None:
    """How much of what a flow had alone another one takes from it: 0 nothing, 1 everything.

    Negative where it is better off than alone. Source: Ware, Mukerjee, Seshan, Sherry, "Beyond
    Jain's Fairness Index", HotNets 2019: ``(x - y) / x`` where more is better, as of throughput,
    ``(y - x) / y`` where less is, as of delay and loss.

    Args:
        alone: The figure of the flow alone.
        beside: The same figure beside the other flows.
        more_is_better: Whether a larger figure is a better one.

    Returns:
        The harm, or none where the figure that it is measured against is 0.

    Example:
        >>> from ackclock.metrics import harm
        >>> harm(10.0, 2.5, more_is_better=True), harm(0.04, 0.08, more_is_better=False)
        (0.75, 0.5)
    """
    alone, beside = real_of("alone", alone), real_of("beside", beside)
    more = flag_of("more_is_better", more_is_better)
    better, whole = (alone - beside, alone) if more else (beside - alone, beside)
    if whole:
        return better / whole
    return 0.0 if not better else None


def even_after(
    shares: Callable[[float, float], Sequence[float]],
    from_s: float,
    to_s: float,
    *,
    over_s: float = 2.0,
    every_s: float = 0.25,
    even: float = 0.9,
) -> float | None:
    """Convergence time: how long it takes from a moment on until shares are even.

    Even is a Jain's index of at least `even` over the `over_s` just past; 0.9 is that of two flows
    at 2 to 1.

    Args:
        shares: What each flow got between two times, seconds.
        from_s: When the last flow joined, seconds.
        to_s: End of what is looked at, seconds.
        over_s: Over which time shares are measured.
        every_s: Distance of the times at which they are.
        even: Least index of even shares.

    Returns:
        Seconds from `from_s` to the end of the first such time, or none if there is none.
    """
    if not callable(shares):
        refuse("shares", shares, "a function of two times")
    first_s = real_of("from_s", from_s) + real_of("over_s", over_s, above=0)
    require_few("every_s", real_of("to_s", to_s) - first_s, every_s)
    least = real_of("even", even)
    for end in np.arange(first_s, to_s + 1e-9, every_s):
        if (jain(shares(float(end) - over_s, float(end))) or 0.0) >= least:
            return float(end) - from_s
    return None
