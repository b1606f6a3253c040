"""Tables of a scope: parts add up to the total, unknown is not zero, and every number has a unit."""

from dataclasses import replace

from app.report.scope_made import scope_content_of
from flopwitness.app.report.scope_tables import (
    account_table,
    device_table,
    finding_table,
    layer_table,
    session_table,
)
from flopwitness.app.report.table import Table


def texts_of(table: Table) -> list[list[str]]:
    """Return the rows as texts, with plain spaces."""
    return [[cell.text.replace("\u00a0", " ") for cell in row.cells] for row in table.groups[0].rows]


def test_the_account_is_its_parts_and_their_total():
    """What nobody saw adds to the upper ends alone."""
    rows = texts_of(account_table(scope_content_of()))

    assert rows == [
        ["Observed in sessions", "5 sessions", "1.71 × 10¹⁸", "1.9 × 10¹⁸", "2.09 × 10¹⁸", "3.04 × 10¹⁸"],
        ["Seen outside sessions", "too little to be one", "0", "–", "2 × 10¹⁵", "2 × 10¹⁵"],
        ["Unobserved", "5.50 h of GPU time", "0", "–", "1.98 × 10¹⁸", "1.98 × 10¹⁸"],
        ["Not estimated", "s6", "–", "–", "in unobserved", "in unobserved"],
        ["Total", "", "1.71 × 10¹⁸", "1.9 × 10¹⁸", "4.07 × 10¹⁸", "5.02 × 10¹⁸"],
    ]


def test_every_column_of_counts_names_its_unit():
    """FLOP, in the heading."""
    columns = account_table(scope_content_of()).columns

    assert all("FLOP" in column for column in columns[2:])


def test_a_session_shows_both_kinds_of_flop_and_its_class():
    """By the account's method; no answer is not zero, and unknown energy is not zero."""
    rows = texts_of(session_table(scope_content_of()))

    assert rows[0] == [
        "s1",
        "2026-11-30 01:07:12.000",
        "1.50 h",
        "2 (A B)",
        "T training (98 %)",
        "10¹⁸ (9 × 10¹⁷ to 1.1 × 10¹⁸)",
        "10¹⁸ (9 × 10¹⁷ to 1.1 × 10¹⁸)",
        "1.00 kWh",
        "none",
    ]
    assert rows[2][-1] == "stalled"
    assert rows[3][-2] == "not known"
    assert rows[5][5:7] == ["no answer", "no answer"]


def test_a_session_of_many_devices_is_named_short():
    """The number is always told."""
    content = scope_content_of()
    names = tuple(sorted(f"GPU-{number:03}" for number in range(512)))
    scope = replace(content.account.scope, devices=names)
    (first, *_) = content.account.sessions
    account = replace(content.account, scope=scope, sessions=(replace(first, devices=names),))

    (row,) = texts_of(session_table(replace(content, account=account)))

    assert row[3] == "512 (A B C D E F G H …)"


def test_devices_show_how_much_of_the_period_was_watched():
    """As a time and as a share."""
    assert texts_of(device_table(scope_content_of())) == [
        ["A", "GPU-a", "NVIDIA H200", "8.00 h", "80.0 %"],
        ["B", "GPU-b", "NVIDIA H200", "6.00 h", "60.0 %"],
    ]


def test_a_device_that_nobody_watched_has_no_known_chip():
    """It is listed all the same."""
    rows = texts_of(device_table(replace(scope_content_of(), watches=())))

    assert rows[0] == ["A", "GPU-a", "not known", "0 s", "0.0 %"]


def test_alarms_come_first():
    """With the session that they are about."""
    rows = texts_of(finding_table(scope_content_of()))

    assert [row[0] for row in rows] == ["alarm", "note"]
    assert rows[0][2] == "session s3: GPU-a"
    assert rows[1][2:4] == ["the scope", "throughout"]


def test_layers_stand_side_by_side_with_a_shape_each():
    """What supports, contradicts and is silent differ without colour."""
    rows = texts_of(layer_table(scope_content_of()))

    assert [row[1] for row in rows] == ["✕ contradicts", "✓ supports", "– silent"]
