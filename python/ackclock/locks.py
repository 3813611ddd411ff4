"""Locks on open files, which the system takes back when the last process that has them is gone."""

import os
import time

BINARY = getattr(os, "O_BINARY", 0)
"""For `os.open`: Windows would write two bytes for the end of a line."""

FOLDERS = os.name == "posix"
"""Whether a folder can be opened, and renamed while a file in it is open."""

_FAR = 1 << 30
"""Windows locks bytes, and keeps others from reading them: one that no file has."""


_AGAIN_S = 0.02


def take(descriptor: int, shared: bool = False, patience_s: float = 0.0) -> None:
    """Lock an open file.

    Args:
        descriptor: What `os.open` gave.
        shared: Let others have a shared lock, too. Windows has only the other kind.
        patience_s: How long to wait for whoever has it.

    Raises:
        BlockingIOError: Another process has it.
        OSError: The file system has no locks.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return _take(descriptor, shared)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(_AGAIN_S)


def _take(descriptor: int, shared: bool) -> None:
    try:
        import fcntl
    except ImportError:
        _take_byte(descriptor)
    else:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def _take_byte(descriptor: int) -> None:
    try:
        import msvcrt
    except ImportError:  # nothing to lock with
        return
    windows = vars(msvcrt)
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR, os.SEEK_SET)
    try:
        windows["locking"](descriptor, windows["LK_NBLCK"], 1)
    except OSError as error:
        raise BlockingIOError(*error.args) from None
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
