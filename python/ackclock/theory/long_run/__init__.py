"""Flows without an equilibrium: averages over a long run, by models of the literature.

CUBIC, Reno and BBR rest nowhere. What is known of them are averages, each by a model with its own
conditions. One file a model; the first one that applies is taken.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ackclock.theory.estimate import Averages
from ackclock.theory.long_run import (
    bbr3_alone,
    bbr_alone,
    bbr_beside_loss,
    random_loss,
    sawtooth,
    sharing,
)
from ackclock.theory.long_run.entry import Entry
from ackclock.theory.long_run.shared import shared_by
from ackclock.theory.network import Network

ENTRIES: tuple[Entry, ...] = (
    sawtooth.ENTRY,
    random_loss.ENTRY,
    sharing.ENTRY,
    bbr_alone.ENTRY,
    bbr3_alone.ENTRY,
    bbr_beside_loss.ENTRY,
)

__all__ = ["ENTRIES", "averages_of"]


def averages_of(
    model: Mapping[str, Any], network: Network, group: Sequence[int]
) -> tuple[Averages | None, str | None]:
    """Return estimates of flows that share queues, and a remark; none where no model applies."""
    shared = shared_by(model, network, group)
    if shared is None:
        return None, None
    for known in ENTRIES:
        if found := known.estimates(shared):
            names = tuple(member.id for member in shared.members)
            averages = Averages(known.model, names, tuple(found), known.least_s(shared))
            return averages, known.remark(shared)
    return None, None
