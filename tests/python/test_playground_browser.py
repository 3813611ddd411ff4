"""The playground in a browser: Chromium as the system has it, driven by playwright.

Without one of them, or without the engine for browsers, these tests are skipped.
"""

import digests
import pages
import pytest

import ackclock
from ackclock import Scenario, playground

pytestmark = [
    *pages.MARKS,
    pytest.mark.skipif(
        not playground.ENGINE.is_file(), reason="no engine for browsers: 'make engine' builds it"
    ),
]
PANELS = ("rate", "window", "rtt", "queue", "flight", "load")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return playground.write(tmp_path_factory.mktemp("playground") / "playground.html")


class Opened(pages.Opened):
    """A playground whose first run is done."""

    def __init__(self, browser, place, **options):
        super().__init__(browser, place, **options)
        self.done = ""
        self.wait()

    def wait(self):
        """Wait for the next run, or for what is wrong with the text."""
        self.page.wait_for_function(
            "before => (document.documentElement.dataset.done ?? before) !== before",
            arg=self.done,
        )
        self.done = self.page.locator("html").get_attribute("data-done")

    @property
    def text(self):
        return self.page.locator("textarea").input_value()

    @text.setter
    def text(self, text):
        self.page.locator("textarea").fill(text)

    def digest(self):
        return self.page.locator("#digest").inner_text()

    def slide(self, name, value):
        self.page.locator(f"#{name}").evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }",
            value,
        )


def native(text, folder):
    """The digest that this text has at the command line."""
    file = folder / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    return ackclock.run(Scenario.load(file).set("record", "none")).summary["digest"]


@pytest.fixture(scope="module")
def shared(browser, place):
    page = Opened(browser, place)
    page.first = page.text
    yield page
    page.close()


@pytest.fixture
def opened(shared):
    """A page that tests share, with the scenario that it begins with."""
    if shared.text != shared.first:
        shared.text = shared.first
        shared.wait()
    shared.page.locator("textarea").blur()
    return shared


def test_the_first_screen_has_run_and_says_who_wins(opened, tmp_path):
    assert "BBR gets" in opened.page.locator("#verdict").inner_text()
    assert opened.digest() == native(opened.text, tmp_path)
    for panel in PANELS:
        inked = opened.page.locator(f"#panel-{panel} canvas").evaluate(
            "c => new Set(new Uint32Array(c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data.buffer)).size"
        )
        assert inked > 10, panel


def test_controls_change_the_text_and_run_it(opened, tmp_path):
    before = opened.digest()
    opened.slide("rate", 2)  # the logarithm to base 2
    opened.wait()
    assert "rate: 4 Mbps, delay: 18 ms" in opened.text
    assert opened.digest() == native(opened.text, tmp_path) != before
    opened.slide("loss", 7)
    opened.slide("buffer", 1)
    opened.wait()
    assert "loss: {kind: bernoulli, p: 0.01}" in opened.text
    assert "limit: 2 BDP" in opened.text
    assert opened.digest() == native(opened.text, tmp_path)
    opened.page.locator("#cc-bbr").select_option("reno")
    opened.wait()
    assert "tcp: {cc: reno}" in opened.text
    assert "Reno" in opened.page.locator(".results").inner_text()


def test_an_error_stands_on_its_line_until_it_is_gone(opened):
    good = opened.text
    opened.text = good.replace("10 Mbps, delay", "10 Mbpz, delay")
    opened.wait()
    wrong = opened.page.locator(".behind .wrong")
    number = good.split("\n").index(next(x for x in good.split("\n") if "10 Mbps, d" in x))
    assert opened.page.locator(".behind .line").nth(number).get_attribute("class") == "line wrong"
    assert "unknown unit `Mbpz`" in wrong.inner_text()
    assert "did you mean `10 Mbps`?" in opened.page.locator(".problems").inner_text()
    assert f"Line {number + 1}" in opened.page.locator("#status").inner_text()
    opened.page.locator(".problem").click()
    chosen = "t => t.value.slice(t.selectionStart, t.selectionEnd)"
    assert opened.page.locator("textarea").evaluate(chosen) == "10 Mbpz"
    opened.text = good
    opened.wait()
    assert opened.page.locator(".behind .wrong, .problems li").count() == 0


def test_stop_ends_a_run_and_shows_what_there_is(opened):
    opened.text = opened.text.replace("at_latest: 20 s", "at_latest: 5000 s")
    opened.page.wait_for_function(
        "() => document.getElementById('status').textContent.includes(' of ')"
    )
    opened.page.get_by_role("button", name="Stop").click()
    opened.wait()
    words = opened.page.locator("#status").inner_text()
    assert words.startswith("Stopped at ")
    assert 0 < float(words.removeprefix("Stopped at ").removesuffix(" s.")) < 5000
    assert "gets" in opened.page.locator("#verdict").inner_text()


def test_a_newer_text_replaces_a_run_that_goes_on(opened, tmp_path):
    good = opened.text
    opened.text = good.replace("at_latest: 20 s", "at_latest: 5000 s")
    opened.page.wait_for_function(
        "() => document.getElementById('status').textContent.includes(' of ')"
    )
    opened.text = good.replace("at_latest: 20 s", "at_latest: 3 s")
    opened.wait()
    assert opened.digest() == native(opened.text, tmp_path)


def test_packets_move_and_events_have_rules(opened):
    page = opened.page
    for _ in range(40):
        page.keyboard.press("n")
        if "CUBIC: decrease 0.7" in page.locator(".event-card").inner_text():
            break
    card = page.locator(".event-card").inner_text()
    assert "Recovery begins" in card
    assert "RFC 9438 4.6" in card
    painted = page.evaluate("window.ackclockReport.painted()")
    assert painted["waiting"] > 20
    assert painted["moving"] > 3
    clock = page.locator(".player .now")
    before = clock.inner_text()
    page.keyboard.press(" ")
    page.wait_for_timeout(600)
    page.keyboard.press(" ")
    assert clock.inner_text() != before


@pytest.mark.parametrize("name", ["caltech/test-case-0-fast", "shapes/parking-lot", "queues/pie"])
def test_scenarios_of_the_gallery_run_with_their_digests(opened, name):
    opened.page.locator("#gallery").select_option(name)
    opened.wait()
    assert opened.digest() == digests.golden()[name]
    assert opened.page.locator("#question").inner_text()
    assert opened.page.locator("#rate").is_visible()


def test_a_link_holds_the_scenario(browser, place, opened):
    opened.slide("rate", 3)
    opened.wait()
    opened.page.get_by_role("button", name="Share").click()
    opened.page.wait_for_function("() => location.hash.length > 20")
    fragment = opened.page.evaluate("location.hash")
    other = Opened(browser, place, fragment=fragment)
    assert other.text == opened.text
    assert other.digest() == opened.digest()
    other.close()
    damaged = Opened(browser, place, fragment="#s=AAAA")
    assert "BBR gets" in damaged.page.locator("#verdict").inner_text()
    damaged.close()


def test_the_reader_is_the_congestion_control(opened):
    page = opened.page
    page.get_by_role("button", name="You are the congestion control").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_function(
        "() => parseFloat(document.querySelector('.game .now').textContent) > 0.5"
    )
    slow = float(page.locator("#game-goodput").inner_text().split()[0])
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert page.locator("#window").input_value() == "31"
    page.wait_for_function(
        "() => parseFloat(document.querySelector('.game .now').textContent) > 1.8"
    )
    assert float(page.locator("#game-goodput").inner_text().split()[0]) > 1.3 * slow
    assert float(page.locator("#game-score").inner_text()) > 10
    page.wait_for_function("() => document.getElementById('game-share').textContent !== '–'")
    page.get_by_role("button", name="Stop").click()
    stopped = page.locator(".game .now").inner_text()
    page.wait_for_timeout(200)
    assert page.locator(".game .now").inner_text() == stopped
    page.get_by_role("button", name="Experiment").click()
    opened.wait()
    assert page.locator("#verdict").is_visible()


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_fits_the_screen_and_follows_the_look(browser, place, width, scheme):
    opened = Opened(browser, place, width=width, color_scheme=scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    color = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    dark = opened.page.evaluate(color) != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    opened.page.get_by_role("button", name="You are").click()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.slide("window", 160)
    too_long = """() => [...document.querySelectorAll('.game output')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.textContent)"""
    assert opened.page.evaluate(too_long) == []
    opened.close()
