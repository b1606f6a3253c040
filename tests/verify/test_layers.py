"""Kinds of evidence side by side, each by itself."""

from dataclasses import replace

import pytest

from flopwitness.core.account import Account, SessionEvidence
from flopwitness.core.estimate import Estimate
from flopwitness.core.verdict import Claim
from flopwitness.core.workclass import WorkClass
from flopwitness.core.workload import Target
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.layers import EvidenceLayer, LayerAnswer, layers
from verify.made_accounts import ALARM, estimate, made_account, session, watch

EXECUTED = CONVENTIONS["executed"]
NAMES = ("activity", "energy", "classification", "completeness", "tampering")


def seen(**by_method: Estimate) -> SessionEvidence:
    """Return a session with an estimate by each of these methods."""
    found = {name.replace("_", "-"): replace(one, method=name) for name, one in by_method.items()}
    return replace(session(), estimates={Target.EXECUTED: found})


def layer(name: str, account: Account, claimed: float | None = None) -> EvidenceLayer:
    """Return one layer, with or without a claim of executed FLOP."""
    claim = None if claimed is None else Claim("Example", claimed, "executed")
    return {one.name: one for one in layers(account, claim, EXECUTED if claim else None)}[name]


def test_all_kinds_are_shown_whatever_they_say() -> None:
    """A kind that knows nothing is silent, not absent."""
    found = layers(made_account([]))

    assert tuple(one.name for one in found) == NAMES
    assert {one.answer for one in found if one.name != "completeness"} == {LayerAnswer.SILENT}


@pytest.mark.parametrize(
    ("claimed", "expected"), [(100.0, LayerAnswer.SUPPORTS), (50.0, LayerAnswer.CONTRADICTS)]
)
def test_activity_and_power_weigh_a_claim_by_themselves(claimed: float, expected: LayerAnswer) -> None:
    """Each excludes what lies outside of its own bounds."""
    account = made_account([seen(fused=estimate(), linear_power=estimate(100.0, 0.9, 1.1))])

    assert layer("activity", account, claimed).answer is expected
    assert layer("energy", account, claimed).answer is expected


def test_power_may_contradict_what_activity_supports() -> None:
    """Side by side: neither is averaged away."""
    account = made_account([seen(fused=estimate(), linear_power=estimate(300.0))])

    assert layer("activity", account, 100.0).answer is LayerAnswer.SUPPORTS
    assert layer("energy", account, 100.0).answer is LayerAnswer.CONTRADICTS
    assert layer("energy", account).answer is LayerAnswer.CONTRADICTS


def test_a_claim_of_more_than_the_energy_allows_is_contradicted() -> None:
    """No known chip does 1e14 FLOP with a joule."""
    account = made_account([seen(fused=estimate())])

    assert layer("energy", account, 1e14).answer is LayerAnswer.CONTRADICTS


def test_a_method_without_an_answer_for_every_session_is_left_out() -> None:
    """A sum of some sessions says nothing of the scope."""
    account = made_account([seen(fused=estimate(), linear_power=estimate()), session(30, 40)])

    assert not any("linear-power" in one for one in layer("energy", account).details)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (WorkClass.TRAINING, LayerAnswer.SUPPORTS),
        (WorkClass.INFERENCE, LayerAnswer.CONTRADICTS),
        (WorkClass.UNKNOWN, LayerAnswer.SILENT),
        (None, LayerAnswer.SILENT),
    ],
)
def test_classes_speak_of_training(kind: WorkClass | None, expected: LayerAnswer) -> None:
    """What nobody recognises neither supports nor contradicts."""
    assert layer("classification", made_account([session(kind=kind)])).answer is expected


def test_gaps_make_completeness_silent() -> None:
    """Whoever did not look cannot say that nothing else ran."""
    whole = made_account([session()])
    part = made_account([session()], [watch("GPU-a"), watch("GPU-b", (0, 900))])

    assert layer("completeness", whole).answer is LayerAnswer.SUPPORTS
    assert layer("completeness", part).answer is LayerAnswer.SILENT


def test_an_alarm_contradicts() -> None:
    """Signals that disagree are told with their session."""
    found = layer("tampering", made_account([session(findings=[ALARM])]))

    assert found.answer is LayerAnswer.CONTRADICTS
    assert "energy-power" in found.details[0]
