"""What every file format must do: subclass, give a sample file, inherit the tests."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from typing import ClassVar

import pytest

from flopwitness.core.errors import BadInputError
from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.files import FileReader
from flopwitness.telemetry.readers.inputs import Input
from flopwitness.telemetry.readers.known import FORMATS, recognised
from flopwitness.telemetry.readers.reading import Format, Head, Summary

START_NS = 1_770_091_506_000_000_000
"""2026-02-03 04:05:06 UTC."""

NAMELESS = "some-upload"


def reader_of(data: bytes, asked: Asked = NOTHING_ASKED, *, block_bytes: int | None = None) -> FileReader:
    """Return a reader of bytes in memory, under a name that says nothing of the format."""
    given = Input.of_bytes(data, NAMELESS)
    return FileReader(replace_block(given, block_bytes), asked)


def replace_block(given: Input, block_bytes: int | None) -> Input:
    """Return an input that is read in blocks of another size."""
    return given if block_bytes is None else Input(given.path, given.opener, block_bytes)


def recording_of_bytes(data: bytes, asked: Asked = NOTHING_ASKED) -> Recording:
    """Read bytes as a recording."""
    return reader_of(data, asked).recording


def codes(findings: tuple[Finding, ...]) -> set[str]:
    """Return the codes of findings."""
    return {finding.code for finding in findings}


class FormatContract:
    """Set ``form``, ``sample`` and what the user adds; ``is_binary`` formats are not cut line by line."""

    form: ClassVar[Format]
    sample: ClassVar[bytes]
    asked: ClassVar[Asked] = NOTHING_ASKED
    is_binary: ClassVar[bool] = False
    needs_zone: ClassVar[bool] = False
    """Whether its stamps carry no zone, so that one must be given."""

    def answer(self, data: bytes, asked: Asked | None = None) -> Recording | Summary:
        """Read bytes, whichever way the format answers."""
        reader = reader_of(data, self.asked if asked is None else asked)
        return reader.recording if reader.format.parse else reader.summary

    def test_it_is_registered_and_known_by_content(self):
        """The name of a file says nothing; no other format claims it."""
        head = Head.of(self.sample)

        assert recognised(Input.of_bytes(self.sample, NAMELESS)) is self.form
        assert [form.name for form in FORMATS if form.claims(head)] == [self.form.name]

    def test_gzip_and_windows_line_ends_change_nothing(self):
        """The same content in another wrapping reads the same."""
        plain = self.answer(self.sample)

        packed = self.answer(gzip.compress(self.sample))

        assert _content(packed) == _content(plain)
        if not self.is_binary:
            assert _content(self.answer(self.sample.replace(b"\n", b"\r\n"))) == _content(plain)

    def test_reading_twice_gives_the_same(self):
        """A file is evidence: reading does not change what it says."""
        assert _content(self.answer(self.sample)) == _content(self.answer(self.sample))

    def test_a_naive_stamp_is_refused_without_a_zone(self):
        """Nobody's zone is guessed; the line says what is missing."""
        if not self.needs_zone:
            pytest.skip("its stamps carry a zone, or it has none")

        with pytest.raises(BadInputError, match="--tz"):
            self.answer(self.sample, replace(self.asked, zone=None))

    def test_the_zone_of_this_machine_changes_nothing(self, monkeypatch: pytest.MonkeyPatch):
        """The same bytes give the same instants in Tokyo."""
        here = _content(self.answer(self.sample))

        monkeypatch.setenv("TZ", "Asia/Tokyo")

        assert _content(self.answer(self.sample)) == here

    def test_a_file_cut_anywhere_is_read_or_refused_in_one_line(self):
        """A killed writer leaves half a line, or half a file: what is whole counts, nothing crashes."""
        step = max(len(self.sample) // 200, 1)
        for stop in range(0, len(self.sample), step):
            try:
                self.answer(self.sample[:stop])
            except BadInputError as error:
                assert "\n" not in str(error)  # noqa: PT017  every other error fails the test

    def test_a_cut_file_says_nothing_that_the_whole_one_does_not(self):
        """Samples of a cut file are samples of the whole one: half a number is no number."""
        if self.is_binary or self.form.parse is None:
            pytest.skip("no samples line by line")
        whole = _samples(self.answer(self.sample))
        step = max(len(self.sample) // 60, 1)
        for stop in range(step, len(self.sample), step):
            try:
                cut = self.answer(self.sample[:stop])
            except BadInputError:
                continue
            assert _samples(cut) <= whole

    def test_blocks_change_nothing(self):
        """A file read in small blocks gives the samples of one read at once."""
        if self.is_binary or self.form.parse is None:
            pytest.skip("read whole")
        whole = reader_of(self.sample, self.asked)

        small = reader_of(self.sample, self.asked, block_bytes=64)

        assert _by_stamp(small.read()) == _by_stamp(whole.read())


def _content(answer: Recording | Summary) -> object:
    if isinstance(answer, Summary):
        return answer.title, [dict(row) for row in answer.rows]
    return [(trace.device, trace.digest()) for trace in answer.traces]


def _samples(answer: Recording | Summary) -> set[tuple[object, ...]]:
    assert isinstance(answer, Recording)
    return _by_stamp(iter(answer.traces))


def _by_stamp(traces: Iterator[Trace]) -> set[tuple[object, ...]]:
    """Return every value that is there, with its device, instant and channel."""
    return {
        (trace.device.uuid, instant, name, value)
        for trace in traces
        for name, column in trace.channels.items()
        for instant, value in zip(trace.time_ns.tolist(), column.tolist(), strict=True)
        if value == value  # noqa: PLR0124  not NaN
    }


UTC_ASKED = Asked(zone=UTC)
