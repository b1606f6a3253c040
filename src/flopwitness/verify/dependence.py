"""How the errors of sessions combine in a sum: what they share does not average out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, inf, sqrt
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwitness.core.account import Amount
from flopwitness.core.errors import InvalidNounError
from flopwitness.core.estimate import Estimate

RATIO_TOLERANCE = 1e-9
ALL = ""
"""Name of the workload of sessions whose workload nobody knows: they count as one and the same."""


@dataclass(frozen=True, slots=True)
class Dependence:
    r"""How much of the error of a session it shares with others.

    ln(truth / estimate) of a session is a sum of three parts: one that all sessions under a calibration have
    in common, one that sessions of the same workload have in common, and its own. Shares of the variance.

    Attributes
    ----------
    shared_ratio : float
        Share that all sessions have in common, in [0, 1]. The default is 1: nothing averages out.
    workload_ratio : float
        Share that sessions of one workload have in common, in [0, 1]; what is left is each session's own.
    workloads : mapping of str to str
        Workload by the identity of the session. Sessions that are not in it count as one workload: whoever
        does not know may not average.

    Raises
    ------
    InvalidNounError
        When a share is out of range, or both together are more than 1.

    Notes
    -----
    Half widths d of the sessions add up to

    .. math:: D = \sqrt{r_s (\sum d)^2 + r_w \sum_w (\sum_{i \in w} d_i)^2 + r_o \sum d^2}

    the quantile of a sum of normal errors with these shares, each end for itself. It is a norm of the half
    widths, so a session more never lowers an end, and no sharing is wider than sharing everything.

    Examples
    --------
    >>> Dependence().half_width({"a": 3.0, "b": 4.0})
    7.0
    >>> Dependence(shared_ratio=0.0).half_width({"a": 3.0, "b": 4.0})
    5.0
    """

    shared_ratio: float = 1.0
    workload_ratio: float = 0.0
    workloads: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        shares = (self.shared_ratio, self.workload_ratio)
        if not (all(0 <= share <= 1 for share in shares) and sum(shares) <= 1 + RATIO_TOLERANCE):
            raise InvalidNounError(f"shares of an error's variance must be in [0, 1] together, got {shares}")

    @property
    def own_ratio(self) -> float:
        """Share of the variance that is each session's own."""
        return max(1.0 - self.shared_ratio - self.workload_ratio, 0.0)

    def half_width(self, by_session: Mapping[str, float]) -> float:
        """Return the half width of a sum from those of its sessions, each >= 0, by identity."""
        every = fsum(by_session.values())
        if every == inf:
            return inf
        if self.shared_ratio == 1.0:
            return every  # as it is, without the rounding of a root
        by_workload: dict[str, list[float]] = defaultdict(list)
        for session_id, width in by_session.items():
            by_workload[self.workloads.get(session_id, ALL)].append(width)
        of_workloads = fsum(fsum(widths) ** 2 for widths in by_workload.values())
        own = fsum(width**2 for width in by_session.values())
        return sqrt(self.shared_ratio * every**2 + self.workload_ratio * of_workloads + self.own_ratio * own)


ALL_SHARED = Dependence()
"""Nothing averages out: the sum of the ends. What an account uses where no share was measured."""


class Part(NamedTuple):
    """One session in a sum; ``is_opened`` where its bounds hold more than errors, such as unobserved time."""

    session_id: str
    estimate: Estimate
    is_opened: bool = False


def summed(parts: Iterable[Part], dependence: Dependence) -> Amount:
    """Add up estimates; the result does not depend on their order.

    Errors combine as ``dependence`` says. Bounds that were opened for what nobody saw are no errors that
    could average out: they add end to end. So does ``most_flop``: an adversary is not independent.
    """
    every = sorted(parts, key=lambda part: part.session_id)
    opened = [part.estimate for part in every if part.is_opened]
    usual = [part for part in every if not part.is_opened]
    point = fsum(part.estimate.point_flop for part in every)
    below = fsum(one.point_flop - one.low_flop for one in opened) + dependence.half_width(
        {part.session_id: part.estimate.point_flop - part.estimate.low_flop for part in usual}
    )
    above = fsum(one.high_flop - one.point_flop for one in opened) + dependence.half_width(
        {part.session_id: part.estimate.high_flop - part.estimate.point_flop for part in usual}
    )
    high = point + above
    return Amount(
        low_flop=min(max(point - below, 0.0), point),
        point_flop=point,
        high_flop=high,
        most_flop=max(fsum(part.estimate.most_flop for part in every), high),
    )


def fitted_dependence(
    errors: ArrayLike,
    nodes: Sequence[str],
    workloads: Sequence[str],
    *,
    named: Mapping[str, str] | None = None,
) -> Dependence:
    """Measure how much of the error sessions share, from sessions of known truth.

    Parameters
    ----------
    errors : array-like of shape (n_sessions,)
        ln(truth / estimate) of held-out sessions, finite.
    nodes : sequence of str
        Node of each; all of one calibration.
    workloads : sequence of str
        Workload of each; several sessions of some.
    named : mapping of str to str, optional
        Workload by session identity, for the sessions that the result will be used on.

    Raises
    ------
    InvalidNounError
        When lengths differ, an error is not finite, or no workload has two sessions on one node: nothing
        then says what is a session's own.

    Notes
    -----
    Variance components by moments. Own: the pooled variance within a workload on a node. Shared: the mean
    over nodes of the squared mean error of the node, not corrected for the noise in it, since a few nodes
    say little; a calibration that is off everywhere counts here. The rest of the mean square is the
    workloads'.

    Examples
    --------
    >>> found = fitted_dependence([0.1, 0.1, -0.1, -0.1], ["n"] * 4, ["a", "a", "b", "b"])
    >>> found.shared_ratio, found.workload_ratio, found.own_ratio
    (0.0, 1.0, 0.0)
    """
    values = np.asarray(errors, dtype=np.float64)
    if not len(values) == len(nodes) == len(workloads) or not np.isfinite(values).all():
        raise InvalidNounError("errors must be finite, each with a node and a workload")
    cells = _codes(tuple(zip(nodes, workloads, strict=True)))
    n_free = len(values) - int(cells.max(initial=-1)) - 1
    if n_free < 1:
        raise InvalidNounError("no workload has two sessions on one node: nothing says what is their own")
    own = float(np.sum((values - _means(values, cells)[cells]) ** 2)) / n_free
    shared = float(np.mean(_means(values, _codes(nodes)) ** 2))
    total = max(float(np.mean(values**2)), own + shared)
    if total == 0.0:
        return Dependence(workloads=named or {})
    return Dependence(shared / total, max(total - own - shared, 0.0) / total, named or {})


def _codes(names: Sequence[object]) -> NDArray[np.intp]:
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.intp)


def _means(values: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    means: NDArray[np.float64] = np.bincount(codes, values) / np.bincount(codes)
    return means
