"""The first table: who is best, and how far from the best that the experiment had."""

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.glance import glance_table, median_interval_text


def glance(ratios: dict[str, list[float]]) -> list[str]:
    """Return the texts of the one row."""
    (row,) = glance_table((scored_of(evaluation_of(ratios)),)).groups[0].rows
    return [cell.text.replace("\xa0", " ") for cell in row.cells]


def test_the_best_stands_beside_the_best_of_the_experiment():
    """Smallest medians, each with its interval."""
    row = glance({"linear-power": [1.25, 1.25], "mlp": [1.1, 1.1], "fused": [1.01, 1.01]})

    assert row[:5] == ["algorithmic", "random", "fused", "mlp", "1.0 %"]
    assert row[5:] == ["1.0 %", "10.0 %", "10.0 %"]


def test_without_the_experiments_estimators_there_is_a_dash():
    """Nothing is compared with nothing."""
    assert glance({"fused": [1.01, 1.02]})[3] == "–"


def test_one_workload_gives_no_interval():
    """Resampling one workload says nothing of others; an error is still not below zero."""
    score = scored_of(evaluation_of({"fused": [1.01]})).scores["fused"]

    assert median_interval_text(score).replace("\xa0", " ") == "0.0 % to unbounded"
