"""The whole page on a scope: complete in itself, readable without eyes or colour, hiding no doubt."""

import re
from dataclasses import replace

import pytest

from app.report.made import OutlineDraw
from app.report.page import Element, parsed_page
from app.report.scope_made import account_of, scope_content_of
from flopwitness.app.report.palette import DARK, LIGHT
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_page import render_scope
from flopwitness.app.svg import inline_svg

HOSTILE = "<script>alert('1')</script>&\"$x$"


@pytest.fixture(scope="module")
def page() -> str:
    """Return a page with something in every section."""
    return render_scope(scope_content_of(), draw=inline_svg)


@pytest.fixture(scope="module")
def tree(page: str) -> Element:
    """Return the same page, read."""
    return parsed_page(page)


def flat(element: Element) -> list[Element]:
    """Return an element and everything inside it."""
    return [element] + [one for child in element.children for one in flat(child)]


def test_the_page_loads_nothing_and_runs_nothing(page: str):
    """A court opens it offline, years later; addresses of laws are links to follow, nothing else is."""
    assert re.findall(r"@import|<script|<link|<img|<iframe|<object|<form|\bsrc=|\bon\w+=", page) == []
    assert set(re.findall(r"url\((.)", page)) == {"#"}
    assert set(re.findall(r'href="(https?:[^"]*)"', page)) == {"https://example.org/51"}
    assert "default-src 'none'" in page
    assert 'href="javascript' not in page


def test_links_are_printed_in_full(tree: Element):
    """On paper a link is its address."""
    outside = [link for link in tree.all("a") if not link.attributes["href"].startswith("#")]

    assert outside
    assert all(link.text == link.attributes["href"] for link in outside)


def test_every_link_leads_to_a_place_on_the_page(tree: Element):
    """No name occurs twice."""
    everything = [one for child in tree.children for one in flat(child)]
    idents = [one.attributes["id"] for one in everything if "id" in one.attributes]
    links = {one.attributes["href"] for one in everything if one.attributes.get("href", "").startswith("#")}

    assert len(idents) == len(set(idents))
    assert links <= {f"#{ident}" for ident in idents}


def test_every_section_is_listed_and_has_a_heading(tree: Element):
    """One title, and an outline."""
    sections = [section.attributes["id"] for section in tree.all("section")]
    listed = [link.attributes["href"] for link in tree.all("nav")[0].all("a")]

    assert [one.text for one in tree.all("h1")] == ["A scope"]
    assert all(section.children[0].tag == "h2" for section in tree.all("section"))
    assert listed == [f"#{ident}" for ident in sections]


def test_every_figure_has_a_text_alternative_with_its_numbers(tree: Element):
    """More than its heading: what a reader with eyes takes from it."""
    figures = tree.all("figure")

    assert [one.attributes["id"] for one in figures] == ["amounts", "lanes", "growth"]
    for number, figure in enumerate(figures, start=1):
        (drawing,) = figure.all("svg")
        assert figure.all("figcaption")[0].text.startswith(f"Figure {number}. ")
        assert drawing.attributes["role"] == "img"
        assert re.search(r"\d", drawing.attributes["aria-label"])
        assert len(drawing.attributes["aria-label"]) > 100


def test_every_table_says_what_it_is(tree: Element):
    """A caption, and as many cells a row as there are columns."""
    for table in tree.all("table"):
        columns = [head for head in table.all("th") if head.attributes["scope"] == "col"]
        rows = [row for body in table.all("tbody") for row in body.all("tr")]

        assert table.children[0].tag == "caption"
        assert {len(row.children) for row in rows} <= {len(columns)}


def test_every_power_of_ten_has_its_unit(tree: Element):
    """FLOP beside it, in its sentence or in the heading of its column."""
    lone = [
        cell.text
        for table in tree.all("table")
        for row in [row for body in table.all("tbody") for row in body.all("tr")]
        for column, cell in zip(
            [one for one in table.all("th") if one.attributes["scope"] == "col"], row.children, strict=True
        )
        if re.search(r"10[⁰¹²³⁴⁵⁶⁷⁸⁹]", cell.text) and "FLOP" not in cell.text + column.text
    ]

    assert lone == []


def test_verdicts_are_words_and_shapes(tree: Element):
    """Colour alone carries nothing: the answer is a word in its own article, the shape is decoration."""
    verdicts = [one for one in tree.all("article") if one.attributes["class"].startswith("verdict")]

    answers = [one.all("strong")[0].text for one in verdicts]
    shapes = [one.all("span")[0] for one in verdicts]
    assert answers == ["Inconsistent.", "Undetermined.", "Below."]
    assert [one.text for one in shapes] == ["✕", "?", "▼"]
    assert all(one.attributes["aria-hidden"] == "true" for one in shapes)


def test_doubts_come_before_figures(tree: Element):
    """Nobody reaches a figure without them."""
    sections = [section.attributes["id"] for section in tree.all("section")]

    assert sections.index("doubts") < sections.index("total")
    assert len(tree.all("section")[sections.index("doubts")].all("li")) >= 9


def test_the_page_follows_light_dark_and_paper(page: str):
    """Both sets of colours under the same names; paper is light, A4, and cuts no row."""
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))

    assert all(f"--{name}: {DARK[name]};" in page and f"--{name}: {LIGHT[name]};" in page for name in LIGHT)
    assert re.findall(r"#[0-9a-f]{6}\b", drawings) == []
    assert "size: A4" in page
    assert "break-inside: avoid" in page


def test_the_same_content_gives_the_same_page(page: str):
    """No date and no chance."""
    assert render_scope(scope_content_of(), draw=inline_svg) == page


def test_hostile_names_are_shown_not_run():
    """Names come from files of strangers; they are text wherever they stand, figures included."""
    html = render_scope(scope_content_of(name=HOSTILE, title=HOSTILE), draw=inline_svg)

    tree = parsed_page(html)
    assert tree.all("script") == []
    assert tree.all("h1")[0].text == HOSTILE
    assert any(HOSTILE in text.text for text in tree.all("text"))
    assert any(HOSTILE in figure.attributes["aria-label"] for figure in tree.all("svg"))


def test_a_page_of_nothing_says_so_in_sentences():
    """Nothing seen, asked, proved or converted: plain sentences, and no table without rows."""
    content = ScopeContent("Nothing yet", replace(account_of((), ()), declared={}))

    tree = parsed_page(render_scope(content, draw=OutlineDraw()))

    text = " ".join(tree.text.split())
    for sentence in (
        "so nothing is decided here.",
        "no FLOP were observed",
        "that is no sign of idle time.",
        "No kind of evidence was weighed by itself.",
        "Nothing was converted",
        "No ledger proof was given.",
        "No digest of evidence was given",
        "No rule was asked about.",
    ):
        assert sentence in text
    assert all(body.all("tr") for table in tree.all("table") for body in table.all("tbody"))
