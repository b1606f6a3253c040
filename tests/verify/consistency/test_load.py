"""Power against activity, matrix pipes against the other signals, traffic against matrix work."""

from functools import cache

import numpy as np
import pytest

from flopwitness.core.finding import Severity
from flopwitness.core.trace import Trace
from flopwitness.verify.consistency.blocks import Blocks, blocks_of
from flopwitness.verify.consistency.fitting import fitted_state
from flopwitness.verify.consistency.load import (
    MATRIX_CODE,
    OPERANDS_CODE,
    POWER_CODE,
    load_deviations,
    power_residuals,
)
from flopwitness.verify.consistency.state import ConsistencyState
from flopwitness.verify.consistency.traffic import LINK_CODE, MEMORY_CODE, traffic_deviations
from verify.consistency.made import changed, clean_recording, clean_trace, highest_score

ENERGY = "energy_joules_total"
MATRIX = ("tensor_active_ratio", "hmma_active_ratio")


@cache
def made_state() -> ConsistencyState:
    """Return constants fitted on made recordings that no test judges."""
    return fitted_state([clean_recording(seed=seed) for seed in range(200, 204)])


def score(trace: Trace, code: str) -> float:
    """Return the highest score of a check."""
    state, blocks = made_state(), blocks_of(trace)
    found = [
        *load_deviations(blocks, "GPU-a", power=state.power, matrix=state.matrix, limits=state.load_limits),
        *traffic_deviations(blocks, "GPU-a", state.traffic_limits),
    ]
    return highest_score(found, code)


@pytest.mark.parametrize("code", [POWER_CODE, MATRIX_CODE, MEMORY_CODE, LINK_CODE])
def test_clean_work_passes(code: str):
    """Another seed of the same kind of work."""
    assert score(clean_trace(seed=1), code) < 1


@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_power_that_activity_does_not_explain_is_found(factor: float):
    """Gauges and counter were scaled alike, so power agrees with itself; or operands were all zeros."""
    trace = clean_trace(seed=1)
    scaled = trace[ENERGY][0] + factor * (trace[ENERGY] - trace[ENERGY][0])

    assert score(changed(trace, **{ENERGY: scaled}), POWER_CODE) > 1


def test_matrix_pipes_that_nothing_else_explains_are_found():
    """Only they were scaled; summary and pipes alike."""
    trace = clean_trace(seed=1)

    assert score(changed(trace, **{name: 0.8 * trace[name] for name in MATRIX}), MATRIX_CODE) > 1


def test_activity_hidden_under_load_is_found():
    """Power goes on while activity reads 0."""
    trace = clean_trace(seed=1)
    hidden = {
        name: np.where(np.arange(900) < 450, trace[name], 0.0)
        for name in trace.channels
        if name.endswith(("_ratio", "_per_second"))
    }

    hidden["temperature_celsius"] = np.full(900, 40.0)
    hidden["mem_temperature_celsius"] = np.full(900, 42.0)

    assert score(changed(trace, **hidden), POWER_CODE) > 1


@pytest.mark.parametrize(("factor", "is_hint"), [(1.12, True), (1.4, False), (0.88, False)])
def test_more_matrix_activity_that_another_program_may_explain_is_a_hint(*, factor: float, is_hint: bool):
    """A tenth more is what another program shows; a third more is not, and less is what hiding looks like."""
    trace = clean_trace(seed=1)
    state = made_state()
    blocks = blocks_of(changed(trace, **{name: factor * trace[name] for name in MATRIX}))
    found = load_deviations(blocks, "GPU-a", power=state.power, matrix=state.matrix, limits=state.load_limits)

    assert {each.is_hint for each in found if each.code == MATRIX_CODE and each.score > 1} == {is_hint}


def test_power_far_too_low_names_the_operands():
    """Zeros save four tenths of the power; no board and no noise does."""
    trace = clean_trace(seed=1)
    scaled = trace[ENERGY][0] + 0.6 * (trace[ENERGY] - trace[ENERGY][0])

    assert score(changed(trace, **{ENERGY: scaled}), OPERANDS_CODE) > 1


def test_a_block_that_draws_more_alone_is_no_finding():
    """Work begins and ends in it: only too little power over one block says something."""
    state, blocks = made_state(), blocks_of(clean_trace(seed=1))
    judged = power_residuals(blocks, state.power).blocks
    alone = blocks.chosen(blocks.start_ns == judged.start_ns[0])
    limits = state.load_limits
    scores = {}
    for factor in (0.4, 1.6):
        once = Blocks(alone.start_ns, alone.stop_ns, alone.terms, factor * alone.watts)
        found = [*load_deviations(once, "GPU-a", power=state.power, matrix=state.matrix, limits=limits)]
        scores[factor] = max(each.score for each in found)

    assert scores[0.4] > 1
    assert scores[1.6] < 1


def test_what_honest_work_can_explain_is_never_an_alarm():
    """Other operands, formats and programs exist."""
    trace = clean_trace(seed=1)
    scaled = trace[ENERGY][0] + 0.3 * (trace[ENERGY] - trace[ENERGY][0])
    state, blocks = made_state(), blocks_of(changed(trace, **{ENERGY: scaled}))
    found = load_deviations(blocks, "GPU-a", power=state.power, matrix=state.matrix, limits=state.load_limits)

    assert {each.finding().severity for each in found if each.score > 2} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("name", "factor", "code"),
    [("dram_active_ratio", 2.5, MEMORY_CODE), ("nvlink_tx_bytes_per_second", 8.0, LINK_CODE)],
)
def test_traffic_that_serves_no_work_is_found(name: str, factor: float, code: str):
    """Copies and floods raise traffic and leave the matrix pipes as they are."""
    trace = clean_trace(seed=1)

    assert score(changed(trace, **{name: factor * trace[name]}), code) > 1
