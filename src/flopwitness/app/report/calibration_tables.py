"""Tables of the constants that estimates were made with."""

import dataclasses
from math import exp

import numpy as np

from flopwitness.app.report.table import Table, plain_table, row_of
from flopwitness.app.report.wording import UNBOUNDED, number_text, percent_text
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration, Fitted
from flopwitness.estimate.conformal import LogInterval
from flopwitness.estimate.methods import METHODS, PredictorState


def calibration_table(calibration: Calibration, target: Target) -> Table:
    """Return every fitted method of one target: what it reads, its constants and its bounds."""
    rows = [
        row_of(
            name,
            METHODS[name].summary,
            ", ".join(METHODS[name].columns),
            constants_text(fitted.state),
            interval_text(fitted.interval),
        )
        for name, fitted in _by_name(calibration, target).items()
    ]
    caption = (
        f"Methods as fitted for {target} FLOP on {calibration.chip}. Bounds are of truth over estimate, "
        f"made to hold {percent_text(calibration.coverage_ratio)} of runs like those calibrated on. Arrays "
        "of constants are given by their shape alone."
    )
    columns = ("Method", "What it is", "Reads", "Constants", "Truth / estimate")
    return plain_table(caption, columns, rows, n_text_columns=len(columns))


def constants_text(state: PredictorState) -> str:
    """Return the constants of a method: numbers as they are, arrays by shape."""
    fields = dataclasses.fields(state)
    return (
        "; ".join(f"{field.name} {_value_text(getattr(state, field.name))}" for field in fields)
        or "none fitted"
    )


def interval_text(interval: LogInterval) -> str:
    """Return bounds as factors on the estimate.

    Examples
    --------
    >>> interval_text(LogInterval(-0.1, 0.1)), interval_text(LogInterval(float("-inf"), float("inf")))
    ('0.905 to 1.105', 'unbounded: too few runs to promise one')
    """
    if not np.isfinite(interval).all():
        return f"{UNBOUNDED}: too few runs to promise one"
    return f"{exp(interval.low):.3f} to {exp(interval.high):.3f}"


def _by_name(calibration: Calibration, target: Target) -> dict[str, Fitted]:
    return dict(calibration.fitted.get(target, {}))


def _value_text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "[" + " × ".join(str(length) for length in value.shape) + "]"
    return number_text(value) if isinstance(value, int | float) else str(value)
