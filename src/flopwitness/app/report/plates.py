"""Which figures an evaluation gives: the published experiment's for our data, then ours."""

from flopwitness.app.report.bars import bars_plate
from flopwitness.app.report.canvas import Plate
from flopwitness.app.report.scatter import scatter_plate
from flopwitness.app.report.scores import EQUAL_FOLDS, IN_DISTRIBUTION, Scored, chosen
from flopwitness.core.workload import Target

REPRODUCED = (
    (
        "three-input",
        "Three-input estimate against truth (the experiment's figure 2)",
        ("linear-power-dram-nvlink",),
    ),
    (
        "fewer-inputs",
        "Power alone, and power with memory (the experiment's figure 3)",
        ("linear-power", "linear-power-dram"),
    ),
    ("networks", "Both networks against truth (the experiment's figure 5)", ("mlp", "mlp-residual")),
)
"""Name, heading and panels of the experiment's figures of dots."""

STRONGEST = ("pipe-cycles-calibrated", "fused")
"""Panels of our figure of dots."""


def evaluation_plates(results: tuple[Scored, ...]) -> tuple[Plate, ...]:
    """Return the figures of all evaluations in the order of the page; none where nothing was evaluated.

    The experiment counted algorithmic FLOP, so its figures are of these; a target that it did not count gets
    bars and ours.
    """
    plates: list[Plate | None] = []
    for target in Target:
        bars = chosen(results, target, EQUAL_FOLDS)
        dots = chosen(results, target, IN_DISTRIBUTION)
        if bars is None or dots is None:
            continue
        plates.append(bars_plate(bars, ident=f"bars-{target}"))
        if target is Target.ALGORITHMIC:
            plates += [
                scatter_plate(dots, estimators, ident=name, heading=heading)
                for name, heading, estimators in REPRODUCED
            ]
        heading = f"Ours against truth: pipe cycles and fused, {target} FLOP"
        plates.append(scatter_plate(dots, STRONGEST, ident=f"ours-{target}", heading=heading))
    return tuple(plate for plate in plates if plate is not None)
