"""The whole page: complete in itself, readable without eyes, and saying nothing that its content does not."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.report.made import (
    OutlineDraw,
    calibration_of,
    content_of,
    estimate_of,
    evaluation_of,
    recording_of,
    result_of,
)
from app.report.page import Element, parsed_page
from flopwitness.app.report.content import ReportContent, SessionResult
from flopwitness.app.report.palette import DARK, LIGHT
from flopwitness.app.report.render import render_report
from flopwitness.app.svg import inline_svg
from flopwitness.core.workload import Target
from flopwitness.estimate.methods import METHODS
from flopwitness.evaluate.protocols import Protocol
from flopwitness.storage.datasets import read_dataset

DATASET = Path(__file__).parents[3] / "datasets" / "h200x2-a"
HOSTILE = "<script>alert('1')</script>&\"$x$"


def rendered(content: ReportContent, *, seed: int = 0) -> str:
    """Return the page with its drawings."""
    return render_report(content, draw=inline_svg, rng=np.random.default_rng(seed))


@pytest.fixture(scope="module")
def page() -> str:
    """Return a page with something in every section."""
    return rendered(content_of())


@pytest.fixture(scope="module")
def tree(page: str) -> Element:
    """Return the same page, read."""
    return parsed_page(page)


def test_the_page_needs_no_network(page: str):
    """It names no address, loads nothing and runs nothing: an auditor opens it offline, years later."""
    assert re.findall(r"https?://|//\w+\.|@import|<script|<link|<img|\bsrc=", page) == []
    assert set(re.findall(r"url\((.)", page)) == {"#"}


def test_every_link_leads_to_a_place_on_the_page(tree: Element):
    """A dot leads to the row of its workload; no link leads nowhere, and no name occurs twice."""
    everything = [one for child in tree.children for one in flat(child)]
    idents = [one.attributes["id"] for one in everything if "id" in one.attributes]
    links = {one.attributes["href"] for one in everything if "href" in one.attributes}

    assert len(idents) == len(set(idents))
    assert links <= {f"#{ident}" for ident in idents}
    assert "#workload-algorithmic-random-0" in links


def test_every_table_says_what_it_is(tree: Element):
    """A caption, headings with a scope, and as many cells a row as there are columns."""
    for table in tree.all("table"):
        columns = [head for head in table.all("th") if head.attributes["scope"] == "col"]
        rows = [row for body in table.all("tbody") for row in body.all("tr")]
        widths = {len(row.children) for row in rows if row.children[0].attributes["scope"] == "row"}

        assert table.children[0].tag == "caption"
        assert table.children[0].text.strip()
        assert widths <= {len(columns)}


def test_every_figure_has_words(tree: Element):
    """A caption to read, and a name that a screen reader says."""
    figures = tree.all("figure")

    assert len(figures) == 7
    for figure in figures:
        (drawing,) = figure.all("svg")
        assert figure.all("figcaption")[0].text.startswith("Figure ")
        assert drawing.attributes["role"] == "img"
        assert drawing.attributes["aria-label"]


def test_figures_are_numbered_in_the_order_of_the_page(tree: Element):
    """Figure 1 comes first, and no number is left out."""
    numbers = [re.search(r"\d+", figure.all("figcaption")[0].text)[0] for figure in tree.all("figure")]

    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


def test_headings_form_an_outline(tree: Element):
    """One title; a section heading for every entry of the list of sections."""
    sections = [section.attributes["id"] for section in tree.all("section")]
    listed = [link.attributes["href"] for link in tree.all("nav")[0].all("a")]

    assert [one.text for one in tree.all("h1")] == ["A report"]
    assert all(section.children[0].tag == "h2" for section in tree.all("section"))
    assert listed == [f"#{ident}" for ident in sections]


def test_the_page_follows_light_and_dark(page: str):
    """Both sets of colours are there under the same names; figures use names alone."""
    for name, colour in LIGHT.items():
        assert f"--{name}: {colour};" in page
        assert f"--{name}: {DARK[name]};" in page
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert "@media (prefers-color-scheme: dark)" in page
    assert re.findall(r"#[0-9a-f]{6}\b", drawings) == []


def test_the_same_content_gives_the_same_page(page: str):
    """A report can be compared byte by byte with one made again."""
    assert rendered(content_of()) == page


def test_a_page_of_nothing_says_so_in_sentences():
    """Nothing evaluated, recorded, found or calibrated: plain sentences, no empty table, no figure."""
    tree = parsed_page(rendered(ReportContent("Nothing yet")))

    text = " ".join(tree.text.split())
    assert tree.all("figure") == []
    assert tree.all("table") == []
    for sentence in (
        "No estimator was evaluated",
        "No evaluation was run.",
        "No calibration was given.",
        "No recording was given.",
        "Nothing was found that lowers the trust in the evidence.",
        "No dataset is named.",
    ):
        assert sentence in text


def test_none_found_and_none_sought_are_told_apart():
    """A recording without sessions is not the same as one that nobody searched."""
    searched, unsearched = recording_of("a"), recording_of("b")
    content = ReportContent("Two", recordings=(searched, unsearched), sessions={"a": ()})

    page = render_report(content, draw=OutlineDraw(), rng=np.random.default_rng(0))

    assert page.count("No session was found in this recording.") == 1
    assert page.count("This recording was not searched for sessions.") == 1


def test_a_recording_that_was_calibrated_on_is_named_so():
    """Errors of its sessions say little; by name or by digest, the reader is told."""
    warning = "The calibration was fitted on this recording."
    recording = recording_of("node-a")
    result = result_of(recording, estimates=[estimate_of(1e15)])
    content = ReportContent("One", recordings=(recording,), sessions={"node-a": (result,)})
    calibrations = {
        "by name": calibration_of(**{"node-a": ""}),
        "by digest": calibration_of(other="ab" * 32),
        "elsewhere": calibration_of(other="cd" * 32),
    }

    pages = {
        how: render_report(
            replace(content, calibration=one), draw=OutlineDraw(), rng=np.random.default_rng(0)
        )
        for how, one in calibrations.items()
    }

    told = {how: warning in page for how, page in pages.items()}
    assert told == {"by name": True, "by digest": True, "elsewhere": False}


def test_hostile_names_are_shown_not_run():
    """Names come from files of strangers; they are text wherever they stand, figures included."""
    tree = parsed_page(rendered(content_of(HOSTILE, title=HOSTILE)))

    assert tree.all("script") == []
    assert tree.all("h1")[0].text == HOSTILE
    assert any(HOSTILE in figure.text for figure in tree.all("figcaption"))
    assert any(HOSTILE in text.text for text in tree.all("text"))


def test_control_characters_in_names_do_not_break_the_drawing():
    """A name with a control character is drawn with a stand-in."""
    page = rendered(content_of("node\x00\x1b"))

    assert "node\N{REPLACEMENT CHARACTER}" in page


def test_an_evaluation_without_estimators_shows_nothing():
    """There is nothing to sum up, and nothing to fail on."""
    evaluation = evaluation_of({})
    content = ReportContent("Empty", evaluations={(Protocol.RANDOM, Target.ALGORITHMIC): evaluation})

    assert "No evaluation was run." in rendered(content)


def test_a_page_of_a_real_capture_stays_small():
    """Seventy runs on two devices for eight minutes: less than 6 MB, no figure above 400 kB."""
    dataset = read_dataset(DATASET)
    name = dataset.recording.name
    content = ReportContent(
        "A capture",
        evaluations={(Protocol.RANDOM, Target.ALGORITHMIC): evaluation_of()},
        recordings=(dataset.recording,),
        sessions={
            name: tuple(
                SessionResult(
                    dataset.session(run),
                    {
                        target: {
                            method: estimate_of(run.truth.flop(target), method=method, target=target)
                            for method in METHODS
                        }
                        for target in Target
                    },
                    {target: run.truth.flop(target) for target in Target},
                )
                for run in dataset.runs
            )
        },
    )

    page = rendered(content)

    assert len(page.encode()) < 6_000_000
    assert max(len(svg) for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)) < 400_000
    assert all(run.config.name in page for run in dataset.runs)


def flat(element: Element) -> list[Element]:
    """Return an element and everything inside it."""
    return [element] + [one for child in element.children for one in flat(child)]
