"""Found workloads against logged ones: who shares time with whom, and what that is called."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import GroundTruth, Run, Target, WorkloadConfig
from flopwitness.evaluate.detection import Detection, FoundWorkload, TrueWorkload, matched, true_workloads

SECOND = 10**9
GAPS = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), max_size=8)
"""Idle seconds before a workload, and its own."""


def run_of(name: str, start: float, stop: float, *, flop: float | None = 1e15, n_gpus: int = 2) -> Run:
    """Return a run with its stretch in seconds."""
    config = WorkloadConfig(name, "made", {"n_gpus": n_gpus})
    return Run(config, round(start * SECOND), round(stop * SECOND), GroundTruth(flop, flop))


def found_at(start: float, stop: float, *, n_devices: int = 2, is_stalled: bool = False) -> FoundWorkload:
    """Return a finding with its stretch in seconds."""
    return FoundWorkload(round(start * SECOND), round(stop * SECOND), n_devices, is_stalled)


def compared(true: list[Run], found: list[FoundWorkload]) -> Detection:
    """Compare under a rule that polls every second and parts after four."""
    return matched(true_workloads(true), found, poll_seconds=1.0, parting_seconds=4.0)


TWO = [run_of("first", 10, 20), run_of("second", 30, 40)]


def test_runs_of_one_name_with_a_short_pause_are_one_workload():
    """A warm-up and its traces, given in any order; its FLOP are theirs together."""
    runs = [run_of("a", 4.3, 6), run_of("a", 0, 4), run_of("b", 6.1, 8), run_of("b", 9.2, 10)]

    first, *rest = true_workloads(runs)

    assert (first.name, first.start_ns, first.stop_ns, len(first.runs)) == ("a", 0, 6 * SECOND, 2)
    assert first.flop(Target.EXECUTED) == 2e15
    assert [(one.name, len(one.runs)) for one in rest] == [("b", 1), ("b", 1)]


def test_a_workload_of_which_one_run_was_not_counted_is_of_unknown_flop():
    """Unknown is not zero."""
    (workload,) = true_workloads([run_of("a", 0, 1), run_of("a", 1, 2, flop=None)])

    assert workload.flop(Target.ALGORITHMIC) is None


def test_what_was_found_as_one_has_errors_of_start_and_end():
    """Found less logged: late is above 0."""
    answer = compared(TWO, [found_at(10.5, 23), found_at(27.9, 38)])

    assert answer.as_one.tolist() == [True, True]
    assert answer.error_seconds.tolist() == [[0.5, 3.0], [-2.1, -2.0]]
    assert answer.within_tolerance.tolist() == [[True, False], [False, True]]


def test_two_findings_of_one_workload_split_it():
    """Which of them is the right one nobody can say, so there is no error of its start either."""
    answer = compared(TWO, [found_at(10, 14), found_at(16, 20), found_at(30, 40)])

    assert answer.split.tolist() == [True, False]
    assert answer.as_one.tolist() == [False, True]
    assert len(answer.error_seconds) == 1


def test_one_finding_over_two_workloads_merges_both():
    """Ten seconds of idle time are more than this rule needs: that is no excuse."""
    answer = compared(TWO, [found_at(10, 40)])

    assert answer.merged.tolist() == [True, True]
    assert not answer.as_one.any()
    assert not answer.too_close.any()


def test_workloads_closer_than_the_rule_can_part_are_marked():
    """Only those: the third has the time that the rule asks for."""
    runs = [run_of("a", 0, 10), run_of("b", 13, 20), run_of("c", 24, 30)]

    answer = compared(runs, [found_at(0, 30)])

    assert answer.merged.tolist() == [True, True, True]
    assert answer.too_close.tolist() == [True, True, False]


def test_what_nothing_shares_time_with_is_missed_or_spurious():
    """Stretches that only touch share no time; GPUs that were only held are not called work."""
    answer = compared(TWO, [found_at(20, 30), found_at(50, 60, is_stalled=True)])

    assert answer.missed.tolist() == [True, True]
    assert answer.spurious.tolist() == [True, False]


def test_a_stall_inside_a_workload_is_not_passed_over():
    """Honest work that is called stalled is a false accusation."""
    answer = compared(TWO, [found_at(10, 20), found_at(12, 18, is_stalled=True), found_at(30, 40)])

    assert answer.split.tolist() == [True, False]


def test_a_workload_found_on_one_of_its_gpus_is_found_partly():
    """Half of its FLOP would be missing."""
    answer = compared(TWO, [found_at(10, 20, n_devices=1), found_at(30, 40)])

    assert answer.partly.tolist() == [True, False]
    assert answer.as_one.tolist() == [False, True]


def test_nothing_logged_and_nothing_found_can_be_compared():
    """An empty capture has no failure."""
    assert compared([], []).error_seconds.shape == (0, 2)
    assert compared([], [found_at(0, 1)]).spurious.tolist() == [True]
    assert compared(TWO, []).missed.tolist() == [True, True]


@pytest.mark.parametrize(("poll", "parting"), [(0.0, 1.0), (1.0, 0.0), (float("nan"), 1.0)])
def test_a_rule_without_durations_is_refused(poll: float, parting: float):
    """Its tolerance would be none, or everything."""
    with pytest.raises(InvalidNounError, match="must be above 0"):
        matched([], [], poll_seconds=poll, parting_seconds=parting)


def laid_out(gaps: list[tuple[int, int]]) -> list[Run]:
    """Return workloads one after the other, in whole seconds."""
    bounds = np.cumsum(np.array(gaps, dtype=np.int64).ravel()).reshape(-1, 2)
    return [run_of(f"w{number}", *ends) for number, ends in enumerate(bounds.tolist())]


@given(GAPS)
def test_a_perfect_detector_has_no_failure(gaps: list[tuple[int, int]]):
    """What is found as it was logged is found as one, without any error."""
    runs = laid_out(gaps)

    answer = compared(runs, [found_at(run.start_ns / SECOND, run.stop_ns / SECOND) for run in runs])

    assert answer.as_one.all()
    assert not answer.spurious.any()
    assert not answer.error_seconds.any()


@given(GAPS, GAPS)
def test_every_workload_is_found_as_one_or_has_a_failure(
    true: list[tuple[int, int]], found: list[tuple[int, int]]
):
    """And the order in which findings come changes nothing."""
    told = [found_at(run.start_ns / SECOND, run.stop_ns / SECOND) for run in laid_out(found)]

    answer, turned = compared(laid_out(true), told), compared(laid_out(true), told[::-1])

    failed = answer.missed | answer.split | answer.merged | answer.partly
    assert (answer.as_one ^ failed).all()
    assert not (answer.missed & (answer.split | answer.merged)).any()
    assert len(answer.pairs) == answer.as_one.sum()
    assert (answer.shared == turned.shared).all()


def test_a_true_workload_knows_how_many_gpus_it_ran_on():
    """One, where the log does not say: whatever is found is then enough."""
    unsaid = Run(WorkloadConfig("a", "made"), 0, SECOND, GroundTruth())

    assert TrueWorkload("a", 0, SECOND, (unsaid,)).n_devices == 1
    assert true_workloads([run_of("a", 0, 1, n_gpus=8)])[0].n_devices == 8
