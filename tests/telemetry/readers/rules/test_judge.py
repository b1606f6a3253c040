"""All rules together, on recordings that hold nothing but honest samples."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.channels import CANONICAL
from flopwitness.core.trace import Trace
from flopwitness.physics.chips import CHIPS
from flopwitness.storage.recordings import read_recording
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.rules.judge import judged_whole
from plain_traces import NAN, noted, plain_trace

DATASETS = Path(__file__).parents[4] / "datasets"
CHIP = st.sampled_from(["unknown", *CHIPS])
FOLDERS = sorted(path.parent for path in DATASETS.glob("*/samples.parquet"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nothing_is_taken_out_of_an_honest_recording(folder: Path):
    """Idle boards, a hung job, power over the limit: all of it was measured."""
    notes = Notes()
    traces = read_recording(folder / "samples.parquet").traces

    assert judged_whole(traces, notes) == traces
    assert noted(notes) == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nothing_is_taken_out_where_few_rounded_signals_are_kept(folder: Path):
    """The same recordings as a small log would have kept them."""
    for trace in read_recording(folder / "samples.parquet").traces:
        few = plain_trace(
            trace.seconds(),
            power_watts=trace["power_watts"].round(),
            gpu_util_ratio=trace["gpu_util_ratio"],
            sm_clock_hertz=trace["sm_clock_hertz"],
            energy_joules_total=trace["energy_joules_total"].round(-1),
        )

        assert judged_whole([few], Notes()) == (few,)


@st.composite
def recordings(draw: st.DrawFn) -> list[Trace]:
    """Draw up to three devices with any values in any channel."""
    names = draw(st.lists(st.sampled_from(sorted(CANONICAL)), unique=True, min_size=1, max_size=8))
    value = st.sampled_from([NAN, 0.0, 0.5, 1.0, 300.0, 8152.0, 9e9, 2.0**64]) | st.floats(0, 1e12)
    found = []
    for number in range(draw(st.integers(1, 3))):
        steps = draw(st.lists(st.sampled_from([0.1, 1.0, 30.0]), min_size=1, max_size=25))
        column = st.lists(value, min_size=len(steps), max_size=len(steps)) | value
        channels = {name: draw(column) for name in names}
        found.append(plain_trace(np.cumsum(steps), uuid=f"GPU-{number}", chip=draw(CHIP), **channels))
    return found


@given(recordings(), st.booleans())
def test_rules_take_values_out_and_never_make_any(traces: list[Trace], is_relayed: bool):
    """Whatever a file holds: what is left stands where it stood."""
    before = {trace.device.uuid: trace for trace in traces}

    for trace in judged_whole(traces, Notes(), is_relayed=is_relayed):
        was = before[trace.device.uuid].between(0, len(trace))
        assert trace.time_ns.tolist() == was.time_ns.tolist()
        for name, column in trace.channels.items():
            known = np.isfinite(column)
            assert column[known].tolist() == was[name][known].tolist()


def test_what_an_exporter_repeats_is_stale_with_power_and_counter_alone():
    """Of a tool that asks the driver itself the same would be a frozen counter."""
    trace = plain_trace(range(20), power_watts=400, energy_joules_total=7000)
    notes = Notes()

    judged_whole([trace], notes, is_relayed=True)

    assert "stale" in noted(notes)
    assert judged_whole([trace], Notes()) == (trace,)


def test_a_frozen_counter_is_not_used_though_everything_else_moves():
    """The source answers, its counter does not."""
    notes = Notes()
    watts = 300 + np.sin(np.arange(60))

    (found,) = judged_whole(
        [plain_trace(range(60), power_watts=watts, energy_joules_total=8152, gpu_util_ratio=1)], notes
    )

    assert np.isnan(found["energy_joules_total"]).all()
    assert found["power_watts"].tolist() == watts.tolist()
    assert set(noted(notes)) == {"counter-frozen", "profiling-not-offered"}


def test_a_source_that_stopped_is_stale_and_its_counter_is_not_called_frozen():
    """One fault has one name."""
    notes = Notes()

    judged_whole([plain_trace(range(60), power_watts=400, energy_joules_total=5e3, gpu_util_ratio=1)], notes)

    assert set(noted(notes)) == {"stale", "profiling-not-offered"}


def test_a_silent_device_hides_nobody():
    """The others are reported."""
    notes = Notes()

    found = judged_whole(
        [plain_trace(range(3), power_watts=80), plain_trace(range(3), uuid="GPU-b", power_watts=NAN)], notes
    )

    assert [trace.device.uuid for trace in found] == ["GPU-a"]
    assert "gpu-silent" in noted(notes)


def test_a_node_and_its_gpus_are_compared():
    """Where one recording holds both."""
    notes = Notes()
    traces = [
        plain_trace(range(5), host="n1", power_watts=1898),
        plain_trace(range(5), uuid="GPU-b", host="n2", power_watts=700),
        plain_trace(range(5), uuid="node", host="n1", node_power_watts=1559),
    ]

    judged_whole(traces, notes)

    assert noted(notes)["not-conserved"] == 1
