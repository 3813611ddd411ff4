"""The grid of the ns-3 lab: all 192 runs end with the bytes that ns-3.24 ends with."""

from pathlib import Path

import pytest

import ackclock.reproduce
from ackclock.document import Document, plain
from ackclock.run import run
from ackclock.sweep import Study

FIGURES = plain(Document.read(Path(ackclock.reproduce.__file__).with_name("ns3-lab.yaml")).tree())


def figures():
    """What each flow has received, by the labels of the study's axes."""
    cells = {}
    for senders, kind in (("one", "one_flow"), ("ten", "ten_flows")):
        for row in FIGURES["original"][kind]:
            sizes = [f"{row[name]} B" for name in ("segment", "window")]
            for queue, received in zip(FIGURES["queues"], row["received"], strict=True):
                each = received if isinstance(received, list) else [received]
                bytes_ = [segments * row["segment"] for segments in each]
                cells[senders, row["recovery"], *sizes, f"{queue} B"] = bytes_
    return cells


@pytest.mark.slow
def test_every_flow_of_the_grid_ends_as_in_ns_3(tmp_path):
    table = Study.load("ns3/lab-grid").run(tmp_path / "grid", workers=1).table
    expected = figures()
    assert table.num_rows == len(expected) == 192
    axes = ("senders", "recovery", "segment", "window", "queue")
    for row in table.to_pylist():
        received = [flow["bytes_delivered"] for flow in row["flows"]]
        assert received == expected[tuple(row[axis] for axis in axes)], row["key"]


def test_the_goodputs_of_the_report_are_those_of_ns_3():
    cells, start = figures(), FIGURES["starts_ns"][0]
    span_s = (FIGURES["end_ns"] - start) / 1e9
    for row in FIGURES["report"]:
        sizes = [f"{row[name]} B" for name in ("segment", "window", "queue")]
        (received,) = cells["one", row["recovery"], *sizes]
        assert float(f"{received / span_s:.6g}") == row["goodput"]


def test_the_scenarios_are_cells_of_the_grid():
    cells = figures()
    for name, cell in (
        ("lab-one-flow", ("one", "reno", "128 B", "64000 B", "64000 B")),
        ("lab-ten-flows", ("ten", "tahoe", "128 B", "8000 B", "2000 B")),
    ):
        flows = run(ackclock.Scenario.load(f"ns3/{name}")).summary["flows"].values()
        assert [flow["bytes_delivered"] for flow in flows] == cells[cell]
