"""From bounds to the probability that the truth exceeds a figure."""

from math import inf, log
from statistics import NormalDist

from flopwitness.core.account import Amount

NORMAL = NormalDist()


def probability_over(amount: Amount, figure_flop: float, *, coverage_ratio: float) -> float:
    """Return the probability that the true count exceeds a figure, from 0 to 1.

    Parameters
    ----------
    amount : Amount
        ``low`` and ``high`` as calibrated; ``most`` is not looked at: nobody knows how likely cheating is.
    figure_flop : float
        What to exceed.
    coverage_ratio : float
        Share of the intervals that hold the truth, in (0, 1).

    Notes
    -----
    Supposes that the logarithm of the truth is normal on either side of the point, each side with the spread
    that leaves half of the misses beyond its end: the point is the median, ``low`` and ``high`` are the
    quantiles (1 - c) / 2 and (1 + c) / 2. The ends are calibrated, the shape between and beyond them is
    assumed. A side without an end, at 0 or infinity, has infinite spread: every figure there is exceeded with
    probability 1/2.

    Examples
    --------
    >>> amount = Amount(0.9, 1.0, 1.1, 1.2)
    >>> [round(probability_over(amount, figure, coverage_ratio=0.9), 3) for figure in (0.9, 1.0, 1.1)]
    [0.95, 0.5, 0.05]
    """
    if figure_flop <= 0:
        return 1.0
    if amount.point_flop <= 0:
        return 0.0 if figure_flop >= amount.high_flop else 0.5
    is_below = figure_flop < amount.point_flop
    end = amount.low_flop if is_below else amount.high_flop
    reach = inf if end in (0.0, inf) else abs(log(end / amount.point_flop))
    distance = log(figure_flop / amount.point_flop)
    if distance == 0:
        return 0.5
    if reach == 0:
        return float(is_below)
    spread = reach / NORMAL.inv_cdf((1 + coverage_ratio) / 2)
    return 1.0 - NORMAL.cdf(distance / spread)


def probability_over_with(
    amount: Amount, unseen_flop: float, figure_flop: float, *, coverage_ratio: float
) -> float:
    """Return the same where work that nobody saw adds this much to what was estimated.

    Examples
    --------
    >>> probability_over_with(Amount(0.9, 1.0, 1.1, 1.2), 5.0, 4.0, coverage_ratio=0.9)
    1.0
    """
    return probability_over(amount, figure_flop - unseen_flop, coverage_ratio=coverage_ratio)
