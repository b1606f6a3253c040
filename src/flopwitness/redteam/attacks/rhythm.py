"""Attacks on when and where a run computes."""

from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.attacks.twins import LARGE, QUICK, by_value

RHYTHM = (
    Attack(
        name="bursts",
        rationale="Bursts shorter than the time between two samples let samples miss the work.",
        twin=QUICK,
        strengths=tuple(
            Strength(str(steps), {"burst_steps": steps, "duty_ratio": 0.5}) for steps in (2, 4, 8)
        ),
        reference="W3",
    ),
    Attack(
        name="handover",
        rationale="A run handed from GPU to GPU looks like several short jobs, each on one board.",
        twin=LARGE,
        strengths=by_value("turns", 2, 4, 8),
        reference="W1",
        n_gpus_required=2,
    ),
    Attack(
        name="half",
        rationale="A job on half of the GPUs hides behind the idle ones wherever boards are averaged.",
        twin=LARGE,
        strengths=tuple(Strength(f"b{batch}", {"turns": 1, "batch": batch}) for batch in (8, 16, 32)),
        reference="W3",
        n_gpus_required=2,
    ),
    Attack(
        name="poison",
        rationale="A board kept hot or clocked up before the run raises the idle power taken off its energy.",
        twin=LARGE,
        strengths=(
            Strength("clocked-4", {"preheat": "clocked", "preheat_seconds": 4.0}),
            Strength("clocked-8", {"preheat": "clocked", "preheat_seconds": 8.0}),
            Strength("hot-6", {"preheat": "hot", "preheat_seconds": 6.0}),
        ),
        reference="T3",
    ),
)
