"""Controllers compiled by numba: the runs of plain Python, its errors, and what is refused."""

import math
import random
import re
import struct
import sys
import textwrap
from importlib import util
from pathlib import Path

import pytest
import small

import ackclock
from ackclock import ControllerError, Scenario, ScenarioError

# Found, not imported: numba takes a second, in each worker that collects the tests.
pytestmark = pytest.mark.skipif(not util.find_spec("numba"), reason="numba is not installed")

ROOT = Path(__file__).parents[2]
HEAD = "import math\nimport ackclock\n\nGAIN = 0.7\n\n\nclass Mine(ackclock.CongestionControl):\n"

EVERYTHING = '''
import math
from math import sqrt

import ackclock

GAIN = 0.7


def scaled(x, by=2.0):
    """A function of the module."""
    return x * by if x > 0 else -x


class Base(ackclock.CongestionControl):
    def wait(self, ack):
        if ack.rtt is None or ack.min_rtt is None:
            return None
        return ack.rtt - ack.min_rtt


class Mine(Base):
    needs_rate = True
    step: float = 1.5
    rounds: int = 3
    eager: bool = True
    LIMIT = 0.02

    def __init__(self, step=1.5, rounds=3):
        self.step = step
        self.rounds = rounds
        self.eager = True
        self.least = None
        self.count = 0
        self.end = 0
        self.state = "open"

    def on_start(self, event):
        self.smoothed = None
        self.ssthresh = 40 * self.segment

    def on_established(self, event):
        self.record("handshake", event.rtt)

    def on_sample(self, ack):
        if ack.rtt and (self.least is None or ack.rtt < self.least):
            self.least = ack.rtt

    def on_ack(self, ack):
        wait = self.wait(ack)
        if wait is not None:
            self.smoothed = wait if self.smoothed is None else 0.9 * self.smoothed + 0.1 * wait
        if not ack.may_grow:
            return
        self.count += 1
        if ack.una >= self.end:
            self.end = ack.nxt
            total = 0
            for i in range(1, self.rounds + 1):
                if i == 2:
                    continue
                total += i ** 0.5 + math.log(i + 1) + sqrt(i)
            n = 0
            while n < 5 and total > 0:
                n += 1
                total -= n / 3 % 2
            self.record("total", total)
            self.record("rate", ack.delivery_rate or 0)
            self.eager = self.eager and self.count % 7 != 3 or not ack.app_limited
        late = self.smoothed or 0.0
        a, b = min(late, self.LIMIT, 1), max(late, GAIN * self.LIMIT)
        if self.in_slow_start and late < self.LIMIT:
            self.cwnd += scaled(ack.newly_acked, 1.0)
        elif 0 <= a <= b < 1e3 or self.eager:
            self.cwnd += scaled(self.step) * self.segment * ack.newly_acked / self.cwnd
        if ack.delivery_rate is not None and int(ack.delivery_rate) > 10:
            self.pacing_rate = max(2e6, round(2.5 * ack.delivery_rate))
        self.record("cube", math.pow(self.cwnd, 3) + math.exp(-late) + abs(-a) + b // 0.01)

    def on_loss(self, loss):
        if loss.signal == "timeout":
            self.cwnd /= 4
            return
        if loss.signal in ("gap", "ecn") and self.state != "loss":
            return loss.in_flight * GAIN
        return max(self.cwnd / 2, 2 * self.segment)

    def on_state(self, change):
        self.state = change.state

    def on_undo(self, event):
        self.cwnd = max(self.cwnd, event.before)
'''


def document(cc, sender="modern"):
    made = small.document()
    made["links"][0]["queue"]["limit"] = "10 packets"
    made["links"][0]["loss"] = {"kind": "bernoulli", "p": 0.005}
    for flow in made["flows"]:
        flow["send"] = "1 MB"
        flow["tcp"] = {"sender": sender, "cc": cc}
    return made


def both(source, sender="modern", **more):
    cc = {"kind": "python", "source": source, "origin": "mine.py", **more}
    return [
        ackclock.run(Scenario.from_dict(document({**cc, "compile": compiled}, sender)))
        for compiled in (False, True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"step": 0.5, "rounds": 9}], ids=str)
def test_everything_is_the_same_compiled(parameters):
    plain, compiled = both(EVERYTHING, parameters=parameters)
    assert plain.summary["totals"]["retransmissions"] > 5
    assert compiled.summary["digest"] == plain.summary["digest"]
    rows = plain.table("variables")
    assert rows.num_rows > 500 and set(rows["name"].to_pylist()) >= {"total", "rate", "cube"}
    assert compiled.table("variables").to_pylist() == rows.to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own/aimd", "own/delay-target"])
def test_shipped_controllers_are_the_same_compiled(name):
    plain = Scenario.load(name)
    compiled = plain.set("defaults.tcp.cc.compile", True)
    assert ackclock.run(compiled).summary["digest"] == ackclock.run(plain).summary["digest"]


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["classic", "selective-repeat"])
def test_other_senders(sender):
    plain, compiled = both((ROOT / "scenarios/own/aimd.py").read_text(), sender)
    assert compiled.summary["digest"] == plain.summary["digest"]


def test_a_class_is_asked_by_its_call():
    program = (ROOT / "scenarios/own/aimd.py").read_text()
    spec = util.spec_from_loader("mine_to_compile", None)
    module = util.module_from_spec(spec)
    import linecache

    linecache.cache["<own>"] = (len(program), None, program.splitlines(True), "<own>")
    exec(compile(program, "<own>", "exec"), vars(module))
    scenario = Scenario.load("own/aimd").set(
        "defaults.tcp.cc", module.Aimd(increase=1.0, compile=True)
    )
    cc = scenario.canonical["flows"][0]["tcp"]["cc"]
    assert cc["compile"] is True and '"increase": 1.0' in cc["parameters"]
    plain = Scenario.load("own/aimd").set("defaults.tcp.cc", module.Aimd(increase=1.0))
    assert plain.canonical["flows"][0]["tcp"]["cc"]["compile"] is False


def inline(body):
    return HEAD + textwrap.indent(textwrap.dedent(body), "    ")


# Mistakes in a method, and what is said of each: of its last line, or of the method that answers.
FAULTS = [
    ("on_ack", "x = 0\nself.cwnd += 1 / x", "ZeroDivisionError"),
    ("on_ack", "self.cwnd = math.inf - math.inf", "cwnd = NaN"),
    ("on_ack", "self.cwnd = math.inf", "cwnd = inf"),
    ("on_ack", "self.cwnd = -1", "cwnd = -1"),
    ("on_ack", "self.ssthresh = -2", "ssthresh = -2"),
    ("on_ack", "self.pacing_rate = 1e6", "needs_rate = True"),
    ("on_ack", "self.cwnd += event.delivered", "TypeError"),
    ("on_ack", "self.cwnd += math.sqrt(-1.0)", "math domain error"),
    ("on_ack", "self.cwnd += math.exp(1e4)", "math range error"),
    ("on_ack", "self.cwnd += math.atanh(1.0)", "ValueError"),
    ("on_ack", "self.cwnd += math.sinh(-1e4)", "OverflowError"),
    ("on_ack", "self.cwnd += math.sin(math.inf)", "ValueError"),
    ("on_ack", "self.cwnd += math.trunc(math.inf)", "OverflowError"),
    ("on_ack", "self.cwnd += math.fmod(1.0, 0.0)", "ValueError"),
    ("on_ack", "raise ValueError('odd')", "ValueError: odd"),
    ("on_ack", "assert event.now < 0", "AssertionError"),
    ("on_loss", "return -1", "ssthresh = -1"),
    ("on_ack", "return 3", "on_ack returned 3"),
]


def faulty():
    """Return a program with all of `FAULTS`, of which a parameter chooses one, and their lines.

    Compiled once: that takes half a second for each program, however short.
    """
    lines, places = [*HEAD.splitlines(), "    which: int = 0"], {}
    for method in ("on_ack", "on_loss"):
        lines.append(f"    def {method}(self, event):")
        begin = len(lines)
        for number, (where, body, _) in enumerate(FAULTS):
            if where == method:
                lines.append(f"        if self.which == {number}:")
                lines += textwrap.indent(body, "            ").splitlines()
                places[number] = begin if body.startswith("return") else len(lines)
    return "\n".join(lines) + "\n", places


@pytest.mark.slow
def test_faults_are_those_of_plain_python():
    source, places = faulty()
    for number, (_, body, words) in enumerate(FAULTS):
        plain, compiled = (fault_of(source, number, compiled) for compiled in (False, True))
        assert words in str(plain) and words in str(compiled), body
        assert compiled.line == plain.line == places[number], body
        assert (compiled.file, compiled.flow, compiled.time_s) == (
            plain.file,
            plain.flow,
            plain.time_s,
        ), body
        assert compiled.results.summary["stop_reason"] == "controller-fault", body
        ends = [error.results.summary["digest"] for error in (plain, compiled)]
        assert ends[0] == ends[1], body


def fault_of(source, which, compiled):
    cc = {"kind": "python", "source": source, "origin": "mine.py", "compile": compiled}
    with pytest.raises(ControllerError) as caught:
        ackclock.run(Scenario.from_dict(document({**cc, "parameters": {"which": which}})))
    return caught.value


@pytest.mark.slow
def test_endless_loops_end():
    body = """
    def on_loss(self, loss):
        n = 0
        while True:
            n += 1
        return n
    """
    with pytest.raises(ControllerError, match="turns of its loops") as caught:
        cc = {"kind": "python", "source": inline(body), "origin": "mine.py", "compile": True}
        ackclock.run(Scenario.from_dict(document(cc)))
    assert caught.value.line in (10, 11, 12)
    assert ackclock.run(Scenario.from_dict(document("reno"))).summary["finished"]


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("def on_ack(self, ack):\n    self.cwnd += self.random.random()\n", 9, "self.random"),
        ("def on_ack(self, ack):\n    self.seen = []\n", 9, "`[]`"),
        ("def on_ack(self, ack):\n    print(ack.now)\n", 9, "print"),
        ("def on_ack(self, ack):\n    super().on_ack(ack)\n", 9, "super"),
        ("def on_ack(self, ack):\n    self.name = 'x'\n", 9, "'x'"),
        ("def on_ack(self, ack):\n    try:\n        pass\n    except E:\n        pass\n", 9, "try"),
        ("def on_ack(self, ack):\n    self.now = 3\n", 9, "read only"),
        ("def on_ack(self, ack):\n    self.f()\ndef f(self):\n    self.f()\n", 10, "calls itself"),
        ("def on_ack(self, ack):\n    self.cwnd += other\n", 9, "`other`"),
        ("def on_ack(self, ack):\n    for x in (1, 2):\n        pass\n", 9, "for x in"),
        ("def on_ack(self, ack):\n    self.cwnd = math.hypot(3, 4)\n", 9, "math.hypot(3, 4)"),
        ("def on_ack(self, ack):\n    self.cwnd = math.fmod(3)\n", 9, "math.fmod(3)"),
        ("def on_ack(self, ack):\n    self.cwnd = round(ack.now, 2)\n", 9, "round(ack.now, 2)"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_its_line(body, line, words):
    cc = {"kind": "python", "source": inline(body), "origin": "mine.py"}
    Scenario.from_dict(document(cc))
    with pytest.raises(ScenarioError, match=rf"mine.py:{line}: .*cannot be compiled") as caught:
        Scenario.from_dict(document({**cc, "compile": True}))
    (problem, *_) = caught.value.problems
    assert words in problem.message and "leave `compile` out" in (problem.hint or "")
    assert problem.path.endswith("tcp.cc.compile")


def test_an_event_that_no_def_makes_is_refused():
    cc = {"kind": "python", "source": inline("on_ack = lambda self, ack: None"), "origin": "a.py"}
    Scenario.from_dict(document(cc))
    with pytest.raises(ScenarioError, match=r"a.py: `on_ack`, which no `def` .* be compiled"):
        Scenario.from_dict(document({**cc, "compile": True}))


def numbers(count):
    """Return numbers of all sizes, and those at which something happens."""
    draw = random.Random(1)
    yield from (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, 1e16, 5e-324, 1.7e308, math.inf, -math.inf)
    for _ in range(count):
        yield draw.uniform(-1, 1)
        yield draw.uniform(-50, 50)
        yield math.ldexp(draw.uniform(-1, 1), draw.randint(-1070, 1020))


def test_functions_of_math_are_those_of_python_to_the_bit():
    from ackclock.controllers.compiled import rewriting, support

    for name, arguments in rewriting.MATH.items():
        own, known = getattr(math, name), support._of_library(name, arguments)
        others = list(numbers(5000))
        random.Random(2).shuffle(others)
        for given in zip(*(numbers(5000), others)[:arguments], strict=True):
            try:
                expected = own(*given)
            except (ValueError, OverflowError):
                continue
            assert struct.pack("d", known(*given)) == struct.pack("d", expected) or (
                known(*given) == expected and name in ("ceil", "floor", "trunc")  # -0 and 0
            ), (name, given)


@pytest.mark.slow
def test_functions_of_math_are_those_of_python_in_a_run():
    from ackclock.controllers.compiled.rewriting import MATH

    low = {1: "ack.now / 100", 2: "ack.now, 0.7"}
    calls = {name: f"math.{name}({low[MATH[name]]})" for name in sorted(MATH)}
    calls["acosh"] = "math.acosh(1 + ack.now)"
    body = "".join(f"    self.record('{name}', {call})\n" for name, call in calls.items())
    plain, compiled = both(inline(f"def on_ack(self, ack):\n{body}"))
    rows = plain.table("variables")
    assert set(rows["name"].to_pylist()) == set(MATH)
    assert compiled.table("variables").to_pylist() == rows.to_pylist()


def test_the_page_lists_the_functions_of_math():
    from ackclock.controllers.compiled.rewriting import MATH

    page = (ROOT / "docs" / "python-controllers.md").read_text(encoding="utf-8")
    listed = page.partition("The functions of `math` that")[2].partition(":")[2].partition(".")[0]
    assert re.findall(r"`(\w+)`", listed) == sorted(MATH)


@pytest.mark.slow
def test_attributes_that_are_no_numbers_are_named():
    body = """
    def __init__(self):
        self.table = {}

    def on_ack(self, ack):
        self.cwnd += self.table
    """
    cc = {"kind": "python", "source": inline(body), "origin": "mine.py", "compile": True}
    with pytest.raises(ControllerError, match=r"`self\.table` is of type dict"):
        ackclock.run(Scenario.from_dict(document(cc)))


def test_without_numba_it_says_how_to_install_it(monkeypatch):
    from ackclock.controllers import compiled

    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    cc = {"kind": "python", "file": str(ROOT / "scenarios/own/aimd.py"), "compile": True}
    with pytest.raises(ScenarioError, match="numba is not installed") as caught:
        Scenario.from_dict(document(cc))
    assert "ackclock[numba]" in caught.value.problems[0].hint


@pytest.mark.slow
def test_compiled_is_at_most_three_times_the_engine():
    sys.path.insert(0, str(ROOT / "benches"))
    try:
        import controllers as bench
    finally:
        sys.path.pop(0)
    assert bench.times_of_engine(compiled=True) < 3.0
