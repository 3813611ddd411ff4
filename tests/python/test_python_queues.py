"""Queue disciplines in Python: the digests of the engine's own, errors with their place."""

import math
import re
from pathlib import Path

import pytest

import ackclock
from ackclock import ControllerError, Scenario, ScenarioError

PAGE = Path(__file__).parents[2] / "docs" / "python-queues.md"
BOTTLENECK = "links.bottleneck.forward.queue"


class Tail(ackclock.QueueDiscipline):
    limit: int = 40

    def on_enqueue(self, packet, queue):
        return "full" if queue.packets >= self.limit and not queue.idle else None


class Step(ackclock.QueueDiscipline):
    limit: int = 60
    mark_from: int = 20

    def on_enqueue(self, packet, queue):
        if queue.packets >= self.limit:
            return "full"
        if packet.ecn and queue.packets >= self.mark_from:
            return "mark"
        return "take"


class Late(ackclock.QueueDiscipline):
    most: float = 0.01

    def on_dequeue(self, packet, queue):
        assert packet.sojourn >= 0 and queue.rate == 20e6
        if packet.data and packet.sojourn > self.most and self.random.random() < 0.02:
            return "drop"
        return None


def scenario(queue, name="teach/ecn", seconds=5):
    return Scenario.load(name).set("stop.at_latest", f"{seconds} s").set(BOTTLENECK, queue)


def run(queue, **more):
    return ackclock.run(scenario(queue, **more))


def forward(results):
    return results.summary["links"]["bottleneck"]["forward"]


@pytest.mark.parametrize("name", ["teach/ecn", "teach/cubic-bbr"])
def test_drop_tail_in_python_is_drop_tail(name):
    engine = run({"kind": "droptail", "limit": "40 packets"}, name=name)
    python = run(Tail, name=name)
    assert forward(engine)["drops"]["queue-full"] > 5
    assert python.summary["digest"] == engine.summary["digest"]
    # The limit of the engine is that of every queue.
    bare = {"kind": "python", "source": _EMPTY, "limit": "40 packets"}
    assert run(bare, name=name).summary["digest"] == engine.summary["digest"]


_EMPTY = "import ackclock\n\n\nclass Empty(ackclock.QueueDiscipline):\n    pass\n"


def test_step_marking_in_python_is_step_marking():
    engine = run({"kind": "threshold", "limit": "60 packets", "mark_from": "20 packets"})
    python = run(Step)
    assert forward(engine)["marks"] > 5
    assert python.summary["digest"] == engine.summary["digest"]
    assert forward(python)["marks"] == forward(engine)["marks"]
    assert run(Step(mark_from=5)).summary["digest"] != engine.summary["digest"]


def test_records_are_those_of_the_engine_where_digests_are_not():
    rules = {"kind": "threshold", "limit": "60 packets", "mark_from": "20 packets"}
    engine, python = (run(one, name="teach/bufferbloat") for one in (rules, Step))
    assert forward(engine)["drops"]["queue-full"] > 5
    assert engine.summary["events"] < python.summary["events"]
    assert engine.summary["digest"] != python.summary["digest"]
    for name in ("packets", "drops", "cwnd", "queue", "transmissions"):
        rows = [sorted(map(repr, one.table(name).to_pylist())) for one in (engine, python)]
        assert rows[0] == rows[1], name


def test_drops_at_the_head_and_random_numbers_are_repeatable():
    first, second = run(Late), run(Late)
    drops = forward(first)["drops"]
    assert sum(drops.values()) == drops["codel"] > 5
    assert first.summary["digest"] == second.summary["digest"]
    again = ackclock.run(Scenario.from_dict(first.canonical))
    assert again.summary["digest"] == first.summary["digest"]
    other = ackclock.run(scenario(Late).set("seed", 2))
    assert other.summary["digest"] != first.summary["digest"]


def test_replications_and_records_know_it():
    chosen = scenario(Late, seconds=3)
    rows = ackclock.replicate(chosen, 3, workers=1)
    assert len(rows) == 3
    drops = ackclock.run(chosen).table("drops").to_pylist()
    assert {row["reason"] for row in drops if row["link"] == "bottleneck"} <= {"codel"}


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("def on_enqueue(self, packet, queue):\n    1 / 0\n", 6, "ZeroDivisionError"),
        ("def on_dequeue(self, packet, queue):\n    packet.bytes = 3\n", 6, "AttributeError"),
        ("def on_enqueue(self, packet, queue):\n    return 'lose'\n", 5, "returned 'lose': take"),
        ("def on_dequeue(self, packet, queue):\n    return 'full'\n", 5, "returned 'full': take"),
        ("def __init__(self):\n    1 / 0\n", 6, "ZeroDivisionError"),
    ],
)
def test_faults_name_file_line_link_and_time(body, line, words):
    head = "import ackclock\n\n\nclass Mine(ackclock.QueueDiscipline):\n"
    source = head + "".join(f"    {text}\n" for text in body.splitlines())
    with pytest.raises(ControllerError, match=words) as caught:
        run({"kind": "python", "source": source, "origin": "mine.py"})
    error = caught.value
    assert error.flow == "bottleneck" and "link bottleneck" in str(error)
    if line is not None:
        assert (error.file, error.line) == ("mine.py", line)
    if "__init__" not in body:
        assert error.results.summary["stop_reason"] == "controller-fault"


@pytest.mark.slow
def test_a_call_that_never_ends_is_interrupted(monkeypatch):
    from ackclock.controllers.faults import LIMIT

    monkeypatch.setattr(LIMIT, "seconds", 0.5)
    source = _EMPTY.replace(
        "    pass",
        "    def on_enqueue(self, packet, queue):\n        while True:\n            pass",
    )
    with pytest.raises(ControllerError, match="the call had not ended after"):
        run({"kind": "python", "source": source})


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ({"kind": "python"}, "write `file: PATH`"),
        ({"kind": "python", "file": "none.py"}, "there is no such file"),
        ({"kind": "python", "source": _EMPTY, "parameters": {"x": 1}}, "no parameter 'x'"),
        ({"kind": "python", "source": _EMPTY, "compile": True}, "unknown key `compile`"),
        ({"kind": "python", "source": _EMPTY, "class": "Emty"}, "no discipline of this name"),
        ({"kind": "python", "source": _EMPTY, "limit": "soon"}, "limit"),
        (
            {"kind": "python", "source": _EMPTY.replace("QueueDiscipline", "CongestionControl")},
            "derived from ackclock.QueueDiscipline",
        ),
    ],
)
def test_bad_settings_are_refused_with_their_place(queue, words):
    with pytest.raises(ScenarioError, match=re.escape(words)) as caught:
        scenario(queue)
    assert "links.bottleneck.forward.queue" in caught.value.problems[0].path


def test_the_example_of_the_page_keeps_waits_short(tmp_path):
    program = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    (tmp_path / "codel_like.py").write_text(program)
    queue = {"kind": "python", "file": str(tmp_path / "codel_like.py")}
    own = run(queue, seconds=20)
    tail = run({"kind": "droptail", "limit": "1000 packets"}, seconds=20)
    waits = [forward(one)["queueing_delay_s"]["mean"] for one in (own, tail)]
    assert waits[0] < 0.2 * waits[1]
    assert forward(own)["utilization"] > 0.9 and not math.isnan(waits[0])
