"""Estimates with bounds: what was not observed opens them, and nothing that is unknown becomes a number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimate.calibrated import (
    FITTED,
    FP8_RUNS,
    FUSED,
    GUARD,
    INTERVAL,
    bounds,
    calibration,
    features_from_run,
    figures,
)
from estimate.made import (
    BOOST_HERTZ,
    CEILING_FLOP_PER_SECOND,
    GPU_A,
    NAN,
    busy_trace,
    every,
    features_of,
    trace_of,
)
from flopwitness.core.device import Device
from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Fitted
from flopwitness.estimate.conformal import UNBOUNDED
from flopwitness.estimate.estimating import Estimated, estimated, estimated_all
from flopwitness.estimate.features.row import SessionFeatures
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.predictors.pipe_cycles import PipeSumState
from flopwitness.estimate.regressors.fused import UNKNOWN_LOG


def answer(trace: Trace, idle_watts: float = 80.0) -> Estimated:
    """Estimate a session of one device."""
    return estimated(features_of(trace, idle_watts=idle_watts), calibration(), Target.EXECUTED)


def spread_of(session: SessionFeatures) -> float:
    """Return how many times the usual error the fused estimate may be off by."""
    return float(FUSED.spread([[session.values[name] for name in METHODS["fused"].columns]])[0])


def missing(found: Estimated) -> tuple[Finding, ...]:
    """Return the findings about methods without an answer."""
    return tuple(finding for finding in found.findings if finding.code == "method-unavailable")


def test_a_session_that_was_wholly_seen_has_the_calibrated_bounds():
    """Point x e^low and point x e^high; the estimate names method, target, coverage and columns."""
    estimate = answer(busy_trace()).estimates["pipe-cycles-calibrated"]

    assert estimate.low_flop == pytest.approx(estimate.point_flop * np.exp(-0.3))
    assert estimate.high_flop == pytest.approx(estimate.point_flop * np.exp(0.25))
    assert (estimate.method, estimate.target) == ("pipe-cycles-calibrated", Target.EXECUTED)
    assert (estimate.coverage_ratio, estimate.signals) == (0.9, METHODS["pipe-cycles-calibrated"].columns)


def test_every_method_of_the_calibration_answers():
    """Side by side, none chosen."""
    found = answer(busy_trace())

    assert set(found.estimates) == set(FITTED)
    assert missing(found) == ()


def test_unobserved_time_reaches_from_idle_to_the_ceiling():
    """Blank for half of the time: low as if idle there, high as if every pipe had run at the boost clock."""
    activity = np.full(41, 0.4)
    activity[21:] = NAN
    whole = answer(busy_trace(hmma_active_ratio=0.4)).estimates["pipe-cycles"]

    half = answer(busy_trace(hmma_active_ratio=activity)).estimates["pipe-cycles"]

    assert half.point_flop == pytest.approx(whole.point_flop)
    assert half.low_flop == pytest.approx(0.5 * whole.low_flop)
    assert half.high_flop == pytest.approx(
        (0.5 * whole.point_flop + 2.0 * CEILING_FLOP_PER_SECOND) * np.exp(0.25)
    )


def test_what_is_carried_over_never_lifts_the_low_end():
    """A blank between two bursts may have been idle: the low end holds the bursts alone."""
    bursts = np.zeros(41)
    bursts[[19, 21]] = 1.0
    hidden = bursts.copy()
    hidden[20] = NAN

    low = [
        answer(busy_trace(hmma_active_ratio=reading)).estimates["pipe-cycles"].low_flop
        for reading in (bursts, hidden)
    ]

    assert low[1] <= low[0]


def test_the_fused_bounds_open_in_the_same_way():
    """Half unobserved, the signature unchanged: half of the low end, the ceiling on top of the high one."""
    run = features_from_run(3)
    ceiling = 1e15
    observed = {f"observed_{name}": run.values[name] / 2 for name in ("matrix_flop", "vector_flop")}
    half = features_from_run(3, unobserved_ceiling_flop=ceiling, activity_unobserved_seconds=2.0, **observed)

    seen, partly = (
        estimated(each, calibration(), Target.EXECUTED).estimates["fused"] for each in (run, half)
    )

    assert partly.point_flop == seen.point_flop
    assert partly.low_flop == pytest.approx(seen.low_flop / 2)
    assert partly.high_flop == pytest.approx(seen.high_flop / 2 + ceiling * np.exp(0.04 * spread_of(run)))


PIPES = ("hmma_active_ratio", "imma_active_ratio", "dfma_active_ratio", "fp32_active_ratio")
NAMES = (*PIPES, "int_active_ratio", "dram_active_ratio", "sm_clock_hertz")
N_SAMPLES = 12
LEVELS = st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=N_SAMPLES, max_size=N_SAMPLES)
MATRIX_LEVELS = st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.3]), min_size=N_SAMPLES, max_size=N_SAMPLES)
"""The three matrix pipes share their issue slots: together they are active at most all of the time."""

READINGS = st.fixed_dictionaries({name: MATRIX_LEVELS if name in PIPES[:3] else LEVELS for name in NAMES})
BLANKS = st.sets(st.tuples(st.sampled_from(NAMES), st.integers(0, N_SAMPLES - 1)), max_size=12)


def blanked(levels: dict[str, list[float]], blanks: set[tuple[str, int]]) -> Trace:
    """Return a trace of drawn readings, some of them blank."""
    columns = {name: np.array(levels[name]) for name in NAMES}
    columns["sm_clock_hertz"] = BOOST_HERTZ * (0.2 + 0.8 * columns["sm_clock_hertz"])
    for name, index in blanks:
        columns[name][index] = NAN
    return trace_of(every(0.1, N_SAMPLES), **columns)


@settings(deadline=None, max_examples=150)
@given(levels=READINGS, few=BLANKS, more=BLANKS)
def test_less_evidence_never_narrows(
    levels: dict[str, list[float]], few: set[tuple[str, int]], more: set[tuple[str, int]]
):
    """Whichever readings are blanked, of pipes, memory or clock: the new bounds hold the old ones."""
    before, after = (answer(blanked(levels, blanks)).estimates for blanks in (few, few | more))

    for name in ("pipe-cycles", "pipe-cycles-calibrated"):
        if name in after:
            low, _, high = bounds(after[name])
            assert low <= before[name].low_flop * (1 + 1e-9)
            assert high >= before[name].high_flop * (1 - 1e-9)


def test_vector_work_that_nobody_saw_may_make_a_by_product_of_what_was_seen():
    """Matrix work beside as much vector work is worth less: hiding some of that raises no lower end."""
    matrix, vector = [*[0.0] * 7, *[0.064] * 6], [*[1.0] * 7, *[0.0] * 6]
    columns = {"hmma_active_ratio": np.array(matrix), "sm_clock_hertz": np.full(13, 1.5e9)}
    seen, hidden = np.array(vector), np.array(vector)
    hidden[3] = NAN

    whole, partly = (
        answer(trace_of(every(0.1, 13), **columns, fp32_active_ratio=work)).estimates[
            "pipe-cycles-calibrated"
        ]
        for work in (seen, hidden)
    )

    assert partly.point_flop == pytest.approx(whole.point_flop)
    assert partly.low_flop < whole.low_flop


def test_energy_that_was_not_seen_bounds_nothing():
    """What an hour of hidden power can hold is not known from power: from 0 to infinity."""
    power = np.full(41, 600.0)
    power[20] = NAN

    estimate = answer(busy_trace(power_watts=power, energy_joules_total=None)).estimates["linear-power"]

    assert (estimate.low_flop, estimate.high_flop) == (0.0, np.inf)
    assert estimate.point_flop == pytest.approx(1e12 * 4 * 520 - 4e13)


@pytest.mark.parametrize(
    ("absent", "silent"),
    [
        (("energy_joules_total", "power_watts"), {"linear-power"}),
        (("fp32_active_ratio", "fp64_active_ratio", "fp16_active_ratio"), {"pipe-cycles"}),
        (("sm_clock_hertz",), {"pipe-cycles", "pipe-cycles-calibrated", "fused"}),
    ],
)
def test_a_method_without_its_signals_says_so(absent: tuple[str, ...], silent: set[str]):
    """A finding that names the column, no number; the other methods answer."""
    found = answer(busy_trace(**dict.fromkeys(absent)))

    assert set(found.estimates) == set(FITTED) - silent
    assert {finding.subject for finding in missing(found)} == silent
    assert {finding.severity for finding in missing(found)} == {Severity.NOTE}


def test_the_finding_names_what_is_missing():
    """One sentence for an auditor."""
    (finding,) = missing(answer(busy_trace(), idle_watts=NAN))

    assert finding.message == (
        "linear-power gives no estimate: net_energy_joules is not known from the signals present"
    )


@pytest.mark.parametrize("changed", [{"int_cycles": 0.0}, {"dram_bytes": NAN}, {"dram_bytes": 1e18}])
def test_where_the_constant_answers_its_bounds_hold(changed: dict[str, float]):
    """No signature: the narrow bounds were not earned there, and a cycle may be of any format."""
    sessions = features_from_run(5), features_from_run(5, **changed)
    known, unknown = (estimated(each, calibration(), Target.EXECUTED).estimates["fused"] for each in sessions)
    spread, most = map(spread_of, sessions)

    ratios = np.log([np.array(bounds(estimate)) / estimate.point_flop for estimate in (known, unknown)])

    low, high = UNKNOWN_LOG
    wider = [min(-0.3, -0.05 * most) + low, 0, max(0.25, 0.04 * most) + high]
    expected = [[-0.05 * spread, 0, 0.04 * spread], wider]
    assert ratios == pytest.approx(np.array(expected), abs=1e-9)


def test_a_traffic_flood_over_the_links_moves_nothing():
    """NVLink is no signal of the fused estimate: it can be shaped at will."""
    quiet, flooded = (
        estimated(features_from_run(5, nvlink_bytes=load), calibration(), Target.EXECUTED).estimates["fused"]
        for load in (0.0, 1e15)
    )

    assert flooded == quiet


def test_where_the_constant_was_not_calibrated_nothing_is_promised():
    """A calibration of the fused estimate alone cannot bound what answers in its place."""
    alone = calibration(fused=Fitted(FUSED, INTERVAL, GUARD))

    estimate = estimated(features_from_run(5, int_cycles=0.0), alone, Target.EXECUTED).estimates["fused"]

    assert (estimate.low_flop, estimate.high_flop, estimate.most_flop) == (0.0, np.inf, np.inf)


def test_without_a_calibrated_interval_bounds_are_open():
    """Too few runs: from 0 to infinity, also where time was not observed."""
    open_ended = calibration(**{"pipe-cycles": Fitted(PipeSumState(), UNBOUNDED)})
    activity = [NAN, *[0.4] * 39, NAN]

    for reading in (0.4, activity):
        features = features_of(busy_trace(hmma_active_ratio=reading))
        estimate = estimated(features, open_ended, Target.EXECUTED).estimates["pipe-cycles"]

        assert (estimate.low_flop, estimate.high_flop) == (0.0, np.inf)


def test_idle_devices_did_nothing():
    """Pipes at 0 that did answer: 0 FLOP, and bounds that say so."""
    pipes = {name: 0.0 for name in busy_trace().channels if name.endswith("_active_ratio")}

    estimate = answer(busy_trace(**{**pipes, "dram_active_ratio": 5e-6})).estimates["pipe-cycles"]

    assert bounds(estimate) == (0.0, 0.0, 0.0)


def test_another_chip_is_refused():
    """A calibration speaks of one chip."""
    features = features_of(busy_trace(device=Device(GPU_A.uuid, chip="A100-SXM")))

    with pytest.raises(CalibrationMismatchError, match="A100-SXM"):
        estimated(features, calibration(), Target.EXECUTED)


def test_a_target_that_was_not_fitted_is_refused():
    """No estimate of algorithmic FLOP from constants for executed ones, and no silence either."""
    with pytest.raises(CalibrationMismatchError, match="algorithmic"):
        estimated(features_of(busy_trace()), calibration(), Target.ALGORITHMIC)


def test_sessions_asked_about_together_are_answered_as_alone():
    """A known run, FP8, a hole and silence in one batch: estimates and findings of each, in its place."""
    sessions = [
        features_from_run(3),
        features_from_run(4, FP8_RUNS),
        features_from_run(5, int_cycles=NAN),
        features_from_run(6, matrix_flop=NAN),
    ]

    together = estimated_all(sessions, calibration(), Target.EXECUTED)

    for one, session in zip(together, sessions, strict=True):
        alone = estimated(session, calibration(), Target.EXECUTED)
        assert one.findings == alone.findings
        assert {name: figures(each) for name, each in one.estimates.items()} == {
            name: pytest.approx(figures(each), rel=1e-6) for name, each in alone.estimates.items()
        }
