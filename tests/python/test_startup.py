"""What small commands load: a library that they do not use is time that everybody waits."""

import subprocess
import sys

import pytest

_PROGRAM = """\
import atexit, sys
atexit.register(lambda: print("\\nloaded", *sys.modules))
{}
"""
_COMMAND = _PROGRAM.format("from ackclock.cli.app import program; program()")

_TABLES = {"numpy", "pyarrow"}
_DRAWING = {"matplotlib", "PIL"}
_HEAVY = {"scipy", "pandas", "pyarrow.compute", "pyarrow.dataset", "mpl_toolkits.mplot3d"}
_SPARED = {
    "pyarrow._s3fs",
    "numpy.ma",
    "numpy._typing._array_like",
    "ackclock.received_files",
    "tomllib",
}


def _printed(code, folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def _loaded(code, folder, *arguments):
    return set(_printed(code, folder, *arguments).split("\nloaded ")[1].split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["list"], ["list", "cc"], ["lab", "list"], ["validate"]],
    ids=" ".join,
)
def test_commands_without_results_load_no_tables(arguments, tmp_path, small_file):
    files = [small_file] if arguments == ["validate"] else []
    loaded = _loaded(_COMMAND, tmp_path, *arguments, *files)
    assert "ackclock.cli.app" in loaded
    assert not loaded & (_TABLES | _DRAWING | _HEAVY)


@pytest.mark.slow
def test_a_run_without_plots_loads_nothing_to_draw_or_to_solve(tmp_path, small_file):
    loaded = _loaded(_COMMAND, tmp_path, "run", small_file, "--no-plots")
    assert loaded >= _TABLES
    assert not loaded & (_DRAWING | _HEAVY | _SPARED)


@pytest.mark.slow
def test_a_controller_gets_what_it_imports(tmp_path, small_file):
    """Also a library that the program itself does without."""
    program = """\
import pandas
import ackclock
class Mine(ackclock.CongestionControl):
    def on_ack(self, ack):
        self.cwnd = float(pandas.Series([2, 4]).mean()) * self.segment
"""
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    cc = "flows.*.tcp.cc={kind: python, file: mine.py}"
    assert "pandas" in _loaded(_COMMAND, tmp_path, "run", small_file, "--no-plots", "--set", cc)


@pytest.mark.slow
def test_a_run_without_plots_compiles_little(tmp_path, small_file):
    """A `dataclass` is compiled whenever it is loaded; forty of them were a tenth of such a run."""
    counted = _COMMAND.replace("*sys.modules", "*(c for m in list(sys.modules) for c in own(m))")
    own = """\
def own(module):
    classes = [c for c in vars(sys.modules[module]).values() if isinstance(c, type)]
    made = [c for c in classes if c.__module__ == module and "__dataclass_fields__" in vars(c)]
    return [f"{module}.{c.__name__}" for c in made if module.startswith("ackclock.")]
"""
    made = _loaded(own + counted, tmp_path, "run", small_file, "--no-plots")
    assert "ackclock.plots.options.Options" in made
    assert len(made) <= 12, sorted(made)


@pytest.mark.slow
def test_no_manual_is_written_for_numpy(tmp_path, small_file):
    asked = _COMMAND.replace("*sys.modules", "sys.modules['numpy'].ndarray.sum.__doc__")
    assert _loaded(asked, tmp_path, "run", small_file, "--no-plots") == {"None"}


def test_types_of_numpy_are_there_for_who_asks(tmp_path):
    """As controllers may; NumPy's own linear algebra asks first, and gets a name only."""
    spared = "from ackclock import imports; imports.spare(); import numpy.linalg\n"
    assert "numpy._typing._array_like" not in _loaded(_PROGRAM.format(spared), tmp_path)
    asked = "import numpy.typing as npt; print(npt.NDArray[float], npt.ArrayLike)"
    inner = "import numpy._typing._char_codes"
    for code in (f"{asked}; {inner}", f"{inner}; {asked}"):
        printed = _printed(spared + code, tmp_path)
        assert printed.startswith("numpy.ndarray["), printed
        assert "_SupportsArray" in printed


@pytest.mark.slow
def test_plots_load_what_they_draw_with_and_no_more(tmp_path, small_file):
    loaded = _loaded(_COMMAND, tmp_path, "run", small_file)
    assert loaded >= _DRAWING
    assert not loaded & (_HEAVY | {"matplotlib.pyplot", "matplotlib.style"})


@pytest.mark.slow
def test_object_storage_is_loaded_where_it_is_used(tmp_path):
    spared = "from ackclock import imports; imports.spare(); import pyarrow.parquet\n"
    asked = "from ackclock.sweep import remote\nsystem, path = remote.require({!r})\n"
    asked += "assert (system.type_name, path) == ({!r}, {!r})\n"
    storage = asked.format(
        "s3://bucket/study?region=eu-west-1", "s3", "bucket/study/results.parquet"
    )
    file = asked.format(f"file://{tmp_path}", "local", str(tmp_path / "results.parquet"))
    closed = "import pyarrow.fs; assert pyarrow.fs.ensure_s3_finalized"
    assert "pyarrow._s3fs" in _loaded(_PROGRAM.format(spared + storage + closed), tmp_path)
    assert "pyarrow._s3fs" not in _loaded(_PROGRAM.format(spared + file), tmp_path)


def test_importing_the_package_loads_no_library(tmp_path):
    loaded = _loaded(_PROGRAM.format("import ackclock"), tmp_path)
    assert "ackclock.run" in loaded
    assert not loaded & (_TABLES | _DRAWING | _HEAVY | {"typer", "rich"})


@pytest.mark.slow
def test_a_run_in_python_loads_its_tables_and_no_more(tmp_path):
    """Not the compiler of controllers either, unless one asks for it."""
    run = "import ackclock; ackclock.run(ackclock.Scenario.load('own/aimd'))"
    loaded = _loaded(_PROGRAM.format(run), tmp_path)
    assert loaded >= _TABLES
    assert not loaded & (_DRAWING | _HEAVY | {"numba"})


def test_python_does_not_look_for_garbage_at_the_end_of_the_program(tmp_path):
    # What is registered first is called last.
    kept = 'import atexit, gc\natexit.register(lambda: print("kept", gc.get_freeze_count()))\n'
    printed = _printed(kept + _COMMAND, tmp_path, "--version")
    assert int(printed.split("kept ")[1].split()[0]) > 1_000


def test_parts_of_the_package_are_there_when_they_are_named(tmp_path):
    """As the pages have it: `ackclock.conformance.check_cc(...)` after `import ackclock`."""
    named = "import ackclock; ackclock.conformance.check_cc, ackclock.measured.read"
    assert "ackclock.measured" in _loaded(_PROGRAM.format(named), tmp_path)
