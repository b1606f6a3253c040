"""Files of thresholds: what a good one holds, and one clear line for each bad field."""

from datetime import date
from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.storage.rules import read_rules

HEAD = 'format = "flopwitness-rules"\nversion = 1\n'
FIELDS = {
    "name": '"own-limit"',
    "title": '"Our own limit"',
    "jurisdiction": '"us"',
    "flop": "1e21",
    "is_strict": "true",
    "convention": '"executed"',
    "measured": '"what ran"',
    "conditions": '["on weekdays"]',
    "status": '"in force"',
    "citation": '"house rules"',
}


def written(folder: Path, text: str) -> Path:
    """Write a file of rules."""
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def table(changed: dict[str, str | None] | None = None, *, kind: str = "threshold") -> str:
    """Return one table, some fields changed or left out."""
    fields = FIELDS | (changed or {})
    lines = [f"{name} = {value}" for name, value in fields.items() if value is not None]
    return "\n".join([f"[[{kind}]]", *lines, ""])


def test_a_file_holds_thresholds(tmp_path: Path) -> None:
    """Every field as written; an integer is a figure, too."""
    text = HEAD + table({"flop": str(10**21), "text_date": "2025-11-19", "url": '"https://example.org"'})

    (found,) = read_rules(written(tmp_path, text)).thresholds

    assert (found.name, found.flop, found.is_strict, found.convention) == (
        "own-limit",
        1e21,
        True,
        "executed",
    )
    assert (found.conditions, found.text_date) == (("on weekdays",), date(2025, 11, 19))


def test_what_was_not_said_to_be_read_was_not(tmp_path: Path) -> None:
    """Left out, a source is unverified and a date not recorded."""
    (found,) = read_rules(written(tmp_path, HEAD + table())).thresholds

    assert (found.is_verified, found.text_date, found.url) == (False, None, "")


def test_a_rule_may_lack_its_figure(tmp_path: Path) -> None:
    """It is listed, and nothing is invented for it."""
    lacking = dict.fromkeys(("flop", "is_strict", "convention", "conditions"))
    text = HEAD + table(lacking, kind="without_figure")

    found = read_rules(written(tmp_path, text))

    assert found.thresholds == ()
    assert [rule.name for rule in found.without_figure] == ["own-limit"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", '"Own Limit"'),
        ("name", "3"),
        ("title", '""'),
        ("title", '"  "'),
        ("jurisdiction", "1"),
        ("flop", "0"),
        ("flop", "-1e21"),
        ("flop", "nan"),
        ("flop", "inf"),
        ("flop", "true"),
        ("flop", '"1e21"'),
        ("flop", "1" + "0" * 400),
        ("is_strict", '"yes"'),
        ("is_strict", "1"),
        ("convention", '"EU"'),
        ("measured", "[]"),
        ("conditions", '"one"'),
        ("conditions", "[1]"),
        ("status", '""'),
        ("citation", '""'),
        ("url", "1"),
        ("text_date", '"2025-11-19"'),
        ("text_date", "2025-11-19T00:00:00"),
        ("is_verified", "0"),
    ],
)
def test_an_unfit_field_is_named(tmp_path: Path, field: str, value: str) -> None:
    """File, table, name of the rule and field stand in one line."""
    path = written(tmp_path, HEAD + table() + table({"name": '"second"'} | {field: value}))

    with pytest.raises(BadInputError) as caught:
        read_rules(path)

    said = str(caught.value)
    assert said.startswith(f"{path}: threshold 2")
    assert f"field '{field}'" in said
    assert ("(second)" in said) == (field != "name")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    """Nothing that a verdict needs is filled in."""
    path = written(tmp_path, HEAD + table({field: None}))

    with pytest.raises(BadInputError, match=rf"threshold 1.*field '{field}': expected .*, got none"):
        read_rules(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "field 'format'"),
        ("= 3", "expected TOML"),
        ('format = "flopwitness-rules"\nversion = 2\n', "field 'version'"),
        (HEAD, r"at least one \[\[threshold\]\]"),
        (HEAD + "threshold = 3", r"tables \[\[threshold\]\]"),
        (HEAD + "[threshold]\nname = 'x'", r"tables \[\[threshold\]\]"),
        (HEAD + "[[thresholds]]", "got 'thresholds'"),
        (HEAD + table({"flops": "1.0"}), "got field 'flops'"),
        (HEAD + table() + table(), "rule 'own-limit': expected a name of its own, got it twice"),
        (HEAD + table({"text_date": "2025-13-01"}), "expected TOML"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Another format, another version, nothing in it, or something that nobody knows."""
    with pytest.raises(BadInputError, match=message):
        read_rules(written(tmp_path, text))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(BadInputError, match=r"absent\.toml"):
        read_rules(tmp_path / "absent.toml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """TOML is UTF-8."""
    path = tmp_path / "own.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(BadInputError, match="expected TOML"):
        read_rules(path)
