"""Sweeps: a scenario, run for many values, many times, on all cores; what is done stays done.

>>> from ackclock.sweep import Study, load
>>> study = Study("bene/one-flow", grid={"links.L1.rate": ["1 Mbps", "2 Mbps"]}, replications=3)
>>> study.run("my-sweep").table
>>> load("my-sweep").flows()

Importing this is quick; what is heavy is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.sweep.cluster import DaskExecutor
    from ackclock.sweep.executor import Executor, LocalExecutor
    from ackclock.sweep.model import Batch, Receipt, Runs
    from ackclock.sweep.plan import Plan
    from ackclock.sweep.results import SweepResults, load
    from ackclock.sweep.session import Outlook, SweepInterrupted, SweepProgress
    from ackclock.sweep.store import SweepBusyError
    from ackclock.sweep.study import Study

__all__ = [
    "Batch",
    "DaskExecutor",
    "Executor",
    "LocalExecutor",
    "Outlook",
    "Plan",
    "Receipt",
    "Runs",
    "Study",
    "SweepBusyError",
    "SweepInterrupted",
    "SweepProgress",
    "SweepResults",
    "load",
]

_MODULES = {
    "cluster": ("DaskExecutor",),
    "executor": ("Executor", "LocalExecutor"),
    "model": ("Batch", "Receipt", "Runs"),
    "plan": ("Plan",),
    "results": ("SweepResults", "load"),
    "session": ("Outlook", "SweepInterrupted", "SweepProgress"),
    "store": ("SweepBusyError",),
    "study": ("Study",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            from importlib import import_module

            return getattr(import_module(f"ackclock.sweep.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'ackclock.sweep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
