"""Which missing signal would narrow an interval most."""

import json

import pytest

from flopwitness.estimate.sparse.narrowing import CALIBRATED_RATIOS, narrowing_finding, narrowings
from flopwitness.physics.chips import CHIPS
from source_tree import ROOT

MEASURED = ROOT / "benchmarks" / "results" / "missing_signals" / "missing_signals.json"
H100, H200, W7900 = (CHIPS[name] for name in ("H100-SXM", "H200-SXM", "Radeon-Pro-W7900"))


@pytest.mark.parametrize("case", sorted(CALIBRATED_RATIOS))
def test_the_widths_are_those_that_were_measured(case: str) -> None:
    """Training runs that the shipped calibration has not seen."""
    rows = json.loads(MEASURED.read_text())["rows"]

    (measured,) = [
        row["ratio"]
        for row in rows
        if (row["group"], row["case"], row["calibrated"]) == ("training", case, True)
    ]

    assert CALIBRATED_RATIOS[case] == pytest.approx(measured, rel=0.02)


def wanted(
    chip: object, channels: set[str], *, is_calibrated: bool, ratio: float = float("inf")
) -> list[str]:
    """Return what would narrow, the best first."""
    found = narrowings(chip, channels, ratio_now=ratio, is_calibrated=is_calibrated)
    return [each.wanted for each in found]


def test_activity_is_worth_most_to_who_sees_power() -> None:
    """With the clock, if that is missing too."""
    assert wanted(H100, {"power_watts"}, is_calibrated=False)[0] == "matrix-pipe activity and the SM clock"
    assert wanted(H200, {"power_watts", "sm_clock_hertz"}, is_calibrated=True)[0] == "all profiling activity"


def test_what_no_source_of_a_chip_tells_is_not_asked_for() -> None:
    """AMD's tools tell no activity of matrix pipes; the format can be stated."""
    assert wanted(W7900, {"power_watts"}, is_calibrated=False, ratio=20.0) == ["the number format"]


def test_a_missing_clock_is_named_where_activity_is_there() -> None:
    """It is what the interval lacks."""
    assert "the SM clock" in wanted(H100, {"tensor_active_ratio"}, is_calibrated=False, ratio=50.0)


def test_nothing_is_asked_for_that_would_not_narrow() -> None:
    """An interval that is narrow already stays as it is."""
    assert wanted(H200, {"power_watts"}, is_calibrated=True, ratio=1.1) == []
    assert narrowing_finding(()) is None


def test_the_sentence_names_the_best_and_both_widths() -> None:
    """In one line."""
    found = narrowings(H200, {"gpu_util_ratio"}, ratio_now=float("inf"), is_calibrated=True)

    finding = narrowing_finding(found)

    assert finding is not None
    assert finding.message == (
        "all profiling activity and the SM clock would narrow it most: from a bound alone to a factor of 2.23"
    )
