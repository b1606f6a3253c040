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
        ({"precision": "fp4"}, "expected bf16 or fp16 or fp32 or tf32 or fp8, got 'fp4'"),
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
