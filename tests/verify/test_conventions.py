"""The conventions: their names are stable, and each reads the text as it was read."""

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import Target
from flopwitness.verify.conventions import CONVENTIONS, convention_named, convert
from flopwitness.verify.conversions import Reading
from verify.amounts import sure


def readings(name: str) -> dict[str, Reading]:
    """Return how a convention reads each conversion."""
    return {one.name: one.reading for one in CONVENTIONS[name].conversions}


def test_names_are_stable() -> None:
    """Users write them into claims and rules."""
    assert set(CONVENTIONS) >= {
        "executed",
        "algorithmic",
        "eu-cumulative",
        "eu-parameter-updates",
        "us-operations",
        "treaty-training",
    }
    assert all(name == convention.name for name, convention in CONVENTIONS.items())


def test_what_counts_attention_in_full_starts_from_algorithmic_flop() -> None:
    """All others start from what the hardware did: nothing undone is compute used."""
    full = {name for name, one in CONVENTIONS.items() if one.target is Target.ALGORITHMIC}

    assert full == {"algorithmic", "eu-cumulative-architecture"}


def test_the_european_exclusions_are_those_of_the_guidelines() -> None:
    """Failed runs, evaluation, auxiliary models, public synthetic data and recomputation do not count."""
    found = readings("eu-cumulative")

    out = {name for name, reading in found.items() if reading is Reading.OUT}
    assert out == {
        "failed-runs",
        "auxiliary-models",
        "public-synthetic-data",
        "evaluation",
        "recomputation",
        "base-model",
    }


def test_parameter_updates_leave_open_what_only_prepared_them() -> None:
    """The text does not say for generated data and parent weights, so both readings are carried."""
    changed = dict(set(readings("eu-parameter-updates").items()) - set(readings("eu-cumulative").items()))

    assert changed == {"synthetic-data": Reading.OPEN, "parent-weights": Reading.OPEN}


def test_the_american_texts_exclude_nothing() -> None:
    """The executed figure is the cautious one: no declaration lowers its high end."""
    declared = {"failed_ratio": 0.5, "evaluation_ratio": 0.1, "recompute_factor": 1.3, "auxiliary_ratio": 0.2}

    made = convert(sure(1e26), CONVENTIONS["us-operations"], declared=declared)

    assert Reading.OUT not in readings("us-operations").values()
    assert made.amount.high_flop == 1e26


def test_a_proposal_grants_no_exclusion() -> None:
    """What it counts was not read: both readings of what a FLOP is, and no exclusion."""
    found = readings("treaty-training")

    assert found["recomputation"] is found["causal-mask"] is Reading.OPEN
    assert found["evaluation"] is found["failed-runs"] is Reading.KEPT


def test_the_mask_and_sparsity_are_open_in_every_legal_text() -> None:
    """No text that was read says."""
    legal = [name for name in CONVENTIONS if name not in {"executed", "algorithmic"}]

    assert {readings(name)[about] for name in legal for about in ("causal-mask", "sparsity")} == {
        Reading.OPEN
    }


def test_recomputation_is_only_possible_in_algorithmic_flop() -> None:
    """The estimate may hold it already or not, so a declaration moves the low end alone."""
    made = convert(sure(1.0), CONVENTIONS["algorithmic"], declared={"recompute_factor": 1.25})

    assert (made.amount.low_flop, made.amount.high_flop) == (0.8, 1.0)


def test_a_convention_says_what_it_takes() -> None:
    """Asking for a declaration that changes nothing wastes an auditor's time."""
    assert CONVENTIONS["executed"].takes == ()
    assert CONVENTIONS["algorithmic"].takes == ("recompute_factor",)
    assert "evaluation_ratio" in CONVENTIONS["eu-cumulative"].takes
    assert "evaluation_ratio" not in CONVENTIONS["us-operations"].takes
    assert "base_flop" in CONVENTIONS["us-operations"].takes


def test_an_unknown_convention_is_refused() -> None:
    """The message lists those that are known."""
    assert convention_named("executed") is CONVENTIONS["executed"]
    with pytest.raises(InvalidNounError, match="no convention 'eu'; known are executed"):
        convention_named("eu")
