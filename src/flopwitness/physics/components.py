"""What a training step of a decoder-only transformer is made of, vectorised over shapes.

Each component is a count that scales one kind of hardware activity: matrix FLOP feed the tensor pipe,
elements of the residual stream feed element-wise kernels and memory, parameters feed optimiser and links.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

COMPONENTS = (
    "linear_flop",
    "attention_elements",
    "softmax_elements",
    "stream_elements",
    "hidden_elements",
    "logit_elements",
    "parameters",
    "adam_parameters",
)
"""Names of the last axis of ``step_components``.

Linear FLOP of all matrices; executed elements of the attention products; causal softmax entries; tokens x
width x layers; tokens x feed-forward width x layers; tokens x vocabulary; parameters; the same with Adam.
"""

MIN_KERNEL_HEAD_WIDTH = 64
"""Attention kernels on Hopper pad narrower heads to this width.

``round_up_headdim`` of FlashAttention-3 (github.com/Dao-AILab/flash-attention, ``hopper/flash_api.cpp``).
"""

SHAPE_COLUMNS = ("batch", "seq_len", "d_model", "n_layers", "d_ff", "n_heads", "is_adam", "vocabulary")
"""Columns of a shape: sequences per GPU and step, tokens per sequence, widths and counts, 0 or 1, entries."""


def step_components(shapes: ArrayLike) -> NDArray[np.float64]:
    """Return the components of one step on one GPU, shape (..., 8).

    Parameters
    ----------
    shapes : array-like of shape (..., 8)
        One shape a row, in the order of ``SHAPE_COLUMNS``; need not be whole numbers.
    """
    batch, length, width, layers, hidden, heads, is_adam, vocabulary = np.moveaxis(
        np.asarray(shapes, dtype=np.float64), -1, 0
    )
    tokens = batch * length
    block_parameters = layers * (4 * width * width + 2 * width * hidden)
    parameters = block_parameters + 2 * vocabulary * width
    head_width = np.maximum(width / heads, MIN_KERNEL_HEAD_WIDTH)
    return np.stack(
        [
            6 * tokens * (block_parameters + vocabulary * width),
            tokens * length * layers * heads * head_width / 2,
            tokens * length * layers * heads / 2,
            tokens * width * layers,
            tokens * hidden * layers,
            tokens * vocabulary,
            parameters,
            parameters * is_adam,
        ],
        axis=-1,
    )


def step_flop_pair(shapes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return executed (causal half) and algorithmic (full attention) FLOP of one step on one GPU.

    The closed form of ``flopwitness.physics.training`` for the dense case: 7 (causal) or 14 (full) x batch x
    length squared x width x layers for attention, beside ``linear_flop``.
    """
    batch, length, width, layers = np.moveaxis(np.asarray(shapes, dtype=np.float64)[..., :4], -1, 0)
    linear = step_components(shapes)[..., 0]
    attention = 7 * batch * length * length * width * layers
    return linear + attention, linear + 2 * attention
