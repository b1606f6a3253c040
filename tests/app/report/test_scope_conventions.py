"""The chain from estimated to counted FLOP: every step with factor, source and how it is known."""

from dataclasses import replace

from app.report.scope_made import (
    account_of,
    counted_of,
    scope_content_of,
    sessions_of_every_class,
    watches,
    weighed_of,
)
from app.report.test_scope_tables import texts_of
from flopwitness.app.report.scope_conventions import chain_table, chains, declared_table


def test_steps_that_change_something_are_rows():
    """With the factor of both ends, and whether it is somebody's word."""
    _, european, _ = scope_content_of().counted

    rows = {row[0]: row[1:3] for row in texts_of(chain_table(european))}

    assert rows["evaluation"] == ["× 0.93", "declared, not measured"]
    assert rows["recomputation"] == ["× 0.7463 to 1", "not known: both ends carried"]


def test_the_result_stands_with_and_without_anybodys_word():
    """7 % were declared to be evaluation."""
    _, european, _ = scope_content_of().counted

    rows = {row[0]: row[3:] for row in texts_of(chain_table(european))}

    assert rows["Observed, by this convention"][2] == "1.94 × 10¹⁸"
    assert rows["Observed, nothing declared believed"][2] == "2.09 × 10¹⁸"


def test_what_verdicts_weighed_has_its_row_where_they_did():
    """It may be lower at the low end."""
    made = account_of(sessions_of_every_class(), watches())
    (plain,) = counted_of(made, "eu-cumulative")
    weighed = replace(plain, weighed=weighed_of(made, "eu-cumulative"))

    names = [[row[0] for row in texts_of(chain_table(one))] for one in (plain, weighed)]

    assert "Total, as verdicts weigh it" not in names[0]
    assert names[1][-1] == "Total, as verdicts weigh it"


def test_remarks_name_the_widest_step_and_those_without_effect():
    """A reader sees what to ask for."""
    executed, european, _ = chains(scope_content_of())

    assert executed.remarks == ("It counts as the estimate does: there is no step.",)
    assert european.remarks[0].startswith("The step that widens the range most is recomputation (1.34 times)")
    assert european.remarks[1].startswith("Without effect here: failed-runs")


def test_each_step_has_its_source():
    """Below the table, in a sentence."""
    _, european, _ = chains(scope_content_of())

    about = dict(european.about)
    assert set(about) == {"evaluation", "recomputation", "causal-mask"}
    assert all("Source: " in text for text in about.values())


def test_what_was_declared_is_listed_as_declared():
    """With what it means."""
    (row,) = texts_of(declared_table(scope_content_of()))

    assert row[0] == "evaluation_ratio"
    assert row[2] == "0.07"
