"""Runs what a profile-guided build learns from: ``maturin build --release --pgo`` calls it.

Small versions of the workloads of :mod:`bench`, without records and with all of them, and the
scenarios of the gallery: what users run. Nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ackclock import Scenario, library, run
from ackclock.bench.workloads import SENDERS, chain, dumbbell


def documents() -> Iterator[dict[str, Any]]:
    """Yield small versions of the workloads, without records and with all of them."""
    workloads = [chain(1, seconds=0.1), chain(100, seconds=0.001)]
    for flows, seconds in ((1, 60), (10, 10), (100, 2), (1000, 0.2)):
        workloads += [dumbbell(flows, seconds, sender) for sender in SENDERS]
    for workload in workloads:
        for record in ("none", "all"):
            yield {**workload, "record": record}


def main() -> None:
    """Run everything."""
    for document in documents():
        run(Scenario.from_dict(document))
    for name in library.names():
        run(Scenario.load(name))


if __name__ == "__main__":
    main()
