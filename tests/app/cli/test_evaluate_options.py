"""``flopwitness evaluate`` asked for less or other than everything: cadence, nodes, estimators."""

import json

import pytest

from flopwitness.app.cli.main import status_of

NODE_A, NODE_B, NODE_C = (f"datasets/h200x2-{name}" for name in ("a", "b", "c3"))
QUICK = ["--estimator", "pipe-cycles-calibrated", "--target", "executed", "--json"]


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict:
    """Run a command that prints one JSON object."""
    assert status_of(["evaluate", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_only_the_estimators_that_were_named_are_scored(capsys: pytest.CaptureFixture[str]) -> None:
    """The networks take most of the time; who needs one figure need not wait for them."""
    found = answer([NODE_B, "--splits", "2", *QUICK], capsys)

    assert list(found["estimators"]) == ["pipe-cycles-calibrated"]
    assert found["interval_seconds"] is None
    assert {"name", "family", "truth_flop", "point_flop"} == set(found["workloads"][0])


def test_an_unknown_estimator_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The names that exist are said."""
    assert status_of(["evaluate", NODE_B, "--estimator", "oracle"]) == 2
    assert "pipe-cycles-calibrated" in capsys.readouterr().err


def test_a_slower_sampler_costs_accuracy_on_runs_of_four_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At 1 Hz the ends of a run lie anywhere within a second; at the recorded interval nothing changes."""
    arguments = [NODE_B, "--protocol", "frozen", "--fit-on", NODE_A, *QUICK]

    found = [
        answer([*arguments, *cadence], capsys) for cadence in ([], ["--interval", "0.1"], ["--interval", "1"])
    ]
    errors = [one["estimators"]["pipe-cycles-calibrated"]["median_abs_error_ratio"] for one in found]

    assert errors[1] == pytest.approx(errors[0], abs=0.001)
    assert errors[2] > 2 * errors[0]
    assert found[2]["interval_seconds"] == 1.0


def test_an_interval_below_zero_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line, as misuse."""
    assert status_of(["evaluate", NODE_B, "--interval", "-1"]) == 2
    assert "--interval" in capsys.readouterr().err


def test_several_datasets_may_be_calibrated_on(capsys: pytest.CaptureFixture[str]) -> None:
    """A node's sweep comes in parts: all of them calibrate, all of the others are tested."""
    arguments = [NODE_C, "--protocol", "frozen", "--fit-on", NODE_A, "--fit-on", NODE_B, *QUICK]

    found = answer(arguments, capsys)

    assert (found["n_traces"], found["n_calibration_workloads"]) == (39, 68)
    assert {run["dataset"] for run in found["runs"]} == {"h200x2-c3"}
