"""What the lab was asked to run and what it counted. An estimator never sees these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from flopwitness.core.errors import InvalidNounError


class Target(StrEnum):
    """Which FLOP a number counts; two targets are never compared without a conversion.

    ``executed``: what the hardware did, a causal kernel's skipped half left out, recomputation included.
    ``algorithmic``: PyTorch's FlopCounterMode convention, attention counted in full.
    """

    ALGORITHMIC = "algorithmic"
    EXECUTED = "executed"


@dataclass(frozen=True, slots=True)
class WorkloadConfig:
    """Hyper-parameters of a run as it was asked for; absent ones are absent keys.

    Attributes
    ----------
    name, family : str
        The workload and the family that it belongs to.
    parameters : mapping
        Such as ``d_model``, ``n_layers``, ``n_heads``, ``d_ff``, ``seq_len``, ``batch`` (per GPU),
        ``optimizer``, ``precision``.
    """

    name: str
    family: str
    parameters: Mapping[str, int | float | str | bool] = field(default_factory=dict)

    def integers(self, *names: str) -> tuple[int, ...] | None:
        """Return these parameters as integers, or None where one is missing or none."""
        found = [self.parameters.get(name) for name in names]
        if any(isinstance(value, bool) or not isinstance(value, int) for value in found):
            return None
        return tuple(value for value in found if isinstance(value, int))


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What was counted inside the program, over all GPUs of the run.

    Attributes
    ----------
    algorithmic_flop, executed_flop : float or None
        A count for each target; None where it cannot be known.

    Raises
    ------
    InvalidNounError
        When a count is not positive and finite.
    """

    algorithmic_flop: float | None = None
    executed_flop: float | None = None

    def __post_init__(self) -> None:
        """Refuse a count that cannot be one."""
        for value in (self.algorithmic_flop, self.executed_flop):
            if value is not None and not 0 < value < float("inf"):
                raise InvalidNounError(f"a true FLOP count must be positive and finite, got {value}")

    def flop(self, target: Target) -> float | None:
        """Return the count for one target, or None where it is not known."""
        return self.executed_flop if target is Target.EXECUTED else self.algorithmic_flop


@dataclass(frozen=True, slots=True)
class Run:
    """One workload as it ran: its configuration, its measured stretch and its truth.

    Attributes
    ----------
    config : WorkloadConfig
        What was asked for.
    start_ns, stop_ns : int
        The measured stretch, UTC nanoseconds.
    truth : GroundTruth
        What was counted in it.
    trace_index : int
        Which repetition of the workload this is, from 0.
    """

    config: WorkloadConfig
    start_ns: int
    stop_ns: int
    truth: GroundTruth
    trace_index: int = 0

    def __post_init__(self) -> None:
        """Refuse an empty stretch."""
        if self.stop_ns <= self.start_ns:
            raise InvalidNounError(f"run {self.config.name!r} stops before it starts")
