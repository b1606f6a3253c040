"""How ``flopwitness evaluate --protocol stitching`` is said: as a table, and as JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any

from flopwitness.app.cli.output import data, percent_fine, print_table
from flopwitness.app.stitching import COUNTS, stitching_totals

COLUMNS = (
    "dataset",
    "what",
    "jobs",
    "right",
    "split",
    "merged",
    "merged alike",
    "missed",
    "neighbours",
    "merged falsely",
    "share",
)

RECORDED = "recorded"


def print_stitching(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what became of logged jobs, and a line for each recorded one that is not right."""
    shown = [*rows, *(stitching_totals(rows) if len({row["dataset"] for row in rows}) > 1 else ())]
    print_table("Sessions stitched into jobs", COLUMNS, map(_cells, shown))
    console = data()
    for row in rows:
        for failure in row["failures"] if row["what"] == RECORDED else ():
            console.print(f"{row['dataset']}: {failure}", markup=False, soft_wrap=True)


def stitching_object(rows: Sequence[Mapping[str, Any]], *, seed: int) -> dict[str, object]:
    """Return rows of datasets with their sums as JSON values; a share without neighbours is null."""
    return {
        "protocol": "stitching",
        "seed": seed,
        "datasets": [dict(row) for row in rows],
        "totals": stitching_totals(rows),
    }


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    ratio = row["false_merge_ratio"]
    share = "-" if ratio is None else percent_fine(ratio)
    return row["dataset"], row["what"], *(str(row[name]) for name in COUNTS), share
