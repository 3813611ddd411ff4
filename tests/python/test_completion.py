"""What the shell completes, and what the doctor says."""

import json
import os
import subprocess
import sys

import pytest

COMPLETES = """
import json, os, sys
from ackclock.cli.app import main
lines, sys.argv = json.loads(sys.argv[1]), ["ackclock"]
for words in lines:
    os.environ["COMP_WORDS"] = " ".join(["ackclock", *words])
    os.environ["COMP_CWORD"] = str(len(words))
    try:
        main()
    except SystemExit:
        print("end")
"""


@pytest.mark.slow
def test_names_are_completed(small_file):
    """What the program offers to bash for the last words of lines, in one process for all."""
    offered = [
        (["ste"], ["step"]),
        (["run", "teach/cubic-b"], ["teach/cubic-bbr"]),
        (["run", "sma"], ["small.yaml"]),
        (["run", "teach/cubic-bbr", "--flows", "c"], ["cubic"]),
        (["run", "small.yaml", "--flows", "F1,F"], ["F1,F2"]),
        (["run", "small.yaml", "--links", "L"], ["L1"]),
        (["step", "teach/cubic-bbr", "--flows", "b"], ["bbr"]),
        (["plot", "somewhere", "--kind", "overview,topo"], ["overview,topology"]),
        (["run", "none.yaml", "--flows", "c"], []),
    ]
    done = subprocess.run(
        [sys.executable, "-c", COMPLETES, json.dumps([words for words, _ in offered])],
        cwd=small_file.parent,
        env=os.environ | {"_ACKCLOCK_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    *answers, rest = done.stdout.split("end\n")
    assert [
        (words, answer.split()) for (words, _), answer in zip(offered, answers, strict=True)
    ] == offered
    assert not rest


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
