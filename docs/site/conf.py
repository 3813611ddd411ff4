"""How Sphinx makes a site of README, the pages in `docs` and the docstrings: `make docs`.

Sources are the whole project, so that links between pages are the same as in a checkout.
"""

import os
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from ackclock import labs
from ackclock.labs import writing

project = "Ackclock"
release = metadata.version("ackclock")

LAB = ".lab"
"""What pages of labs end with, which no test takes for a page of the project."""

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/**.md", "docs/**.ipynb", f"docs/labs/*{LAB}", "validation/**.md"]
exclude_patterns = ["docs/site"]
root_doc = "README"
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", LAB: "myst-nb"}
# Notebooks are shown as they are stored; `docs/notebooks/run.py` runs them.
nb_execution_mode = "off"
myst_heading_anchors = 4

# Docstrings are written as Markdown: single backticks are code, and two dashes begin an option.
default_role = "literal"
smartquotes = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_default_options = {"members": True}

html_theme = "furo"
html_title = f"Ackclock {release}"
html_extra_path = ["index.html"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
templates_path = ["templates"]
# Each page says of which version it is. `VERSIONS="0.1.0 0.2.0" make docs` links the sites of
# others, which lie beside this one, in folders called after their versions.
others = [version for version in os.environ.get("VERSIONS", "").split() if version != release]
html_context = {"versions": others}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_copyright = False
html_copy_source = False

PUBLIC = (
    "ackclock",
    "ackclock.sweep",
    "ackclock.report",
    "ackclock.plots",
    "ackclock.metrics",
    "ackclock.theory",
    "ackclock.labs",
)
"""What the reference shows, and whose examples are tested."""


def _reference() -> str:
    """Directives for each public name, from what the packages say is public."""
    lines, shown = [], set()
    for package in map(import_module, PUBLIC):
        summary = (package.__doc__ or "").strip().partition("\n")[0]
        lines += ["", f"## `{package.__name__}`", "", summary, ""]
        for name in package.__all__:
            found = getattr(package, name)
            # Data have no text of their own that could be shown.
            if callable(found) and found not in shown:
                shown.add(found)
                kind = "class" if isinstance(found, type) else "function"
                lines += ["```{eval-rst}", f".. auto{kind}:: {package.__name__}.{name}", "```", ""]
    return "\n".join(lines)


def _fill(app: object, page: str, source: list[str]) -> None:
    """Add what a page has on the site alone: the contents, and the reference of Python."""
    if page == root_doc:
        source[0] += (Path(__file__).parent / "contents.txt").read_text(encoding="utf-8")
    if page == "docs/api":
        here, _, _ = source[0].partition("<!-- the site has them in place of this -->")
        source[0] = here + _reference()


def _labs(app: Any) -> None:
    """Write the pages of the labs, as students read them; the site alone has them."""
    folder = Path(app.srcdir) / "docs" / "labs"
    folder.mkdir(exist_ok=True)
    for name in labs.names():
        text = writing.page(labs.find(name))
        start = f"Begin with `ackclock lab start {name}`, which writes this page and its files."
        head, _, rest = text.partition("\n\n")
        page = folder / f"{name}{LAB}"
        text = f"{head}\n\n{start}\n\n{rest}"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _is_field(app: object, what: str, name: str, found: object, *_: object) -> bool | None:
    """Leave out what Python says of each field of a named tuple: the text of the class has more."""
    return True if isinstance(found, type(_Named.field)) else None


class _Named(NamedTuple):
    field: None


def setup(app: Any) -> None:
    """Connect what Sphinx calls."""
    app.connect("builder-inited", _labs)
    app.connect("source-read", _fill)
    app.connect("autodoc-skip-member", _is_field)
