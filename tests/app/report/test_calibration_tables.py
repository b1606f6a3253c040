"""What estimates were made with, as far as a person can read it."""

from app.report.made import calibration_of
from flopwitness.app.report.calibration_tables import calibration_table
from flopwitness.core.workload import Target


def rows() -> dict[str, list[str]]:
    """Return the texts of every row by its method."""
    table = calibration_table(calibration_of(), Target.ALGORITHMIC)
    return {row.cells[0].text: [cell.text for cell in row.cells[1:]] for row in table.groups[0].rows}


def test_each_method_shows_what_it_reads_and_its_constants():
    """Numbers as they are, arrays by their shape."""
    summary, reads, constants, bounds = rows()["linear-power"]

    assert summary == "equation (1) on power alone"
    assert reads == "net_energy_joules, duration_seconds"
    assert constants == "flop_per_joule 2.5 × 10¹²; debits [1]"
    assert bounds == "0.905 to 1.221"


def test_a_method_without_constants_says_so():
    """Nothing fitted is a fact about it, not a gap in the table."""
    assert rows()["pipe-cycles"][2] == "none fitted"


def test_bounds_that_promise_nothing_say_why():
    """Infinite bounds come from too few runs."""
    assert rows()["pipe-cycles-calibrated"][3] == "unbounded: too few runs to promise one"


def test_a_target_that_was_not_fitted_has_no_row():
    """Nothing is carried over from another target."""
    assert calibration_table(calibration_of(), Target.EXECUTED).groups[0].rows == ()
