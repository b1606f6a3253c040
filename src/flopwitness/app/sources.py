"""What ``watch`` watches: the GPUs of this machine, or a recording in their place."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from flopwitness.app.opening import open_recording
from flopwitness.app.recorder import Attended, Clocks, FoundSampler, live_provenance
from flopwitness.app.replay import ReplaySampler, replayed
from flopwitness.app.ticking import HostClock, Round, Ticker
from flopwitness.app.timeline import Timeline, boot_id
from flopwitness.core.finding import Finding
from flopwitness.storage.segments import SegmentsHeader


class LiveSource(AbstractContextManager["LiveSource"]):
    """The GPUs of this machine.

    Parameters
    ----------
    sampler : FoundSampler
        Asks them; closed at the end.
    clock : HostClock
        Tells the ticks, and when to stop.
    interval_seconds : float
        From tick to tick.
    say : callable
        Takes a line for people: a GPU is lost or back, the clock was set.

    Attributes
    ----------
    devices : tuple of Device
        What was found.
    provenance : Provenance
        Where the samples come from.
    clocks : Clocks
        Tell the instants that samples are stamped with.
    """

    def __init__(
        self,
        sampler: FoundSampler,
        clock: HostClock,
        *,
        interval_seconds: float,
        say: Callable[[str], object],
    ) -> None:
        self._sampler, self._clock, self._say = sampler, clock, say
        self._interval_seconds = interval_seconds
        self._timeline = Timeline(clock)
        self._parts: list[Ticker | Attended] = []
        self.devices = sampler.devices
        self.provenance = live_provenance(sampler, interval_seconds)
        self.clocks: Clocks = self._timeline

    def join(self, anchor: SegmentsHeader | None, *, floor_ns: int | None) -> None:
        """Go on where an earlier run stopped, as ``Timeline.join``; say where the clock was set meanwhile."""
        self._timeline.join(anchor, boot=boot_id(), floor_ns=floor_ns)
        for finding in self._timeline.findings():
            self._say(finding.message)

    def rounds(self, after_ns: Mapping[str, int]) -> Iterator[Round]:
        """Yield rounds after these instants until the clock is stopped."""
        ticker = Ticker(
            self._sampler,
            self._clock,
            interval_seconds=self._interval_seconds,
            after_ns={uuid: last_ns - self._timeline.shift_ns for uuid, last_ns in after_ns.items()},
        )
        attended = Attended(
            ticker, self._timeline, lost=lambda: self._sampler.lost, say=self._say, known=after_ns
        )
        self._parts = [ticker, attended]
        return iter(attended)

    def notes(self) -> tuple[Finding, ...]:
        """Return what should stand with each workload."""
        return self._timeline.findings()

    @property
    def n_missed(self) -> int:
        """Rounds that were missed so far."""
        return sum(part.n_missed for part in self._parts if isinstance(part, Ticker))

    @property
    def pci_uuids(self) -> tuple[str, ...]:
        """All GPUs by PCI address, as NVML numbers them; empty of another source, or where one is missing."""
        unheard = set(self._sampler.lost) - {device.uuid for device in self.devices}
        is_numbered = self._sampler.source.startswith("nvml") and not unheard
        return tuple(device.uuid for device in self.devices) if is_numbered else ()

    def findings(self) -> tuple[Finding, ...]:
        """Return what the recording should say of itself."""
        return tuple(finding for part in self._parts for finding in part.findings())

    def __exit__(self, *_: object) -> None:
        self._sampler.close()


class ReplaySource(AbstractContextManager["ReplaySource"]):
    """A recording in place of this machine; its instants are its own.

    Parameters
    ----------
    path : Path
        The recording.
    clock : HostClock
        Waits, and says when to stop.
    chip : str
        Of a recording that does not name it.
    speed : float
        As a multiple of the speed it was taken at; 0 never waits.

    Attributes
    ----------
    devices, provenance, clocks
        As of ``LiveSource``.
    n_missed : int
        0: what a recording missed, its findings say.
    """

    n_missed = 0

    def __init__(self, path: Path, clock: HostClock, *, chip: str, speed: float) -> None:
        self._clock, self._speed = clock, speed
        self._recording = open_recording(path, chip=chip)
        self.devices = tuple(trace.device for trace in self._recording.traces)
        self.provenance = self._recording.provenance
        self.clocks: Clocks = clock

    def join(self, anchor: SegmentsHeader | None, *, floor_ns: int | None) -> None:
        """Do nothing."""

    def rounds(self, after_ns: Mapping[str, int]) -> Iterator[Round]:
        """Yield the rounds after these instants."""
        sampler = ReplaySampler(self._recording, after_ns=after_ns)
        return replayed(sampler, self._clock, speed=self._speed)

    def notes(self) -> tuple[Finding, ...]:
        """Return nothing."""
        return ()

    def findings(self) -> tuple[Finding, ...]:
        """Return what was known of the recording."""
        return self._recording.findings

    def __exit__(self, *_: object) -> None:
        """Let go of nothing."""
