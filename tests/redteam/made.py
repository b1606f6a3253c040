"""Trials and effects whose every number is known."""

from collections.abc import Mapping

from flopwitness.redteam.cost import Cost, Spending
from flopwitness.redteam.scoring import Answer, Effect, Trial

FLOP = 1e15


def trial(
    configuration: str,
    ratios: Mapping[str, tuple[float, float]],
    *,
    gpus: tuple[str, ...] = ("GPU-a", "GPU-b"),
    gpu_seconds: float = 4.0,
    identified: bool = True,
) -> Trial:
    """Return a run of 1e15 FLOP; ratios are point and high bound over the truth by method."""
    return Trial(
        configuration=configuration,
        strength=configuration.partition("-")[2],
        gpus=gpus,
        truth_flop=FLOP,
        answers={name: Answer(point * FLOP, high * FLOP) for name, (point, high) in ratios.items()},
        spending=Spending(gpu_seconds, 500.0 * gpu_seconds, FLOP),
        is_format_identified=identified,
    )


def effect(
    configuration: str = "batch-128",
    *,
    method: str = "fused",
    error: float = -0.2,
    high_error: float = 0.1,
    gpu_time: float = 1.5,
) -> Effect:
    """Return what an attack did to a method over three traces, its twin being exact."""
    attack, _, strength = configuration.partition("-")
    return Effect(
        attack=attack,
        strength=strength,
        configuration=configuration,
        method=method,
        n_traces=3,
        signed_error_ratio=error,
        twin_error_ratio=0.0,
        high_error_ratio=high_error,
        n_high_holds=3 if high_error >= 0 else 0,
        width_ratio=(1 + high_error) / (1 + error),
        worst_error_ratio=error,
        is_format_identified=True,
        has_same_gpus=True,
        cost=Cost(gpu_time, gpu_time),
    )
