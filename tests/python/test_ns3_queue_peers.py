"""Queues against ns-3.44 with classic senders: what it measured once, and now, where installed.

``python tests/peers/ns3_queues.py`` compares as many runs as wanted.
"""

import shutil
import sys
from pathlib import Path
from statistics import mean

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))

import ns3_queues
from ns3_queues import DISCIPLINES, TCP, Network

# What three runs of ns-3.44 reached from: mean packets, mean wait in ms, drops.
MEASURED = {
    "droptail": ((33.53, 37.7), (27.96, 31.41), (308, 406)),
    "red": ((7.006, 7.778), (6.001, 6.634), (368, 804)),
    "fq-codel": ((7.799, 10.29), (6.602, 8.525), (337, 451)),
}


def test_a_mean_is_inside_a_band_or_so_far_outside():
    assert ns3_queues.verdict([2.0, 4.0], [3.0, 4.5]) == "inside"
    assert ns3_queues.verdict([2.0, 4.0], [3.9, 6.1]) == "ranges meet, mean 25.0% outside"
    assert ns3_queues.verdict([2.0, 4.0], [1.0, 1.5]) == "37.5% outside"


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_queues_are_as_long_as_ns3_measured_them(name):
    found = [ns3_queues.ours(DISCIPLINES[name], Network.drawn(seed), TCP) for seed in (1, 2, 3)]
    packets, wait_ms, drops = MEASURED[name]
    assert packets[0] <= mean(each.mean_packets for each in found) <= packets[1]
    assert wait_ms[0] <= 1e3 * mean(each.mean_wait_s for each in found) <= wait_ms[1]
    assert drops[0] <= mean(each.drops for each in found) <= drops[1]


@pytest.mark.slow
@pytest.mark.skipif(
    ns3_queues.folder() is None or shutil.which("g++") is None, reason="ns-3 is not installed"
)
def test_queues_are_as_long_as_ns3_measures_them(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ns3_queues.py", "--only", "red", "--runs", "2"])
    assert ns3_queues.main() == 0
    assert capsys.readouterr().out.count("| red |") == 4
