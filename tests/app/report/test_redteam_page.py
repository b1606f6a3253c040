"""The page on the red team: whole, offline, the same from the same content."""

from dataclasses import replace

import pytest

from app.report.made import OutlineDraw
from app.report.page import parsed_page
from app.report.redteam_made import content_of
from flopwitness.app.report.redteam_page import redteam_plates, render_redteam
from flopwitness.app.svg import inline_svg


def test_the_experiments_figures_are_there_and_ours():
    """Frontiers, movements of the experiment's attacks and of all, jobs, responses."""
    assert [plate.ident for plate in redteam_plates(content_of())] == [
        "frontier-fused",
        "frontier-mlp",
        "moved-experiment",
        "moved-all",
        "jobs",
        "responses-experiment",
        "responses-others",
    ]


def test_figures_without_data_are_left_out():
    """No attack on the detector, none of the experiment's: no empty frames."""
    content = content_of()
    (_, fp8) = content.scoring.attacks
    effects = tuple(one for one in content.scoring.effects if one.attack == "fp8")
    only = replace(content, lanes=(), scoring=replace(content.scoring, attacks=(fp8,), effects=effects))

    idents = [plate.ident for plate in redteam_plates(only)]

    assert idents == ["frontier-fused", "frontier-mlp", "moved-all", "responses-others"]


def test_the_page_is_well_formed_needs_no_network_and_links_to_itself():
    """One file for light and dark; every link leads to something on it."""
    html = render_redteam(content_of(), draw=inline_svg)

    page = parsed_page(html)
    idents = {one.attributes.get("id") for tag in ("section", "figure") for one in page.all(tag)}
    links = [one.attributes["href"] for one in page.all("nav")[0].all("a")]
    assert page.all("script") == page.all("img") == page.all("link") == []
    assert "http" not in html.replace("http-equiv", "")
    assert "prefers-color-scheme: dark" in html
    assert {link[1:] for link in links} <= idents
    assert [one.text for one in page.all("h1")] == ["Under attack"]
    assert len(page.all("svg")) == 7


def test_the_page_says_what_it_rests_on():
    """The frozen calibration's data, the benign runs, what was left out, the digest of the samples."""
    text = " ".join(parsed_page(render_redteam(content_of(), draw=OutlineDraw())).text.split())

    for words in ("frozen on benign-a", "band is of 12 runs", "Left out: 3 runs of x: y", "ab" * 32):
        assert words in text


def test_the_same_content_gives_the_same_page_and_text_stays_text():
    """No date, no chance; a name cannot become markup."""
    first, second = (render_redteam(content_of(), draw=inline_svg) for _ in range(2))
    hostile = render_redteam(content_of(title="<script>x</script>"), draw=OutlineDraw())

    assert first == second
    assert "<script>" not in hostile


@pytest.mark.parametrize("unscored", [("linear-power",), ()])
def test_methods_that_were_not_asked_have_no_table(unscored: tuple[str, ...]):
    """A calibration need not hold all of them."""
    content = content_of()
    few = replace(content, scoring=replace(content.scoring, methods=unscored))

    html = render_redteam(few, draw=OutlineDraw())

    assert html.count("by attack family, one score a setting") == len(unscored) * 2
