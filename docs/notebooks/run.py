"""Execute the notebooks of this folder in place, so that they show what the software gives today.

python docs/notebooks/run.py [NAME ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent


def execute(path: Path) -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # A line may come in pieces, by the clock of the kernel.
        client = NotebookClient(
            notebook,
            timeout=300,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    # What differs from run to run says nothing.
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    return notebook


if __name__ == "__main__":
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    for name in names:
        nbformat.write(execute(FOLDER / f"{name}.ipynb"), FOLDER / f"{name}.ipynb")
        print(f"{name}: done")
