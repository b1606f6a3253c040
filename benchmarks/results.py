"""Make every figure of README.md and docs/results.md again: ``make results``.

Runs ``flopwitness evaluate`` for each case of ``results_cases`` on the bundled recordings, keeps the answers
under ``benchmarks/results/`` with the versions that gave them, and writes docs/results.md, its figures, the
block of figures in the README and its picture from those answers alone. ``--pages`` leaves the evaluations
out and writes the pages from the answers that are there; ``--only NAME ...`` makes these cases again.
"""

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import results_diagrams
import results_figures
from matplotlib.figure import Figure
from results_cases import (
    ALL,
    CADENCE,
    CALIBRATION_A,
    COMPARED,
    CROSS_CADENCE,
    FOLDS,
    HANG,
    LEARNING,
    NODE_A,
    OWN_NODES,
    ROOT,
    Case,
)
from results_page import block, page
from results_signals import signals
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flopwitness.app.opening import open_dataset, shipped_calibration
from flopwitness.app.report.content import SessionResult
from flopwitness.app.report.timeline import timeline_plate
from flopwitness.app.witnessing import detected_sessions, witnessed

RESULTS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "figures"
SIGNALS = RESULTS / "signals.json"
COMMAND = Path(sys.executable).parent / "flopwitness"
WITH_DOTS = ("own-sweep-algorithmic.json", "own-sweep-executed.json", "beyond-benign-executed.json")
"""Answers whose single workloads are drawn; the others go without, so that the files stay small."""

N_AT_ONCE = 2
"""Commands at once: many of them keep one core alone busy."""

PICTURE_SECONDS = 100
"""How much of the recording the picture shows: five runs, and the first of five minutes that hang."""


def answered(case: Case, target: str, calibration: Path) -> dict[str, object]:
    """Run one evaluation; return its command line, the versions and its answer without the single runs."""
    arguments = case.arguments(target)
    told = [str(calibration) if word == CALIBRATION_A else word for word in arguments]
    found = json.loads(_run(told))
    found.pop("runs", None)
    if case.file_name(target) not in WITH_DOTS:
        found.pop("workloads", None)
    return {"command": " ".join(["flopwitness", *arguments]), "environment": environment(), "answer": found}


def environment() -> dict[str, str]:
    """Return the versions that gave the figures."""
    packages = ("numpy", "scipy", "scikit-learn", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def evaluate_all(only: Sequence[str] = ()) -> None:
    """Run every case, or those named, and keep the answers; answers of cases that are gone are removed."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    cases = [case for case in ALL if not only or case.name in only]
    asked = [(case, target) for case in cases for target in case.targets]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress(*columns, console=Console(stderr=True)) as progress,
    ):
        task = progress.add_task("signals", total=len(asked) + 1)
        _keep(SIGNALS, {"command": "python benchmarks/results_signals.py", "answer": signals()})
        calibration = Path(folder) / CALIBRATION_A
        _run(["calibrate", *NODE_A, "--output", str(calibration)])
        progress.advance(task)
        with ThreadPoolExecutor(N_AT_ONCE) as pool:
            told = pool.map(lambda one: answered(*one, calibration), asked)
            for (case, target), answer in zip(asked, told, strict=True):
                _keep(RESULTS / case.file_name(target), answer)
                progress.update(task, advance=1, description=f"{case.name}, {target}")
    kept = {SIGNALS.name, *(case.file_name(target) for case in ALL for target in case.targets)}
    for path in RESULTS.glob("*.json"):
        if path.name not in kept:
            path.unlink()


def write_pages() -> None:
    """Write the pages and figures from the answers that are kept."""
    answers = {
        path.stem: json.loads(path.read_text())
        for path in (RESULTS / case.file_name(target) for case in ALL for target in case.targets)
    }
    found = json.loads(SIGNALS.read_text())["answer"]
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name, figure in figures(answers, found).items():
        (FIGURES / f"{name}.svg").write_text(results_figures.standalone(figure))
    (ROOT / "docs" / "results.md").write_text(page(answers, found))
    readme = (ROOT / "README.md").read_text()
    head, rest = readme.split("<!-- figures -->\n", 1)
    tail = rest.split("<!-- end of figures -->\n", 1)[1]
    block_text = f"<!-- figures -->\n{block(answers)}<!-- end of figures -->\n"
    (ROOT / "README.md").write_text(head + block_text + tail)
    (ROOT / "docs" / "img").mkdir(exist_ok=True)
    (ROOT / "docs" / "img" / "timeline.svg").write_text(picture())


def figures(answers: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Figure]:
    """Return every figure of docs/results.md by the name of its file."""
    own, executed = (answers[f"own-sweep-{target}"]["answer"] for target in ("algorithmic", "executed"))
    power = [row for node in OWN_NODES for row in found["power"][node]]
    curve = {
        f"{target} FLOP": answers[LEARNING.file_name(target)[:-5]]["answer"]["estimators"]
        for target in LEARNING.targets
    }
    cadence = {
        "calibrated at the same interval": _by_interval(answers, CADENCE),
        "calibrated at 10 Hz, another node": _by_interval(answers, CROSS_CADENCE),
    }
    draw = results_figures
    return {
        "pipeline": results_diagrams.pipeline("pipeline"),
        "three-input": draw.dots("three-input", own, ("linear-power-dram-nvlink",)),
        "fewer-inputs": draw.dots("fewer-inputs", own, ("linear-power", "linear-power-dram")),
        "networks": results_diagrams.networks("networks"),
        "both-networks": draw.dots("both-networks", own, ("mlp", "mlp-residual")),
        "five-estimators": draw.bars("five-estimators", answers[f"{FOLDS.name}-algorithmic"]["answer"]),
        "ours": draw.dots("ours", executed, ("pipe-cycles-calibrated", "fused")),
        "power-cap": draw.at_the_cap("power-cap", power, executed),
        "cadence": draw.curves("cadence", cadence, x="interval", x_label="Seconds between samples"),
        "learning-curve": draw.curves(
            "learning-curve", curve, x="n_calibration_workloads", x_label="Workloads calibrated on"
        ),
    }


def _by_interval(
    answers: Mapping[str, Any], cases: Mapping[float, Case]
) -> dict[str, list[dict[str, float]]]:
    """Return a line an estimator, executed FLOP."""
    found = {
        interval: answers[case.file_name("executed")[:-5]]["answer"]["estimators"]
        for interval, case in cases.items()
    }
    key = "median_abs_error_ratio"
    return {
        name: [{"interval": interval, key: rows[name][key]} for interval, rows in found.items()]
        for name in COMPARED
    }


def picture() -> str:
    """Return the time line of the hung job's recording as a picture that follows light and dark."""
    dataset = open_dataset(ROOT / HANG)
    start_ns = min(int(trace.time_ns[0]) for trace in dataset.recording.traces)
    recording = dataset.recording.within(start_ns, start_ns + PICTURE_SECONDS * 10**9)
    answers = witnessed(recording, detected_sessions(recording), shipped_calibration(dataset.chips))
    results = [SessionResult(one.session, one.estimates, None, one.findings) for one in answers]
    plate = timeline_plate(recording, results, ident="timeline")
    assert plate is not None  # noqa: S101  the recording has samples
    return results_figures.standalone(plate.figure)


def _run(arguments: list[str]) -> str:
    """Run one command and return what it printed; where it fails, say what it said and stop."""
    command = [COMMAND, *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)  # noqa: S603
    if ended.returncode:
        sys.exit(f"{ended.stderr}flopwitness {' '.join(arguments)}: exit status {ended.returncode}")
    return ended.stdout


def _keep(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    if "--pages" not in sys.argv[1:]:
        evaluate_all(sys.argv[sys.argv.index("--only") + 1 :] if "--only" in sys.argv else ())
    write_pages()
