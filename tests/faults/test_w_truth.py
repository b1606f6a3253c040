"""FLOP counting: what is counted, and the independent route that checks it.

Each test names the public report that it comes from: ``owner/repo#n`` on github.com. The other rows stand in
``test_w_flop_counting``.
"""

import pytest

from flopwitness.core.workload import Target
from flopwitness.physics.training import (
    Recompute,
    attention_forward_flop,
    gemm_flop,
    step_flop_from_forward,
    target_flop,
)
from flopwitness.physics.transformer import TransformerShape

SHAPE = TransformerShape(d_model=768, n_layers=1, n_heads=12, d_ff=3072, seq_len=64, batch=1, vocabulary=2)
QUERY = (1, 12, 64, 64)


def test_w1_attention_has_a_closed_form():
    """Two products of 64^3 for each of 12 heads: pytorch/pytorch#195460, #134804, #126268, #128199."""
    assert attention_forward_flop(SHAPE) == 12_582_912


def test_w1_the_counter_agrees_with_the_closed_form_on_a_cpu_and_in_inference_mode():
    """It counted 0 there: pytorch/pytorch#195460, #128199. Ours has its own formulas."""
    torch = pytest.importorskip("torch")
    truth = pytest.importorskip("flopwitness.lab.truth")
    query = torch.ones(QUERY)

    def attend() -> object:
        return torch.nn.functional.scaled_dot_product_attention(query, query, query)

    with torch.inference_mode():
        inferred = truth.tally(attend)

    assert truth.tally(attend).counted == inferred.counted == attention_forward_flop(SHAPE)


@pytest.mark.parametrize("factor", [0.0, 0.999, 1.001, 2.0])
def test_w1_a_count_off_the_closed_form_is_no_truth(factor: float):
    """Nothing, or twice: pytorch/pytorch#134804, #126268. The tolerance is zero: both are exact integers."""
    pytest.importorskip("torch")
    truth = pytest.importorskip("flopwitness.lab.truth")
    settings_of = pytest.importorskip("flopwitness.lab.settings").Settings
    small = settings_of(d_model=32, n_layers=2, n_heads=4, d_ff=64, seq_len=16, batch=2, vocabulary=101)
    right = pytest.importorskip("flopwitness.lab.closed_form").closed_form(small).counted

    found = truth.step_truth(small, truth.Tally(round(right * factor), ()))

    assert (found.algorithmic, found.executed) == (None, None)
    assert found.problem


def test_w2_model_and_hardware_flop_are_stated_apart():
    """Recomputation makes three forwards into four: deepspeedai/DeepSpeed#7256, #2292, #3362."""
    forward = 10_000_000_000

    model = step_flop_from_forward(forward)
    hardware = step_flop_from_forward(forward, n_recomputed_forwards=1)

    assert (model, hardware) == (30_000_000_000, 40_000_000_000)


def test_w2_recomputing_changes_what_is_executed_and_not_what_the_model_needs():
    """A claim of model FLOP is never compared with executed ones: deepspeedai/DeepSpeed#7256."""
    counts = {
        target: [target_flop(SHAPE, target, recompute=each) for each in (Recompute.NONE, Recompute.BLOCKS)]
        for target in Target
    }

    assert counts[Target.ALGORITHMIC][0] == counts[Target.ALGORITHMIC][1]
    assert counts[Target.EXECUTED][0] < counts[Target.EXECUTED][1]


def test_w6_a_square_product_is_the_yardstick():
    """11 % against 46 % for one kernel: ROCm/rocprofiler#147, openxla/xprof#1712. 2 N^3 settles it."""
    assert gemm_flop(8192, 8192, n_inner=8192) == 2 * 8192**3
    assert gemm_flop(8192, 8192, n_inner=8192) == pytest.approx(1.0995e12, rel=1e-4)


def test_w6_the_counter_agrees_with_the_yardstick():
    """The counter of the lab on the same product, shapes only: openxla/xprof#1712."""
    torch = pytest.importorskip("torch")
    truth = pytest.importorskip("flopwitness.lab.truth")
    matrix = torch.ones((8192, 8192), device="meta", dtype=torch.bfloat16)

    assert truth.tally(lambda: matrix @ matrix).counted == 2 * 8192**3
