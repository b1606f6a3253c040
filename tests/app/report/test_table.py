"""A table is cells and words; what it looks like is decided elsewhere."""

from flopwitness.app.report.table import Cell, Group, plain_table, row_of


def test_a_text_becomes_a_cell_and_a_cell_stays_one():
    """Most cells wear nothing."""
    row = row_of("a", Cell("b", "best"), ident="here")

    assert row.cells == (Cell("a"), Cell("b", "best"))
    assert row.ident == "here"


def test_a_plain_table_has_one_group_without_a_heading():
    """No heading is shown where rows need no parting."""
    table = plain_table("What it shows", ["A", "B"], [row_of("1", "2")])

    assert table.columns == ("A", "B")
    assert table.groups == (Group("", "", (row_of("1", "2"),)),)
