"""Figures as reasons of a verdict say them."""

from math import isinf

CERTAIN_RATIO = 0.999
"""Beyond it, and below its counterpart, a probability rests on the assumed shape alone: none is given."""


def flop_text(flop: float) -> str:
    """Return a count in four digits.

    Examples
    --------
    >>> flop_text(3.1e22), flop_text(float("inf"))
    ('3.1e+22', 'unbounded')
    """
    return "unbounded" if isinf(flop) else f"{flop:.4g}"


def chance_text(probability: float) -> str:
    """Return a probability in percent, never 0 or 100.

    Examples
    --------
    >>> [chance_text(one) for one in (0.0, 0.1234, 1.0)]
    ['less than 0.1 %', '12.3 %', 'more than 99.9 %']
    """
    if probability > CERTAIN_RATIO:
        return f"more than {100 * CERTAIN_RATIO:.1f} %"
    if probability < 1 - CERTAIN_RATIO:
        return f"less than {100 * (1 - CERTAIN_RATIO):.1f} %"
    return f"{100 * probability:.1f} %"


def share_text(ratio: float) -> str:
    """Return a share in percent, as short as it is.

    Examples
    --------
    >>> share_text(0.3), share_text(0.975)
    ('30 %', '97.5 %')
    """
    return f"{100 * ratio:.4g} %"


def sessions_text(n_sessions: int) -> str:
    """Return how many sessions, as one says it.

    Examples
    --------
    >>> sessions_text(1), sessions_text(3)
    ('1 session', '3 sessions')
    """
    return "1 session" if n_sessions == 1 else f"{n_sessions} sessions"
