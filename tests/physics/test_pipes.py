"""Pipes, peaks and ceilings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwitness.core.channels import PIPE_CHANNELS
from flopwitness.core.errors import FlopWitnessError
from flopwitness.physics.chips import CHIPS, Chip
from flopwitness.physics.formats import TENSOR_CHANNEL, TENSOR_PIPES, WATCHED_BY, Pipe, Precision
from flopwitness.physics.pipes import (
    UnsupportedFormatError,
    active_flop,
    ceiling_flop,
    flop_per_cycle_per_sm,
    peak_flop_per_second,
    summed_flop_per_cycle_per_sm,
    widest_flop_per_cycle_per_sm,
)

H100 = CHIPS["H100-SXM"]
H200 = CHIPS["H200-SXM"]
V100 = CHIPS["V100-SXM2"]

EVERY_CHIP = pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
STEPS = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 3e9), st.floats(0, 1e4)), min_size=1, max_size=20
).map(lambda steps: tuple(list(column) for column in zip(*steps, strict=True)))


def test_every_pipe_is_watched_and_every_channel_watches() -> None:
    """The pipes' channels and the tensor umbrella are exactly the pipe channels that exist."""
    watching = {channel for channels in WATCHED_BY.values() for channel in channels}

    assert set(WATCHED_BY) == set(Pipe)
    assert watching | {TENSOR_CHANNEL} == set(PIPE_CHANNELS)


def test_a_known_peak_gives_the_known_utilisation() -> None:
    """494.5 TFLOP/s of bf16 on an H100 SXM is half of its dense peak; the sparse one would halve that."""
    achieved_flop_per_second = 494.5e12

    mfu_ratio = achieved_flop_per_second / peak_flop_per_second(H100, Precision.BF16)
    halved_ratio = achieved_flop_per_second / peak_flop_per_second(H100, Precision.BF16, sparse=True)

    assert (round(mfu_ratio, 2), round(halved_ratio, 2)) == (0.50, 0.25)


def test_cycles_weigh_by_their_own_clock() -> None:
    """Half busy for a second at 1,980 MHz is 5.74 times half busy at 345 MHz, not as much."""
    fast, slow = (
        active_flop(132, 4096, active_ratio=[0.5], sm_clock_hertz=[clock], step_seconds=[1.0])
        for clock in (1.98e9, 0.345e9)
    )

    assert round(fast / slow, 2) == 5.74


@pytest.mark.parametrize(
    ("precision", "rates"),
    [
        (Precision.TF32, (2048, 4096)),
        (Precision.BF16, (4096, 8192)),
        (Precision.FP8, (8192, 16384)),
        (Precision.INT8, (8192, 16384)),
        (Precision.FP64, (256, 256)),
        (Precision.FP32, (256, 256)),
    ],
)
def test_dense_and_sparse_are_columns_apart(precision: Precision, rates: tuple[int, int]) -> None:
    """Dense by default; 2:4 sparsity doubles low-precision tensor formats and nothing else."""
    actual = tuple(flop_per_cycle_per_sm(H200, precision, sparse=sparse) for sparse in (False, True))

    assert actual == rates


def test_a_chip_without_sparsity_has_one_column() -> None:
    """Volta's tensor cores know no 2:4 sparsity."""
    dense, sparse = (flop_per_cycle_per_sm(V100, Precision.FP16, sparse=sparse) for sparse in (False, True))

    assert dense == sparse == 1024


def test_a_format_without_a_pipe_named_runs_on_its_fastest() -> None:
    """FP64 on Hopper has a tensor pipe at twice the plain one."""
    rates = [flop_per_cycle_per_sm(H200, Precision.FP64, pipe=pipe) for pipe in (None, Pipe.DMMA, Pipe.FP64)]

    assert rates == [256, 256, 128]


@pytest.mark.parametrize(
    ("chip", "precision", "pipe", "message"),
    [
        (V100, Precision.BF16, None, "V100-SXM2 has no bf16"),
        (CHIPS["A100-SXM"], Precision.FP8, None, "A100-SXM has no fp8"),
        (H200, Precision.FP4, None, "H200-SXM has no fp4"),
        (H200, Precision.BF16, Pipe.IMMA, "H200-SXM has no bf16 on its imma pipe"),
    ],
)
def test_a_format_that_the_chip_lacks_is_refused(
    chip: Chip, precision: Precision, pipe: Pipe | None, message: str
) -> None:
    """No rate is not a rate of 0: a utilisation against it would mean nothing."""
    with pytest.raises(UnsupportedFormatError) as refusal:
        peak_flop_per_second(chip, precision, pipe=pipe)

    assert str(refusal.value) == message
    assert isinstance(refusal.value, FlopWitnessError)


@EVERY_CHIP
@pytest.mark.parametrize("sparse", [False, True])
def test_no_format_is_wider_than_the_widest(chip: Chip, *, sparse: bool) -> None:
    """With the format unknown the bound holds for each that the chip has."""
    widest = widest_flop_per_cycle_per_sm(chip, sparse=sparse)
    each = [
        flop_per_cycle_per_sm(chip, precision, sparse=sparse, pipe=pipe)
        for pipe, precision in chip.flop_per_cycle_per_sm
    ]

    assert widest == max(each)


@EVERY_CHIP
def test_the_sum_holds_every_pipe_at_once(chip: Chip) -> None:
    """A tensor pipe and all plain ones, each in its widest format, stay below the summed rate."""
    plain = [
        max(rate for (owner, _), rate in chip.flop_per_cycle_per_sm.items() if owner is pipe)
        for pipe in set(Pipe) - TENSOR_PIPES
    ]

    assert summed_flop_per_cycle_per_sm(chip) == widest_flop_per_cycle_per_sm(chip) + sum(plain)
    assert summed_flop_per_cycle_per_sm(chip, sparse=True) >= summed_flop_per_cycle_per_sm(chip)


@EVERY_CHIP
def test_no_quoted_peak_exceeds_the_ceiling_of_a_second(chip: Chip) -> None:
    """A second at the boost clock holds whatever the sheet promises for a second."""
    for sparse in (False, True):
        widest = widest_flop_per_cycle_per_sm(chip, sparse=sparse)
        ceiling = ceiling_flop(chip.n_sm, widest, sm_clock_hertz=[chip.boost_clock_hertz], step_seconds=[1.0])
        peaks = [
            peak_flop_per_second(chip, precision, sparse=sparse, pipe=pipe)
            for pipe, precision in chip.flop_per_cycle_per_sm
        ]

        assert max(peaks) <= ceiling * (1 + 1e-12)


@given(STEPS)
def test_what_was_active_stays_below_the_ceiling(steps: tuple[list[float], ...]) -> None:
    """A share of the cycles is never more than all of them."""
    active_ratio, sm_clock_hertz, step_seconds = steps
    shared = {"sm_clock_hertz": sm_clock_hertz, "step_seconds": step_seconds}

    active = active_flop(132, 4096, active_ratio=active_ratio, **shared)

    assert 0 <= active <= ceiling_flop(132, 4096, **shared) * (1 + 1e-12)


@given(STEPS, st.integers(0, 20))
def test_a_ceiling_is_the_sum_of_its_parts(steps: tuple[list[float], ...], cut: int) -> None:
    """Cutting time in two changes nothing."""
    _, clocks, seconds = steps
    parts = [(clocks[:cut], seconds[:cut]), (clocks[cut:], seconds[cut:])]

    whole = ceiling_flop(8, 2048, sm_clock_hertz=clocks, step_seconds=seconds)
    summed = sum(ceiling_flop(8, 2048, sm_clock_hertz=c, step_seconds=s) for c, s in parts)

    assert summed == pytest.approx(whole)


def test_an_unknown_clock_gives_no_number() -> None:
    """NaN stays NaN: the caller must say which clock bounds what nobody saw."""
    assert math.isnan(ceiling_flop(132, 4096, sm_clock_hertz=[1.98e9, math.nan], step_seconds=[1.0, 1.0]))
