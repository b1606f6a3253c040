"""``nvidia-smi pmon``: processes, not samples."""

from contracts.format import FormatContract, codes, reader_of
from flopwitness.telemetry.readers.formats.nvidia_smi_pmon import FORMAT

SAMPLE = b"""\
# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command
# Idx           #    C/G      %      %      %      %      %      %    name
    0     105873     C     40     10      -      -      -      -    python3 train.py --fast
    1          -     -      -      -      -      -      -      -    -
    0     105873     C     60     20      -      -      -      -    python3 train.py --fast
"""


class TestNvidiaSmiPmon(FormatContract):
    """One process over two rounds, one GPU without any."""

    form = FORMAT
    sample = SAMPLE


def test_a_process_is_one_row_with_its_mean_utilisation():
    """A column of dashes is no answer, not 0."""
    summary = reader_of(SAMPLE).summary

    assert [dict(row) for row in summary.rows] == [
        {
            "gpu_index": 0,
            "pid": 105873,
            "type": "C",
            "command": "python3 train.py --fast",
            "n_samples": 2,
            "gpu_util_ratio": 0.5,
            "mem_util_ratio": 0.15000000000000002,
        }
    ]
    assert summary.findings == ()


def test_a_command_with_blanks_is_whole():
    """github.com/Breakend/experiment-impact-tracker/issues/36."""
    header = b"# gpu        pid  type    sm   mem   enc   dec   command\n"

    (row,) = reader_of(header + b"    0 105873 C 0 0 0 0 chrome --type=g\n").summary.rows

    assert (row["pid"], row["command"]) == (105873, "chrome --type=g")


def test_a_row_of_another_width_costs_itself():
    """It is counted."""
    summary = reader_of(SAMPLE + b"    0  12 C\n").summary

    assert len(summary.rows) == 1
    assert codes(summary.findings) == {"bad-row"}
