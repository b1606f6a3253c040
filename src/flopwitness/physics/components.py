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

FORMATS = ("fp8", "fp8-fast", "tf32")
"""Formats of matrix products that no counter of their own tells from half precision.

``fp8-fast`` accumulates in fewer bits, ``tf32`` holds values in 32 bits. BF16 and FP16 are the half precision
that all else is measured against; INT8, FP64 and FP32 on CUDA cores have pipes, and so counters, of their
own.
"""

CAST_FORMATS = frozenset({"fp8", "fp8-fast"})
"""Formats of the products of linear layers alone, with casts around them; all else is in half precision."""

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


def block_share(shapes: ArrayLike) -> NDArray[np.float64]:
    """Return the share of the linear FLOP that the blocks do; the rest is the output head."""
    _, _, width, layers, hidden, _, _, vocabulary = np.moveaxis(np.asarray(shapes, dtype=np.float64), -1, 0)
    of_blocks = layers * (4 * width + 2 * hidden)
    share: NDArray[np.float64] = of_blocks / (of_blocks + vocabulary)
    return share


def step_flop_pair(shapes: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return executed (causal half) and algorithmic (full attention) FLOP of one step on one GPU.

    The closed form of ``flopwitness.physics.training`` for the dense case: 7 (causal) or 14 (full) x batch x
    length squared x width x layers for attention, beside ``linear_flop``.
    """
    batch, length, width, layers = np.moveaxis(np.asarray(shapes, dtype=np.float64)[..., :4], -1, 0)
    linear = step_components(shapes)[..., 0]
    attention = 7 * batch * length * length * width * layers
    return linear + attention, linear + 2 * attention


def replaced_by(precision: str) -> NDArray[np.bool_]:
    """Say which components a format takes over from half precision, shape (8,).

    Examples
    --------
    >>> [name for name, taken in zip(COMPONENTS, replaced_by("fp8")) if taken]
    ['linear_flop']
    """
    names = {"linear_flop"} if precision in CAST_FORMATS else set(COMPONENTS[:6])
    return np.array([name in names for name in COMPONENTS])


def touched_by(precision: str) -> NDArray[np.bool_]:
    """Say which components scale what a format does, shape (8,): its products, casts and wider values."""
    casts = {"linear_flop", "stream_elements", "hidden_elements", "parameters"}
    names = casts if precision in CAST_FORMATS else set(COMPONENTS[:6])
    return np.array([name in names for name in COMPONENTS])


def is_half_precision(components: NDArray[np.float64] | None, n_runs: int) -> NDArray[np.bool_]:
    """Say which runs had no product in another format, shape (n_runs,); all where nobody said.

    Parameters
    ----------
    components : ndarray of shape (n_runs, 8 + n_formats), or None
        What each run was made of, and the share of its linear FLOP in each of ``FORMATS``.
    n_runs : int
        How many there are.
    """
    if components is None or components.shape[1] <= len(COMPONENTS):
        return np.ones(n_runs, dtype=np.bool_)
    other: NDArray[np.bool_] = np.any(components[:, len(COMPONENTS) :] > 0, axis=1)
    return ~other
