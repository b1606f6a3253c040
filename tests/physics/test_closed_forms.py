"""Closed forms of counting: they agree with the exact count of a transformer, and with worked figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.errors import InvalidNounError
from flopwitness.physics.closed_forms import dense_training_flop, full_over_half, generation_flop
from flopwitness.physics.training import Attention, forward_flop, parameter_count, step_flop
from flopwitness.physics.transformer import TransformerShape


def shape(*, d_model: int, seq_len: int) -> TransformerShape:
    """Return a deep dense decoder with a feed-forward of four widths and next to no vocabulary."""
    return TransformerShape(
        d_model=d_model, n_layers=96, n_heads=8, d_ff=4 * d_model, seq_len=seq_len, batch=1, vocabulary=1
    )


@pytest.mark.parametrize(("d_model", "seq_len"), [(4096, 2048), (4096, 8192), (1024, 131072)])
def test_the_mask_factor_is_that_of_the_exact_count(d_model: int, seq_len: int) -> None:
    """Forward FLOP with attention in full over those with half of it, of a dense decoder."""
    decoder = shape(d_model=d_model, seq_len=seq_len)
    full, causal = (forward_flop(decoder, attention=way) for way in (Attention.FULL, Attention.CAUSAL))

    actual = full_over_half(d_model, context_tokens=seq_len)

    assert actual == pytest.approx(full / causal, rel=1e-4)


@given(st.floats(1, 1e6), st.floats(0, 1e9))
def test_the_mask_factor_lies_between_one_and_two(d_model: float, context_tokens: float) -> None:
    """Nothing masked moves nothing; attention alone is halved."""
    assert 1 <= full_over_half(d_model, context_tokens=context_tokens) <= 2


def test_six_pd_is_a_step_with_little_attention() -> None:
    """With a context that is short against the width, 6PD is the step within one per cent."""
    decoder = shape(d_model=8192, seq_len=64)
    step = step_flop(decoder)

    actual = dense_training_flop(parameter_count(decoder, tied=True), n_tokens=64)

    assert actual == pytest.approx(step, rel=0.01)


def test_discarded_samples_are_paid_for() -> None:
    """Half thrown away means twice the passes."""
    kept = generation_flop(3.0, n_kept_tokens=5.0)

    assert generation_flop(3.0, n_kept_tokens=5.0, discarded_ratio=0.5) == 2 * kept == 60


@pytest.mark.parametrize(
    "count",
    [
        lambda: full_over_half(0, context_tokens=1),
        lambda: full_over_half(1, context_tokens=-1),
        lambda: full_over_half(float("nan"), context_tokens=1),
        lambda: full_over_half(float("inf"), context_tokens=1),
        lambda: dense_training_flop(-1, n_tokens=1),
        lambda: dense_training_flop(1, n_tokens=float("nan")),
        lambda: generation_flop(1, n_kept_tokens=1, discarded_ratio=1),
        lambda: generation_flop(1, n_kept_tokens=1, discarded_ratio=-0.1),
    ],
)
def test_impossible_counts_are_refused(count) -> None:  # noqa: ANN001
    """No width, negative tokens, everything discarded."""
    with pytest.raises(InvalidNounError, match="cannot be"):
        count()
