"""The notebooks run from the first to the last cell and show the figures that they talk about."""

import json
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"

# What has to be on the page: the figures of the reports.
SHOWN = {
    "ns2-lab": ["766520", "759240", "940000", "96.9%", "12.22"],
    "ns3-lab": [
        "192 runs, 1056 flows",
        "27189.0",
        "59429.1",
        "33451.4",
        "27 equal, 3 Reno, 18 Tahoe",
        "11649",
    ],
}


@pytest.fixture(scope="module")
def execute():
    sys.path.insert(0, str(FOLDER))
    try:
        from run import execute
    finally:
        sys.path.remove(str(FOLDER))
    return execute


def texts(notebook):
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            yield "".join(output.get("text", ""))
            yield "".join(output.get("data", {}).get("text/plain", ""))


def pictures(notebook):
    outputs = [o for cell in notebook["cells"] for o in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_every_notebook_has_figures_to_show():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(SHOWN)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_line_that_the_kernel_sends_in_pieces_is_one_output(execute, tmp_path):
    # The kernel sends what is printed by a timer: on a busy machine, in the middle of a line.
    cell = nbformat.v4.new_code_cell("print(27, end='', flush=True); print(' equal')")
    path = tmp_path / "pieces.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert list(texts(execute(path))) == ["27 equal\n", ""]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_and_shows_the_figures_of_its_report(name, execute):
    path = FOLDER / f"{name}.ipynb"
    stored, fresh = json.loads(path.read_text(encoding="utf-8")), execute(path)
    for notebook in (stored, fresh):
        page = "\n".join(texts(notebook))
        assert [figure for figure in SHOWN[name] if figure not in page] == []
        assert pictures(notebook) >= 2
    assert list(texts(stored)) == list(texts(fresh)), "docs/notebooks/run.py renews the outputs"
