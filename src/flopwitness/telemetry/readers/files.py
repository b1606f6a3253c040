"""A file from outside, whatever its format: pieces of traces, a recording, or figures about stretches."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.assembly import Ordering, file_findings, recording_of
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.known import recognised
from flopwitness.telemetry.readers.reading import Context, Format, Summary
from flopwitness.telemetry.readers.rules.judge import judged


@dataclass
class FileReader:
    """Reads one file; implements ``flopwitness.core.ports.Reader``.

    Parameters
    ----------
    given : Input
        The file.
    asked : Asked
        What the user adds to it.

    Attributes
    ----------
    context : Context
        The latest pass, with its notes.

    Raises
    ------
    BadInputError
        From every method: when the file cannot be used.
    """

    given: Input
    asked: Asked = NOTHING_ASKED

    def __post_init__(self) -> None:
        """Begin without notes."""
        self.context = Context(self.given, self.asked)

    @cached_property
    def format(self) -> Format:
        """What the content is."""
        return recognised(self.given)

    def read(self) -> Iterator[Trace]:
        """Yield pieces, those of one device in time order; a file larger than memory can be read so.

        Each piece is judged by itself: what only shows in a whole recording is left to that.
        """
        for piece in self._pieces():
            yield judged(piece, self.context.notes, is_relayed=self.format.is_relayed)

    def _pieces(self) -> Iterator[Trace]:
        self.context = Context(self.given, self.asked)
        if self.format.parse is None:
            expected = "samples"
            raise self.context.refused("", expected=expected, got=f"{self.format.title}, which holds none")
        ordering = Ordering(self.context.notes)
        for readings in self.format.parse(self.context):
            yield from ordering.pieces(readings)

    def findings(self) -> tuple[Finding, ...]:
        """Return what the latest pass lost or inferred, as far as it went."""
        return file_findings(self.context)

    @cached_property
    def recording(self) -> Recording:
        """All samples."""
        return self._recording()

    def _recording(self) -> Recording:
        pieces = tuple(self._pieces())  # first: it begins the pass whose notes the recording keeps
        return recording_of(self.context, self.format, pieces)

    @cached_property
    def summary(self) -> Summary:
        """The figures of a file that holds no samples."""
        self.context = Context(self.given, self.asked)
        if self.format.summarise is None:
            raise self.context.refused("", expected="figures about stretches", got=self.format.title)
        return self.format.summarise(self.context)


def read_file(path: Path, asked: Asked = NOTHING_ASKED) -> Recording | Summary:
    """Read a file whole, whatever its format."""
    reader = FileReader(Input.of(path), asked)
    return reader.recording if reader.format.parse else reader.summary
