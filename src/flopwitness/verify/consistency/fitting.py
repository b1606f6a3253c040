"""Learn the constants of the consistency checks from clean recordings. Ground truth never enters."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.blocks import blocks_of
from flopwitness.verify.consistency.lags import BESIDE, LagLimits, device_lag, pair_lags
from flopwitness.verify.consistency.load import (
    MATRIX_WIDTHS,
    POWER_WIDTHS,
    LoadLimits,
    Residuals,
    matrix_columns,
    matrix_residuals,
    power_residuals,
)
from flopwitness.verify.consistency.regression import Regression
from flopwitness.verify.consistency.state import ConsistencyState
from flopwitness.verify.consistency.traffic import fitted_traffic

EXCERPT_SAMPLES = 600
"""Lags are measured over excerpts of this length, a minute at 10 Hz."""

BOARD_RATIO = 0.03
"""Boards of one chip draw up to so much more or less at the same work: 4 % lay between seven H200s."""

LOAD_MARGIN = 1.25
"""Residuals of recordings that were not fitted are this much larger than those of fitted ones."""

LAG_MARGIN = 1.25
UNKNOWN_SECONDS = 1e3
"""A lag that no clean recording showed is not judged."""

MIN_LAG_SECONDS, MIN_SENSOR_LAG_SECONDS = 0.1, 0.2
"""Lags within a sample of 10 Hz pass, and of power within two.

The rhythm of short bursts moves the best lag by 0.07 s between pipes that do not work at once, and by 0.17 s
in a power sensor that is refreshed ten times a second itself.
"""

DEVICE = "device"
SENSORS = ("gpu_util_ratio", "power_instant_watts", "energy_joules_total", DEVICE)
"""Refreshed by themselves, or read in another round: devices are read up to a sample apart."""


def fitted_state(recordings: Sequence[Recording]) -> ConsistencyState:
    """Fit every constant.

    Parameters
    ----------
    recordings : sequence of Recording
        Clean, of one chip, with idle and with load.

    Raises
    ------
    InvalidNounError
        When they are of several chips, or hold no block with every signal that is needed.
    """
    traces = [trace for recording in recordings for trace in recording.traces]
    chips = sorted({trace.device.chip for trace in traces})
    blocks = [blocks_of(trace) for trace in traces]
    if len(chips) != 1 or not any(len(one) for one in blocks):
        raise InvalidNounError(f"consistency is fitted on one chip with power and activity, got {chips}")
    terms = np.concatenate([one.terms for one in blocks])
    watts = np.concatenate([one.watts for one in blocks])
    power = Regression.fitted(terms, watts)
    matrix = Regression.fitted(np.concatenate([matrix_columns(one) for one in blocks]), terms[:, 0])
    load = LoadLimits(
        _load_limits((power_residuals(one, power) for one in blocks), POWER_WIDTHS),
        _load_limits((matrix_residuals(one, matrix) for one in blocks), MATRIX_WIDTHS),
    )
    return ConsistencyState(chips[0], power, matrix, load, _lag_limits(recordings), fitted_traffic(blocks))


def _load_limits(residuals: Iterable[Residuals], widths: tuple[int, ...]) -> NDArray[np.float64]:
    every = list(residuals)
    largest = [
        max(float(np.abs(one.summed_ratios(width)).max(initial=0.0)) for one in every) for width in widths
    ]
    # A wider window is an average of narrower ones: its limit cannot be the greater.
    limits: NDArray[np.float64] = np.minimum.accumulate(LOAD_MARGIN * np.array(largest)) + BOARD_RATIO
    return limits


def _lag_limits(recordings: Iterable[Recording]) -> LagLimits:
    rows = [row for recording in recordings for row in _recording_lags(recording)]
    lags = np.array(rows) if rows else np.full((1, len(BESIDE) + 1), np.nan)
    known = np.isfinite(lags).any(axis=0)
    lowest, highest = np.full(len(known), -UNKNOWN_SECONDS), np.full(len(known), UNKNOWN_SECONDS)
    lowest[known], highest[known] = np.nanmin(lags[:, known], axis=0), np.nanmax(lags[:, known], axis=0)
    least = [MIN_SENSOR_LAG_SECONDS if name in SENSORS else MIN_LAG_SECONDS for name in (*BESIDE, DEVICE)]
    reach = np.maximum(LAG_MARGIN * (highest - lowest) / 2, least)
    return LagLimits((lowest + highest) / 2, reach)


def _recording_lags(recording: Recording) -> Iterator[NDArray[np.float64]]:
    excerpts = [list(_excerpts(trace)) for trace in recording.traces]
    for pieces in zip(*excerpts, strict=False):
        between = device_lag(pieces[0], pieces[1]) if len(pieces) > 1 else float("nan")
        for piece in pieces:
            yield np.append(pair_lags(piece), between)


def _excerpts(trace: Trace) -> Iterator[Trace]:
    for start in range(0, max(len(trace) - EXCERPT_SAMPLES, 0) + 1, EXCERPT_SAMPLES // 2):
        yield trace.between(start, start + EXCERPT_SAMPLES)
