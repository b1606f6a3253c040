"""Attacks on what a matrix product costs: the format of its operands, and their values."""

from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.attacks.twins import HEADS, LARGE, by_share

NUMERICS = (
    Attack(
        name="fp8",
        rationale="8-bit floats do more FLOP in each active cycle of the tensor cores, which count cycles.",
        twin=LARGE,
        strengths=by_share("precision_layers", precision="fp8"),
        reference="W9",
    ),
    Attack(
        name="fp8-fast",
        rationale="Fast accumulation leaves out the fp32 additions by which 8-bit floats could be told.",
        twin=LARGE,
        strengths=by_share("precision_layers", precision="fp8-fast"),
        reference="W9",
    ),
    Attack(
        name="fp16",
        rationale="Half precision runs at the rate of bf16 with other bits, hence with another power.",
        twin=LARGE,
        strengths=by_share("precision_layers", precision="fp16"),
        reference="W9",
    ),
    Attack(
        name="tf32",
        rationale="TF32 keeps tensor cores active for longer at the same FLOP: cycles over-report it.",
        twin=LARGE,
        strengths=by_share("precision_layers", precision="tf32"),
        reference="W9",
    ),
    Attack(
        name="fp32",
        rationale="Products on CUDA cores leave the tensor cores idle, where most witnesses look.",
        twin=HEADS,
        strengths=by_share("precision_layers", precision="fp32"),
        reference="W9",
    ),
    Attack(
        name="int8",
        rationale="Integer products forward run in another pipe, at twice the rate, and no counter of FLOP "
        "sees them.",
        twin=LARGE,
        strengths=by_share("precision_layers", precision="int8"),
        reference="W9",
    ),
    Attack(
        name="operands",
        rationale="Operands whose bits seldom toggle halve the energy of each FLOP.",
        twin=LARGE,
        strengths=(
            Strength("small", {"operands": "small"}),
            Strength("pruned-0.5", {"operands": "pruned", "operands_ratio": 0.5}),
            Strength("pruned-0.9", {"operands": "pruned", "operands_ratio": 0.9}),
            Strength("ternary", {"operands": "ternary"}),
            Strength("constant", {"operands": "constant"}),
            Strength("zero", {"operands": "zero"}),
        ),
        reference="W8",
    ),
)
"""All of a precision includes the output head, but for 8-bit formats, whose head stays bf16."""
