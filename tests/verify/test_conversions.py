"""Single conversions: factors with sources, three readings, declarations in range."""

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.verify import conversion_table as table
from flopwitness.verify.conversions import DECLARABLE, Conversion, Ends, Reading, require_declared


def test_recomputation_is_what_was_published() -> None:
    """1.34 usually, 1.67 where it is done twice; the low end alone moves."""
    one = table.RECOMPUTATION

    assert (1 / one.low_factor, one.high_factor) == (1.34, 1)
    assert 1 / one.widest_low_factor == pytest.approx(1.67, abs=0.005)


def test_the_mask_is_that_of_width_4096() -> None:
    """1.14 up to 8k where the shape is unknown, 1.73 at 131k as the widest."""
    one = table.CAUSAL_MASK

    assert 1 / one.low_factor == pytest.approx(1.14, abs=0.005)
    assert 1 / one.widest_low_factor == pytest.approx(1.73, abs=0.005)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading.OUT, Ends(0.75, 0.75, is_believed=True)),
        (Reading.OPEN, Ends(0.75, 1.0, is_believed=True)),
        (Reading.IN, Ends(1.0, 1.0)),
        (Reading.KEPT, Ends(1.0, 1.0)),
    ],
)
def test_a_declared_share_goes_as_far_as_the_text_lets_it(reading: Reading, expected: Ends) -> None:
    """Excluded work leaves both ends, doubtful work the low one, counted work neither."""
    actual = table.EVALUATION.read_as(reading).ends({"evaluation_ratio": 0.25})

    assert actual == expected


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading.IN, Ends(1.0, 1.0, 5.0, 5.0, is_believed=True)),
        (Reading.OPEN, Ends(1.0, 1.0, 0.0, 5.0, is_believed=True)),
        (Reading.OUT, Ends(1.0, 1.0)),
    ],
)
def test_declared_work_elsewhere_comes_on_top_as_the_text_says(reading: Reading, expected: Ends) -> None:
    """Work that counts raises both ends, doubtful work the high one, other work neither."""
    actual = table.PARENTS.read_as(reading).ends({"parent_flop": 5.0})

    assert actual == expected


def test_a_shape_stands_for_the_mask_factor() -> None:
    """Width and context give it; a declared factor comes first."""
    mask = table.CAUSAL_MASK.read_as(Reading.OUT)
    by_shape = {"width": 4096.0, "context_tokens": 131072.0}

    assert mask.ends(by_shape).low_factor == pytest.approx(1 / 1.727, rel=1e-3)
    assert mask.ends(by_shape | {"mask_factor": 1.25}) == Ends(0.8, 0.8, is_believed=True)


def test_the_widest_factor_is_taken_only_where_nothing_is_declared() -> None:
    """Someone who says how much was recomputed is not assumed to have done it twice."""
    one = table.RECOMPUTATION

    assert one.ends({}, is_widest=True).low_factor == pytest.approx(0.6)
    assert one.ends({"recompute_factor": 1.25}, is_widest=True) == Ends(0.8, 0.8, is_believed=True)


def test_precision_moves_nothing() -> None:
    """An operation is one whatever its format; nobody can declare otherwise."""
    assert table.PRECISION.ends({}) == Ends(1.0, 1.0)
    assert table.PRECISION.declarations == ()


def test_sparse_work_may_count_twice() -> None:
    """Only the high end, and only by the declared share."""
    assert table.SPARSITY.ends({}) == Ends(1.0, 1.0)
    assert table.SPARSITY.ends({"sparse_ratio": 1.0}) == Ends(1.0, 2.0, is_believed=True)


def test_every_declaration_is_taken_by_one_conversion() -> None:
    """What can be declared has an effect somewhere, and only one."""
    taken = [name for one in vars(table).values() if isinstance(one, Conversion) for name in one.declarations]

    assert sorted(taken) == sorted(DECLARABLE)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"evaluaton_ratio": 0.1}, "nobody can declare 'evaluaton_ratio'"),
        ({"evaluation_ratio": 1.0}, r"evaluation_ratio must be in \[0, 1\), got 1"),
        ({"evaluation_ratio": float("nan")}, "got nan"),
        ({"recompute_factor": 0.9}, r"recompute_factor must be in \[1, 2\]"),
        ({"parent_flop": float("inf")}, "got inf"),
        ({"parent_flop": -1.0}, "got -1"),
        ({"width": 4096.0}, "together"),
    ],
)
def test_a_doubtful_declaration_is_refused(declared: dict[str, float], message: str) -> None:
    """Misspelt, out of range, half of a shape: never passed over."""
    with pytest.raises(InvalidNounError, match=message):
        require_declared(declared)


@pytest.mark.parametrize(
    ("low", "high", "source", "message"),
    [
        (1.0, 0.5, "x", "order"),
        (0.0, 1.0, "x", "order"),
        (1.0, float("inf"), "x", "order"),
        (0.5, 1.0, "x", "does not apply"),
        (1.0, 1.0, "", "source"),
    ],
)
def test_a_conversion_without_sense_or_source_cannot_be(
    low: float, high: float, source: str, message: str
) -> None:
    """Ordered, positive, finite, sourced; one without effect moves nothing."""
    with pytest.raises(InvalidNounError, match=message):
        Conversion("made", "Made up.", low, high, is_declared=False, source=source)
