"""Activity against activity and utilisation."""

import numpy as np

from flopwitness.verify.consistency.activity import CODE, UTILISATION_CODE, activity_deviations
from verify.consistency.made import changed, clean_trace, highest_score

ENGINE = "gr_engine_active_ratio"


def test_clean_activity_passes():
    """Parts fit into their wholes."""
    found = list(activity_deviations(clean_trace()))

    assert highest_score(found, CODE) < 1
    assert highest_score(found, UTILISATION_CODE) < 1


def test_no_pipe_is_active_longer_than_its_multiprocessor():
    """SM activity was taken down, its pipes were not."""
    trace = clean_trace()

    assert (
        highest_score(activity_deviations(changed(trace, sm_active_ratio=trace["sm_active_ratio"] / 2)), CODE)
        > 1
    )


def test_the_matrix_pipes_add_up_to_their_summary():
    """Only one of the two was scaled."""
    trace = clean_trace()

    assert (
        highest_score(
            activity_deviations(changed(trace, hmma_active_ratio=0.9 * trace["hmma_active_ratio"])), CODE
        )
        > 1
    )


def test_an_engine_that_never_reaches_what_utilisation_says_is_found():
    """Every share was scaled by the same factor."""
    trace = clean_trace()

    assert (
        highest_score(activity_deviations(changed(trace, **{ENGINE: 0.9 * trace[ENGINE]})), UTILISATION_CODE)
        > 1
    )


def test_work_that_utilisation_alone_shows_is_found():
    """Ten seconds of activity were written over with zeros."""
    trace = clean_trace()
    hidden = np.where(np.arange(len(trace)) // 100 == 3, 0.0, trace[ENGINE])

    assert highest_score(activity_deviations(changed(trace, **{ENGINE: hidden})), UTILISATION_CODE) > 1


def test_blank_activity_says_nothing():
    """Unknown is no contradiction."""
    trace = clean_trace()
    blank = changed(trace, sm_active_ratio=np.full(len(trace), np.nan))

    assert highest_score(activity_deviations(blank), CODE) < 1
