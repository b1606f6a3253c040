"""What a session can have been at most if it was made to be under-counted, and which formats stay open."""

from dataclasses import replace

import numpy as np
import pytest

from estimate.calibrated import (
    CONSTANT,
    FITTED,
    FP8_RUNS,
    FUSED,
    GUARD,
    INTERVAL,
    LOOSE,
    LOOSE_GUARD,
    RUNS,
    calibration,
    features_from_run,
    fused_on,
)
from estimate.made import NAN, Runs, busy_trace, features_of, simulated_runs
from flopwitness.core.estimate import Estimate
from flopwitness.core.finding import Finding
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Fitted
from flopwitness.estimate.conformal import UNBOUNDED, LogInterval
from flopwitness.estimate.estimating import estimated, estimated_all
from flopwitness.estimate.predictors.format_choice import IDENTIFIED
from flopwitness.estimate.predictors.fused import FusedState
from flopwitness.estimate.regressors.fused import UNKNOWN_LOG

FORMAT_AWARE = fused_on(RUNS.with_more(FP8_RUNS.of(slice(0, 40))))
HELD_OUT = FP8_RUNS.of(slice(40, 60))
MANY_IN_FP8 = simulated_runs(200, seed=9, fp8_shares=(0.3, 1.0))


def fused(number: int, runs: Runs = RUNS, state: FusedState = FUSED, **changed: float) -> Estimate:
    """Return the fused estimate of a simulated run."""
    fitted = {**FITTED, "fused": Fitted(state, INTERVAL, GUARD, INTERVAL, GUARD)}
    found = estimated(features_from_run(number, runs, **changed), calibration(**fitted), Target.EXECUTED)
    return found.estimates["fused"]


def doubts(number: int, runs: Runs = RUNS, state: FusedState = FUSED) -> tuple[Finding, ...]:
    """Return the findings about the format of a simulated run."""
    fitted = {"fused": Fitted(state, INTERVAL, GUARD, INTERVAL, GUARD)}
    found = estimated(features_from_run(number, runs), calibration(**fitted), Target.EXECUTED)
    return tuple(finding for finding in found.findings if finding.code == "format-not-identified")


def test_a_benign_session_was_at_most_a_guard_more():
    """The guard, stretched by how strange the session is; element-wise vector work may have been products."""
    strangeness = FUSED.strangeness(RUNS.X[3:4])[0]
    estimate = fused(3)

    expected = estimate.point_flop * np.exp(GUARD * strangeness) + RUNS.X[3, 1]
    assert estimate.most_flop == pytest.approx(expected)


@pytest.mark.parametrize("runs", [RUNS, FP8_RUNS])
@pytest.mark.parametrize("state", [FUSED, FORMAT_AWARE])
def test_what_a_session_was_at_most_never_lies_below_the_high_end(runs: Runs, state: FusedState):
    """Known formats or not: point <= high <= most, for every session."""
    sessions = [features_from_run(number, runs) for number in range(40)]
    fitted = {**FITTED, "fused": Fitted(state, INTERVAL, GUARD, INTERVAL, GUARD)}

    for found in estimated_all(sessions, calibration(**fitted), Target.EXECUTED):
        one = found.estimates["fused"]
        assert one.point_flop <= one.high_flop <= one.most_flop < np.inf


def test_another_format_has_bounds_of_its_own():
    """Where the point rests on FP8, interval and guard are those of formats; none where none is known."""
    session = features_from_run(0, FP8_RUNS)
    wide = LogInterval(-0.3, 0.2)

    own, unknown = (
        estimated_all([session], calibration(fused=fitted), Target.EXECUTED)[0].estimates["fused"]
        for fitted in (
            Fitted(FORMAT_AWARE, INTERVAL, GUARD, wide, GUARD),
            Fitted(FORMAT_AWARE, INTERVAL, GUARD),
        )
    )

    assert own.high_flop >= own.point_flop * np.exp(0.2) * (1 - 1e-9)
    assert own.low_flop <= own.point_flop * np.exp(-0.3) * (1 + 1e-9)
    assert own.most_flop < np.inf
    assert (unknown.high_flop, unknown.most_flop) == (np.inf, np.inf)


def test_every_other_method_can_be_steered_without_limit():
    """Power, traffic, or cycles at one rate: nothing is promised against a workload that means harm."""
    found = estimated(features_of(busy_trace(), idle_watts=80.0), calibration(), Target.EXECUTED).estimates

    assert {found[name].most_flop for name in set(FITTED) - {"fused"}} == {np.inf}
    assert found["fused"].most_flop < np.inf


def test_a_stranger_may_have_been_more():
    """SM cycles 10 % off: the same point within a few per cent, and a wider guard."""
    known, strange = fused(3), fused(3, sm_active_cycles=1.1 * RUNS.X[3, 8])

    assert strange.most_flop / strange.point_flop > 1.02 * known.most_flop / known.point_flop


def test_unseen_time_may_have_run_at_the_ceiling():
    """All of what the devices could have done there comes on top."""
    seen, partly = fused(3), fused(3, unobserved_ceiling_flop=1e15)

    assert partly.most_flop == pytest.approx(seen.most_flop + 1e15)
    assert fused(3, unobserved_ceiling_flop=NAN).most_flop == np.inf


def test_where_nobody_watched_the_vector_pipes_there_is_no_limit():
    """All of the products could have run there."""
    assert fused(3, vector_flop=NAN, observed_vector_flop=NAN).most_flop == np.inf


def test_an_unexplained_session_may_have_been_in_any_format():
    """The wider of the two guards, the limit of strangeness, and twice the rate of half precision."""
    odd = fused(5, dram_bytes=1e18)
    strangeness = FUSED.strangeness(RUNS.X[5:6] * [*[1] * 7, 1e6, 1, 1])[0]

    expected = odd.point_flop * np.exp(LOOSE_GUARD * strangeness + UNKNOWN_LOG[1]) + RUNS.X[5, 1]
    assert odd.most_flop == pytest.approx(expected)


def test_without_a_guard_for_the_constant_an_unexplained_session_has_no_limit():
    """Nobody measured how far off the constant can be."""
    fitted = {
        "pipe-cycles-calibrated": Fitted(CONSTANT, LOOSE),
        "fused": Fitted(FUSED, INTERVAL, GUARD),
    }
    explained, odd = (
        estimated(session, calibration(**fitted), Target.EXECUTED).estimates["fused"]
        for session in (features_from_run(5), features_from_run(5, int_cycles=0.0))
    )

    assert explained.most_flop < np.inf
    assert odd.most_flop == np.inf


def test_idle_devices_without_a_guard_are_answered():
    """Nothing was seen and nothing is promised: a point of 0, no limit, no error."""
    nothing = dict.fromkeys(
        ("matrix_flop", "observed_matrix_flop", "vector_flop", "observed_vector_flop"), 0.0
    )
    fitted = {"fused": Fitted(FUSED, UNBOUNDED)}

    found = estimated(features_from_run(3, **nothing), calibration(**fitted), Target.EXECUTED)

    estimate = found.estimates["fused"]
    assert (estimate.low_flop, estimate.point_flop, estimate.most_flop) == (0.0, 0.0, np.inf)


def test_a_session_ten_times_as_long_was_at_most_ten_times_as_much():
    """Every figure scales with the work."""
    longer = RUNS._replace(X=10 * RUNS.X)

    for number in (3, 7):
        once, ten = fused(number), fused(number, longer)
        assert ten.most_flop == pytest.approx(10 * once.most_flop, rel=1e-6)
        assert ten.high_flop == pytest.approx(10 * once.high_flop, rel=1e-6)


def excess_of(runs: Runs, state: FusedState) -> np.ndarray:
    """Return what each run spent over what the bound says that it can have been at most."""
    sessions = [features_from_run(number, runs) for number in range(len(runs.X))]
    fitted = {**FITTED, "fused": Fitted(state, INTERVAL, GUARD, INTERVAL, GUARD)}
    found = estimated_all(sessions, calibration(**fitted), Target.EXECUTED)
    return runs.executed_flop / [one.estimates["fused"].most_flop for one in found]


@pytest.mark.parametrize("share", [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.5, 0.5), (1.0, 1.0), (0.3, 1.0)])
def test_no_share_of_a_calibrated_format_exceeds_what_a_session_was_at_most(share: tuple[float, float]):
    """A tenth or all of the blocks in FP8, in runs that nobody learned from: the bound holds.

    Within 1 %, which the made-up guard of these tests leaves out of the error of a format learned from 40
    runs.
    """
    runs = simulated_runs(100, seed=9, fp8_shares=share)

    assert excess_of(runs, FORMAT_AWARE).max() < 1.01


def test_what_passes_for_half_precision_was_at_most_what_the_other_format_would_be():
    """The point follows half precision, the bound for hostile workloads the format that is as possible."""
    passing = simulated_runs(100, seed=3, fp8_shares=(0.3, 0.3))
    answer = FORMAT_AWARE.answer(passing.X)
    passed = answer.probability[:, 0] >= IDENTIFIED
    short = np.log(passing.executed_flop / answer.point_flop)

    assert passed.sum() >= 5
    assert short[passed].max() > 0.1
    assert (answer.high_log[passed] == 0).all()
    assert (answer.most_log[passed] > 0.8 * short[passed]).all()


def test_without_the_format_in_the_calibration_only_what_passes_for_half_precision_exceeds_it():
    """The limit of this bound: one run in thirty passes, and spent up to a tenth more."""
    excess = excess_of(MANY_IN_FP8, FUSED)
    passed = FUSED.answer(MANY_IN_FP8.X).probability[:, 0] >= IDENTIFIED

    assert (excess[~passed] < 0.6).all()
    assert 1 < excess[passed].max() < 1.12
    assert passed.mean() < 0.05


def test_a_known_format_raises_no_doubt():
    """Half precision that fits, and FP8 that was calibrated and is nearly certain."""
    named = FORMAT_AWARE.answer(HELD_OUT.X).is_identified

    assert doubts(3) == doubts(3, state=FORMAT_AWARE) == ()
    assert [bool(doubts(number, HELD_OUT, FORMAT_AWARE)) for number in range(20)] == (~named).tolist()
    assert named.sum() > 10


def test_an_unknown_format_is_reported():
    """No format explains the signals: a warning that bounds cover whatever the chip can do."""
    unexplained = int(np.isinf(FUSED.answer(HELD_OUT.X).misfit).argmax())

    (doubt,) = doubts(unexplained, HELD_OUT)

    assert "no known training in any number format explains the signals" in doubt.message


def test_formats_that_cannot_be_told_apart_are_named():
    """The finding lists them with their probabilities, the likeliest first."""
    lenient = replace(
        FORMAT_AWARE,
        format_whitening=2 * FORMAT_AWARE.format_whitening,
        largest_misfits=FORMAT_AWARE.largest_misfits + 1000,
    )
    little = simulated_runs(100, seed=2, fp8_shares=(0.2, 0.3))
    answer = lenient.answer(little.X)
    unsure = int((np.isfinite(answer.misfit) & ~answer.is_identified).argmax())

    (doubt,) = doubts(unsure, little, lenient)

    half, fp8 = answer.probability[unsure, :2]
    assert f"half precision {half:.0%}" in doubt.message
    assert f"fp8 {fp8:.0%}" in doubt.message


def test_integer_work_is_of_a_known_format():
    """A pipe of its own leaves no format open, however strange the rest."""
    columns = RUNS.X.copy()
    columns[:, 2] = columns[:, 0]
    integer = RUNS._replace(X=columns)
    state = replace(FUSED, integer_per_pipe_flop=0.5)

    spread = state.spread(columns[3:4])[0]
    estimate = fused(3, integer, state)

    assert doubts(3, integer, state) == ()
    assert estimate.point_flop == pytest.approx(0.5 * columns[3, 0])
    assert estimate.high_flop == pytest.approx(estimate.point_flop * np.exp(max(0.25, 0.04 * spread)))
