"""The list of runs beside a recording."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.runs_json import read_runs

GOOD: Mapping[str, object] = {
    "kind": "train",
    "d_model": 1024,
    "lr": 0.25,
    "causal": True,
    "dropout": None,
    "family": "width-depth",
    "name": "wd-1024",
    "t_start": 1795999050.0026968,
    "t_end": 1795999054.5,
    "steps": 24,
    "flops_per_step_per_gpu": 75956496629760,
    "n_gpus": 2,
    "total_tflop": 3645.91183822848,
    "step_s": 0.169,
    "mem_gib": 44.5,
}


def write(folder: Path, *runs: object) -> Path:
    """Write a list of runs."""
    path = folder / "runs.json"
    path.write_text(json.dumps(runs))
    return path


def test_a_run_is_read_with_its_truth(tmp_path: Path):
    """Times keep every digit, FLOP is exact, hyper-parameters hold no result and no blank."""
    ((run,), skipped) = read_runs(write(tmp_path, GOOD))

    assert skipped == ()
    assert (run.config.name, run.config.family, run.trace_index) == ("wd-1024", "width-depth", 0)
    assert (run.start_ns, run.stop_ns) == (1795999050002696800, 1795999054500000000)
    assert run.truth.algorithmic_flop == 75956496629760 * 24 * 2
    assert run.truth.executed_flop is None
    assert run.config.parameters == {
        "kind": "train",
        "d_model": 1024,
        "lr": 0.25,
        "causal": True,
        "steps": 24,
        "n_gpus": 2,
    }


def test_executed_flop_comes_from_the_file_or_else_from_the_caller(tmp_path: Path):
    """What was counted goes before what can be computed; None stays unknown."""
    path = write(tmp_path, GOOD, dict(GOOD, executed_tflop=3000.5, t_start=1795999051))

    (computed, counted), _ = read_runs(
        path, executed_flop=lambda parameters: 1e12 * float(parameters["steps"])
    )
    (unknown, _), _ = read_runs(path, executed_flop=lambda _: None)

    assert computed.truth.executed_flop == 24e12
    assert counted.truth.executed_flop == 3000.5e12
    assert unknown.truth.executed_flop is None


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (("flops_per_step_per_gpu",), 3645911838228480.0),
        (("total_tflop",), 3645911838228480.0),
        (("total_tflop", "n_gpus"), None),
    ],
)
def test_either_statement_of_the_flop_is_enough(
    tmp_path: Path, missing: tuple[str, ...], expected: float | None
):
    """Without both the truth is unknown, not zero."""
    fields = {name: value for name, value in GOOD.items() if name not in missing}

    ((run,), _) = read_runs(write(tmp_path, fields))

    assert run.truth.algorithmic_flop == expected


def test_failed_runs_and_runs_without_times_are_skipped_with_a_reason(tmp_path: Path):
    """One sentence each; the others are used."""
    failed = {"name": "big", "family": "f", "error": "out of memory"}
    timeless = {name: value for name, value in GOOD.items() if not name.startswith("t_")}

    runs, skipped = read_runs(write(tmp_path, failed, GOOD, timeless, dict(GOOD, t_end=None)))

    assert len(runs) == 1
    assert skipped == (
        "run 'big': it failed ('out of memory')",
        "run 'wd-1024': it has no t_start and no t_end",
        "run 'wd-1024': it has no t_end",
    )


def test_runs_come_in_time_order_and_repeats_are_numbered(tmp_path: Path):
    """The index of a repetition follows time, not the order of the file."""
    later, other = dict(GOOD, t_start=1795999053), dict(GOOD, t_start=1795999049, name="other")

    runs, _ = read_runs(write(tmp_path, later, GOOD, other))

    assert [(run.config.name, run.trace_index) for run in runs] == [
        ("other", 0),
        ("wd-1024", 0),
        ("wd-1024", 1),
    ]
    assert [run.start_ns for run in runs] == sorted(run.start_ns for run in runs)


def test_a_packed_list_is_read(tmp_path: Path):
    """Gzip is accepted, but not without its end: a run may be missing there."""
    path = tmp_path / "runs.json.gz"
    data = gzip.compress(json.dumps([GOOD]).encode())
    path.write_bytes(data)
    assert len(read_runs(path)[0]) == 1

    path.write_bytes(data[:-1])
    with pytest.raises(BadInputError, match="expected a whole gzip file"):
        read_runs(path)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("name", "", "a text"),
        ("name", 5, "a text"),
        ("name", None, "a text"),
        ("family", ["x"], "a text"),
        ("t_start", -1795999050.5, "a positive number"),
        ("t_start", "1795999050", "a positive number"),
        ("t_start", True, "a positive number"),
        ("t_end", 1795999054500, "seconds since 1970"),
        ("steps", -24, "a positive number"),
        ("steps", 0, "a positive number"),
        ("n_gpus", "two", "a positive number"),
        ("total_tflop", [1], "a positive number"),
        ("executed_tflop", -1, "a positive number"),
        ("d_model", [1024], "a number, a text, true or false"),
        ("d_model", {"a": 1}, "a number, a text, true or false"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(tmp_path: Path, field: str, value: object, expected: str):
    """The message names the file, the run, the field, what was expected and what came."""
    path = write(tmp_path, GOOD, {**GOOD, field: value})

    with pytest.raises(BadInputError) as caught:
        read_runs(path)

    message = str(caught.value)
    assert message.startswith(f"{path}: run ")
    assert f"field '{field}': expected {expected}, got " in message
    assert "\n" not in message


def test_statements_of_the_flop_that_differ_are_refused(tmp_path: Path):
    """Ground truth that contradicts itself is none; one in a million is rounding."""
    close = dict(GOOD, total_tflop=3645.91183822848 * (1 + 5e-7))
    apart = dict(GOOD, total_tflop=3645.91183822848 * (1 + 2e-6))
    assert len(read_runs(write(tmp_path, close))[0]) == 1

    with pytest.raises(
        BadInputError, match=r"field 'total_tflop': expected 3645\.91183822848 from steps and GPUs"
    ):
        read_runs(write(tmp_path, apart))


def test_a_run_that_ends_before_it_starts_is_refused(tmp_path: Path):
    """A stretch has a length."""
    with pytest.raises(BadInputError, match=r"run 'wd-1024': expected a run, got .*stops before it starts"):
        read_runs(write(tmp_path, dict(GOOD, t_end=1795999000)))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected text, got an empty file"),
        ("{", "expected JSON"),
        ("[" * 100_000, "expected JSON"),
        ('[{"name": NaN}]', "expected JSON, got 'NaN is not JSON'"),
        ("__import__('os').abort()", "expected JSON"),
        ("[1e5]", "run 0: expected an object"),
        ('{"runs": []}', "expected a list of runs, got a dict"),
        ("[" + "9" * 5000 + "]", "expected JSON"),
        ('[{"name": "x", "t_start": 1, "t_end": 2, "lr": 1e999}]', "field 'lr'"),
    ],
)
def test_what_is_no_list_of_runs_is_refused(tmp_path: Path, text: str, complaint: str):
    """Text is parsed as JSON, never run."""
    path = tmp_path / "runs.json"
    path.write_text(text)

    with pytest.raises(BadInputError, match=complaint):
        read_runs(path)


def test_an_empty_list_has_no_runs(tmp_path: Path):
    """Nothing ran: that is an answer."""
    assert read_runs(write(tmp_path)) == ((), ())
