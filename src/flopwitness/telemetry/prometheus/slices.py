"""MIG slices: a slice's activity is a share of the slice; times the slice's share of its GPU, slices add up.

NVIDIA DCGM reports profiling activity of a GPU instance relative to that instance, so a busy 3g slice
tops out at 3/7 of its GPU (github.com/NVIDIA/DCGM/issues/138). NVIDIA's MIG user guide gives each profile's
fraction of SMs as its number of compute slices over those of the chip: 7 on A100, H100, H200 and B200, 4 on
A30 and RTX PRO 6000. True SM counts differ by a few per cent: a 3g slice of an H100
has 60 of 132 SMs, not 3/7.
"""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

PROFILE = re.compile(r"^(?:\d+c\.)?(?P<slices>[1-7])g\.(?P<memory>\d+)gb", re.IGNORECASE)
"""``GPU_I_PROFILE``: compute slices and memory, such as ``3g.40gb`` or ``1g.10gb+me``."""

COMPUTE_SLICES = 7
FEW_COMPUTE_SLICES = 4
FEW_SLICED_PRODUCTS = ("a30", "rtx pro")
FEW_SLICED_PROFILES = frozenset({"1g.6gb", "2g.12gb", "4g.24gb", "2g.48gb", "4g.96gb"})
"""Profiles that only chips with 4 compute slices have (NVIDIA, MIG user guide: A30, RTX PRO 6000)."""


def share_of(profile: str, product: str = "") -> float | None:
    """Return which share of its GPU's SMs a slice has; None where the profile does not say.

    Examples
    --------
    >>> share_of("3g.40gb") == 3 / 7, share_of("2g.12gb"), share_of("MIG")
    (True, 0.5, None)
    """
    found = PROFILE.match(profile.strip())
    if found is None:
        return None
    shape = f"{found['slices']}g.{found['memory']}gb"
    is_few = shape in FEW_SLICED_PROFILES or any(name in product.casefold() for name in FEW_SLICED_PRODUCTS)
    return min(int(found["slices"]) / (FEW_COMPUTE_SLICES if is_few else COMPUTE_SLICES), 1.0)


def of_whole_gpu(
    columns: Mapping[str, NDArray[np.float64]],
    shares: Mapping[str, float],
    present: Mapping[str, NDArray[np.bool_]],
) -> NDArray[np.float64]:
    """Return a GPU's activity from that of its slices.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_samples,), float64
        Activity of each slice, NaN where it gave none.
    shares : mapping of str to float
        What each slice's activity counts for.
    present : mapping of str to ndarray of shape (n_samples,), bool
        Where each slice answered anything at all: one that was there and kept silent makes the sum unknown,
        one that was not there adds nothing.

    Examples
    --------
    >>> there = np.array([True])
    >>> activity = {"1": np.array([0.8]), "2": np.array([0.4])}
    >>> of_whole_gpu(activity, {"1": 0.5, "2": 0.25}, {"1": there, "2": there}).tolist()
    [0.5]
    """
    parts = [np.where(present[name], column * shares[name], 0.0) for name, column in columns.items()]
    is_any = np.any([present[name] for name in columns], axis=0)
    silent = [there for name, there in present.items() if name not in columns]
    is_known = is_any & ~np.any(silent, axis=0) if silent else is_any
    return np.where(is_known, np.sum(parts, axis=0), np.nan)
