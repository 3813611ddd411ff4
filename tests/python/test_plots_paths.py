"""Paths of flows over time, and the placing of networks on paper."""

import numpy as np
import plot_runs as made
import pytest

from ackclock.plots import layout, paths
from ackclock.plots.view import View


def diamond(rows=()):
    """H1 - R1 - (R2 or R3) - R4 - H2, as in test case 1 of the Caltech paper."""
    links = [
        made.link("L0", "H1", "R1"),
        made.link("L1", "R1", "R2"),
        made.link("L2", "R1", "R3"),
        made.link("L3", "R2", "R4"),
        made.link("L4", "R3", "R4"),
        made.link("L5", "R4", "H2"),
    ]
    flow = made.tcp_flow("F1", "H1", "H2", 0.5, "fast")
    scenario = made.model(["H1", "H2"], ["R1", "R2", "R3", "R4"], links, [flow])
    maker = made.Maker(scenario)
    if rows:
        maker.routes(rows)
    return maker


ALTERNATING = [
    (0.15, "R1", "H2", "L1", None),
    (5.15, "R1", "H2", "L2", "L1"),
    (10.15, "R1", "H2", "L1", "L2"),
    (0.0, "R1", "H1", "L0", None),
    (0.15, "R2", "H2", "L3", None),
    (0.15, "R3", "H2", "L4", None),
    (0.0, "R4", "H2", "L5", None),
    (0.15, "R4", "H1", "L3", None),
    (0.15, "R2", "H1", "L1", None),
]


def test_the_path_follows_the_next_hops():
    view = View(diamond(ALTERNATING).run(15.0))
    spans = view.flow_paths["F1"]
    assert [(span.start_s, span.stop_s, span.links) for span in spans] == [
        (0.0, 0.15, ()),
        (0.15, 5.15, ("L0", "L1", "L3", "L5")),
        (5.15, 10.15, ("L0", "L2", "L4", "L5")),
        (10.15, 15.0, ("L0", "L1", "L3", "L5")),
    ]
    assert [change.time_s for change in view.route_changes] == [5.15, 10.15]
    assert view.moving_flows == ["F1"]
    assert view.own_links == [["L1", "L3"], ["L2", "L4"]]


def test_a_change_that_moves_no_drawn_flow_is_no_mark():
    rows = [*ALTERNATING, (6.0, "R3", "H1", "L2", None), (7.0, "R3", "H1", "L4", "L2")]
    view = View(diamond(rows).run(15.0))
    assert [change.time_s for change in view.route_changes] == [5.15, 10.15]


def test_a_route_that_goes_away_leaves_a_gap():
    rows = [*ALTERNATING, (12.0, "R2", "H2", "L3", "L3"), (13.0, "R2", "H2", None, "L3")]
    view = View(diamond(rows).run(15.0))
    assert view.flow_paths["F1"][-1] == paths.PathSpan(13.0, 15.0, ())


def test_next_hops_that_loop_give_no_path():
    rows = [(0.0, "R1", "H2", "L1", None), (0.0, "R2", "H2", "L1", None)]
    view = View(diamond(rows).run(1.0))
    assert view.flow_paths["F1"][0].links == ()


def test_without_recorded_routes_the_path_is_that_of_the_summary():
    view = View(diamond().run(15.0, path={"F1": ["L0", "L1", "L3", "L5"]}))
    assert view.flow_paths["F1"] == [paths.PathSpan(0.0, 15.0, ("L0", "L1", "L3", "L5"))]
    assert view.route_changes == []
    # Dynamic routing, and nothing recorded.
    assert View(diamond().run(15.0)).flow_paths["F1"] == [paths.PathSpan(0.0, 15.0, ())]


def test_a_row_of_routers_is_drawn_level_and_sources_left():
    nodes = ["S1", "S2", "T1", "T2", "R1", "R2", "R3", "R4"]
    edges = [("R1", "R2"), ("R2", "R3"), ("R3", "R4"), ("S1", "R1"), ("S2", "R1")]
    edges += [("T1", "R4"), ("T2", "R2")]
    places = layout.place(nodes, edges, ["S1", "S2"])
    heights = [places[name][1] for name in ("R1", "R2", "R3", "R4")]
    assert np.ptp(heights) < 0.01
    across = [places[name][0] for name in ("R1", "R2", "R3", "R4")]
    assert across == sorted(across)
    assert places["S1"][1] > places["S2"][1]


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        (["A"], []),
        (["A", "B"], [("A", "B")]),
        (["A", "B"], []),
        (["A", "B", "C", "D"], [("A", "B"), ("C", "D")]),
        (["C", *"abcdefghij"], [("C", leaf) for leaf in "abcdefghij"]),
        ([f"n{i}" for i in range(20)], [(f"n{i}", f"n{(i * 7 + 1) % 20}") for i in range(20)]),
        ([f"n{i}" for i in range(12)], [(f"n{i}", f"n{(i + 1) % 12}") for i in range(12)]),
    ],
)
def test_no_two_nodes_at_one_place(nodes, edges):
    places = layout.place(nodes, edges, nodes[:1])
    points = np.array([places[name] for name in nodes])
    assert np.isfinite(points).all()
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(len(nodes))
    assert gaps.min() > 0.2
    assert places == layout.place(nodes, edges, nodes[:1])
