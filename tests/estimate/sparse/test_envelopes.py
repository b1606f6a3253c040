"""Bands of the methods that need no calibration."""

import numpy as np
import pytest

from estimate.sparse.boards_made import session_of, trace_of
from flopwitness.estimate.sparse.boards import Span, boards_of
from flopwitness.estimate.sparse.envelopes import (
    activity_envelope,
    activity_ratio,
    energy_band,
    power_clock_envelope,
    power_envelope,
    utilisation_ceiling,
)
from flopwitness.estimate.sparse.priors import NumberFormat, ShareRange, sheet_flop_per_joule
from flopwitness.physics.chips import CHIPS

H100 = CHIPS["H100-SXM"]
HALF = (NumberFormat.HALF,)
BUSY = {"power_watts": 650.0, "sm_clock_hertz": 1.6e9, "throttle_reasons_mask": 4.0}


def test_less_evidence_never_narrows() -> None:
    """A lower least energy lowers the least FLOP and leaves the most where it was."""
    share = ShareRange(0.1, 0.2, 0.4)
    sure, unsure = (energy_band(Span(low, 2.0, 3.0), share, chip=H100, most=1e30) for low in (1.0, 0.5))

    assert unsure.low < sure.low == 0.1 * sheet_flop_per_joule(H100)
    assert unsure.high == sure.high == pytest.approx(1.2 * sheet_flop_per_joule(H100))


def test_energy_that_may_have_been_nothing_bounds_nothing_below() -> None:
    """And nothing exceeds the ceiling."""
    band = energy_band(Span(0.0, 1.0, 2.0), ShareRange(0.1, 0.2, 0.4), chip=H100, most=1e11)

    assert (band.low, band.high, band.most) == (0.0, 1e11, 1e11)


def test_a_known_format_narrows_what_power_says() -> None:
    """Half precision lies inside all formats, and its interval is a part of theirs."""
    boards = boards_of(session_of(trace_of(**BUSY)), {"GPU-a": 75.0})

    whole, half = (power_envelope(boards, *formats).band for formats in ((), (HALF,)))

    assert whole is not None
    assert half is not None
    assert whole.low < half.low < half.point < half.high < whole.high


def test_the_clock_of_a_board_at_its_limit_narrows_and_a_locked_one_does_not() -> None:
    """A clock that somebody set says nothing of the work."""
    at_limit, locked = (
        boards_of(session_of(trace_of(**{**BUSY, **changed})), {"GPU-a": 75.0})
        for changed in ({}, {"throttle_reasons_mask": 0.0, "power_watts": 300.0})
    )

    narrow, wide = power_clock_envelope(at_limit).band, power_envelope(at_limit).band

    assert narrow is not None
    assert wide is not None
    assert narrow.high / narrow.low < wide.high / wide.low
    assert power_clock_envelope(locked).band is None
    assert power_clock_envelope(locked).finding.code == "method-unavailable"


def test_plain_pipes_that_nobody_watched_widen_upwards() -> None:
    """FP32 products could have run there."""
    seen, unseen = (
        activity_envelope(
            boards_of(session_of(trace_of(tensor_active_ratio=0.4, sm_clock_hertz=1.6e9, **more)), {})
        ).band
        for more in ({"fp32_active_ratio": 0.05}, {})
    )

    assert seen is not None
    assert unseen is not None
    assert (seen.low, seen.point) == (unseen.low, unseen.point)
    assert seen.high < unseen.high


def test_blank_activity_is_bounded_by_the_ceiling() -> None:
    """Half a minute without an answer may have been full work, or none."""
    activity = np.where(np.arange(61) < 30, 0.4, np.nan)
    blank, whole = (
        activity_envelope(
            boards_of(session_of(trace_of(tensor_active_ratio=each, sm_clock_hertz=1.6e9)), {})
        ).band
        for each in (activity, 0.4)
    )

    assert blank is not None
    assert whole is not None
    assert blank.low < whole.low
    assert blank.high > whole.high


def test_the_ceiling_is_that_of_every_board() -> None:
    """Two boards, a minute each."""
    one, two = (
        utilisation_ceiling(boards_of(session_of(*traces), {})).band
        for traces in ((trace_of(),), (trace_of(), trace_of(uuid="GPU-b")))
    )

    assert one is not None
    assert two is not None
    assert (two.most, two.low) == (2 * one.most, 0.0)


def test_formats_make_the_width_of_what_activity_says() -> None:
    """TF32 to FP8 on Hopper are a factor of four, and a cycle's worth comes on top."""
    assert activity_ratio(H100, frozenset(NumberFormat)) == pytest.approx(4 * 1.1 / 0.6)
    assert activity_ratio(H100, HALF) == pytest.approx(1.1 / 0.6)
