"""Flows without an equilibrium: averages over a long run, by models of the literature.

CUBIC, Reno and BBR rest nowhere. What is known of them are averages, each by a model with its own
conditions. One file a model; the first one that applies is taken.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ackclock.theory.errors import TheoryError
from ackclock.theory.estimate import Averages, Model, Outcome
from ackclock.theory.long_run import (
    bbr3_alone,
    bbr_alone,
    bbr_beside_loss,
    random_loss,
    sawtooth,
    sharing,
)
from ackclock.theory.long_run.shared import Shared, shared_by
from ackclock.theory.network import Network

__all__ = ["ENTRIES", "averages_of"]


class Entry(Protocol):
    """What a file of this folder has."""

    MODEL: Model

    def outcome(self, shared: Shared) -> Outcome | None:
        """What it gives for flows at a bottleneck; none where it does not apply."""
        ...


ENTRIES: tuple[Entry, ...] = (
    sawtooth,
    random_loss,
    sharing,
    bbr_alone,
    bbr3_alone,
    bbr_beside_loss,
)


def averages_of(
    model: Mapping[str, Any], network: Network, group: Sequence[int]
) -> tuple[Averages | None, str | None]:
    """Return estimates of flows that share queues, and a remark.

    A remark without estimates says why a model that is for such flows gives none.

    Raises:
        TheoryError: No model is for such flows; the message says why.
    """
    shared = shared_by(model, network, group)
    for known in ENTRIES:
        if found := known.outcome(shared):
            names = tuple(member.id for member in shared.members)
            if not found.estimates:
                return None, found.remark
            made = Averages(
                known.MODEL, names, tuple(found.estimates), found.least_s, found.repeat_s
            )
            return made, found.remark
    raise TheoryError(_not_covered(shared))


def _not_covered(shared: Shared) -> str:
    """In words, why no model is for these flows."""
    if shared.disturbed:
        return f"{shared.disturbed}, which no model of averages covers"
    if shared.loss:
        return "of random losses, averages are known for one flow of CUBIC or Reno alone"
    if shared.buffer is None:
        return f"the queue of {shared.station.link} has no limit, so that losses never end a growth"
    if not shared.one_rtt:
        return "averages of BBR are known for one round-trip time"
    return "no model of averages is for these flows together"
