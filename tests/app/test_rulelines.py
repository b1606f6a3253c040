"""The manual's page on conventions says what the data say."""

from pathlib import Path

import pytest

from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.rulelines import (
    conversions,
    manual_tables,
    markdown,
    reading_table,
    threshold_table,
    undeclared_factors,
)
from flopwitness.verify import conversion_table
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.conversions import Conversion

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "conventions.md"
START, STOP = "<!-- made by: flopwitness rules --markdown -->\n", "<!-- end -->\n"


def test_the_manual_s_tables_are_those_of_the_data() -> None:
    """Between two marks stands what ``flopwitness rules --markdown`` prints, to the letter."""
    shown = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(STOP)[0]

    assert shown.strip() == markdown(manual_tables(open_rulebook())).strip()


def test_every_conversion_is_listed() -> None:
    """One that no convention makes would be a figure without use."""
    known = {one.name for one in vars(conversion_table).values() if isinstance(one, Conversion)}

    assert set(conversions()) == known


def test_every_rule_is_listed_with_its_source() -> None:
    """Also those that are not in force, and the one whose figure is not recorded."""
    book = open_rulebook()
    _, columns, rows = threshold_table(book)

    assert [row[0] for row in rows] == [*book.thresholds, *book.without_figure]
    assert all(len(row) == len(columns) and all(row) for row in rows)


def test_every_convention_has_a_column() -> None:
    """Readings side by side."""
    _, columns, rows = reading_table()

    assert columns[1:] == tuple(CONVENTIONS)
    assert {len(row) for row in rows} == {len(columns)}


def test_the_undeclared_range_is_that_of_all_conversions() -> None:
    """One recomputation and the mask at 8k: 1 / 1.34 / 1.14."""
    low, high = undeclared_factors(CONVENTIONS["eu-cumulative"])

    assert (low, high) == (pytest.approx(1 / 1.34 / 1.142857, rel=1e-6), 1.0)
    assert undeclared_factors(CONVENTIONS["executed"]) == (1.0, 1.0)


def test_a_bar_in_a_cell_does_not_break_a_table() -> None:
    """Markdown would read it as another column."""
    assert markdown([("T", ("a",), [("x|y",)])]) == "### T\n\n| a |\n| --- |\n| x/y |\n"
