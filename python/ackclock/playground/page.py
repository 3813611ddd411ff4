"""The page: a template, the scripts and looks of reports and its own, the engine, the scenarios."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from ackclock import log
from ackclock.plots import palette
from ackclock.registry import registry
from ackclock.report import moments
from ackclock.report import page as report
from ackclock.report.pack import Pack

from .gallery import gallery

_HERE = Path(__file__).parent

_OF_REPORTS = ("10-", "20-", "30-", "40-", "50-", "60-", "61-", "62-", "70-", "71-", "80-")
"""The scripts of reports that the page needs: all but the one that starts them."""


def html(engine: Path) -> str:
    """The text of the page with this engine."""
    from ackclock import _core

    pack = Pack()
    shown, left = gallery()
    first = (_HERE / "first.yaml").read_text(encoding="utf-8")
    document = {
        "gallery": [_first(first), *shown],
        "game": (_HERE / "game.yaml").read_text(encoding="utf-8"),
        "engine": pack.plain(gzip.decompress(engine.read_bytes())),
        "marks": moments.MARKS,
        "rules": _rules(),
        "factors": _factors(),
        "flows": _colors("FLOWS"),
        "links": _colors("LINKS"),
    }
    names = ", ".join(left)
    footer = (
        f"Made by Ackclock {_core.version()}. Nothing leaves this page. "
        f"Not here, since they need files or Python: {names}."
    )
    folder = Path(report.__file__).parent / "page"
    shared = [path for path in sorted(folder.glob("*.js")) if path.name.startswith(_OF_REPORTS)]
    worker = _joined(_scripts("worker"))
    parts = {
        "title": "Ackclock playground",
        "head": _read("head.html"),
        "tabs": _read("tabs.html"),
        "main": _read("main.html"),
        "more": f'<script type="text/plain" id="worker">{worker}</script>\n',
        "allowed": " 'wasm-unsafe-eval' blob:; worker-src blob:",
        "style": report.style() + _read("page.css"),
        "footer": escape(footer),
        "data": pack.written(document),
        "uplot": report.uplot(),
        "script": _joined([*shared, _HERE / "worker" / "10-engine.js", *_scripts("page")]),
    }
    return report.framed("playground", parts)


def _read(name: str) -> str:
    return (_HERE / "page" / name).read_text(encoding="utf-8")


def _scripts(folder: str) -> list[Path]:
    return sorted((_HERE / folder).glob("*.js"))


def _joined(paths: Iterable[Path]) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def _first(text: str) -> dict[str, Any]:
    """The scenario that the page opens with."""
    head = dict(re.findall(r"^(name|title|question): (.*)$", text, re.M))
    return {**head, "group": "first steps", "expectation": "", "text": text}


def _rules() -> dict[str, dict[str, Any]]:
    """What the rules of the records mean, those apart that only follow from others."""
    return {
        name: {
            "text": moments.capital(log.reason(name, "{cc}")),
            "source": rule.source,
            "cuts": rule.effect == "cut",
        }
        for name, rule in log.RULES.items()
        if rule.effect != "growth"
    }


def _factors() -> dict[str, list[dict[str, str]]]:
    """Parameters of congestion controls that say how much of the window a loss leaves."""
    found = {}
    for entry in registry()["cc"]:
        known = [param for param in entry["params"] if param["name"] in moments.FACTORS]
        found[entry["name"]] = [
            {"name": param["name"], "source": moments.source(param, entry)} for param in known
        ]
    return found


def _colors(kind: str) -> dict[str, list[str]]:
    return {look: list(palette.looks()[look][kind]) for look in ("light", "dark")}
