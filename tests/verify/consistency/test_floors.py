"""Matrix pipes that read exactly 0 beside matrix work."""

import numpy as np

from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.floors import CODE, PHASES_CODE, floor_deviations
from verify.consistency.made import changed, clean_trace, highest_score, without

MATRIX = "tensor_active_ratio"


def with_edges(trace: Trace, *, sm: float, matrix: float) -> Trace:
    """Return a trace that reads something else in the first sample of each run."""
    works = trace[MATRIX] > 0
    edge = works & ~np.concatenate([[False], works[:-1]])
    return changed(
        trace,
        **{
            MATRIX: np.where(edge, matrix, trace[MATRIX]),
            "sm_active_ratio": np.where(edge, sm, trace["sm_active_ratio"]),
        },
    )


def test_work_that_begins_reads_a_little():
    """A part of the sample held matrix work."""
    trace = with_edges(clean_trace(), sm=0.1, matrix=0.01)

    assert highest_score(floor_deviations(trace), CODE) < 1


def test_a_constant_taken_off_leaves_zeros_where_work_begins():
    """What would fall below 0 reads 0."""
    trace = with_edges(clean_trace(), sm=0.1, matrix=0.01)
    lowered = changed(trace, **{MATRIX: np.maximum(trace[MATRIX] - 0.04, 0.0)})

    assert highest_score(floor_deviations(lowered), CODE) > 1
    assert highest_score(floor_deviations(lowered), PHASES_CODE) < 1


def test_whole_samples_of_other_work_are_a_note():
    """Copies between matrix products fill them: honest work can look so."""
    found = list(floor_deviations(with_edges(clean_trace(), sm=0.9, matrix=0.0)))

    assert highest_score(found, CODE) < 1
    assert [each.is_hint for each in found if each.score > 1] == [True]


def test_work_without_matrix_products_is_not_judged():
    """A hang, a copy and a solver read 0 for minutes; so does a source without that pipe."""
    trace = changed(clean_trace(), **{MATRIX: np.zeros(900)})

    assert highest_score(floor_deviations(trace), CODE) < 1
    assert list(floor_deviations(without(trace, MATRIX))) == []
