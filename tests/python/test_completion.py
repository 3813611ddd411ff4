"""What the shell completes, and what the doctor says."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = "from ackclock.cli.app import program; program()"


def completed(words, folder):
    """What the program offers to bash for the last of these words."""
    line = " ".join(["ackclock", *words])
    variables = {
        "_ACKCLOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words)),
    }
    start = f"import sys; sys.argv = ['ackclock']; {PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", start],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ste"], ["step"]),
        (["run", "teach/cubic-b"], ["teach/cubic-bbr"]),
        (["run", "sma"], ["small.yaml"]),
        (["run", "teach/cubic-bbr", "--flows", "c"], ["cubic"]),
        (["run", "small.yaml", "--flows", "F1,F"], ["F1,F2"]),
        (["run", "small.yaml", "--links", "L"], ["L1"]),
        (["step", "teach/cubic-bbr", "--flows", "b"], ["bbr"]),
        (["plot", "somewhere", "--kind", "overview,topo"], ["overview,topology"]),
        (["run", "none.yaml", "--flows", "c"], []),
    ],
    ids=lambda words: "-".join(words),
)
def test_names_are_completed(words, offered, small_file):
    assert completed(words, small_file.parent) == offered


def test_the_doctor_says_what_is_here(ackclock):
    done = ackclock("doctor", "--json")
    document = json.loads(done.out)
    states = {found["what"]: found["state"] for found in document["findings"]}
    assert done.code == 0
    assert document["works"]
    assert {"Python", "engine", "plots", "theory", "notebook", "disk", "terminal"} <= set(states)
    assert states["plots"] == "good"


def test_the_doctor_names_a_broken_engine(ackclock, monkeypatch):
    import ackclock as package

    monkeypatch.setitem(sys.modules, "ackclock._core", None)
    monkeypatch.delattr(package, "_core", raising=False)
    done = ackclock("doctor")
    assert done.code == 1
    assert "broken" in done.out
    assert "pip install --force-reinstall ackclock" in done.out


def test_the_demo_shows_a_sawtooth_and_what_comes_next(ackclock, tmp_path):
    done = ackclock("demo")
    assert done.code == 0
    assert "congestion window, packets" in done.out
    assert "ackclock report runs/demo" in done.out
    assert (tmp_path / "runs" / "demo" / "summary.json").is_file()
    assert ackclock("demo").code == 0  # again, in the same place
