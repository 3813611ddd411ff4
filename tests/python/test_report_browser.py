"""A report in a browser: Chromium as the system has it, driven by playwright.

Without one of them these tests are skipped; `make browser` installs both.
"""

import pages
import pytest
from report_runs import scenario

import ackclock
from ackclock import report

pytestmark = pages.MARKS
PANELS = ("rate", "window", "rtt", "queue", "flight", "load")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    results = ackclock.run(scenario(8), directory=folder / "five")
    return report.write([results], folder / "report.html")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    runs = [
        ackclock.run(
            scenario(4).set("links.bottleneck.rate", f"{rate} Mbps"), directory=folder / f"r{rate}"
        )
        for rate in (5, 10)
    ]
    return report.write(runs, folder / "two.html")


class Opened(pages.Opened):
    """A report."""

    def spans(self):
        """The span of time that each chart shows, as its x axis has it."""
        return self.page.evaluate("window.ackclockReport.spans()")

    def drag(self, panel, begin, end):
        box = self.page.locator(f"#panel-{panel} .u-over").first.bounding_box()
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + begin * box["width"], y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + end * box["width"], y, steps=4)
        self.page.mouse.up()

    def time(self):
        return float(self.page.locator(".player .now").inner_text().split()[0])


@pytest.fixture(scope="module")
def shared(browser, place):
    """A page for tests that leave it as they found it, or look at nothing that others change."""
    page = Opened(browser, place)
    yield page
    page.close()


@pytest.fixture
def opened(browser, place):
    """A page of its own."""
    page = Opened(browser, place)
    yield page
    page.close()


def test_all_panels_are_drawn(shared):
    for panel in PANELS:
        canvas = shared.page.locator(f"#panel-{panel} canvas")
        inked = canvas.evaluate(
            "c => new Set(new Uint32Array(c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data.buffer)).size"
        )
        assert inked > 10, panel


def test_a_drag_zooms_all_panels_alike_and_escape_resets(shared):
    whole = shared.spans()
    assert len(whole) == len(PANELS)
    shared.drag("window", 0.25, 0.5)
    zoomed = shared.spans()
    assert len({tuple(span) for span in zoomed}) == 1
    assert zoomed[0] == pytest.approx([2.0, 4.0], abs=0.05)
    shared.page.keyboard.press("Escape")
    assert shared.spans() == whole
    shared.drag("queue", 0.5, 0.75)
    assert shared.spans()[0] == pytest.approx([4.0, 6.0], abs=0.05)
    shared.page.locator("#panel-rate .u-over").dblclick()
    assert shared.spans() == whole


def test_a_zoom_shows_finer_data(shared):
    points = "window.ackclockReport.points('rtt')"
    shared.drag("rtt", 0.5, 0.52)
    near = shared.page.evaluate(points)
    assert near > 20
    shared.page.keyboard.press("Escape")
    assert shared.page.evaluate(points) > near


def test_the_keyboard_zooms_moves_and_steps(opened):
    keys = opened.page.keyboard
    keys.press("n")
    first = opened.time()
    keys.press("n")
    assert opened.time() > first
    keys.press("p")
    assert opened.time() == first
    keys.press("+")
    assert opened.spans()[0][1] - opened.spans()[0][0] == pytest.approx(4.0)
    keys.press("-")
    assert opened.spans()[0] == pytest.approx([0, 8])
    keys.press("ArrowRight")
    assert opened.time() == pytest.approx(first + 0.08, abs=1e-3)
    assert opened.page.locator(".chip").first.get_attribute("aria-pressed") == "true"
    opened.page.locator(".chip").first.focus()
    keys.press("Enter")
    assert opened.page.locator(".chip").first.get_attribute("aria-pressed") == "false"


def test_stepping_and_the_pointer_show_the_rule(opened):
    card = opened.page.locator("[aria-live]")
    for _ in range(40):
        opened.page.keyboard.press("n")
        if "CUBIC" in card.inner_text():
            break
    assert "Recovery begins" in card.inner_text()
    assert "RFC 9438 4.6" in card.inner_text()
    assert "ssthresh 60 → 71" in card.inner_text()
    # The pointer on this mark shows its rule.
    begin, end = opened.spans()[0]
    box = opened.page.locator("#panel-window .u-over").bounding_box()
    share = (opened.time() - begin) / (end - begin)
    opened.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    tip = opened.page.locator("[role=tooltip]")
    assert tip.is_visible()
    assert "Rule" in tip.inner_text()
    assert "cwnd" in tip.inner_text()
    opened.page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_the_animation_advances_and_pauses(opened):
    opened.page.keyboard.press(" ")
    opened.page.wait_for_timeout(700)
    opened.page.keyboard.press(" ")
    stopped = opened.time()
    assert stopped > 0
    opened.page.wait_for_timeout(300)
    assert opened.time() == stopped
    assert opened.page.get_by_role("button", name="Play").is_visible()
    picture = opened.page.locator(".picture canvas")
    shown = picture.evaluate("c => c.toDataURL()")
    opened.page.keyboard.press("ArrowRight")
    assert picture.evaluate("c => c.toDataURL()") != shown


def test_queues_fill_and_packets_are_lost_in_the_picture(opened):
    counts = "window.ackclockReport.painted()"
    opened.page.keyboard.press("n")  # the first loss
    painted = opened.page.evaluate(counts)
    assert painted["waiting"] >= 59
    assert painted["moving"] > 10
    assert painted["falling"] > 0


def test_links_without_traffic_are_hidden_until_asked_for(shared):
    legend = shared.page.locator("#panel-load .legend")
    shown = legend.locator(".chip:visible").count()
    assert shown == 1
    legend.get_by_role("button", name="more").click()
    assert legend.locator(".chip:visible").count() > 10


def test_a_link_is_loaded_by_what_it_could_carry_at_that_time(browser, tmp_path):
    steps = [{"at": "0 s", "rate": "10 Mbps"}, {"at": "2.0013 s", "rate": "2 Mbps"}]
    rule = {"kind": "table", "steps": steps}
    made = scenario(4).set("links.bottleneck.rate", rule).set("warmup", "1 s")
    page = Opened(browser, report.write(ackclock.run(made), tmp_path / "report.html"))
    # The axis leaves room above the highest value, 100 %, which it was at both rates.
    (load,) = page.page.evaluate("window.ackclockReport.heights()")[PANELS.index("load")]
    assert load == pytest.approx(112)
    page.close()


def test_a_logarithmic_axis(shared):
    button = shared.page.locator("#panel-rtt").get_by_role("button", name="log")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert len(shared.spans()) == len(PANELS)
    button.click()
    assert button.get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize(
    ("scheme", "ground"), [("dark", "rgb(20, 24, 29)"), ("light", "rgb(255, 255, 255)")]
)
def test_the_look_follows_the_system_and_the_button(browser, place, scheme, ground):
    opened = Opened(browser, place, color_scheme=scheme)
    color = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    assert opened.page.evaluate(color) == ground
    opened.page.get_by_role("button", name="Light or dark").click()
    assert opened.page.evaluate(color) != ground
    opened.close()


def test_two_runs_share_axes_and_can_lie_above_each_other(browser, two):
    opened = Opened(browser, two)
    assert len(opened.spans()) == 2 * len(PANELS)
    opened.drag("rate", 0.2, 0.6)
    assert len({tuple(span) for span in opened.spans()}) == 1
    scales = opened.page.evaluate("window.ackclockReport.heights()")
    assert all(one == other for one, other in scales)
    opened.page.get_by_role("button", name="Overlay").click()
    assert len(opened.spans()) == len(PANELS)
    assert "F1 · r5" in opened.page.locator("#panel-rate .legend").inner_text()
    opened.close()


def test_less_motion_moves_in_steps_and_lets_nothing_fall(browser, place):
    opened = Opened(browser, place, reduced_motion="reduce")
    opened.page.keyboard.press("n")
    assert opened.page.evaluate("window.ackclockReport.painted()")["falling"] == 0
    begin = opened.time()
    opened.page.keyboard.press(" ")
    opened.page.wait_for_timeout(700)
    opened.page.keyboard.press(" ")
    assert opened.time() > begin
    opened.close()


def test_it_prints_light_without_controls(browser, place):
    opened = Opened(browser, place, color_scheme="dark")
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".player").is_hidden()
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
    opened.close()


def test_it_fits_narrow_screens(opened):
    opened.page.set_viewport_size({"width": 800, "height": 900})
    opened.page.wait_for_timeout(200)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 800
