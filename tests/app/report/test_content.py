"""A content cannot show a result under a name that is not its own."""

import pytest

from app.report.made import estimate_of, evaluation_of, recording_of, result_of
from flopwitness.app.report.content import ReportContent
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.evaluate.protocols import Protocol


def test_an_evaluation_under_a_foreign_key_is_refused():
    """The key says protocol and target; the evaluation knows both itself."""
    evaluation = evaluation_of(protocol=Protocol.RANDOM, target=Target.EXECUTED)

    with pytest.raises(InvalidNounError, match=r"\(random, executed\) stands under \(random, algorithmic\)"):
        ReportContent("x", evaluations={(Protocol.RANDOM, Target.ALGORITHMIC): evaluation})


def test_two_recordings_of_one_name_are_refused():
    """Sessions are looked up by the name of their recording."""
    with pytest.raises(InvalidNounError, match="share a name"):
        ReportContent("x", recordings=(recording_of("a"), recording_of("a")))


def test_sessions_of_an_absent_recording_are_refused():
    """They would silently not be shown."""
    with pytest.raises(InvalidNounError, match=r"\['b'\]"):
        ReportContent("x", recordings=(recording_of("a"),), sessions={"b": ()})


@pytest.mark.parametrize(
    ("truth_flop", "expected"),
    [(None, None), ({}, None), ({Target.ALGORITHMIC: None}, None), ({Target.ALGORITHMIC: 2e15}, 2e15)],
)
def test_a_truth_that_is_not_known_is_none(
    truth_flop: dict[Target, float | None] | None, expected: float | None
):
    """No mapping, no key and no value all mean: nobody counted."""
    result = result_of(recording_of(), truth_flop=truth_flop, estimates=[estimate_of(1e15)])

    assert result.truth(Target.ALGORITHMIC) == expected
