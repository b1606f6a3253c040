"""The sets that a classifier of work is taught and asked: many families, nothing of one set in the other."""

from flopwitness.lab import classes
from flopwitness.lab.plans import named_plan
from flopwitness.redteam.catalogue import ATTACKS, SECOND_ATTACKS

SHAPE = ("d_model", "n_layers", "n_heads", "d_ff", "seq_len", "batch")


def test_every_kind_of_work_has_ten_families_to_hold_out():
    """Holding out a family leaves nine others of its kind."""
    assert min(map(len, (classes.TRAINING, classes.INFERENCE, classes.OTHER))) >= 10


def test_what_is_asked_once_was_never_taught():
    """No decoder of the second set has a shape, and no other load a size, of the first."""
    first, second = (
        {
            (config.parameters["kind"], config.integers(*SHAPE), config.parameters.get("size"))
            for config in plan
        }
        for plan in (named_plan("classes"), named_plan("classes-second"))
    )

    assert not {one for one in first & second if one[0] != "resnet"}


def test_no_attack_is_taught():
    """Interleaved, adapted and throttled attacks are asked about: none may be in the lessons."""
    attacked = {
        config.integers(*SHAPE)
        for catalogue in (ATTACKS, SECOND_ATTACKS)
        for attack in catalogue.values()
        for config in attack.configurations
    } - {None}
    lessons = [config for config in named_plan("classes") if config.parameters["kind"] == "train"]
    taught = {config.integers(*SHAPE) for config in lessons}

    assert not attacked & taught
