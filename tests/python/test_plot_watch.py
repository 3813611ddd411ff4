"""Widths and themes on the command line, and plots that follow a file."""

import os
import signal
import subprocess
import sys
import time

import pytest

from ackclock.cli import watching
from ackclock.cli.plot import width
from ackclock.errors import InputError
from ackclock.plots import palette
from ackclock.plots.options import Options


@pytest.mark.parametrize(
    ("text", "mm"),
    [("page", 180), ("column", 88), ("120", 120), ("3.5 in", 88.9), ("9cm", 90), ("75 mm", 75)],
)
def test_widths_on_paper(text, mm):
    assert width(text) == pytest.approx(mm)


def test_a_width_that_is_none_is_refused(ackclock, small_file):
    ackclock("run", small_file, "--no-plots", "--out", "run")
    done = ackclock("plot", "run", "--width", "wide")
    assert done.code == 2
    assert "page, column" in done.err
    done = ackclock("plot", "run", "--width", "2 in")
    assert done.code == 2
    assert "60 to 600 mm" in done.err


@pytest.mark.slow
@pytest.mark.painted
def test_slides_are_half_as_wide_with_more_pixels(ackclock, small_file, tmp_path):
    assert Options(style="slides").page_mm == 127
    assert Options(88, style="slides").page_mm == 88
    assert Options(style="paper").page_mm == 180
    ackclock("run", small_file, "--no-plots", "--out", "run")
    written = ackclock("plot", "run", "--kind", "flow-window", "--theme", "slides").out.strip()
    header = (tmp_path / written).read_bytes()[16:24]
    assert int.from_bytes(header[:4], "big") == 1920


def test_themes_for_paper_and_slides_have_stronger_inks():
    light = palette.looks()["light"]
    for name in ("paper", "slides"):
        look = palette.looks()[name]
        assert look["FLOWS"] == light["FLOWS"]
        for ink in ("INK", "FAINT_INK", "RULE", "GRID"):
            assert int(look[ink][1:3], 16) < int(light[ink][1:3], 16)


def test_watching_acts_at_first_and_after_each_change(monkeypatch, small_file, tmp_path, capsys):
    """A wrong file in between is reported, and the next good one is taken."""
    monkeypatch.chdir(tmp_path)
    text = small_file.read_text(encoding="utf-8")
    edits = iter([text + "\n", text.replace("10 Mbps", "10 Mbqs"), text.replace("10 M", "5 M")])
    seen = []

    def sleep(_):
        try:
            small_file.write_text(next(edits), encoding="utf-8")
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(time, "sleep", sleep)

    def act(places):
        from ackclock.results import Results

        seen.append(Results.load(places[0]).model["links"][0]["forward"]["rate_bps"])

    watching.watch([small_file], act)
    assert seen == [10_000_000, 10_000_000, 5_000_000]
    assert "Mbqs" in capsys.readouterr().err


def test_watching_follows_files_that_a_scenario_names(tmp_path):
    text = "flows: [{id: F, tcp: {cc: {kind: python, file: mine.py, class: Mine}}}]\n"
    (tmp_path / "own.yaml").write_text(text)
    before = watching._state([tmp_path / "own.yaml"])
    assert set(before) == {tmp_path / "own.yaml", tmp_path / "mine.py"}
    (tmp_path / "mine.py").write_text("class Mine: ...\n")
    assert watching._state([tmp_path / "own.yaml"]) != before


def test_an_error_at_the_first_look_ends_it(tmp_path):
    (tmp_path / "wrong.yaml").write_text("hosts: 3\n")
    with pytest.raises(InputError):
        watching.watch([tmp_path / "none.yaml"], lambda places: None)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process there")
def test_ctrl_c_ends_watching_without_a_trace(ackclock, small_file, tmp_path):
    ackclock("run", small_file, "--no-plots", "--out", "run")
    program = "from ackclock.cli.app import program; program()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "plot", "run", "--kind", "flow-window", "--watch"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stderr is not None
        line = started.stderr.readline()
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert "watching run; Ctrl-C ends" in line
    assert "flow-window.png" in out
    assert started.returncode == 0
    assert "Traceback" not in err
