"""The ten kinds of tampering, whatever they do."""

import numpy as np
import pytest

from flopwitness.core.channels import CANONICAL
from flopwitness.core.errors import InvalidNounError
from flopwitness.redteam.tampering.aim import Aim
from flopwitness.redteam.tampering.catalogue import TAMPERINGS, Tampering, Variant
from flopwitness.redteam.tampering.values import scale
from verify.consistency.made import START_NS, clean_recording

EVERY = [(kind.name, variant) for kind in TAMPERINGS.values() for variant in kind.variants]
IDS = [f"{name}-{variant.name}" for name, variant in EVERY]
AIM_STOP_NS = START_NS + 80 * 10**9


def test_there_are_ten_kinds():
    """As many as an auditor is promised."""
    assert sorted(TAMPERINGS) == [
        "bias", "clip", "drop", "freeze", "replay", "reset", "scale", "shift", "swap", "wrong-index",
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "variant"), EVERY, ids=IDS)
def test_the_same_seed_gives_the_same_recording(name: str, variant: Variant):
    """Trials can be run again."""
    del name
    aim = Aim(START_NS + 10**10, AIM_STOP_NS, (), variant.channels)
    one, two = (
        variant.change(clean_recording(), aim, 0.5, np.random.default_rng(4)).traces for _ in range(2)
    )

    assert one == two


@pytest.mark.parametrize(("name", "variant"), EVERY, ids=IDS)
def test_the_original_stays_as_it_was_and_the_result_differs(name: str, variant: Variant):
    """A pure function that does something."""
    recording = clean_recording()
    before = [trace.digest() for trace in recording.traces]
    strength = 1.0 if name == "shift" else 0.5
    aim = Aim(START_NS + 10**10, AIM_STOP_NS, (), variant.channels)

    after = variant.change(recording, aim, strength, np.random.default_rng(4))

    assert [trace.digest() for trace in recording.traces] == before
    assert [trace.digest() for trace in after.traces] != before


@pytest.mark.parametrize(("name", "variant"), EVERY, ids=IDS)
def test_channels_that_are_not_aimed_at_stay(name: str, variant: Variant):
    """Only what was named is changed."""
    if not variant.channels:
        pytest.skip("aims at everything")
    recording = clean_recording()
    aim = Aim(START_NS + 10**10, AIM_STOP_NS, (), variant.channels)
    after = variant.change(recording, aim, 1.0 if name == "shift" else 0.5, np.random.default_rng(4))
    others = set(recording.traces[0].channels) - set(variant.channels)

    assert all(
        np.array_equal(one[other], two[other])
        for one, two in zip(recording.traces, after.traces, strict=True)
        for other in others
    )


def test_every_channel_that_is_aimed_at_exists():
    """A misspelt name would tamper with nothing."""
    named = {channel for _, variant in EVERY for channel in variant.channels}

    assert named - set(CANONICAL) == set()


@pytest.mark.parametrize(("strengths", "variants"), [((), 1), ((0.2, 0.1), 1), ((0.1,), 0)])
def test_a_kind_without_ways_or_ordered_strengths_is_refused(strengths: tuple[float, ...], variants: int):
    """Tables read from weak to strong."""
    one = Variant("v", scale, (), "activity")

    with pytest.raises(InvalidNounError):
        Tampering("odd", "", "", strengths, (one,) * variants)


def test_an_empty_stretch_is_refused():
    """It would do nothing."""
    with pytest.raises(InvalidNounError):
        Aim(5, 5)
