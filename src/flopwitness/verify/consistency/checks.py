"""Every consistency check at once: findings for people, deviations for whoever sets limits."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.session import Session
from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.activity import activity_deviations
from flopwitness.verify.consistency.blocks import blocks_of
from flopwitness.verify.consistency.clocks import clock_deviations
from flopwitness.verify.consistency.counters import counter_deviations
from flopwitness.verify.consistency.deviation import Deviation, worst
from flopwitness.verify.consistency.energy import energy_deviations
from flopwitness.verify.consistency.floors import floor_deviations
from flopwitness.verify.consistency.gaps import gap_deviations
from flopwitness.verify.consistency.identity import exchange_deviations, fit_deviations
from flopwitness.verify.consistency.lags import lag_deviations
from flopwitness.verify.consistency.load import load_deviations
from flopwitness.verify.consistency.repeats import clipped_deviations, frozen_deviations
from flopwitness.verify.consistency.replays import replay_deviations
from flopwitness.verify.consistency.state import ConsistencyState
from flopwitness.verify.consistency.traffic import traffic_deviations
from flopwitness.verify.consistency.unfamiliar import unfamiliar_deviations

Evidence = Recording | Session | tuple[Trace, ...]
NOTHING: Mapping[str, Trace] = MappingProxyType({})


def consistency_findings(
    evidence: Evidence, state: ConsistencyState | None = None, *, before: Mapping[str, Trace] = NOTHING
) -> tuple[Finding, ...]:
    """Say where signals disagree by more than they do on clean recordings.

    Parameters
    ----------
    evidence : Recording, Session or tuple of Trace
        What to look through, a trace a device. Half a minute with idle and load tells most.
    state : ConsistencyState or None
        Fitted constants; without them, or for another chip, the checks that need none are made.
    before : mapping of str to Trace
        Earlier samples by UUID, where they were kept: counters must go on from there.

    Returns
    -------
    tuple of Finding
        The worst of each check and device. They change no number.

    Raises
    ------
    UnknownChipError
        When a device names a chip that nobody knows.
    """
    found = [deviation for deviation in deviations(evidence, state, before=before) if deviation.score > 1.0]
    return tuple(deviation.finding() for deviation in found)


def deviations(
    evidence: Evidence, state: ConsistencyState | None = None, *, before: Mapping[str, Trace] = NOTHING
) -> tuple[Deviation, ...]:
    """Return the greatest deviation of each check and device, large or small; parameters as above."""
    traces = evidence if isinstance(evidence, tuple) else evidence.traces
    traces = tuple(trace for trace in traces if len(trace))
    every = [*_without_constants(traces, before)]
    if state is not None:
        same = tuple(trace for trace in traces if trace.device.chip == state.chip)
        every += _with_constants(same, state)
    return worst(every)


def _without_constants(traces: tuple[Trace, ...], before: Mapping[str, Trace]) -> Iterator[Deviation]:
    for trace in traces:
        yield from gap_deviations(trace)
        yield from counter_deviations(trace, before.get(trace.device.uuid))
        yield from energy_deviations(trace)
        yield from activity_deviations(trace)
        yield from clock_deviations(trace)
        yield from frozen_deviations(trace)
        yield from clipped_deviations(trace)
        yield from floor_deviations(trace)
    yield from replay_deviations(traces)
    yield from exchange_deviations(traces, before)


def _with_constants(traces: tuple[Trace, ...], state: ConsistencyState) -> Iterator[Deviation]:
    blocks = tuple(blocks_of(trace) for trace in traces)
    for trace, own in zip(traces, blocks, strict=True):
        yield from load_deviations(
            own, trace.device.uuid, power=state.power, matrix=state.matrix, limits=state.load_limits
        )
        yield from unfamiliar_deviations(own, trace.device.uuid, state.power)
        yield from traffic_deviations(own, trace.device.uuid, state.traffic_limits)
    yield from fit_deviations(blocks, tuple(trace.device.uuid for trace in traces), state.power)
    yield from lag_deviations(traces, state.lag_limits)
