"""Laws of flows, by the word that a scenario uses.

To add the theory of another congestion control: a new file with a class as in `law.Law`, and one
line in `_KNOWN`. A flow without a law gets its path RTT and a note that no theory applies.
"""

from ackclock.theory.laws.constant import Constant
from ackclock.theory.laws.fast import Fast
from ackclock.theory.laws.fixed import Fixed
from ackclock.theory.laws.law import Law, WindowProcess
from ackclock.theory.laws.vegas import LEAST_WINDOW, Vegas
from ackclock.theory.network import FlowPath

_KNOWN: tuple[Law, ...] = (Fast(), Vegas(), Fixed(), Constant())

LAWS: dict[str, Law] = {law.name: law for law in _KNOWN}
"""Known laws."""


def law_of(flow: FlowPath) -> Law | None:
    """The law of a flow, if there is one."""
    return LAWS.get(flow.params["kind"])


__all__ = ["LAWS", "LEAST_WINDOW", "Law", "WindowProcess", "law_of"]
