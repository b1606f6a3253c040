"""Every answer that a session allows without a calibration."""

import pytest

from estimate.sparse.boards_made import session_of, trace_of
from flopwitness.core.workload import Target
from flopwitness.estimate.sparse.answering import (
    Assumptions,
    clock_variants,
    sparse_answers,
    sparse_estimated,
)
from flopwitness.estimate.sparse.priors import NumberFormat

IDLE = {"GPU-a": 75.0}
FULL = {
    "tensor_active_ratio": 0.5,
    "fp32_active_ratio": 0.05,
    "sm_clock_hertz": 1.6e9,
    "throttle_reasons_mask": 4.0,
    "power_watts": 650.0,
    "gpu_util_ratio": 1.0,
}
WITHOUT = {
    "clock": ("sm_clock_hertz",),
    "activity": ("tensor_active_ratio", "fp32_active_ratio"),
    "power": ("power_watts", "throttle_reasons_mask"),
}


def methods(*missing: str) -> list[str]:
    """Return the methods that answer without these."""
    gone = {name for what in missing for name in WITHOUT[what]}
    trace = trace_of(**{name: value for name, value in FULL.items() if name not in gone})
    return list(sparse_estimated(session_of(trace), IDLE, Target.EXECUTED).estimates)


def test_what_is_there_decides_who_answers() -> None:
    """The narrowest first, the bound always."""
    assert methods() == [
        "activity-envelope",
        "power-clock-envelope",
        "power-envelope",
        "utilisation-ceiling",
    ]
    assert methods("activity") == ["power-clock-envelope", "power-envelope", "utilisation-ceiling"]
    assert methods("activity", "clock") == ["power-envelope", "utilisation-ceiling"]
    assert methods("clock") == ["activity-envelope", "power-envelope", "utilisation-ceiling"]
    assert methods("activity", "clock", "power") == ["utilisation-ceiling"]


def test_a_missing_clock_is_inferred_bounded_and_told() -> None:
    """The interval holds the one with the clock, and overshoots less than at boost."""
    trace = trace_of(**{name: value for name, value in FULL.items() if name != "sm_clock_hertz"})
    known, inferred = (
        sparse_estimated(session_of(each), IDLE, Target.EXECUTED) for each in (trace_of(**FULL), trace)
    )

    at_boost = known.estimates["activity-envelope"].point_flop * 1.98 / 1.6
    one = inferred.estimates["activity-envelope"]
    assert one.low_flop < known.estimates["activity-envelope"].low_flop
    assert one.point_flop < at_boost
    assert "clock-inferred" in {finding.code for finding in inferred.findings}
    assert "sm_clock_hertz" not in one.signals


def test_no_clock_is_inferred_where_none_is_missing() -> None:
    """Nor for boards that nobody knows."""
    assert clock_variants(session_of(trace_of(**FULL))) is None
    assert clock_variants(session_of(trace_of(chip="unknown", tensor_active_ratio=0.5))) is None


def test_a_chip_that_nobody_knows_has_no_figures() -> None:
    """And says so."""
    answers, findings = sparse_answers(session_of(trace_of(chip="unknown", power_watts=300.0)), {})

    assert answers == ()
    assert [finding.code for finding in findings] == ["unknown-chip"]


def test_a_node_is_asked_as_a_node() -> None:
    """With the number of its GPUs and the formats that somebody states."""
    session = session_of(trace_of(uuid="node", node_power_watts=7200.0))
    whole, half = (
        sparse_estimated(session, {"node": 2400.0}, Target.EXECUTED, assumed).estimates["node-power-envelope"]
        for assumed in (Assumptions(8), Assumptions(8, frozenset({NumberFormat.HALF})))
    )

    assert whole.low_flop < half.low_flop < half.high_flop < whole.high_flop
    assert whole.signals == ("node_power_watts",)


@pytest.mark.parametrize("n_gpus", [1, 8])
def test_more_gpus_behind_a_meter_can_have_done_more_at_most(n_gpus: int) -> None:
    """The ceiling is theirs together."""
    session = session_of(trace_of(uuid="node", node_power_watts=7200.0))

    estimate = sparse_estimated(session, {}, Target.EXECUTED, Assumptions(n_gpus)).estimates[
        "node-power-envelope"
    ]

    assert estimate.most_flop == n_gpus * 60 * 132 * 1.98e9 * 9600
