"""Made-up sweeps, and what figures of them show."""

import pyarrow as pa
import pytest

from ackclock.sweep import SweepResults


def sweep(rows, axes=("cc", "queue"), **more):
    """A made-up sweep: rows of axes, replication, goodput and the flows' goodputs."""
    table = []
    for number, (*values, replication, goodputs) in enumerate(rows):
        flows = [
            {"id": f"F{i}", "goodput_bps": goodput, "bytes_delivered": 1000, "start_s": 0.0}
            for i, goodput in enumerate(goodputs, 1)
        ]
        row = {
            "key": f"{number:04}",
            **dict(zip(axes, values, strict=True)),
            "replication": replication,
            "seed": 1 + replication,
            "status": "done",
            "error": None,
            "end_s": 10.0,
            "goodput_bps": sum(goodputs),
            "fairness_jain": 1.0,
            "drops": number,
            "flows": flows,
            "links": [{"id": "L", "direction": "forward", "drops": number}],
        }
        table.append({**row, **more})
    return SweepResults(pa.Table.from_pylist(table), "lab", list(axes), len(rows), None)


@pytest.fixture
def grid():
    """Two algorithms by three queues, three replications."""
    return sweep(
        [
            (cc, queue, replication, [base * 1e5 + 1e4 * replication, 1e5])
            for cc, base in (("tahoe", 1), ("reno", 2))
            for queue in ("8 KB", "2 KB", "32 KB")
            for replication in range(3)
        ]
    )


@pytest.fixture
def delays(grid):
    """The same with queueing delays, and with flows of which one never finishes."""
    rows = grid.table.to_pylist()
    for number, row in enumerate(rows):
        row["queueing_delay_s_mean"] = 1e-3 * (1 + number)
        for place, flow in enumerate(row["flows"]):
            unfinished = place == 1 and number == 0
            flow["completion_s"] = None if unfinished else 1.0 + number + 10 * place
    return SweepResults(pa.Table.from_pylist(rows), "lab", ["cc", "queue"], len(rows), None)


def lines(axes):
    """The curves of a panel with more than the two ends of an error bar."""
    return [line for line in axes.lines if line.get_marker() not in (None, "None", "")]


def segments(axes):
    """The bars of a panel, each as two points."""
    return [bar for many in axes.collections for bar in many.get_segments()]


def notes(page):
    return " ".join(text.get_text() for text in page.texts).replace("\n", " ")
