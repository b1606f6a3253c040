"""docs/redteam.md, written from the answers alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from redteam_evidence import stitching_lines, tampering_lines
from results_tables import prose

from flopwitness.app.report.redteam_content import SHOWN_METHODS
from flopwitness.app.report.redteam_tables import attack_table
from flopwitness.app.report.table import Table
from flopwitness.redteam.attack import Attack

Answers = Mapping[str, Mapping[str, Any]]
Rows = Sequence[Mapping[str, Any]]

SET_WORDS = {
    "first": "first twins, node f (seen while defences were made)",
    "second": "second twins, node g (read once, after all was frozen)",
}
HELD_COLUMNS = (
    "settings",
    "median error",
    "90th percentile",
    "worst under-report",
    "worst within budget",
    "bound holds",
    "width, format known",
    "not known",
)


def page(answers: Answers, figures: Sequence[tuple[str, str, str]], attacks: Sequence[Attack]) -> str:
    """Return the page."""
    lines = [
        *_head(),
        *_section("What holds", _holds(answers)),
        *_section("The cheapest attack that hides 10 %", _cheapest(answers)),
        *_section("Figures", _figures(figures)),
        *_section("Every attack against `fused`, executed FLOP", _by_attack(answers)),
        *_section("Formats left out of the calibration", _left_out(answers["left-out"]["answer"]["rows"])),
        *_section("Attacks: what varies (the experiment's table 2)", _markdown(attack_table(attacks))),
        *_section("Telemetry that was tampered with", tampering_lines(answers.get("tampering"))),
        *_section("Split runs and jobs", stitching_lines(answers.get("stitching"))),
        *_section("How to read this", _limits()),
    ]
    return "\n".join(lines) + "\n"


def _head() -> list[str]:
    return [
        "# Red team",
        "",
        prose(
            "Made by `python benchmarks/redteam.py` from recordings of attacks on two nodes of two H200s;",
            "answers as JSON in `benchmarks/results/redteam/`. Every attack ran beside its benign twin on",
            "the same GPUs, in three traces of 1.2 s (first twins) or two of 1.0 s (second). An error is",
            "estimate over truth, minus one; a setting counts with the median of its traces; the worst are",
            "signed. The bound is `most_flop`: what a workload can have been at most if it was made to be",
            "under-counted ([ADR 17](adr/0017-a-bound-for-hostile-workloads.md)).",
        ),
        "",
        prose(
            "Calibration: benign sweeps of nodes c and d, and products and trainings of known number format",
            "(`h200x2-f-formats`, `-g-formats`; other shapes than any attack). No attack was fitted on. But",
            "limits of the format test and the value of FP32's attention were set after the first set of",
            "attacks had been read; the second set, other shapes on another node, was recorded later and",
            "read once, when code and calibration were frozen (faults of code that were mended afterwards",
            "moved no point of it). Trust the second.",
        ),
    ]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _holds(answers: Answers) -> list[str]:
    lines = [
        f"| `fused` | {' | '.join(HELD_COLUMNS)} |",
        f"|---|{'--:|' * len(HELD_COLUMNS)}",
    ]
    for target in ("executed", "algorithmic"):
        for name, words in SET_WORDS.items():
            found = answers[f"{name}-{target}"]["answer"]
            lines.append(f"| {words}, {target} {_holds_cells(found)}")
    return [*lines, "", *_three(answers)]


def _holds_cells(found: Mapping[str, Any]) -> str:
    total = next(
        row for row in found["summaries"] if (row["attack"], row["method"]) == ("all attacks", "fused")
    )
    effects = _of(found["effects"], "fused")
    allowed = min((row for row in effects if row["is_in_budget"]), key=lambda row: row["signed_error_ratio"])
    holds = sum(row["n_high_holds"] for row in effects)
    runs = sum(row["n_traces"] for row in effects)
    worst = f"{_percent(total['worst_under_ratio'])} {total['worst']} at {total['worst_gpu_time_ratio']:.2f}x"
    inside = f"{_percent(allowed['signed_error_ratio'])} {allowed['configuration']}"
    cells = (
        str(total["n_configurations"]),
        _percent(total["median_abs_error_ratio"]),
        _percent(total["p90_abs_error_ratio"]),
        worst,
        inside,
        f"{holds} of {runs}",
        _times(total["identified_width_ratio"]),
        _times(total["other_width_ratio"]),
    )
    return "| " + " | ".join(cells) + " |"


def _three(answers: Answers) -> list[str]:
    """Return how far each estimator moves under the experiment's attacks: its figure 7 as numbers."""
    found = answers["first-executed"]["answer"]["effects"]
    attacks = ("split", "throttle", "heads", "batch", "fp8", "tf32", "operands", "long-sequences")
    lines = [
        prose(
            "Movement against the benign twin in percentage points, farthest setting, executed FLOP, first",
            "twins (the power cap, S5, is real code and was not run on boards that others share):",
        ),
        "",
        f"| estimator | {' | '.join(attacks)} |",
        f"|---|{'--:|' * len(attacks)}",
    ]
    for method in SHOWN_METHODS:
        cells = []
        for attack in attacks:
            moves = [
                row["movement_ratio"]
                for row in _of(found, method)
                if row["attack"] == attack and row["movement_ratio"] is not None
            ]
            cells.append(f"{100 * max(moves, key=abs):+.0f}" if moves else "-")
        lines.append(f"| `{method}` | {' | '.join(cells)} |")
    return lines


def _cheapest(answers: Answers) -> list[str]:
    lines = [
        "| estimator | hidden from | first twins | second twins |",
        "|---|---|---|---|",
    ]
    rows = {
        name: {
            (row["method"], row["figure"]): row for row in answers[f"{name}-executed"]["answer"]["cheapest"]
        }
        for name in SET_WORDS
    }
    for key in rows["first"]:
        cells = " | ".join(_cheapest_cell(rows[name].get(key)) for name in SET_WORDS)
        lines.append(f"| `{key[0]}` | {key[1]} | {cells} |")
    return [
        *lines,
        "",
        prose(
            "Executed FLOP, in the median of the traces; cost is GPU time at equal work, and joules in",
            "brackets. The bound of the other methods is the upper end of their 90 % interval: they have",
            "none for hostile workloads.",
        ),
    ]


def _cheapest_cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "-"
    for key, words in (("in_budget", ""), ("at_any_cost", ", over budget")):
        if (one := row[key]) is not None:
            spent = f"{one['gpu_time_ratio']:.2f}x ({one['energy_ratio']:.2f}x)"
            return f"{one['configuration']} hides {_percent(one['hidden_ratio'])} at {spent}{words}"
    return "none"


def _figures(figures: Sequence[tuple[str, str, str]]) -> list[str]:
    lines: list[str] = []
    for name, heading, caption in figures:
        lines += [f"### {heading}", "", f"![{heading}](figures/{name}.svg)", "", prose(caption), ""]
    return lines[:-1]


def _by_attack(answers: Answers) -> list[str]:
    lines = []
    for name, words in SET_WORDS.items():
        lines += [
            f"{words[0].upper()}{words[1:]}:",
            "",
            "| setting | error | twin | bound over truth | width | format | GPU time | energy |",
            "|---|--:|--:|--:|--:|---|--:|--:|",
            *map(_effect_line, _of(answers[f"{name}-executed"]["answer"]["effects"], "fused")),
            "",
        ]
    return lines[:-1]


def _effect_line(row: Mapping[str, Any]) -> str:
    high = "-" if row["high_error_ratio"] is None else f"{1 + row['high_error_ratio']:.2f}"
    cells = (
        row["configuration"],
        _signed(row["signed_error_ratio"]),
        _signed(row["twin_error_ratio"]),
        high,
        _times(row["width_ratio"]),
        "known" if row["is_format_identified"] else "open",
        _times(row["gpu_time_ratio"]) + ("" if row["is_in_budget"] else " (over)"),
        _times(row["energy_ratio"]),
    )
    return "| " + " | ".join(cells) + " |"


def _left_out(rows: Rows) -> list[str]:
    columns = ("median error", "worst under-report", "bound holds", "settings called known", "width")
    lines = [
        prose(
            "The same attacks by calibrations without any run in the attacked format: what an unknown format",
            "does. The point then counts half precision; the bound has to hold.",
        ),
        "",
        f"| attack | {' | '.join(columns)} |",
        f"|---|{'--:|' * len(columns)}",
    ]
    for row in rows:
        cells = (
            row["attack"],
            _percent(row["median_abs_error_ratio"]),
            _percent(row["worst_under_ratio"]),
            f"{row['n_high_holds']} of {row['n_runs']}",
            f"{row['n_identified']} of {row['n_settings']}",
            _times(row["width_ratio"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _markdown(table: Table) -> list[str]:
    lines = [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
    for group in table.groups:
        lines += [f"| {' | '.join(cell.text for cell in row.cells)} |" for row in group.rows]
    return lines


def _limits() -> list[str]:
    points = (
        (
            "The attackers are the authors: they know the code, and did not search by machine for the",
            "shape of an FP8 run that passes for half precision. Signals can be added to, not taken away;",
            "how much room that leaves was not mapped.",
        ),
        (
            "Runs are short. Six-second pauses cost 6 to 17 times the GPU time of a run of 1.2 s, and next",
            "to nothing of a run of days: that splitting is over budget here says nothing about long runs.",
        ),
        (
            "Convergence was not tested: an attack shape might train badly. Operands held at zero or at a",
            "constant train nothing.",
        ),
        ("Cost is GPU time of all boards that the run held, a waiting one included.",),
        (
            "2:4 sparsity, FP4 and FP6, kernels of other libraries than PyTorch's, and products on the plain",
            "integer pipe were not run.",
        ),
    )
    return [f"* {prose(*lines)}" for lines in points]


def _of(effects: Rows, method: str) -> list[Mapping[str, Any]]:
    return [row for row in effects if row["method"] == method]


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:.1f} %"


def _signed(ratio: float | None) -> str:
    return "-" if ratio is None else f"{100 * ratio:+.1f} %"


def _times(ratio: float | None) -> str:
    return "unbounded" if ratio is None else f"{ratio:.2f}x"
