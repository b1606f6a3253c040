"""Attacks summed up by family: errors, the worst by name, bounds and their width."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from flopwitness.redteam.summary import ALL_ATTACKS, summaries_of
from redteam.made import effect

SEEDED = np.random.default_rng


def test_a_family_is_its_settings_one_score_each():
    """Median and 90th percentile of absolute errors; the worst under-report by name, with its cost."""
    errors = (-0.3, 0.1, -0.2, 0.0, 0.4)
    effects = [effect(f"batch-{number}", error=error) for number, error in enumerate(errors)]

    (summary,) = summaries_of(effects, rng=SEEDED(0))

    assert (summary.attack, summary.n_configurations, summary.n_runs) == ("batch", 5, 15)
    assert summary.median_abs_error_ratio == pytest.approx(0.2)
    assert summary.p90_abs_error_ratio == pytest.approx(0.36)
    assert summary.median_signed_error_ratio == 0.0
    assert summary.worst == effects[0]
    assert summary.median_interval.low < 0.2 < summary.median_interval.high
    assert summary.median_interval.n_clusters == 5


def test_one_setting_says_nothing_of_others():
    """The interval has no ends."""
    (summary,) = summaries_of([effect()], rng=SEEDED(0))

    assert (summary.median_interval.low, summary.median_interval.high) == (-inf, inf)


def test_bounds_are_counted_by_run_and_their_interval_by_setting():
    """Two settings of three runs, one of which holds never: half, of two trials."""
    effects = [effect("batch-1", high_error=0.1), effect("batch-2", high_error=-0.1)]

    (summary,) = summaries_of(effects, rng=SEEDED(0))

    low, high = summary.high_holds_interval
    assert summary.high_holds_ratio == 0.5
    assert (low, high) == (pytest.approx(0.0945, abs=1e-3), pytest.approx(0.9055, abs=1e-3))


def test_width_is_told_apart_by_whether_the_format_was_known():
    """A price paid where it is not known must not hide in the median of all."""
    known = [replace(effect(f"fp8-{number}"), width_ratio=1.1) for number in range(3)]
    doubtful = [replace(effect("fp8-9"), width_ratio=2.5, is_format_identified=False)]

    (both,) = summaries_of([*known, *doubtful], rng=SEEDED(0))
    (first,) = summaries_of(known, rng=SEEDED(0))

    assert (both.identified_width_ratio, both.other_width_ratio) == (1.1, 2.5)
    assert first.other_width_ratio is None


def test_all_attacks_stand_after_their_families_and_never_without():
    """Pooling hid the experiment's 25 % as 13 to 15 %; one family needs no second row."""
    effects = [effect("batch-1"), effect("heads-1"), effect("batch-1", method="mlp")]

    found = [(one.attack, one.method) for one in summaries_of(effects, rng=SEEDED(0))]
    alone = [one.attack for one in summaries_of(effects[:1], rng=SEEDED(0))]

    assert found == [
        ("batch", "fused"),
        ("heads", "fused"),
        ("batch", "mlp"),
        (ALL_ATTACKS, "fused"),
        (ALL_ATTACKS, "mlp"),
    ]
    assert alone == ["batch"]
