"""docs/results.md and the README's block of figures, written from the answers alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from results_beyond import beyond_lines, cost_lines, detection_lines
from results_cases import (
    CADENCE,
    COMPARED,
    CROSS_CADENCE,
    FIRST_OWN,
    FOLDS,
    LEARNING,
    MAIN,
    NODE_TO_NODE,
    OWN_NODES,
)
from results_findings import (
    cadence_words,
    capped_words,
    equation_lines,
    holds_lines,
    inside_words,
    learning_words,
)
from results_tables import (
    Answers,
    banded_cell,
    compared_table,
    full_tables,
    median_cell,
    percent,
    prose,
    spread_cell,
)

from flopwitness.app.report.published import OURS, PUBLISHED, SOURCE

README_CASES = ("random", "leave-family", "frozen", "untouched")
PICTURES = (
    ("1", "pipeline", "Calibration happens once; what is monitored later only ever meets the frozen file."),
    ("2", "three-input", "With memory, dots follow the line; long sequences stay under it."),
    ("3", "fewer-inputs", "Power alone gives almost one answer for all; memory turns the dots to the line."),
    ("4", "networks", "Both see energy (E), time (t), memory (D), links (N) and P = E / t on logarithms."),
    ("5", "both-networks", "Both networks bring nearly all dots into the inner wedge."),
    ("6", "five-estimators", "Memory lowers the error here and raised it there; `fused` is lowest."),
)
"""Number, file and what to see of each of the experiment's figures."""


def page(answers: Answers, signals: Mapping[str, Any]) -> str:
    """Return docs/results.md."""
    parts = [
        _head(),
        _section("What holds on H200s, and what does not", holds_lines(answers, signals)),
        _section("The experiment's figures 1 to 6, side by side", _figures(answers)),
        _section("Boards at their power cap", _power(signals)),
        _section("From one node to another", _nodes(answers)),
        _section("Cadence", _cadence(answers, signals)),
        _section("How many workloads a calibration needs", _learning(answers)),
        _section("Other training, inference, FP64", beyond_lines(answers)),
        _section("Detection and totals, end to end", detection_lines(answers)),
        _section("What the daemon costs", cost_lines()),
        _section("All estimators, every protocol", full_tables(answers, (*MAIN, *NODE_TO_NODE))),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def block(answers: Answers) -> str:
    """Return the README's figures: median errors of some estimators under each protocol."""
    cases = [case for case in MAIN if case.name in README_CASES] + list(NODE_TO_NODE)
    keys = [(case, target) for case in cases for target in case.targets]
    heads = [f"{case.name}, {target}" for case, target in keys]
    lines = [f"| median error | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    lines += [
        f"| `{name}` | {' | '.join(median_cell(answers, case, target, name) for case, target in keys)} |"
        for name in COMPARED
    ]
    notes = [f"*{case.name}*: {case.says[0].lower()}{case.says[1:]}" for case in cases]
    return "\n".join([*lines, "", "; ".join(notes) + ".", ""])


def _head() -> list[str]:
    return [
        "# Results",
        "",
        prose(
            "Made by `make results` from the bundled recordings: every figure and table on this page. The",
            "answers",
            "as JSON, with the versions that gave them, are in `benchmarks/results/`;",
            "`python benchmarks/results.py --pages` draws the page again from these. Errors are estimate",
            "over",
            "truth, minus one; the worst are signed. The interval of a median resamples workloads. Bounds",
            "are",
            "meant to hold in 90 % of runs.",
        ),
        "",
        f"Published figures are those of the {SOURCE}. They are quoted, not computed here.",
        "",
        prose(
            "The settings of `fused` were chosen while looking at nodes a and b. Node",
            f"{FIRST_OWN} was recorded afterwards, by another program.",
        ),
    ]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines]


def _figures(answers: Answers) -> list[str]:
    own, folds = answers["own-sweep-algorithmic"], answers[f"{FOLDS.name}-algorithmic"]
    size = f"{own['answer']['n_workloads']} workloads, {own['answer']['n_traces']} traces"
    lines = [
        prose(
            f"Ours: {size} of node {' and node '.join(OWN_NODES)}, algorithmic FLOP as published. A dot is",
            "the",
            "median over all splits that held its workload out; wedges are ±10 % and ±20 %. Drawn by",
            "`benchmarks/results_figures.py` from the answer to",
        ),
        f"`{own['command']}`.",
        "",
        *_figure_rows(answers),
    ]
    for number, name, words in PICTURES:
        lines += ["", f"**Figure {number}.** {words}", "", f"![Figure {number}](figures/{name}.svg)"]
    return [
        *lines,
        "",
        f"Figure 6 rests on `{folds['command']}`; whiskers: 95 % of the medians when workloads are",
        "resampled.",
        "",
        "Not in the experiment: the same dots for pipe cycles and `fused`, executed FLOP.",
        "",
        "![Pipe cycles and fused against truth](figures/ours.svg)",
    ]


def _figure_rows(answers: Answers) -> list[str]:
    """Return a row a published figure: its numbers, and ours under the same protocol."""
    own = answers["own-sweep-algorithmic"]
    folds = answers[f"{FOLDS.name}-algorithmic"]["answer"]["estimators"]
    equal = {name: percent(row["median_abs_error_ratio"]) for name, row in folds.items()}
    rows = [
        ("figure", "published, 2 × V100, 88 workloads", "ours, 2 × H200 a node"),
        ("---", "---", "---"),
        ("1, pipeline", "calibrate, freeze, monitor", "the same; sessions stitched over GPUs, bounds"),
        ("2, power + DRAM + NVLink", "median 15.1 %", spread_cell(own, "linear-power-dram-nvlink")),
        ("3, power", _told("12.9", "26.8", "52.9"), spread_cell(own, "linear-power")),
        ("3, power + DRAM", _told("15.1", "31.8", "69.3"), spread_cell(own, "linear-power-dram")),
        ("4, networks", "two layers of 32; seven inputs, and six", "the same two"),
        ("5, pure network, equal folds", "median 10.4 %", f"median {equal['mlp']}"),
        ("5, residual network, equal folds", "median 10.4 %", f"median {equal['mlp-residual']}"),
        *(
            (f"6, `{name}`, equal folds", f"median {percent(told.folds_ratio)}", f"median {equal[name]}")
            for name, told in PUBLISHED.items()
        ),
        *((f"6, `{name}`, equal folds", "-", f"median {equal[name]}") for name in OURS),
    ]
    return [f"| {' | '.join(row)} |" for row in rows]


def _told(median: str, tail: str, worst: str) -> str:
    return f"median {median} %, 90th percentile {tail} %, worst {worst} %"


def _power(signals: Mapping[str, Any]) -> list[str]:
    return [
        prose(*capped_words(signals)),
        "",
        prose(
            "Left: boards at their cap draw one power for very different work. Right: power alone",
            "overestimates",
            "slow workloads and underestimates fast ones, as a constant would (`own-sweep`, executed FLOP).",
        ),
        "",
        "![Work, power and the error of power alone](figures/power-cap.svg)",
        "",
        prose(
            "Equation (1) fitted on everything that a node ran, algorithmic FLOP, in the published units",
            "(`python benchmarks/results_signals.py`):",
        ),
        "",
        *equation_lines(signals),
    ]


def _nodes(answers: Answers) -> list[str]:
    cases = [case for case in MAIN if case.protocol == "frozen"] + list(NODE_TO_NODE)
    rows = [(case, target) for case in cases for target in case.targets]
    lines = compared_table("calibrated on, tested on", answers, rows)
    absent = "A second node with the own sweep is not recorded yet: its rows come with it."
    return lines if NODE_TO_NODE else [*lines, "", absent]


def _cadence(answers: Answers, signals: Mapping[str, Any]) -> list[str]:
    rows = [(case, target) for case in CADENCE.values() for target in case.targets]
    rows += [(case, "executed") for case in CROSS_CADENCE.values()]
    return [
        prose(
            "Recordings at 10 Hz, as a slower sampler would have made them: readings are those nearest each",
            "tick, means since the last sample are means over the longer step, counters count on. Logged",
            "windows",
            "of 4 s stay as they are.",
        ),
        "",
        *compared_table("sampled", answers, rows),
        "",
        prose(*inside_words(signals)),
        "",
        f"Data: `{answers[CADENCE[0.5].name + '-executed']['command']}` and its siblings; the last rows",
        "after",
        "`flopwitness calibrate datasets/h200x2-a --output calibration-a.json`.",
        "",
        prose(*cadence_words(answers)),
        "",
        "![Median error against sampling interval](figures/cadence.svg)",
    ]


def _learning(answers: Answers) -> list[str]:
    told = answers[f"{LEARNING.name}-executed"]
    first = told["answer"]
    lines = [
        prose(
            f"{first['draws']} draws; in each, the same {first['n_held_out_workloads']} workloads of node",
            f"{FIRST_OWN}",
            "are held out for every size. Median of the draws' median errors, 5th to 95th percentile in",
            "brackets.",
        ),
        "",
    ]
    for target in LEARNING.targets:
        points = answers[f"{LEARNING.name}-{target}"]["answer"]["estimators"]
        sizes = [point["n_calibration_workloads"] for point in points[COMPARED[0]]]
        lines += [f"| {target} FLOP | {' | '.join(f'{size} workloads' for size in sizes)} |"]
        lines += [f"|---|{'--:|' * len(sizes)}"]
        lines += [f"| `{name}` | {' | '.join(map(banded_cell, points[name]))} |" for name in COMPARED]
        lines += [""]
    return [
        *lines,
        f"Data: `{told['command']}` and its sibling.",
        "",
        prose(*learning_words(answers)),
        "",
        "![Median error against size of the calibration](figures/learning-curve.svg)",
    ]
