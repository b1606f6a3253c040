"""The shipped rules: each with its source, as they were read; a user's own beside them."""

from pathlib import Path

import pytest

from flopwitness.app.rulebook import open_rulebook
from flopwitness.core.errors import BadInputError
from flopwitness.verify.conventions import CONVENTIONS
from flopwitness.verify.thresholds import MODIFIER_RULES, MODIFIER_SHARE, by_name

BOOK = open_rulebook()

OWN = """format = "flopwitness-rules"
version = 1
[[threshold]]
name = "{name}"
title = "Our own limit"
jurisdiction = "us"
flop = 1e21
is_strict = true
convention = "{convention}"
measured = "what ran"
conditions = []
status = "in force"
citation = "house rules"
"""


def own(folder: Path, *, name: str = "own-limit", convention: str = "executed") -> Path:
    """Write a user's file with one rule."""
    path = folder / "own.toml"
    path.write_text(OWN.format(name=name, convention=convention), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "flop", "is_strict", "status", "is_verified"),
    [
        ("eu-systemic-risk", 1e25, True, "in force", True),
        ("eu-general-purpose", 1e23, True, "indicative", True),
        ("eu-modifier-systemic", 1e25 / 3, True, "indicative", True),
        ("eu-modifier-general", 1e23 / 3, True, "indicative", True),
        ("california-sb53", 1e26, True, "enacted", True),
        ("california-sb1047", 3e25, False, "vetoed", False),
        ("new-york-raise", 1e26, True, "enacted", False),
        ("new-york-raise-2025", 1e26, True, "replaced by the amendment", False),
        ("us-eo-14110", 1e26, True, "rescinded", False),
        ("us-eo-14110-biology", 1e23, True, "rescinded", False),
        ("korea-ai-basic-act", 1e26, False, "in force", True),
        ("treaty-monitored", 1e22, False, "proposal", False),
        ("treaty-forbidden", 1e24, True, "proposal", False),
        ("treaty-post-training", 1e23, True, "proposal", False),
    ],
)
def test_a_rule_is_as_it_was_read(
    name: str, flop: float, *, is_strict: bool, status: str, is_verified: bool
) -> None:
    """Figure, sign, status, and whether the text itself was read."""
    rule = BOOK.threshold(name)

    assert (rule.is_strict, rule.status, rule.is_verified) == (is_strict, status, is_verified)
    assert rule.flop == pytest.approx(flop, rel=1e-12)


def test_every_shipped_rule_is_in_the_table_above() -> None:
    """A new rule is held here, too."""
    (mark,) = [one for one in test_a_rule_is_as_it_was_read.pytestmark if one.name == "parametrize"]

    assert sorted(case[0] for case in mark.args[1]) == sorted(BOOK.thresholds)


def test_every_convention_of_a_shipped_rule_is_known() -> None:
    """A threshold without its convention could not be weighed."""
    assert dict(by_name(BOOK.thresholds.values())) == dict(BOOK.thresholds)


@pytest.mark.parametrize(
    ("modifier", "original"),
    [("eu-modifier-systemic", "eu-systemic-risk"), ("eu-modifier-general", "eu-general-purpose")],
)
def test_a_modifier_s_default_is_a_third_of_the_threshold(modifier: str, original: str) -> None:
    """The figures of the file follow from each other."""
    assert modifier in MODIFIER_RULES
    assert BOOK.threshold(modifier).flop == pytest.approx(MODIFIER_SHARE * BOOK.threshold(original).flop)
    assert BOOK.threshold(modifier).convention == BOOK.threshold(original).convention


def test_no_name_means_two_things() -> None:
    """A rule and a convention never share a name: the command looks in both."""
    assert set(BOOK.thresholds).isdisjoint(CONVENTIONS)
    assert set(BOOK.without_figure).isdisjoint(CONVENTIONS)


def test_a_rule_without_a_figure_cannot_be_asked_for() -> None:
    """It is known of, and nothing is weighed against it."""
    with pytest.raises(BadInputError, match="figure is not recorded"):
        BOOK.threshold("us-ai-diffusion")


def test_an_unknown_rule_is_refused_with_those_that_are_known() -> None:
    """A misspelt one is found again."""
    with pytest.raises(BadInputError, match=r"eu-systemic-risk.*got 'eu-systemic'"):
        BOOK.threshold("eu-systemic")


def test_a_user_s_own_rules_stand_beside_the_shipped_ones(tmp_path: Path) -> None:
    """In the same form."""
    book = open_rulebook([own(tmp_path)])

    assert book.threshold("own-limit").flop == 1e21
    assert set(BOOK.thresholds) < set(book.thresholds)


def test_a_user_s_own_rule_never_replaces_a_shipped_one(tmp_path: Path) -> None:
    """A verdict under the name of a law is under that law."""
    for name in ("eu-systemic-risk", "us-ai-diffusion"):
        with pytest.raises(BadInputError, match=f"rule '{name}': expected a name of its own"):
            open_rulebook([own(tmp_path, name=name)])


def test_a_user_s_own_rule_needs_a_convention_that_is_known(tmp_path: Path) -> None:
    """File, rule and field are named."""
    with pytest.raises(BadInputError, match=r"own\.toml: rule 'own-limit', field 'convention'"):
        open_rulebook([own(tmp_path, convention="house")])
