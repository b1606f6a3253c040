"""Named plans: enough of everything, nothing twice, balanced wherever they are cut."""

from collections import Counter

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.lab.benign import BENIGN
from flopwitness.lab.plans import named_plan
from flopwitness.lab.settings import Settings

PLANS = ("benign", "extra", "inference", "non-ai", "tiny")


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


def test_an_unknown_plan_is_refused_with_those_that_exist():
    """One line for the user."""
    with pytest.raises(BadInputError, match="one of benign, extra, inference, non-ai, tiny, got 'none'"):
        named_plan("none")
