"""The pages: every snippet runs, every link leads somewhere, generated parts are up to date."""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from ackclock import Scenario
from ackclock.cli.app import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.M)
# A network on which parts of a scenario make sense.
BASE = {
    "hosts": ["A", "B"],
    "links": [{"id": "L1", "between": ["A", "B"], "rate": "10 Mbps", "delay": "5 ms"}],
    "flows": [{"id": "F1", "from": "A", "to": "B", "send": "1 MB"}],
}


@dataclass(frozen=True)
class Snippet:
    """A block of a page, with the comment before it."""

    page: Path
    language: str
    text: str
    mark: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:\n{self.text}"


def snippets(page):
    return [
        Snippet(page, m["language"], m["text"], m["mark"] or "")
        for m in BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def name_of(page):
    return str(page.relative_to(ROOT))


def shorter(line):
    """A command with a shorter run or with fewer: none of their figures count here."""
    line = line.replace("run teach/cubic-bbr", "run teach/cubic-bbr --set 'stop.at_latest=30 s'")
    return line.replace(" -n 1000", " -n 100")


@pytest.fixture
def run_snippet(tmp_path, monkeypatch, capsys):
    """Return a function that runs a snippet in an empty folder.

    Commands of the program and Python run in this process, which is quicker; the rest in a shell.
    """
    monkeypatch.chdir(tmp_path)
    # Python that looks in the current folder, as in a session of a user.
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)

    def run(snippet):
        lines = snippet.text.splitlines()
        if snippet.language == "python":
            exec(compile(snippet.text, name_of(snippet.page), "exec"), {"__name__": "__main__"})
        elif all(line.startswith("ackclock ") for line in lines):
            for line in lines:
                monkeypatch.setattr(sys, "argv", shlex.split(shorter(line), comments=True))
                with pytest.raises(SystemExit) as done:
                    main()
                captured = capsys.readouterr()
                assert not done.value.code, f"{line}\n{captured.out}\n{captured.err}"
        else:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", snippet.text],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, f"{snippet}\n{done.stdout}\n{done.stderr}"

    return run


@pytest.mark.slow
@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_snippets_run(page, tmp_path, run_snippet):
    """In the order of the page, in one empty folder; files of the page are written before."""
    for snippet in snippets(page):
        if snippet.mark.startswith("file: "):
            file = tmp_path / snippet.mark.removeprefix("file: ")
            file.write_text(snippet.text, encoding="utf-8")
        elif snippet.language in ("bash", "python") and not snippet.mark.startswith("not run: "):
            run_snippet(snippet)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_what_they_are(page):
    """A block that is not tried says why."""
    for snippet in snippets(page):
        assert snippet.language in ("bash", "python", "yaml", "text"), str(snippet)
        if snippet.mark.startswith("not run"):
            assert re.match(r"not run: .{10}", snippet.mark), str(snippet)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_scenarios_of_the_pages_are_valid(page):
    """Whole ones as they are, parts on a small network."""
    for snippet in snippets(page):
        if snippet.language == "yaml":
            document = YAML(typ="safe", pure=True).load(snippet.text)
            if "base" in document:  # a study; the commands of its page run it
                continue
            whole = "hosts" in document or "topology" in document
            Scenario.from_dict(document if whole else {**BASE, **document})


def anchors(page):
    """Anchors of a page's headings, as code hosts make them."""
    for match in HEADING.finditer(page.read_text(encoding="utf-8")):
        text = re.sub(r"[^\w\- ]", "", match["text"].lower())
        yield text.strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        target, _, anchor = match["target"].partition("#")
        if target.startswith("https://"):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name_of(page)}: {match['target']}"
        if anchor:
            assert anchor in anchors(file), f"{name_of(page)}: {match['target']}"


ALGORITHMS = (
    "aimd bbr bbr3 blue classic codel copa cubic dctcp dualpi2 fair-queueing fast high-speed "
    "ledbat lossy-paths modern pie red reno selective-repeat token-bucket vegas"
)


@pytest.mark.parametrize("name", ALGORITHMS.split())
def test_pages_of_algorithms_have_equations_source_deviations_and_how_to_validate(name):
    text = (ROOT / "docs" / "models" / f"{name}.md").read_text(encoding="utf-8")
    headings = {match["text"] for match in HEADING.finditer(text)}
    assert headings & {"Equations", "Rules"}
    assert "Source" in headings or "References:" in text
    assert {"Deviations", "Validation"} <= headings
    validation = text.partition("\n## Validation\n")[2].partition("\n## ")[0]
    assert re.search(r"\d", validation)
    assert re.search(r"(ackclock|pytest|cargo test|python) \S", validation)


def test_every_page_of_docs_can_be_reached_from_the_readme():
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached:
            continue
        reached.add(page)
        for match in LINK.finditer(page.read_text(encoding="utf-8")):
            target = (page.parent / match["target"].partition("#")[0]).resolve()
            if target.suffix == ".md" and target.is_file():
                todo.append(target)
    assert {name_of(page) for page in PAGES} - {name_of(page) for page in reached} == set()


@pytest.mark.slow
def test_generated_parts_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    generate = importlib.import_module("generate")
    stale = [name_of(page) for page, _ in generate.stale_pages()]
    assert not stale, "run: python docs/generate.py"


def test_the_page_of_commands_has_the_defaults_and_bounds_that_their_help_shows():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for start, end in (
        ("| `-n`, `--count` N | `1000` | ", " At least 1. |"),
        ("| `--sender` WORD | `newreno` | ", " |"),
        ("| `--time-limit` SECONDS | `20` | ", " At least 1. |"),
        ("| `--threads` N | `1` | ", " From 1 to 256. |"),
        ("| `--out`, `-o` FILE | `playground.html` | ", " |"),
        ("| `--out`, `-o` DIR |  | ", " |"),
    ):
        assert any(x.startswith(start) and x.endswith(end) for x in page.splitlines()), start


def test_instructions_are_shown_once_and_are_about_those_that_are_stored():
    place = ROOT / "benches" / "instructions.json"
    stored = json.loads(place.read_text(encoding="utf-8"))["instructions"]
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    shown = {row[0]: float(row[2].replace(",", "")) for row in rows if row and row[0] in stored}
    assert len(shown) >= 13
    for name, figure in shown.items():
        assert figure == pytest.approx(stored[name], rel=0.05), name
    assert "Instructions per packet-hop |" not in (ROOT / "README.md").read_text(encoding="utf-8")


def test_pictures_are_small_and_shown():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size < 300_000, picture.name
        assert f"images/{picture.name}" in text, f"{picture.name} is not shown on any page"


def test_the_readme_has_commands_and_an_own_scenario_of_fifteen_lines():
    blocks = snippets(ROOT / "README.md")
    everything = "".join(block.text for block in blocks if block.language == "bash")
    for command in ("run", "plot", "theory", "reproduce", "list", "validate"):
        assert f"ackclock {command} " in everything
    (scenario,) = (b for b in blocks if b.language == "yaml" and "flows:" in b.text)
    assert len(scenario.text.splitlines()) <= 15


def test_what_other_simulators_say_can_be_said_as_the_page_says():
    """Code in the last columns of the tables, put where it belongs."""
    page = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    cells = [
        row.split("|")[2] for row in page.splitlines() if row.startswith("| `") or "`tc " in row
    ]
    tried = 0
    for code in re.findall(r"`([^`]+)`", " ".join(cells)):
        if "..." in code or "file:" in code or not re.match(r"(\w+: |\{)", code):
            continue
        said = YAML(typ="safe", pure=True).load(code)
        for key, value in said.items():
            document = json.loads(json.dumps(BASE))
            if key in ("queue", "loss", "jitter", "rate", "delay"):
                document["links"][0][key] = value
            elif key in ("tcp", "udp", "send", "start"):
                document["flows"][0] |= {key: value}
                if key == "udp":
                    del document["flows"][0]["send"]
                    document["stop"] = {"when": "time", "at_latest": "1 s"}
            elif key == "profile":
                document |= {key: value, "flows": [{"id": "F1", "from": "A", "to": "B"}]}
                document["stop"] = {"at_latest": "1 s"}
            elif key in ("defaults", "stop"):
                document |= {key: value}
            else:
                continue
            Scenario.from_dict(document)
            tried += 1
    assert tried > 20
