"""Weights that are held at values of few bits stay there while training goes on."""

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.settings import Settings  # noqa: E402 - only where torch is installed
from flopwitness.lab.workloads.operands import NARROW  # noqa: E402
from flopwitness.lab.workloads.training import Training  # noqa: E402

SHAPE = {"d_model": 32, "n_layers": 2, "n_heads": 4, "d_ff": 64, "seq_len": 8, "batch": 2, "vocabulary": 53}


def trained(**wanted: object) -> Training:
    """Train for three steps."""
    training = Training(Settings(**SHAPE, **wanted), torch.device("cpu"))
    for _ in range(3):
        training.step()
    return training


def matrices(training: Training) -> list[torch.Tensor]:
    """Return the weights of all products."""
    embedding = training.module.embedding.weight
    return [one for one in training.module.parameters() if one.ndim == 2 and one is not embedding]


@pytest.mark.parametrize(("operands", "n_values"), [("zero", 1), ("constant", 1), ("ternary", 3)])
def test_weights_have_few_values(operands: str, n_values: int) -> None:
    """After real steps of the optimizer, in every matrix."""
    values = [torch.unique(one.detach()).numel() for one in matrices(trained(operands=operands))]

    assert max(values) == n_values


def test_the_share_that_is_pruned_stays_zero_and_the_rest_learns():
    """Nine of ten entries, about."""
    training = trained(operands="pruned", operands_ratio=0.9)

    pruned = [float((one == 0).float().mean()) for one in matrices(training)]
    assert all(0.8 < share < 0.97 for share in pruned)
    assert all(one.detach().abs().max() > 0 for one in matrices(training))


def test_activations_stay_next_to_one():
    """The norms before the matrices see to it."""
    training = trained(operands="small")

    for block in training.module.blocks:
        said = block.norms[0](torch.randn(16, SHAPE["d_model"]))
        assert float((said.detach() - 1).abs().max()) < 5 * NARROW


def test_random_weights_are_left_alone():
    """As ever: they learn, and nothing is imposed."""
    before = Training(Settings(**SHAPE), torch.device("cpu"))
    weights = matrices(before)[0].detach().clone()

    before.step()

    assert not torch.equal(weights, matrices(before)[0])
