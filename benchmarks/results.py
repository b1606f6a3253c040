"""Make every figure of README.md and docs/results.md again: ``make results``.

Runs ``flopwitness evaluate`` for each protocol and target on the bundled recordings, keeps the answers under
``benchmarks/results/`` with the versions that gave them, and writes the tables, the block of figures in the
README and its picture from those answers alone.
"""

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from flopwitness.app.opening import open_dataset, shipped_calibration
from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.palette import DARK, LIGHT
from flopwitness.app.report.timeline import timeline_plate
from flopwitness.app.svg import inline_svg
from flopwitness.app.witnessing import detected_sessions, witnessed
from flopwitness.core.workload import Target

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
COMMAND = Path(sys.executable).parent / "flopwitness"
NODE_A, NODE_B, HANG = (f"datasets/h200x2-{name}" for name in ("a", "b", "hang"))
NODE_C = tuple(f"datasets/h200x2-c{part}" for part in (1, 2, 3))
RUNS = {
    "random": ("random", NODE_A, "--splits", "200", "--seed", "0"),
    "leave-family": ("leave-family", NODE_A),
    "frozen": ("frozen", NODE_A, NODE_B),
    "untouched": ("frozen", NODE_A, *NODE_C),
    "own-sweep": ("random", *NODE_C, "--splits", "200", "--seed", "0"),
}
"""What is evaluated: the protocol, and on what."""

SAYS = {
    "random": "a random third of the workloads held out, 200 times (the published protocol)",
    "leave-family": "each family of workloads held out once",
    "frozen": "calibrated on node a, tested on the GPUs of node b, the same program",
    "untouched": "calibrated on node a, tested on node c: another program, runs of 1.6 s, looked at once",
    "own-sweep": "the published protocol on node c, three traces a workload",
}
SHORT = ("random", "leave-family", "frozen", "untouched")
"""What the README shows."""
SHOWN = ("linear-power", "linear-power-dram-nvlink", "mlp", "pipe-cycles-calibrated", "fused")
PICTURE_SECONDS = 100
"""How much of the recording the picture shows: five runs, and the first of five minutes that hang."""

FIGURES = ("median_abs", "mean_abs", "p90_abs")
Answer = Mapping[str, object]


def answered(case: str, target: str) -> tuple[str, dict[str, object]]:
    """Run one evaluation; return its command line and its answer without the single runs."""
    protocol, *rest = RUNS[case]
    arguments = ["evaluate", *rest, "--protocol", protocol, "--target", target, "--json"]
    ended = subprocess.run(  # noqa: S603
        [COMMAND, *arguments], check=True, capture_output=True, text=True, cwd=ROOT
    )
    found = json.loads(ended.stdout)
    found.pop("runs", None)
    return " ".join(["flopwitness", *arguments]), found


def environment() -> dict[str, str]:
    """Return the versions that gave the figures."""
    packages = ("numpy", "scipy", "scikit-learn", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def percent(ratio: float | None) -> str:
    """Return a ratio in percent."""
    return "-" if ratio is None else f"{100 * ratio:.2f} %"


def table(found: dict) -> list[str]:  # type: ignore[type-arg]
    """Return one evaluation as a Markdown table."""
    lines = [
        "| estimator | median | 95 % interval | mean | 90th perc. | worst under | worst over | bounds hold |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in found["estimators"].items():
        spread = row["median_abs_error_ratio_interval"]
        held = row["coverage"]["coverage_ratio"] if row["coverage"]["nominal_ratio"] else None
        cells = [
            f"`{name}`",
            percent(row["median_abs_error_ratio"]),
            f"{percent(spread['low_ratio'])} to {percent(spread['high_ratio'])}",
            *(percent(row[f"{figure}_error_ratio"]) for figure in FIGURES[1:]),
            percent(row["worst_under_ratio"]),
            percent(row["worst_over_ratio"]),
            percent(held),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page(answers: dict) -> str:  # type: ignore[type-arg]
    """Return docs/results.md."""
    lines = [
        "# Results",
        "",
        "Made by `make results` from the bundled recordings; the answers as JSON, with the versions that",
        "gave them, are in `benchmarks/results/`. Errors are estimate over truth, minus one; the worst are",
        "signed. The interval of a median resamples workloads. Bounds are meant to hold in 90 % of runs.",
        "",
        "The settings of `fused` were chosen while looking at nodes a and b. Node c was recorded afterwards",
        "and is the untouched test.",
    ]
    for (protocol, target), (command, found) in answers.items():
        lines += [
            "",
            f"## {protocol}, {target} FLOP",
            "",
            f"{SAYS[protocol][0].upper()}{SAYS[protocol][1:]}.",
        ]
        lines += [f"{found['n_workloads']} workloads, {found['n_traces']} traces: `{command}`", ""]
        lines += table(found)
    return "\n".join(lines) + "\n"


def block(answers: dict) -> str:  # type: ignore[type-arg]
    """Return the README's figures: median errors of some estimators under each protocol."""
    answers = {key: answer for key, answer in answers.items() if key[0] in SHORT}
    heads = [f"{case}, {target}" for case, target in answers]
    lines = [f"| median error | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name in SHOWN:
        cells = [
            percent(found["estimators"][name]["median_abs_error_ratio"]) for _, found in answers.values()
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    notes = [f"*{protocol}*: {words}" for protocol, words in SAYS.items() if protocol in SHORT]
    return "\n".join([*lines, "", "; ".join(notes) + ".", ""])


def picture() -> str:
    """Return the time line of the hung job's recording as a picture that follows light and dark."""
    dataset = open_dataset(ROOT / HANG)
    start_ns = min(int(trace.time_ns[0]) for trace in dataset.recording.traces)
    recording = dataset.recording.within(start_ns, start_ns + PICTURE_SECONDS * 10**9)
    answers = witnessed(recording, detected_sessions(recording), shipped_calibration(dataset.chips))
    results = [SessionResult(one.session, one.estimates, None, one.findings) for one in answers]
    plate = timeline_plate(recording, results, ident="timeline")
    assert plate is not None  # noqa: S101  the recording has samples
    drawn = inline_svg(plate.figure)
    variables = {
        theme: ";".join(f"--{name}:{colour}" for name, colour in colours.items())
        for theme, colours in (("light", LIGHT), ("dark", DARK))
    }
    style = (
        f"<style>svg{{{variables['light']};background:var(--paper);font-family:sans-serif}}"
        f"@media (prefers-color-scheme:dark){{svg{{{variables['dark']}}}}}</style>"
    )
    opening, rest = drawn.split(">", 1)
    if "xmlns=" not in opening:
        opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{opening}>{style}{rest}\n"


def main() -> None:
    """Run, keep, write."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    answers = {}
    for case in RUNS:
        for target in Target:
            command, found = answered(case, target.value)
            answers[case, target.value] = (command, found)
            kept = {"command": command, "environment": environment(), "answer": found}
            path = RESULTS / f"{case}-{target.value}.json"
            path.write_text(json.dumps(kept, indent=1) + "\n")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    (ROOT / "docs" / "results.md").write_text(page(answers))
    readme = (ROOT / "README.md").read_text()
    head, rest = readme.split("<!-- figures -->\n", 1)
    tail = rest.split("<!-- end of figures -->\n", 1)[1]
    block_text = f"<!-- figures -->\n{block(answers)}<!-- end of figures -->\n"
    (ROOT / "README.md").write_text(head + block_text + tail)
    (ROOT / "docs" / "img").mkdir(exist_ok=True)
    (ROOT / "docs" / "img" / "timeline.svg").write_text(picture())


if __name__ == "__main__":
    main()
