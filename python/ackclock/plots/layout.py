"""Where to put the nodes of a network on paper.

The core of the network (nodes with more than one link) is placed by the distances in the graph:
neighbours are near, ends of a long path far apart (stress majorization by Gansner, Koren and
North, 2004, begun from classical scaling). Nodes with one link are then put around their
neighbour, where there is most room. Deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ackclock.arrays import Floats

_ROUNDS = 300
_MOST_CORE = 400
"""A larger core is put on a circle: nobody could read its labels anyway."""

_LEAF = 0.85
"""Distance of a leaf from its neighbour."""

_MARGIN = np.radians(80)
"""Least angle between a leaf's link and one that leads on, where there is room for it."""


def place(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]], sources: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Positions with a distance of about 1 between neighbours; the long axis is horizontal.

    Args:
        nodes: All nodes.
        edges: Pairs of joined nodes.
        sources: Nodes that should rather be at the left, the first one above the middle.
    """
    near: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    core = [name for name in nodes if len(set(near[name])) != 1]
    if not core:  # two nodes and a link, perhaps several times
        core = list(nodes)
    index = {name: i for i, name in enumerate(core)}
    pairs = [(index[a], index[b]) for a, b in edges if a in index and b in index]
    points = _core(len(core), pairs)
    placed = {name: points[index[name]] for name in core}
    for name in core:
        leaves = [leaf for leaf in dict.fromkeys(near[name]) if leaf not in index]
        others = [placed[other] for other in dict.fromkeys(near[name]) if other in index]
        placed |= _around(placed[name], leaves, others)
    lost = [name for name in nodes if name not in placed]  # pairs of leaves, apart from the rest
    placed |= {name: np.array([1.0 + i % 2, -1.0 - i // 2]) for i, name in enumerate(lost)}
    everything = np.array([placed[name] for name in nodes])
    axis = points if len(core) == 2 or (len(core) > 2 and _elongated(points)) else everything
    turned = _upright(everything, axis, nodes, sources)
    return {name: (float(x), float(y)) for name, (x, y) in zip(nodes, turned, strict=True)}


def _core(count: int, pairs: Sequence[tuple[int, int]]) -> Floats:
    if count == 1:
        return np.zeros((1, 2))
    if count > _MOST_CORE:
        angle = np.arange(count) * 2 * np.pi / count
        return np.column_stack((np.cos(angle), np.sin(angle))) * count / (2 * np.pi)
    return _stress(_hops(count, pairs))


def _around(centre: Floats, leaves: Sequence[str], others: Sequence[Floats]) -> dict[str, Floats]:
    """Leaves spread over the angles between the links to other nodes, the widest angle first."""
    if not leaves:
        return {}
    taken = sorted(float(np.arctan2(*(other - centre)[::-1])) for other in others)
    if not taken:
        angles = [np.pi - 2 * np.pi * i / len(leaves) for i in range(len(leaves))]
    else:
        gaps = [
            [a, (b - a if b > a else b - a + 2 * np.pi), 0]
            for a, b in zip(taken, [*taken[1:], taken[0]], strict=True)
        ]
        for _ in leaves:
            widest = max(gaps, key=lambda gap: round(gap[1] / (gap[2] + 1), 6))
            widest[2] += 1
        angles: list[float] = []
        for start, width, inside in gaps:
            margin = min(_MARGIN, width / 4)  # keeps leaves of two neighbours apart
            step = (width - 2 * margin) / max(1, inside)
            angles += [start + margin + step * (i + 0.5) for i in range(int(inside))]
        angles.sort(key=lambda angle: -np.sin(angle))  # the first leaf on top
    radius = min(max(_LEAF, 0.14 * len(leaves)), 2.2)
    return {
        leaf: centre + radius * np.array([np.cos(angle), np.sin(angle)])
        for leaf, angle in zip(leaves, angles, strict=True)
    }


def _hops(count: int, pairs: Sequence[tuple[int, int]]) -> Floats:
    """Hops between all nodes; between separate parts one more than the largest distance."""
    distance = np.full((count, count), np.inf)
    np.fill_diagonal(distance, 0.0)
    for a, b in pairs:
        if a != b:
            distance[a, b] = distance[b, a] = 1.0
    for via in range(count):
        np.minimum(distance, distance[:, via, None] + distance[None, via, :], out=distance)
    reached = distance[np.isfinite(distance)]
    return np.where(np.isfinite(distance), distance, reached.max() + 1.0)


def _stress(ideal: Floats) -> Floats:
    count = len(ideal)
    centred = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ ideal**2 @ centred)
    points = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-9))
    points = points * np.where(points[np.argmax(np.abs(points), axis=0), [0, 1]] < 0, -1.0, 1.0)
    apart = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2) + np.eye(count)
    if apart.min() < 1e-3:  # nodes with the same neighbours begin at one point: part them
        angle = np.arange(count) * 2.399963  # the golden angle
        points = points + 0.01 * np.column_stack((np.cos(angle), np.sin(angle)))
    weight = np.zeros_like(ideal)
    np.divide(1.0, ideal**2, out=weight, where=ideal > 0)
    total = weight.sum(axis=1)[:, None]
    for _ in range(_ROUNDS):
        gap = points[:, None, :] - points[None, :, :]
        length = np.maximum(np.hypot(gap[..., 0], gap[..., 1]), 1e-9)
        pull = (weight * ideal / length)[..., None] * gap
        points = ((weight[..., None] * points[None, :, :]) + pull).sum(axis=1) / total
    return points


def _elongated(points: Floats) -> bool:
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extents[0] > 1.5 * extents[1])


def _upright(points: Floats, axis: Floats, nodes: Sequence[str], sources: Sequence[str]) -> Floats:
    """Turn the long axis of the points `axis` to the horizontal, and the sources to the left."""
    if len(points) > 1:
        _, _, turn = np.linalg.svd(axis - axis.mean(axis=0), full_matrices=False)
        points = (points - points.mean(axis=0)) @ turn.T
    left = set(sources)
    chosen = [i for i, name in enumerate(nodes) if name in left]
    if chosen:
        if points[chosen, 0].mean() > 1e-6:
            points[:, 0] *= -1
        # The first source, or else the first node off the middle, is above it.
        heights = points[[nodes.index(sources[0]), *range(len(nodes))], 1]
        off = heights[np.abs(heights) > 0.05]
        if len(off) and off[0] < 0:
            points[:, 1] *= -1
    return np.round(points, 9)


def bounds(places: Mapping[str, tuple[float, float]]) -> tuple[Floats, Floats]:
    """The lower left corner of all positions, and their extent."""
    points = np.array(list(places.values()))
    return points.min(axis=0), np.ptp(points, axis=0)
