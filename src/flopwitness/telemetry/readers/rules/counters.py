"""Counters: a dip that recovers is a glitch, a drop that stays is a reset, a jump beyond reach no reading.

Reports: github.com/IBM/CAST/issues/399 (reset),
github.com/sustainable-computing-io/kepler/pull/53 (underflow).
"""

import numpy as np
from numpy.typing import NDArray

from flopwitness.core.channels import CANONICAL, Kind
from flopwitness.core.finding import Severity
from flopwitness.core.trace import Trace
from flopwitness.physics.counters import counter_faults, most_per_second
from flopwitness.telemetry.readers.notes import Notes
from flopwitness.telemetry.readers.products import known_chip
from flopwitness.telemetry.readers.rules.altered import without_values


def without_counter_glitches(piece: Trace, notes: Notes) -> Trace:
    """Return a piece without values that its counters never had; resets stay, and are noted.

    Notes written: ``counter-glitch``, ``underflow``, ``counter-reset`` and ``counter-set-back``.
    """
    taken = {
        name: is_out
        for name in piece.channels
        if name in CANONICAL and CANONICAL[name].kind is Kind.COUNTER
        if (is_out := _taken(piece, name, notes)) is not None
    }
    return without_values(piece, taken) if taken else piece


def _taken(piece: Trace, name: str, notes: Notes) -> NDArray[np.bool_] | None:
    values = piece[name]
    known = np.isfinite(values)
    if int(known.sum()) < 2:
        return None
    most = most_per_second(name, known_chip(piece.device))
    faults = counter_faults(piece.seconds()[known], values[known], most)
    of = f"{name} of {piece.device.uuid}"
    for code, is_one, what, severity in (
        (
            "counter-glitch",
            faults.is_glitch,
            f"values of {of} fit no counter that goes on behind them and were taken out",
            Severity.WARNING,
        ),
        (
            "underflow",
            faults.is_underflow,
            f"values of {of} are a difference below zero and were taken out",
            Severity.WARNING,
        ),
        (
            "counter-reset",
            faults.is_reset,
            f"times {of} began anew; the time of that step is unobserved",
            Severity.NOTE,
        ),
        (
            "counter-set-back",
            faults.is_setback,
            f"times {of} fell without beginning anew; that step is unobserved",
            Severity.WARNING,
        ),
    ):
        notes.count(code, what, n=int(is_one.sum()), subject=piece.device.uuid, severity=severity)
    is_out = np.zeros(len(piece), dtype=np.bool_)
    is_out[known] = faults.is_glitch | faults.is_underflow
    return is_out
