"""A job as its scheduler has it: a set of GPUs and a stretch of time. Processes play no part."""

from dataclasses import dataclass

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.trace import NANOSECONDS_PER_SECOND

SURE_SECONDS = 1.0
"""A session ends where a sensor's mean over 1 s says so: an overlap below this may be none."""


@dataclass(frozen=True, slots=True)
class JobWindow:
    """That a job held some GPUs of one host for a time.

    Attributes
    ----------
    job_id : str
        What the scheduler calls it.
    uuids : tuple of str
        GPUs or slices, sorted.
    start_ns : int
        UTC nanoseconds.
    stop_ns : int or None
        None where nobody has said yet that it ended.
    host : str
        Empty where nobody said.

    Raises
    ------
    InvalidNounError
        When it has no name or no GPU, or stops before it starts.
    """

    job_id: str
    uuids: tuple[str, ...]
    start_ns: int
    stop_ns: int | None = None
    host: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no window of a job."""
        if not self.job_id or not self.uuids:
            raise InvalidNounError("a job's window needs a name and a GPU")
        if self.stop_ns is not None and self.stop_ns < self.start_ns:
            raise InvalidNounError(f"job {self.job_id} stops at {self.stop_ns}, before {self.start_ns}")

    def overlap_seconds(self, start_ns: int, stop_ns: int) -> float:
        """Return how long a stretch lies inside; 0 where it does not."""
        end_ns = stop_ns if self.stop_ns is None else min(self.stop_ns, stop_ns)
        return max(end_ns - max(self.start_ns, start_ns), 0) / NANOSECONDS_PER_SECOND

    def holds(self, start_ns: int, stop_ns: int) -> bool:
        """Say whether a stretch surely lies inside in part: for a second, or for half of itself."""
        length = (stop_ns - start_ns) / NANOSECONDS_PER_SECOND
        return self.overlap_seconds(start_ns, stop_ns) >= min(SURE_SECONDS, length / 2) > 0
