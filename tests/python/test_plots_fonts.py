"""Names in scripts that the font of figures lacks."""

import logging

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from ackclock.plots import fonts, saving, text

AMHARIC = "\u1200\u1201"


@pytest.fixture
def figure():
    drawn = Figure()
    drawn.text(0.1, 0.1, "plain")
    drawn.text(0.1, 0.5, f"{AMHARIC} ä\nß → 3")
    return drawn


@pytest.fixture(autouse=True)
def forgotten():
    yield
    fonts._families.cache_clear()


def families(drawn):
    return [painted.get_fontfamily() for painted in drawn.texts]


def test_texts_have_fonts_with_their_characters(figure, tmp_path, monkeypatch, caplog):
    has = {"DejaVu Serif": {AMHARIC[0]}, "Sans A": set(AMHARIC), "Serif": set(AMHARIC)}
    monkeypatch.setattr(fonts, "_found", lambda characters: {n: has[n] for n in sorted(has)})
    saving.save(figure, tmp_path / "a.svg", "A")
    plain = mpl.rcParams["font.family"]
    assert families(figure) == [plain, ["sans-serif", "Sans A"]]
    assert caplog.text == ""


@pytest.mark.slow
def test_boxes_are_named_once(figure, tmp_path, monkeypatch, caplog):
    # pytest makes errors of matplotlib's warnings.
    monkeypatch.setattr(fonts, "_found", lambda characters: {"DejaVu Sans": set()})
    with caplog.at_level(logging.WARNING):
        for kind in saving.FORMATS:
            saving.save(figure, tmp_path / f"a.{kind}", "A")
    (record,) = caplog.records
    assert "no font here has the characters \u1200 \u1201: in figures" in record.getMessage()
    assert logging.getLogger("matplotlib.font_manager").level == logging.NOTSET


def test_all_fonts_of_the_machine_can_be_asked():
    found = fonts._found("Aä")
    assert found["DejaVu Serif"] == {"A", "ä"}
    assert not any("Last Resort" in name for name in found)


def test_wide_characters_are_as_wide_as_they_are_high():
    assert text.width_mm("流量", 10) == pytest.approx(20 * text.MM_PER_POINT)
    assert 0 < text.width_mm(AMHARIC, 10) < text.width_mm("mm", 10) * 2
