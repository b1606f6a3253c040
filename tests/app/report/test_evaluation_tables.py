"""Tables of errors: the figures of the evaluation, in words where there is no figure."""

import numpy as np
import pytest

from app.report.made import evaluation_of, scored_of
from flopwitness.app.report.evaluation_tables import (
    family_table,
    protocol_text,
    published_table,
    summary_table,
    workload_table,
)
from flopwitness.app.report.scores import scored
from flopwitness.app.report.table import Row, Table
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol


def texts(row: Row) -> list[str]:
    """Return the texts of a row with plain spaces."""
    return [cell.text.replace("\xa0", " ") for cell in row.cells]


def rows_of(table: Table) -> dict[str, list[str]]:
    """Return the texts of every row by its first."""
    return {row.cells[0].text: texts(row)[1:] for group in table.groups for row in group.rows}


def test_the_summary_shows_each_estimator():
    """Median, mean, 90th percentile, both worst cases and what the bounds did."""
    table = summary_table((scored_of(evaluation_of()),), Target.ALGORITHMIC)

    fused = rows_of(table)["fused"]
    assert fused[0] == "1.0 %"
    assert fused[2:] == ["1.0 %", "1.7 %", "−1.0 %", "+2.0 %", "100.0 %", "90.0 %", "19.9 %"]
    assert len(table.columns) == len(fused) + 1


def test_the_summary_marks_the_smallest_median():
    """One estimator a protocol, in bold."""
    table = summary_table((scored_of(evaluation_of()),), Target.ALGORITHMIC)

    marked = [row.cells[0].text for row in table.groups[0].rows if row.cells[0].css == "best"]
    assert marked == ["fused"]


def test_the_summary_leaves_other_targets_out():
    """Two counts never stand in one table."""
    results = tuple(scored_of(evaluation_of(target=target)) for target in Target)

    assert len(summary_table(results, Target.EXECUTED).groups) == 1


def test_bounds_that_nobody_made_are_dashes():
    """An infinite interval that was never calibrated would hold everything."""
    table = summary_table((scored_of(evaluation_of(nominal_ratio=None)),), Target.ALGORITHMIC)

    assert rows_of(table)["fused"][-3:] == ["–", "–", "–"]


def test_an_estimator_that_mostly_fails_is_unbounded():
    """Its median error has no figure, and no interval either."""
    table = summary_table((scored_of(evaluation_of({"mlp": [np.nan, np.nan, 1.1]})),), Target.ALGORITHMIC)

    assert rows_of(table)["mlp"][0] == "unbounded"
    assert rows_of(table)["mlp"][5] == "unbounded"


def test_an_estimator_that_is_never_under_says_none():
    """Zero would look like an error that was measured."""
    table = summary_table((scored_of(evaluation_of({"mlp": [1.1, 1.2]})),), Target.ALGORITHMIC)

    assert rows_of(table)["mlp"][4] == "none"


def test_the_protocol_says_on_what_it_rests():
    """Data, splits, workloads and traces: a figure without them cannot be judged."""
    text = protocol_text(scored_of(evaluation_of(protocol=Protocol.FOLDS)))

    assert "1 split; held out 4 workloads, 4 traces of node-a" in text
    assert "calibrated on at least 1 workload; one score a workload." in text


def test_published_figures_stand_beside_ours():
    """By protocol; what one side does not have is a dash."""
    evaluations = {(one, Target.ALGORITHMIC): evaluation_of(protocol=one) for one in (Protocol.RANDOM,)}

    table = published_table(scored(evaluations, rng=np.random.default_rng(0)))

    assert rows_of(table)["linear-power"] == ["12.9 %", "25.0 %", "13.1 %", "–"]
    assert rows_of(table)["fused"] == ["–", "1.0 %", "–", "–"]
    assert rows_of(table)["linear-power-dram"] == ["15.1 %", "–", "14.9 %", "–"]


def test_published_figures_never_stand_beside_another_target():
    """The experiment counted algorithmic FLOP."""
    table = published_table((scored_of(evaluation_of(target=Target.EXECUTED)),))

    assert rows_of(table)["fused"] == ["–", "–", "–", "–"]


@pytest.mark.parametrize(
    ("ratio", "css"), [(1.049, "heat0"), (1.06, "heat1"), (1.11, "heat2"), (1.3, "heat3"), (np.nan, "heat4")]
)
def test_larger_errors_of_a_family_stand_out(ratio: float, css: str):
    """The number is there as well: colour alone says nothing."""
    table = family_table(scored_of(evaluation_of({"mlp": [ratio, 1.0]}, families=["heads", "small"])))

    (row,) = table.groups[0].rows
    assert table.columns == ("Estimator", "heads (1)", "small (1)")
    assert [cell.css for cell in row.cells] == ["", css, "heat0"]


def test_each_workload_has_a_row_that_dots_can_name():
    """Truth in the unit of the table, then the signed error of each estimator."""
    table = workload_table(scored_of(evaluation_of()))

    row = table.groups[0].rows[1]
    assert texts(row) == ["w1", "dense", "2.000", "1", "+20.0 %", "+10.0 %", "−1.0 %"]
    assert row.ident == "workload-algorithmic-random-1"
