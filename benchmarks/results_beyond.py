"""Sections of docs/results.md beyond the benign sweep: other work, the daemon end to end, its cost."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from results_cases import BEYOND, DETECTION, ROOT
from results_tables import Answers, percent, prose

NODE = ROOT / "benchmarks" / "results" / "node"
"""Measured on a GPU node by ``benchmarks/throughput.py`` and ``side_by_side.py``; not made again here."""

SHOWN = ("fused", "pipe-cycles-calibrated")
COUNTED = ("workloads", "as_one", "split", "merged", "missed", "partly", "spurious")
FOUND_HEADS = (*(name.replace("_", " ") for name in COUNTED), "starts in time", "ends in time")


def beyond_lines(answers: Answers) -> list[str]:
    """Return every workload outside the benign sweep and its executed error."""
    told = answers[f"{BEYOND.name}-executed"]
    found = told["answer"]
    rows = sorted(found["workloads"], key=lambda row: (row["family"], row["name"]))
    lines = [
        prose(
            f"{BEYOND.says}: {found['n_workloads']} workloads, {found['n_traces']} traces, executed FLOP.",
            f"`fused`: median {percent(found['estimators']['fused']['median_abs_error_ratio'])}. The",
            "tensor counter counts cycles, not formats: FP8 reads about 0.56 and TF32 2.4 of its FLOP,",
            "FP32 runs on other pipes, and decoding fills a few rows of each tile. One GPU has no NVLink",
            "traffic, so `fused` answers with its constant.",
        ),
        "",
        "| family | workload | " + " | ".join(f"`{name}`" for name in SHOWN) + " |",
        "|---|---|--:|--:|",
    ]
    for row in rows:
        errors = (percent(row["point_flop"][name] / row["truth_flop"] - 1) for name in SHOWN)
        lines.append(f"| {row['family']} | {row['name']} | {' | '.join(errors)} |")
    return [*lines, "", f"Data: `{told['command']}`."]


def detection_lines(answers: Answers) -> list[str]:
    """Return what the daemon found in every recorded sweep, and what it adds up to."""
    told = answers[f"{DETECTION.name}-executed"]
    replays = told["answer"]["replays"]
    lines = [
        prose(
            "Every recording replayed through the daemon: at 10 Hz with its own rule, and thinned to 2 Hz",
            "with the published polls. Errors are found minus logged; in time is within two polls, of 0.1 s",
            "and of 1.5 s. The lab frees a workload and builds the next one right after its logged end,",
            "which the daemon rightly calls activity: ends at 10 Hz trail by half a second. Every split at",
            "10 Hz lies in a warm-up: while a process loads its first kernels (the same two workloads on",
            "nodes c and d, the first of each process elsewhere) or compiles, GPUs idle for a second or",
            "more. Nodes a, b, the hang and the e recordings leave 2 to 5 s between workloads, where the",
            "published rule needs 4.5 s; what it finds in part worked too shortly for two busy polls on one",
            "of the GPUs.",
        ),
        "",
        f"| recording | rule | {' | '.join(FOUND_HEADS)} |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in replays:
        counts = [one[f"n_{name}"] for name in COUNTED] + [one["n_starts_within"], one["n_stops_within"]]
        cells = " | ".join(map(str, counts))
        lines.append(f"| {one['dataset']} | {one['detector']} | {cells} |")
    return [*lines, "", *_totals(replays), "", f"Data: `{told['command']}`."]


def _totals(replays: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        prose(
            "FLOP of everything that ran, warm-up and dropped runs included, by the shipped calibration",
            "(made on nodes a and b), where the truth of all of it is known. At 2 Hz the published polls",
            "miss what runs before the second busy poll.",
        ),
        "",
        "| recording | rule | target | estimator | true | witnessed | ratio | sum of bounds |",
        "|---|---|---|---|--:|--:|--:|---|",
    ]
    for one in replays:
        for row in one["totals"]:
            if row["method"] in SHOWN and row["is_complete"] and row["ratio"] is not None:
                bounds = [row[f"{end}_flop"] for end in ("low", "high")]
                spread = " to ".join("-" if end is None else f"{end:.3e}" for end in bounds)
                flop = f"{row['truth_flop']:.4e} | {row['point_flop']:.4e} | {row['ratio']:.4f} | {spread}"
                lines.append(
                    f"| {one['dataset']} | {one['detector']} | {row['target']} | `{row['method']}` | {flop} |"
                )
    return lines


def cost_lines() -> list[str]:
    """Return what the daemon costs on a node, beside other tools."""
    slowed = [json.loads(path.read_text()) for path in sorted(NODE.glob("throughput*.json"))]
    beside = json.loads((NODE / "side_by_side.json").read_text())
    lines = [
        prose(
            "Measured on nodes with H200s (driver 580), 2026-11-30, by `benchmarks/throughput.py`.",
            *map(_slowed, sorted(slowed, key=lambda one: one["n_gpus"])),
            "`benchmarks/side_by_side.py`, one after the",
            f"other on an idle GPU; ours reads {beside['own']['signals_of_a_gpu']} signals, and the other",
            "tools ran while an instance of ours ran too:",
        ),
        "",
        "| tool | version | processor time a sample | of a core | memory | reads |",
        "|---|---|--:|--:|--:|---|",
    ]
    return [*lines, *map(_tool_row, beside["tools"])]


def _slowed(pairs: Mapping[str, Any]) -> str:
    gpus = "one GPU" if pairs["n_gpus"] == 1 else f"{pairs['n_gpus']} GPUs"
    return (
        f"With {gpus}, steps of {pairs['configuration']} take {percent(pairs['mean_ratio'])} longer with the "
        f"daemon (95 % interval {percent(pairs['low_ratio'])} to {percent(pairs['high_ratio'])}, "
        f"{pairs['pairs']} interleaved pairs of {pairs['trace_seconds']:g} s), which meanwhile takes "
        f"{percent(pairs['daemon_cpu_ratio'])} of a core."
    )


def _tool_row(row: Mapping[str, Any]) -> str:
    cells = (
        row["tool"],
        row.get("version") or "-",
        f"{1e3 * row['cpu_seconds_per_sample']:.3f} ms",
        percent(row["cpu_ratio"]),
        f"{row['rss_bytes'] / 2**20:.0f} MiB",
        row["reads"],
    )
    return f"| {' | '.join(cells)} |"
