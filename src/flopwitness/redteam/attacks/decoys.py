"""Attacks by other work on the same GPUs: decoys between steps, and inference between training.

Amounts aim at steps of 1.1, 1.3 and 1.8 times the twin's 87 ms on an H200, at the rates of its data sheet
less what is lost in practice: 4 TB/s of memory (two passes over each GiB), 350 GB/s over NVLink, 620 TFLOP/s
in bf16; element-wise work is bound by memory at about 35 microseconds a pass.
"""

from flopwitness.redteam.attack import Attack, Strength, Value
from flopwitness.redteam.attacks.twins import LARGE, by_value


def _amounts(decoy: str, *amounts: int) -> tuple[Strength, ...]:
    changes: list[dict[str, Value]] = [{"decoy": decoy, "decoy_amount": amount} for amount in amounts]
    return tuple(Strength(str(change["decoy_amount"]), change) for change in changes)


DECOYS = (
    Attack(
        name="decoy-memory",
        rationale="Copies raise memory traffic and power without a FLOP and blur every ratio of the two.",
        twin=LARGE,
        strengths=_amounts("memory", 16, 48, 128),
        reference="W15",
    ),
    Attack(
        name="decoy-links",
        rationale="Empty all-reduces raise link traffic as if a larger model were trained.",
        twin=LARGE,
        strengths=_amounts("links", 48, 144, 384),
        reference="W15",
        n_gpus_required=2,
    ),
    Attack(
        name="decoy-matrix",
        rationale="Products that train nothing are executed FLOP, but not those that a claim is about.",
        twin=LARGE,
        strengths=_amounts("matrix", 40, 120, 320),
        reference="W15",
    ),
    Attack(
        name="decoy-vector",
        rationale="Element-wise fp32 work looks like the additions that give 8-bit floats away.",
        twin=LARGE,
        strengths=_amounts("vector", 32, 96, 256),
        reference="W15",
    ),
    Attack(
        name="decoy-integer",
        rationale="Integer work draws power in a pipe that no estimate of FLOP reads.",
        twin=LARGE,
        strengths=_amounts("integer", 32, 96, 256),
        reference="W15",
    ),
    Attack(
        name="interleave",
        rationale="Forward passes between the steps make training look like inference with some overhead.",
        twin=LARGE,
        strengths=by_value("serves", 1, 3, 8),
        reference="W13",
    ),
)
