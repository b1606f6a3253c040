"""The lab under a sampler, end to end: a dataset folder that can be read, whatever happens."""

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")
from flopwitness.app.labchoice import settled_names
from flopwitness.app.labwork import Outcome, sweep_into, underused
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.trace import Trace
from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.lab.plans import named_plan
from flopwitness.lab.sweep import Plan
from flopwitness.storage.datasets import read_dataset, read_dataset_runs

SECOND_NS = 10**9
GPUS = (Device("GPU-a", chip="H200-SXM"), Device("GPU-b", chip="H200-SXM"))
UNBUILT = WorkloadConfig("broken", "drill", {"kind": "drill", "size": 8, "fails": "raise", "fails_rank": 1})


class SteadySampler:
    """Two GPUs that are always busy."""

    source, driver = "fake", "1.2"

    def __init__(self, *, utilisation: float = 1.0) -> None:
        self.utilisation = utilisation
        self.is_closed = False

    def sample(self) -> tuple[Trace, ...]:
        """Return one sample a GPU, now."""
        channels = {"power_watts": [500.0], "gpu_util_ratio": [self.utilisation]}
        return tuple(Trace(device, [time.time_ns()], channels) for device in GPUS)

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


def swept(
    folder: Path, sampler: SteadySampler, *configurations: WorkloadConfig, gate: bool = True
) -> Outcome:
    """Sweep on two ranks of a processor."""
    plan = Plan(
        configurations=configurations,
        device="cpu",
        traces=2,
        trace_seconds=0.2,
        gap_seconds=0.05,
        idle_seconds=0.1,
        budget_seconds=300.0,
        gate=gate,
    )
    return sweep_into(folder, plan, sampler, interval_seconds=0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sweep over three configurations and one that cannot run."""
    folder = tmp_path_factory.mktemp("lab") / "sweep"
    sampler = SteadySampler()

    outcome = swept(folder, sampler, *named_plan("tiny"), UNBUILT)

    assert outcome == Outcome("all done", n_runs=6, n_dropped=0, n_skipped=1)
    assert sampler.is_closed
    return folder


def test_a_sweep_leaves_a_dataset(folder: Path) -> None:
    """Samples lie inside every run, and every run has both truths and its hyper-parameters."""
    dataset = read_dataset(folder)

    assert [run.config.name for run in dataset.runs] == [f"tiny-{number}" for number in (1, 1, 2, 2, 3, 3)]
    assert {trace.device for trace in dataset.recording.traces} == set(GPUS)
    for run in dataset.runs:
        assert run.truth.algorithmic_flop > run.truth.executed_flop > 0
        assert run.config.integers("steps", "n_gpus", "d_model") is not None
        assert min(len(trace) for trace in dataset.session(run).traces) > 2


def test_what_ran_to_get_warm_is_kept_apart(folder: Path) -> None:
    """Calibration never sees it; a total can."""
    others, _ = read_dataset_runs(folder / "other_runs.json")

    assert [run.config.name for run in others] == [f"tiny-{number}-warmup" for number in (1, 2, 3)]


def test_what_could_not_run_is_listed_with_its_reason(folder: Path) -> None:
    """In the dataset and in the protocol of the sweep."""
    _, skipped = read_dataset_runs(folder / "runs.json")
    content = json.loads((folder / "events" / "sweep.json").read_text())

    assert skipped == ("broken: RuntimeError: drill: no memory left",)
    assert content["environment"]["rank1"]["device"] == "cpu"
    assert content["ended"] == "all done"


def test_a_later_sweep_knows_what_is_settled(folder: Path) -> None:
    """Finished, and found impossible."""
    assert settled_names([folder]) == {"tiny-1", "tiny-2", "tiny-3", "broken"}


def test_a_folder_with_a_dataset_is_refused(folder: Path) -> None:
    """Nothing overwrites; the sampler is let go all the same."""
    sampler = SteadySampler()

    with pytest.raises(BadInputError, match="one that holds a dataset"):
        swept(folder, sampler, *named_plan("tiny"))

    assert sampler.is_closed


def test_every_word_of_the_ranks_is_kept_with_two_clocks(folder: Path) -> None:
    """A killed parent's runs can be rebuilt from them."""
    lines = (folder / "events" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]

    assert sum(event["event"] == "trace" for event in events) == 12
    assert all({"utc_ns", "monotonic_ns", "rank"} <= event.keys() for event in events)


def run_of(seconds: float) -> Run:
    """Return a run from the first instant on."""
    return Run(WorkloadConfig("a", "b"), 0, round(seconds * SECOND_NS), GroundTruth(1.0, 1.0))


@pytest.mark.parametrize(("gate", "n_dropped"), [(True, 2), (False, 0)])
def test_the_gate_can_be_opened(tmp_path: Path, gate: bool, n_dropped: int) -> None:
    """A throttled run is an attack, not a fault; the folder says which rule it was written by."""
    outcome = swept(tmp_path, SteadySampler(utilisation=0.5), named_plan("tiny")[0], gate=gate)

    assert outcome == Outcome("all done", n_runs=2 - n_dropped, n_dropped=n_dropped, n_skipped=0)
    assert json.loads((tmp_path / "events" / "sweep.json").read_text())["gate"] is gate


@pytest.mark.parametrize(
    ("ratios", "reason"),
    [
        ([1.0, 1.0, 1.0, 1.0], ""),
        ([0.0, 0.9, 0.9, 0.9], ""),
        ([1.0, 0.7, 0.7, 0.7], "mean utilisation 0.70 on GPU-a"),
        ([float("nan")] * 4, ""),
    ],
    ids=["busy", "first second shows the rest before", "idle", "unknown"],
)
def test_a_run_that_left_a_gpu_idle_is_named(ratios: list[float], reason: str) -> None:
    """Mean utilisation under 80 %, the first second left out; what nobody measured says nothing."""
    times = [index * SECOND_NS + SECOND_NS // 2 for index in range(4)]
    trace = Trace(GPUS[0], times, {"gpu_util_ratio": ratios})

    assert underused(run_of(4), [trace]) == reason


def test_a_trace_without_utilisation_says_nothing():
    """A source that lacks the channel drops no run."""
    assert underused(run_of(4), [Trace(GPUS[0], [1], {"power_watts": [1.0]})]) == ""
