"""``flopwitness rules``: lists, one in full, JSON."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli.rules import run
from flopwitness.app.rulebook import open_rulebook
from flopwitness.core.errors import BadInputError
from flopwitness.verify.conventions import CONVENTIONS


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Return the JSON lines that were printed."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_thresholds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Names, figures and sources."""
    run()

    out = capsys.readouterr().out
    assert "eu-systemic-risk" in out
    assert "> 1e+25" in out
    assert "not recorded" in out


def test_the_listing_is_json_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """One object a line; a figure that is not recorded is null, not zero."""
    run(json=True)

    found = {rule["name"]: rule for rule in lines(capsys)}
    book = open_rulebook()
    assert set(found) == {*book.thresholds, *book.without_figure}
    assert found["us-ai-diffusion"]["flop"] is None
    assert found["eu-general-purpose"]["text_date"] == "2025-11-19"
    assert found["eu-systemic-risk"]["text_date"] is None


def test_conventions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """What they count, what they convert, what can be declared."""
    run(conventions=True)

    out = capsys.readouterr().out
    for title in ("Conventions", "What counts", "Conversions", "Declared, never measured"):
        assert title in out


def test_conventions_are_json_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Conversions in their order, each with its factors and its source."""
    run(conventions=True, json=True)

    found = {convention["name"]: convention for convention in lines(capsys)}
    assert set(found) == set(CONVENTIONS)
    recomputation = next(
        one for one in found["eu-cumulative"]["conversions"] if one["name"] == "recomputation"
    )
    assert recomputation["low_factor"] == pytest.approx(1 / 1.34)
    assert recomputation["reading"] == "does not count"
    assert recomputation["source"]


def test_one_rule_is_shown_with_conditions_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    """Conditions are marked as what telemetry cannot see; whether the text was read is said."""
    run(name="new-york-raise")

    out = capsys.readouterr().out
    assert "condition, not seen in telemetry: more than USD 500 million of revenue" in out
    assert "https://filings.nysgpt.com/sections/1420" in out
    assert "text of: not recorded; text read: no" in out


def test_one_convention_is_shown_with_its_conversions(capsys: pytest.CaptureFixture[str]) -> None:
    """A line each."""
    run(name="us-operations")

    out = capsys.readouterr().out
    assert "recomputation not excluded: x 1, nothing to declare." in out
    assert "base-model not stated: added, by base_flop." in out


@pytest.mark.parametrize("name", ["eu-systemic-risk", "us-operations", "us-ai-diffusion"])
def test_one_is_json_if_asked_for(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever it is."""
    run(name=name, json=True)

    (found,) = lines(capsys)
    assert found["name"] == name


def test_a_rule_without_a_figure_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing can be weighed against it."""
    run(name="us-ai-diffusion")

    assert "figure: not recorded" in capsys.readouterr().out


def test_an_unknown_name_is_refused() -> None:
    """The known ones are listed."""
    with pytest.raises(BadInputError, match=r"eu-systemic-risk.*us-operations.*got 'none'"):
        run(name="none")


def test_a_user_s_own_file_is_refused_in_one_line(tmp_path: Path) -> None:
    """With its name."""
    with pytest.raises(BadInputError, match=r"absent\.toml"):
        run(rules=[tmp_path / "absent.toml"])


def test_the_manual_s_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Ready to be pasted."""
    run(markdown_tables=True)

    assert capsys.readouterr().out.startswith("### Conventions\n\n| convention |")
