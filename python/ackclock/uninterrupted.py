"""What Ctrl-C must not end halfway."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM during a block; what came then, comes at its end.

    For moments in which things are nowhere but in local variables. Other threads than the main one
    are not interrupted anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    # A signal that is ignored, or ends the process, stays as it is.
    found = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: handler for number, handler in found.items() if callable(handler)}

    def hold(number: int, frame: FrameType | None) -> None:
        held.append((number, frame))

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in held:
            handlers[signal.Signals(number)](number, frame)
