"""``flopwitness read``: what a recording holds."""

import numpy as np
from numpy.typing import NDArray

from flopwitness.app.cli.options import AsJson, Chip, RecordingPath
from flopwitness.app.cli.output import (
    finding_object,
    percent,
    print_faults,
    print_findings,
    print_json,
    print_table,
    utc,
)
from flopwitness.app.faults import input_faults
from flopwitness.app.opening import DEFAULT_CHIP, open_recording
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace


def run(recording: RecordingPath, chip: Chip = DEFAULT_CHIP, json: AsJson = False) -> int:
    """Summarise a recording: GPUs, channels, sampling rate, gaps and faults."""
    found = open_recording(recording, chip=chip)
    if json:
        print_json(recording_object(found))
    else:
        print_table(f"{found.name} ({found.provenance.source})", COLUMNS, [_row(t) for t in found.traces])
        print_table("Channels", CHANNEL_COLUMNS, _channel_rows(found.traces))
        print_findings(found.findings)
    return print_faults(input_faults(recording, found))


COLUMNS = ("GPU", "chip", "samples", "start (UTC)", "duration (s)", "rate (Hz)", "longest step (s)", "gaps")
CHANNEL_COLUMNS = ("channel", "GPU", "missing", "minimum", "mean", "maximum")
GAP_STEPS = 5.0
"""A step longer than this many median steps is shown as a gap."""


def recording_object(recording: Recording) -> dict[str, object]:
    """Return the summary as JSON values."""
    provenance = recording.provenance
    return {
        "name": recording.name,
        "source": provenance.source,
        "driver": provenance.driver,
        "input_sha256": provenance.input_sha256,
        "devices": [
            _timing_object(trace) | {"channels": _channel_objects(trace)} for trace in recording.traces
        ],
        "findings": [finding_object(finding) for finding in recording.findings],
    }


def _timing_object(trace: Trace) -> dict[str, object]:
    steps = np.diff(trace.time_ns) / 1e9
    typical = float(np.median(steps)) if len(steps) else None
    return {
        "uuid": trace.device.uuid,
        "chip": trace.device.chip,
        "host": trace.device.host,
        "n_samples": len(trace),
        "start": utc(int(trace.time_ns[0])) if len(trace) else None,
        "end": utc(int(trace.time_ns[-1])) if len(trace) else None,
        "duration_seconds": float(steps.sum()),
        "rate_hertz": 1 / typical if typical else None,
        "longest_step_seconds": float(steps.max()) if len(steps) else None,
        "n_gaps": int((steps > GAP_STEPS * typical).sum()) if typical else 0,
    }


def _channel_objects(trace: Trace) -> dict[str, dict[str, object]]:
    return {name: _channel_object(column) for name, column in trace.channels.items()}


def _channel_object(column: NDArray[np.float64]) -> dict[str, object]:
    is_missing = np.isnan(column)
    n_missing = int(np.count_nonzero(is_missing))
    seen = column[~is_missing] if n_missing else column
    return {
        "n_missing": n_missing,
        "minimum": float(seen.min()) if len(seen) else None,
        "mean": float(seen.mean()) if len(seen) else None,
        "maximum": float(seen.max()) if len(seen) else None,
    }


def _row(trace: Trace) -> tuple[str, ...]:
    found = _timing_object(trace)
    rate, longest = found["rate_hertz"], found["longest_step_seconds"]
    return (
        trace.device.uuid,
        trace.device.chip,
        f"{len(trace):,}",
        str(found["start"] or "-"),
        f"{found['duration_seconds']:,.1f}",
        f"{rate:.2f}" if isinstance(rate, float) else "-",
        f"{longest:.2f}" if isinstance(longest, float) else "-",
        str(found["n_gaps"]),
    )


def _channel_rows(traces: tuple[Trace, ...]) -> list[tuple[str, ...]]:
    rows = []
    for name in dict.fromkeys(name for trace in traces for name in trace.channels):
        for trace in traces:
            if name in trace:
                found = _channel_object(trace[name])
                missing = percent(float(np.isnan(trace[name]).mean())) if len(trace) else "-"
                figures = tuple(
                    f"{value:.4g}" if isinstance(value := found[key], float) else "-"
                    for key in ("minimum", "mean", "maximum")
                )
                rows.append((name, trace.device.uuid, missing, *figures))
    return rows
