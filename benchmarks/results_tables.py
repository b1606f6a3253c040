"""Tables and paragraphs of docs/results.md, from answers."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from results_cases import COMPARED, Case

Answers = Mapping[str, Mapping[str, Any]]
"""By case and target, ``random-executed``: the command, and the answer."""

FIGURES = ("mean_abs_error", "p90_abs_error", "worst_under", "worst_over")


def prose(*lines: str) -> str:
    """Return sentences as one paragraph of lines that an editor can show."""
    return fill(" ".join(lines), width=118, break_long_words=False, break_on_hyphens=False)


def percent(ratio: float | None) -> str:
    """Return a ratio in percent."""
    return "-" if ratio is None else f"{100 * ratio:.2f} %"


def compared_table(head: str, answers: Answers, rows: Sequence[tuple[Case, str]]) -> list[str]:
    """Return a table of median errors, a row a case and target."""
    lines = [
        f"| {head} | target | {' | '.join(f'`{name}`' for name in COMPARED)} |",
        f"|---|---|{'--:|' * len(COMPARED)}",
    ]
    for case, target in rows:
        cells = " | ".join(median_cell(answers, case, target, name) for name in COMPARED)
        lines.append(f"| {case.says} | {target} | {cells} |")
    return lines


def full_tables(answers: Answers, cases: Sequence[Case]) -> list[str]:
    """Return a section with a table of all estimators for each case and target."""
    lines: list[str] = []
    for case in cases:
        for target in case.targets:
            told = answers[f"{case.name}-{target}"]
            found = told["answer"]
            lines += [f"### {case.name}, {target} FLOP", "", f"{case.says}."]
            lines += [
                f"{found['n_workloads']} workloads, {found['n_traces']} traces: `{told['command']}`",
                "",
            ]
            lines += [*_table(found), ""]
    return lines[:-1]


def _table(found: Mapping[str, Any]) -> list[str]:
    lines = [
        "| estimator | median | 95 % interval | mean | 90th perc. | worst under | worst over | bounds hold |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in found["estimators"].items():
        spread = row["median_abs_error_ratio_interval"]
        held = row["coverage"]["coverage_ratio"] if row["coverage"]["nominal_ratio"] else None
        ratios = [row[f"{figure}_ratio"] for figure in FIGURES]
        cells = [
            f"`{name}`",
            percent(row["median_abs_error_ratio"]),
            f"{percent(spread['low_ratio'])} to {percent(spread['high_ratio'])}",
            *map(percent, [*ratios, held]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def median_cell(answers: Answers, case: Case, target: str, name: str) -> str:
    """Return the median absolute error of one estimator in one case."""
    return percent(answers[f"{case.name}-{target}"]["answer"]["estimators"][name]["median_abs_error_ratio"])


def spread_cell(told: Mapping[str, Any], name: str) -> str:
    """Return median, tail and worst case of one estimator."""
    row = told["answer"]["estimators"][name]
    worst = max(-row["worst_under_ratio"], row["worst_over_ratio"])
    median, tail = (percent(row[f"{figure}_abs_error_ratio"]) for figure in ("median", "p90"))
    return f"median {median}, 90th percentile {tail}, worst {percent(worst)}"


def banded_cell(point: Mapping[str, Any]) -> str:
    """Return one point of a learning curve with its band."""
    ends = f"{percent(point['low_ratio'])} to {percent(point['high_ratio'])}"
    return f"{percent(point['median_abs_error_ratio'])} ({ends})"
