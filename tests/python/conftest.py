"""What tests share."""

import gc
import signal
import sys
from contextlib import nullcontext
from typing import NamedTuple

import pages
import pytest
from hypothesis import settings
from made_sweeps import delays, grid  # noqa: F401  # fixtures
from small import document

from ackclock import Results, Scenario, run
from ackclock.sweep.plan import cores

# The same examples in every run, and none too slow on a busy machine.
settings.register_profile("ackclock", deadline=None, derandomize=True)
settings.load_profile("ackclock")

# Started in the background, a shell lets its programs ignore Ctrl-C, and these what they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests, figures and tables have many objects; looking for cycles among them less often is enough.
gc.set_threshold(100_000)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One more than there are cores: a test now and then waits for a process or for a clock."""
    return cores() + 1


def pytest_collection_finish():
    """Thousands of tests and what they import stay to the end: no collector need look at them."""
    gc.freeze()


@pytest.fixture(scope="session")
def small_scenario() -> Scenario:
    """A scenario that runs in milliseconds."""
    return Scenario.from_dict(document())


@pytest.fixture(scope="session")
def small_results(small_scenario: Scenario) -> Results:
    """Its results. Tests do not change them."""
    return run(small_scenario)


@pytest.fixture(scope="module")
def browser():
    """A browser, for tests of pages; without one they are skipped."""
    yield from pages.started()


@pytest.fixture
def small_file(tmp_path):
    """Its scenario file, in a folder of its own."""
    from ackclock.canonical import to_yaml

    path = tmp_path / "small.yaml"
    path.write_text(to_yaml(document()), encoding="utf-8")
    return path


@pytest.fixture
def unpainted(monkeypatch):
    """Figures are put together but not painted, which takes much longer: their files are empty.

    For tests of what commands do. What figures look like is tested where plots are.
    """
    from matplotlib.figure import Figure
    from PIL import Image

    from ackclock.plots import saving

    def save(_, target, *, format, **__):
        if format == "png":
            Image.new("RGB", (1, 1)).save(target, format="PNG")
        else:
            target.write_bytes(b"")

    monkeypatch.setattr(Figure, "savefig", save)
    # It looks at every mark of every axis, which only painting makes.
    monkeypatch.setattr(saving, "for_all_scripts", nullcontext)


class Done(NamedTuple):
    """What a call of the program did."""

    code: int
    out: str
    err: str


@pytest.fixture
def ackclock(request, tmp_path, monkeypatch, capsys):
    """Return a function that calls the program in an empty folder; figures are unpainted.

    With the mark `painted` they are not.
    """
    from ackclock.cli.app import main

    if request.node.get_closest_marker("painted") is None:
        request.getfixturevalue("unpainted")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["ackclock", *map(str, args)])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        code = caught.value.code
        return Done(code if isinstance(code, int) else 0, captured.out, captured.err)

    return call
