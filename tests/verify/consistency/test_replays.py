"""Stretches that occur twice."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.replays import CODE, replay_deviations
from verify.consistency.made import changed, clean_recording, clean_trace, highest_score


def score(*traces: Trace) -> float:
    """Return the highest score of this check."""
    return highest_score(replay_deviations(traces), CODE)


def test_real_work_never_repeats_to_the_last_digit():
    """Nor do two devices of one job."""
    assert score(*clean_recording().traces) < 1


def test_a_second_of_samples_that_occurs_again_is_found():
    """Wherever it was taken from."""
    trace = clean_trace()
    again = {
        name: np.concatenate([trace[name][:500], trace[name][100:110], trace[name][510:]])
        for name in trace.channels
    }

    assert score(changed(trace, **again)) > 1


def test_one_source_alone_is_looked_at_too():
    """Activity was copied, power was not."""
    trace = clean_trace()
    names = [name for name in trace.channels if name.endswith("active_ratio") or name == "sm_occupancy_ratio"]
    again = {
        name: np.concatenate([trace[name][:500], trace[name][:100], trace[name][600:]]) for name in names
    }

    assert score(changed(trace, **again)) > 1


def test_samples_of_another_device_are_found():
    """A lighter neighbour's samples are true samples as well."""
    one, two = clean_recording(together=False).traces
    copied = {
        name: np.concatenate([one[name][:500], two[name][500:600], one[name][600:]]) for name in one.channels
    }

    assert score(changed(one, **copied), two) > 1


def test_idle_samples_written_with_six_digits_may_repeat():
    """A few millionths of memory activity come back by chance."""
    trace = clean_trace()
    n_samples = len(trace)
    digits = 1e-6 * (3 + np.arange(n_samples) % 3)
    zeros = np.zeros(n_samples)
    idle = {name: zeros for name in trace.channels if name.endswith("_ratio")}

    assert score(changed(trace, **{**idle, "dram_active_ratio": digits})) < 1
