"""Attacks on how training is arranged: what is computed again, exchanged, kept on the host, or frozen."""

from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.attacks.twins import HEADS, LARGE, by_share, by_value

TRAINING = (
    Attack(
        name="recompute",
        rationale="Recomputed activations add executed FLOP that no claim about the model contains.",
        twin=LARGE,
        strengths=by_share("recompute_layers", recompute=True),
        reference="W10",
    ),
    Attack(
        name="accumulate",
        rationale="Accumulated gradients are exchanged more seldom: little link traffic for each FLOP.",
        twin=HEADS,
        strengths=(
            Strength("2", {"accumulation": 2}),
            Strength("4", {"accumulation": 4}),
            # Half the batch, or a step would take 0.4 s.
            Strength("16", {"accumulation": 16, "batch": 8}),
        ),
        reference="W11",
    ),
    Attack(
        name="local-steps",
        rationale="Weights averaged after several local steps make training look like separate small jobs.",
        twin=HEADS,
        strengths=by_value("local_steps", 2, 8, 32),
        reference="W11",
        n_gpus_required=2,
    ),
    Attack(
        name="lora",
        rationale="Adapters spare gradients of frozen weights, so that training looks like inference.",
        twin=LARGE,
        strengths=by_value("lora_rank", 8, 64, 256),
        reference="W13",
    ),
    Attack(
        name="offload",
        rationale="The optimizer's state and step on the host lower memory use and leave idle time.",
        twin=LARGE,
        strengths=by_value("offload_layers", 1, 3, 6),
        reference="W17",
    ),
    Attack(
        name="long-sequences",
        rationale="Long context moves FLOP into attention, whose causal half is counted and never executed.",
        twin=LARGE,
        strengths=(
            Strength("4096", {"seq_len": 4096, "batch": 2}),
            Strength("8192", {"seq_len": 8192, "batch": 1}),
            # One sequence is the least: twice the tokens of the others.
            Strength("16384", {"seq_len": 16384, "batch": 1}),
        ),
    ),
)
