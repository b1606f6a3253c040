"""Tables of the red team, word by word."""

from dataclasses import replace
from math import inf, nan

import numpy as np

from app.report.redteam_made import BATCH, FP8, effects_of_all
from flopwitness.app.report.redteam_tables import (
    attack_table,
    cheapest_table,
    effect_table,
    signed_text,
    summary_tables,
    times_text,
)
from flopwitness.app.report.table import NOTHING, Table
from flopwitness.redteam.cost import UNKNOWN_COST
from flopwitness.redteam.frontier import Figure, cheapest
from flopwitness.redteam.summary import summaries_of
from redteam.made import effect

NBSP, MINUS = "\u00a0", "\u2212"


def texts(table: Table) -> list[list[str]]:
    """Return the cells of every row."""
    return [[cell.text for cell in row.cells] for group in table.groups for row in group.rows]


def test_what_is_varied_stands_apart_from_what_is_constant():
    """The benign value first; a parameter that the twin does not name is at its default."""
    batch, fp8 = texts(attack_table((BATCH, FP8)))

    assert batch == ["batch", "S4", "batch: 8 → 16, 128", "d_model 64, precision bf16", "twin-small"]
    assert fp8[2] == "precision: bf16 → fp8, fp8; precision_layers: default → 4, 0"
    assert fp8[3] == "batch 8, d_model 64"


def test_every_setting_stands_beside_its_cost():
    """One method, grouped by attack; over budget is said, and a broken bound stands out."""
    table = effect_table(effects_of_all(), "mlp", target="executed")

    assert [group.title for group in table.groups] == ["batch", "fp8"]
    weak, strong = (row.cells for row in table.groups[0].rows)
    assert [cell.text for cell in strong] == [
        "128",
        "known",
        "3",
        f"{MINUS}40.0{NBSP}%",
        f"0.0{NBSP}%",
        f"{MINUS}40.0",
        "0 of 3",
        "1.08×",
        "2.20×",
        "2.20×",
        "no",
    ]
    assert (weak[-1].text, strong[6].css) == ("yes", "best")


def test_what_is_not_known_is_a_dash():
    """No twin: no movement, no cost, a dagger, and not in budget."""
    lone = replace(effect(), twin_error_ratio=nan, cost=UNKNOWN_COST, has_same_gpus=False)

    (row,) = texts(effect_table([lone], "fused", target="executed"))

    assert row[0] == "128 †"
    assert row[4:6] == [NOTHING, NOTHING]
    assert row[8:] == [NOTHING, NOTHING, "no"]


def test_families_name_their_worst_setting_or_none():
    """With its cost; a family that only over-reports has none."""
    under, over = effects_of_all(), [effect("heads-64", error=0.1), effect("heads-1", error=0.2)]

    tables = summary_tables(summaries_of([*under, *over], rng=np.random.default_rng(0)))

    fused = texts(tables[-1])
    assert len(tables) == 3
    assert [row[0] for row in fused] == ["batch", "fp8", "heads", "all attacks"]
    assert fused[0][1] == "batch-128"
    assert fused[0][7:9] == [f"{MINUS}1.0{NBSP}%", "2.20×"]
    assert fused[2][7] == "none"


def test_the_cheapest_attack_is_named_or_none_is():
    """In budget and at any cost, from the point and from the bound."""
    effects = effects_of_all()
    found = [cheapest(effects, name, figure) for name in ("mlp", "fused") for figure in Figure]

    rows = texts(cheapest_table(found))

    assert rows[0][:5] == ["mlp", "point", "batch-16", "1.20×", f"10.0{NBSP}%"]
    assert rows[1][2:6] == ["none", NOTHING, NOTHING, "batch-128"]
    assert rows[2][2:] == ["none", NOTHING, NOTHING, "none", NOTHING, NOTHING, NOTHING]


def test_numbers_without_an_end_have_words():
    """As elsewhere on the page."""
    assert [times_text(value) for value in (inf, nan)] == ["unbounded", NOTHING]
    assert [signed_text(value) for value in (inf, nan)] == ["unbounded", NOTHING]
