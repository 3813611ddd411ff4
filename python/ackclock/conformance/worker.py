"""A process that runs trials, `python -m ackclock.conformance.worker`; it speaks JSON."""

from __future__ import annotations

import json
import os
import traceback
from typing import Any

from ackclock import imports
from ackclock.aside import set_aside
from ackclock.conformance import measures
from ackclock.conformance.networks import ALL

_GUARD = """

class Guarded{name}({name}):
    def __setattr__(self, name, value):
        if name == "cwnd" and value < self.segment:
            raise ValueError("below one segment")
        super().__setattr__(name, value)
"""
"""Put behind a program: the first window below one segment becomes an error with its line."""


def main() -> None:
    """Work until the input ends."""
    imports.spare()
    orders, answers = set_aside(0, 1, printed_to=2)
    for line in os.fdopen(orders, encoding="utf-8"):
        order = json.loads(line)
        answer = run(order["network"], order["cc"], order["guarded"])
        os.write(answers, json.dumps(answer).encode() + b"\n")


def run(network: str, cc: Any, guarded: bool) -> dict[str, Any]:
    """Return the figures of one run, or its fault: message, line, and time of the run."""
    import ackclock
    from ackclock import ControllerError, Scenario, ScenarioError

    lines = None
    if guarded:
        lines = cc["source"].count("\n") + 1
        guard = _GUARD.format(name=cc["class"])
        cc = {**cc, "source": cc["source"] + guard, "class": f"Guarded{cc['class']}"}
    tried = ALL[network]
    try:
        results = ackclock.run(Scenario.from_dict(tried.document(cc)))
    except ScenarioError as error:
        return {"refused": error.problems[0].message}
    except ControllerError as error:
        line = error.line
        if lines is not None and error.__cause__ is not None:
            frames = traceback.extract_tb(error.__cause__.__traceback__)
            own = [f.lineno for f in frames if f.filename == error.file and (f.lineno or 0) < lines]
            line = own[-1] if own else None
        words = str(error).split("\n")[0].removeprefix(f"{error.file}:{error.line}: ")
        return {"fault": words, "line": line, "time_s": error.time_s, "file": error.file}
    return measures.figures(tried, results)


if __name__ == "__main__":
    main()
