"""How conventions of counting move the FLOP of a dense transformer, in closed form. Knows no law, no chip."""

from flopwitness.core.errors import InvalidNounError


def full_over_half(d_model: float, *, context_tokens: float) -> float:
    r"""Return the FLOP of a forward pass with causal attention in full over those without the masked half.

    .. math:: (12 d + 2 T) / (12 d + T)

    A block of width d with a feed-forward of 4d has 12 d² parameters, hence 24 d² FLOP a token; its two
    products of attention take 4 d T a token in full and 2 d T where the mask halves them. 1 where nothing is
    masked, 2 in the limit.

    Parameters
    ----------
    d_model : float
        Width d, > 0.
    context_tokens : float
        Tokens T that attention spans, >= 0.

    Raises
    ------
    InvalidNounError
        When one is out of range.

    Notes
    -----
    Embedding and head are left out, and so is the fifth product of a fused backward pass: that repeats the
    scores, so it is recomputation.

    Examples
    --------
    >>> [round(full_over_half(4096, context_tokens=tokens), 2) for tokens in (2048, 8192, 131072)]
    [1.04, 1.14, 1.73]
    """
    _require("a width", d_model, is_fine=d_model > 0)
    _require("a context", context_tokens, is_fine=context_tokens >= 0)
    return (12 * d_model + 2 * context_tokens) / (12 * d_model + context_tokens)


def dense_training_flop(n_parameters: float, *, n_tokens: float) -> float:
    """Return 6PD: what a dense network takes in training where attention is small, a multiply-add as two.

    Two FLOP a parameter and token forward, four backward. Attention adds T / (6d) of it in full, half as
    much with the masked half left out: a third at width 4096 and context 8k.

    Raises
    ------
    InvalidNounError
        When a count is negative or infinite.

    Examples
    --------
    >>> f"{dense_training_flop(70e9, n_tokens=15e12):.1e}"
    '6.3e+24'
    """
    _require("parameters", n_parameters, is_fine=n_parameters >= 0)
    _require("tokens", n_tokens, is_fine=n_tokens >= 0)
    return 6 * n_parameters * n_tokens


def generation_flop(n_parameters: float, *, n_kept_tokens: float, discarded_ratio: float = 0.0) -> float:
    """Return 2PD / (1 - r): the forward passes behind synthetic data, discarded samples included.

    Parameters
    ----------
    n_parameters : float
        P of the generator, >= 0.
    n_kept_tokens : float
        D that were kept, >= 0.
    discarded_ratio : float
        Share r of the generated tokens that were thrown away, in [0, 1).

    Raises
    ------
    InvalidNounError
        When one is out of range.

    Examples
    --------
    A generator of the trained model's size, for all of its tokens, over the 6PD of training them:

    >>> [round(generation_flop(1, n_kept_tokens=1, discarded_ratio=r) / 6, 2) for r in (0.0, 0.5, 0.9)]
    [0.33, 0.67, 3.33]
    """
    _require("parameters", n_parameters, is_fine=n_parameters >= 0)
    _require("tokens", n_kept_tokens, is_fine=n_kept_tokens >= 0)
    _require("a discarded share", discarded_ratio, is_fine=0 <= discarded_ratio < 1)
    return 2 * n_parameters * n_kept_tokens / (1 - discarded_ratio)


def _require(what: str, value: float, *, is_fine: bool) -> None:
    if not (is_fine and abs(value) < float("inf")):
        raise InvalidNounError(f"{what} cannot be {value}")
