"""Systems that are not POSIX: the program does without modules and calls that Windows has not."""

import os
import subprocess
import sys

import pytest

WITHOUT = """
import os, signal, sys
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None
for name in ("sched_getaffinity", "killpg", "fork", "getuid"):
    delattr(os, name)
del signal.pthread_kill
"""

USES = {
    "run": """
import ackclock
from pathlib import Path
scenario = ackclock.Scenario.load("teach/sawtooth").set("stop.at_latest", "1 s")
results = ackclock.run(scenario, directory=Path("kept"))
assert ackclock.Results.load("kept").summary["digest"] == results.summary["digest"]
""",
    "commands": """
from ackclock.cli.app import main
sys.argv = ["ackclock", "run", "teach/sawtooth", "--set", "stop.at_latest=1 s", "--no-plots"]
try:
    main()
except SystemExit as end:
    assert not end.code
for command in (["doctor"], ["list", "scenario"], ["step", "teach/sawtooth"]):
    sys.argv = ["ackclock", *command]
    try:
        main()
    except SystemExit as end:
        assert not end.code
""",
    "sweep": """
import ackclock.sweep as sweep
study = sweep.Study("teach/sawtooth", grid={"stop.at_latest": ["1 s", "2 s"]})
assert study.run("swept", workers=1).table.num_rows == 2
from ackclock.errors import InputError
try:
    study.run("limited", memory_limit=1 << 30)
except InputError as error:
    assert "cannot limit the memory" in str(error)
else:
    raise AssertionError("a limit that is not kept")
""",
    "controller": """
import ackclock
ackclock.run(ackclock.Scenario.load("own/aimd").set("stop.at_latest", "1 s"))
""",
    "grading": """
from ackclock import labs
from ackclock.cli.app import main
place = labs.find("own-controller").folder / "solution"
sys.argv = ["ackclock", "grade", "own-controller", str(place)]
try:
    main()
except SystemExit as end:
    assert not end.code
""",
}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="hides what only POSIX has")
@pytest.mark.parametrize("use", USES)
def test_it_works_without_what_posix_has(use, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + USES[use]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
