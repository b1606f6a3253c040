"""``flopwitness evaluate --protocol learning-curve``: how many workloads a calibration needs."""

import json

import pytest

from flopwitness.app.cli.main import status_of

ARGUMENTS = ["evaluate", "datasets/h200x2-b", "--protocol", "learning-curve", "--splits", "3"]
QUICK = ["--estimator", "pipe-cycles-calibrated", "--target", "executed"]


def test_a_learning_curve_has_a_point_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    """23 workloads: 16 of them at most are calibrated on, seven are held out each time."""
    assert status_of([*ARGUMENTS, *QUICK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    points = found["estimators"]["pipe-cycles-calibrated"]

    assert (found["protocol"], found["draws"], found["n_held_out_workloads"]) == ("learning-curve", 3, 7)
    assert [point["n_calibration_workloads"] for point in points] == [4, 8, 16]
    assert points[-1]["low_ratio"] <= points[-1]["median_abs_error_ratio"] <= points[-1]["high_ratio"] < 0.05


def test_the_table_has_a_column_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    """A row an estimator, with the band of the draws in brackets."""
    assert status_of([*ARGUMENTS, *QUICK]) == 0
    told = capsys.readouterr().out

    assert all(f"{size} workloads" in told for size in (4, 8, 16))
    assert "5th to 95th" in told
