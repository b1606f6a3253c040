"""An attack: a named change at several strengths, which cannot be nonsense."""

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.redteam.attack import Attack, Strength

TWIN = WorkloadConfig("twin-small", "twin", {"d_model": 64, "n_heads": 4})
WEAK, STRONG = Strength("2", {"n_heads": 2}), Strength("one-head", {"n_heads": 1, "steps": 3})


def attack(**changes: object) -> Attack:
    """Return an attack, changed."""
    sound = {"name": "heads", "rationale": "Odd heads.", "twin": TWIN, "strengths": (WEAK, STRONG)}
    return Attack(**(sound | changes))


def test_a_configuration_is_the_twin_with_the_changes_of_a_strength():
    """Its name is the attack's and the strength's, its family the attack; the twin stays as it was."""
    configuration = attack().configuration(STRONG)

    assert configuration == WorkloadConfig(
        "heads-one-head", "heads", {"d_model": 64, "n_heads": 1, "steps": 3}
    )
    assert TWIN.parameters == {"d_model": 64, "n_heads": 4}


def test_what_a_workload_cannot_do_has_no_configurations():
    """A power limit is a setting of the board."""
    capping = attack(name="power-cap", runnable=False)

    assert capping.configurations == ()
    with pytest.raises(InvalidNounError, match="a setting of the board"):
        capping.configuration(WEAK)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Odd Heads"}, "no name"),
        ({"rationale": "because"}, "a sentence that says why"),
        ({"strengths": ()}, "strengths of different labels"),
        ({"strengths": (WEAK, WEAK)}, "strengths of different labels"),
        ({"n_gpus_required": 0}, "at least one GPU"),
    ],
)
def test_what_is_no_attack_is_refused(changes: dict[str, object], message: str) -> None:
    """The attack is named."""
    with pytest.raises(InvalidNounError, match=message):
        attack(**changes)


@pytest.mark.parametrize(("label", "changes"), [("Two", {"n_heads": 2}), ("", {"n_heads": 2}), ("2", {})])
def test_a_strength_without_label_or_change_is_refused(label: str, changes: dict[str, int]) -> None:
    """It could not be told from the twin."""
    with pytest.raises(InvalidNounError):
        Strength(label, changes)
