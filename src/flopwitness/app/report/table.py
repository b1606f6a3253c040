"""Tables as values: what stands where, before any markup."""

from collections.abc import Sequence
from dataclasses import dataclass, field

NOTHING = "–"
"""A cell that has no figure because nobody made one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a table: its text, and a class of the style sheet that it wears."""

    text: str
    css: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line; ``ident`` is what a link to it names, empty where nothing links."""

    cells: tuple[Cell, ...]
    ident: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one heading: its title and what is to be known of them; an empty title has none."""

    title: str
    note: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people.

    Attributes
    ----------
    caption : str
        What it shows, counted in what.
    columns : tuple of str
        Headings with units. The first column names its row.
    groups : tuple of Group
        Every row has as many cells as there are columns.
    n_text_columns : int
        How many leading columns are text; the others are numbers, set flush right.
    """

    caption: str
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    n_text_columns: int = field(default=1)


def row_of(*texts: str | Cell, ident: str = "") -> Row:
    """Return a row of plain texts and cells that wear a class."""
    return Row(tuple(text if isinstance(text, Cell) else Cell(text) for text in texts), ident)


def plain_table(
    caption: str, columns: Sequence[str], rows: Sequence[Row], *, n_text_columns: int = 1
) -> Table:
    """Return a table of one group without a heading."""
    return Table(caption, tuple(columns), (Group("", "", tuple(rows)),), n_text_columns)
