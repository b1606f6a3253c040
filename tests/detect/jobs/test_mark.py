"""A mark remembers of a session what links need, and nothing else."""

import numpy as np

from contracts.detector import GPU_A, GPU_B, START_NS
from detect.jobs.made import DENSE, GIB, IDLE, SECOND, stretches_of
from flopwitness.core.session import Session, cut_session
from flopwitness.detect.jobs.mark import mark_of, memory_by_uuid
from flopwitness.detect.jobs.signature import step_signature

TRACE = stretches_of((IDLE, 5, 1), (DENSE, 20, 40), (IDLE, 5, 40))
STRETCH = (START_NS + 5 * SECOND, START_NS + 25 * SECOND)


def test_it_holds_stretch_devices_signature_and_memory():
    """The session itself need hold no samples; devices beside it do not enter."""
    session = cut_session((TRACE,), *STRETCH)
    other = stretches_of((IDLE, 30, 7), device=GPU_B)

    mark = mark_of(session, [TRACE, other], memory_by_uuid([TRACE, other]))

    assert (mark.session_id, mark.seconds, mark.uuids) == (session.session_id, 20.0, {GPU_A.uuid})
    assert mark.level_bytes == {GPU_A.uuid: 40 * GIB}
    np.testing.assert_array_equal(mark.signature, step_signature([TRACE], *STRETCH))


def test_a_stalled_session_has_no_steps():
    """So nothing is said of its signature; memory is read all the same."""
    session = Session(*STRETCH, (TRACE.between(0, 0),), name="stalled")

    mark = mark_of(session, [TRACE], memory_by_uuid([TRACE]))

    assert np.isnan(mark.signature).all()
    assert mark.level_bytes


def test_without_samples_nothing_is_known():
    """Unknown is not zero."""
    mark = mark_of(Session(*STRETCH, (TRACE.between(0, 0),)), [], {})

    assert np.isnan(mark.signature).all()
    assert mark.level_bytes == {}
