"""Work that no fitted recording holds the like of."""

import numpy as np

from flopwitness.verify.consistency.blocks import blocks_of
from flopwitness.verify.consistency.fitting import fitted_state
from flopwitness.verify.consistency.unfamiliar import unfamiliar_deviations
from verify.consistency.made import changed, clean_recording, clean_trace

POWER = fitted_state([clean_recording(seed=seed) for seed in (201, 202)]).power


def test_work_like_the_fitted_is_familiar():
    """Another seed of the same kind."""
    found = unfamiliar_deviations(blocks_of(clean_trace(seed=1)), "GPU-a", POWER)

    assert [each.sentence for each in found if each.score > 1] == []


def test_a_pipe_that_no_fitted_work_used_is_named_in_a_note():
    """FP16 instead of BF16 shows in a pipe of its own."""
    trace = clean_trace(seed=1)
    other = changed(trace, fp16_active_ratio=np.where(trace["tensor_active_ratio"] > 0, 0.2, 0.0))
    (found,) = unfamiliar_deviations(blocks_of(other), "GPU-a", POWER)

    assert found.score > 1
    assert found.is_hint
    assert "fp16_active_ratio" in found.sentence


def test_idle_time_says_nothing():
    """No loaded block, no share of them."""
    idle = blocks_of(clean_recording().traces[0].between(0, 90))

    assert list(unfamiliar_deviations(idle, "GPU-a", POWER)) == []
