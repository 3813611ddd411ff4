"""A run step by step: what is shown is what the records say, each thing once."""

import itertools
import json
import os
import select
import sys
import time

import pytest

from ackclock import Scenario, run
from ackclock.errors import InputError
from ackclock.steps import TABLES, Steps

RECORD = {"kind": "none"} | dict.fromkeys(TABLES, "changes")


def steps_of(name, flow=None, **overrides):
    scenario = Scenario.load(name, [*overrides.items(), ("record", RECORD)])
    results = run(scenario)
    return results, Steps(results, flow)


@pytest.fixture(scope="module")
def tail_loss():
    return steps_of("teach/tail-loss")


@pytest.mark.slow
def test_slow_start_doubles_in_each_round_trip():
    _, steps = steps_of("caltech/test-case-0-reno")
    rounds = list(steps.all("rtt"))
    assert [round(one.window[1]) for one in rounds[:7]] == [2, 3, 5, 9, 17, 33, 65]
    assert [one.acks for one in rounds[:7]] == [1, 1, 2, 4, 8, 16, 32]
    assert rounds[6].lines == ["window: slow start (32 times)"]


@pytest.mark.parametrize(("flow", "after"), [("reno", 11.0), ("rack", 10.0)])
def test_the_initial_window_is_no_slow_start(flow, after):
    """The first sample of a modern sender is that of its handshake."""
    _, steps = steps_of("teach/lost-retransmission", flow)
    first = steps.next("rtt", -1.0)
    assert first.window == (10.0, after)
    lines = [line for line in first.lines if "window:" in line]
    assert lines == ["window: initial window", "window: slow start"][: len(lines)]
    assert len(lines) == 1 + (after > 10)


@pytest.mark.parametrize("kind", ["event", "ack", "rtt"])
def test_steps_follow_one_another(tail_loss, kind):
    results, steps = tail_loss
    found = list(steps.all(kind))
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert all(a.end_s == b.begin_s for a, b in itertools.pairwise(found))
    assert all(a.window[1] == b.window[0] for a, b in itertools.pairwise(found))
    acks = results.table("packets").to_pylist()
    assert sum(one.acks for one in found) <= sum(
        row["kind"] == "ack" and row["event"] == "received" and row["flow"] == steps.flow
        for row in acks
    )


def test_each_event_is_said_once(tail_loss):
    results, steps = tail_loss
    said = [line for one in steps.all("event") for line in one.lines if "window:" not in line]
    rows = [
        row
        for table in ("events", "drops", "marks")
        for row in results.table(table).to_pylist()
        if row["flow"] == steps.flow
    ]
    assert len(said) == len(rows)
    assert sum(line.startswith("tail loss probe") for line in said) == 1


def test_the_rule_behind_a_cut_is_named(tail_loss):
    _, steps = tail_loss
    cuts = [one for one in steps.all("event") if one.window[1] < one.window[0]]
    assert cuts
    assert any("recovery starts with ssthresh from Reno" in t for t in cuts[0].lines)


def test_an_ack_at_a_time(tail_loss):
    results, steps = tail_loss
    found = list(steps.all("ack"))
    rows = results.table("packets").to_pylist()
    times = {r["time_s"] for r in rows if r["kind"] == "ack" and r["event"] == "received"
             and r["flow"] == steps.flow}  # fmt: skip
    assert [one.end_s for one in found] == sorted(times)


def test_flows_that_cannot_be_followed_are_refused():
    with pytest.raises(InputError, match=r"unknown flow 'prob'.*'probe'"):
        steps_of("teach/tail-loss", "prob")
    with pytest.raises(InputError, match="UDP"):
        steps_of("teach/bufferbloat", "call", **{"stop.at_latest": "1 s"})


def test_the_command_prints_steps_without_a_terminal(ackclock):
    done = ackclock("step", "teach/tail-loss", "--count", "3")
    assert done.code == 0
    assert done.out.count("round trip ") == 3
    assert max(map(len, done.out.splitlines())) <= 80
    assert "slow start (10 times)" in done.out
    assert "\x1b[" not in done.out
    done = ackclock("step", "teach/tail-loss", "--by", "ack", "--count", "2", "--json")
    assert [one["kind"] for one in json.loads(done.out)] == ["ack", "ack"]
    done = ackclock("step", "teach/tail-loss", "--count", "1000")
    assert "Nothing more; the run ends at" in done.out
    assert ackclock("step", "teach/tail-loss", "--flow", "none").code == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such terminal there")
def test_keys_choose_the_next_step(tmp_path):
    import pty

    child, terminal = pty.fork()
    if child == 0:
        program = "from ackclock.cli.app import program; program()"
        os.execv(sys.executable, [sys.executable, "-c", program, "step", "teach/tail-loss"])

    shown = ""

    def until(words):
        nonlocal shown
        ends = time.monotonic() + 60
        while words not in shown:
            left = ends - time.monotonic()
            assert left > 0 and select.select([terminal], [], [], left)[0], shown
            shown += os.read(terminal, 4096).decode()

    until("round trip 1")
    os.write(terminal, b"r")
    until("round trip 2")
    os.write(terminal, b"a")
    until("ACK 2")
    os.write(terminal, b" ")
    until("ACK 3")
    os.write(terminal, b"q")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_run_that_has_warned_does_not_warn_again(ackclock):
    late = ["--set", "flows.probe.start=5 s", "--set", "stop.at_latest=1 s"]
    done = ackclock("run", "teach/tail-loss", *late, "--no-plots", "--no-chart", "--out", "late")
    assert "when the run is over" in done.err
    assert not ackclock("step", "late", "--flow", "no-probe", "--count", "1").err
    again = ackclock("step", "teach/tail-loss", *late, "--flow", "no-probe", "--count", "1")
    assert "when the run is over" in again.err
