"""Which number formats an inverted signature leaves open: for the point, for honest and for hostile runs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopwitness.physics.components import CAST_FORMATS, FORMATS

HALF_SHARE = 0.9
"""Prior of half precision: nine runs of ten train in it; the other formats share the rest."""

GATE_MISFIT = 10.0
"""Sessions that half precision explains better than this are not taken for another format.

99 % of the benign runs of a node that the response was not learned on stay below (h200x2-d1 and -d2 by c).
"""

PLAUSIBLE = 0.01
"""A format of at least this probability has a part in the bounds."""

IDENTIFIED = 0.95
"""A kind of format of at least this probability is called identified."""

KINDS = np.array([0, *(1 if name in CAST_FORMATS else 2 + FORMATS.index(name) for name in FORMATS)])
"""Half precision and each of ``FORMATS``, by kind: those with casts around 8-bit products are one."""


class FormatChoice(NamedTuple):
    """What is open for each session; the last axis of matrices is half precision and ``FORMATS``.

    Attributes
    ----------
    probability : ndarray of shape (n_sessions, 1 + n_formats)
        Sums to 1.
    weight : ndarray of shape (n_sessions, 1 + n_formats)
        What the point is made of; sums to 1, or to 0 where no format explains the signals.
    is_plausible, is_possible : ndarray of shape (n_sessions, 1 + n_formats), bool
        Formats that the interval, and the bound for hostile workloads, must cover.
    is_identified : ndarray of shape (n_sessions,), bool
        Whether one kind of format explains the signals and is nearly certain.
    is_explained : ndarray of shape (n_sessions,), bool
        Whether any format explains the signals.
    """

    probability: NDArray[np.float64]
    weight: NDArray[np.float64]
    is_plausible: NDArray[np.bool_]
    is_possible: NDArray[np.bool_]
    is_identified: NDArray[np.bool_]
    is_explained: NDArray[np.bool_]


def chosen_formats(
    misfit: NDArray[np.float64], evidence_log: NDArray[np.float64], largest_misfits: NDArray[np.float64]
) -> FormatChoice:
    """Weigh the formats of each session.

    Another format than half precision has to be nearly certain before the point follows it: a wrong one would
    accuse somebody of work that was not done. A bound for hostile workloads gives half precision no
    preference, because whoever hides chooses the format.

    Parameters
    ----------
    misfit, evidence_log : ndarray of shape (n_sessions, 1 + n_formats)
        Of each format; infinite and minus infinity where it was never learned.
    largest_misfits : ndarray of shape (1 + n_formats,)
        Up to which a format explains signals.
    """
    explains = misfit <= largest_misfits
    prior = np.array([HALF_SHARE, *[(1 - HALF_SHARE) / len(FORMATS)] * len(FORMATS)])
    only_half = np.eye(1, len(prior), dtype=np.float64)
    is_half = misfit[:, :1] <= GATE_MISFIT
    probability = np.where(is_half, only_half, _normalised(evidence_log + np.log(prior)))
    of_kind = np.stack([probability[:, kind == KINDS].sum(axis=1) for kind in np.unique(KINDS)], axis=1)
    best = of_kind.argmax(axis=1)
    members = (np.unique(KINDS)[best][:, None] == KINDS) & explains
    is_identified = (of_kind.max(axis=1) >= IDENTIFIED) & members.any(axis=1)
    # Doubt speaks for half precision, as long as that explains the signals.
    fallback = only_half.astype(np.bool_) & explains[:, :1]
    weight = np.where(is_identified[:, None], probability * members, fallback)
    total = weight.sum(axis=1, keepdims=True)
    weight = np.divide(weight, total, out=np.zeros_like(weight, dtype=np.float64), where=total > 0)
    is_plausible = probability >= PLAUSIBLE
    is_possible = is_plausible | ((_normalised(evidence_log) >= PLAUSIBLE) & explains)
    is_explained = np.atleast_1d(np.any(explains, axis=1))
    return FormatChoice(probability, weight, is_plausible, is_possible, is_identified, is_explained)


def _normalised(log_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    normalised: NDArray[np.float64] = weight / weight.sum(axis=1, keepdims=True)
    return normalised
