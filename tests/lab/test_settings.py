"""Settings: what a configuration may ask for."""

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.settings import Settings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"colour": 1}, "parameter 'colour': expected one of kind"),
        ({"d_model": "wide"}, "expected a value of type int, got 'wide'"),
        ({"d_model": True}, "expected a value of type int, got True"),
        ({"d_model": 0}, "expected a positive number, got 0"),
        ({"precision": "fp4"}, "expected bf16 or fp16 or fp32 or tf32 or fp8 or fp8-fast or int8, got"),
        ({"n_layers": 2, "precision_layers": 3}, "expected blocks, 0 to 2, got 3"),
        ({"operands_ratio": 1.0}, "expected 0 <= x < 1, got 1.0"),
        ({"duty_ratio": 0.0}, "expected 0 < x <= 1, got 0.0"),
        ({"pauses": -1}, "expected a number >= 0, got -1"),
        ({"pause_seconds": float("inf")}, "expected a number >= 0, got inf"),
        ({"burst_steps": 0}, "expected a positive number, got 0"),
        ({"kind": "prefill", "serves": 1}, "its default with kind 'prefill'"),
        ({"kind": "train", "parallel": "tensor"}, "expected replicas or shards, got tensor"),
        ({"kind": "serve", "batch": 2, "prompts": 3}, "expected at most the batch, 2, got 3"),
        ({"decoy": "memory"}, "expected a decoy and its amount"),
        ({"turns": 2, "pauses": 1}, "expected no pauses, sleeps or averages"),
        ({"turns": 2, "duty_ratio": 0.5}, "expected no pauses, sleeps or averages"),
        ({"turns": 1, "decoy": "links", "decoy_amount": 1}, "nothing shared while one rank works alone"),
        ({"parallel": "fsdp", "local_steps": 2}, "expected replicas, got shards"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(parameters: dict[str, object], message: str) -> None:
    """The workload and the parameter are named."""
    with pytest.raises(BadInputError, match="workload mine: ") as refused:
        Settings.of(WorkloadConfig("mine", "own", parameters))

    assert message in str(refused.value)


def test_absent_parameters_take_their_defaults():
    """Bfloat16 and AdamW under DDP, one expert, all heads with keys of their own."""
    settings = Settings.of(WorkloadConfig("mine", "own", {"d_model": 96}))

    assert (settings.precision, settings.optimizer, settings.parallel) == ("bf16", "adamw", "ddp")
    assert (settings.shape.n_experts, settings.shape.n_kv_heads, settings.shape.lora_rank) == (1, None, None)
