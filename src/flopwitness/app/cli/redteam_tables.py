"""How ``flopwitness redteam`` is said: as tables, and as JSON values."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from rich.table import Table

from flopwitness.app.cli.output import data, print_table
from flopwitness.app.report.redteam_content import SHOWN_METHODS, RedteamContent
from flopwitness.app.report.redteam_tables import cheapest_table, effect_table, summary_tables
from flopwitness.app.report.table import Table as PageTable
from flopwitness.redteam.attack import Attack
from flopwitness.redteam.catalogue import ATTACKS
from flopwitness.redteam.frontier import Cheapest, hidden_ratio
from flopwitness.redteam.scoring import Effect
from flopwitness.redteam.summary import Summary
from flopwitness.redteam.tampering.catalogue import TAMPERINGS

LIST_COLUMNS = ("attack", "side", "id", "changes", "strengths", "twin", "rationale")
SETTINGS_WARNING = (
    "settings: of the boards. They need root, slow whoever shares the board, and are asked about before they "
    "are set and restored after; they were never run on the boards that the datasets are of."
)

OUR_METHOD = "fused"
"""Whose settings the terminal shows one by one; ``--json`` and the page hold all."""


def list_objects() -> list[dict[str, object]]:
    """Return every attack as JSON values: workload side, settings of the boards, telemetry side."""
    return [*map(_attack_object, ATTACKS.values()), *_tampering_objects()]


def print_list() -> None:
    """Print every attack, words flush left."""
    table = Table(title="Attacks", title_justify="left", title_style="bold")
    for column in LIST_COLUMNS:
        table.add_column(column, overflow="fold")
    for row in _list_rows():
        table.add_row(*row)
    data().print(table)
    data().print(SETTINGS_WARNING, markup=False, soft_wrap=True)


def _list_rows() -> Iterator[tuple[str, ...]]:
    for one in list_objects():
        strengths, changes = one["strengths"], one["changes"]
        yield (
            str(one["name"]),
            str(one["side"]),
            str(one["reference"]) or "-",
            ", ".join(map(str, changes)) if isinstance(changes, list) else "-",
            ", ".join(map(str, strengths)) if isinstance(strengths, list) else "-",
            str(one["twin"] or "-"),
            str(one["rationale"]),
        )


def print_scoring(content: RedteamContent) -> None:
    """Print the cheapest attacks, the families, and every setting against our estimator."""
    scoring = content.scoring
    shown = [name for name in SHOWN_METHODS if name in scoring.methods]
    print_as_text(cheapest_table([one for one in content.cheapest if one.method in shown]))
    for table in summary_tables([one for one in content.summaries if one.method in shown]):
        print_as_text(table)
    method = OUR_METHOD if OUR_METHOD in scoring.methods else scoring.methods[-1]
    print_as_text(effect_table(scoring.effects, method, target=scoring.target.value))
    for sentence in scoring.left_out:
        data().print(f"left out: {sentence}", markup=False, soft_wrap=True)


def print_as_text(table: PageTable) -> None:
    """Print a table of the page; the title of a group is the first column of its rows."""
    has_groups = any(group.title for group in table.groups)
    columns = ("attack", *table.columns) if has_groups else table.columns
    rows = [
        (*([group.title] if has_groups else []), *(cell.text for cell in row.cells))
        for group in table.groups
        for row in group.rows
    ]
    print_table(table.caption, columns, rows)


def scoring_object(content: RedteamContent) -> dict[str, object]:
    """Return everything as JSON values; what is unbounded or not known is null."""
    scoring = content.scoring
    return {
        "target": scoring.target.value,
        "methods": list(scoring.methods),
        "calibrated_on": list(content.calibrated_on),
        "left_out_in_turn": list(content.left_out_in_turn),
        "generated_from": dict(content.generated_from),
        "n_benign": scoring.n_benign,
        "benign_bands": {name: list(map(_known, band)) for name, band in scoring.bands.items()},
        "effects": [_effect_object(one) for one in scoring.effects],
        "summaries": [_summary_object(one) for one in content.summaries],
        "cheapest": [_cheapest_object(one) for one in content.cheapest],
        "jobs": [
            {
                "run": lane.name,
                "run_seconds": lane.run_seconds,
                "found": {name: [list(span) for span in spans] for name, spans in lane.found.items()},
            }
            for lane in content.lanes
        ],
        "left_out": list(scoring.left_out),
    }


def _attack_object(attack: Attack) -> dict[str, object]:
    return {
        "name": attack.name,
        "side": "workload" if attack.runnable else "settings",
        "reference": attack.reference,
        "changes": list(dict.fromkeys(name for one in attack.strengths for name in one.changes)),
        "strengths": [one.label for one in attack.strengths],
        "twin": attack.twin.name,
        "rationale": attack.rationale,
        "n_gpus_required": attack.n_gpus_required,
        "needs_root": not attack.runnable,
    }


def _tampering_objects() -> Iterator[dict[str, object]]:
    for name, one in TAMPERINGS.items():
        yield {
            "name": name,
            "side": "telemetry",
            "reference": "",
            "changes": [variant.name for variant in one.variants],
            "strengths": [f"{strength:g}" for strength in one.strengths],
            "twin": "",
            "rationale": f"{one.rationale}; strengths: {one.unit}",
            "n_gpus_required": one.n_devices_required,
            "needs_root": False,
        }


def _effect_object(one: Effect) -> dict[str, object]:
    return {
        "attack": one.attack,
        "strength": one.strength,
        "configuration": one.configuration,
        "method": one.method,
        "n_traces": one.n_traces,
        "signed_error_ratio": _known(one.signed_error_ratio),
        "twin_error_ratio": _known(one.twin_error_ratio),
        "movement_ratio": _known(one.movement_ratio),
        "worst_error_ratio": _known(one.worst_error_ratio),
        "n_high_holds": one.n_high_holds,
        "high_error_ratio": _known(one.high_error_ratio),
        "hidden_ratio": one.hidden_ratio,
        "hidden_from_high_ratio": one.hidden_from_high_ratio,
        "width_ratio": _known(one.width_ratio),
        "is_format_identified": one.is_format_identified,
        "has_same_gpus": one.has_same_gpus,
        "gpu_time_ratio": _known(one.cost.gpu_time_ratio),
        "energy_ratio": _known(one.cost.energy_ratio),
        "is_in_budget": one.cost.is_in_budget,
    }


def _summary_object(one: Summary) -> dict[str, object]:
    return {
        "attack": one.attack,
        "method": one.method,
        "n_configurations": one.n_configurations,
        "n_runs": one.n_runs,
        "median_abs_error_ratio": _known(one.median_abs_error_ratio),
        "median_interval": _ends(one.median_interval.low, one.median_interval.high),
        "p90_abs_error_ratio": _known(one.p90_abs_error_ratio),
        "p90_interval": _ends(one.p90_interval.low, one.p90_interval.high),
        "median_signed_error_ratio": _known(one.median_signed_error_ratio),
        "worst_under_ratio": min(0.0, one.worst.signed_error_ratio),
        "worst": one.worst.configuration,
        "worst_gpu_time_ratio": _known(one.worst.cost.gpu_time_ratio),
        "high_holds_ratio": one.high_holds_ratio,
        "high_holds_interval": _ends(*one.high_holds_interval),
        "identified_width_ratio": _known(one.identified_width_ratio),
        "other_width_ratio": _known(one.other_width_ratio),
    }


def _cheapest_object(one: Cheapest) -> Mapping[str, object]:
    def named(effect: Effect | None) -> dict[str, object] | None:
        if effect is None:
            return None
        return {
            "configuration": effect.configuration,
            "gpu_time_ratio": _known(effect.cost.gpu_time_ratio),
            "energy_ratio": _known(effect.cost.energy_ratio),
            "hidden_ratio": hidden_ratio(effect, one.figure),
        }

    return {
        "method": one.method,
        "figure": one.figure.value,
        "in_budget": named(one.in_budget),
        "at_any_cost": named(one.at_any_cost),
        "n_unpriced": one.n_unpriced,
    }


def _known(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _ends(low: float, high: float) -> Sequence[float | None]:
    return [_known(low), _known(high)]
