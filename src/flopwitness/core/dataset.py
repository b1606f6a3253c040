"""A recording together with what ran in it: what calibration and evaluation need."""

from dataclasses import dataclass, field

from flopwitness.core.recording import Recording
from flopwitness.core.session import Session, cut_session
from flopwitness.core.workload import Run


@dataclass(frozen=True, slots=True)
class Dataset:
    """One capture with ground truth.

    Attributes
    ----------
    recording : Recording
        What the hardware gave.
    runs : tuple of Run
        What ran, in time order.
    skipped : tuple of str
        One sentence for each run of the source that cannot be used, with the reason.
    """

    recording: Recording
    runs: tuple[Run, ...]
    skipped: tuple[str, ...] = field(default=())

    def session(self, run: Run) -> Session:
        """Return the samples of one run's stretch; its truth stays behind."""
        return cut_session(self.recording.traces, run.start_ns, run.stop_ns, name=run.config.name)

    @property
    def chips(self) -> frozenset[str]:
        """Names of the chips in the recording."""
        return frozenset(trace.device.chip for trace in self.recording.traces)
