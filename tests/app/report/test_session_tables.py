"""Tables of sessions: what is not known is a word, never a zero."""

import pytest

from app.report.made import estimate_of, recording_of, result_of
from flopwitness.app.report.session_tables import (
    device_table,
    method_table,
    session_table,
    session_targets,
    strongest,
    work_text,
)
from flopwitness.app.report.table import Table
from flopwitness.core.device import Device
from flopwitness.core.finding import Finding
from flopwitness.core.trace import Trace
from flopwitness.core.workclass import ClassOpinion, WorkClass
from flopwitness.core.workload import Target

RECORDING = recording_of()


def rows_of(table: Table) -> list[list[str]]:
    """Return the texts of every row, with plain spaces."""
    return [[cell.text.replace("\xa0", " ") for cell in row.cells] for row in table.groups[0].rows]


def test_a_session_shows_stretch_devices_flop_bounds_and_truth():
    """In the unit of the table, with the error against the truth."""
    result = result_of(
        RECORDING,
        estimates=[estimate_of(2.02e15, most_flop=3e15)],
        truth_flop={Target.ALGORITHMIC: 2e15},
        findings=(Finding("a", "b"),),
    )

    table = session_table(RECORDING, [result], Target.ALGORITHMIC)

    assert rows_of(table) == [
        [
            "1 first",
            "A B",
            "not known",
            "fused",
            "2026-11-30 00:37:22.000",
            "00:37:42.000",
            "20.0",
            "2.020",
            "1.818 to 2.222",
            "3.000",
            "2.000",
            "+1.0 %",
            "1 finding",
        ]
    ]
    assert len(table.columns) == 13


def test_a_session_without_estimate_or_truth_says_so():
    """A missing answer is not zero FLOP."""
    ((_, _, _, method, *_, estimate, bounds, most, truth, error, findings),) = rows_of(
        session_table(RECORDING, [result_of(RECORDING)], Target.ALGORITHMIC)
    )

    assert method == "none answered"
    assert (estimate, bounds, most) == ("no answer",) * 3
    assert (truth, error, findings) == ("not known", "not known", "none")


@pytest.mark.parametrize(
    ("answer", "text"), [(WorkClass.TRAINING, "training (80.0 %)"), (WorkClass.UNKNOWN, "unknown")]
)
def test_the_kind_of_work_stands_with_its_probability(answer: WorkClass, text: str) -> None:
    """Where it is unknown, no probability is shown: it would read as an answer."""
    by_class = {WorkClass.TRAINING: 0.8, WorkClass.INFERENCE: 0.15, WorkClass.OTHER: 0.05}

    shown = work_text(ClassOpinion(answer, by_class, ("a reason",)))

    assert shown.replace("\xa0", " ") == text


def test_an_estimate_that_can_be_steered_at_will_has_no_most():
    """Infinite is a word."""
    result = result_of(RECORDING, estimates=[estimate_of(2e15)])

    ((*_, most, _, _, _),) = rows_of(session_table(RECORDING, [result], Target.ALGORITHMIC))

    assert most == "unbounded"


def test_the_strongest_method_comes_first():
    """Fused, then calibrated pipes, then what answered; other targets do not answer for this one."""
    linear, pipes = estimate_of(1.0, method="linear-power"), estimate_of(1.0, method="pipe-cycles-calibrated")
    executed, fused = estimate_of(1.0, target=Target.EXECUTED), estimate_of(1.0)

    assert strongest(result_of(RECORDING, estimates=[pipes, fused, linear]), Target.ALGORITHMIC) is fused
    assert strongest(result_of(RECORDING, estimates=[linear, pipes]), Target.ALGORITHMIC) is pipes
    assert strongest(result_of(RECORDING, estimates=[linear, executed]), Target.ALGORITHMIC) is linear
    assert strongest(result_of(RECORDING, estimates=[executed]), Target.ALGORITHMIC) is None


def test_every_method_is_shown_with_the_sessions_that_it_did_not_answer():
    """A method that is absent in one session keeps its column."""
    both = result_of(RECORDING, estimates=[estimate_of(2e15), estimate_of(3e15, method="mlp")])
    one = result_of(RECORDING, 50, name="second", estimates=[estimate_of(4e15)])

    table = method_table(RECORDING, [both, one], Target.ALGORITHMIC)

    assert table.columns == ("Session", "fused", "mlp")
    assert rows_of(table) == [["1 first", "2.000", "3.000"], ["2 second", "4.000", "no answer"]]


def test_targets_are_those_that_somebody_spoke_of():
    """Estimates or truth; sessions of which nobody spoke are still listed."""
    executed = result_of(RECORDING, estimates=[estimate_of(1.0, target=Target.EXECUTED)])
    counted = result_of(RECORDING, truth_flop={Target.ALGORITHMIC: 1e15})

    assert session_targets([executed]) == (Target.EXECUTED,)
    assert session_targets([executed, counted]) == tuple(Target)
    assert session_targets([result_of(RECORDING)]) == (Target.ALGORITHMIC,)
    assert session_targets([]) == ()


def test_devices_are_named_by_uuid_beside_their_short_name():
    """The short name is of this page; a device without a sample has no stretch."""
    silent = recording_of("x", Trace(Device("GPU-z"), [], {}))

    assert rows_of(device_table(RECORDING))[1][:3] == ["B", "GPU-b", "H200-SXM"]
    assert rows_of(device_table(silent)) == [["A", "GPU-z", "unknown", "not known", "no sample", "0"]]
