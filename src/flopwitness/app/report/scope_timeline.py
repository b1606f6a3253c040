"""The time of a scope: one lane a device, sessions by class, and where nobody looked."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from flopwitness.app.report.canvas import (
    FONT_POINTS,
    SMALL_POINTS,
    Plate,
    blank_figure,
    shortened,
    style,
    style_legend,
)
from flopwitness.app.report.palette import BAND, GRID, INK, MUTED, PAPER
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_looks import LOOKS, NOT_ASKED, UNSEEN_HATCH, Look, look_of
from flopwitness.app.report.scope_wording import drawn, duration_text, opinion_text
from flopwitness.app.report.timeline import Clock, clock_of
from flopwitness.app.report.wording import counted_text, device_key, percent_text
from flopwitness.core.account import SessionEvidence
from flopwitness.verify.spans import Span, inside, joined, length, without

WIDTH_INCHES = 8.6
LANE_INCHES = 0.42
LEAST_LANE_INCHES = 0.14
MOST_INCHES = 9.0
"""A page of A4 holds it."""

NAME_CHARACTERS = 20
LETTER_RATIO = 0.014
"""Share of the axis that a letter needs; a narrower session carries none."""

MOST_SAID = 12
"""Sessions that the words for a screen reader name one by one."""


def watched(content: ScopeContent, device: str) -> tuple[Span, ...]:
    """Return when a device was watched inside the scope; never, where nobody says."""
    scope = content.account.scope
    spans = joined(span for watch in content.watches if watch.device == device for span in watch.stretches)
    return inside(spans, scope.start_ns, scope.stop_ns)


def unwatched(content: ScopeContent, device: str) -> tuple[Span, ...]:
    """Return the rest of the scope."""
    scope = content.account.scope
    return without([(scope.start_ns, scope.stop_ns)], watched(content, device))


def scope_timeline_plate(content: ScopeContent, *, ident: str) -> Plate:
    """Return the lanes of a scope.

    Parameters
    ----------
    content : ScopeContent
        What to draw.
    ident : str
        What links name.
    """
    scope = content.account.scope
    clock = clock_of(scope.start_ns, scope.stop_ns)
    heading = f"Who worked when in {scope.name}, and when nobody watched"
    n = len(scope.devices)
    lane_inches = max(min(LANE_INCHES, MOST_INCHES / n), LEAST_LANE_INCHES)
    inches = 1.4 + lane_inches * n
    alternative = f"{heading}. {description(content)}"
    figure = blank_figure(ident, alternative, width_inches=WIDTH_INCHES, height_inches=inches)
    axes = figure.add_subplot()
    style(axes, x_label=clock.label, y_label="")
    axes.grid(visible=False, axis="y")
    axes.set_yticks(range(n), [_lane_name(place, device) for place, device in enumerate(scope.devices)])
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_xlim(0, float(clock.at(clock.stop_ns)))
    for place, device in enumerate(scope.devices):
        _watch(axes, place, watched(content, device), unwatched(content, device), clock)
        _sessions(axes, place, [one for one in content.account.sessions if device in one.devices], clock)
    handles = _handles([look_of(one.opinion) for one in content.account.sessions])
    style_legend(figure.legend(handles=handles, loc="outside lower left", ncols=4, fontsize=SMALL_POINTS))
    return Plate(ident, heading, _caption(content), figure)


def _lane_name(place: int, device: str) -> str:
    return drawn(f"{device_key(place)}  {shortened(device, NAME_CHARACTERS)}")


def _caption(content: ScopeContent) -> str:
    return (
        f"{counted_text(len(content.account.scope.devices), 'device')}, one lane each. The fill and the "
        "letter say what kind of work a session was; hatched stretches were not watched: not idle time. "
        "A session on several devices is in all their lanes; a narrow one carries no letter."
    )


def description(content: ScopeContent) -> str:
    """Return the figure in words: each device's unwatched share, and every session while they are few."""
    scope = content.account.scope
    period_ns = scope.stop_ns - scope.start_ns
    said = []
    for place, device in enumerate(scope.devices):
        share = percent_text(length(unwatched(content, device)) / period_ns)
        said.append(f"Device {device_key(place)}: {share} of the time not watched.")
    sessions = content.account.sessions
    said += [_session_words(one) for one in sessions[:MOST_SAID]]
    rest = f"{counted_text(len(sessions) - MOST_SAID, 'further session')} in the table."
    return " ".join([*said, *([rest] if len(sessions) > MOST_SAID else [])])


def _session_words(session: SessionEvidence) -> str:
    seconds = (session.stop_ns - session.start_ns) / 1e9
    return (
        f"Session {session.session_id}: {opinion_text(session.opinion)}, {duration_text(seconds)} on "
        f"{counted_text(len(session.devices), 'device')}."
    )


def _spans(stretches: Sequence[Span], clock: Clock) -> list[tuple[float, float]]:
    ends = clock.at(np.array(stretches, dtype=np.int64).reshape(-1, 2))
    return [(float(start), float(stop - start)) for start, stop in ends]


def _watch(axes: Axes, place: int, seen: Sequence[Span], unseen: Sequence[Span], clock: Clock) -> None:
    """Draw a thin band where a device was watched, and hatch where it was not."""
    axes.broken_barh(_spans(seen, clock), (place - 0.06, 0.12), facecolors=BAND, linewidth=0)
    axes.broken_barh(
        _spans(unseen, clock),
        (place - 0.4, 0.8),
        facecolors="none",
        edgecolors=MUTED,
        hatch=UNSEEN_HATCH,
        linewidth=0.5,
    )


def _sessions(axes: Axes, place: int, sessions: Sequence[SessionEvidence], clock: Clock) -> None:
    whole = float(clock.at(clock.stop_ns))
    for look in dict.fromkeys(look_of(one.opinion) for one in sessions):
        own = [(one.start_ns, one.stop_ns) for one in sessions if look_of(one.opinion) == look]
        spans = _spans(own, clock)
        axes.broken_barh(
            spans,
            (place - 0.34, 0.68),
            facecolors=look.fill,
            edgecolors=INK,
            hatch=look.hatch or None,
            linewidth=0.6,
            zorder=3,
        )
        for start, duration in spans:
            if duration > LETTER_RATIO * whole:
                _letter(axes, start + duration / 2, place, look)


def _letter(axes: Axes, middle: float, place: int, look: Look) -> None:
    text = axes.text(middle, place, look.letter, ha="center", va="center", clip_on=True)
    text.set(color=INK, fontsize=FONT_POINTS, fontweight="bold", zorder=5)
    text.set_bbox({"facecolor": PAPER, "edgecolor": GRID, "pad": 1.2, "linewidth": 0.4})


def _handles(looks: Sequence[Look]) -> list[Patch]:
    """Return samples of the looks that occur, in their usual order, and of watching."""
    shown = [look for look in (*LOOKS.values(), NOT_ASKED) if look in looks]
    handles = [
        Patch(
            facecolor=look.fill, edgecolor=INK, hatch=look.hatch or None, label=f"{look.letter}  {look.name}"
        )
        for look in shown
    ]
    handles.append(Patch(facecolor=BAND, label="watched, no session"))
    handles.append(Patch(facecolor="none", edgecolor=MUTED, hatch=UNSEEN_HATCH, label="not watched"))
    return handles
