"""Keeps the reference pages in step with the program.

    python docs/generate.py            renew the generated parts of all pages
    python docs/generate.py --check    exit 1 if a part is out of date; write nothing
    python docs/generate.py --images   draw the pictures again

A page marks a generated part by two comments, `begin generated: WORDS` and `end generated`. The
words choose a function of `parts.py` and its arguments. What is between the comments is
replaced.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import parts

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {
    "test-case-2-fast": ("caltech/test-case-2-fast", "overview"),
    "test-case-0-reno": ("caltech/test-case-0-reno", "overview"),
    "test-case-1-fast": ("caltech/test-case-1-fast", "overview"),
    "sawtooth": ("teach/sawtooth", "cwnd-events"),
    "cubic-bbr": ("teach/cubic-bbr", "flow-receive-rate"),
}
"""Pictures of `docs/images` by name: a scenario, and a plot of its run."""

_PART = re.compile(
    r"(?P<begin><!-- begin generated: (?P<words>[^>]+?) -->\n).*?(?P<end><!-- end generated -->)",
    re.DOTALL,
)


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def renewed(text: str) -> str:
    """Return the text of a page with its generated parts made anew."""

    def part(match: re.Match[str]) -> str:
        return f"{match['begin']}\n{parts.make(match['words']).strip()}\n\n{match['end']}"

    return _PART.sub(part, text)


def stale_pages() -> Iterator[tuple[Path, str]]:
    """Yield the pages that are out of date, and what they should be."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := renewed(text)) != text:
            yield page, new


def draw(folder: Path) -> None:
    """Draw all pictures into a folder."""
    from ackclock import Scenario, plots, run

    for name, (scenario, kind) in PICTURES.items():
        results = run(Scenario.load(scenario))
        with tempfile.TemporaryDirectory() as place:
            (drawn,) = plots.plot(results, kinds=[kind], fmt="png", out=place)
            (folder / f"{name}.png").write_bytes(drawn.read_bytes())


def photograph(folder: Path) -> None:
    """Take pictures of pages: a report stepped to a loss, and the playground as it opens."""
    from playwright.sync_api import sync_playwright

    from ackclock import Scenario, playground, report, run

    results = run(Scenario.load("teach/cubic-bbr"))
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        shown = browser.new_page(viewport={"width": 1400, "height": 900})
        shown.goto(report.write([results], Path(place) / "report.html").as_uri())
        shown.wait_for_selector("html[data-ready]")
        card = shown.locator("[aria-live]")
        while "CUBIC" not in card.inner_text():
            shown.keyboard.press("n")
        for _ in range(5):
            shown.keyboard.press("+")
        shown.screenshot(path=folder / "report.png")
        if playground.ENGINE.is_file():
            shown = browser.new_page(viewport={"width": 1280, "height": 1000})
            shown.goto(playground.write(Path(place) / "playground.html").as_uri())
            shown.wait_for_selector("html[data-done]")
            shown.screenshot(path=folder / "playground.png")
        browser.close()


def main(arguments: list[str]) -> int:
    """Renew or check; return the exit status."""
    if arguments == ["--images"]:
        draw(ROOT / "docs" / "images")
        photograph(ROOT / "docs" / "images")
        return 0
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"{__doc__}")
        return 2
    found = list(stale_pages())
    for page, new in found:
        name = page.relative_to(ROOT)
        if arguments:
            sys.stderr.write(f"{name} is out of date; run: python docs/generate.py\n")
        else:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"renewed {name}\n")
    return 1 if arguments and found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
