"""Devices that look busy and do nothing: where, how long, and a sentence for the auditor."""

from collections.abc import Iterable

import numpy as np

from flopwitness.core.finding import Finding, Severity
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.detect.activity import DEFAULT_RULE, ActivityRule, ActivityWatch
from flopwitness.detect.states import OCCUPANCY, UTILISATION, State, sample_states
from flopwitness.detect.stretches import STALLED_NAME, Stretch

ALARM_SECONDS = 60.0
"""A stall this long is no slow partner: collectives of one job wait for milliseconds to seconds."""


def stalled_stretches(trace: Trace, rule: ActivityRule = DEFAULT_RULE) -> tuple[Stretch, ...]:
    """Return the stretches in which a device was held but neither computed nor moved memory.

    Parameters
    ----------
    trace : Trace
        Samples of one device; needs matrix-pipe, memory and power channels, and SM activity or utilisation.
    rule : ActivityRule
        ``stall_seconds`` is the shortest stretch that counts.

    Returns
    -------
    tuple of Stretch
        In time order, each named ``"stalled"``; the same that ``ActivityDetector`` finds.
    """
    if not len(trace):
        return ()
    watch = ActivityWatch(rule)
    found = [*watch.advance(trace), *watch.finish()]
    return tuple(stretch for stretch in found if stretch.name == STALLED_NAME)


def stall_findings(
    evidence: Session | Iterable[Trace], rule: ActivityRule = DEFAULT_RULE
) -> tuple[Finding, ...]:
    """Say in one sentence each which device was stalled, when and how that shows.

    Parameters
    ----------
    evidence : Session or iterable of Trace
        What to look through, a trace a device.
    rule : ActivityRule
        As in ``stalled_stretches``.

    Returns
    -------
    tuple of Finding
        Code ``"stalled"``; an alarm from ``ALARM_SECONDS`` on, a warning below.
    """
    traces = evidence.traces if isinstance(evidence, Session) else evidence
    return tuple(
        _finding(trace, stretch, rule) for trace in traces for stretch in stalled_stretches(trace, rule)
    )


def _finding(trace: Trace, stretch: Stretch, rule: ActivityRule) -> Finding:
    uuid, seconds = trace.device.uuid, stretch.duration_seconds
    inside = trace.within(stretch.start_ns + 1, stretch.stop_ns)
    return Finding(
        code=STALLED_NAME,
        message=(
            f"GPU {uuid} reads {_apparent_load(inside)} for {seconds:.0f} s "
            f"with tensor and DRAM activity at idle: no work was done{_exception(inside, rule)}"
        ),
        severity=Severity.ALARM if seconds >= ALARM_SECONDS else Severity.WARNING,
        subject=uuid,
        start_ns=stretch.start_ns,
        stop_ns=stretch.stop_ns,
    )


def _apparent_load(trace: Trace) -> str:
    """Name the signals that make it look busy, each at its median."""
    words = {UTILISATION: "utilisation", OCCUPANCY: "SM activity"}
    seen = {word: trace.column(name) for name, word in words.items() if np.isfinite(trace.column(name)).any()}
    return " and ".join(f"{100 * np.nanmedian(values):.0f} % {word}" for word, values in seen.items())


def _exception(trace: Trace, rule: ActivityRule) -> str:
    """Say how many samples cannot vouch for that; nothing where all can."""
    n_unseen = int((sample_states(trace, rule.levels) == State.UNSEEN).sum())
    return f", as far as seen ({n_unseen} of {len(trace)} samples are blank)" if n_unseen else ""
