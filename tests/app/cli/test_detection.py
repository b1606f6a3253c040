"""What ``evaluate --protocol detection`` says, as JSON and to people."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluate.test_detection import TWO, found_at
from evaluate.test_totals import told_at
from flopwitness.app.cli.detection import detection_object, failure_lines, print_detection
from flopwitness.app.cli.main import status_of
from flopwitness.app.detecting import Replayed
from flopwitness.core.workload import Target
from flopwitness.evaluate.detection import FoundWorkload, matched, true_workloads
from flopwitness.evaluate.totals import total_of

HANG = Path(__file__).resolve().parents[3] / "datasets" / "h200x2-hang"


def replayed(*found: FoundWorkload, parting_seconds: float = 4.0) -> Replayed:
    """Return two workloads, 10 s apart, and what was found of them."""
    detection = matched(true_workloads(TWO), found, poll_seconds=1.0, parting_seconds=parting_seconds)
    total = total_of(detection, Target.EXECUTED, method="made", is_complete=True)
    return Replayed("made", "activity", detection, (total,))


def test_the_command_prints_one_object_with_a_replay_a_detector(capsys: pytest.CaptureFixture[str]):
    """Five runs and a deadlock: ours finds each run, the experiment's merges all that lie too close."""
    assert status_of(["evaluate", str(HANG), "--protocol", "detection", "--json"]) == 0

    answer = json.loads(capsys.readouterr().out)
    ours, published = answer["replays"]
    assert answer["protocol"] == "detection"
    assert (ours["detector"], published["detector"]) == ("activity", "experiment")
    assert (ours["n_workloads"], ours["n_as_one"], ours["n_stalled"], ours["failures"]) == (5, 5, 1, [])
    assert (published["n_as_one"], published["n_merged"], published["n_too_close"]) == (0, 5, 5)
    assert {total["ratio"] for total in ours["totals"]} == {None}


def test_one_detector_can_be_asked_for(capsys: pytest.CaptureFixture[str]):
    """For people: tables, and a line on what was not found."""
    arguments = ["evaluate", str(HANG), "--protocol", "detection", "--detector", "experiment"]

    assert status_of(arguments) == 0

    shown = capsys.readouterr().out
    assert "activity" not in shown
    assert "5 merged workloads lie closer to a neighbour than the 4.5 s" in shown


def test_errors_are_summed_up_by_their_middle_and_their_worst():
    """Signed, so that late and early differ; counts of the near ones beside them."""
    answer = detection_object(replayed(found_at(10.5, 23), found_at(27, 40)))

    assert answer["start_error_seconds"] == {"median": -1.25, "worst": -3.0}
    assert answer["stop_error_seconds"] == {"median": 1.5, "worst": 3.0}
    assert (answer["tolerance_seconds"], answer["n_starts_within"], answer["n_stops_within"]) == (2.0, 1, 1)


def test_each_failure_is_a_sentence_with_its_stretches():
    """In seconds after the first logged start."""
    split = failure_lines(replayed(found_at(10, 14), found_at(16, 20, n_devices=1), found_at(30, 40)))
    missed = failure_lines(replayed(found_at(30, 40)))

    assert [line.partition("; ")[0] for line in split] == ["made, activity: first split"]
    assert split[0].endswith("found 0.00 to 4.00 s on 2 of 2 GPUs, 6.00 to 10.00 s on 1 of 2 GPUs")
    assert missed == ["made, activity: first missed; logged 0.00 to 10.00 s, found nowhere"]


def test_what_the_rule_cannot_part_is_one_sentence():
    """Sixty-eight runs that lie too close are one fault, not sixty-eight."""
    (line,) = failure_lines(replayed(found_at(10, 40), parting_seconds=11.0))

    assert line.startswith("made, activity: 2 merged workloads lie closer to a neighbour than the 11 s")


def test_what_is_unbounded_or_unknown_is_null():
    """Plain JSON has no infinity; a median of nothing is no number."""
    unbounded = told_at(10, 20, 1e15, high_flop=float("inf"))

    answer = detection_object(replayed(unbounded))
    nothing = detection_object(replayed())

    json.dumps([answer, nothing], allow_nan=False)
    assert answer["totals"][0]["high_flop"] is None  # type: ignore[index]
    assert nothing["start_error_seconds"] == {"median": None, "worst": None}


def test_tables_show_counts_ratios_and_failures(capsys: pytest.CaptureFixture[str]):
    """The totals table shows the methods that ``SHOWN_METHODS`` names."""
    answer = replayed(found_at(10, 40))
    total = answer.totals[0]
    fused = type(total)(
        Target.EXECUTED,
        "fused",
        n_runs=2,
        n_unknown=0,
        is_complete=True,
        truth_flop=2e15,
        point_flop=1.9e15,
        low_flop=1.8e15,
        high_flop=2.4e15,
        outside_flop=0.0,
        n_unanswered=0,
        error_ratio=np.array([-0.05]),
    )

    print_detection([Replayed("made", "activity", answer.detection, (total, fused))])

    shown = capsys.readouterr().out
    assert "0.9500" in shown
    assert "0.900 to 1.200" in shown
    assert "-5.00 %" in shown
    assert "made, activity: first merged; logged" in shown
    assert "executed, made" not in shown
