"""Recording CSVs made for tests."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from flopwitness.core.finding import Finding
from flopwitness.core.recording import Recording

HEADER = (
    "t,gpu,power_w,power_inst_w,energy_mj,util,mem_util,sm_mhz,mem_mhz,temp_c,throttle,nvl_tx_kib,nvl_rx_kib,"
    "gr,sm,occ,int,tensor,dfma,hmma,imma,dram,fp64,fp32,fp16,pcie_tx_mibs,pcie_rx_mibs,nvl_rx_mibs,nvl_tx_mibs"
)
COLUMNS = tuple(HEADER.split(","))

BUSY = (
    "1770091506.1000,0,640.200,655.100,5000120,100,55,1755,3201,61,4,1000,2000,"
    "99.1,81.0,22.5,3.1,44.2,0.0,44.2,0.0,37.0,0.0,5.1,0.2,1.5,2.5,900.0,800.0"
)
"""One row, in the order of the header."""


def row(**cells: object) -> str:
    """Return the busy row with some cells changed."""
    values = dict(zip(COLUMNS, BUSY.split(","), strict=True))
    return ",".join(str(cell) for cell in (values | cells).values())


def ticks(n_ticks: int, *, gpus: Sequence[int] = (0, 1), **cells: object) -> list[str]:
    """Return rows of all GPUs, ten times a second, each GPU 20 ms after the one before."""
    return [
        row(t=f"{1770091506 + tick / 10 + gpu / 50:.4f}", gpu=gpu, **cells)
        for tick in range(n_ticks)
        for gpu in gpus
    ]


def write(folder: Path, rows: Sequence[str], *, header: str = HEADER) -> Path:
    """Write a plain file."""
    path = folder / "capture.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def cut_gzip(folder: Path, rows: Sequence[str], *, keep: float) -> Path:
    """Write a gzip file and cut it off, as a killed recorder does."""
    data = gzip.compress("\n".join((HEADER, *rows, "")).encode())
    path = folder / "capture.csv.gz"
    path.write_bytes(data[: int(len(data) * keep)])
    return path


def codes(recording: Recording) -> Mapping[str, Finding]:
    """Return the findings by code, without the one that every file has."""
    return {finding.code: finding for finding in recording.findings if finding.code != "uuid-inferred"}
