"""What docs/redteam.md says of tampered telemetry and of jobs."""

from collections.abc import Mapping
from typing import Any

from results_tables import prose


def tampering_lines(found: Mapping[str, Any] | None) -> list[str]:
    """Return how often tampered telemetry was found."""
    if found is None:
        return ["Not measured."]
    held = {row["kind"]: row for row in found["held_out"]}
    first, clean = found["first_look"], found["clean"]
    lines = [
        prose(
            f"Excerpts of {found['excerpt_seconds']} s, tampered with at the strength that moves the",
            "estimate by 10 %, found by constants fitted on other nodes (three folds of a to d) and, held",
            "out, on nodes f and g. Found is a warning or an alarm that the excerpt did not give before; in",
            "brackets, of those that could be moved by 10 %. Wilson intervals, 95 %. Made by",
            f"`{found['command']}`.",
        ),
        "",
        "| kind | found | interval | nodes f and g |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {row['kind']} | {_found_cell(row)} | {100 * row['low']:.0f} to {100 * row['high']:.0f} % "
        f"| {_found_cell(held[row['kind']])} |"
        for row in found["folds"]
        if "/" not in row["kind"]
    ]
    false = "; ".join(
        f"{row['kind']} ({name.replace('_', ' ')}) {row['found']} of {row['trials']}"
        for name, rows in clean.items()
        for row in rows
    )
    return [
        *lines,
        "",
        prose(f"False findings on clean excerpts: {false}."),
        "",
        prose(
            f"The first look at nodes f and g, by limits that had not seen them, gave {first['false']} of",
            f"{first['trials']} false: {first['then']}.",
        ),
    ]


def _found_cell(row: Mapping[str, Any]) -> str:
    return f"{row['found']} of {row['trials']} ({row['found_reached']} of {row['reached']})"


def stitching_lines(found: Mapping[str, Any] | None) -> list[str]:
    """Return how often jobs came out right."""
    if found is None:
        return ["Not measured."]
    lines = [
        prose(
            "Sessions chained to jobs, against what the programs logged. *recorded*: as it ran, warm-ups",
            "with their run; *in parts*: those of them that are several sessions, real splits among them;",
            "*shuffled*: different jobs one after another in ten random orders; *split*: measured steps cut",
            "in two to four with pauses of 2 to 60 s, made from idle samples of the same board, device",
            "memory held or freed.",
            f"Made by `{found['command']}`.",
        ),
        "",
        "| data | trial | jobs | right | split | merged | neighbours merged though different |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for group, rows in found["totals"].items():
        for row in rows:
            pairs = f"{row['n_false_merges']} of {row['n_pairs']}" if row["n_pairs"] else "-"
            counts = " | ".join(str(row[key]) for key in ("n_jobs", "n_right", "n_split", "n_merged"))
            lines.append(f"| {group} | {row['what']} | {counts} | {pairs} |")
    return lines
