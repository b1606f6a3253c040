"""All attacks that a workload can make, by name."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from flopwitness.core.workload import WorkloadConfig
from flopwitness.redteam.attack import Attack, Strength, Value
from flopwitness.redteam.attacks.decoys import DECOYS
from flopwitness.redteam.attacks.experiment import EXPERIMENT
from flopwitness.redteam.attacks.numerics import NUMERICS
from flopwitness.redteam.attacks.rhythm import RHYTHM
from flopwitness.redteam.attacks.training import TRAINING
from flopwitness.redteam.attacks.twins import SECOND

ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {attack.name: attack for attack in (*EXPERIMENT, *NUMERICS, *TRAINING, *DECOYS, *RHYTHM)}
)
"""By name; those that are not ``runnable`` have no configurations."""


def on_twin(attack: Attack, twin: WorkloadConfig) -> Attack:
    """Return an attack on another twin; numbers of blocks stay the same share of all of them."""
    before, after = (one.parameters["n_layers"] for one in (attack.twin, twin))

    def scaled(name: str, value: Value) -> Value:
        is_count = name.endswith("_layers") and isinstance(value, int)
        return int(value) * int(after) // int(before) if is_count else value

    strengths = tuple(
        Strength(one.label, {name: scaled(name, value) for name, value in one.changes.items()})
        for one in attack.strengths
    )
    return replace(attack, twin=twin, strengths=strengths)


SECOND_ATTACKS: Mapping[str, Attack] = MappingProxyType(
    {name: on_twin(attack, SECOND[attack.twin.name]) for name, attack in ATTACKS.items()}
)
"""The same on other twins, to confirm what was found on the first."""

ATTACK_SETS: Mapping[str, Mapping[str, Attack]] = MappingProxyType(
    {"first": ATTACKS, "second": SECOND_ATTACKS}
)
"""By what ``redteam`` and the lab's plans call them."""

_BY_CONFIGURATION: Mapping[str, tuple[Attack, Strength]] = MappingProxyType(
    {
        attack.name_of(strength): (attack, strength)
        for attack in ATTACKS.values()
        for strength in attack.strengths
    }
)


def attack_of(config_name: str) -> tuple[Attack, Strength] | None:
    """Return the attack and strength that a configuration is, or None where it is no attack.

    Examples
    --------
    >>> attack, strength = attack_of("heads-64")
    >>> attack.name, strength.changes, attack_of("twin-2048-12-b8")
    ('heads', {'n_heads': 64}, None)
    """
    return _BY_CONFIGURATION.get(config_name)


def twins(attacks: Mapping[str, Attack] = ATTACKS) -> tuple[WorkloadConfig, ...]:
    """Return the benign runs beside all attacks that are run, each once."""
    found = {attack.twin.name: attack.twin for attack in attacks.values() if attack.runnable}
    return tuple(found.values())
