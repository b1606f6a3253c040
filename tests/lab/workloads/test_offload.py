"""The optimizer on the host does what the one on the device would do."""

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.settings import Settings  # noqa: E402 - only where torch is installed
from flopwitness.lab.workloads.training import Training  # noqa: E402

SHAPE = {"d_model": 32, "n_layers": 3, "n_heads": 4, "d_ff": 64, "seq_len": 8, "batch": 2, "vocabulary": 53}


def trained(**wanted: object) -> Training:
    """Train for three steps from the same beginning on the same tokens."""
    torch.manual_seed(0)
    training = Training(Settings(**SHAPE, **wanted), torch.device("cpu"))
    for _ in range(3):
        training.step()
    return training


def test_weights_are_those_of_training_on_the_device():
    """Step for step, whichever blocks are on the host."""
    plain, offloaded = trained(), trained(offload_layers=2)

    for here, there in zip(plain.module.parameters(), offloaded.module.parameters(), strict=True):
        assert torch.allclose(here, there, atol=1e-6)


def test_only_the_first_blocks_are_on_the_host():
    """No parameter is stepped twice, none is left out."""
    training = trained(offload_layers=2)

    here = {id(one) for group in training.optimizer.param_groups for one in group["params"]}
    there = {id(one) for one in training.offloaded.parameters}
    assert there == {id(one) for block in training.module.blocks[:2] for one in block.parameters()}
    assert here | there == {id(one) for one in training.module.parameters()}
    assert not here & there


def test_scaled_gradients_are_refused():
    """Nobody would take the scale off them."""
    with pytest.raises(RuntimeError, match="fp16"):
        trained(offload_layers=1, precision="fp16")
