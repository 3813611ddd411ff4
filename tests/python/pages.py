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
        yield Tabs(started)
        started.close()


class Tabs:
    """Tabs of a browser, used again: a new one takes as long as four pages in an old one."""

    def __init__(self, browser):
        self._browser, self._free = browser, []

    def take(self):
        """Return an empty tab; no two that are in use know what the other keeps."""
        return self._free.pop() if self._free else self._browser.new_context().new_page()

    def give(self, tab):
        """Empty a tab, for others to use."""
        tab.evaluate("localStorage.clear()")
        tab.goto("about:blank")
        tab.mouse.move(0, 0)
        self._free.append(tab)


class Opened:
    """A page, and what it said and asked for while it was open."""

    def __init__(self, tabs, place, width=1400, fragment="", **preferred):
        self.tabs, self.page = tabs, tabs.take()
        self.page.set_viewport_size({"width": width, "height": 900})
        usual = {"media": "null", "color_scheme": "light", "reduced_motion": "no-preference"}
        self.page.emulate_media(**usual | preferred)
        self.said, self.asked = [], []
        self.heard = {
            "console": lambda message: self.said.append(message.text),
            "pageerror": lambda error: self.said.append(str(error)),
            "request": lambda request: self.asked.append(request.url),
        }
        for event, note in self.heard.items():
            self.page.on(event, note)
        self.page.goto(place.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]")

    def close(self):
        for event, note in self.heard.items():
            self.page.remove_listener(event, note)
        self.tabs.give(self.page)
        assert self.said == []
        # What a page has made itself is no request to anybody.
        asked = [url for url in self.asked if not url.startswith("blob:null/")]
        assert len(asked) == 1, asked
