"""Thresholds and claims as vertical lines with their names on flags above, one line of text a flag."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from flopwitness.app.report.canvas import shortened
from flopwitness.app.report.palette import BAND, INK, PAPER, SERIES
from flopwitness.app.report.scope_content import ScopeContent, WeighedClaim, WeighedThreshold
from flopwitness.app.report.scope_wording import claim_text, drawn, limit_text

FLAG_POINTS = 7.5
FLAG_CHARACTERS = 36
"""Of the name of a rule; the limit and its status follow."""

FLAG_ROWS = 0.42
"""Height of a flag, in rows of the figure."""

ROOM_RATIO = 0.5
"""From which share of the axis on a flag points to the left, where lines are lower and not crossed."""

IN_FORCE = (1.3, (0, ()))
PROPOSED = (1.3, (0, (5, 2)))
GONE = (1.1, (0, (1, 2)))
"""Width and dashes of a rule's line; the flag names the status as it is recorded."""

GONE_WORDS = ("not in force", "rescinded", "vetoed", "replaced", "repealed", "historic")
RULE_COLOUR = SERIES[1]
CLAIM_COLOUR = INK


@dataclass(frozen=True, slots=True)
class Flag:
    """A line at a count of FLOP.

    Attributes
    ----------
    flop : float
        Where it stands.
    text : str
        What the flag says.
    convention : str
        The row in which it decides.
    colour : str
        Stand-in.
    width_points : float
        Of the line.
    dashes : tuple
        Of the line, as matplotlib takes them.
    margin_ratio : float
        Of a claim; 0 for a rule.
    """

    flop: float
    text: str
    convention: str
    colour: str
    width_points: float
    dashes: tuple[int, tuple[float, ...]]
    margin_ratio: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """Least and most FLOP that the margin allows."""
        return self.flop * (1 - self.margin_ratio), self.flop * (1 + self.margin_ratio)


def flags_of(content: ScopeContent) -> tuple[Flag, ...]:
    """Return a flag for each claim and each threshold, by their counts."""
    flags = [_claim_flag(one) for one in content.claims] + [_rule_flag(one) for one in content.thresholds]
    return tuple(sorted(flags, key=lambda flag: flag.flop))


def line_of(status: str) -> tuple[float, tuple[int, tuple[float, ...]]]:
    """Return width and dashes of a rule's line: whole in force, dotted where it is gone, else dashed.

    Examples
    --------
    >>> [line_of(one) for one in ("in force", "enacted", "vetoed")] == [IN_FORCE, PROPOSED, GONE]
    True
    """
    if status.startswith("in force"):
        return IN_FORCE
    return GONE if status.startswith(GONE_WORDS) else PROPOSED


def _claim_flag(weighed: WeighedClaim) -> Flag:
    claim = weighed.claim
    text = f"Claim of {shortened(claim.declarant, FLAG_CHARACTERS)}: {claim_text(claim)}"
    return Flag(claim.flop, text, claim.convention, CLAIM_COLOUR, 2.0, (0, ()), claim.margin_ratio)


def _rule_flag(weighed: WeighedThreshold) -> Flag:
    rule = weighed.threshold
    name = shortened(rule.title or rule.name, FLAG_CHARACTERS)
    text = f"{name}: {limit_text(rule)}, {shortened(rule.status, FLAG_CHARACTERS)}"
    return Flag(rule.flop, text, rule.convention, RULE_COLOUR, *line_of(rule.status))


def draw_lines(axes: Axes, flags: Sequence[Flag], rows: Sequence[str], *, top: float) -> None:
    """Draw the lines over all rows, thick in the row that each decides; a claim's margin as a shaded box.

    Parameters
    ----------
    axes : Axes
        With the rows at 0, 1, ... downwards.
    flags : sequence of Flag
        In the order of their counts: the line of each ends one flag above the one before.
    rows : sequence of str
        Names of conventions, from top to bottom.
    top : float
        Where the lines end if nothing is written on them.
    """
    for place, flag in enumerate(flags):
        end = top - FLAG_ROWS * place
        colour, width = flag.colour, flag.width_points
        axes.plot(
            [flag.flop] * 2, [len(rows) - 0.5, end], color=colour, linewidth=width, linestyle=flag.dashes
        )
        if flag.convention in rows:
            row = rows.index(flag.convention)
            axes.plot(
                [flag.flop] * 2, [row - 0.4, row + 0.4], color=colour, linewidth=4.0, solid_capstyle="butt"
            )
            low, high = flag.ends
            if low < high:
                axes.add_patch(_margin(low, high, row))


def _margin(low: float, high: float, row: int) -> Rectangle:
    return Rectangle((low, row - 0.4), high - low, 0.8, facecolor=BAND, alpha=0.35, linewidth=0, zorder=1)


def draw_texts(axes: Axes, flags: Sequence[Flag], *, top: float) -> None:
    """Write the text of each flag beside the end of its line, to the side that has room."""
    low, high = axes.get_xlim()
    for place, flag in enumerate(flags):
        share = axes.transAxes.inverted().transform(axes.transData.transform((flag.flop, 0)))[0]
        is_left = share > ROOM_RATIO
        text = axes.annotate(
            drawn(flag.text),
            (min(max(flag.flop, low), high), top - FLAG_ROWS * place),
            xytext=(-4 if is_left else 4, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
        )
        text.set(color=INK, fontsize=FLAG_POINTS, zorder=6)
        text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 0.8})
