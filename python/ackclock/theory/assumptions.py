"""What a prediction takes into account."""

from typing import NamedTuple

from ackclock.theory.errors import TheoryError


class Assumptions(NamedTuple):
    """Assumptions of a prediction; none of them has a free constant.

    Attributes:
        name: Word for the set.
        ack_load: ACKs take their share of the capacity of the links that they cross.
        crossing: Packets wait for each other where streams cross (see `crossing`), also where
            there is no lack of capacity.
        window_floor: Only whole packets are sent: a window of 75.14 packets has 75 in flight.
        startup: The way to an equilibrium is followed by the law of the windows, update by update;
            without it each equilibrium is taken to be reached at once.
    """

    name: str
    ack_load: bool
    crossing: bool
    window_floor: bool
    startup: bool


PAPER = Assumptions("paper", ack_load=False, crossing=False, window_floor=False, startup=False)
"""Section 3.4.1 of the Caltech paper (Bhasin, Luo, Su, Yang 2015)."""

PAPER_WITH_ACKS = Assumptions(
    "paper-with-acks", ack_load=True, crossing=False, window_floor=False, startup=False
)
"""The same equations, with the capacity that is left by ACKs."""

OURS = Assumptions("ours", ack_load=True, crossing=True, window_floor=True, startup=True)
"""Everything that follows from the laws without a fitted constant."""

PRESETS = {preset.name: preset for preset in (OURS, PAPER, PAPER_WITH_ACKS)}
"""Named assumptions, the default first."""


def assumptions_named(chosen: str | Assumptions) -> Assumptions:
    """Assumptions by name, or as given.

    Raises:
        TheoryError: No assumptions have this name.
    """
    if isinstance(chosen, Assumptions):
        return chosen
    if not isinstance(chosen, str) or chosen not in PRESETS:
        names = ", ".join(PRESETS)
        raise TheoryError(f"no assumptions are named `{chosen}`; there are: {names}")
    return PRESETS[chosen]
