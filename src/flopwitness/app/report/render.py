"""One page of HTML from results: figures, tables and the sentences between them. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from matplotlib.figure import Figure

from flopwitness.app.report.calibration_tables import calibration_table
from flopwitness.app.report.canvas import Plate
from flopwitness.app.report.content import ReportContent
from flopwitness.app.report.evaluation_tables import (
    family_table,
    published_table,
    summary_table,
    workload_table,
)
from flopwitness.app.report.finding_tables import finding_table, severities
from flopwitness.app.report.glance import glance_table
from flopwitness.app.report.job_tables import job_table
from flopwitness.app.report.pages import filled
from flopwitness.app.report.plates import evaluation_plates
from flopwitness.app.report.published import SOURCE
from flopwitness.app.report.scores import IN_DISTRIBUTION, Scored, chosen, scored
from flopwitness.app.report.session_tables import device_table, method_table, session_table, session_targets
from flopwitness.app.report.table import Table
from flopwitness.app.report.timeline import timeline_plate
from flopwitness.core.recording import Recording
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration

TEMPLATE = "report.html.j2"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as it stands on the page: a number, words and the SVG that ``draw`` gave."""

    number: int
    ident: str
    heading: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Capture:
    """What the page shows of one recording.

    Attributes
    ----------
    recording : Recording
        Which one.
    devices : Table
        Its devices.
    drawing : Drawing or None
        Its time line; None where there is nothing to draw.
    tables : tuple of Table
        Its sessions.
    is_searched : bool
        Whether anybody looked for sessions: none found is not the same as none sought.
    is_calibrated_on : bool
        Whether the calibration was fitted on it, so that errors of its sessions say little.
    """

    recording: Recording
    devices: Table
    drawing: Drawing | None
    tables: tuple[Table, ...]
    is_searched: bool
    is_calibrated_on: bool


def render_report(content: ReportContent, *, draw: Callable[[Figure], str], rng: np.random.Generator) -> str:
    """Return one page of HTML that needs nothing else: no script, no other file, no network.

    Parameters
    ----------
    content : ReportContent
        What to show.
    draw : callable
        Turns a figure into an ``svg`` element, such as ``flopwitness.app.svg.inline_svg``; it must escape
        what the figure says.
    rng : numpy.random.Generator
        For the bootstrap of the medians. The same content and an equal generator give the same page.
    """
    results = scored(content.evaluations, rng=rng)
    numbers = count(1)
    drawings = [_drawing(next(numbers), plate, draw) for plate in evaluation_plates(results)]
    timelines = [
        timeline_plate(recording, content.sessions.get(recording.name, ()), ident=f"timeline-{place}")
        for place, recording in enumerate(content.recordings, start=1)
    ]
    captures = [
        _capture(content, recording, _drawing(next(numbers), plate, draw) if plate else None)
        for recording, plate in zip(content.recordings, timelines, strict=True)
    ]
    return filled(
        TEMPLATE,
        content=content,
        source=SOURCE,
        severities=severities(content),
        findings=finding_table(content),
        calibrations=_calibrations(content),
        drawings=drawings,
        captures=captures,
        **_evaluation_tables(results),
    )


def _drawing(number: int, plate: Plate, draw: Callable[[Figure], str]) -> Drawing:
    return Drawing(number, plate.ident, plate.heading, plate.caption, draw(plate.figure))


def _capture(content: ReportContent, recording: Recording, drawing: Drawing | None) -> Capture:
    results = content.sessions.get(recording.name, ())
    tables = [
        table
        for target in session_targets(results)
        for make in (session_table, job_table, method_table)
        if (table := make(recording, results, target)) is not None
    ]
    return Capture(
        recording=recording,
        devices=device_table(recording),
        drawing=drawing,
        tables=tuple(tables),
        is_searched=recording.name in content.sessions,
        is_calibrated_on=_is_calibrated_on(content.calibration, recording),
    )


def _is_calibrated_on(calibration: Calibration | None, recording: Recording) -> bool:
    if calibration is None:
        return False
    digest = recording.provenance.input_sha256
    return recording.name in calibration.data or (bool(digest) and digest in calibration.data.values())


def _evaluation_tables(results: tuple[Scored, ...]) -> dict[str, Sequence[Table]]:
    main = {target: chosen(results, target, IN_DISTRIBUTION) for target in Target}
    return {
        "summaries": [
            summary_table(results, target) for target, result in main.items() if result is not None
        ],
        "glances": [glance_table(results)] if results else [],
        "published": [published_table(results)] if results else [],
        "families": [family_table(result) for result in results],
        "workloads": [workload_table(result) for result in main.values() if result is not None],
    }


def _calibrations(content: ReportContent) -> list[Table]:
    if content.calibration is None:
        return []
    return [calibration_table(content.calibration, target) for target in content.calibration.fitted]
