"""From channels to estimators: every column is known, and more channels never allow less."""

from hypothesis import given
from hypothesis import strategies as st

from flopwitness.app.capabilities import COLUMN_NEEDS, allowed_methods, missing_channels
from flopwitness.core.channels import CANONICAL
from flopwitness.estimate.features.row import FEATURE_NAMES
from flopwitness.estimate.methods import METHODS

CHANNELS = sorted({name for needs in COLUMN_NEEDS.values() for need in needs for name in need})
OFFERED = st.frozensets(st.sampled_from(CHANNELS))


def test_every_column_of_every_estimator_is_known():
    """A new estimator or column cannot be forgotten here, nor a channel be misspelt."""
    assert {column for method in METHODS.values() for column in method.columns} <= set(COLUMN_NEEDS)
    assert set(COLUMN_NEEDS) <= set(FEATURE_NAMES)
    assert set(CHANNELS) <= set(CANONICAL)


@given(OFFERED, OFFERED)
def test_more_channels_never_allow_less(some: frozenset[str], others: frozenset[str]):
    """What is missing shrinks as signals are added."""
    few, many = allowed_methods("H200-SXM", some), allowed_methods("H200-SXM", some | others)

    assert all(many[name] == () for name in METHODS if few[name] == ())


@given(OFFERED)
def test_what_is_missing_is_enough(offered: frozenset[str]):
    """With the missing channels added, a column can be computed."""
    for column in COLUMN_NEEDS:
        assert not missing_channels(column, offered | missing_channels(column, offered))
