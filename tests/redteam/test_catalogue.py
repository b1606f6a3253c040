"""The catalogue: every attack that was promised, each at several strengths beside a twin."""

import pytest

from flopwitness.lab.plans import DECODER
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.catalogue import ATTACKS, SECOND_ATTACKS, attack_of, twins

PROMISED = {
    *("split", "throttle", "heads", "batch", "power-cap", "clock-lock"),
    *("fp8", "fp8-fast", "fp16", "tf32", "fp32", "int8", "operands"),
    *("recompute", "accumulate", "local-steps", "lora", "offload", "long-sequences"),
    *("decoy-memory", "decoy-links", "decoy-matrix", "decoy-vector", "decoy-integer", "interleave"),
    *("bursts", "handover", "half", "poison"),
}


def test_every_attack_that_was_promised_is_there():
    """The experiment's five and its clock lock, and ours."""
    assert set(ATTACKS) == PROMISED
    assert {attack.reference for attack in ATTACKS.values()} >= {"S1", "S2", "S3", "S4", "S5", "S6"}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_has_three_strengths_that_differ_from_the_twin(attack: Attack) -> None:
    """Each changes something, and no two change the same."""
    changed = [tuple(sorted(strength.changes.items())) for strength in attack.strengths]

    assert len(set(changed)) == len(changed) >= 3
    assert all(dict(attack.twin.parameters) | dict(one) != attack.twin.parameters for one in changed)


def test_only_settings_of_the_board_are_not_run():
    """The experiment's watts are kept; other people share the boards."""
    kept = [name for name, attack in ATTACKS.items() if not attack.runnable]

    assert kept == ["power-cap", "clock-lock"]
    assert [one.changes["power_limit_watts"] for one in ATTACKS["power-cap"].strengths] == [
        *(300, 250, 200, 150, 100)
    ]


def test_a_run_is_traced_back_to_its_attack_and_strength():
    """By the name of its configuration, also where a name begins like another's; a twin is none."""
    for attack in ATTACKS.values():
        for strength in attack.strengths:
            assert attack_of(attack.name_of(strength)) == (attack, strength)

    assert attack_of("twin-2048-12-b8") is None
    assert attack_of("batch-2048-b8") is None


def test_twins_are_few_and_benign():
    """Each stands once, and the largest is the middle of the benign sweep."""
    found = twins()

    assert len({one.name for one in found}) == len(found) <= 6
    assert {one.family for one in found} == {"twin"}
    assert dict(found[0].parameters) == DECODER


@pytest.mark.parametrize("name", ["local-steps", "decoy-links", "handover", "half"])
def test_what_is_done_between_gpus_needs_two(name: str) -> None:
    """One GPU has no links and nobody to hand over to."""
    assert ATTACKS[name].n_gpus_required == 2


def test_the_same_attacks_exist_on_other_twins():
    """Same names, another benign run of another name and shape beside each; blocks stay the same share."""
    for name, attack in ATTACKS.items():
        second = SECOND_ATTACKS[name]

        assert [one.label for one in second.strengths] == [one.label for one in attack.strengths]
        assert second.twin.name != attack.twin.name
        assert second.twin.parameters != attack.twin.parameters
    assert [one.changes["precision_layers"] for one in SECOND_ATTACKS["fp32"].strengths] == [2, 4, 0]
