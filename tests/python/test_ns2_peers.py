"""Random networks against ns-2.35: what it counted once, and what it counts now, where installed.

``python tests/peers/ns2.py`` compares as many networks as wanted.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))

import ns2
import ns2_program
from ns2_networks import random_network

OLD = ["tahoe", "reno", "newreno"]
VEGAS = ["vegas"]

# Seed, senders, files; for each flow: where the clock of its timer ticks, packets sent, sent again,
# timeouts, bytes delivered, microsecond of the last ACK, packets dropped, sum of their numbers.
COUNTED = [
    (
        16,
        VEGAS,
        False,
        [
            (0.0056884572867716, 2111, 42, 3, 3020740, None, 29, 29004),
            (0.44993526835457204, 1496, 36, 4, 744448, None, 28, 21262),
            (0.24141596455192937, 2175, 54, 3, 2106000, None, 45, 53342),
        ],
    ),
    (
        16,
        VEGAS,
        True,
        [
            (0.0056884572867716, 160, 4, 0, 79872, 5587607, 3, 33),
            (0.44993526835457204, 261, 8, 0, 129536, 8747169, 6, 1097),
            (0.24141596455192937, 195, 12, 2, 93696, 7569940, 9, 607),
        ],
    ),
    (
        21,
        VEGAS,
        True,
        [
            (0.00735998200595378, 107, 6, 1, 147460, 5899780, 4, 252),
            (0.22932830417031808, 192, 1, 1, 191000, 9936546, 1, 0),
        ],
    ),
    (
        7,
        OLD,
        True,
        [
            (0.0026797121403178722, 416, 108, 1, 448220, 5851118, 52, 8160),
            (0.44702991212114224, 88, 0, 0, 127020, 3160783, 0, 0),
            (0.11361092380881818, 402, 2, 1, 204288, 8715745, 2, 3),
        ],
    ),
    # The first packet of F1 is lost: its timeout counts as later than its cuts.
    (
        910012,
        VEGAS,
        False,
        [
            (0.22284562011381873, 351, 56, 13, 288000, None, 48, 9730),
            (0.5466488593009527, 578, 28, 2, 795700, None, 28, 7303),
            (0.9352807076346505, 386, 60, 9, 316000, None, 50, 9159),
        ],
    ),
]


@pytest.mark.parametrize(("seed", "senders", "files", "counted"), COUNTED)
def test_networks_come_out_as_ns2_counted_them(seed, senders, files, counted):
    network = random_network(seed, senders, files)
    for flow, (phase, *_) in zip(network.flows, counted, strict=True):
        flow.phase = phase
    for found, (_, sent, again, timeouts, delivered, finished, *drops) in zip(
        ns2.ours(network), counted, strict=True
    ):
        numbers = [packet for _, packet in found.drops]
        assert [len(numbers), sum(numbers)] == drops
        assert (found.sent, found.again, found.timeouts) == (sent, again, timeouts)
        assert found.delivered == delivered
        assert found.finished_us == pytest.approx(finished, abs=ns2.CLOSE_US)


@pytest.mark.slow
@pytest.mark.skipif(not ns2_program.is_installed(), reason="ns-2.35 is not installed")
@pytest.mark.parametrize(("senders", "files"), [(VEGAS, False), (VEGAS, True), (OLD, True)])
def test_networks_come_out_as_ns2_counts_them(senders, files):
    assert ns2.compare(random_network(31, senders, files)) == []
