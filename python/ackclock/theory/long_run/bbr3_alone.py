"""BBR, version 3: one flow with nothing beside it.

Source: draft-ietf-ccwg-bbr, sections "ProbeBW", "Time Scale for Bandwidth Probing", "ProbeRTT".

P packets fit into the path. The flow sends at 0.99 of the link's rate, and the queue is empty but
for its probes:

- A probe sends at 1.25 times that, so that 0.2375 P more wait after each round trip. It ends when
  three round trips have brought no quarter more: after three to four of them.
- Then it sends at 0.9 times that, 0.891 of the link, until the queue is gone.
- The next probe comes after min(P, 63) round trips, or 2 to 3 s, whichever is first.

So the queue is a triangle for each probe. Each 5 s half of the path's packets are in flight for
200 ms and a round trip, which costs half of the link's rate in that time; after it the wait for a
probe begins anew, so that whole cycles fit between two of them.
"""

from ackclock.theory.estimate import Model, Outcome
from ackclock.theory.long_run.bbr_alone import rate_and_queue, short_of
from ackclock.theory.long_run.shared import Member, Shared

MODEL = Model(
    "BBRv3 probing",
    "One flow fills the link and keeps the queue empty but for a probe each few seconds.",
    "draft-ietf-ccwg-bbr",
    "one flow of BBRv3 at one queue",
)

_MARGIN = 0.99
_UP = 1.25 * _MARGIN - 1
_DOWN = 1 - 0.9 * _MARGIN
_MOST_ROUNDS = 63
_CLOCK_S = (2.0, 3.0)
_LEAST = 4
"""Packets in flight at least while the empty path is measured."""


def _period_s(member: Member) -> tuple[float, float]:
    """Seconds from one look at the empty path to the next, and how much of them it takes."""
    every_s, kept_s = (member.cc[key] / 1e9 for key in ("probe_rtt_interval_ns", "probe_rtt_ns"))
    return every_s + kept_s + member.rtt_s, kept_s + member.rtt_s


def _swing(shared: Shared, up_rounds: float, wait_s: float) -> tuple[float, float]:
    """Round trips of a probe with the wait before it, and of the drain after it."""
    rounds = min(shared.path_packets, _MOST_ROUNDS, wait_s / shared.members[0].rtt_s)
    # From the end of one probe to that of the next: the wait, a round trip of refill, the probe.
    return rounds + 1 + up_rounds, up_rounds * _UP / _DOWN


def _mean_queue(shared: Shared, up_rounds: float, wait_s: float) -> float:
    """Packets that wait on average where a probe lasts this many round trips."""
    (member,), path = shared.members, shared.path_packets
    rounds, down_rounds = _swing(shared, up_rounds, wait_s)
    highest = up_rounds * _UP * path
    area = highest * (up_rounds + down_rounds) / 2 * member.rtt_s
    period_s, spent_s = _period_s(member)
    return (period_s - spent_s) // (rounds * member.rtt_s) * area / period_s


def outcome(shared: Shared) -> Outcome | None:
    """What the model gives; none where another flow, or a loss, has a part."""
    alone = len(shared.members) == 1 and shared.members[0].kind == "bbr3"
    if not alone or shared.disturbed or shared.loss:
        return None
    (member,), path = shared.members, shared.path_packets
    period_s, spent_s = _period_s(member)
    idle = 1 - min(1.0, max(0.5, _LEAST / path))
    rate = shared.payload_bps * (1 - idle * spent_s / period_s)
    # A shallower buffer ends probes by losses, and bounds what is in flight.
    reason = short_of(shared, 4 * _UP * path, 2 * _LEAST)
    if sum(_swing(shared, 4, _CLOCK_S[1])) * member.rtt_s > period_s - spent_s:
        reason = reason or (
            f"{shared.station.link}: with these round trips BBR looks at the empty path before a "
            "probe and its drain are over: shown, not judged."
        )
    low, high = _mean_queue(shared, 3, _CLOCK_S[1]), _mean_queue(shared, 4, _CLOCK_S[0])
    names = shared.names("bbr3")
    estimates = rate_and_queue(shared, names, rate, low, high, judged=reason is None)
    return Outcome(estimates, 5 * member.cc["probe_rtt_interval_ns"] / 1e9, reason)
