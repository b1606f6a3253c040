"""A sweep that nobody sampled gets the samples of a recording taken beside it."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
from flopwitness.app.labattach import attach, sweep_span
from flopwitness.app.labwork import Outcome, sweep_into
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.lab.plans import named_plan
from flopwitness.lab.sweep import Plan
from flopwitness.storage.datasets import read_dataset, read_dataset_runs
from flopwitness.storage.recordings import write_recording

GPUS = (Device("GPU-a", chip="H200-SXM"), Device("GPU-b", chip="H200-SXM"))
SECOND_NS = 10**9


class NoSampler:
    """Nobody samples."""

    source, driver = "none", ""

    def sample(self) -> tuple[Trace, ...]:
        """Return nothing."""
        return ()

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run one configuration twice on two ranks of a processor, without samples."""
    folder = tmp_path_factory.mktemp("lab") / "sweep"
    plan = Plan(
        configurations=named_plan("tiny")[:1],
        device="cpu",
        traces=2,
        trace_seconds=0.2,
        gap_seconds=0.05,
        idle_seconds=0.0,
        budget_seconds=300.0,
        started_monotonic=time.monotonic(),
    )
    assert sweep_into(folder, plan, NoSampler()).n_runs == 2
    return folder


@pytest.fixture
def folder(sweep: Path, tmp_path: Path) -> Path:
    """Return a copy of the sweep that a test may change."""
    return Path(shutil.copytree(sweep, tmp_path / "copy"))


def recorded(
    path: Path,
    start_ns: int,
    stop_ns: int,
    *,
    idle: Sequence[tuple[int, int]] = (),
    devices: Sequence[Device],
) -> Path:
    """Record GPUs that are busy but for some stretches, in which the last of them rests."""
    times = np.arange(start_ns, stop_ns, SECOND_NS // 50)
    resting = np.zeros(len(times), bool)
    for first_ns, last_ns in idle:
        resting |= (times >= first_ns) & (times <= last_ns)
    traces = tuple(
        Trace(device, times, {"gpu_util_ratio": np.where(resting & (device is devices[-1]), 0.1, 1.0)})
        for device in devices
    )
    write_recording(path, Recording("beside", traces, Provenance("nvml", interval_seconds=0.02)))
    return path


def around(folder: Path, seconds: float) -> tuple[int, int]:
    """Return the stretch of a sweep, widened."""
    start_ns, stop_ns = sweep_span(folder / "events" / "events.jsonl")
    return start_ns - round(seconds * SECOND_NS), stop_ns + round(seconds * SECOND_NS)


def test_a_sweep_gets_the_samples_of_its_time(folder: Path, tmp_path: Path) -> None:
    """Ten seconds before the first network is built, ten after the last word; the rest is left out."""
    path = recorded(tmp_path / "long.parquet", *around(folder, 30), devices=GPUS)

    outcome = attach(folder, path)

    dataset = read_dataset(folder)
    start_ns, stop_ns = around(folder, 10)
    assert outcome == Outcome("all done", n_runs=2, n_dropped=0, n_skipped=0)
    assert dataset.recording.name == folder.name
    for trace in dataset.recording.traces:
        assert start_ns <= trace.time_ns[0] < start_ns + SECOND_NS // 10
        assert stop_ns - SECOND_NS // 10 < trace.time_ns[-1] <= stop_ns
    assert all(min(map(len, dataset.session(run).traces)) > 2 for run in dataset.runs)


def test_a_run_that_left_a_gpu_idle_moves_to_the_others(folder: Path, tmp_path: Path) -> None:
    """It is listed with its reason, in the runs and in the protocol of the sweep; warm-up stays there."""
    first, second = read_dataset_runs(folder / "runs.json")[0]
    idle = [(first.start_ns, first.stop_ns)]
    path = recorded(tmp_path / "idle.parquet", *around(folder, 1), idle=idle, devices=GPUS)

    outcome = attach(folder, path)

    kept, sentences = read_dataset_runs(folder / "runs.json")
    others, _ = read_dataset_runs(folder / "other_runs.json")
    protocol = json.loads((folder / "events" / "sweep.json").read_text())
    assert outcome == Outcome("all done", n_runs=1, n_dropped=1, n_skipped=0)
    assert kept == (second,)
    assert first in others
    assert len(others) == 2
    assert sentences == ("tiny-1, trace 0: mean utilisation 0.10 on GPU-b",)
    assert protocol["dropped"] == {"tiny-1, trace 0": "mean utilisation 0.10 on GPU-b"}


def test_a_gpu_that_the_sweep_did_not_run_on_is_left_out(folder: Path, tmp_path: Path) -> None:
    """Its idleness says nothing; ranks name the GPUs that they ran on."""
    protocol = folder / "events" / "sweep.json"
    content = json.loads(protocol.read_text())
    for rank, device in zip(("rank0", "rank1"), GPUS, strict=True):
        content["environment"][rank]["uuid"] = device.uuid
    protocol.write_text(json.dumps(content))
    span = around(folder, 5)
    three = (*GPUS, Device("GPU-idle", chip="H200-SXM"))
    path = recorded(tmp_path / "three.parquet", *span, idle=[span], devices=three)

    outcome = attach(folder, path)

    assert outcome.n_dropped == 0
    assert [trace.device for trace in read_dataset(folder).recording.traces] == list(GPUS)


def test_a_folder_that_has_samples_is_refused(folder: Path, tmp_path: Path) -> None:
    """Nothing overwrites."""
    path = recorded(tmp_path / "long.parquet", *around(folder, 1), devices=GPUS)
    attach(folder, path)

    with pytest.raises(BadInputError, match=r"a sweep without samples, got samples\.parquet"):
        attach(folder, path)


@pytest.mark.parametrize("part", ["after the first", "before the last"])
def test_a_recording_that_does_not_cover_the_runs_is_refused(folder: Path, tmp_path: Path, part: str) -> None:
    """One line that names the run; nothing is written."""
    first, last = read_dataset_runs(folder / "runs.json")[0]
    start_ns, stop_ns = around(folder, 5)
    span = (first.stop_ns, stop_ns) if part == "after the first" else (start_ns, last.start_ns)
    path = recorded(tmp_path / "short.parquet", *span, devices=GPUS)
    before = (folder / "runs.json").read_bytes()

    with pytest.raises(BadInputError, match="samples over all of tiny-1, trace"):
        attach(folder, path)

    assert not (folder / "samples.parquet").exists()
    assert (folder / "runs.json").read_bytes() == before


def test_a_recording_that_lacks_a_gpu_of_the_sweep_is_refused(folder: Path, tmp_path: Path) -> None:
    """The GPU is named."""
    protocol = folder / "events" / "sweep.json"
    content = json.loads(protocol.read_text())
    content["environment"]["rank0"]["uuid"] = "GPU-other"
    protocol.write_text(json.dumps(content))
    path = recorded(tmp_path / "other.parquet", *around(folder, 1), devices=GPUS)

    with pytest.raises(BadInputError, match="every GPU of the sweep, got none of GPU-other"):
        attach(folder, path)


def test_half_a_last_word_is_no_obstacle(folder: Path) -> None:
    """A killed parent leaves one; without any word of a configuration there is no span."""
    path = folder / "events" / "events.jsonl"
    span = sweep_span(path)
    with path.open("a") as out:
        out.write('{"event": "tra')

    assert sweep_span(path) == span
    path.write_text("")
    with pytest.raises(BadInputError, match="one of them 'building'"):
        sweep_span(path)


def test_a_folder_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """One line that names the file."""
    with pytest.raises(BadInputError, match=r"sweep\.json"):
        attach(tmp_path, tmp_path)
