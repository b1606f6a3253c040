"""Which jobs detectors find in runs that aim at them, beside the benign twin."""

from dataclasses import replace

from flopwitness.app.redteaming_jobs import (
    MARGIN_SECONDS,
    experiment_jobs,
    found_sessions,
    job_lanes,
    linked_jobs,
)
from flopwitness.app.report.redteam_content import Span
from flopwitness.core.recording import Recording
from flopwitness.redteam.catalogue import ATTACKS
from redteam.attacked import attacked

SPLIT = ATTACKS["split"]
SECOND_NS = 10**9


def test_only_the_strongest_attack_on_detection_has_a_lane_after_its_twin():
    """Splitting and throttling aim at detectors; batches do not."""
    split = attacked(SPLIT, {"1": 1.0, "3": 1.0})
    batch = attacked(ATTACKS["batch"], {"64": 1.0})

    lanes = job_lanes([batch, split], ATTACKS.values(), detectors={"none": lambda _: ()})

    assert [(lane.name, lane.is_benign) for lane in lanes] == [(SPLIT.twin.name, True), ("split-3", False)]
    assert [lane.found for lane in lanes] == [{"none": ()}] * 2


def test_jobs_are_in_seconds_of_the_run_and_cut_at_the_margins():
    """One that only touches the run's neighbours is not shown; each recording is searched once."""
    dataset = attacked(SPLIT, {"3": 1.0})
    run = next(one for one in dataset.runs if one.config.name == "split-3")
    seconds = (run.stop_ns - run.start_ns) / SECOND_NS
    searched = []

    def find(recording: Recording) -> list[tuple[int, int]]:
        searched.append(recording.name)
        return [
            (run.start_ns - 60 * SECOND_NS, run.start_ns - 50 * SECOND_NS),
            (run.start_ns - 60 * SECOND_NS, run.start_ns + SECOND_NS // 2),
            (run.start_ns + SECOND_NS // 2, run.stop_ns + 60 * SECOND_NS),
        ]

    lane = job_lanes([dataset], [SPLIT], detectors={"made-up": find})[-1]

    assert lane.run_seconds == seconds
    assert lane.found["made-up"] == (Span(-MARGIN_SECONDS, 0.5), Span(0.5, seconds + MARGIN_SECONDS))
    assert len(searched) == 1


def test_detectors_answer_with_stretches_in_time_order_and_links_join_them():
    """Jobs are never more than sessions, and reach from a first to a last one."""
    recording = replace(attacked(SPLIT, {"3": 1.0}).recording)

    sessions, jobs, polled = (find(recording) for find in (found_sessions, linked_jobs, experiment_jobs))

    assert len(jobs) <= len(sessions)
    assert {start for start, _ in jobs} <= {start for start, _ in sessions}
    assert {stop for _, stop in jobs} <= {stop for _, stop in sessions}
    for found in (sessions, jobs, polled):
        assert found
        assert all(start < stop for start, stop in found)
