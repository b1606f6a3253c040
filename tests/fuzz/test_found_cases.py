"""What fuzzing found, each once: the smallest file that showed it."""

import gzip
from datetime import UTC

import pytest

from contracts.format import reader_of
from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.json_text import number_of
from fuzz.laws import values_of

LOG = b"timestamp,index,power.draw [W],utilization.gpu [%]\n2026/02/03 04:05:06.789, 0, 412.10 W, 97 %\n"
IN_UTC = Asked(zone=UTC)


def read(data: bytes, block_bytes: int | None = None) -> set[tuple[object, ...]]:
    """Return every value of a file."""
    return values_of(reader_of(data, IN_UTC, block_bytes=block_bytes).recording)


@pytest.mark.parametrize("n_zeros", [1, 9, 5000])
@pytest.mark.parametrize("block_bytes", [16, 64, 1000])
def test_zero_padding_behind_a_gzip_stream_is_passed_over_in_any_blocks(n_zeros: int, block_bytes: int):
    """Padding that lay across two reads was taken for the start of another member."""
    packed = gzip.compress(LOG, mtime=0) + b"\0" * n_zeros

    assert read(packed, block_bytes) == read(LOG)


@pytest.mark.parametrize("cell", [b"5e-324", b"1e400", b"-nan", b"1" * 60, b"1e-0000000005"])
def test_a_cell_reads_the_same_whatever_stands_beside_it(cell: bytes):
    """A column with one odd cell goes another way through the parser than one of plain numbers."""
    alone = LOG.replace(b"97 %", cell)
    beside = alone + b"2026/02/03 04:05:07.789, 0, 412.10 W, x\n"

    kept = {value for value in read(beside) if value[1] == 1_770_091_506_789_000_000}

    assert kept == read(alone)


def test_a_stamp_past_any_clock_costs_its_row():
    """Its microseconds overflow a float64."""
    log = b"timestamp,phase,sys_power_w\n1e305,idle,500\n1770091506.0,idle,600\n"

    assert {value[-1] for value in read(log)} == {600.0}


def test_an_interval_past_any_clock_is_no_interval():
    """Minutes that overflow as seconds."""
    document = b'{"PowerControl": [{"PowerConsumedWatts": 5, "PowerMetrics": {"IntervalInMin": 1e308}}]}'

    (row,) = reader_of(document).summary.rows

    assert row["interval_seconds"] is None


def test_json_nested_without_end_is_refused():
    """The parser's recursion ends in one line, not in a traceback."""
    for document in (b'{"PowerControl": ' + b"[" * 100_000, b'{"PowerControl": ' + b"9" * 10_000 + b"}"):
        with pytest.raises(BadInputError, match="JSON"):
            _ = reader_of(document).summary


def test_bytes_that_are_no_text_do_not_change_how_a_block_is_read():
    """Each becomes three bytes, and a block grew past the size that the parser was told."""
    rows = b"2026/02/03 04:05:07.789, 0, 400.00 W, 98 %\n"
    log = LOG + b"2026/02/03 \x80" + b"\x80" * 200 + b", 0, 1 W, 1 %\n" + rows

    assert read(log, 64) == read(log) == read(LOG + rows)


def test_a_cut_gzip_stream_gives_the_same_in_any_blocks():
    """What the decompressor held back when its input ended was lost."""
    packed = gzip.compress(LOG * 40, mtime=0)

    for n_missing in (1, 8, 9, 12):
        cut = packed[:-n_missing]
        assert read(cut, 16) == read(cut, 64) == read(cut)


def test_a_finding_has_one_line_whatever_stands_in_a_name():
    """A UUID with a line break in it is repeated in messages."""
    labels = b'{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"GPU-%s"},'
    series = labels + b'"values":[1,2],"timestamps":[%s]}\n'
    log = series % (b"a\\nb", b"1770091506100,1770091507100") + series % (
        b"c",
        b"1770091506100,1770091999100",
    )

    findings = reader_of(log).recording.findings

    assert [found.message for found in findings if len(found.message.splitlines()) > 1] == []


def test_half_a_surrogate_pair_in_a_name_is_carried():
    """JSON may escape what UTF-8 cannot hold; the digest of a recording could not be made."""
    labels = b'{"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","UUID":"\\ud800"},'
    series = labels + b'"values":[1],"timestamps":[1770091506100]}\n'

    (trace,) = reader_of(series).recording.traces

    assert (trace.device.uuid, len(trace.digest())) == ("?", 64)


def test_a_lone_quote_does_not_swallow_the_lines_behind_it():
    """It costs its own row at most, in blocks of any size."""
    log = (
        b"_timestamp,_runtime,system.gpu.0.powerWatts,system.gpu.0.smClock\n"
        b'1770091506.1,1.0,201.0,1755\n1770091507.1,2.0,",\n1770091521.1,16.0,202.0,1740\n'
    )

    watts = {value[-1] for value in read(log) if value[2] == "power_watts"}

    assert watts == {201.0, 202.0}
    assert read(log, 64) == read(log)


def test_one_line_with_a_stamp_does_not_change_the_clock_of_all():
    """A blank inside a value looks like a stamp behind it."""
    line = b'DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-aaaa"} 412.1\n'
    asked = Asked(start_ns=1_770_091_506_000_000_000, period_seconds=10.0)

    values = values_of(reader_of(line + line.replace(b"412.1", b"4\t3.1") + line, asked).recording)

    assert {instant for _, instant, _, _ in values} >= {1_770_091_506_000_000_000, 1_770_091_526_000_000_000}


def test_a_list_of_clocks_with_a_hole_has_no_clock():
    """The first of them, 0 for a part that is off, is not the clock of the part that works."""
    line = b"02-03-2026 04:05:06 RAM 9000/60000MB GR3D_FREQ 72%@[0,NaN] VDD_GPU_SOC 2800mW/2650mW\n"

    assert {value[2] for value in read(line)} == {
        "gpu_util_ratio",
        "memory_used_bytes",
        "power_instant_watts",
    }


def test_a_word_that_arrow_takes_for_no_number_is_none():
    """``nan(1)`` is what C's ``printf`` may write."""
    assert number_of("nan(1)") is None
