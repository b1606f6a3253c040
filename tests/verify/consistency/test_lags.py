"""Signals shifted against each other."""

import numpy as np
import pytest

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.lags import BESIDE, device_lag, lag_seconds, pair_lags
from verify.consistency.made import changed, clean_recording, clean_trace

TENSOR = BESIDE.index("tensor_active_ratio")
SM = "sm_active_ratio"


def test_signals_read_at_once_have_no_lag():
    """To a few thousandths of a second."""
    assert pair_lags(clean_trace())[TENSOR] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("n_samples", [-7, -1, 2, 50])
def test_a_shift_of_one_signal_is_measured(n_samples: int):
    """Forward and back, from a tenth of a second to five."""
    trace = clean_trace()
    shifted = changed(trace, tensor_active_ratio=np.roll(trace["tensor_active_ratio"], n_samples))

    assert pair_lags(shifted)[TENSOR] == pytest.approx(0.1 * n_samples, abs=0.02)


def test_a_shift_of_one_device_is_measured_against_its_partner():
    """They work together, so they start and stop together."""
    one, two = clean_recording().traces
    late = Trace(two.device, two.time_ns + 340_000_000, two.channels)

    assert device_lag(one, late) == pytest.approx(0.34, abs=0.03)


def test_devices_that_work_on_their_own_have_no_lag():
    """Nothing to compare."""
    one, two = clean_recording(together=False).traces

    assert np.isnan(device_lag(one, two))


def test_without_edges_there_is_no_lag():
    """A signal that does not change says nothing about time."""
    trace = clean_trace()
    busy = changed(trace, sm_active_ratio=np.full(len(trace), 0.9))

    assert np.isnan(pair_lags(busy)).all()


def test_blanks_are_bridged():
    """One sample in ten is missing."""
    trace = clean_trace()
    holed = np.where(np.arange(len(trace)) % 10 == 0, np.nan, trace["tensor_active_ratio"])

    assert lag_seconds(trace, trace[SM], (trace, holed)) == pytest.approx(0.0, abs=0.03)
