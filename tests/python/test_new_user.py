"""The path of a new user, by the commands of the docs: a fresh environment and a wheel, no more.

Set ACKCLOCK_WHEEL to the wheel to try. Without it, one is built, where a Rust compiler is there.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
MOST_BYTES = 10_000_000
MOST_S = 180.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the commands of the docs are those of a shell"),
]


def once(factory, name, make):
    """Return a folder that `make` fills, once for all processes in which tests run."""
    import fcntl  # not there where all of this is skipped

    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make(folder)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    given = os.environ.get("ACKCLOCK_WHEEL")
    if given:
        return Path(given)
    if not shutil.which("cargo"):
        pytest.skip("no wheel (ACKCLOCK_WHEEL) and no Rust compiler")
    # As the extension is built, or as quick as can be: what is tried is the package, not its speed.
    profile = os.environ.get("ACKCLOCK_PROFILE") or "quick"
    command = [sys.executable, "-m", "maturin", "build", "--profile", profile, "--locked", "--out"]

    def build(folder):
        subprocess.run([*command, folder], cwd=ROOT, check=True, capture_output=True)

    return next(once(tmp_path_factory, "wheel", build).glob("*.whl"))


@pytest.fixture(scope="module")
def home(wheel, tmp_path_factory):
    """A folder with a fresh environment `.venv`, in which the wheel is installed by pip."""

    def install(folder):
        begun = time.monotonic()
        venv.create(folder / ".venv", with_pip=False)
        # All that is never imported need not be compiled; the demo compiles what it imports. The
        # pip is that of these tests: one of its own would take longer than most of the rest.
        pip = f"'{sys.executable}' -m pip --python .venv/bin/python"
        done = shell(folder, f"{pip} install --quiet --no-compile '{wheel}'")
        if done.returncode and "No matching distribution" in done.stderr:
            pytest.skip("no package registry can be reached")
        assert done.returncode == 0, done.stderr
        (folder / "installed_s").write_text(str(time.monotonic() - begun))

    shared = once(tmp_path_factory, "environment", install)
    # What commands write is a worker's own.
    folder = tmp_path_factory.mktemp("home")
    for name in (".venv", "installed_s"):
        (folder / name).symlink_to(shared / name)
    return folder


@pytest.fixture(scope="module")
def demo(home):
    """A folder in which the demo has run."""
    assert shell(home, "ackclock demo").returncode == 0
    return home


def shell(folder, command):
    path = f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=kept | {"PATH": path, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def snippets():
    """The commands of the page in their order, and the files that it has the reader write."""
    yield from re.findall(
        r"(?:<!-- (file: \S+|not run: [^>]*) -->\n)?```(\w+)\n(.*?)```", PAGE, re.S
    )


def test_a_wheel_is_small(wheel):
    assert wheel.stat().st_size < MOST_BYTES
    assert "abi3" in wheel.name


def test_what_a_run_needs_is_small(home):
    command = "from importlib import metadata; print(*(d.name for d in metadata.distributions()))"
    found = shell(home, f'python -c "{command}"').stdout.lower().split()
    assert {"ackclock", "numpy", "pyarrow"} <= set(found)
    assert not {"scipy", "matplotlib", "pandas", "dpkt", "ipywidgets"} & set(found)


def test_the_commands_of_the_page(home):
    begun = time.monotonic() - float((home / "installed_s").read_text())
    ran = []
    for mark, language, text in snippets():
        if mark.startswith("file: "):
            (home / mark.removeprefix("file: ")).write_text(text, encoding="utf-8")
        elif language == "bash" and not mark.startswith("not run"):
            done = shell(home, text)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            assert "Traceback" not in done.stderr
            ran.append((text, done.stdout))
    assert time.monotonic() - begun < MOST_S
    (demo,) = [out for text, out in ran if text.strip() == "ackclock demo"]
    assert "congestion window, packets" in demo
    assert "Next" in demo
    mine = next(out for text, out in ran if "file: mine.py" in text)
    assert "No plots: matplotlib is not installed here (pip install 'ackclock[plots]')" in mine
    report = (home / "mine.html").read_text(encoding="utf-8")
    assert report.startswith("<!DOCTYPE html>") or "<html" in report[:200]
    assert len((home / "mine.py").read_text().splitlines()) <= 12


def test_a_demo_takes_less_than_three_seconds(demo):
    """Of CPU time, which other programs on the machine do not change."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert shell(demo, "ackclock demo").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3.0


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("ackclock plot runs/demo", "matplotlib", "plots"),
        ("ackclock theory caltech/test-case-2-fast", "scipy", "theory"),
        (
            'python -c \'from ackclock.widgets import explore; explore("teach/ecn", cc=["reno"])\'',
            "ipywidgets",
            "notebook",
        ),
    ],
)
def test_what_is_missing_says_how_to_install_it(demo, command, module, extra):
    done = shell(demo, command)
    assert done.returncode != 0
    assert f"{module}, which is not installed here" in done.stderr
    assert f"pip install 'ackclock[{extra}]'" in done.stderr


def test_the_doctor_names_what_is_missing(home):
    done = shell(home, "ackclock doctor")
    assert done.returncode == 0
    assert "matplotlib is not installed" in done.stdout
    assert "good   engine" in done.stdout or "note   engine" in done.stdout
