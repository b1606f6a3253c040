"""One page of HTML on the red team: the experiment's figures 7 to 9 and table 2, and the frontier."""

from collections.abc import Callable, Sequence
from itertools import count

from matplotlib.figure import Figure

from flopwitness.app.report.canvas import Plate
from flopwitness.app.report.pages import filled
from flopwitness.app.report.redteam_bars import movement_plate
from flopwitness.app.report.redteam_content import SHOWN_METHODS, RedteamContent
from flopwitness.app.report.redteam_frontier import frontier_plate
from flopwitness.app.report.redteam_jobs import jobs_plate
from flopwitness.app.report.redteam_responses import responses_plate
from flopwitness.app.report.redteam_tables import (
    attack_table,
    cheapest_table,
    effect_table,
    summary_tables,
)
from flopwitness.app.report.render import Drawing

TEMPLATE = "redteam.html.j2"
EXPERIMENT = "S"
"""How the experiment's strategies are numbered: S1 to S5, and a clock lock S6."""

FRONTIERS = ("fused", "mlp")
"""Methods whose frontier is drawn: ours, and the experiment's best."""


def render_redteam(content: RedteamContent, *, draw: Callable[[Figure], str]) -> str:
    """Return one page of HTML that needs nothing else: no script, no other file, no network.

    Parameters
    ----------
    content : RedteamContent
        What to show.
    draw : callable
        Turns a figure into an ``svg`` element, such as ``flopwitness.app.svg.inline_svg``.
    """
    numbers = count(1)
    drawings = [
        Drawing(next(numbers), plate.ident, plate.heading, plate.caption, draw(plate.figure))
        for plate in redteam_plates(content)
    ]
    scoring = content.scoring
    shown = [name for name in SHOWN_METHODS if name in scoring.methods]
    return filled(
        TEMPLATE,
        content=content,
        drawings=drawings,
        cheapest=cheapest_table(content.cheapest),
        summaries=summary_tables([one for one in content.summaries if one.method in shown]),
        attacks=attack_table(scoring.attacks),
        effects=[
            effect_table(scoring.effects, name, target=scoring.target.value) for name in reversed(shown)
        ],
    )


def redteam_plates(content: RedteamContent) -> Sequence[Plate]:
    """Return the figures in the order of the page; those without data are left out."""
    scoring = content.scoring
    published = [one for one in scoring.attacks if one.reference.startswith(EXPERIMENT)]
    others = [one for one in scoring.attacks if one not in published]
    names = {one.name for one in published}
    own = [effect for effect in scoring.effects if effect.attack in names]
    moved = "How far attacks move the estimators"
    answered = "Signed error against the varied value"
    plates = [
        *(frontier_plate(scoring.effects, name, ident=f"frontier-{name}") for name in FRONTIERS),
        movement_plate(own, ident="moved-experiment", heading=f"{moved} (the experiment's figure 7)"),
        movement_plate(scoring.effects, ident="moved-all", heading=f"{moved}, all of them"),
        jobs_plate(content.lanes, ident="jobs"),
        responses_plate(
            published,
            scoring.effects,
            scoring.bands,
            ident="responses-experiment",
            heading=f"{answered} (the experiment's figure 9)",
        ),
        responses_plate(
            others,
            scoring.effects,
            scoring.bands,
            ident="responses-others",
            heading=f"{answered}, other attacks",
        ),
    ]
    return [plate for plate in plates if plate is not None]
