"""Tables of the red team: what was varied, what came of it, what it cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flopwitness.app.report.table import NOTHING, Cell, Group, Row, Table, plain_table, row_of
from flopwitness.app.report.wording import number_text, percent_text, range_text
from flopwitness.evaluate.bootstrap import BootstrapInterval
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.cost import BUDGET_RATIO
from flopwitness.redteam.frontier import EFFECTIVE_RATIO, Cheapest, hidden_ratio
from flopwitness.redteam.scoring import Effect
from flopwitness.redteam.summary import Summary

DEFAULT = "default"
"""What a hyper-parameter is that a configuration does not name."""


@dataclass(frozen=True, slots=True)
class Varied:
    """What an attack varies, in words for tables and axes.

    Attributes
    ----------
    names : tuple of str
        Hyper-parameters that any strength changes.
    twin : str
        Their values in the twin.
    strengths : mapping of str to str
        Their values by label of the strength.
    """

    names: tuple[str, ...]
    twin: str
    strengths: Mapping[str, str]


def varied_texts(attack: Attack) -> Varied:
    """Return what an attack varies: bare values where it is one parameter, labels where it is several."""
    names = tuple(dict.fromkeys(name for one in attack.strengths for name in one.changes))
    benign = attack.twin.parameters
    if len(names) == 1:
        (name,) = names
        values = {one.label: _text(one.changes[name]) for one in attack.strengths}
        return Varied(names, _text(benign.get(name, DEFAULT)), values)
    return Varied(names, "twin", {one.label: one.label for one in attack.strengths})


def attack_table(attacks: Sequence[Attack]) -> Table:
    """Return for each attack the varied values and the constants (the experiment's table 2)."""
    rows = []
    for attack in attacks:
        names = varied_texts(attack).names
        benign = attack.twin.parameters
        varied = "; ".join(
            f"{name}: {_text(benign.get(name, DEFAULT))} → {_values(attack, name)}" for name in names
        )
        constants = ", ".join(f"{name} {_text(value)}" for name, value in benign.items() if name not in names)
        rows.append(row_of(attack.name, attack.reference or NOTHING, varied, constants, attack.twin.name))
    caption = (
        "What each attack varies, benign value first, and what stays as in its twin "
        "(the experiment's table 2)."
    )
    columns = ("Attack", "Id", "Varied", "Constant", "Twin")
    return plain_table(caption, columns, rows, n_text_columns=5)


def effect_table(effects: Sequence[Effect], method: str, *, target: str) -> Table:
    """Return every setting of every attack on one method, beside its cost."""
    own = [effect for effect in effects if effect.method == method]
    groups = tuple(
        Group(attack, "", tuple(_effect_row(one) for one in own if one.attack == attack))
        for attack in dict.fromkeys(effect.attack for effect in own)
    )
    return Table(
        f"Every setting against {method}, {target} FLOP: medians over the traces. A setting over "
        f"{BUDGET_RATIO:g} times the GPU time of its twin is out of the game. "
        "A dagger: no twin on the same boards.",
        (
            "Setting",
            "Format",
            "Traces",
            "Signed error",
            "Twin's",
            "Moved (points)",
            "High bound holds",
            "High over point",
            "GPU time",
            "Energy",
            "In budget",
        ),
        groups,
        n_text_columns=2,
    )


def summary_tables(summaries: Sequence[Summary]) -> tuple[Table, ...]:
    """Return errors and bounds by attack family, one table a method."""
    methods = dict.fromkeys(one.method for one in summaries)
    return tuple(
        plain_table(
            f"{method} by attack family, one score a setting. Intervals: 95 %, settings resampled (errors) "
            "or Wilson's (share of runs whose high bound holds).",
            (
                "Attack",
                "Worst setting",
                "Settings",
                "Runs",
                "Median error",
                "Interval",
                "90th percentile",
                "Worst under",
                "At GPU time",
                "High bound holds",
                "Interval",
                "Width, format known",
                "Width, not known",
            ),
            [_summary_row(one) for one in summaries if one.method == method],
            n_text_columns=2,
        )
        for method in methods
    )


def cheapest_table(found: Sequence[Cheapest]) -> Table:
    """Return the cheapest attack that hides enough from each method, or that there is none."""
    rows = [
        row_of(
            one.method,
            one.figure.value,
            *_named(one.in_budget, one),
            *_named(one.at_any_cost, one),
            str(one.n_unpriced) if one.n_unpriced else NOTHING,
        )
        for one in found
    ]
    return plain_table(
        f"The attack of least GPU time that hides {100 * EFFECTIVE_RATIO:.0f} % of the FLOP.",
        (
            "Method",
            "Hidden from",
            "Cheapest in budget",
            "GPU time",
            "Hides",
            "Cheapest at any cost",
            "GPU time",
            "Hides",
            "Effective, cost not known",
        ),
        rows,
        n_text_columns=3,
    )


def times_text(ratio: float) -> str:
    """Return a factor, such as 1.25×; a dash where it is not known.

    Examples
    --------
    >>> times_text(1.25), times_text(float("nan")), times_text(float("inf"))
    ('1.25×', '–', 'unbounded')
    """
    if np.isnan(ratio):
        return NOTHING
    return f"{ratio:.2f}×" if np.isfinite(ratio) else "unbounded"


def signed_text(ratio: float) -> str:
    """Return a signed error in per cent; a dash where there is none."""
    return NOTHING if np.isnan(ratio) else percent_text(ratio, is_signed=True)


def _text(value: float | str | bool) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def _values(attack: Attack, name: str) -> str:
    return ", ".join(_text(one.changes[name]) for one in attack.strengths if name in one.changes)


def _effect_row(effect: Effect) -> Row:
    is_broken = effect.n_high_holds < effect.n_traces
    return row_of(
        f"{effect.strength}{'' if effect.has_same_gpus else ' †'}",
        "known" if effect.is_format_identified else "not known",
        str(effect.n_traces),
        signed_text(effect.signed_error_ratio),
        signed_text(effect.twin_error_ratio),
        signed_text(effect.movement_ratio).removesuffix("\N{NO-BREAK SPACE}%"),
        Cell(f"{effect.n_high_holds} of {effect.n_traces}", "best" if is_broken else ""),
        times_text(effect.width_ratio),
        times_text(effect.cost.gpu_time_ratio),
        times_text(effect.cost.energy_ratio),
        "yes" if effect.cost.is_in_budget else "no",
    )


def _summary_row(one: Summary) -> Row:
    low, high = one.high_holds_interval
    return row_of(
        one.attack,
        one.worst.configuration,
        str(one.n_configurations),
        str(one.n_runs),
        percent_text(one.median_abs_error_ratio),
        interval_text(one.median_interval),
        percent_text(one.p90_abs_error_ratio),
        signed_text(one.worst.signed_error_ratio) if one.worst.signed_error_ratio < 0 else "none",
        times_text(one.worst.cost.gpu_time_ratio),
        percent_text(one.high_holds_ratio),
        range_text(percent_text(low), percent_text(high)),
        *(
            NOTHING if width is None else times_text(width)
            for width in (one.identified_width_ratio, one.other_width_ratio)
        ),
    )


def interval_text(interval: BootstrapInterval) -> str:
    """Return a bootstrap interval in per cent; a dash where one setting says nothing of others."""
    if not np.isfinite([interval.low, interval.high]).all():
        return NOTHING
    return range_text(percent_text(interval.low), percent_text(interval.high))


def _named(effect: Effect | None, asked: Cheapest) -> tuple[str, str, str]:
    if effect is None:
        return "none", NOTHING, NOTHING
    hidden = percent_text(hidden_ratio(effect, asked.figure))
    return effect.configuration, times_text(effect.cost.gpu_time_ratio), hidden
