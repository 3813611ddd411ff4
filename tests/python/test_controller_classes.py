"""Controllers given as classes and objects: what a class needs, and what has changed since."""

import copy
import dataclasses
import enum
import functools
import importlib
import json
import linecache
import math

import pytest

import ackclock
from ackclock import ControllerError, Scenario, ScenarioError

GAIN = 1.0


class Gaining(ackclock.CongestionControl):
    def on_ack(self, ack):
        self.cwnd += GAIN * self.segment * ack.newly_acked / self.cwnd


def test_what_differs_from_the_text_of_a_class_is_refused(monkeypatch):
    """Runs use the text, so that they can be repeated: they would be the same without a word."""
    sawtooth = Scenario.load("teach/sawtooth")
    assert sawtooth.set("flows.*.tcp.cc", Gaining).flows
    with monkeypatch.context() as changed:
        changed.setitem(globals(), "GAIN", 3.0)
        with pytest.raises(ScenarioError, match=r"GAIN is 3\.0 now, and 1\.0 in the file"):
            sawtooth.set("flows.*.tcp.cc", Gaining)
    monkeypatch.setattr(Gaining, "on_ack", lambda self, ack: None)
    with pytest.raises(ScenarioError, match="on_ack of Gaining has been replaced"):
        sawtooth.set("flows.*.tcp.cc", Gaining)
    monkeypatch.undo()
    own = Gaining()
    own.aim = 3.0
    with pytest.raises(ScenarioError, match=r"aim of this Gaining was set to 3\.0 after"):
        sawtooth.set("flows.*.tcp.cc", own)
    monkeypatch.setattr(Steered, "aim", 3.0)
    with pytest.raises(ScenarioError, match=r"Steered\.aim is 3\.0 now, and 2\.0 in the file"):
        sawtooth.set("flows.*.tcp.cc", Steered)


class Steered(Gaining):
    aim: float = 2.0


class Plain(Steered):
    pass


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("aim", 3.0, r"Plain\.aim is 3\.0 now, and not set in the file of Plain"),
        ("extra", "x", r"Plain\.extra is 'x' now, and not set"),
        ("on_loss", lambda self, loss: None, "on_loss of Plain has been replaced"),
        ("on_ack", lambda self, ack: None, "on_ack of Plain has been replaced"),
        ("__init__", lambda self: None, "__init__ of Plain has been replaced"),
        ("on_start", property(lambda self: None), "on_start of Plain has been replaced"),
    ],
)
def test_what_was_added_to_a_class_is_refused(monkeypatch, name, value, said):
    sawtooth = Scenario.load("teach/sawtooth")
    monkeypatch.setattr(Plain, name, value, raising=False)
    with pytest.raises(ScenarioError, match=said):
        sawtooth.set("flows.*.tcp.cc", Plain)
    monkeypatch.undo()
    assert sawtooth.set("flows.*.tcp.cc", Plain).flows
    own = Plain()
    own.on_loss = lambda loss: None
    with pytest.raises(ScenarioError, match="on_loss of this Plain was set"):
        sawtooth.set("flows.*.tcp.cc", own)


def test_what_was_taken_from_a_class_or_put_in_its_base_is_refused(monkeypatch):
    sawtooth = Scenario.load("teach/sawtooth")
    with monkeypatch.context() as changed:
        changed.delattr(Gaining, "on_ack")
        with pytest.raises(ScenarioError, match="on_ack of Gaining has been replaced"):
            sawtooth.set("flows.*.tcp.cc", Plain)
    monkeypatch.setattr(Steered, "aim", 3.0)
    with pytest.raises(ScenarioError, match=r"Steered\.aim is 3\.0 now, and 2\.0 in the file"):
        sawtooth.set("flows.*.tcp.cc", Plain)


class Way(enum.Enum):
    UP = 1


@dataclasses.dataclass
class Box:
    way: Way = Way.UP
    most: float = math.nan


def labelled(kind):
    kind.label = kind.__name__
    return kind


@labelled
class Rich(ackclock.CongestionControl):
    """What Python and the program itself set on classes is no change of them."""

    box = Box()
    ways = (Way.UP, [1, 2])
    missing = math.nan
    gain: float = 1.0

    def __init_subclass__(cls):
        cls.known = [cls.__name__]

    @property
    def half(self):
        return self.cwnd / 2  # of the window
        # No more.

    @functools.cached_property
    def twice(self):
        return 2 * self.gain

    @staticmethod
    def less(window):
        assert window > 0
        return window / 2


class Richer(Rich):
    def on_loss(self, loss):
        return self.less(self.cwnd)


def test_what_python_sets_on_a_class_is_no_change():
    sawtooth = Scenario.load("teach/sawtooth")
    for _ in range(2):
        own = Richer(gain=2.0)
        assert own.twice == 4.0 and copy.deepcopy(Box()).way is Way.UP
        assert Richer.__annotations__ is not None and Richer.__doc__ != ""
        assert sawtooth.set("flows.*.tcp.cc", Richer(gain=2.0)).flows
        assert sawtooth.set("flows.*.tcp.cc", Richer).flows


def test_a_class_without_methods_of_its_own_is_found_in_its_file():
    scenario = Scenario.load("teach/sawtooth").set("flows.*.tcp.cc", Steered(aim=4.0))
    assert json.loads(scenario.model["flows"][0]["tcp"]["cc"]["parameters"]) == {"aim": 4.0}


class Notebook:
    """Cells as a notebook runs them: each a text without a file, all with the same names."""

    def __init__(self, monkeypatch):
        self._patch = monkeypatch
        self.names = {"__name__": "of_a_notebook"}

    def run(self, text):
        file = f"<cell {len(linecache.cache)}>"
        lines = text.splitlines(keepends=True)
        self._patch.setitem(linecache.cache, file, (len(text), None, lines, file))
        exec(compile(text, file, "exec"), self.names)


@pytest.fixture
def notebook(monkeypatch):
    cells = Notebook(monkeypatch)
    cells.run("""\
import math as m
from ackclock import *
import ackclock
SHARE = 2.0
DATA = object()
def less(window):
    return m.floor(window / SHARE)
""")
    cells.run("""\
class Mine(CongestionControl):
    def on_loss(self, loss):
        return less(self.cwnd)
""")
    return cells


def test_a_class_uses_names_of_other_cells(notebook):
    notebook.run("""\
from __future__ import annotations
class Derived(Mine):
    gain: float = 4.0
""")
    notebook.run("""\
class More(Derived):
    def on_ack(self, ack):
        self.cwnd += self.gain * ackclock.CongestionControl.__len__
""")
    whole = """\
import ackclock
class Whole(ackclock.CongestionControl):
    def on_loss(self, loss):
        return self.cwnd // 2.0
"""
    sawtooth = Scenario.load("teach/sawtooth")
    cc = {"kind": "python", "source": whole, "class": "Whole", "origin": "whole.py"}
    expected = ackclock.run(sawtooth.set("flows.*.tcp.cc", cc)).summary["digest"]
    for kind in ("Mine", "Derived"):
        # The second time the text of the first is known to Python, too.
        for _ in range(2):
            scenario = sawtooth.set("flows.*.tcp.cc", notebook.names[kind])
            assert ackclock.run(scenario).summary["digest"] == expected
    failing = sawtooth.set("flows.*.tcp.cc", notebook.names["More"](gain=2.0))
    with pytest.raises(ControllerError, match="__len__"):
        ackclock.run(failing)


def test_a_base_that_a_later_cell_makes_anew_is_refused(notebook):
    notebook.run("class Derived(Mine):\n    gain: float = 4.0\n")
    sawtooth = Scenario.load("teach/sawtooth")
    again = "class Mine(CongestionControl):\n    def on_loss(self, loss):\n        return {}\n"
    notebook.run(again.format("less(self.cwnd)"))
    assert sawtooth.set("flows.*.tcp.cc", notebook.names["Derived"]).flows
    notebook.run(again.format("self.cwnd / 4"))
    with pytest.raises(ScenarioError, match="on_loss of Mine has been replaced"):
        sawtooth.set("flows.*.tcp.cc", notebook.names["Derived"])
    assert sawtooth.set("flows.*.tcp.cc", notebook.names["Mine"]).flows


def test_what_no_text_can_say_is_refused(notebook):
    notebook.run("""\
class Looking(CongestionControl):
    def on_loss(self, loss):
        return DATA
""")
    with pytest.raises(ScenarioError, match="Looking uses DATA, which is defined in another place"):
        Scenario.load("teach/sawtooth").set("flows.*.tcp.cc", notebook.names["Looking"])


def test_messages_name_a_class_and_not_its_text():
    with pytest.raises(ScenarioError) as caught:
        Scenario.load("teach/sawtooth").set("flows.*.tcp.cc", Steered(aim="far"))
    assert "Steered" in str(caught.value)
    assert "on_ack" not in str(caught.value)


BOXED = """\
from __future__ import annotations
import dataclasses
from ackclock import CongestionControl
@dataclasses.dataclass
class Box:
    most: int = 2
class Mine(CongestionControl):
    def on_loss(self, loss):
        return self.cwnd / Box().most
"""


def test_a_program_is_a_module_for_those_that_ask(tmp_path, monkeypatch):
    (tmp_path / "boxed_of_mine.py").write_text(BOXED)
    monkeypatch.syspath_prepend(str(tmp_path))
    kind = importlib.import_module("boxed_of_mine").Mine
    sawtooth = Scenario.load("teach/sawtooth")
    cc = {"kind": "python", "source": BOXED, "origin": "mine.py"}
    runs = [ackclock.run(sawtooth.set("flows.*.tcp.cc", one)) for one in (cc, kind)]
    assert runs[0].summary["digest"] == runs[1].summary["digest"]


TWO_FILES = """\
import math
import numpy
import ackclock
def half(window):
    from {module} import halved
    return halved(window)
class Mine(ackclock.CongestionControl):
    def on_loss(self, loss):
        return half(self.cwnd)
"""


@pytest.fixture
def helper(tmp_path, monkeypatch):
    """Return what makes a module with a function, below the folder of a program."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(file):
        place = tmp_path / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("def halved(window):\n    return window / 2\n")
        return place

    return make


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("second_of_mine", "second_of_mine.py"),
        ("pack_of_mine.inner", "pack_of_mine/inner.py"),
        ("other_pack_of_mine", "other_pack_of_mine/__init__.py"),
    ],
)
def test_a_second_file_is_refused_with_the_place_of_its_import(module, file, helper, tmp_path):
    """It would be missing where the run is repeated."""
    helper(file)
    program = f"program_of_{module.replace('.', '_')}"
    (tmp_path / f"{program}.py").write_text(TWO_FILES.format(module=module))
    sawtooth = Scenario.load("teach/sawtooth")
    kind = importlib.import_module(program).Mine
    for cc in ({"kind": "python", "file": str(tmp_path / f"{program}.py")}, kind):
        with pytest.raises(ScenarioError, match=rf"py:5: `{module}` is a second file of your own"):
            sawtooth.set("flows.*.tcp.cc", cc)


def test_installed_packages_may_be_imported(helper, tmp_path, monkeypatch):
    module = "installed_of_mine"
    (tmp_path / "mine.py").write_text(TWO_FILES.format(module=module))
    sawtooth = Scenario.load("teach/sawtooth")
    cc = {"kind": "python", "file": str(tmp_path / "mine.py")}
    # Below the folder of the program, as with an environment there.
    place = helper(f"lib/site-packages/{module}.py").parent
    with monkeypatch.context() as environment:
        environment.syspath_prepend(str(place))
        assert sawtooth.set("flows.*.tcp.cc", cc).flows
    # Or installed such that it can be edited.
    source = helper(f"src/{module}.py").parent
    monkeypatch.syspath_prepend(str(source))
    with pytest.raises(ScenarioError, match="is a second file of your own"):
        sawtooth.set("flows.*.tcp.cc", cc)
    known = place / f"{module}-1.0.dist-info"
    known.mkdir()
    url = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (known / "direct_url.json").write_text(json.dumps(url))
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.syspath_prepend(str(source))
    assert sawtooth.set("flows.*.tcp.cc", cc).flows


def test_what_type_checkers_alone_import_may_be_anywhere(helper, tmp_path):
    helper("types_of_mine.py")
    program = TWO_FILES.format(module="types_of_mine").replace("return halved(", "return abs(")
    late = "    if TYPE_CHECKING:\n        from types_of_mine import halved\n"
    program = program.replace("    from types_of_mine import halved\n", late)
    (tmp_path / "typed.py").write_text("from typing import TYPE_CHECKING\n" + program)
    cc = {"kind": "python", "file": str(tmp_path / "typed.py")}
    assert Scenario.load("teach/sawtooth").set("flows.*.tcp.cc", cc).flows
