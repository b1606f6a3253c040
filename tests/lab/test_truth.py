"""Ground truth of a step: the counter against the closed form, for every kind of workload."""

import pytest

from flopwitness.core.workload import Target

torch = pytest.importorskip("torch")
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402 - only where torch is installed

from flopwitness.lab.closed_form import closed_form  # noqa: E402 - only where torch is installed
from flopwitness.lab.settings import CHOICES, Settings  # noqa: E402
from flopwitness.lab.truth import FORMULAS, Tally, multiplies, step_truth, tally  # noqa: E402
from flopwitness.lab.workloads.kinds import build  # noqa: E402
from flopwitness.physics.training import step_flop, target_flop  # noqa: E402

CPU = torch.device("cpu")
TINY = {"d_model": 32, "n_layers": 2, "n_heads": 4, "d_ff": 64, "seq_len": 16, "batch": 2, "vocabulary": 101}
KINDS = {
    "dense": {},
    "sgd": {"optimizer": "sgd"},
    "fp32": {"precision": "fp32"},
    "fp16": {"precision": "fp16"},
    "accumulation": {"accumulation": 3},
    "recompute": {"recompute": True},
    "grouped queries": {"n_kv_heads": 2},
    "experts": {"n_experts": 4, "experts_per_token": 2},
    "experts again": {"n_experts": 4, "experts_per_token": 2, "recompute": True},
    "lora": {"lora_rank": 4},
    "lora again": {"lora_rank": 4, "recompute": True},
    "vit": {"kind": "vit", "image": 32, "patch": 8},
    "prefill": {"kind": "prefill"},
    "prefill, grouped": {"kind": "prefill", "n_kv_heads": 1},
    "decode": {"kind": "decode", "seq_len": 24},
    "decode, grouped": {"kind": "decode", "n_kv_heads": 2},
    "serve": {"kind": "serve", "prompts": 2, "new_tokens": 3},
    "serve, grouped, experts": {"kind": "serve", "n_kv_heads": 2, "n_experts": 4, "experts_per_token": 2},
    "prefill, fp8": {"kind": "prefill", "precision": "fp8"},
    "vit, asked": {"kind": "vit-inference", "image": 32, "patch": 8},
    "tf32": {"precision": "tf32"},
    "fp8": {"precision": "fp8"},
    "fp8 in part": {"precision": "fp8", "precision_layers": 1},
    "fp8-fast": {"precision": "fp8-fast"},
    "int8": {"precision": "int8"},
    "int8 in part": {"precision": "int8", "precision_layers": 1},
    "fp16 in part": {"precision": "fp16", "precision_layers": 1},
    "fp32 in part": {"precision": "fp32", "precision_layers": 1},
    "recompute in part": {"recompute": True, "recompute_layers": 1},
    "interleaved": {"serves": 3},
    "interleaved again": {"serves": 2, "recompute": True, "accumulation": 2, "lora_rank": 4},
    "memory decoy": {"decoy": "memory", "decoy_amount": 2, "decoy_size": 8},
    "matrix decoy": {"decoy": "matrix", "decoy_amount": 3, "decoy_size": 8},
    "operands": {"operands": "pruned"},
    "offload": {"offload_layers": 1},
    **{f"gemm {one}": {"kind": "gemm", "size": 32, "precision": one} for one in CHOICES["precision"]},
    "fp64": {"kind": "gemm-fp64", "size": 32, "batch": 3},
}


@pytest.mark.parametrize("extra", KINDS.values(), ids=KINDS)
def test_the_count_of_a_step_equals_the_closed_form(extra: dict[str, object]) -> None:
    """To the last FLOP, for every kind that has a formula."""
    settings = Settings(**(TINY | extra))

    truth = step_truth(settings, build(settings, CPU).rehearse())

    assert truth.problem == ""
    assert truth.counted == truth.expected


def test_the_truth_of_dense_training_is_that_of_physics():
    """Algorithmic counts attention in full, executed halves it."""
    settings = Settings(**TINY)

    truth = step_truth(settings, build(settings, CPU).rehearse())

    assert truth.algorithmic == step_flop(settings.shape)
    assert truth.executed == target_flop(settings.shape, Target.EXECUTED)


def test_recomputation_is_named_apart():
    """It is executed, not algorithmic."""
    plain, again = (closed_form(Settings(**TINY, recompute=recompute)) for recompute in (False, True))

    assert again.algorithmic == plain.algorithmic
    assert again.executed == plain.executed + again.recomputed
    assert again.recomputed > 0


@pytest.mark.parametrize("extra", [{}, {"recompute": True, "recompute_layers": 1, "serves": 2}])
def test_attention_written_out_executes_all_that_is_counted(extra: dict[str, object]) -> None:
    """PyTorch does so where no fused kernel takes the heads: the count tells, and nothing is halved."""
    settings = Settings(**(TINY | extra))

    with sdpa_kernel(SDPBackend.MATH):
        truth = step_truth(settings, build(settings, CPU).rehearse())

    assert truth.problem == ""
    assert truth.executed == truth.counted == closed_form(settings, fused=False).counted
    assert truth.executed > closed_form(settings).executed


def test_decoys_and_served_prompts_are_executed_beside_training():
    """A product of side 8 is 1,024 FLOP; a prompt costs what prefill costs."""
    plain, decoy, serving = (
        closed_form(Settings(**TINY, **extra))
        for extra in ({}, {"decoy": "matrix", "decoy_amount": 3, "decoy_size": 8}, {"serves": 2})
    )
    prefill = closed_form(Settings(**TINY, kind="prefill"))

    assert decoy.executed - plain.executed == 3 * 1024
    assert serving.executed - plain.executed == 2 * prefill.executed


def test_resnet_counts_three_forwards_but_for_the_first_gradient():
    """ResNet-50 has 4.09 G multiply-adds an image (torchvision's figure) at 224 pixels; three passes."""
    settings = Settings(kind="resnet", image=64, batch=1, precision="fp32")

    truth = step_truth(settings, build(settings, CPU).rehearse())

    # At 64 pixels the convolutions cost (64/224)^2 of that.
    expected = 3 * 2 * 4.09e9 * (64 / 224) ** 2
    assert truth.algorithmic == pytest.approx(expected, rel=0.03)


def test_an_operator_without_a_formula_is_listed_and_spoils_the_truth():
    """A Fourier transform multiplies and adds, and nobody counts it."""
    settings = Settings(kind="fft", size=64)

    truth = step_truth(settings, build(settings, CPU).rehearse())

    assert truth.uncounted == ("aten._fft_c2c",)
    assert truth.executed is None
    assert "nobody counts" in truth.problem


def test_moving_memory_is_no_matrix_work():
    """Zero FLOP is said in words, since a truth is positive."""
    settings = Settings(kind="copy", size=64)

    truth = step_truth(settings, build(settings, CPU).rehearse())

    assert (truth.counted, truth.executed, truth.problem) == (0, None, "no matrix work")


def test_a_count_that_contradicts_the_closed_form_is_no_truth():
    """Both figures are in the reason."""
    truth = step_truth(Settings(**TINY), Tally(7, ()))

    assert truth.executed is None
    assert truth.problem.startswith("the counter saw 7 FLOP")


def test_a_custom_operator_is_foreign():
    """Whatever does not come with PyTorch may do anything."""
    with torch.library._scoped_library("labtest", "DEF") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
        seen = tally(lambda: torch.ops.labtest.twice(torch.ones(2)))

    assert seen == Tally(0, ("labtest.twice",))


@pytest.mark.parametrize(
    "name", ["aten.add", "aten._fused_adamw_", "aten.native_layer_norm", "c10d.allreduce_"]
)
def test_what_only_adds_or_moves_is_not_listed(name: str) -> None:
    """Element-wise work, norms, optimizers and communication have no products."""
    assert not multiplies(name)


def test_our_attention_formulas_are_those_of_torch():
    """Forward 2 products, backward 5, where PyTorch knows the kernel."""
    kernel = torch.ops.aten._scaled_dot_product_flash_attention
    query, key = (1, 12, 64, 64), (1, 12, 32, 64)

    expected = torch.utils.flop_counter.sdpa_flop_count(query, key, key)

    assert FORMULAS[kernel](query, key, key, 0.0, is_causal=True) == expected
