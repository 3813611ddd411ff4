"""Congestion control in Python: the same digests, errors with their place, nothing shared."""

import json
import linecache
import pickle
import random
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import small

import ackclock
from ackclock import ControllerError, Scenario, ScenarioError
from ackclock.controllers.faults import LIMIT
from ackclock.plots import heading
from ackclock.results import Results

AIMD = Path(__file__).parents[2] / "scenarios" / "own" / "aimd.py"

RULES = {"kind": "aimd", "counting": "bytes", "decrease_from": "cwnd"}
"""What `AIMD` does; with the modern sender these are the defaults."""

HEAD = "import ackclock\n\n\nclass Mine(ackclock.CongestionControl):\n"


class Half(ackclock.CongestionControl):
    """An algorithm that stands in a module with much else."""

    step: float = 1.0

    def on_ack(self, ack):
        if ack.may_grow:
            self.cwnd += self.step * self.segment * random.Random(1).random()

    def on_loss(self, loss):
        self.cwnd *= 0.5


def document(cc, sender="selective-repeat", flows=2):
    made = small.document()
    made["links"][0]["queue"]["limit"] = "10 packets"
    made["flows"] = made["flows"][:flows]
    for flow in made["flows"]:
        flow["send"] = "1 MB"
        flow["tcp"] = {"sender": sender, "cc": cc}
    return made


def inline(body, **more):
    """Return a controller whose methods are `body`."""
    return {"kind": "python", "source": HEAD + textwrap.indent(body, "    "), **more}


def run(cc, **options):
    return ackclock.run(Scenario.from_dict(document(cc, **options)))


@pytest.mark.parametrize("sender", ["selective-repeat", "classic", "modern"])
def test_aimd_in_python_is_aimd(sender):
    engine = run(RULES, sender=sender).summary
    python = run({"kind": "python", "file": str(AIMD)}, sender=sender).summary
    assert engine["flows"]["F1"]["retransmissions"] > 0
    assert python["digest"] == engine["digest"]


def test_parameters_reach_the_class():
    engine = run({**RULES, "increase": 2, "decrease": 0.7})
    given = {"increase": 2, "decrease": 0.7}
    python = run({"kind": "python", "file": str(AIMD), "parameters": given})
    assert python.summary["digest"] == engine.summary["digest"]
    assert python.summary["digest"] != run(RULES).summary["digest"]


def test_classes_and_objects_stand_for_themselves():
    plain = run(Half)
    assert run(Half()).summary["digest"] == plain.summary["digest"]
    other = run(Half(step=0.25))
    assert other.summary["digest"] != plain.summary["digest"]
    # The text is in the resolved scenario, without the tests around it.
    source = other.canonical["flows"][0]["tcp"]["cc"]["source"]
    assert "class Half" in source and "import random" in source and "def test_" not in source
    again = ackclock.run(Scenario.from_dict(other.canonical))
    assert again.summary["digest"] == other.summary["digest"]
    scenario = Scenario.from_dict(document("reno")).set("flows.*.tcp.cc", Half(step=0.25))
    assert ackclock.run(scenario).summary["digest"] == other.summary["digest"]


def test_random_numbers_are_a_stream_of_the_flow():
    cc = inline(
        "def on_ack(self, ack):\n"
        "    self.record('drawn', self.random.random())\n"
        "    self.cwnd += self.segment * self.random.random()\n"
        "def on_loss(self, loss):\n    return self.cwnd / 2\n"
    )
    both = run(cc)
    assert run(cc).summary["digest"] == both.summary["digest"]
    drawn = both.table("variables").to_pylist()
    first = {flow: [r["value"] for r in drawn if r["flow"] == flow][:5] for flow in ("F1", "F2")}
    assert first["F1"] != first["F2"]
    alone = run(cc, flows=1).table("variables").to_pylist()
    assert [row["value"] for row in alone][:5] == first["F1"]
    assert {row["name"] for row in drawn} == {"drawn"}


def test_variables_go_to_the_run_directory(tmp_path):
    cc = inline("def on_ack(self, ack):\n    self.record('rtt', ack.rtt or 0)\n")
    scenario = Scenario.from_dict(document(cc))
    memory = ackclock.run(scenario).table("variables")
    ackclock.run(scenario, directory=tmp_path / "run")
    stored = Results.load(tmp_path / "run").table("variables")
    assert stored.num_rows > 100
    assert stored.to_pylist() == memory.to_pylist()


def test_nothing_is_shared_by_flows_and_runs():
    cc = {
        "kind": "python",
        "source": "import ackclock\nseen = []\n"
        + HEAD.removeprefix("import ackclock\n")
        + "    def on_ack(self, ack):\n        seen.append(1)\n"
        + "        self.record('seen', len(seen))\n",
    }
    for _ in range(2):
        rows = run(cc).table("variables").to_pylist()
        for flow in ("F1", "F2"):
            assert [r["value"] for r in rows if r["flow"] == flow][:3] == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("def on_ack(self, ack):\n    1 / 0\n", 6, "ZeroDivisionError"),
        ("def on_ack(self, ack):\n    self.cwnd = float('nan')\n", 6, "cwnd = NaN"),
        ("def on_ack(self, ack):\n    self.cwnd = float('inf')\n", 6, "cwnd = inf"),
        ("def on_ack(self, ack):\n    self.cwnd = -1\n", 6, "cwnd = -1"),
        ("def on_ack(self, ack):\n    self.cwnd = 0\n", 6, "cwnd = 0"),
        ("def on_ack(self, ack):\n    self.cwnd = 10**30\n", 6, "cwnd = 1e30: the window"),
        ("def on_ack(self, ack):\n    self.cwnd = 10**400\n", 6, "OverflowError"),
        ("def on_ack(self, ack):\n    self.cwnd = None\n", 6, "TypeError"),
        ("def on_ack(self, ack):\n    self.ssthresh = float('nan')\n", 6, "ssthresh = NaN"),
        ("def on_ack(self, ack):\n    ack.rtt = 1\n", 6, "AttributeError"),
        ("def on_ack(self, ack):\n    self.pacing_rate = 1e6\n", 6, "needs_rate = True"),
        ("def on_ack(self, ack):\n    self.record(ack, 1)\n", 6, "TypeError"),
        ("def on_ack(self, ack):\n    return 3\n", 5, "on_ack returned 3: set self.cwnd"),
        (
            "def on_ack(self, ack):\n    return [1] * 1000\n",
            5,
            r"returned \[1, 1, 1, 1, 1, 1, ...\]",
        ),
        ("def on_loss(self, loss):\n    return -1\n", 5, "ssthresh = -1"),
        ("def on_loss(self, loss):\n    return -1e300\n", 5, "ssthresh = -1e300: "),
        (
            "def on_loss(self, loss):\n    return 'x'\n",
            5,
            "on_loss returned 'x': return the slow-start threshold",
        ),
        ("def __init__(self):\n    1 / 0\n", 6, "ZeroDivisionError"),
        # What a terminal would obey is shown.
        ("def on_ack(self, ack):\n    raise ValueError('\\x1b')\n", 6, r"ValueError: \\x1b"),
    ],
)
def test_faults_name_file_line_flow_and_time(body, line, words):
    with pytest.raises(ControllerError, match=words.replace("**", "")) as caught:
        run(inline(body, origin="mine.py"))
    error = caught.value
    assert error.flow in ("F1", "F2")
    if line is not None:
        assert (error.file, error.line) == ("mine.py", line)
        assert str(error).startswith(f"mine.py:{line}: ")
        assert body.splitlines()[line - 5].strip() in str(error)
        assert f"in {body[4:].partition('(')[0]}, " in str(error)
    if "__init__" not in body:
        assert error.results.summary["stop_reason"] == "controller-fault"
        assert error.time_s == pytest.approx(error.results.summary["end_s"], abs=0.02)
    # The next run is as if nothing had been.
    assert run("reno").summary["digest"] == run("reno").summary["digest"]


@pytest.mark.slow
def test_a_fault_keeps_the_run_directory_and_ends_with_status_2(tmp_path):
    (tmp_path / "mine.py").write_text(
        HEAD + "    def on_ack(self, ack):\n        self.cwnd += self.segment\n"
        "        if ack.now > 0.3:\n            oops\n"
    )
    scenario = document({"kind": "python", "file": "mine.py"})
    (tmp_path / "one.json").write_text(json.dumps(scenario))
    command = [sys.executable, "-c", "from ackclock.cli.app import main; main()"]
    command += ["run", "one.json", "--out", "here", "--no-plots"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "mine.py:8: NameError" in ended.stderr and "flow F1, at 0.3" in ended.stderr
    assert "Traceback" not in ended.stderr
    kept = Results.load(tmp_path / "here")
    assert kept.summary["stop_reason"] == "controller-fault"
    assert 0.3 < kept.summary["end_s"] < 0.35
    assert kept.table("cwnd").num_rows > 10
    assert "oops" in kept.canonical["flows"][0]["tcp"]["cc"]["source"]


@pytest.mark.slow
@pytest.mark.parametrize("call", ["while True:\n        pass", "time.sleep(1000)"])
def test_a_call_that_never_ends_is_interrupted(monkeypatch, call):
    monkeypatch.setattr(LIMIT, "seconds", 0.5)
    cc = inline(f"def on_loss(self, loss):\n    import time\n    {call}\n", origin="mine.py")
    with pytest.raises(ControllerError, match=r"mine.py:[78]: the call had not ended after") as e:
        run(cc)
    assert e.value.results.summary["end_s"] > 0
    assert run("reno").summary["finished"]


def test_what_controllers_may_do():
    # Calls the simulator, keeps the event, starts a thread.
    cc = inline(
        "def on_start(self, event):\n"
        "    import threading\n"
        "    self.kept = event\n"
        "    thread = threading.Thread(target=lambda: None)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "    inner = ackclock.Scenario.load('caltech/test-case-0-reno')\n"
        "    self.inner = ackclock.run(inner).summary['digest']\n"
        "def on_ack(self, ack):\n"
        "    assert self.kept is ack and self.inner\n"
        "    self.cwnd += self.segment\n"
    )
    assert run(cc).summary["digest"] == run(cc).summary["digest"]


@pytest.mark.parametrize(
    ("cc", "words"),
    [
        ({"kind": "python"}, "write `file: PATH`"),
        ({"kind": "python", "file": "none.py"}, "there is no such file"),
        ({"kind": "python", "file": str(AIMD), "class": "Aimt"}, "did you mean Aimd"),
        ({"kind": "python", "file": str(AIMD), "parameters": {"incrase": 2}}, "mean increase"),
        ({"kind": "python", "file": str(AIMD), "parameters": {"increase": "x"}}, "of type float"),
        ({"kind": "python", "file": str(AIMD), "clas": "Aimd"}, "unknown key `clas`"),
        ({"kind": "python", "source": "x = 1"}, "no class derived from"),
        ({"kind": "python", "source": "x = (", "origin": "a.py"}, "a.py:1: "),
        (
            {"kind": "python", "source": "\nraise OSError('no')", "origin": "a.py"},
            "a.py:2: OSError",
        ),
        ({"kind": "python", "source": "import helper_of_mine"}, "what it needs into the program"),
        (inline("needs_rate = True\n"), "needs delivery-rate samples"),
        (inline("tick_period = 'soon'\n"), "controller.py:5: tick_period = 'soon': not a time"),
        (inline("\ntick_period = 10\n"), "controller.py:6: tick_period = 10: not a time"),
        (inline("tick_period = '1 us'\n"), "tick_period = '1 us': not a time of at least 100 us"),
        (inline("tick_period = '5 Mbps'\n"), "tick_period = '5 Mbps': not a time"),
        (inline("step: float\n"), "needs the parameter 'step'"),
    ],
)
def test_bad_settings_are_refused_with_their_place(cc, words):
    with pytest.raises(ScenarioError, match=words) as caught:
        Scenario.from_dict(document(cc))
    assert "flows.F1.tcp.cc" in caught.value.problems[0].path


@pytest.mark.parametrize(
    ("method", "said", "hint"),
    [
        ("def on_start(self):", r"on_start\(self\) cannot be called as on_start\(event\)", "event"),
        ("def on_ack():", r"on_ack\(\) cannot be called as on_ack\(ack\)", "ack"),
        ("def on_loss(self, loss, more):", r"\(self, loss, more\) cannot be called", "loss"),
        ("def on_tick(self, *, event):", r"on_tick\(self, \*, event\) cannot be called", "event"),
        ("async def on_ack(self, ack):", "a call of on_ack returns a coroutine", "ack"),
        ("def on_ack(self, ack): yield", "a call of on_ack returns a generator", "ack"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_methods_that_cannot_be_called_are_refused_with_their_line(method, said, hint, compiled):
    cc = inline(f"x = 1\n{method}\n    pass\n", compile=compiled)
    if "yield" in method:
        cc["source"] = cc["source"].replace("        pass\n", "")
    with pytest.raises(ScenarioError, match=f"controller.py:6: .*{said}") as caught:
        Scenario.from_dict(document(cc))
    name = method.partition("(")[0].rpartition(" ")[2]
    assert f"write `def {name}(self, {hint}):`" in caught.value.problems[0].hint


def test_methods_of_all_kinds_may_be_events():
    cc = inline(
        "on_start = lambda self, *given: None\n"
        "@staticmethod\ndef on_ack(ack): pass\n"
        "@classmethod\ndef on_loss(cls, loss, more=1): pass\n"
    )
    assert run(cc).summary["finished"] is not None


def test_a_paced_controller_leaves_at_its_pace():
    cc = inline(
        "needs_rate = True\nowns_window = True\n"
        "def on_start(self, event):\n"
        "    self.cwnd = 1000 * self.segment\n"
        "    self.pacing_rate = 5e6\n"
        "def on_ack(self, ack):\n"
        "    if ack.delivery_rate:\n"
        "        self.record('rate', ack.delivery_rate)\n"
    )
    results = run(cc, sender="modern", flows=1)
    assert results.summary["flows"]["F1"]["goodput_bps"] == pytest.approx(4.8e6, rel=0.05)
    rates = results.table("variables")["value"].to_numpy()
    assert rates[len(rates) // 2] == pytest.approx(4.9e6, rel=0.05)


def test_ticks_come_each_period():
    cc = inline("tick_period = '50 ms'\ndef on_tick(self, event):\n    self.record('tick', 1)\n")
    assert run(cc, sender="classic").table("variables").num_rows > 5


def test_replications_are_the_runs_and_the_source_is_part_of_the_key():
    from ackclock import _core

    scenario = Scenario.from_dict(document({"kind": "python", "file": str(AIMD)}))
    rows = ackclock.replicate(scenario, 3, workers=1)
    assert len(rows) == 3
    other = document(inline("def on_ack(self, ack):\n    pass\n"))
    texts = [json.dumps(Scenario.from_dict(d).document) for d in (scenario.document, other)]
    first, second = (identity for identity, _, _ in _core.identify(texts, 1))
    assert first and second and first != second


def test_a_fault_in_a_replication_is_reported():
    from ackclock import _core
    from ackclock.sweep import figures

    cc = inline("def on_ack(self, ack):\n    1 / 0\n", origin="mine.py")
    scenario = Scenario.from_dict(document(cc))
    job = (json.dumps(scenario.document), 1, ["a", "b"])
    rows, ends = _core.rows([job], figures.LAYOUT)
    assert [(what, count) for what, count, _ in ends[0]] == [("failed", 1)] * 2
    error = json.loads(rows.splitlines()[1])["error"]
    assert error.startswith("mine.py:6: ZeroDivisionError") and "flow F1, at" in error


def test_replications_in_which_a_controller_fails_raise():
    """Those in which it does not are kept."""
    cc = inline("def on_ack(self, ack):\n    assert self.random.random() < 0.999\n")
    with pytest.raises(ackclock.ReplicationsFailedError, match="AssertionError") as caught:
        ackclock.replicate(Scenario.from_dict(document(cc)), 40, workers=1)
    found = caught.value.replications
    assert 0 < len(found) < 40
    assert len(found) + len(found.failures) == 40


@pytest.mark.slow
@pytest.mark.parametrize("call", ["time.sleep(60)", "while True: pass"])
def test_a_call_that_does_not_end_fails_its_run_alone(monkeypatch, call):
    from ackclock import _core
    from ackclock.sweep import figures

    monkeypatch.setattr(LIMIT, "seconds", 0.5)
    # As processes of sweeps do.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    cc = inline(f"def on_loss(self, loss):\n    import time\n    {call}\n", origin="mine.py")
    jobs = [(json.dumps(Scenario.from_dict(document(c)).document), 1, ["k"]) for c in (cc, "reno")]
    try:
        rows, ends = _core.rows(jobs, figures.LAYOUT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert [ways[0][0] for ways in ends] == ["failed", "done"]
    assert "the call had not ended after 0.5 s" in json.loads(rows.splitlines()[0])["error"]


@pytest.mark.slow
def test_the_page_works_by_copy_and_paste(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "python-controllers.md").read_text()
    program, use, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    command, *_ = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    setting, *_ = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mine.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    # As in a notebook: the class is in no module.
    linecache.cache["<cell>"] = (len(program), None, program.splitlines(True), "<cell>")
    names = {}
    exec(compile(program, "<cell>", "exec"), names)
    exec(use, names)
    written = names["scenario"].set("flows.*.tcp.cc", setting.removeprefix("cc: "))
    assert ackclock.run(written).summary["digest"] == names["results"].summary["digest"]
    program = [sys.executable, "-c", "from ackclock.cli.app import main; main()"]
    command = f"{command.strip()} --no-plots".split(" ", 1)[1]
    ended = subprocess.run([*program, *shlex.split(command)], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_shipped_aimd_has_the_digest_of_the_engine():
    python = Scenario.load("own/aimd")
    engine = python.set("defaults.tcp.cc", "aimd")
    assert ackclock.run(python).summary["digest"] == ackclock.run(engine).summary["digest"]


def test_a_call_costs_little():
    sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
    try:
        import controllers as bench
    finally:
        sys.path.pop(0)
    # Three times what is promised is a fault on the slowest machine, too.
    assert bench.overhead_us() < 4.5


def test_each_class_has_its_own_name_in_tables_and_plots():
    own = inline("def on_ack(self, ack):\n    self.cwnd += self.segment\n")
    source = own["source"].replace("class Mine", "class Other")
    assert source != own["source"]
    other = {**own, "source": source, "parameters": {}}
    found = [run(cc).summary["flows"]["F1"]["label"].split()[0] for cc in (own, other)]
    assert found == ["Mine", "Other"]
    flow = {"tcp": {"cc": {**Scenario.from_dict(document(own)).model["flows"][0]["tcp"]["cc"]}}}
    assert heading.algorithm(flow) == "Mine"


def test_a_method_that_is_no_event_is_reported_with_its_line(tmp_path):
    program = """\
import ackclock
class Mine(ackclock.CongestionControl):
    def on_acks(self, ack):
        self.cwnd += self.segment
    def on_loss(self, loss):
        return self.on_my_own()
    def on_my_own(self):
        return self.cwnd / 2
"""
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    cc = {"kind": "python", "file": str(tmp_path / "mine.py")}
    scenario = ackclock.Scenario.load("teach/sawtooth", [("flows.*.tcp.cc", cc)])
    messages = {warning.message.rpartition("/")[2] for warning in scenario.warnings}
    assert messages == {"mine.py:3: on_acks() is never called: there is no event of this name"}


def test_a_method_of_the_other_kind_of_class_is_reported():
    source = """\
import ackclock
class Mine(ackclock.CongestionControl):
    def on_enqueue(self, packet, queue):
        return "drop"
class Queue(ackclock.QueueDiscipline):
    def on_loss(self, loss):
        return 1
    def on_tick(self, event):
        pass
class Part:
    def on_dequeue(self, packet, queue):
        pass
"""
    cc = {"kind": "python", "source": source, "origin": "mine.py"}
    warnings = Scenario.load("teach/sawtooth", [("flows.*.tcp.cc", cc)]).warnings
    queues = "it is an event of QueueDiscipline, and Mine is a CongestionControl"
    flows = "it is an event of CongestionControl, and Queue is a QueueDiscipline"
    assert {one.message for one in warnings} == {
        f"mine.py:3: on_enqueue() is never called: {queues}",
        f"mine.py:6: on_loss() is never called: {flows}",
        f"mine.py:8: on_tick() is never called: {flows}",
    }
    assert {"events: on_dequeue, on_enqueue"} < {one.hint for one in warnings}


def test_a_class_within_a_function_is_refused():
    class Mine(ackclock.CongestionControl):
        def on_ack(self, ack):
            self.cwnd += self.segment

    with pytest.raises(ackclock.ScenarioError, match="Mine is defined within something else"):
        ackclock.Scenario.load("teach/sawtooth").set("flows.*.tcp.cc", Mine)


@pytest.mark.parametrize("kind", [ackclock.ScenarioError, ControllerError])
def test_errors_come_out_of_other_processes_as_they_were(kind):
    if kind is ControllerError:
        error = ControllerError("boom", "mine.py", 4, "F", 0.5)
    else:
        with pytest.raises(ScenarioError) as caught:
            Scenario.load("teach/sawtooth", [("links.*.rate", "10")])
        error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_ticks_without_a_period_are_reported(tmp_path):
    program = """\
import ackclock
class Mine(ackclock.CongestionControl):
    def on_tick(self, event):
        self.cwnd = self.segment
"""
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    cc = {"kind": "python", "file": str(tmp_path / "mine.py")}
    scenario = Scenario.load("teach/sawtooth", [("flows.*.tcp.cc", cc)])
    assert "on_tick() is never called" in scenario.warnings[0].message
    ticking = program.replace("    def", '    tick_period = "10 ms"\n\n    def')
    (tmp_path / "mine.py").write_text(ticking, encoding="utf-8")
    assert not Scenario.load("teach/sawtooth", [("flows.*.tcp.cc", cc)]).warnings


def test_a_scenario_finds_its_files_from_another_folder(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    program = "import ackclock\nclass Mine(ackclock.CongestionControl):\n    pass\n"
    (folder / "mine.py").write_text(program, encoding="utf-8")
    own = document({"kind": "python", "file": "mine.py"})
    (folder / "own.json").write_text(json.dumps(own), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.load(Path("mine") / "own.json")
    monkeypatch.chdir(folder)
    assert scenario.set("seed", 7).seed == 7
