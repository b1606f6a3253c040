"""Calibrations as plain values: a round trip, and one line for whatever does not fit."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from estimate.made import NAN, energy_runs, simulated_runs
from flopwitness.core.errors import CalibrationMismatchError
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import FORMAT, VERSION, Calibration, Fitted
from flopwitness.estimate.conformal import UNBOUNDED, LogInterval
from flopwitness.estimate.methods import METHODS
from flopwitness.estimate.regressors.factories import regressor_factory

RUNS = simulated_runs(24).with_more(simulated_runs(8, seed=1, fp8_shares=(0.5, 1.0)))
ENERGY, ENERGY_FLOP = energy_runs(24)
QUICK = {"mlp": {"n_epochs": 2, "n_members": 2}, "mlp-residual": {"n_epochs": 2, "n_members": 2}}


def columns_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and truths for a method: pipes and signals, or energy and traffic."""
    n_columns = len(METHODS[name].columns)
    if "matrix_flop" in METHODS[name].columns:
        return RUNS.X[:, :n_columns], RUNS.executed_flop
    return ENERGY[:, :n_columns], ENERGY_FLOP


def fitted(name: str, interval: LogInterval) -> Fitted:
    """Fit one method."""
    X, y = columns_of(name)
    components = RUNS.components if name == "fused" else None
    estimator = regressor_factory(name, Target.EXECUTED)(**QUICK.get(name, {}))
    return Fitted(estimator.fit(X, y, components=components).state_, interval, guard_log=0.3)


CALIBRATION = Calibration(
    chip="H200-SXM",
    driver="580.159.04",
    data={"h200x2-a": "0" * 64},
    n_runs=32,
    n_workloads=32,
    coverage_ratio=0.9,
    fitted={
        Target.EXECUTED: {name: fitted(name, LogInterval(-0.1, 0.2)) for name in METHODS},
        Target.ALGORITHMIC: {"pipe-cycles": fitted("pipe-cycles", UNBOUNDED)},
    },
)


def payload() -> dict[str, Any]:
    """Return what a file holds, a fresh copy each time."""
    return json.loads(json.dumps(CALIBRATION.to_payload(), allow_nan=False))


def test_a_payload_comes_back_as_it_was():
    """Everything but the constants, which the next test holds; open ends too."""
    read = Calibration.from_payload(payload())

    for name in ("chip", "driver", "data", "n_runs", "n_workloads", "coverage_ratio"):
        assert getattr(read, name) == getattr(CALIBRATION, name)
    for target, by_name in CALIBRATION.fitted.items():
        assert {name: (one.interval, one.guard_log) for name, one in read.fitted[target].items()} == {
            name: (one.interval, one.guard_log) for name, one in by_name.items()
        }
    assert read.to_payload() == CALIBRATION.to_payload()


@pytest.mark.parametrize("name", METHODS)
def test_what_was_read_predicts_bit_for_bit_the_same(name: str):
    """Every method, after a file."""
    X, _ = columns_of(name)
    read = Calibration.from_payload(payload()).for_target(Target.EXECUTED)[name].state

    assert_array_equal(read.predict(X), CALIBRATION.fitted[Target.EXECUTED][name].state.predict(X))


def test_an_open_end_is_null():
    """JSON has no infinity and no NaN; a half-open interval keeps its other end."""
    half_open = Fitted(CALIBRATION.fitted[Target.EXECUTED]["pipe-cycles"].state, LogInterval(-0.1, np.inf))
    one = Calibration("H200-SXM", "", {}, 1, 1, 0.9, {Target.EXECUTED: {"pipe-cycles": half_open}})

    text = json.dumps(one.to_payload(), allow_nan=False)

    assert json.loads(text)["targets"]["executed"]["pipe-cycles"]["interval_log"] == [-0.1, None]
    assert Calibration.from_payload(json.loads(text)).fitted[Target.EXECUTED]["pipe-cycles"].interval == (
        -0.1,
        np.inf,
    )


def test_a_missing_guard_is_null():
    """Infinite where too few runs calibrated one, which JSON cannot say."""
    unguarded = Fitted(CALIBRATION.fitted[Target.EXECUTED]["pipe-cycles"].state, UNBOUNDED)
    one = Calibration("H200-SXM", "", {}, 1, 1, 0.9, {Target.EXECUTED: {"pipe-cycles": unguarded}})

    content = json.loads(json.dumps(one.to_payload(), allow_nan=False))

    assert content["targets"]["executed"]["pipe-cycles"]["guard_log"] is None
    assert Calibration.from_payload(content).fitted[Target.EXECUTED]["pipe-cycles"].guard_log == np.inf


@pytest.mark.parametrize("rows", [RUNS.X, simulated_runs(6, seed=1, fp8_shares=(0.5, 1.0)).X])
def test_what_was_read_knows_the_same_of_each_session(rows: np.ndarray):
    """The fused estimate in full: point, open formats, misfit and what is identified, after a file."""
    read = Calibration.from_payload(payload()).for_target(Target.EXECUTED)["fused"].state

    for one, other in zip(
        read.answer(rows), CALIBRATION.fitted[Target.EXECUTED]["fused"].state.answer(rows), strict=True
    ):
        assert_array_equal(one, other)


def test_a_payload_names_format_version_features_and_columns():
    """Constants mean nothing without the columns that they multiply."""
    content = payload()

    assert (content["format"], content["version"]) == (FORMAT, VERSION)
    assert content["targets"]["executed"]["pipe-cycles"]["columns"] == ["matrix_flop", "vector_flop"]
    assert set(content["features"]) >= set(METHODS["fused"].columns)


def method(content: dict[str, Any], name: str = "linear-power") -> dict[str, Any]:
    """Return what a payload holds of one method."""
    return content["targets"]["executed"][name]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda content: content.update(format="something"), "calibration format is 'something'"),
        (lambda content: content.pop("format"), "calibration format is None"),
        (lambda content: content.update(version=VERSION + 1), f"calibration version is {VERSION + 1}"),
        (lambda content: content.pop("chip"), "not a complete calibration .*chip"),
        (lambda content: content.pop("targets"), "not a complete calibration .*targets"),
        (lambda content: content.update(n_runs="many"), "not a complete calibration"),
        (lambda content: content.update(data=["a"]), "not a complete calibration"),
        (lambda content: content.update(targets=[]), "not a complete calibration"),
        (lambda content: content["targets"].update(imagined={}), "not a complete calibration .*imagined"),
        (lambda content: content["targets"]["executed"].update(oracle={}), "unknown method 'oracle'"),
        (lambda content: content["targets"]["executed"].update(mlp=None), "not a complete calibration"),
        (lambda content: method(content).update(columns=["watts"]), "fitted on ['watts']"),
        (lambda content: method(content)["columns"].reverse(), "linear-power reads"),
        (lambda content: method(content).pop("columns"), "not a complete calibration .*columns"),
        (lambda content: method(content).pop("constants"), "not a complete calibration .*constants"),
        (lambda content: method(content)["constants"].pop("debits"), "LinearState needs the constants"),
        (lambda content: method(content).update(constants=[1, 2]), "LinearState needs the constants"),
        (lambda content: method(content)["constants"].update(debits=[NAN]), "no finite number"),
        (
            lambda content: method(content)["constants"].update(debits=[1.0, 2.0]),
            "not a complete calibration",
        ),
        (lambda content: method(content, "mlp")["constants"].update(output=[]), "not a complete calibration"),
        (lambda content: method(content, "fused")["constants"].update(whitening=[[1.0]]), "not a complete"),
        (
            lambda content: method(content, "fused")["constants"].update(largest_misfits=[1.0, 2.0]),
            "not a comp",
        ),
        (lambda content: method(content, "fused")["constants"].update(format_whitening=[]), "not a complete"),
        (lambda content: method(content, "fused")["constants"]["format_response"][0].pop(), "FusedState: "),
        (lambda content: content.update(version=1), "calibration version is 1"),
        (lambda content: method(content).pop("guard_log"), "not a complete calibration .*guard_log"),
        (lambda content: method(content).update(guard_log="high"), "not a complete calibration"),
        (lambda content: method(content).update(guard_log=NAN), "linear-power has the guard nan"),
        (lambda content: method(content).update(guard_log=-0.1), "linear-power has the guard -0.1"),
        (lambda content: method(content, "fused")["constants"].pop("format_response"), "FusedState needs"),
        (
            lambda content: method(content, "fused")["constants"].pop("integer_per_pipe_flop"),
            "FusedState nee",
        ),
        (lambda content: method(content).update(interval_log=[0.1]), "not a complete calibration"),
        (lambda content: method(content).update(interval_log=[0.2, 0.1]), "not a complete calibration"),
        (lambda content: method(content).update(interval_log=[NAN, 0.1]), "not a complete calibration"),
        (lambda content: method(content).update(interval_log=["low", 0.1]), "not a complete calibration"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(spoil: Callable[[dict[str, Any]], object], message: str):
    """Another format, version, method or column; something missing; constants of another shape."""
    content = payload()
    spoil(content)

    with pytest.raises(CalibrationMismatchError) as caught:
        Calibration.from_payload(content)

    pattern, _, rest = message.partition(" .*")
    assert pattern in str(caught.value)
    assert rest in str(caught.value)
    assert "\n" not in str(caught.value)


def test_another_chip_is_refused():
    """An active cycle of another chip is worth something else."""
    with pytest.raises(CalibrationMismatchError, match="for H200-SXM, the recording is of A100-SXM, B200"):
        CALIBRATION.require_chips(["B200", "H200-SXM", "A100-SXM"])

    CALIBRATION.require_chips(["H200-SXM", "H200-SXM"])


def test_a_target_that_was_not_fitted_is_refused():
    """Executed FLOP do not stand in for algorithmic ones."""
    only = Calibration("H200-SXM", "", {}, 1, 1, 0.9, {Target.EXECUTED: {}})

    with pytest.raises(CalibrationMismatchError, match="fitted for executed, not for algorithmic FLOP"):
        only.for_target(Target.ALGORITHMIC)
