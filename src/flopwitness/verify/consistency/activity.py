"""Activity against activity and utilisation: relations that hold on clean recordings to the last digit."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.trace import Trace
from flopwitness.detect.lost import without_lost_samples
from flopwitness.verify.consistency.deviation import Deviation

CODE = "activity-against-activity"
UTILISATION_CODE = "activity-against-utilisation"

SUBSET_LIMIT = 0.015
"""No pipe is active longer than its SM, no SM longer than the engine; clean: by 0.003, the integer pipe."""

SUM_LIMIT = 0.005
"""The matrix pipes add up to their summary. Clean: within 0.000001."""

PARTS = ("hmma_active_ratio", "imma_active_ratio", "dfma_active_ratio")
SUMMARY, SM, ENGINE, UTILISATION = (
    "tensor_active_ratio",
    "sm_active_ratio",
    "gr_engine_active_ratio",
    "gpu_util_ratio",
)

FULL_LIMIT = 0.03
"""While utilisation stays at 1 the engine's share comes within this of 1, at its best; clean: 0.002."""

FULL_QUANTILE = 0.9
MIN_FULL_SAMPLES = 15

MISSED_LIMIT = 0.4
"""Mean of utilisation less engine share over ``MISSED_SECONDS``; clean: -0.18 to 0.26. Utilisation lags."""

MISSED_SECONDS = 2.0


def activity_deviations(trace: Trace) -> Iterator[Deviation]:
    """Compare the shares of one device with each other and with utilisation."""
    clean = without_lost_samples(trace)
    for inner, outer in _subsets(clean):
        excess = clean[inner] - clean[outer]
        if np.isfinite(excess).any():
            yield _at(clean, excess, SUBSET_LIMIT, f"{inner} exceeds {outer} by {{:.3f}}", code=CODE)
    if SUMMARY in clean and all(part in clean for part in PARTS):
        difference = np.abs(clean[SUMMARY] - np.sum([clean[part] for part in PARTS], axis=0))
        if np.isfinite(difference).any():
            yield _at(
                clean, difference, SUM_LIMIT, f"{SUMMARY} is {{:.3f}} off the sum of its pipes", code=CODE
            )
    if ENGINE in clean and UTILISATION in clean:
        yield from _against_utilisation(clean)


def _subsets(trace: Trace) -> list[tuple[str, str]]:
    pairs = [(pipe, SM) for pipe in PIPE_CHANNELS] + [(SM, ENGINE)]
    return [(inner, outer) for inner, outer in pairs if inner in trace and outer in trace]


def _against_utilisation(trace: Trace) -> Iterator[Deviation]:
    engine, utilisation = trace[ENGINE], trace[UTILISATION]
    full = utilisation >= 1.0
    full[1:-1] &= full[:-2] & full[2:]
    known = full & np.isfinite(engine)
    if int(known.sum()) >= MIN_FULL_SAMPLES:
        short = 1.0 - float(np.quantile(engine[known], FULL_QUANTILE))
        sentence = (
            f"GPU {trace.device.uuid}: utilisation stays at 1, the engine's share never above {1 - short:.2f}"
        )
        span = (int(trace.time_ns[known][0]), int(trace.time_ns[known][-1]))
        yield Deviation(UTILISATION_CODE, trace.device.uuid, *span, max(short, 0.0), FULL_LIMIT, sentence)
    missed = running_mean(utilisation - engine, trace, MISSED_SECONDS)
    if len(missed):
        words = "utilisation and the engine's share lie {:.2f} apart"
        yield _at(trace, np.abs(missed), MISSED_LIMIT, words, code=UTILISATION_CODE)


def running_mean(values: NDArray[np.float64], trace: Trace, seconds: float) -> NDArray[np.float64]:
    """Return means over some seconds, by the first sample of each; samples without a value count as 0."""
    period = float(np.median(np.diff(trace.seconds()))) if len(trace) > 1 else 0.0
    n_samples = max(round(seconds / period), 1) if period > 0 else 1
    if len(values) < n_samples:
        return np.empty(0)
    total = np.cumsum(np.concatenate([[0.0], np.nan_to_num(values)]))
    mean: NDArray[np.float64] = (total[n_samples:] - total[:-n_samples]) / n_samples
    return mean


def _at(trace: Trace, amounts: NDArray[np.float64], limit: float, words: str, *, code: str) -> Deviation:
    where = int(np.nanargmax(amounts))
    amount = max(float(amounts[where]), 0.0)
    sentence = f"GPU {trace.device.uuid}: {words.format(amount)}"
    when_ns = int(trace.time_ns[where])
    return Deviation(code, trace.device.uuid, when_ns, when_ns, amount, limit, sentence)
