"""Colours and units of plots."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from test_plots_paths import diamond

from ackclock.plots import palette, quantities
from ackclock.plots.view import View


def seen(color, matrix):
    """CIELAB coordinates of a colour as seen with this kind of eyes."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(matrix) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = (
        np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116
        for v in xyz @ linear / np.array([0.9505, 1.0, 1.089])
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


EYES = {
    "normal": np.eye(3),
    # Machado, Oliveira, Fernandes (2009), full severity
    "deuteranope": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanope": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanope": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("family", ["FLOWS", "LINKS"])
def test_the_first_colours_are_far_apart_for_all_eyes(eyes, family):
    colors = [seen(color, EYES[eyes]) for color in getattr(palette, family)[:6]]
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2))
    assert nearest > 12  # a difference of 2.3 is just noticeable


def test_flows_and_links_are_of_different_families():
    for flow, link in itertools.product(palette.FLOWS[:6], palette.LINKS[:6]):
        gap = np.linalg.norm(seen(flow, np.eye(3)) - seen(link, np.eye(3)))
        assert gap > 20, (flow, link)


def test_links_between_routers_get_the_clearest_colours():
    view = View(diamond().run(1.0))
    order = ["L1", "L2", "L3", "L4", "L0", "L5"]
    assert view.link_color == dict(zip(order, palette.LINKS, strict=False))


@pytest.mark.parametrize(
    ("rates", "binary"),
    [
        ([10 * 2**20, int(12.5 * 2**20)], True),
        ([10_000_000, 100_000_000], False),
        ([10 * 2**20, 10_000_000], False),
        ([2**20 * 1000], False),
        ([], False),
    ],
)
def test_binary_rates_are_recognised(rates, binary):
    assert quantities.binary_rates(rates) is binary


def test_quantities_as_text():
    assert quantities.rate(10 * 2**20, binary=True) == "10 Mibps"
    assert quantities.rate(2.5e9, binary=False) == "2.5 Gbps"
    assert quantities.size(131072) == "128 KiB"
    assert quantities.size(64000) == "64 kB"
    assert quantities.delay(10_000_000) == "10 ms"
    assert quantities.delay(1_500) == "1.5 µs"
    assert quantities.number(62.2035) == "62.2"
    assert quantities.number(0) == "0"
    assert quantities.number(1200) == "1200"


@pytest.mark.parametrize(
    ("end_s", "unit", "window_s"),
    [
        (0.01, "ms", 0.00005),
        (3.0, "s", 0.02),
        (62.2, "s", 0.1),
        (1999.0, "s", 0.1),
        (3721.0, "s", 0.2),
        (5 * 3600.0, "min", 1.0),
        (86400.0, "h", 5.0),
        (12 * 365.25 * 86400, "years", 20_000.0),
    ],
)
def test_time_axis_and_windows_suit_the_length_of_the_run(end_s, unit, window_s):
    view = View(diamond().run(end_s))
    assert view.time_unit.name == unit
    assert view.window_s == pytest.approx(window_s)
