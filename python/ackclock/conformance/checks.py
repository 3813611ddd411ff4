"""The conformance suite: what every congestion control should do, and whether this one does.

Each check says what it expects and what it saw. They are after RFC 5033 and RFC 9743 (what a new
congestion control has to show), RFC 8085 section 3.1 and RFC 5681.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ackclock.conformance.networks import RATE_BPS
from ackclock.conformance.trials import Figures, Trial

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

GUARDED = ("alone", "loss", "outage", "small-buffer")
"""Networks on which windows below one segment are looked for."""


@dataclass(frozen=True)
class Check:
    """One check and its outcome.

    Attributes:
        name: A few words.
        expected: What every congestion control should do.
        seen: What this one did.
        verdict: `passed`, `failed` or `skipped`.
        place: File and line, where they can be named.
    """

    name: str
    expected: str
    seen: str
    verdict: str
    place: str | None = None


@dataclass(frozen=True)
class Tried:
    """What the checks look at: figures by network, those of references, lines of the program."""

    mine: Mapping[str, Figures]
    twin: Figures
    guarded: Mapping[str, Figures]
    cubic: Mapping[str, Figures]
    lines: Mapping[str, str]
    """Place of each method, `class` for that of the class; empty for one of the engine."""

    def at(self, *names: str) -> str | None:
        """Return the place of the first of these methods that there is."""
        return next((self.lines[name] for name in names if name in self.lines), None)


Outcome = tuple[bool | None, str, str | None]
"""Whether it holds (None: not tried), what was seen, and where in the program."""


_Function = Callable[[Tried], Outcome]

SUITE: list[tuple[str, str, tuple[str, ...], _Function]] = []
"""Name, expectation, networks without which it cannot be tried, and the check."""


def _check(name: str, expected: str, *networks: str) -> Callable[[_Function], _Function]:
    def add(function: _Function) -> _Function:
        SUITE.append((name, expected, networks, function))
        return function

    return add


def _used(figures: Figures, rate_bps: float = RATE_BPS) -> float:
    """Return the share of the link that new data took, headers included."""
    return figures["used_bps"] / rate_bps


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


@_check("runs without errors", "no method raises or hangs")
def _never_raises(tried: Tried) -> Outcome:
    for network, figures in tried.mine.items():
        if "fault" in figures:
            at = "" if figures["time_s"] is None else f", {figures['time_s']:.3g} s"
            return False, f"{figures['fault']} ({network}{at})", _place(figures)
    return True, f"{len(tried.mine)} runs without an error", None


@_check("finite windows", "windows are positive, finite numbers")
def _windows_finite(tried: Tried) -> Outcome:
    for network, figures in tried.mine.items():
        words = figures.get("fault", "")
        if "cwnd = " in words or "ssthresh = " in words or "pacing_rate = " in words:
            return False, f"{words} ({network}, {figures['time_s']:.3g} s)", _place(figures)
    most = max((f["most"] for f in tried.mine.values() if "most" in f), default=None)
    return True, "always" if most is None else f"at most {most:.4g} segments when alone", None


@_check("at least one segment", "the window is never below one segment")
def _at_least_one(tried: Tried) -> Outcome:
    if not tried.guarded:
        return None, "an algorithm of the engine", None
    for network, figures in tried.guarded.items():
        if "below one segment" in figures.get("fault", ""):
            seen = f"less on '{network}' at {figures['time_s']:.3g} s"
            return False, seen, _place(figures)
    return True, "always", None


def _place(figures: Figures) -> str | None:
    line = figures.get("line")
    return None if line is None else f"{figures['file']}:{line}"


@_check("same run twice", "equal digests in two processes", "alone")
def _repeats(tried: Tried) -> Outcome:
    first, second = tried.mine["alone"]["digest"], tried.twin.get("digest")
    if first == second:
        return True, f"{first} twice", None
    return False, f"{first} and {second}", tried.at("on_ack", "class")


@_check("grows when alone", "uses half of an empty link or more", "alone")
def _grows(tried: Tried) -> Outcome:
    used = _used(tried.mine["alone"])
    seen = f"{_per_cent(used)} of the link from 10 s on"
    return used >= 0.5, seen, tried.at("on_ack", "on_tick", "class")


@_check(
    "reacts to losses",
    "a loss reduces the window by 5 % or more, or fewer than 15 % of packets are lost at overload",
    "loss",
    "overload",
)
def _reacts(tried: Tried) -> Outcome:
    loss, overload = tried.mine["loss"], tried.mine["overload"]
    before, after, late = loss["before"], loss["after"], overload["late_loss"]
    seen = f"{before:.4g} to {after:.4g} segments; {_per_cent(late)} lost at overload"
    return after < 0.95 * before or late < 0.15, seen, tried.at("on_loss", "class")


@_check(
    "reacts to marks",
    "fewer than half of the packets are marked: a mark is a sign of congestion (RFC 3168)",
    "marks",
)
def _reacts_to_marks(tried: Tried) -> Outcome:
    marked = tried.mine["marks"]["marked"]
    return marked < 0.5, f"{_per_cent(marked)} of packets marked", tried.at("on_loss", "class")


# After a halving (67 + 40) / 2 of 67 packets are in flight: 80 % of the rate.
@_check(
    "does not over-react to marks",
    "80 % of the link or more: what halving the window once per round trip leaves",
    "marks",
)
def _bears_marks(tried: Tried) -> Outcome:
    used = _used(tried.mine["marks"])
    return used >= 0.8, f"{_per_cent(used)} of the link", tried.at("on_loss", "class")


@_check("backs off", "at most 20 packets while the link is down", "outage")
def _backs_off(tried: Tried) -> Outcome:
    probes = tried.mine["outage"]["probes"]
    seen = f"{probes} packets in 2.5 s of outage"
    return probes <= 20, seen, tried.at("on_loss", "on_state", "class")


@_check("recovers", "half of the link or more after an outage", "outage")
def _recovers(tried: Tried) -> Outcome:
    used = _used(tried.mine["outage"])
    seen = f"{_per_cent(used)} of the link from 7 s after it"
    return used >= 0.5, seen, tried.at("on_loss", "on_ack", "class")


@_check("survives reordering", "at least half of what CUBIC gets", "reordering")
def _survives_reordering(tried: Tried) -> Outcome:
    own, cubic = (_used(t["reordering"]) for t in (tried.mine, tried.cubic))
    seen = f"{_per_cent(own)} of the link; CUBIC {_per_cent(cubic)}"
    return own >= 0.5 * cubic, seen, tried.at("on_loss", "on_undo", "class")


def _serves(name: str, least: float) -> Callable[[Tried], Outcome]:
    def check(tried: Tried) -> Outcome:
        figures = tried.mine[name]
        offered = figures["offered_bytes"][0]
        share = figures["delivered_bytes"][0] / offered if offered else 1.0
        lost = figures["lost"]
        seen = f"{_per_cent(share)} of what was written; {_per_cent(lost)} lost"
        return share >= least, seen, tried.at("on_ack", "on_idle", "class")

    return check


_check("serves a slow application", "delivers 95 % of 2 Mbps", "application")(
    _serves("application", 0.95)
)
_check("resumes after idle time", "delivers 90 % of its bursts", "idle")(_serves("idle", 0.9))


@_check("works with small buffers", "a quarter of the link or more", "small-buffer")
def _small_buffer(tried: Tried) -> Outcome:
    used = _used(tried.mine["small-buffer"], 2e6)
    return used >= 0.25, f"{_per_cent(used)} of the link", tried.at("on_loss", "class")


@_check("works in bytes", "half as much or more with a sender that counts bytes", "alone", "bytes")
def _any_unit(tried: Tried) -> Outcome:
    bytes_ = tried.mine["bytes"]
    if "refused" in bytes_:
        return None, f"the classic sender does not fit: {bytes_['refused']}", None
    own, cubic = _used(bytes_), _used(tried.mine["alone"])
    seen = f"{_per_cent(own)} of the link; with windows in segments {_per_cent(cubic)}"
    return own >= 0.5 * cubic, seen, tried.at("on_ack", "class")


def _least_share(name: str, who: int | None) -> Callable[[Tried], Outcome]:
    def check(tried: Tried) -> Outcome:
        goodput = tried.mine[name]["goodput_bps"]
        fair = sum(goodput) / len(goodput)
        least = goodput[who] if who is not None else min(goodput)
        share = least / fair if fair else 0.0
        return share >= 0.1, f"{_per_cent(share)} of a fair share", tried.at("on_loss", "class")

    return check


_check("leaves CUBIC a share", "CUBIC keeps a tenth of its fair share or more", "cubic")(
    _least_share("cubic", 1)
)
_check(
    "leaves itself a share", "each of four flows keeps a tenth of its fair share or more", "itself"
)(_least_share("itself", None))


def suite(tried: Tried) -> list[Check]:
    """Return all checks with their outcomes."""
    made = []
    for name, expected, networks, check in SUITE:
        failed = [n for n in networks if "fault" in tried.mine[n]]
        if failed:
            outcome: Outcome = (None, f"the run on '{failed[0]}' has failed", None)
        else:
            outcome = check(tried)
        holds, seen, place = outcome
        verdict = {True: PASSED, False: FAILED, None: SKIPPED}[holds]
        made.append(Check(name, expected, seen, verdict, place if verdict == FAILED else None))
    return made


def trials(who: str, guarded: bool, networks: list[str]) -> list[Trial]:
    """Return the runs that the suite needs of an algorithm."""
    made = [Trial("alone", who, process=0), Trial("alone", who, process=1)]
    made += [Trial(name, who) for name in networks if name != "alone"]
    if guarded:
        made += [Trial(name, who, guarded=True) for name in GUARDED]
    return made
