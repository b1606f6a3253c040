"""What the consistency checks learn from clean recordings."""

import json

import numpy as np
import pytest

from flopwitness.core.device import Device
from flopwitness.core.errors import CalibrationMismatchError, InvalidNounError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.blocks import TERM_NAMES, blocks_of
from flopwitness.verify.consistency.checks import deviations
from flopwitness.verify.consistency.fitting import BOARD_RATIO, fitted_state
from flopwitness.verify.consistency.regression import Regression
from flopwitness.verify.consistency.state import ConsistencyState
from verify.consistency.made import clean_recording, clean_trace, without


def test_constants_survive_json_to_the_last_bit():
    """What is shipped is what was fitted."""
    state = fitted_state([clean_recording(seed=1)])
    again = ConsistencyState.from_plain(json.loads(json.dumps(state.to_plain())))
    recording = clean_recording(seed=2)

    assert deviations(recording, again) == deviations(recording, state)


@pytest.mark.parametrize("spoilt", [{"chip": 3}, {"power": {}}, {"more": 1}])
def test_constants_of_another_shape_are_refused(spoilt: dict[str, object]):
    """A file of another version is no calibration."""
    plain = fitted_state([clean_recording(seed=1)]).to_plain() | spoilt

    with pytest.raises(CalibrationMismatchError):
        ConsistencyState.from_plain(plain)


def test_limits_never_grow_with_the_width_and_leave_room_for_boards():
    """An average over more is never the further off; another board draws a little more or less."""
    limits = fitted_state([clean_recording(seed=1)]).load_limits

    assert (np.diff(limits.power) <= 0).all()
    assert limits.power.min() >= BOARD_RATIO


def test_two_chips_are_not_fitted_together():
    """Each draws its own power."""
    trace = clean_trace()
    other = Trace(Device("GPU-c", chip="H100-SXM5"), trace.time_ns, trace.channels)

    with pytest.raises(InvalidNounError):
        fitted_state([Recording("mixed", (trace, other), Provenance("made"))])


def test_a_recording_without_power_cannot_be_fitted():
    """Nothing to learn from."""
    trace = without(clean_trace(), "energy_joules_total")

    with pytest.raises(InvalidNounError):
        fitted_state([Recording("blind", (trace,), Provenance("made"))])


def test_blocks_hold_the_mean_power_of_their_time():
    """The energy counter decides, whatever the gauges say."""
    trace = clean_trace()
    blocks = blocks_of(trace)

    expected = np.diff(trace["energy_joules_total"])[:30].sum() / 3.0

    assert blocks.watts[0] == pytest.approx(expected, rel=0.04)
    assert blocks.terms.shape == (len(blocks), len(TERM_NAMES))


def test_a_block_that_little_is_known_of_is_left_out():
    """Blanks are not filled in."""
    trace = clean_trace()
    blank = trace["tensor_active_ratio"].copy()
    blank[100:200] = np.nan
    holed = Trace(trace.device, trace.time_ns, {**trace.channels, "tensor_active_ratio": blank})

    assert len(blocks_of(holed)) < len(blocks_of(trace))
    assert np.isfinite(blocks_of(holed).terms).all()


def test_a_regression_finds_a_line_through_outliers():
    """One block in twenty may be anything."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((400, 3))
    answers = columns @ [1.0, -2.0, 0.5] + 7.0
    answers[::20] += 100.0
    fit = Regression.fitted(columns, answers)

    assert fit.predict(np.array([[1.0, 1.0, 1.0]]))[0] == pytest.approx(6.5, abs=0.01)


def test_data_far_out_or_of_a_new_kind_are_not_familiar():
    """A column that never varied and now does is work that nobody fitted."""
    rng = np.random.default_rng(0)
    columns = np.column_stack([rng.standard_normal((400, 2)), np.zeros(400)])
    fit = Regression.fitted(columns, columns[:, 0])

    assert fit.is_familiar(np.array([[0, 0, 0.0], [9, 0, 0], [0, 0, 0.5]])).tolist() == [True, False, False]
