"""Integer products: about right forward, straight through backward."""

import pytest

torch = pytest.importorskip("torch")

from flopwitness.lab.workloads.int8 import Int8Linear, rounded  # noqa: E402 - only where torch is installed


def test_rounding_loses_less_than_one_part_in_a_hundred_and_twenty_seven():
    """Of the largest value of each row; a row of zeros stays zero."""
    values = torch.randn(8, 32)
    values[3] = 0

    integers, scale = rounded(values)

    assert integers.dtype == torch.int8
    assert ((integers * scale - values).abs() <= scale * 0.51).all()
    assert not integers[3].any()


def test_the_product_is_near_that_of_floats():
    """And its gradients are those that bf16 gives."""
    layer = Int8Linear(64, 32)
    x = torch.randn(2, 16, 64, requires_grad=True)

    y = layer(x)
    y.float().sum().backward()

    expected = x @ layer.weight.t()
    assert y.shape == (2, 16, 32)
    assert (y - expected).norm() < 0.05 * expected.norm()
    assert torch.allclose(layer.weight.grad, x.sum((0, 1)).expand(32, -1), atol=0.2)
    assert torch.allclose(x.grad, layer.weight.sum(0).expand_as(x), atol=0.05)
