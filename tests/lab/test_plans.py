"""Named plans: enough of everything, nothing twice, balanced wherever they are cut."""

from collections import Counter

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.lab.benign import BENIGN
from flopwitness.lab.plans import named_plan
from flopwitness.lab.settings import CHOICES, Settings
from flopwitness.redteam.catalogue import ATTACKS

PLANS = (
    *("benign", "extra", "inference", "non-ai", "attacks", "attacks-second", "formats"),
    *("classes", "classes-second", "tiny"),
)


@pytest.mark.parametrize("name", PLANS)
def test_every_configuration_of_a_plan_can_be_built(name: str) -> None:
    """Its hyper-parameters are known, its heads divide, and no other bears its name."""
    plan = named_plan(name)

    shapes = [Settings.of(config).shape for config in plan]

    assert len(shapes) == len({config.name for config in plan})


def test_the_benign_sweep_is_as_large_as_the_experiment():
    """At least 91 different shapes, head widths from 32 to 256, AdamW but for one family."""
    settings = [Settings.of(config) for config in named_plan("benign")]

    widths = {one.d_model // one.n_heads for one in settings}
    assert len(set(settings)) == len(settings) >= 91
    assert {32, 64, 128, 256} <= widths
    assert Counter(one.optimizer for one in settings)["sgd"] == len(BENIGN["optimizer"])


def test_the_other_plans_make_forty_runs():
    """Extra training, inference and load that is no AI."""
    n_configurations = sum(len(named_plan(name)) for name in ("extra", "inference", "non-ai"))

    assert n_configurations >= 40


@pytest.mark.parametrize("n_run", [24, 48, 72])
def test_a_plan_that_is_cut_keeps_its_families_in_proportion(n_run: int) -> None:
    """Each family has its share of any beginning, to within one configuration."""
    plan = named_plan("benign")
    whole, begun = (Counter(config.family for config in part) for part in (plan, plan[:n_run]))

    assert all(abs(begun[name] - n_run * whole[name] / len(plan)) <= 1 for name in whole)


def test_the_attacks_follow_their_twins():
    """So that a sweep that is cut has what they are compared with; then the weakest of each."""
    plan = named_plan("attacks")

    families = [config.family for config in plan]
    n_twins = families.count("twin")
    assert families[:n_twins] == ["twin"] * n_twins
    assert set(families[n_twins:]) == {name for name, attack in ATTACKS.items() if attack.runnable}


def test_formats_are_calibrated_on_shapes_that_no_attack_has():
    """Products alone in every precision, decoders in all but bf16, which the benign sweep has."""
    plan = named_plan("formats")

    names = ("d_model", "n_layers", "seq_len", "batch")
    attacked = {config.integers(*names) for config in named_plan("attacks")}
    decoders = [config for config in plan if config.parameters["kind"] == "train"]
    assert not attacked & {config.integers(*names) for config in decoders}
    assert Counter(config.parameters["precision"] for config in decoders) == {
        "fp8": 7,
        "tf32": 8,
        "int8": 3,
        "fp8-fast": 5,
        "fp16": 2,
        "fp32": 2,
    }
    products = Counter(one.parameters["precision"] for one in plan if one.parameters["kind"] == "gemm")
    assert products == dict.fromkeys(CHOICES["precision"], 2)


def test_an_unknown_plan_is_refused_with_those_that_exist():
    """One line for the user."""
    with pytest.raises(
        BadInputError,
        match="one of benign, extra, inference, non-ai, attacks, attacks-second, formats, classes, "
        "classes-second, tiny, got",
    ):
        named_plan("none")
