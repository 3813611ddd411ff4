"""Congestion control of installed packages."""

import sys

import pytest

from ackclock import Scenario, ScenarioError, run

_PROGRAM = """\
import ackclock


class Mine(ackclock.CongestionControl):
    increase: float = 1.0

    def on_ack(self, ack):
        self.cwnd += self.increase * self.segment * ack.newly_acked / self.cwnd

    def on_loss(self, loss):
        return self.cwnd / 2
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that offers a controller; its folder is on the path as if it were installed."""
    place = tmp_path / "site"
    (place / "my_package").mkdir(parents=True)
    (place / "my_package" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (place / "mine_cc.py").write_text(_PROGRAM, encoding="utf-8")
    (place / "my_package" / "inner.py").write_text(_PROGRAM, encoding="utf-8")
    info = place / "my_package-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.2\n")
    points = "mine = mine_cc:Mine\ninner = my_package.inner:Mine\nbroken = no_such_module:Mine\n"
    (info / "entry_points.txt").write_text(f"[ackclock.cc]\n{points}")
    monkeypatch.syspath_prepend(str(place))
    return place


def _scenario(cc):
    short = [("stop.at_latest", "3 s"), ("record", "none")]
    return Scenario.load("teach/sawtooth", [*short, ("flows.*.tcp.cc", cc)])


def test_a_plugin_is_the_program_of_its_file(package):
    cc = {"kind": "python", "plugin": "mine", "parameters": {"increase": 2.0}}
    by_file = {"kind": "python", "file": str(package / "mine_cc.py"), "class": "Mine",
               "parameters": {"increase": 2.0}}  # fmt: skip
    made = run(_scenario(cc))
    assert made.summary["digest"] == run(_scenario(by_file)).summary["digest"]
    inner = {**cc, "plugin": "inner"}  # of a package whose import would fail
    assert run(_scenario(inner)).summary["digest"] == made.summary["digest"]
    assert "mine_cc" not in sys.modules
    # The text is stored: the resolved scenario needs no package.
    again = Scenario.from_dict(made.scenario.canonical)
    assert run(again).summary["digest"] == made.summary["digest"]


def test_without_packages_the_list_says_so(ackclock):
    assert "none here" in ackclock("list", "plugin").out


def test_plugins_are_listed(package, ackclock):
    done = ackclock("list", "plugin")
    assert "mine" in done.out
    assert "mine_cc:Mine of my-package 1.2" in done.out


@pytest.mark.parametrize(
    ("cc", "said"),
    [
        ({"plugin": "mime"}, "did you mean mine"),
        ({"plugin": "broken"}, "not a class in a Python file"),
        ({"plugin": "mine", "file": "a.py"}, "'file' and 'plugin' exclude each other"),
        ({"plugin": "mine", "class": "Mine"}, "'class' and 'plugin' exclude each other"),
    ],
)
def test_what_cannot_be_used_is_refused(package, cc, said):
    with pytest.raises(ScenarioError, match=said):
        _scenario({"kind": "python", **cc})
