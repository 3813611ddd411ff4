"""The same run in other surroundings: hash seeds, locales, threads, forks, and very large flows."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ackclock import Scenario, run

START = "import ackclock.cli.app as cli, sys; sys.argv[0] = 'ackclock'; cli.program()"
SMALL = """\
title: "smäll → big"
hosts: [A, B]
links: [{id: L, between: [A, B], rate: 10 Mbps, delay: 1 ms, loss: {kind: bernoulli, p: 0.01}}]
flows: [{id: ü, from: A, to: B, tcp: {cc: reno}}]
stop: {at_latest: 1 s}
"""


def digest(seed):
    scenario = Scenario.load("shapes/dumbbell", [("stop.at_latest", "2 s")], seed)
    return run(scenario).summary["digest"]


def _written(folder, variables):
    (folder / "x.yaml").write_text(SMALL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", START, "run", "x.yaml", "--no-plots", "--out", "out"],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert b"L" in done.stdout
    records = sorted((folder / "out" / "records").iterdir())
    scenario = (folder / "out" / "scenario.yaml").read_bytes()
    return scenario, {path.name: path.read_bytes() for path in records}


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """What is written where nothing is changed."""
    return _written(tmp_path_factory.mktemp("usual"), {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "surroundings",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONHASHSEED": "0"},
        {
            "LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8", "PYTHONHASHSEED": "12345",
            "PYTHONIOENCODING": "ascii", "TZ": "Pacific/Chatham", "HOME": "/nowhere",
            "TERM": "dumb", "COLUMNS": "20",
        },
    ],
    ids=["ASCII", "German"],
)  # fmt: skip
def test_surroundings_change_no_byte_of_a_result(tmp_path, usual, surroundings):
    found = _written(tmp_path, surroundings)
    assert found == usual
    assert b"\xc3\xbc" in found[0]  # the ü


def test_runs_in_threads_do_not_meet():
    alone = [digest(seed) for seed in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(digest, range(1, 5))) == alone
    assert len(set(alone)) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_runs_in_forked_processes_are_those_of_their_parent():
    alone = [digest(seed) for seed in range(1, 3)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(digest, range(1, 3)) == alone


@pytest.mark.parametrize("sender", ["classic", "selective-repeat"])
def test_flows_of_more_than_four_gigabytes_arrive_whole(sender):
    """Sequence numbers of TCP go round at 2^32 bytes; ours must not."""
    size = 5_000_000_000
    scenario = Scenario.from_dict(
        {
            "hosts": ["A", "B"],
            "links": [{"id": "L", "between": ["A", "B"], "rate": "100 Gbps", "delay": "10 us"}],
            "flows": [
                {
                    "id": "F",
                    "from": "A",
                    "to": "B",
                    "send": f"{size} B",
                    "tcp": {"sender": sender, "segment": "60000 B", "cc": "reno"},
                }
            ],
            "stop": {"at_latest": "60 s"},
            "record": "none",
        }
    )
    summary = run(scenario).summary
    assert summary["finished"]
    flow = summary["flows"]["F"]
    assert flow["bytes_delivered"] == size
    assert flow["bytes_sent"] >= size
    assert flow["finish_s"] > size * 8 / 100e9
