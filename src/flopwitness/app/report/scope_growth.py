"""FLOP of a scope as they came in over time, with bounds, and above them what nobody saw."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from flopwitness.app.report.canvas import SMALL_POINTS, Plate, blank_figure, style, style_legend
from flopwitness.app.report.palette import INK, MUTED, SERIES
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_looks import UNSEEN_HATCH
from flopwitness.app.report.scope_timeline import WIDTH_INCHES, unwatched
from flopwitness.app.report.scope_wording import amount_text, flop_text
from flopwitness.app.report.timeline import clock_of
from flopwitness.app.report.wording import scale_of
from flopwitness.core.account import Account, SessionEvidence
from flopwitness.core.estimate import Estimate
from flopwitness.verify.spans import Span, joined

HEIGHT_INCHES = 3.4
ROOM_FACTOR = 1.15
TALLEST_FACTOR = 4.0
"""What nobody saw, and the most of hostile workloads, stretch the axis to so many times the observed high."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Running sums at instants.

    Attributes
    ----------
    time_ns : ndarray of shape (n_instants,), int64
        When, from the start of the scope to its end.
    low_flop, point_flop, high_flop : ndarray of shape (n_instants,)
        Of the sessions, as if each had worked evenly.
    most_flop : ndarray of shape (n_instants,)
        The most of the sessions if they were hostile, and of what nobody saw.
    unseen_flop : ndarray of shape (n_instants,)
        The most of what nobody saw; all zero where it has no bound.
    """

    time_ns: NDArray[np.int64]
    low_flop: NDArray[np.float64]
    point_flop: NDArray[np.float64]
    high_flop: NDArray[np.float64]
    most_flop: NDArray[np.float64]
    unseen_flop: NDArray[np.float64]


def growth_of(content: ScopeContent) -> Growth:
    """Return the running sums; unseen FLOP are spread over unseen time and end at the account's figure.

    Bounds of sessions are added end to end, so they are never narrower than those of the account.
    """
    account = content.account
    scope = account.scope
    told = [(one, found) for one in account.sessions if (found := account_estimate(account, one))]
    gaps = _gaps(content)
    ends = [scope.start_ns, scope.stop_ns, *(end for one, _ in told for end in (one.start_ns, one.stop_ns))]
    time_ns = np.unique(np.array([*ends, *(end for span, _ in gaps for end in span)], dtype=np.int64))
    spans = [(one.start_ns, one.stop_ns) for one, _ in told]
    rows = [(one.low_flop, one.point_flop, one.high_flop, one.most_flop) for _, one in told]
    low, point, high, most = (_running(time_ns, spans, [row[place] for row in rows]) for place in range(4))
    weights = np.array([weight for _, weight in gaps])
    unseen = np.zeros(len(time_ns))
    if isfinite(account.unobserved_flop) and weights.sum() > 0 and np.isfinite(weights).all():
        shares = account.unobserved_flop * weights / weights.sum()
        unseen = _running(time_ns, [span for span, _ in gaps], shares.tolist())
    return Growth(time_ns, low, point, high, most + unseen, unseen)


def account_estimate(account: Account, session: SessionEvidence) -> Estimate | None:
    """Return the estimate of a session that the account added up; None where its method gave none."""
    return session.estimates.get(account.target, {}).get(account.method)


def _gaps(content: ScopeContent) -> list[tuple[Span, float]]:
    """Return each unseen stretch of each device with the most that it can hold."""
    account = content.account
    silent = [one for one in account.sessions if one.session_id in account.not_estimated]
    gaps = []
    for device in account.scope.devices:
        ceilings = [one.ceiling_flop_per_second for one in content.watches if one.device == device]
        own = [(one.start_ns, one.stop_ns) for one in silent if device in one.devices]
        for start, stop in joined([*unwatched(content, device), *own]):
            gaps.append(((start, stop), (stop - start) * max(ceilings, default=float("inf"))))
    return gaps


def _running(
    time_ns: NDArray[np.int64], spans: Sequence[Span], counts: Iterable[float]
) -> NDArray[np.float64]:
    """Return the sum of counts up to each instant, each spread evenly over its stretch."""
    total = np.zeros(len(time_ns))
    for (start, stop), count in zip(spans, counts, strict=True):
        share = np.clip((time_ns - start) / (stop - start), 0, 1)
        total += np.where(share > 0, count, 0) * np.where(share > 0, share, 1)
    return total


def growth_plate(content: ScopeContent, *, ident: str) -> Plate | None:
    """Return the figure of running sums; None where no session has an estimate.

    Parameters
    ----------
    content : ScopeContent
        What to draw.
    ident : str
        What links name.
    """
    account = content.account
    growth = growth_of(content)
    if not growth.point_flop[-1] > 0:
        return None
    heading = f"How the FLOP of {account.scope.name} came in"
    alternative = (
        f"{heading}. At the end of the period {amount_text(account.observed)} were observed; with what "
        f"nobody saw up to {flop_text(account.total.high_flop)}."
    )
    figure = blank_figure(ident, alternative, width_inches=WIDTH_INCHES, height_inches=HEIGHT_INCHES)
    axes = figure.add_subplot()
    clock = clock_of(account.scope.start_ns, account.scope.stop_ns)
    top = _top(growth)
    scale = scale_of([top])
    style(
        axes,
        x_label=clock.label,
        y_label=f"{account.target.capitalize()} FLOP so far ({scale.unit})".replace("\u00a0", " "),
    )
    _draw(axes, clock.at(growth.time_ns), growth, 10.0**scale.exponent)
    axes.set_xlim(0, float(clock.at(clock.stop_ns)))
    axes.set_ylim(0, top / 10.0**scale.exponent)
    style_legend(figure.legend(loc="outside lower left", ncols=4, fontsize=SMALL_POINTS))
    return Plate(ident, heading, _caption(account, growth, top), figure)


def _top(growth: Growth) -> float:
    """Return the top of the axis: what was observed, stretched as far as that stays readable."""
    high, point = float(growth.high_flop[-1]), float(growth.point_flop[-1])
    seen = high if isfinite(high) else point
    unseen = seen + float(growth.unseen_flop[-1])
    wanted = [seen, unseen, float(growth.most_flop[-1])]
    fitting = [flop for flop in wanted if isfinite(flop) and flop <= TALLEST_FACTOR * seen]
    reaches = max(fitting) * ROOM_FACTOR
    return TALLEST_FACTOR * seen if unseen > TALLEST_FACTOR * seen else reaches


def _caption(account: Account, growth: Growth, top: float) -> str:
    drawn = (
        "Line: point; band: low to high, added end to end, so never narrower than those of the account. Each "
        "session is drawn as if it had worked evenly."
    )
    said = [drawn]
    if not isfinite(account.unobserved_flop):
        said.append("What nobody saw has no bound and is not drawn.")
    elif growth.unseen_flop[-1] + growth.high_flop[-1] > top:
        said.append(
            f"The hatched part leaves the figure; it ends {flop_text(account.unobserved_flop)} above."
        )
    if growth.most_flop[-1] > top:
        said.append(f"The dotted line leaves the figure; it ends at {flop_text(growth.most_flop[-1])}.")
    return " ".join(said)


def _draw(axes: Axes, places: NDArray[np.float64], growth: Growth, unit_flop: float) -> None:
    top = np.where(np.isfinite(growth.high_flop), growth.high_flop, growth.point_flop) / unit_flop
    axes.fill_between(
        places,
        growth.low_flop / unit_flop,
        top,
        color=SERIES[0],
        alpha=0.3,
        linewidth=0,
        label="observed, low to high",
    )
    if growth.unseen_flop[-1] > 0:
        axes.fill_between(
            places,
            top,
            top + growth.unseen_flop / unit_flop,
            facecolor="none",
            edgecolor=MUTED,
            hatch=UNSEEN_HATCH,
            linewidth=0.6,
            label="unobserved, at most",
        )
    axes.plot(places, growth.point_flop / unit_flop, color=SERIES[0], linewidth=1.6, label="observed, point")
    if isfinite(growth.most_flop[-1]):
        axes.plot(
            places,
            growth.most_flop / unit_flop,
            color=INK,
            linewidth=1.1,
            linestyle=":",
            label="at most, if hostile",
        )
