"""What others script against: the JSON of each command, its help, its exit status."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.recordings import write_folder
from flopwitness.app.cli import main
from flopwitness.app.cli.main import status_of

ROOT = Path(__file__).resolve().parents[3]
HANG = str(ROOT / "datasets" / "h200x2-hang")
NODE_A, NODE_B = str(ROOT / "datasets" / "h200x2-a"), str(ROOT / "datasets" / "h200x2-b")
FIGURES = {
    "median_abs_error_ratio",
    "mean_abs_error_ratio",
    "p90_abs_error_ratio",
    "worst_under_ratio",
    "worst_over_ratio",
}
METHODS = {
    "linear-power",
    "linear-power-dram",
    "linear-power-dram-nvlink",
    "mlp",
    "mlp-residual",
    "pipe-cycles",
    "pipe-cycles-calibrated",
    "fused",
}
PEAK_FLOP_PER_SECOND = 989.4e12
"""Dense bf16 of an H200, by its data sheet."""


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calibrate on node a once, by the command itself."""
    output = tmp_path_factory.mktemp("calibration") / "a.json"
    assert status_of(["calibrate", NODE_A, "--output", str(output), "--target", "executed"]) == 0
    return output


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Run a command that must succeed; return the JSON lines of its standard output."""
    capsys.readouterr()

    assert status_of(arguments) == 0

    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_read_tells_what_a_recording_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """One object: devices with their channels, and what reading lost."""
    (found,) = answer(["read", HANG, "--json"], capsys)

    assert [device["n_samples"] for device in found["devices"]] == [3667, 3667]
    assert found["devices"][0]["rate_hertz"] == pytest.approx(10, rel=0.01)
    assert "truncated" in {finding["code"] for finding in found["findings"]}


def test_the_deadlock_is_estimated_as_no_work_and_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Five minutes at 100 % utilisation yield less than 0.1 % of what that would be at peak."""
    sessions = answer(["estimate", HANG, "--json"], capsys)

    stalled = [session for session in sessions if session["name"] == "stalled"]
    assert len(stalled) == 1
    (alarm,) = [finding for finding in stalled[0]["findings"] if finding["code"] == "stalled"]
    assert alarm["severity"] == "alarm"
    assert "no work was done" in alarm["message"]
    seconds = stalled[0]["n_samples"] / 10
    for name in ("pipe-cycles", "pipe-cycles-calibrated", "fused"):
        assert stalled[0]["estimates"][name]["point_flop"] < 1e-3 * seconds * PEAK_FLOP_PER_SECOND


def test_estimate_prints_a_line_a_logged_window(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every documented field is there; the interval holds the point; devices are named by UUID."""
    windows = str(Path(NODE_B) / "runs.json")
    arguments = ["estimate", NODE_B, "--windows", windows, "--calibration", str(calibration)]

    sessions = answer([*arguments, "--target", "executed", "--json"], capsys)

    assert len(sessions) == 23
    for session in sessions:
        assert {"session_id", "start", "end", "devices", "n_samples", "estimates", "findings"} <= set(session)
        assert session["devices"] == ["h200x2-b:0", "h200x2-b:1"]
        assert set(session["estimates"]) == METHODS
        fused = session["estimates"]["fused"]
        assert fused["low_flop"] <= fused["point_flop"] <= fused["high_flop"]


def test_estimate_answers_in_the_target_that_was_asked_for(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A calibration for executed FLOP says nothing of algorithmic FLOP."""
    status = status_of(["estimate", NODE_B, "--calibration", str(calibration), "--target", "algorithmic"])

    assert status == 2
    assert "executed" in capsys.readouterr().err


def test_evaluate_prints_the_figures_of_every_estimator(capsys: pytest.CaptureFixture[str]) -> None:
    """The object that scripts read: what was done, on what, and five figures an estimator."""
    (found,) = answer(["evaluate", NODE_B, "--splits", "2", "--target", "executed", "--json"], capsys)

    assert (found["protocol"], found["target"], found["splits"]) == ("random", "executed", 2)
    assert (found["n_workloads"], found["n_traces"]) == (23, 23)
    assert set(found["estimators"]) == METHODS
    assert all(set(row) >= FIGURES for row in found["estimators"].values())


def test_the_same_seed_gives_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """However the splits were spread over processes."""
    arguments = ["evaluate", NODE_B, "--splits", "3", "--seed", "7", "--json"]

    assert answer(arguments, capsys) == answer(arguments, capsys)


def test_frozen_by_file_tells_every_run_and_beats_one_per_cent(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Calibrated on one node, tested on the other's GPUs, with the estimate of each run beside its truth."""
    arguments = ["evaluate", NODE_B, "--protocol", "frozen", "--calibration", str(calibration)]

    (found,) = answer([*arguments, "--target", "executed", "--json"], capsys)

    assert found["protocol"] == "frozen"
    assert len(found["runs"]) == 23
    assert set(found["runs"][0]) >= {"name", "family", "truth_flop", "estimates"}
    assert set(found["runs"][0]["estimates"]["fused"]) == {"point_flop", "low_flop", "high_flop"}
    assert found["estimators"]["fused"]["median_abs_error_ratio"] < 0.01


def test_a_recorders_folder_and_our_dataset_give_the_same_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Converting loses nothing that an estimate rests on."""
    folder = write_folder(tmp_path / "made")
    assert status_of(["convert", str(folder), "--output", str(tmp_path / "made.parquet")]) == 0

    from_csv = answer(["estimate", str(folder), "--json"], capsys)
    from_parquet = answer(["estimate", str(tmp_path / "made.parquet"), "--json"], capsys)

    assert from_csv == from_parquet
    assert len(from_csv) == 1


@pytest.mark.parametrize("name", sorted(main.COMMANDS | main.GROUPS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` prints the docstring of the command and leaves with 0."""
    assert status_of([name, "--help"]) == 0
    assert "Usage: flopwitness" in capsys.readouterr().out


def test_the_help_lists_what_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One table for the help, one for what is imported alone: they agree."""
    assert status_of(["--help"]) == 0

    listed = capsys.readouterr().out.partition("Commands:")[2]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == main.COMMANDS | main.GROUPS


def test_a_command_is_imported_alone() -> None:
    """``record`` starts on a GPU node without what only evaluations and readers of text need."""
    code = (
        "import sys; from flopwitness.app.cli.main import status_of; status_of(['record', '--help']); "
        "unwanted = {'flopwitness.app.cli.evaluate', 'flopwitness.lab', 'pyarrow.compute'}; "
        "sys.exit(len(unwanted & set(sys.modules)))"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr


def test_a_misspelt_command_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It is looked for among all of them."""
    assert status_of(["wach"]) == 2

    assert capsys.readouterr().err.splitlines() == [
        "flopwitness: No such command 'wach'. Did you mean 'watch'?"
    ]


def test_a_bug_leaves_with_its_own_status(capsys: pytest.CaptureFixture[str]) -> None:
    """Python's own 1 would read as inconsistent; a bug prints its traceback and leaves with 70."""
    assert main._status_of(RuntimeError("ours")) == 70
    assert "RuntimeError: ours" in capsys.readouterr().err


def test_a_missing_extra_is_named() -> None:
    """A GPU node without scikit-learn is told what to install, in one line."""
    code = (
        "import sys; sys.modules['sklearn'] = None; from flopwitness.app.cli.main import status_of; "
        f"sys.exit(status_of(['evaluate', {NODE_B!r}]))"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert "flopwitness[research]" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_what_a_gpu_node_runs_imports_no_research_package() -> None:
    """``read`` and ``estimate`` need numpy, pyarrow, typer and rich alone."""
    code = (
        "import sys; from flopwitness.app.cli.main import status_of; "
        f"status_of(['estimate', {HANG!r}, '--json']); "
        "sys.exit(len({'sklearn', 'scipy', 'joblib', 'matplotlib', 'jinja2', 'torch'} & set(sys.modules)))"
    )

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
