"""The FLOP of a capture in all: what was told against what was counted."""

import pytest

from evaluate.test_detection import TWO, found_at, run_of
from flopwitness.core.estimate import Estimate
from flopwitness.core.workload import Run, Target
from flopwitness.evaluate.detection import FoundWorkload, matched, true_workloads
from flopwitness.evaluate.totals import Total, total_of


def told_at(start: float, stop: float, flop: float, *, high_flop: float | None = None) -> FoundWorkload:
    """Return a finding with one estimate, 10 % wide on either side unless said otherwise."""
    high = 1.1 * flop if high_flop is None else high_flop
    estimate = Estimate(flop, 0.9 * flop, high, 0.9, "made", Target.EXECUTED)
    one = found_at(start, stop)
    return FoundWorkload(
        one.start_ns, one.stop_ns, one.n_devices, estimates={Target.EXECUTED: {"made": estimate}}
    )


def total(runs: list[Run], found: list[FoundWorkload], *, is_complete: bool = True) -> Total:
    """Add up the made method."""
    answer = matched(true_workloads(runs), found, poll_seconds=1.0, parting_seconds=4.0)
    return total_of(answer, Target.EXECUTED, method="made", is_complete=is_complete)


def test_everything_found_counts_and_everything_logged_counts():
    """What lies outside the log is in the sum, and is named."""
    found = [told_at(10, 20, 1.1e15), told_at(24, 26, 1e14), told_at(30, 40, 1.0e15)]

    answer = total(TWO, found)

    assert (answer.truth_flop, answer.point_flop) == (2e15, 2.2e15)
    assert answer.outside_flop == 1e14
    assert answer.ratio == pytest.approx(1.1)
    assert answer.bounds_ratio == pytest.approx((0.99, 1.21))
    assert answer.error_ratio.tolist() == pytest.approx([0.1, 0.0])


def test_a_log_that_names_a_part_gives_no_ratio():
    """Neither of the whole nor of one workload: what was found may hold what nobody logged."""
    answer = total(TWO, [told_at(10, 20, 1e15)], is_complete=False)

    assert answer.ratio is None
    assert answer.bounds_ratio is None
    assert len(answer.error_ratio) == 0


def test_a_run_that_nobody_counted_leaves_the_whole_unknown_and_the_others_known():
    """Unknown is not zero, and one unknown run hides no other workload."""
    runs = [run_of("a", 10, 20), run_of("b", 30, 40, flop=None)]

    answer = total(runs, [told_at(10, 20, 2e15), told_at(30, 40, 1e15)])

    assert (answer.n_runs, answer.n_unknown, answer.truth_flop) == (2, 1, 1e15)
    assert answer.ratio is None
    assert answer.error_ratio.tolist() == [1.0]


def test_a_finding_without_an_estimate_is_counted_as_such():
    """A sum that lacks something says so."""
    answer = total(TWO, [told_at(10, 20, 1e15), found_at(30, 40)])

    assert answer.n_unanswered == 1
    assert answer.point_flop == 1e15
    assert answer.ratio is None


def test_an_unbounded_estimate_leaves_the_sum_unbounded():
    """Infinite stays infinite."""
    answer = total(TWO, [told_at(10, 20, 1e15, high_flop=float("inf"))])

    assert answer.bounds_ratio is not None
    assert answer.bounds_ratio[1] == float("inf")


def test_nothing_counted_gives_no_ratio():
    """There is nothing to divide by."""
    assert total([], [told_at(0, 1, 1e15)]).ratio is None
