"""``doctor``: sources, signals, rates really reached, and which estimators they allow."""

import json
from pathlib import Path

import pytest

from flopwitness.app.cli import doctor
from flopwitness.app.cli.doctor import diagnosis_object
from flopwitness.app.doctoring import Diagnosis, diagnose
from flopwitness.app.sampling import Openers
from flopwitness.estimate.methods import METHODS
from flopwitness.telemetry.samplers.nvml import NvmlSampler
from flopwitness.telemetry.samplers.nvml_signals import Cadence
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError
from telemetry.samplers.fake_nvml import INVALID_ARGUMENT, NO_PERMISSION, UNKNOWN, FakeGpu, FakeNvml


def nvml_of(folder: Path, *gpus: FakeGpu) -> Openers:
    """Return a single source: a fake NVML that is asked for everything each round."""
    cadence = Cadence(slow_seconds=0.0, costly_seconds=0.0)
    return {"nvml": lambda: NvmlSampler(FakeNvml(*gpus), cadence=cadence, host="n1", folder=folder)}


def diagnosed(sources: Openers) -> Diagnosis:
    """Sample for three short rounds."""
    return diagnose(sources, seconds=0.03, interval_seconds=0.01)


def test_a_gpu_with_everything_allows_every_estimator(tmp_path: Path):
    """Each channel has a rate, nothing is missing, there is nothing to advise."""
    found = diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a")))

    (gpu,) = found.gpus
    assert (found.source, found.driver) == ("nvml+gpm", "580.159.04")
    assert min(gpu.rates_hertz.values()) > 0
    assert gpu.methods == dict.fromkeys(METHODS, ())
    assert found.advice == ()


def test_a_signal_that_was_never_answered_is_told(tmp_path: Path):
    """Its rate is 0, and what rests on it is not usable."""
    found = diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a", codes={10: UNKNOWN})))

    (gpu,) = found.gpus
    assert gpu.rates_hertz["dram_active_ratio"] == 0
    assert gpu.methods["linear-power-dram"] == ("dram_active_ratio",)
    assert gpu.methods["linear-power"] == ()
    assert found.advice == ("Offered but never answered: dram_active_ratio.",)


def test_before_hopper_power_remains(tmp_path: Path):
    """Without activities only what rests on power is left, and the way out is told."""
    found = diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a", name="NVIDIA A100-SXM4-80GB", gpm=False)))

    (gpu,) = found.gpus
    assert [name for name, lack in gpu.methods.items() if not lack] == ["linear-power"]
    assert "hmma_active_ratio" in gpu.methods["fused"]
    assert any("DCGM" in line for line in found.advice)


def test_refusals_and_permissions_are_told(tmp_path: Path):
    """What a driver does not know and what it does not allow are two things."""
    gpu = FakeGpu("GPU-a", codes={248: INVALID_ARGUMENT, "nvmlDeviceGetMemoryInfo": NO_PERMISSION})

    found = diagnosed(nvml_of(tmp_path, gpu))

    refused = found.gpus[0].refused
    assert refused["sm_cycles_total"] == "not known to this driver"
    assert refused["memory_used_bytes"] == "no permission"
    assert any("permission" in line for line in found.advice)


def test_an_unknown_chip_allows_no_estimate(tmp_path: Path):
    """Without its peak rates no FLOP can be told; it can still be recorded."""
    found = diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a", name="Voodoo 2")))

    assert all("a known chip" in lack for lack in found.gpus[0].methods.values())
    assert any("not in the table" in line for line in found.advice)


def test_a_lost_gpu_is_told_beside_the_others(tmp_path: Path):
    """It has its reason; the rest is diagnosed."""
    found = diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a", lost=True), FakeGpu("GPU-b")))

    assert [gpu.device.uuid for gpu in found.gpus] == ["GPU-b"]
    assert found.advice[0] == "nvml:0 does not answer: GPU is lost."


def test_a_held_gpu_is_told_with_its_holder(tmp_path: Path):
    """Whoever watches already is named; the doctor disturbs nobody."""
    sources = nvml_of(tmp_path, FakeGpu("GPU-a"))
    holder = sources["nvml"]()

    found = diagnosed(sources)
    holder.close()

    assert "sampled by process" in found.sources[0].reason
    assert found.gpus == ()


def test_without_a_source_it_says_so_and_what_to_do():
    """No GPU is an answer, not an error."""

    def nothing() -> NvmlSampler:
        raise SourceUnavailableError("nvml", "no driver", remedy="load it")

    found = diagnosed({"nvml": nothing})

    assert found.advice[0].startswith("No GPU can be sampled here")
    assert found.advice[1] == "nvml: load it"
    assert json.dumps(diagnosis_object(found), allow_nan=False)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_ends_well_on_any_machine(as_json: bool, capsys: pytest.CaptureFixture[str]):
    """With or without GPUs: a table, or one JSON object."""
    doctor.run(json=as_json, exporter="http://127.0.0.1:9/metrics", seconds=0.2, interval=0.1)

    printed = capsys.readouterr().out
    assert "nvidia-smi" in printed
    assert not as_json or {"sources", "gpus", "advice"} <= set(json.loads(printed))


def test_the_tables_name_gpus_signals_and_estimators(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """What a person reads holds what the JSON holds."""
    doctor._print(diagnosed(nvml_of(tmp_path, FakeGpu("GPU-a", codes={248: INVALID_ARGUMENT}))))

    printed = capsys.readouterr().out
    for word in (
        "GPU-a",
        "H200-SXM",
        "tensor_active_ratio",
        "fused",
        "580.159.04",
        "not known to this driver",
    ):
        assert word in printed
