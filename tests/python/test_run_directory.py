"""A run directory is complete or absent, and never takes the place of anything else."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock import AckclockError, InputError, Results


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_our_own_older_run_is_replaced(small_results, tmp_path):
    path = small_results.save(tmp_path / "run")
    (path / "plots").mkdir()
    (path / "plots" / "old.png").write_text("old")
    small_results.save(path)
    assert not (path / "plots").exists()
    assert listing(tmp_path) == {"run"} | {f"run/{name}" for name in listing(path)}


def test_a_run_of_another_scenario_needs_force(small_results, small_scenario, tmp_path):
    from ackclock import run

    path = small_results.save(tmp_path / "run")
    other = run(small_scenario.set("seed", 2))
    with pytest.raises(InputError, match=r"with seed 1; .*`force` \(--force\)"):
        other.save(path)
    assert Results.load(path).summary["seed"] == 1
    other.save(path, force=True)
    assert Results.load(path).summary["seed"] == 2


@pytest.mark.parametrize("force", [False, True])
def test_what_is_not_ours_is_left_alone(small_results, tmp_path, force):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not a run directory"):
        small_results.save(tmp_path / "mine", force=force)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder"):
        small_results.save(tmp_path / "file", force=force)
    with pytest.raises(InputError, match="is not a folder"):
        small_results.save(tmp_path / "file" / "below", force=force)
    run = small_results.save(tmp_path / "run")
    (run / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'notes\.txt'"):
        small_results.save(run, force=force)
    (tmp_path / "link").symlink_to(run)
    with pytest.raises(InputError, match="is not a folder"):
        small_results.save(tmp_path / "link", force=force)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    assert (run / "notes.txt").read_text() == "mine"


def test_an_empty_folder_is_used(small_results, tmp_path):
    (tmp_path / "run").mkdir()
    assert Results.load(small_results.save(tmp_path / "run")).summary["finished"]


def test_nothing_is_left_of_a_failed_write(small_results, tmp_path, monkeypatch):
    path = small_results.save(tmp_path / "run")
    before = listing(tmp_path)

    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    with pytest.raises(AckclockError, match="no room is left on the disk"):
        small_results.save(path)
    with pytest.raises(AckclockError, match="no room is left on the disk"):
        small_results.save(tmp_path / "new")
    assert listing(tmp_path) == before
    monkeypatch.undo()
    assert Results.load(path).table("cwnd").num_rows > 0


@pytest.mark.slow
def test_a_full_disk(small_file, tmp_path):
    """With a limit on the size of files, which fails like a full disk, in the middle of a table."""
    script = (
        "import resource, signal, sys;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048));"
        "from ackclock.cli.app import main; main()"
    )
    command = [sys.executable, "-c", script, "run", str(small_file), "--out", "out", "--no-plots"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert listing(tmp_path) == {"small.yaml"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(small_results, tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            small_results.save(tmp_path / "run")
    finally:
        tmp_path.chmod(0o755)
    assert listing(tmp_path) == set()
