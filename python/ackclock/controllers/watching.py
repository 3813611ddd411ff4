"""Ends calls of controllers that never return."""

from __future__ import annotations

import _thread
import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ackclock.controllers.faults import LIMIT, CallLimitError

if TYPE_CHECKING:
    from ackclock import _core

_LOOKS = 5
"""Looks in that time: a machine that was asleep must not count as a call that takes long."""


@contextmanager
def watching(calls: _core.Calls) -> Iterator[None]:
    """Interrupt calls of controllers in this thread that take too long."""
    LIMIT.expired = False
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(calls, over, threading.get_ident()), daemon=True)
    # Processes of sweeps ignore Ctrl-C, which would end calls that wait.
    ignored = _is_main() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _watch(calls: _core.Calls, over: threading.Event, thread: int) -> None:
    seen, looks = -1, 0
    while not over.wait(LIMIT.seconds / _LOOKS):
        count = calls.count
        under_way = count % 2 == 1 and count == seen
        seen, looks = count, looks + 1 if under_way else 0
        if looks == _LOOKS:
            LIMIT.expired = True
            _interrupt(thread)


def _interrupt(thread: int) -> None:
    """Raise an exception in a thread."""
    main = thread == threading.main_thread().ident
    if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ends a call that waits, such as `time.sleep`, too.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(thread, signal.SIGINT)
        else:  # Windows, where the call has to return first
            _thread.interrupt_main()
        return
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(CallLimitError)
    )
