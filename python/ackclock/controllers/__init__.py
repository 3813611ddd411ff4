"""Congestion control in Python: the class that algorithms of users derive from.

See docs/python-controllers.md.
"""

from __future__ import annotations

import random
from typing import Any, ClassVar

from ackclock import _core


class _Kind(type):
    """Takes `compile` from the arguments of a class, which its `__init__` need not know."""

    def __call__(cls, *args: Any, compile: bool = False, **parameters: Any) -> Any:
        made = super().__call__(*args, **parameters)
        made.compiled = compile
        return made


class Program(metaclass=_Kind):
    """What classes of users are: made anew for each flow or queue, by parameters."""

    compiled: bool = False
    random: random.Random
    given: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **parameters: Any) -> Any:  # noqa: D102
        made = super().__new__(cls)
        made.given = (args, parameters)
        return made

    def __init__(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            setattr(self, name, value)


class CongestionControl(Program, _core.Controller):
    """An algorithm of your own: override the methods that it needs, and set `self.cwnd`.

    The terms are those of the engine. Times are seconds. Windows and amounts of data are in the
    sender's unit, of which `self.segment` is one full segment; formulas written with it hold for
    all senders. `self.mss` is the payload of a full segment in bytes, `self.now` the time.

    A parameter is an annotated attribute of the class, with its default (`increase: float = 1.0`),
    or an argument of `__init__`. `Mine(compile=True)` is compiled by numba.

    Attributes:
        cwnd: The congestion window.
        ssthresh: The slow-start threshold; infinite when there is none.
        pacing_rate: Bits per second at which packets leave; None for as fast as the window allows.
        random: Random numbers of the flow's own; the same in each run with the same seed.
        needs_rate: Whether it paces or asks for the delivery rate; only the modern sender can.
        owns_window: Whether it sets the window in recovery, too, so that the sender does not.
        tick_period: Time between calls of `on_tick`, such as "10 ms".
        variables: Names for `self.record`; names written out in a call need not stand here.

    Example:
        >>> import ackclock
        >>> class Half(ackclock.CongestionControl):
        ...     def on_loss(self, loss):
        ...         return self.cwnd / 2
        >>> Half().pacing_rate is None
        True
    """

    needs_rate: ClassVar[bool] = False
    owns_window: ClassVar[bool] = False
    tick_period: ClassVar[str | None] = None
    variables: ClassVar[tuple[str, ...]] = ()

    def on_start(self, event: _core.Event) -> None:
        """Begin: the flow starts, with the sender's initial window."""

    def on_established(self, event: _core.Event) -> None:
        """Use what the handshake measured: `event.rtt`."""

    def on_sample(self, ack: _core.Event) -> None:
        """Look at an ACK of new data before the sender reacts to it, in recovery, too."""

    def on_ack(self, ack: _core.Event) -> None:
        """Change the window by an ACK, if `ack.may_grow`."""

    def on_loss(self, loss: _core.Event) -> float | None:
        """Return the slow-start threshold that a loss or mark asks for, or set the window to it.

        The sender applies the floor of two segments and sets the window. Where nothing is returned
        and nothing set, there is no reaction.
        """

    def on_state(self, change: _core.Event) -> None:
        """Note that the sender's state is another: `change.state`."""

    def on_undo(self, event: _core.Event) -> None:
        """Undo the last reduction, which answered no loss; `event.before` is the window before it.

        Without this method the window goes back there.
        """

    def on_idle(self, event: _core.Event) -> None:
        """The flow was idle for longer than the RTO, and the sender has reduced the window."""

    def on_tick(self, event: _core.Event) -> None:
        """Do what is done each `tick_period`."""


class QueueDiscipline(Program):
    """A queue discipline of your own: it decides, packets leave first in, first out.

    A parameter is an annotated attribute of the class, with its default (`limit: int = 100`), or an
    argument of `__init__`. See docs/python-queues.md.

    Attributes:
        random: Random numbers of the queue's own; the same in each run with the same seed.
    """

    def on_enqueue(self, packet: _core.QueuedPacket, queue: _core.QueueState) -> str | None:
        """Return "drop", "full" or "mark" for a packet that comes; nothing to take it."""

    def on_dequeue(self, packet: _core.QueuedPacket, queue: _core.QueueState) -> str | None:
        """Return "drop" or "mark" for a packet that is about to be sent; nothing to send it."""


OURS = frozenset((*CongestionControl.__mro__, *QueueDiscipline.__mro__))
"""Classes whose attributes are no parameters."""
