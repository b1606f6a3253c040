"""Documents keep their promises: decisions, changes, links and the README's first lines."""

import re
from collections.abc import Iterator
from pathlib import Path

from source_tree import ROOT, shown

ADR_SECTIONS = ["Context", "Options", "Decision", "Cost"]
ADR_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
MAX_ADR_LINES = 60
"""One page."""

FRAGMENT_NAME = re.compile(r"\d+\.(added|changed|fixed|removed)\.md")
LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:|#)([^)#\s]+)")

TOP_FOLDERS = (
    "src",
    "tests",
    "docs",
    "datasets",
    "benchmarks",
    "requirements",
    "deploy",
    "changelog.d",
    ".ci",
    ".github",
)
TEXT_ENDINGS = frozenset(
    {".py", ".md", ".toml", ".txt", ".json", ".yml", ".yaml", ".csv", ".svg", ".html", ""}
)

FORBIDDEN = (
    re.compile(r"(?<![\w.])/(?:work|opt|root|home|Users)/"),
    re.compile("shared" + "/(?:reference|design|data|seed)"),
    re.compile(r"\b(?:py" + r"pi\.org|python" + r"hosted\.org|index" + "-url|find" + "-links)"),
)
"""Paths of a machine, material that is not shipped, hosts of package registries."""


def test_decisions_are_numbered_without_holes():
    """A decision is found by its number; none is deleted, it is superseded."""
    names = [path.name for path in decisions()]
    numbers = [int(match[1]) for name in names if (match := ADR_NAME.fullmatch(name))]

    assert numbers == list(range(1, len(names) + 1))


def test_every_decision_says_what_it_costs():
    """Context, options, decision, cost: in this order, each with text, on one page."""
    for path in decisions():
        text = path.read_text(encoding="utf-8")
        parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)

        assert parts[1::2] == ADR_SECTIONS, shown(path)
        assert all(part.strip() for part in parts[2::2]), shown(path)
        assert text.startswith(f"# {int(path.name[:4])}. "), shown(path)
        assert len(text.splitlines()) <= MAX_ADR_LINES, shown(path)


def test_change_fragments_are_named_after_issue_and_kind():
    """``<issue>.<added|changed|fixed|removed>.md``, with a sentence inside."""
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if not path.name.startswith(".")]

    assert [path.name for path in fragments if not FRAGMENT_NAME.fullmatch(path.name)] == []
    assert [path.name for path in fragments if not path.read_text(encoding="utf-8").strip()] == []


def test_the_readme_starts_with_the_two_commands():
    """The first lines of code that a reader meets are the demo and the tests."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    title, _, rest = readme.partition("\n")
    block = re.match(r"\s*```\w*\n(.*?)```", rest, flags=re.DOTALL)

    assert title == "# flopwitness"
    assert block is not None
    assert block[1].splitlines() == ["make demo", "make test"]


def test_links_between_documents_lead_somewhere():
    """A relative link names a file or folder that is there."""
    broken = [
        f"{shown(path)} -> {target}"
        for path in texts()
        if path.suffix == ".md"
        for target in LINK.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]

    assert broken == []


def test_nothing_tells_of_the_machine_it_was_made_on():
    """No path of a machine, no material that is not shipped, no registry host."""
    told = [
        f"{shown(path, number)} {match[0]}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for word in FORBIDDEN
        if (match := word.search(line))
    ]

    assert told == []


def decisions() -> list[Path]:
    """Return the decision records in the order of their names."""
    return sorted((ROOT / "docs" / "adr").glob("*.md"))


def texts() -> Iterator[Path]:
    """Yield every text file that belongs to the project, generated and hidden ones left out."""
    top = [path for path in ROOT.iterdir() if path.is_file() and path.name not in {".coverage", ".git"}]
    inner = [path for folder in TOP_FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    for path in (*top, *inner):
        if path.is_file() and path.suffix in TEXT_ENDINGS and "__pycache__" not in path.parts:
            yield path
