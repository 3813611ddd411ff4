"""Queues against ns-3.44 with classic senders: what it sent once, and now, where installed.

``python tests/peers/ns3_queues.py`` compares as many runs as wanted.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))

import ns3_queues
from ns3_queues import DISCIPLINES, Network

# How many segments ns-3.44 transmitted in the run of seed 1, and their digest: nanoseconds, flows,
# sequence numbers. Of CoDel only those before its clock decides (docs/models/ns-3.44.md).
SENT = {
    "droptail": (71_142, "8e4fc52d2fd54a1b8283ed82229a41c25177638fad399d1f1456fa59cadbc70c"),
    "codel": (35_487, "4625442d58f7cfad99d5bc08ad4ba65e3a85d57f21fe7737c6bea758d8a11834"),
    "fq-codel": (70_008, "1c320287267f9b5e5813caf70deb3f47a941600ae3c189ccd445f7d3fd6692ed"),
    "cobalt": (68_677, "92a827a0d0e5079ba9463283003c6a24e94c83c77382ab86f33446fcba0cb0bb"),
}


def test_a_mean_is_inside_a_band_or_so_far_outside():
    assert ns3_queues.verdict([2.0, 4.0], [3.0, 4.5]) == "inside"
    assert ns3_queues.verdict([2.0, 4.0], [3.9, 6.1]) == "ranges meet, mean 25.0% outside"
    assert ns3_queues.verdict([2.0, 4.0], [1.0, 1.5]) == "37.5% outside"


def test_means_are_compared_by_their_spread():
    assert ns3_queues.welch([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == "+1.22"
    assert ns3_queues.welch([1.0, 1.0], [1.0, 1.0]) == ns3_queues.welch([1.0], [2.0]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", SENT)
def test_segments_leave_at_the_nanoseconds_of_ns3(name):
    count, digest = SENT[name]
    segments = ns3_queues.ours(DISCIPLINES[name], Network.drawn(1)).segments
    assert name == "codel" or len(segments) == count
    assert hashlib.sha256(segments[:count].tobytes()).hexdigest() == digest


@pytest.mark.slow
@pytest.mark.skipif(
    ns3_queues.folder() is None or shutil.which("g++") is None, reason="ns-3 is not installed"
)
def test_queues_are_as_long_as_ns3_measures_them(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ns3_queues.py", "--only", "red", "--runs", "2"])
    assert ns3_queues.main() == 0
    assert capsys.readouterr().out.count("| red |") == 5
