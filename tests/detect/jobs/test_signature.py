"""A signature is that of the steps: not of pauses, of a slow start, nor of how long a run was."""

import numpy as np
import pytest

from contracts.detector import GPU_A, GPU_B, START_NS
from detect.jobs.made import DENSE, IDLE, SECOND, SPARSE, stretches_of
from flopwitness.core.trace import Trace
from flopwitness.detect.jobs.signature import LEVELS, SIGNALS, step_signature


def whole_signature(*traces: Trace) -> np.ndarray:
    """Return the signature of whole traces."""
    stop_ns = max([START_NS + SECOND, *(int(trace.time_ns[-1]) for trace in traces if len(trace))])
    return step_signature(traces, START_NS, stop_ns)


def signature_of(*traces: Trace) -> np.ndarray:
    """Return the levels of whole traces."""
    return whole_signature(*traces)[: len(LEVELS)]


def test_a_level_is_the_logarithm_of_its_median_while_it_works():
    """With its floor; a channel that the source lacks is unknown, not zero."""
    found = whole_signature(stretches_of((DENSE, 20, 40)))

    expected = np.log([600.0 + 1.0, 0.5 + 0.01])
    np.testing.assert_allclose(found[:2], expected, atol=0.01)
    assert np.isnan(found[SIGNALS.index("integer matrix activity")])


@pytest.mark.parametrize("pause_seconds", [0.2, 0.5, 2.0])
def test_sleeps_after_each_burst_do_not_move_it(pause_seconds: float):
    """A throttled run shows the steps of the run that is not, also where it sleeps most of the time."""
    whole = stretches_of((DENSE, 20, 40))
    throttled = stretches_of(*[(DENSE, 1.0, 40), (IDLE, pause_seconds, 40)] * 20, seed=1)

    np.testing.assert_allclose(signature_of(throttled), signature_of(whole), atol=0.01)


def test_building_before_the_first_step_does_not_move_it():
    """A few slow seconds are no part of the steps."""
    slow = SPARSE | {"tensor_active_ratio": 0.05, "dram_active_ratio": 0.05}

    found = signature_of(stretches_of((slow, 3, 10), (DENSE, 10, 40)))

    np.testing.assert_allclose(found, signature_of(stretches_of((DENSE, 10, 40))), atol=0.01)


def test_devices_are_averaged_where_they_answered():
    """One that shows nothing of a channel takes nothing from the other."""
    one, two = stretches_of((DENSE, 10, 40)), stretches_of((DENSE, 10, 40), device=GPU_B)
    silent = Trace(GPU_B, two.time_ns, {"power_instant_watts": two["power_instant_watts"]})

    np.testing.assert_array_equal(signature_of(one, silent), signature_of(one))


def test_nothing_that_worked_has_no_signature():
    """Idle samples, or too few, are NaN throughout."""
    assert np.isnan(signature_of(stretches_of((IDLE, 10, 40)))).all()
    assert np.isnan(signature_of(stretches_of((DENSE, 0.5, 40)))).all()
    assert np.isnan(signature_of(Trace(GPU_A, [], {}))).all()


def test_a_rhythm_shows_its_period():
    """Two seconds of work and one of rest are three; steady work has none."""
    beating = stretches_of(*[(DENSE, 2.0, 40), (IDLE, 1.0, 40)] * 15)

    period = whole_signature(beating)[SIGNALS.index("step period")]

    assert np.exp(period) == pytest.approx(3.0, abs=0.11)
    assert np.isnan(whole_signature(stretches_of((DENSE, 45, 40)))[-1])


def test_only_the_last_ten_minutes_count():
    """So a daemon can forget what is older."""
    long = stretches_of((SPARSE, 300, 40), (DENSE, 700, 40))
    stop_ns = START_NS + 1000 * SECOND

    found = step_signature([long], START_NS, stop_ns)

    np.testing.assert_array_equal(found, step_signature([long.between(3990, len(long))], START_NS, stop_ns))
