"""What the pipes did, where a source offers only some of them."""

import math

import pytest

from estimate.made import BOOST_HERTZ, every, features_of, trace_of


@pytest.mark.parametrize(
    "left", [("imma_active_ratio",), ("dfma_active_ratio",), ("imma_active_ratio", "fp32_active_ratio")]
)
def test_small_matrix_pipes_do_not_stand_for_the_half_precision_one(left: tuple[str, ...]):
    """Where HMMA and the summary are gone, matrix work is unknown: IMMA at rest is no evidence of none."""
    trace = trace_of(every(0.1, 41), **dict.fromkeys(left, [0.01] * 41), sm_clock_hertz=[BOOST_HERTZ] * 41)

    values = features_of(trace, idle_watts=80.0).values

    assert math.isnan(values["matrix_flop"])
    assert math.isnan(values["observed_matrix_flop"])


def test_the_summary_counts_where_half_precision_is_not_told_apart():
    """IMMA beside the summary changes nothing of the whole."""
    summary = {"tensor_active_ratio": [0.4] * 41, "sm_clock_hertz": [BOOST_HERTZ] * 41}

    alone, beside = (
        features_of(trace_of(every(0.1, 41), **summary, **more), idle_watts=80.0).values["matrix_flop"]
        for more in ({}, {"imma_active_ratio": [0.0] * 41})
    )

    assert alone == beside > 0
