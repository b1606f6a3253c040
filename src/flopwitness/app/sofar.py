"""FLOP of work that has not ended: sums that grow batch by batch, with the bounds of the calibrated pipe sum.

The full estimate comes when the workload is over; the pipe sum costs a multiplication.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from flopwitness.app.finding_workloads import WAIT_SECONDS, WorkloadFinder
from flopwitness.app.tally import Summed, added
from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError
from flopwitness.core.estimate import Estimate
from flopwitness.core.trace import NANOSECONDS_PER_SECOND
from flopwitness.core.workload import Target
from flopwitness.estimate.calibration import Calibration
from flopwitness.estimate.estimating import estimated_all
from flopwitness.estimate.features.row import SessionFeatures

SHOWN = ("fused", "pipe-cycles-calibrated", "linear-power")
"""Finished workloads count with the first of these that gave an estimate."""

CALIBRATED = "pipe-cycles-calibrated"
"""What open work counts with."""

TOGETHER_NS = round(WAIT_SECONDS * NANOSECONDS_PER_SECOND)
"""Open work of several devices is shown as one where it began this close together: ranks start together.

How it is told apart in the end depends on how it ends (``WorkloadFinder``).
"""


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What one device has done since its work began.

    Attributes
    ----------
    device : Device
        Whose work it is.
    sums : Summed
        From its start to the last sample, for an idle power of 0.
    channels : tuple of str
        That the device ever offered, sorted.
    """

    device: Device
    sums: Summed
    channels: tuple[str, ...]


class SoFar:
    """Follows the open work of each device.

    Parameters
    ----------
    step_seconds : float
        Samples are added once they span this: adding them costs milliseconds a device. The sums say up to
        when they go.
    """

    def __init__(self, *, step_seconds: float = 0.0) -> None:
        self._step_ns = round(step_seconds * NANOSECONDS_PER_SECOND)
        self._open: dict[str, OpenWork] = {}

    def advance(self, finder: WorkloadFinder, uuid: str) -> OpenWork | None:
        """Take a device's latest samples; return its open work, None where there is none."""
        tally, since_ns = finder.tallies[uuid], finder.open_since_ns(uuid)
        if since_ns is None:
            self._open.pop(uuid, None)
            return None
        before = self._open.get(uuid)
        if before is None or before.sums.start_ns != since_ns:
            sums = tally.features(since_ns, tally.last_ns)
        elif tally.last_ns - before.sums.stop_ns > self._step_ns:
            sums = added([before.sums, tally.features(before.sums.stop_ns, tally.last_ns)])
        else:
            return before
        self._open[uuid] = OpenWork(tally.device, sums, tuple(sorted(tally.channels)))
        return self._open[uuid]

    def close(self, finder: WorkloadFinder) -> None:
        """Forget the devices that are at no work any more."""
        for uuid in [uuid for uuid in self._open if finder.open_since_ns(uuid) is None]:
            del self._open[uuid]

    def groups(self) -> tuple[tuple[OpenWork, ...], ...]:
        """Return open work that began together, the earliest first."""
        groups: list[list[OpenWork]] = []
        for work in sorted(self._open.values(), key=lambda work: (work.sums.start_ns, work.device.uuid)):
            if not groups or work.sums.start_ns - groups[-1][-1].sums.start_ns > TOGETHER_NS:
                groups.append([])
            groups[-1].append(work)
        return tuple(map(tuple, groups))


def flop_so_far(works: Sequence[OpenWork], calibration: Calibration) -> Mapping[Target, Estimate]:
    """Return the calibrated pipe sum of open work for each target that it is known for.

    Bounds are those that the calibration holds for finished workloads, opened for unobserved time as theirs
    are. A target is absent where signals are missing or the calibration is for other chips.
    """
    features = _features(works)
    found = {}
    for target, by_name in calibration.fitted.items():
        narrow = replace(
            calibration, fitted={target: {name: by_name[name] for name in (CALIBRATED,) if name in by_name}}
        )
        try:
            answer = estimated_all([features], narrow, target)[0]
        except FlopWitnessError:
            continue
        if CALIBRATED in answer.estimates:
            found[target] = answer.estimates[CALIBRATED]
    return MappingProxyType(found)


def shown_estimate(estimates: Mapping[str, Estimate]) -> Estimate | None:
    """Return the estimate that a finished workload counts with; None where there is none."""
    return next((estimates[name] for name in SHOWN if name in estimates), None)


def _features(works: Iterable[OpenWork]) -> SessionFeatures:
    """Add up devices, as ``WorkloadFinder`` does at the end."""
    found = tuple(works)
    rows = [work.sums for work in found]
    values = {name: sum(row.values[name] for row in rows) for name in rows[0].values}
    spans = [row.stop_ns for row in rows], [row.start_ns for row in rows]
    values["duration_seconds"] = (max(spans[0]) - min(spans[1])) / NANOSECONDS_PER_SECOND
    shared = set.intersection(*(set(work.channels) for work in found))
    return SessionFeatures(
        MappingProxyType(values),
        tuple(sorted(shared)),
        tuple(work.device.chip for work in found),
        len(found),
    )
