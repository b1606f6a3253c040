"""Each piece of evidence speaks for what it should, says so in words, and unseen things say nothing."""

import numpy as np
import pytest

from contracts.detector import GPU_A, GPU_B
from detect.jobs.made import held, mark_at
from flopwitness.detect.jobs.evidence import (
    GROWN,
    HELD,
    INTERPOSED,
    OTHER_GPU,
    PRIOR,
    RELEASED,
    SOME_GPUS,
    Evidence,
    link_evidence,
    probability,
)
from flopwitness.detect.jobs.mark import Mark
from flopwitness.detect.jobs.memory import MemoryRuns

BEFORE, AFTER = mark_at(0, 100), mark_at(106, 200)
HELD_RUNS = held((0, 200, 40))


def evidence_of(
    before: Mark = BEFORE, after: Mark = AFTER, runs: MemoryRuns | None = None, *, n_between: int = 0
) -> dict[str, Evidence]:
    """Return the evidence by kind."""
    memory = {} if runs is None else {GPU_A.uuid: runs}
    return {one.kind: one for one in link_evidence(before, after, memory, n_between=n_between)}


@pytest.mark.parametrize(
    ("runs", "log_ratio", "reason"),
    [
        (held((0, 200, 40)), HELD, "memory held"),
        (held((0, 103, 40), (104, 105, 1), (105.5, 200, 40)), RELEASED, "memory released in between"),
        (held((0, 107, 40), (108, 109, 1), (110, 200, 40)), RELEASED, "memory released in between"),
        (held((-9, -1, 1), (0, 103, 40), (104, 200, 60)), GROWN, "memory held and grown"),
        (held((0, 103, 40), (104, 200, 60)), 0.0, "memory grown from the least in use"),
    ],
)
def test_memory_in_the_pause_speaks_loudest(runs: MemoryRuns, log_ratio: float, reason: str):
    """Held to the byte; given back, in the pause or in the first moments after it; grown; never in use."""
    found = evidence_of(runs=runs)["memory"]

    assert (found.log_ratio, found.reason) == (log_ratio, reason)


def test_memory_that_was_held_and_grew_is_a_warm_up_unless_the_steps_say_otherwise():
    """More for one run than against it; steps that clearly differ outweigh it."""
    runs = held((-9, -1, 1), (0, 106, 40), (107, 200, 60))
    silent, other = (mark_at(106, 200, gib=60, shift=shift) for shift in (np.nan, 1.0))

    odds = [probability(link_evidence(BEFORE, after, {GPU_A.uuid: runs})) for after in (silent, other)]

    assert evidence_of(after=silent, runs=runs)["memory"].log_ratio == GROWN
    assert odds[0] > 0.5 > odds[1]


def test_the_weakest_gpu_decides_about_memory():
    """One gave it back; one that had nothing to give back says nothing where another does."""
    both = (GPU_A, GPU_B)
    before, after = mark_at(0, 100, devices=both), mark_at(106, 200, devices=both, gib=60)
    grown, empty = held((-9, -1, 1), (0, 106, 40), (107, 200, 60)), held((0, 106, 40), (107, 200, 60))
    freed = held((-9, -1, 1), (0, 101, 40), (102, 105, 1), (106, 200, 60))

    found = [
        {one.kind: one for one in link_evidence(before, after, {GPU_A.uuid: grown, GPU_B.uuid: other})}
        for other in (empty, freed)
    ]

    assert [one["memory"].log_ratio for one in found] == [GROWN, RELEASED]


def test_the_last_session_on_a_gpu_says_what_the_job_held():
    """An earlier one of 40 GiB does not hold what a later one of 80 GiB gave back down to 50."""
    runs = held((-9, -1, 1), (0, 101, 40), (102, 200, 80), (201, 205, 50), (206, 300, 60))
    last, after = mark_at(103, 200, gib=80), mark_at(206, 300, gib=60)

    found = link_evidence(BEFORE, after, {GPU_A.uuid: runs}, last=last)
    alone = link_evidence(BEFORE, after, {GPU_A.uuid: runs})

    assert {one.kind: one.log_ratio for one in found}["memory"] == RELEASED
    assert {one.kind: one.log_ratio for one in alone}["memory"] == GROWN


def test_memory_that_nobody_read_says_nothing():
    """Not in the pause, or not at all: no evidence, and the footprint then counts."""
    unread = held((0, 100, 40), (106, 200, 40))

    assert "memory" not in evidence_of(runs=unread)
    assert "memory" not in evidence_of()
    assert evidence_of(runs=unread)["footprint"].log_ratio > 0
    assert "footprint" not in evidence_of(runs=HELD_RUNS)
    assert "footprint" not in evidence_of(mark_at(0, 100, gib=None))


def test_a_footprint_speaks_for_one_program_when_it_is_the_same():
    """The less the further apart; across GPUs their means are compared."""
    ratios = [
        evidence_of(after=mark_at(106, 200, gib=gib))["footprint"].log_ratio for gib in (40, 40.4, 44, 80)
    ]
    elsewhere = evidence_of(after=mark_at(106, 200, devices=(GPU_B,)))["footprint"]

    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 0 > ratios[-1]
    assert elsewhere.reason == "same memory footprint (40.0 and 40.0 GiB)"


def test_signatures_speak_by_their_distance():
    """And the reason names what differs most."""
    other = mark_at(106, 200)
    other.signature[1] += 0.5

    assert evidence_of()["signature"].log_ratio > 0
    assert evidence_of(after=other)["signature"].log_ratio < 0
    assert "tensor activity" in evidence_of(after=other)["signature"].reason
    assert "signature" not in evidence_of(after=mark_at(106, 200, shift=np.nan))


def test_short_sessions_may_differ_more():
    """Fewer samples, more noise: what parts two long ones says little of two of a second."""
    long, short = (
        evidence_of(mark_at(0, seconds), mark_at(106, 106 + seconds, shift=0.06))["signature"].log_ratio
        for seconds in (100, 1)
    )

    assert long < short


def test_other_gpus_and_jobs_in_between_ask_for_more():
    """A hand-over is allowed and has to look alike; so has a return after others."""
    both = (GPU_A, GPU_B)

    assert evidence_of()["devices"].log_ratio == 0
    assert evidence_of(after=mark_at(106, 200, devices=both))["devices"].log_ratio == SOME_GPUS
    assert evidence_of(after=mark_at(106, 200, devices=(GPU_B,)))["devices"].log_ratio == OTHER_GPU
    assert "between" not in evidence_of()
    assert evidence_of(n_between=1)["between"].log_ratio == INTERPOSED
    assert evidence_of(n_between=30)["between"].log_ratio < INTERPOSED


def test_minutes_cost_little():
    """Up to one nothing, ten minutes a factor e."""
    assert evidence_of(after=mark_at(160, 200))["pause"].log_ratio == 0
    assert evidence_of(after=mark_at(700, 800))["pause"].log_ratio == pytest.approx(-1)


def test_log_ratios_add_up_to_a_probability():
    """By the logistic function."""
    assert probability(()) == 0.5
    assert probability((Evidence("prior", PRIOR, ""), Evidence("x", -PRIOR, ""))) == 0.5
    assert probability((Evidence("x", 4.6, ""),)) == pytest.approx(0.99, abs=1e-3)
