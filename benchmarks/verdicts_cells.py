"""Cells and tables of docs/verdicts.md."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Found = Mapping[str, Any]
"""An answer, or a part of one, as it was read."""


def share(ratio: float | None) -> str:
    """Return a ratio in percent."""
    return "-" if ratio is None else f"{100 * ratio:.1f} %"


def number(count: float) -> str:
    """Return a count with its thousands apart."""
    return f"{count:,.0f}"


def of(part: int, whole: int) -> str:
    """Return how many of how many."""
    return f"{number(part)} of {number(whole)}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, n_words: int = 1) -> list[str]:
    """Return a table whose first columns hold words and whose others hold numbers."""
    marks = "---|" * n_words + "--:|" * (len(head) - n_words)
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{marks}", *lines]
