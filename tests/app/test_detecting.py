"""Datasets through the daemon: what it is handed, what it tells, what that is set against."""

from functools import cache
from pathlib import Path

import pytest

from app.live import two_gpus
from app.recordings import write_folder
from contracts.detector import START_NS, lasting
from flopwitness.app.detecting import (
    CADENCES,
    Replayed,
    detection_of,
    everything_logged,
    watched,
)
from flopwitness.app.labwork import OTHER_RUNS
from flopwitness.app.opening import open_dataset, shipped_calibration
from flopwitness.core.dataset import Dataset
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.workload import GroundTruth, Run, Target, WorkloadConfig
from flopwitness.storage.datasets import KIND, VERSION, read_dataset, write_dataset
from flopwitness.storage.documents import write_document
from flopwitness.storage.nouns import run_to

DATASETS = Path(__file__).parents[2] / "datasets"
CALIBRATION_FOR = cache(shipped_calibration)
CHIP = "H200-SXM"

IDLE, WORK = lasting("idle", 7), lasting("working", 6)
SWEEP = Recording(
    "made", two_gpus([*IDLE, *WORK, *IDLE, *WORK, *IDLE]), Provenance("made", interval_seconds=0.1)
)
"""Two workloads of 6 s on two GPUs, 7 s of idle time around each."""


def run_at(name: str, start: float, stop: float, *, flop: float = 1e15, origin_ns: int = START_NS) -> Run:
    """Return a run with its stretch in seconds after an instant, as a rule that of the first idle sample."""
    config = WorkloadConfig(name, "made", {"n_gpus": 2})
    start_ns, stop_ns = (origin_ns + round(seconds * 1e9) for seconds in (start, stop))
    return Run(config, start_ns, stop_ns, GroundTruth(flop, flop))


def written(folder: Path, *, others: list[Run] | None = None) -> Path:
    """Write the made sweep as a dataset; the warm-up of its first workload is logged apart, or nowhere."""
    write_dataset(folder, Dataset(SWEEP, (run_at("a", 9.3, 13), run_at("b", 20, 26))), "A card.")
    if others is not None:
        content = {"format": KIND, "version": VERSION, "skipped": [], "runs": [run_to(run) for run in others]}
        write_document(folder / OTHER_RUNS, content)
    return folder


def detected(path: Path, cadence: str) -> Replayed:
    """Replay a dataset."""
    return detection_of(path, cadence, chip=CHIP, calibration_for=CALIBRATION_FOR)


@pytest.mark.parametrize("cadence", list(CADENCES))
def test_a_made_sweep_is_found_at_both_cadences(cadence: str, tmp_path: Path):
    """A warm-up belongs to the workload that it bears the name of."""
    path = written(tmp_path / "made", others=[run_at("a-warmup", 7, 9)])

    answer = detected(path, cadence)

    assert [true.name for true in answer.detection.true] == ["a", "b"]
    assert answer.detection.as_one.all()
    assert answer.detection.within_tolerance.all()
    assert (answer.name, answer.cadence) == ("made", cadence)


def test_each_detector_is_judged_by_its_own_poll(tmp_path: Path):
    """Ours decides at every sample of the recording, the experiment's every 1.5 s."""
    path = written(tmp_path / "made")

    polls = {cadence: detected(path, cadence).detection.poll_seconds for cadence in CADENCES}

    assert polls == {"activity": 0.1, "experiment": 1.5}


def test_totals_come_for_every_target_and_method_of_the_calibration(tmp_path: Path):
    """Clocks were not recorded here, so nothing can be estimated: that shows, and is no zero."""
    totals = detected(written(tmp_path / "made", others=[]), "activity").totals

    assert {total.target for total in totals} == set(Target)
    assert {"fused", "pipe-cycles-calibrated"} <= {total.method for total in totals}
    assert {(total.n_unanswered, total.ratio) for total in totals if total.method == "fused"} == {(2, None)}


def test_a_recorders_log_names_measured_runs_alone(tmp_path: Path):
    """What it told is added up; a ratio to a part of the truth would mean nothing."""
    totals = detected(write_folder(tmp_path / "csv"), "activity").totals

    (fused,) = [one for one in totals if one.method == "fused" and one.target is Target.EXECUTED]
    assert (fused.n_runs, fused.truth_flop, fused.n_unanswered) == (1, 1400e12, 0)
    assert fused.point_flop > 0
    assert fused.ratio is None


def test_the_log_never_reaches_the_daemon(tmp_path: Path):
    """Other names, other stretches, other truths: the same answers, bit for bit."""
    recording = open_dataset(write_folder(tmp_path / "csv")).recording
    first_ns = int(recording.traces[0].time_ns[0])
    for name, stretch, flop in (("one", (4, 8), 1e15), ("other", (1, 2), 5e17)):
        run = run_at(name, *stretch, flop=flop, origin_ns=first_ns)
        write_dataset(tmp_path / name, Dataset(recording, (run,)), "A card.")

    one, other = (detected(tmp_path / name, "activity").detection.found for name in ("one", "other"))

    assert one == other
    assert "fused" in one[0].estimates[Target.EXECUTED]
    alone = watched(recording, CADENCES["activity"], CALIBRATION_FOR)
    assert [told.witnessed.estimates for told in alone] == [found.estimates for found in one]


def test_the_experiments_detector_is_handed_two_samples_a_second():
    """It must not profit from a rate that it never had."""
    fine, coarse = (
        [one.n_samples for one in watched(SWEEP, CADENCES[name], CALIBRATION_FOR)]
        for name in ("activity", "experiment")
    )

    assert fine == [124, 124]  # 6 s and the step before on two GPUs at 10 Hz, and the sample at the start
    assert coarse == [26, 26]  # 6 s at 2 Hz, likewise


def test_a_log_without_other_runs_is_not_complete(tmp_path: Path):
    """Runs keep their names, unless they are warm-ups."""
    part = written(tmp_path / "part")
    whole = written(tmp_path / "whole", others=[run_at("a-warmup", 7, 9)])

    logs = [everything_logged(path, read_dataset(path).runs) for path in (part, whole)]

    assert [log.is_complete for log in logs] == [False, True]
    assert [[run.config.name for run in log.runs] for log in logs] == [["a", "b"], ["a", "b", "a"]]


def test_a_recorded_sweep_is_found_and_added_up():
    """Thirteen configurations on two H200s that no constant was fitted on, warm-ups included.

    Ends trail: after each workload its memory is freed and the next model is built, which nobody logged.
    """
    answer = detected(DATASETS / "h200x2-c3", "activity")

    detection = answer.detection
    assert (len(detection.true), int(detection.as_one.sum())) == (13, 13)
    assert detection.within_tolerance[:, 0].all()
    assert (detection.error_seconds[:, 1] < 0.7).all()
    (fused,) = [one for one in answer.totals if one.method == "fused" and one.target is Target.EXECUTED]
    assert fused.n_runs == 4 * 13
    assert fused.ratio == pytest.approx(1.0, abs=0.01)
    assert fused.outside_flop < 1e-5 * fused.point_flop
