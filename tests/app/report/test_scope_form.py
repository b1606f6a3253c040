"""The form is filled with what was measured, marked so; the rest stays open."""

from dataclasses import replace

import pytest

from app.report.scope_made import account_of, opinion_of, scope_content_of, session_of, watches
from app.report.test_scope_tables import texts_of
from flopwitness.app.report.scope_content import ScopeContent
from flopwitness.app.report.scope_form import form_table
from flopwitness.core.workclass import WorkClass


def fields_of(content: ScopeContent) -> dict[str, list[str]]:
    """Return value, how known and how sure, by field."""
    return {row[0]: row[1:] for row in texts_of(form_table(content))}


def test_training_time_is_that_of_training_sessions():
    """In time and in hardware days, two figures; what may have been training stands beside it."""
    fields = fields_of(scope_content_of())

    wall = fields["Training time: time during which it ran"]
    days = fields["Training time: hardware days"]
    assert wall[:2] == ["1.5 h", "● measured"]
    assert wall[2].startswith("4.2 h with sessions of unknown class")
    assert days[:2] == ["0.12 GPU days", "● measured"]


def test_sessions_side_by_side_take_their_time_once():
    """Two jobs in one hour are an hour of training and two hours of GPUs."""
    opinion = opinion_of(WorkClass.TRAINING)
    sessions = [session_of(name, (0, 2.4), opinion=opinion, devices=[name]) for name in ("GPU-a", "GPU-b")]

    fields = fields_of(ScopeContent("Two", account_of(sessions, watches())))

    assert fields["Training time: time during which it ran"][0] == "2.4 h"
    assert fields["Training time: hardware days"][0] == "0.20 GPU days"


def test_compute_is_as_the_eu_counts_it():
    """With declared inputs it is marked so; without a conversion the target is named."""
    content = scope_content_of()
    converted, plain = fields_of(content), fields_of(replace(content, counted=()))

    name = "Amount of computation used for training"
    assert converted[name][:2] == ["1.8 × 10¹⁸ FLOP", "◐ measured, with declared inputs"]
    assert plain[name][:2] == ["1.9 × 10¹⁸ FLOP", "● measured"]
    assert "nobody converted them" in plain[name][2]


def test_energy_is_of_boards_alone_and_says_so():
    """Unknown energy is counted, not taken for zero."""
    fields = fields_of(scope_content_of())

    value, known, sure = fields["Energy used for training"]
    assert (value, known) == ("1.0 kWh", "● measured")
    assert sure.startswith("Boards alone")


@pytest.mark.parametrize("opinion", [None, opinion_of(WorkClass.UNKNOWN), opinion_of(WorkClass.INFERENCE)])
def test_no_training_session_leaves_the_fields_open(opinion: object):
    """An empty field, not zero hours."""
    content = ScopeContent("Other", account_of([session_of("s1", (1, 2), opinion=opinion)], watches()))

    fields = fields_of(content)

    for name in ("Training time: time during which it ran", "Energy used for training"):
        assert fields[name][:2] == ["", "○ not known"]


def test_declared_values_and_unseen_fields_are_told_apart():
    """Nothing that telemetry cannot see is filled in."""
    fields = fields_of(scope_content_of())

    assert fields["Declared: evaluation_ratio"][:2] == ["0.07", "◐ declared"]
    assert fields["Data: type, provenance, curation, tokens"][:2] == ["", "○ not known"]


def test_a_scope_without_a_session_has_no_amount():
    """Nothing observed is not nothing computed."""
    fields = fields_of(ScopeContent("Empty", account_of((), watches())))

    assert fields["Amount of computation used for training"][:2] == ["", "○ not known"]
