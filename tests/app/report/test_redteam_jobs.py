"""Detected jobs over time: a line for the run, one for each detector."""

from app.report.redteam_made import lane
from flopwitness.app.report.redteam_jobs import jobs_plate


def test_each_run_and_each_detector_has_a_line_and_jobs_are_counted_in_words():
    """Bars where jobs were; a split run shows as several, one that nobody found as none."""
    lanes = (
        lane("twin", (0, 100), is_benign=True),
        lane("split-3", (0, 20), (26, 50), (56, 100)),
        lane("missed"),
    )

    plate = jobs_plate(lanes, ident="jobs")

    (axes,) = plate.figure.axes
    n_bars = [len(one.get_paths()) for one in axes.collections]
    assert [label.get_text() for label in axes.get_yticklabels()][2:4] == [
        "split-3, the run",
        "split-3, experiment",
    ]
    assert n_bars == [1, 1, 1, 3, 1, 0]
    assert [text.get_text() for text in axes.texts] == ["1 job", "3 jobs", "no job"]


def test_without_runs_there_is_no_figure():
    """Nobody attacked the detector."""
    assert jobs_plate((), ident="jobs") is None
