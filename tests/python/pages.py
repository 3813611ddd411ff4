"""Pages in a browser: Chromium as the system has it, driven by playwright.

Without one of them these tests are skipped; `make browser` installs both.
"""

import shutil

import pytest

MARKS = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)


def started():
    """Yield a browser, or skip."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not BROWSER:
        pytest.skip("there is no Chromium on the PATH: 'make browser' installs it")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page, and what it said and asked for while it was open."""

    def __init__(self, browser, place, width=1400, fragment="", **options):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(place.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]")

    def close(self):
        self.context.close()
        assert self.said == []
        # What a page has made itself is no request to anybody.
        asked = [url for url in self.asked if not url.startswith("blob:null/")]
        assert len(asked) == 1, asked
