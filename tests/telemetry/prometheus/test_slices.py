"""How large a MIG slice is, and what slices make of their GPU."""

import numpy as np
import pytest

from flopwitness.telemetry.prometheus.slices import of_whole_gpu, share_of


@pytest.mark.parametrize(
    ("profile", "product", "share"),
    [
        ("1g.10gb", "", 1 / 7),
        ("3g.40gb", "NVIDIA H100", 3 / 7),
        ("7g.80gb", "", 1.0),
        ("1g.10gb+me", "", 1 / 7),
        ("1c.3g.40gb", "", 3 / 7),
        ("2g.12gb", "", 0.5),
        ("1g.24gb", "NVIDIA RTX PRO 6000 Blackwell", 0.25),
        ("1g.24gb", "NVIDIA GH200", 1 / 7),
        ("7g.96gb", "NVIDIA A30", 1.0),
        ("", "NVIDIA H100", None),
        ("9g.40gb", "", None),
    ],
)
def test_a_profile_says_its_share(profile: str, product: str, share: float | None):
    """Compute slices over those of the chip; what no profile says is not guessed."""
    assert share_of(profile, product) == share


def test_a_slice_that_comes_and_goes_counts_while_it_is_there():
    """Slices are made and destroyed: what is not there cannot work."""
    columns = {"1": np.array([1.0, 1.0]), "2": np.array([1.0, np.nan])}
    present = {"1": np.array([True, True]), "2": np.array([True, False])}

    assert of_whole_gpu(columns, {"1": 0.5, "2": 0.25}, present).tolist() == [0.75, 0.5]


def test_a_slice_that_answers_only_other_channels_makes_the_sum_unknown():
    """Nobody can say that it is idle."""
    there = np.array([True])

    assert np.isnan(of_whole_gpu({"1": np.array([1.0])}, {"1": 0.5}, {"1": there, "2": there})).all()
