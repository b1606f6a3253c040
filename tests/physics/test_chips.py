"""The table of chips: complete, sourced, found by name, and in agreement with what NVIDIA prints."""

from dataclasses import replace

import pytest

from flopwitness.core.errors import FlopWitnessError, InvalidNounError
from flopwitness.physics.chips import CHIPS, Chip, UnknownChipError, chip_named
from flopwitness.physics.formats import Pipe, Precision
from flopwitness.physics.pipes import peak_flop_per_second

H200 = CHIPS["H200-SXM"]

SHEET_TFLOP_PER_SECOND = [
    ("V100-SXM2", Precision.FP16, Pipe.HMMA, False, 125),
    ("V100-SXM2", Precision.FP32, Pipe.FP32, False, 15.7),
    ("V100-SXM2", Precision.FP64, Pipe.FP64, False, 7.8),
    *[
        (name, precision, pipe, sparse, peak)
        for name in ("A100-SXM", "A100-PCIe")
        for precision, pipe, sparse, peak in (
            (Precision.BF16, Pipe.HMMA, False, 312),
            (Precision.FP16, Pipe.HMMA, True, 624),
            (Precision.TF32, Pipe.HMMA, False, 156),
            (Precision.TF32, Pipe.HMMA, True, 312),
            (Precision.INT8, Pipe.IMMA, False, 624),
            (Precision.INT4, Pipe.IMMA, False, 1248),
            (Precision.FP64, Pipe.DMMA, False, 19.5),
            (Precision.FP64, Pipe.FP64, False, 9.7),
            (Precision.FP32, Pipe.FP32, False, 19.5),
            (Precision.FP16, Pipe.FP16, False, 78),
            (Precision.BF16, Pipe.FP16, False, 39),
        )
    ],
    *[
        (name, precision, pipe, sparse, peak)
        for name in ("H100-SXM", "H200-SXM")
        for precision, pipe, sparse, peak in (
            (Precision.BF16, Pipe.HMMA, False, 989.4),
            (Precision.BF16, Pipe.HMMA, True, 1979),
            (Precision.TF32, Pipe.HMMA, False, 494.7),
            (Precision.FP8, Pipe.HMMA, False, 1978.9),
            (Precision.FP8, Pipe.HMMA, True, 3958),
            (Precision.INT8, Pipe.IMMA, True, 3958),
            (Precision.FP64, Pipe.DMMA, False, 67),
            (Precision.FP64, Pipe.FP64, False, 33.5),
            (Precision.FP32, Pipe.FP32, False, 67),
            (Precision.FP16, Pipe.FP16, False, 133.8),
        )
    ],
    ("H100-PCIe", Precision.BF16, Pipe.HMMA, False, 756),
    ("H100-PCIe", Precision.FP8, Pipe.HMMA, True, 3026),
    ("H100-PCIe", Precision.FP64, Pipe.DMMA, False, 51.2),
    ("H100-PCIe", Precision.FP32, Pipe.FP32, False, 51.2),
    ("B200", Precision.BF16, Pipe.HMMA, False, 2250),
    ("B200", Precision.FP8, Pipe.HMMA, False, 4500),
    ("B200", Precision.FP4, Pipe.HMMA, True, 18000),
    ("B200", Precision.INT8, Pipe.IMMA, True, 9000),
    ("B200", Precision.FP64, Pipe.DMMA, False, 37),
    ("B200", Precision.FP32, Pipe.FP32, False, 75),
    ("L40S", Precision.BF16, Pipe.HMMA, False, 362.05),
    ("L40S", Precision.BF16, Pipe.HMMA, True, 733),
    ("L40S", Precision.TF32, Pipe.HMMA, False, 183),
    ("L40S", Precision.FP8, Pipe.HMMA, True, 1466),
    ("L40S", Precision.INT8, Pipe.IMMA, False, 733),
    ("L40S", Precision.FP32, Pipe.FP32, False, 91.6),
    ("RTX-4090", Precision.FP16, Pipe.HMMA, False, 165.2),
    ("RTX-4090", Precision.FP16_NARROW, Pipe.HMMA, False, 330.3),
    ("RTX-4090", Precision.FP8, Pipe.HMMA, False, 330.3),
    ("RTX-4090", Precision.FP8_NARROW, Pipe.HMMA, False, 660.6),
    ("RTX-4090", Precision.TF32, Pipe.HMMA, False, 82.6),
    ("RTX-4090", Precision.INT8, Pipe.IMMA, False, 660.6),
    ("RTX-4090", Precision.INT4, Pipe.IMMA, True, 2642.4),
    ("RTX-4090", Precision.FP32, Pipe.FP32, False, 82.6),
    ("Jetson-Orin-Nano", Precision.INT8, Pipe.IMMA, True, 67),
    ("Jetson-Orin-Nano", Precision.INT8, Pipe.IMMA, False, 33),
    ("Radeon-Pro-W7900", Precision.FP32, Pipe.FP32, False, 61.3),
    ("Radeon-Pro-W7900", Precision.FP16, Pipe.HMMA, False, 122.6),
    ("Radeon-Pro-W7900", Precision.FP16, Pipe.HMMA, True, 122.6),
    ("Radeon-Pro-W7900", Precision.FP64, Pipe.FP64, False, 1.92),
]
"""What data sheets and white papers print. Left out: figures they round by more than 1.5 %."""


@pytest.mark.parametrize(("name", "precision", "pipe", "sparse", "sheet"), SHEET_TFLOP_PER_SECOND)
def test_peaks_agree_with_the_data_sheet(
    name: str, precision: Precision, pipe: Pipe, sparse: bool, sheet: float
) -> None:
    """SMs x rate x the sheet's clock gives the sheet's peak within 1.5 %."""
    peak = peak_flop_per_second(CHIPS[name], precision, sparse=sparse, pipe=pipe)

    assert peak / 1e12 == pytest.approx(sheet, rel=0.015)


@pytest.mark.parametrize(
    ("printed", "canonical"),
    [
        ("NVIDIA H200", "H200-SXM"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM"),
        ("NVIDIA H100 PCIe", "H100-PCIe"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM"),
        ("A100-SXM4-40GB", "A100-SXM"),
        ("NVIDIA A100 80GB PCIe", "A100-PCIe"),
        ("NVIDIA A100-PCIE-40GB", "A100-PCIe"),
        ("Tesla V100-SXM2-16GB", "V100-SXM2"),
        ("NVIDIA Tesla V100-SXM2-32GB", "V100-SXM2"),
        ("NVIDIA B200", "B200"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090"),
        ("GeForce RTX 4090", "RTX-4090"),
        ("NVIDIA Jetson Orin Nano Developer Kit", "Jetson-Orin-Nano"),
        ("AMD Radeon Pro W7900", "Radeon-Pro-W7900"),
        ("  nvidia_h200 ", "H200-SXM"),
    ],
)
def test_product_names_find_their_chip(printed: str, canonical: str) -> None:
    """Names as NVML prints them, whatever their case, brand and hyphens."""
    assert chip_named(printed).name == canonical


@pytest.mark.parametrize("name", CHIPS)
def test_a_chip_is_found_by_each_of_its_own_names(name: str) -> None:
    """No two chips share a name: each name leads back."""
    chip = CHIPS[name]

    assert {chip_named(alias) for alias in (name, *chip.product_names)} == {chip}


@pytest.mark.parametrize(
    "printed",
    [
        "NVIDIA H100 NVL",
        "NVIDIA H200 NVL",
        "NVIDIA GH200 480GB",
        "Tesla V100-SXM3-32GB",
        "NVIDIA A100-SXM-64GB",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA H200 MIG 1g.18gb",
        "AMD Instinct MI300X",
        "unknown",
        "",
    ],
)
def test_a_stranger_is_refused_in_one_line(printed: str) -> None:
    """A product with other figures is not taken for its neighbour; the message lists what is known."""
    with pytest.raises(UnknownChipError) as refusal:
        chip_named(printed)

    message = str(refusal.value)
    assert isinstance(refusal.value, FlopWitnessError)
    assert message.startswith(f"unknown chip {printed!r}")
    assert all(name in message for name in CHIPS)
    assert "\n" not in message


def test_the_table_is_keyed_by_name_and_sourced() -> None:
    """Every row has its own name as key, and says where it is from."""
    assert {name: chip.name for name, chip in CHIPS.items()} == {name: name for name in CHIPS}
    assert all(chip.source.split(", ")[0] in {"NVIDIA", "AMD"} for chip in CHIPS.values())


def test_the_clock_of_a_ceiling_is_that_of_the_driver() -> None:
    """An H200 may run at 1,980 MHz although its sheet quotes tensor peaks at 1,830."""
    assert (H200.boost_clock_hertz, H200.datasheet_clock_hertz) == (1.98e9, 1.83e9)


def test_memory_holds_what_the_driver_reports() -> None:
    """Sheets call 2**30 bytes a GB: 81,559 MiB on an H100, 143,771 on an H200."""
    reported = {"H100-SXM": 81_559, "H200-SXM": 143_771, "RTX-4090": 24_564}

    assert all(CHIPS[name].memory_bytes >= mebibytes * 2**20 for name, mebibytes in reported.items())


def test_rates_cannot_be_written_to() -> None:
    """A chip is a value: its rates are copied and read-only."""
    mine = {(Pipe.HMMA, Precision.BF16): 4096}

    chip = replace(H200, flop_per_cycle_per_sm=mine)
    mine[Pipe.HMMA, Precision.BF16] = 1

    assert chip.flop_per_cycle_per_sm[Pipe.HMMA, Precision.BF16] == 4096
    with pytest.raises(TypeError):
        chip.flop_per_cycle_per_sm[Pipe.HMMA, Precision.BF16] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    "change",
    [
        {"n_sm": 0},
        {"power_limit_watts": -1.0},
        {"memory_bytes": 0},
        {"memory_bandwidth_bytes_per_second": float("nan")},
        {"nvlink_bytes_per_second": -1.0},
        {"datasheet_clock_hertz": 2.5e9},
        {"datasheet_vector_clock_hertz": 0.0},
        {"boost_clock_hertz": float("nan")},
        {"flop_per_cycle_per_sm": {}},
        {"flop_per_cycle_per_sm": {(Pipe.HMMA, Precision.BF16): 0}},
        {"architecture": "Hoper"},
    ],
)
def test_an_impossible_chip_is_refused(change: dict[str, object]) -> None:
    """A chip checks itself."""
    with pytest.raises(InvalidNounError, match="H200-SXM"):
        replace(H200, **change)  # type: ignore[arg-type]


def test_a_chip_needs_no_nvlink() -> None:
    """Cards without links say 0.0: known to be none, not unknown."""
    assert isinstance(CHIPS["L40S"], Chip)
    assert CHIPS["L40S"].nvlink_bytes_per_second == 0.0
