"""Identity and MIG: one device has one key, its UUID, and each physical reading counts once for it.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com.
"""

from pathlib import Path

import numpy as np
import pytest

from contracts.format import reader_of
from flopwitness.app.opening import shipped_calibration
from flopwitness.app.scheduler_totals import job_uses
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.detect.states import State, sample_states
from flopwitness.estimate.energy import energy_joules
from flopwitness.physics.chips import CHIPS
from flopwitness.telemetry.scheduling.driver_gpus import minor_uuids
from flopwitness.telemetry.scheduling.names import DeviceOrder, alike_groups, visible_uuids
from flopwitness.telemetry.scheduling.windows import JobWindow
from plain_traces import plain_trace
from scrapes_made import IN_UTC, START_NS, findings, metric, only, scraped

SECOND = 10**9


def test_i1_a_boards_energy_repeated_for_each_slice_counts_once():
    """A sum counts it N times: NVIDIA/dcgm-exporter#257 and #317, guilbaults/slurm-job-exporter#55."""
    name = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    recording = scraped(
        f'{name}{{UUID="GPU-a",GPU_I_ID="3"}} 1000000', f'{name}{{UUID="GPU-a",GPU_I_ID="5"}} 1000500'
    )

    (joules,) = only(recording)["energy_joules_total"].tolist()
    assert only(recording).device.uuid == "GPU-a"
    assert joules == pytest.approx(1000.5, abs=0.5)


def test_i2_a_slices_activity_counts_by_its_share_of_the_chip():
    """A busy slice tops out at its own size: NVIDIA/DCGM#138. Half and a quarter of an A30."""
    name = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
    half = 'UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="2g.12gb",modelName="NVIDIA A30"'
    quarter = 'UUID="GPU-a",GPU_I_ID="3",GPU_I_PROFILE="1g.6gb",modelName="NVIDIA A30"'

    trace = only(scraped(f"{name}{{{half}}} 0.8", f"{name}{{{quarter}}} 0.4"))

    assert trace["gr_engine_active_ratio"].tolist() == [0.5]


def test_i3_no_utilisation_under_mig_is_not_idle():
    """It reads 0 or is gone: NVIDIA/dcgm-exporter#216 and #561."""
    whole = 'UUID="GPU-a",GPU_I_ID="1",GPU_I_PROFILE="7g.80gb"'
    recording = scraped(
        *metric("DCGM_FI_DEV_GPU_UTIL", whole, [0, 0, 0]), *metric("DCGM_FI_PROF_SM_ACTIVE", whole, [0.7] * 3)
    )

    trace = only(recording)
    assert "gpu_util_ratio" not in trace
    assert State.IDLE not in sample_states(trace)
    assert len(findings(recording, "not-applicable")) == 1


def test_i4_a_jobs_first_gpu_is_not_the_hosts_first():
    """One card's job showed another card's data: guilbaults/slurm-job-exporter#63 and #64."""
    recording = scraped(
        'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a"} 80',
        'DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 600',
    )
    order = alike_groups(DeviceOrder.PCI_BUS_ID, ("GPU-a", "GPU-b"), {})

    held = visible_uuids("1", order)  # the job's own index 0

    series = {trace.device.uuid: trace["power_watts"].tolist() for trace in recording.traces}
    assert held == ("GPU-b",)
    assert series[held[0]] == [600.0]


def test_i5_a_device_minor_is_no_index(tmp_path: Path):
    """They differ on some hosts: PrincetonUniversity/jobstats#34. Minor 0 is GPU-g here, NVML's index 6."""
    for place, (letter, minor) in enumerate(zip("abcdefgh", (6, 1, 2, 3, 4, 5, 0, 7), strict=True)):
        folder = tmp_path / f"0000:{place:02d}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"GPU UUID: \t GPU-{letter}\nDevice Minor: \t {minor}\n")
    jobstats = b'{"gpus":1,"nodes":{"n1":{"gpu_utilization":{"0":91.0}}},"total_time":3600}'
    recording = scraped(
        *(f'DCGM_FI_DEV_POWER_USAGE{{gpu="{n}",UUID="GPU-{x}"}} {100 + n}' for n, x in enumerate("abcdefgh"))
    )

    (row,) = reader_of(jobstats).summary.rows
    uuid = minor_uuids(tmp_path)[int(str(row["device_minor"]))]

    series = {trace.device.uuid: trace["power_watts"].tolist() for trace in recording.traces}
    assert uuid == "GPU-g"
    assert series[uuid] == [106.0]


def test_i6_an_index_is_resolved_by_the_order_it_counts_in_or_refused():
    """CUDA counts fastest first, NVML by bus address, and nobody guesses which one was meant.

    gpuopenanalytics/pynvml#28, ModelCloud/Device-SMI#40, gpustack/gpustack#1633.
    """
    by_bus, speeds = ("GPU-slow", "GPU-fast"), {"GPU-slow": 1.0, "GPU-fast": 2.0}

    resolved = {
        order: visible_uuids("0", alike_groups(order, by_bus, speeds))
        for order in (DeviceOrder.FASTEST_FIRST, DeviceOrder.PCI_BUS_ID)
    }

    assert resolved == {
        DeviceOrder.FASTEST_FIRST: ("GPU-fast",),
        DeviceOrder.PCI_BUS_ID: ("GPU-slow",),
    }
    with pytest.raises(BadInputError, match="any of GPU-slow, GPU-fast"):
        visible_uuids("0", alike_groups(DeviceOrder.UNKNOWN, by_bus, speeds))


def test_i7_a_job_pays_for_the_gpus_it_holds_once():
    """Eight ranks each billed the whole machine: mlco2/codecarbon#567 and #544."""
    chip = CHIPS["H200-SXM"].name
    joules = 500 + np.arange(101.0)
    traces = [
        plain_trace(range(101), uuid=f"GPU-{x}", chip=chip, energy_joules_total=joules) for x in "abcdefgh"
    ]
    ranks = [JobWindow("17", ("GPU-c",), START_NS, START_NS + 100 * SECOND)]

    (use,) = job_uses(
        Recording("made", tuple(traces), Provenance("made")), ranks, shipped_calibration(["H200-SXM"])
    )

    assert use.uuids == ("GPU-c",)
    assert use.energy_joules == pytest.approx(100.0)


def test_i8_a_label_that_changed_its_case_is_the_same_label():
    """The host was lost, or everything hung: NVIDIA/dcgm-exporter#655, ai-dynamo/aiperf#1422 and #1417."""
    trace = only(
        scraped(
            'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",Hostname="n1"} 1',
            'DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",hostname="n1"} 2',
        )
    )

    assert trace.device == Device("GPU-a", host="n1")
    assert trace["power_watts"].tolist() == [1.0, 2.0]


def test_i8_two_hosts_in_one_line_are_a_finding():
    """Both labels, and different: NVIDIA/dcgm-exporter#655."""
    recording = scraped('DCGM_FI_DEV_POWER_USAGE{UUID="GPU-a",Hostname="n1",hostname="n2"} 1')

    assert len(findings(recording, "host-conflict")) == 1


def test_i9_pods_come_and_go_and_the_gpu_stays():
    """Each sample was in another series: NVIDIA/dcgm-exporter#340 and #237."""
    name = "DCGM_FI_DEV_POWER_USAGE"
    trace = only(
        scraped(
            f'{name}{{UUID="a",exported_pod="p1"}} 1',
            f'{name}{{UUID="a",exported_pod="p2"}} 2',
            f'{name}{{UUID="a"}} 3',
        )
    )

    assert trace["power_watts"].tolist() == [1.0, 2.0, 3.0]


def test_i10_a_counter_goes_on_when_its_exporter_is_renamed():
    """It seemed to drop to 0: nebius/soperator#1269."""
    name = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    recording = scraped(f'{name}{{UUID="a",pod="x"}} 5000', f'{name}{{UUID="a",pod="y"}} 6000')

    energy = energy_joules(only(recording))

    assert (energy.joules, energy.n_resets) == (1.0, 0)
    assert findings(recording, "counter-reset") == []


def test_i11_a_renamed_field_is_the_same_channel():
    """Parsers on the old names fell silent with DCGM 4.6.0: NVIDIA/DCGM, dcgmlib/dcgm_fields.h at 72fa3fe."""
    new = only(scraped('DCGM_FI_PROF_TENSOR_UTIL_RATIO{UUID="GPU-a"} 0.55'))
    old = only(scraped('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{UUID="GPU-a"} 0.55'))

    assert new["tensor_active_ratio"].tolist() == [0.55]
    assert new == old


def test_the_zone_plays_no_part_where_stamps_are_instants():
    """An epoch number is UTC whatever else is asked."""
    lines = metric("DCGM_FI_DEV_POWER_USAGE", 'UUID="a"', [1, 2])

    assert only(scraped(*lines, asked=IN_UTC)) == only(scraped(*lines))
