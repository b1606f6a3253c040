"""``flopwitness report``: everything about some datasets on one page that opens offline."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from flopwitness.app.cli.options import CalibrationPath, Chip, DatasetPaths, Force, Seed, Splits
from flopwitness.app.cli.output import talk, watching
from flopwitness.app.opening import DEFAULT_CHIP, open_calibration, open_dataset
from flopwitness.storage.atomic import refuse_taken, write_atomically

Output = Annotated[Path, typer.Option("--output", help="The HTML file to write.")]
Title = Annotated[str, typer.Option("--title", help="Heading of the page.")]


def run(
    datasets: DatasetPaths,
    output: Output = Path("report.html"),
    title: Title = "Training compute, witnessed",
    calibration: CalibrationPath = None,
    splits: Splits = 200,
    seed: Seed = 0,
    chip: Chip = DEFAULT_CHIP,
    force: Force = False,
) -> None:
    """Write one HTML page: evaluations on the first dataset, tests on the others, sessions and time lines."""
    from flopwitness.app.report.render import render_report  # noqa: PLC0415  needs the research extra
    from flopwitness.app.reporting import ReportPlan, gathered  # noqa: PLC0415
    from flopwitness.app.svg import inline_svg  # noqa: PLC0415

    if not force:
        refuse_taken(output)  # before minutes of work, not after
    fitted = open_calibration(calibration) if calibration else None
    opened = [open_dataset(path, chip=chip) for path in datasets]
    content = gathered(opened, ReportPlan(title, splits, seed, fitted), watch=watching)
    page = render_report(content, draw=inline_svg, rng=np.random.default_rng(seed))
    write_atomically(output, lambda out: out.write(page.encode()), replace=force)
    talk().print(f"wrote {output} ({len(page) / 1e6:.1f} MB)")
