"""Small red-team results whose every number is known."""

from collections.abc import Mapping

import numpy as np

from flopwitness.app.report.redteam_content import Lane, RedteamContent, Span
from flopwitness.core.workload import Target, WorkloadConfig
from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.frontier import Figure, cheapest
from flopwitness.redteam.scoring import Effect
from flopwitness.redteam.summary import Scoring, summaries_of
from redteam.made import effect

METHODS = ("linear-power", "mlp", "fused")
BATCH = Attack(
    name="batch",
    rationale="Larger batches run more efficiently.",
    twin=WorkloadConfig("twin-small", "twin", {"batch": 8, "d_model": 64, "precision": "bf16"}),
    strengths=tuple(Strength(str(size), {"batch": size}) for size in (16, 128)),
    reference="S4",
)
FP8 = Attack(
    name="fp8",
    rationale="More FLOP a cycle.",
    twin=BATCH.twin,
    strengths=tuple(
        Strength(label, {"precision": "fp8", "precision_layers": n})
        for label, n in (("third", 4), ("all", 0))
    ),
    reference="W9",
)
ERRORS: Mapping[str, tuple[float, float]] = {
    "linear-power": (-0.02, -0.1),
    "mlp": (-0.1, -0.4),
    "fused": (0, -0.01),
}
"""Signed errors by method, weak and strong setting of every attack; their twins are exact."""


def effects_of_all() -> tuple[Effect, ...]:
    """Return both settings of both attacks on three methods; stronger costs more."""
    return tuple(
        effect(
            f"{attack.name}-{strength.label}",
            method=method,
            error=ERRORS[method][place],
            high_error=ERRORS[method][place] + 0.05,
            gpu_time=1.2 + place,
        )
        for attack in (BATCH, FP8)
        for place, strength in enumerate(attack.strengths)
        for method in METHODS
    )


def lane(name: str, *spans: tuple[float, float], is_benign: bool = False) -> Lane:
    """Return a run of 100 s with the jobs that one detector found."""
    return Lane(name, is_benign, 100.0, {"experiment": tuple(Span(*span) for span in spans)})


def content_of(*, title: str = "Under attack") -> RedteamContent:
    """Return a content with something in every section."""
    effects = effects_of_all()
    return RedteamContent(
        title=title,
        scoring=Scoring(
            Target.EXECUTED, METHODS, (BATCH, FP8), effects, {"fused": (-0.02, 0.02)}, 12, ("3 runs of x: y",)
        ),
        summaries=summaries_of(effects, rng=np.random.default_rng(0)),
        cheapest=tuple(cheapest(effects, method, figure) for method in METHODS for figure in Figure),
        lanes=(lane("twin-small", (0, 100), is_benign=True), lane("split-3", (0, 20), (26, 50), (56, 100))),
        generated_from={"attacks-a": "ab" * 32},
        calibrated_on=("benign-a",),
    )
