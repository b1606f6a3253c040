"""``flopwitness lab`` on a processor: two ranks, tiny shapes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
from flopwitness.app.cli.lab import app
from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Provenance, Recording
from flopwitness.core.trace import Trace
from flopwitness.lab.plans import DECODER, TINY
from flopwitness.storage.datasets import read_dataset, read_dataset_runs
from flopwitness.storage.recordings import write_recording

QUICK = ("--device", "cpu", "--seconds", "0.02")


def test_run_measures_one_configuration_and_a_sweep_skips_what_is_done(tmp_path: Path) -> None:
    """A file names the hyper-parameters; --skip-done leaves out what an earlier sweep finished."""
    config, first, second = tmp_path / "tiny-1.json", tmp_path / "first", tmp_path / "second"
    config.write_text(json.dumps(DECODER | TINY | {"n_layers": 1}))

    ran = CliRunner().invoke(app, ["run", "--config", str(config), "--output", str(first), *QUICK])
    later = CliRunner().invoke(
        app,
        f"sweep --plan tiny --traces 1 --idle 0 --output {second} --skip-done {first} {' '.join(QUICK)}",
    )

    assert (ran.exit_code, later.exit_code) == (0, 0)
    names = [[run.config.name for run in read_dataset_runs(one / "runs.json")[0]] for one in (first, second)]
    assert names == [["tiny-1"], ["tiny-2", "tiny-3"]]


def test_attacks_that_need_more_gpus_are_left_out_in_one_line(tmp_path: Path) -> None:
    """They stand in the protocol; a gate would drop what is throttled on purpose, so there is none."""
    folder = tmp_path / "sweep"
    options = f"--plan attacks,tiny --only half,tiny-1 --traces 1 --idle 0 --gpus 1 {' '.join(QUICK)}"

    ran = CliRunner().invoke(app, f"sweep --output {folder} {options}")

    protocol = json.loads((folder / "events" / "sweep.json").read_text())
    assert (ran.exit_code, ran.exception) == (0, None)
    assert "left out, since they need more GPUs: half-b8, half-b16, half-b32" in ran.output
    assert list(protocol["finished"]) == ["tiny-1"]
    why = "GPUs needed: 2, there are 1"
    assert protocol["skipped"] == dict.fromkeys(("half-b8", "half-b16", "half-b32"), why)
    assert protocol["gate"] is False


@pytest.mark.parametrize("options", ["--device tpu", "--no-sample", "--plan none", "--name none"])
def test_what_cannot_be_run_is_refused(tmp_path: Path, options: str) -> None:
    """Before anything is started or written."""
    refused = CliRunner().invoke(app, f"run --output {tmp_path / 'none'} {options}")

    assert isinstance(refused.exception, BadInputError)
    assert not (tmp_path / "none").exists()


def test_a_sweep_without_samples_gets_those_of_a_recording(tmp_path: Path) -> None:
    """One line says how many runs are left; the dataset is whole."""
    folder, path = tmp_path / "sweep", tmp_path / "beside.parquet"
    CliRunner().invoke(app, f"run --no-sample --plan tiny --output {folder} {' '.join(QUICK)}")
    (run,), _ = read_dataset_runs(folder / "runs.json")
    instants = [run.start_ns - 10**9, run.stop_ns + 10**9]
    trace = Trace(Device("GPU-a", chip="H200-SXM"), instants, {"power_watts": [500.0, 500.0]})
    write_recording(path, Recording("beside", (trace,), Provenance("nvml")))

    ran = CliRunner().invoke(app, ["attach", str(folder), str(path)])

    assert (ran.exit_code, ran.exception) == (0, None)
    assert "1 runs in" in ran.output
    assert len(read_dataset(folder).recording.traces[0]) == 2
