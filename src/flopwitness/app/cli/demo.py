"""``flopwitness demo``: the main job on the recordings that come with the project."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from flopwitness.app.accounting import evidence_of_sources
from flopwitness.app.cli.evaluate import print_evaluation
from flopwitness.app.cli.options import Seed, Splits
from flopwitness.app.cli.output import data, print_findings, talk, watching
from flopwitness.app.cli.verdictlines import print_answer
from flopwitness.app.opening import DEFAULT_CHIP, bundled_datasets, open_dataset
from flopwitness.app.rulebook import open_rulebook
from flopwitness.app.verdicts import Question, answered
from flopwitness.storage.atomic import write_atomically

NAMES = ("h200x2-a", "h200x2-b", "h200x2-hang")
"""Calibrated on the first; tested on the second, another node; the third holds a deadlocked job."""

SCOPE = "h200x2-i"
"""Training, serving and other work, on a node that nothing was fitted on."""

RULES = ("eu-general-purpose", "california-sb53")

OutputFolder = Annotated[Path, typer.Option("--output", help="Folder for the report; made where missing.")]


def run(output: OutputFolder = Path("demo-output"), splits: Splits = 200, seed: Seed = 0) -> None:
    """Witness the bundled recordings of H200 GPUs: tables here, and a report that opens in a browser."""
    from flopwitness.app.report.render import render_report  # noqa: PLC0415  needs the research extra
    from flopwitness.app.reporting import ReportPlan, gathered  # noqa: PLC0415
    from flopwitness.app.svg import inline_svg  # noqa: PLC0415
    from flopwitness.evaluate.tables import evaluation_object  # noqa: PLC0415

    folder = bundled_datasets()
    opened = [open_dataset(folder / name) for name in NAMES]
    talk().print(f"{len(opened)} recordings of two H200s each; calibrating on {NAMES[0]} alone")
    content = gathered(
        opened, ReportPlan("Two nodes of H200s, and a job that hung", splits, seed), watch=watching
    )
    for evaluation in content.evaluations.values():
        print_evaluation(evaluation_object(evaluation, rng=np.random.default_rng(seed)))
    alarms = [
        finding
        for results in content.sessions.values()
        for result in results
        for finding in result.findings
        if finding.severity.value == "alarm"
    ]
    print_findings(alarms)
    page = render_report(content, draw=inline_svg, rng=np.random.default_rng(seed))
    output.mkdir(parents=True, exist_ok=True)
    write_atomically(output / "report.html", lambda out: out.write(page.encode()), replace=True)
    _weigh(folder / SCOPE, output)
    data().print(f"report: {output / 'report.html'}, scope: {output / 'scope.html'}")


def _weigh(recording: Path, output: Path) -> None:
    """Add up what a node took, weigh it against two rules, and write the page of that scope."""
    from flopwitness.app.report.scope_page import render_scope  # noqa: PLC0415  as above
    from flopwitness.app.scope_report import scope_content  # noqa: PLC0415
    from flopwitness.app.svg import inline_svg  # noqa: PLC0415

    book = open_rulebook(())
    evidence = evidence_of_sources([recording], None, calibration=None, chip=DEFAULT_CHIP)
    question = Question(thresholds=tuple(book.threshold(name) for name in RULES))
    answer = answered(evidence, question)
    print_answer(answer, None)
    page = render_scope(scope_content(evidence, answer, None), draw=inline_svg)
    write_atomically(output / "scope.html", lambda out: out.write(page.encode()), replace=True)
