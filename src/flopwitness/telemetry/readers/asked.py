"""What a user may add to a file that does not say it itself; nothing here is ever guessed."""

from dataclasses import dataclass
from datetime import tzinfo


@dataclass(frozen=True, slots=True)
class Asked:
    """Answers to what a format leaves open.

    Attributes
    ----------
    zone : tzinfo or None
        Zone of stamps that carry none; None refuses them. The zone of this machine is never used.
    start_ns : int or None
        When the first sample was taken, for formats without an absolute time: UTC nanoseconds.
    period_seconds : float or None
        From sample to sample, for formats without any time.
    chip : str or None
        Chip of GPUs that the format does not name, as ``flopwitness.physics.chips`` has it.
    host : str
        The machine, where the format does not name it.
    name : str or None
        Name of the capture; that of the file where None.
    """

    zone: tzinfo | None = None
    start_ns: int | None = None
    period_seconds: float | None = None
    chip: str | None = None
    host: str = ""
    name: str | None = None


NOTHING_ASKED = Asked()
"""No answers: a file must say all itself."""
