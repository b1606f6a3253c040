"""Signals that stand still, and values piled up."""

import numpy as np
import pytest

from flopwitness.verify.consistency.repeats import (
    CLIPPED_CODE,
    FROZEN_CODE,
    STILL_SECONDS,
    clipped_deviations,
    frozen_deviations,
)
from verify.consistency.made import changed, clean_trace, highest_score


def test_noise_neither_stands_still_nor_piles_up():
    """Every value is its own."""
    trace = clean_trace()

    assert highest_score(frozen_deviations(trace), FROZEN_CODE) < 1
    assert highest_score(clipped_deviations(trace), CLIPPED_CODE) < 1


@pytest.mark.parametrize("name", [name for name in STILL_SECONDS if not name.startswith("pcie")])
def test_a_noisy_channel_that_holds_its_value_is_found(name: str):
    """Longer than it ever does."""
    trace = clean_trace()
    values = trace[name].copy()
    values[200:400] = values[values > 0].max()

    assert highest_score(frozen_deviations(changed(trace, **{name: values})), FROZEN_CODE) > 1


def test_idle_zeros_and_set_clocks_may_last():
    """A pipe that does nothing reads 0 for hours, a clock its one value."""
    trace = clean_trace()
    idle = {
        name: np.zeros(len(trace)) for name in ("tensor_active_ratio", "hmma_active_ratio", "sm_active_ratio")
    }
    still = changed(trace, sm_clock_hertz=np.full(len(trace), 1.98e9), **idle)

    assert highest_score(frozen_deviations(still), FROZEN_CODE) < 1


def test_blanks_do_not_hide_a_standstill():
    """Known values decide."""
    trace = clean_trace()
    values = trace["power_watts"].copy()
    values[200:400] = 500.0
    values[210:390:3] = np.nan

    assert highest_score(frozen_deviations(changed(trace, power_watts=values)), FROZEN_CODE) > 1


@pytest.mark.parametrize("name", ["tensor_active_ratio", "power_watts"])
def test_peaks_that_were_cut_off_are_found(name: str):
    """They all read the same."""
    trace = clean_trace()
    top = np.quantile(trace[name], 0.8)

    assert (
        highest_score(
            clipped_deviations(changed(trace, **{name: np.minimum(trace[name], top)})), CLIPPED_CODE
        )
        > 1
    )
