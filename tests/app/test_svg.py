"""Drawings live inside a page: no address, no colour of their own, no name that another one has."""

import re
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from flopwitness.app.report.canvas import blank_figure, style
from flopwitness.app.report.palette import INK, SERIES
from flopwitness.app.svg import inline_svg


def drawn(ident: str = "one", label: str = "A drawing", *, text: str = "words", url: str = "#row-1") -> str:
    """Return a drawing with a line, a text and a dot that is a link."""
    figure = blank_figure(ident, label, width_inches=2, height_inches=1)
    axes = figure.add_subplot()
    style(axes, x_label="Time (s)", y_label="Power (W)")
    axes.plot([0, 1], [0, 1 / 3], color=SERIES[0])
    axes.text(0.5, 0.1, text, color=INK)
    axes.scatter([0.5], [0.2], color=SERIES[1]).set_urls([url])
    return inline_svg(figure)


def read(svg: str) -> ET.Element:
    """Return the element of a drawing."""
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


@pytest.fixture
def root() -> ET.Element:
    """Return the drawing, read."""
    return read(drawn())


def test_a_drawing_is_one_element_without_addresses():
    """No declaration, no document type, no name space, no metadata: the page gives all of these."""
    svg = drawn()

    assert svg.startswith("<svg ")
    assert svg.endswith("</svg>")
    assert re.findall(r"http|xmlns|xlink|metadata|<style|<\?|<!", svg) == []


def test_colours_are_those_of_the_page():
    """Every stand-in became a variable; no other colour is left."""
    svg = drawn()

    assert {"var(--ink)", "var(--grid)", "var(--c1)", "var(--c2)"} <= set(re.findall(r"var\(--\w+\)", svg))
    assert re.findall(r"#[0-9a-fA-F]{6}", svg) == []


def test_letters_stay_letters(root: ET.Element):
    """They can be searched, copied and read aloud, in the fonts of the page."""
    texts = [element.text for element in root.iter("text")]

    assert "words" in texts
    assert "Power (W)" in texts
    assert "font-family" not in ET.tostring(root, encoding="unicode")


def test_names_inside_do_not_meet_those_of_another_drawing():
    """Two equal figures on one page would otherwise cut each other's lines."""
    names = [set(re.findall(r'id="([^"]+)"', drawn(ident))) for ident in ("one", "two")]

    assert names[0] & names[1] == set()


def test_references_inside_lead_somewhere(root: ET.Element):
    """Names were changed together with what points to them; a link out of the drawing was not."""
    names = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    text = ET.tostring(root, encoding="unicode")
    used = {element.attrib["href"] for element in root.iter("use")}

    assert {f"#{name}" for name in names} >= used
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= names
    assert [element.attrib["href"] for element in root.iter("a")] == ["#row-1"]


def test_links_stay_on_the_page_and_out_of_the_way_of_a_keyboard(root: ET.Element):
    """They open no window; the table that they lead to holds the same rows."""
    (link,) = root.iter("a")

    assert "target" not in link.attrib
    assert link.attrib["tabindex"] == "-1"


def test_a_drawing_says_what_it_is():
    """To a screen reader, whatever the name holds."""
    root = read(drawn(label='<b> & "quotes"'))

    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == '<b> & "quotes"'


def test_the_same_figure_gives_the_same_text():
    """Nothing of today, of this machine or of the drawing before is in it."""
    assert drawn() == drawn()


def test_coordinates_are_short(root: ET.Element):
    """A hundredth of a point is finer than any screen."""
    geometry = " ".join(
        value for element in root.iter() for name, value in element.attrib.items() if name in "dxy"
    )

    assert re.findall(r"\.\d{3,}", geometry) == []


def test_letters_that_the_measuring_font_lacks_are_no_warning():
    """The page's own fonts draw them."""
    assert "訓練" in drawn(text="訓練")


def test_a_figure_without_a_name_can_be_drawn():
    """It is called a figure."""
    assert inline_svg(Figure(figsize=(1, 1))).startswith("<svg ")


def test_hatches_follow_the_page():
    """The ground of a pattern is an attribute, which cannot hold a variable, so it becomes a style."""
    figure = blank_figure("one", "A drawing", width_inches=2, height_inches=1)
    figure.add_subplot().bar([0], [1], facecolor=SERIES[3], edgecolor=INK, hatch="//")

    grounds = [
        one.attrib for pattern in read(inline_svg(figure)).iter("pattern") for one in pattern.iter("rect")
    ]

    assert [one["style"] for one in grounds] == ["fill: var(--c4)"]
    assert "fill" not in grounds[0]
