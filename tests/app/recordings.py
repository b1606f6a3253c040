"""A small recorder's file with two GPUs and its list of runs, and every way to spoil it."""

import json
from collections.abc import Callable
from pathlib import Path

HEADER = (
    "t,gpu,power_w,power_inst_w,energy_mj,util,mem_util,sm_mhz,mem_mhz,temp_c,throttle,nvl_tx_kib,nvl_rx_kib,"
    "gr,sm,occ,int,tensor,dfma,hmma,imma,dram,fp64,fp32,fp16,pcie_tx_mibs,pcie_rx_mibs,nvl_rx_mibs,nvl_tx_mibs"
)
START_SECONDS = 1_795_000_000
N_TICKS = 120
BUSY = range(40, 80)
"""Ticks of a tenth of a second in which both GPUs work."""

Rows = list[list[str]]


def rows() -> Rows:
    """Return the cells of four seconds idle, four busy, four idle, on two GPUs."""
    made = []
    for tick in range(N_TICKS):
        for gpu in range(2):
            busy = tick in BUSY
            watts = 650.0 if busy else 80.0
            n_busy = min(max(tick - BUSY.start + 1, 0), len(BUSY))
            energy = 1000 * round(65.0 * n_busy + 8.0 * (tick + 1 - n_busy))
            share = "50.0" if busy else "0.0"
            cells = [f"{START_SECONDS + tick / 10:.4f}", str(gpu), f"{watts}", f"{watts}", str(energy)]
            cells += ["100" if busy else "0", "40" if busy else "0", "1700" if busy else "345", "3201", "50"]
            cells += ["4" if busy else "1", str(100_000 * n_busy), str(100_000 * n_busy)]
            cells += [share, share, "20.0" if busy else "0.0", "10.0" if busy else "0.0", share, "0.0", share]
            cells += ["0.0", "40.0" if busy else "0.0004", "0.0", "3.0" if busy else "0.0", "0.0"]
            cells += ["1.0", "1.0", "0.0", "0.0"]
            made.append(cells)
    return made


def runs() -> list[dict[str, object]]:
    """Return the one run of the file, with plain numbers that nothing derives."""
    return [
        {
            "name": "only",
            "family": "made",
            "t_start": START_SECONDS + 4.0,
            "t_end": START_SECONDS + 8.0,
            "n_gpus": 2,
            "total_tflop": 1500.0,
            "executed_tflop": 1400.0,
        }
    ]


def write_folder(folder: Path, spoil: Callable[[Rows], Rows] = lambda cells: cells) -> Path:
    """Write the samples, spoilt, and the runs into a folder; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([HEADER, *(",".join(cells) for cells in spoil(rows()))]) + "\n"
    (folder / "samples.csv").write_text(text)
    (folder / "runs.json").write_text(json.dumps(runs()))
    return folder


def with_cell(row: int, column: str, text: str) -> Callable[[Rows], Rows]:
    """Return what puts a text into one cell."""
    index = HEADER.split(",").index(column)

    def spoil(cells: Rows) -> Rows:
        cells[row][index] = text
        return cells

    return spoil


def unsorted_times(cells: Rows) -> Rows:
    """Swap two rows of one GPU."""
    cells[20], cells[60] = cells[60], cells[20]
    return cells


def repeated_row(cells: Rows) -> Rows:
    """Write one row twice."""
    return [*cells[:20], cells[20], *cells[20:]]


def without_second_gpu(cells: Rows) -> Rows:
    """Leave out every row of the second GPU."""
    return [row for row in cells if row[1] != "1"]


def second_gpu_lost(cells: Rows) -> Rows:
    """Let the second GPU stop answering half-way."""
    return [row for number, row in enumerate(cells) if row[1] != "1" or number < len(cells) // 2]


def text_in_power(cells: Rows) -> Rows:
    """Write words where every power should stand."""
    index = HEADER.split(",").index("power_w")
    return [[*row[:index], "high", *row[index + 1 :]] for row in cells]
