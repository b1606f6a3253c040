"""What the answers say in words: each finding with its figures, and whether the published one holds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from results_cases import CADENCE, CROSS_CADENCE, FIRST_OWN, FOLDS, LEARNING, OWN_NODES
from results_tables import Answers

CAPPED_RATIO = 0.9
"""A workload is capped where the driver names the power cap as a reason in this share of its samples."""

SAME_RATIO = 1e-9
"""Differences below this are rounding."""

SMALL_WATTS, SAME_CORRELATION, SAME_BYTES_RATIO, TARGET_RATIO = 100.0, 0.5, 0.02, 0.1
"""Where a finding counts as holding: overhead of two boards, likeness of two signals, bytes as predicted, and
the error that the experiment aimed at and did not reach.
"""


Row = tuple[str, str, str, bool]
"""A published finding, its figure there, ours, and whether it holds."""


def holds_lines(answers: Answers, signals: Mapping[str, Any]) -> list[str]:
    """Return the table of published findings against ours; whether one holds is computed, not written."""
    rows = (*_input_rows(answers, signals), *_link_rows(signals), *_error_rows(answers))
    return [
        "| finding | published, V100 | ours, H200 | holds |",
        "|---|---|---|---|",
        *(f"| {words} | {told} | {found} | {_word(holds)} |" for words, told, found, holds in rows),
    ]


def _input_rows(answers: Answers, signals: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return what more inputs do to the linear form."""
    own = _medians(answers, "own-sweep-algorithmic")
    power, dram, links = (own[f"linear-power{inputs}"] for inputs in ("", "-dram", "-dram-nvlink"))
    fits = signals["equation"][FIRST_OWN]["fits"]
    link_cost = fits["linear-power-dram-nvlink"]["joules_per_nvlink_terabyte"]
    alone = fits["linear-power"]
    return (
        (
            "Power alone suffices: the linear form with it beats those with more inputs",
            "12.9 % against 15.1 %",
            f"{_percent(power)} against {_percent(min(dram, links))}",
            power <= min(dram, links),
        ),
        (
            "Memory activity makes the linear form worse",
            "12.9 to 15.1 %",
            f"{_percent(power)} to {_percent(dram)}",
            dram > power,
        ),
        (
            "NVLink adds nothing: its coefficient fits to zero",
            "0 J/TB",
            f"{link_cost:.3g} J/TB; {_percent(dram)} without, {_percent(links)} with it",
            link_cost < 1.0,
        ),
        (
            "Energy per TFLOP is one constant of the chip (J, power alone)",
            "4.74 to 4.78, no overhead",
            f"{alone['joules_per_teraflop']:.2f}, with {alone['overhead_watts']:.0f} W overhead",
            alone["overhead_watts"] < SMALL_WATTS,
        ),
    )


def _link_rows(signals: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return what the links carry."""
    equation = signals["equation"][FIRST_OWN]
    correlation, ratio = equation["link_memory_correlation"], equation["link_bytes_per_gradient_byte"][1]
    return (
        (
            "Links and memory go together, which is why NVLink adds nothing",
            "correlation 0.89",
            f"correlation {correlation:.2f}",
            correlation > SAME_CORRELATION,
        ),
        (
            "Bytes on the links are the gradients of each step",
            "1.00 ± 0.01 × 16 bytes × parameters",
            f"{ratio:.2f}",
            abs(ratio - 1) < SAME_BYTES_RATIO,
        ),
    )


def _error_rows(answers: Answers) -> tuple[Row, ...]:
    """Return how good the best estimators are."""
    own, executed = (_medians(answers, f"own-sweep-{target}") for target in ("algorithmic", "executed"))
    folds = _medians(answers, f"{FOLDS.name}-algorithmic")
    network = min(folds["mlp"], folds["mlp-residual"])
    linear = min(folds[name] for name in folds if name.startswith("linear-"))
    return (
        (
            "A small network is better than any linear form",
            "10.4 % against 13.1 %",
            f"{_percent(network)} against {_percent(linear)}",
            network < linear,
        ),
        (
            "No estimator comes under 10 %",
            "10.4 %",
            f"`fused` {_percent(own['fused'])} algorithmic, {_percent(executed['fused'])} executed",
            min(own.values()) >= TARGET_RATIO,
        ),
    )


def capped_words(signals: Mapping[str, Any]) -> tuple[str, ...]:
    """Say how much power varies, and how much work, on boards at their cap."""
    rows = [row for node in OWN_NODES for row in signals["power"][node]]
    capped = [row for row in rows if row["capped_ratio"] >= CAPPED_RATIO]
    watts = _range([row["board_watts"] for row in capped])
    rates = _range([row["flop_per_second"] / 1e12 for row in capped])
    both = [row["board_watts"] for row in rows], [row["flop_per_second"] for row in rows]
    return (
        f"{len(capped)} of {len(rows)} workloads of node {' and node '.join(OWN_NODES)} have their boards at",
        f"the 700 W cap for at least {100 * CAPPED_RATIO:.0f} % of the time. They draw {watts[0]:.0f} to",
        f"{watts[1]:.0f} W and do {rates[0]:.0f} to {rates[1]:.0f} TFLOP/s a GPU: power moves by a factor of",
        f"{watts[1] / watts[0]:.1f}, work by {rates[1] / rates[0]:.1f} (correlation over all workloads",
        f"{np.corrcoef(*both)[0, 1]:.2f}). There power alone does not suffice: what it fits is close to a",
        "constant rate. In its test of power caps the published workload drew about 200 W of 300 W, so that",
        "there power was free to follow the work.",
    )


def equation_lines(signals: Mapping[str, Any]) -> list[str]:
    """Return the fitted constants of equation (1), a row a form and node, the published ones first."""
    lines = [
        "| fitted on | inputs | J/TFLOP | J/TB of DRAM | J/TB of NVLink | overhead, W |",
        "|---|---|--:|--:|--:|--:|",
        "| published, V100 | power | 4.74 to 4.78 | - | - | 0 |",
        "| published, V100 | power, DRAM | 3.54 to 3.56 | 91.6 to 93.4 | - | 0 |",
        "| published, V100 | power, DRAM, NVLink | 3.54 to 3.56 | 91.6 to 93.4 | 0 | 0 |",
    ]
    for node, found in signals["equation"].items():
        for name, costs in found["fits"].items():
            inputs = name.removeprefix("linear-").replace("-", ", ")
            inputs = inputs.replace("dram", "DRAM").replace("nvlink", "NVLink")
            units = ("joules_per_dram_terabyte", "joules_per_nvlink_terabyte")
            memory = " | ".join(f"{costs[unit]:.1f}" if unit in costs else "-" for unit in units)
            joules, watts = costs["joules_per_teraflop"], costs["overhead_watts"]
            lines.append(f"| node {node} | {inputs} | {joules:.2f} | {memory} | {watts:.0f} |")
    return lines


def inside_words(signals: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what a slower sampler loses inside a run, away from its ends."""
    slower = [row for row in signals["inside"] if row["largest_abs_difference_ratio"] > SAME_RATIO]
    cells = [
        f"every {row['interval_seconds']:g} s {_percent(row['median_abs_difference_ratio'])} median,"
        f" {_percent(row['p90_abs_difference_ratio'])} 90th percentile,"
        f" {100 * row['median_signed_difference_ratio']:+.2f} % bias"
        for row in slower
    ]
    left = " and ".join(_percent(row["median_abs_difference_with_recorded_clock_ratio"]) for row in slower)
    return (
        "Two things are lost. At its ends, a run shares a step with idle time. Inside, where no end matters,",
        "pipe cycles of one stretch of about 3 s differ from those at 10 Hz:",
        f"{'; '.join(cells)}. That is the clock: a board at its cap moves it by several per cent between two",
        f"samples, and a slow sampler reads it seldom. With the clock alone at 10 Hz, {left} are left.",
        "What is",
        "lost leans to no side, so it averages out with the length of a run; a counter of active cycles",
        "would",
        "not have it at all.",
    )


def cadence_words(answers: Answers) -> tuple[str, ...]:
    """Say what cadence costs the constant, and power alone."""
    cycles, power = (
        [_medians(answers, f"{case.name}-executed")[name] for case in CADENCE.values()]
        for name in ("pipe-cycles-calibrated", "linear-power")
    )
    across = [
        _medians(answers, f"{case.name}-executed")["pipe-cycles-calibrated"]
        for case in CROSS_CADENCE.values()
    ]
    return (
        f"Pipe cycles go from {_percent(cycles[0])} to {_percent(cycles[1])} and {_percent(cycles[2])} and",
        "stay far",
        f"ahead of power alone ({_percent(power[0])}, {_percent(power[1])}, {_percent(power[2])}). A",
        "calibration made",
        f"at 10 Hz does not carry over to another cadence on runs this short ({_percent(across[1])} at 2 Hz,",
        f"{_percent(across[2])} at 1 Hz): the ends lean to one side, and the constant learned at 10 Hz",
        "does not know.",
    )


def learning_words(answers: Answers) -> tuple[str, ...]:
    """Say what more workloads bring to the constant, a network and the linear form."""
    found = answers[f"{LEARNING.name}-executed"]["answer"]["estimators"]
    ends = {
        name: [_percent(points[place]["median_abs_error_ratio"]) for place in (0, -1)]
        for name, points in found.items()
    }
    sizes = [point["n_calibration_workloads"] for point in found["mlp"]]
    (first, last), (before, after) = ends["pipe-cycles-calibrated"], ends["mlp"]
    return (
        f"One constant is known from {sizes[0]} workloads ({first}; {last} from {sizes[-1]}). The network",
        "goes from",
        f"{before} to {after} and is still gaining; power alone ends at {ends['linear-power'][1]} however",
        "many there are.",
    )


def _medians(answers: Answers, key: str) -> dict[str, float]:
    found = answers[key]["answer"]["estimators"]
    return {name: row["median_abs_error_ratio"] for name, row in found.items()}


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %" if ratio >= 0.1 else f"{100 * ratio:.2f} %"


def _word(holds: bool) -> str:
    return "yes" if holds else "no"
