"""What a program may import: modules of Python and installed packages, which others have, too.

A run stores the text of one file. A second file of the user would be missing where it is repeated.
"""

from __future__ import annotations

import ast
import json
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ackclock.controllers.loading import WHOLE, ProgramError

_PACKAGES = {"site-packages", "dist-packages"}


def require_whole(source: str, origin: str, folder: Path) -> None:
    """Check that a program imports no module below its folder.

    Raises:
        ProgramError: it does; with the place of the import.
    """
    for node in _run(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [one.name for one in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case _:
                continue
        for module in modules:
            for file in _files(module.partition(".")[0]):
                if file.is_relative_to(folder.resolve()) and not _is_installed(file):
                    raise ProgramError(
                        f"{origin}:{node.lineno}: `{module}` is a second file of your own "
                        f"({file.name}): a program imports modules of Python and installed "
                        "packages only",
                        hint=WHOLE,
                    )


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what a run can come to: not what is there for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from _run(other)
            continue
        yield node
        yield from _run(node)


def _files(module: str) -> list[Path]:
    """Return where a module is, without importing it; nothing for one that is part of Python."""
    if module == "ackclock":
        return []
    places = [getattr(sys.modules.get(module), "__file__", None)]
    if places == [None]:
        try:
            spec = find_spec(module)
        except (ImportError, ValueError):
            return []
        if spec is None:
            return []
        places = [spec.origin] if spec.has_location else [*(spec.submodule_search_locations or ())]
    return [Path(place).resolve() for place in places if place]


def _is_installed(file: Path) -> bool:
    if _PACKAGES & set(file.parts) or file.is_relative_to(sysconfig.get_path("stdlib")):
        return True
    known = (one.read_text("direct_url.json") for one in distributions())
    edited = (json.loads(text) for text in known if text and '"editable"' in text)
    return any(file.is_relative_to(url2pathname(urlsplit(one["url"]).path)) for one in edited)
