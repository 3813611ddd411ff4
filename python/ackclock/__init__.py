"""Ackclock: a laboratory for TCP congestion control.

>>> import ackclock
>>> scenario = ackclock.Scenario.load("caltech/test-case-0-fast")
>>> results = ackclock.run(scenario)
>>> results.summary["flows"]["F1"]["goodput_bps"]

Importing the package is quick; what is heavy is loaded when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# Not lazy: the functions must win over the submodules of the same name.
from ackclock.replicate import ReplicationsFailedError, ReplicationsInterrupted, replicate
from ackclock.run import Progress, RunInterrupted, RunStoppedError, run

if TYPE_CHECKING:
    from ackclock.controllers import CongestionControl, QueueDiscipline
    from ackclock.controllers.faults import ControllerError
    from ackclock.errors import AckclockError, InputError, Problem, ScenarioError
    from ackclock.replications import Replications
    from ackclock.results import Results, ResultsError
    from ackclock.scenario import Scenario
    from ackclock.sweep import Study

    __version__: str

__all__ = [
    "AckclockError",
    "CongestionControl",
    "ControllerError",
    "InputError",
    "Problem",
    "Progress",
    "QueueDiscipline",
    "Replications",
    "ReplicationsFailedError",
    "ReplicationsInterrupted",
    "Results",
    "ResultsError",
    "RunInterrupted",
    "RunStoppedError",
    "Scenario",
    "ScenarioError",
    "Study",
    "replicate",
    "run",
]

_HOMES = {
    "AckclockError": "ackclock.errors",
    "CongestionControl": "ackclock.controllers",
    "ControllerError": "ackclock.controllers.faults",
    "InputError": "ackclock.errors",
    "Problem": "ackclock.errors",
    "QueueDiscipline": "ackclock.controllers",
    "Replications": "ackclock.replications",
    "Results": "ackclock.results",
    "ResultsError": "ackclock.results",
    "Scenario": "ackclock.scenario",
    "ScenarioError": "ackclock.errors",
    "Study": "ackclock.sweep",
}

_PARTS = frozenset(
    [
        "conformance",
        "export",
        "gym",
        "labs",
        "log",
        "measured",
        "metrics",
        "plots",
        "report",
        "sweep",
        "tables",
        "theory",
        "widgets",
    ]
)
"""Packages and modules that are loaded when they are named."""


if not TYPE_CHECKING:  # a checker shall see the names above, and complain about others

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from ackclock._core import version

            return version()
        if name in _HOMES or name in _PARTS:
            from importlib import import_module

            home = import_module(_HOMES.get(name, f"ackclock.{name}"))
            return home if name in _PARTS else getattr(home, name)
        raise AttributeError(f"module 'ackclock' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_PARTS, "__version__"})
