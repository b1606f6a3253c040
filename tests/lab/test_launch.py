"""Real ranks on the processor: two processes over gloo, tiny shapes, and drills."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.journal import Journal
from flopwitness.lab.plans import DECODER, TINY
from flopwitness.lab.sweep import Plan, run_sweep

ON_CPU = Plan(
    configurations=(),
    device="cpu",
    traces=2,
    trace_seconds=0.02,
    gap_seconds=0.0,
    idle_seconds=0.0,
    budget_seconds=300.0,
)


def training(name: str, **parameters: int | str | bool) -> WorkloadConfig:
    """Return a tiny decoder in training."""
    return WorkloadConfig(name, "tiny", DECODER | TINY | {"n_layers": 2} | parameters)


def drill(how: str, *, rank: int) -> WorkloadConfig:
    """Return a drill that one rank fails."""
    return WorkloadConfig(how, "drill", {"kind": "drill", "size": 8, "fails": how, "fails_rank": rank})


def swept(folder: Path, *configurations: WorkloadConfig, stall_seconds: float = 60.0) -> tuple[str, Journal]:
    """Run configurations on two ranks; their time runs from now on, not from when this file was read."""
    now = time.monotonic()
    plan = replace(ON_CPU, configurations=configurations, stall_seconds=stall_seconds, started_monotonic=now)
    journal = Journal(configurations, n_ranks=2)
    return run_sweep(plan, journal, logs=folder), journal


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """One sweep over what is special between ranks, with two configurations that cannot run."""
    outcome, journal = swept(
        tmp_path_factory.mktemp("logs"),
        training("plain"),
        drill("raise", rank=1),
        training("sharded", parallel="fsdp"),
        training("accumulating", accumulation=3),
        training("experts", n_experts=4, experts_per_token=2),
        training("unknown", colour="blue"),
        training("scaled", precision="fp16", optimizer="sgd"),
        training("paused", pauses=2, pause_seconds=0.1),
        training("in-turns", turns=3),
        training("local", local_steps=2),
        training("sleepy", duty_ratio=0.5, burst_steps=2),
        training("served-as-one", kind="serve", parallel="tensor", prompts=2, new_tokens=3),
        training("asked-in-bursts", kind="prefill", duty_ratio=0.5),
    )
    assert outcome == "all done"
    return journal


def test_every_trace_of_what_can_run_is_measured(kinds: Journal) -> None:
    """Replicated, sharded, accumulating, routed and scaled training take all their traces."""
    found = [(run.config.name, run.trace_index) for run in kinds.runs]

    able = (
        *("plain", "sharded", "accumulating", "experts", "scaled", "paused", "in-turns", "local", "sleepy"),
        *("served-as-one", "asked-in-bursts"),
    )
    assert found == [(name, index) for name in able for index in (0, 1)]


def test_what_one_rank_cannot_build_is_skipped_by_both(kinds: Journal) -> None:
    """The reason is that of the rank that failed; the sweep goes on with the same processes."""
    assert kinds.skipped["raise"] == "RuntimeError: drill: no memory left"
    assert "parameter 'colour'" in kinds.skipped["unknown"]
    assert sum(event["event"] == "ready" for event in kinds.events) == 2


def test_ranks_agree_on_the_number_of_steps(kinds: Journal) -> None:
    """It is rank 0's, measured, and all ranks take it."""
    steps: dict[tuple[str, int], set[int]] = {}
    for event in kinds.events:
        if event["event"] == "trace":
            steps.setdefault((event["name"], event["index"]), set()).add(event["steps"])

    assert len(steps) == 22
    assert {len(agreed) for agreed in steps.values()} == {1}


def test_a_truth_is_a_step_times_steps_times_gpus(kinds: Journal) -> None:
    """Every run of a transformer has one, counted and checked."""
    for run in kinds.runs:
        truth = kinds.finished[run.config.name]["truth"]
        times = run.config.parameters["steps"] * (1 if run.config.name == "in-turns" else 2)

        assert truth["counted"] == truth["expected"]
        assert run.truth.executed_flop == truth["executed"] * times


def test_a_trace_lasts_as_long_as_its_pauses_at_least(kinds: Journal) -> None:
    """They are part of the stretch that is logged, and no FLOP is lost in them."""
    lasted = [run.stop_ns - run.start_ns for run in kinds.runs if run.config.name == "paused"]

    assert min(lasted) >= 2 * 0.1 * 1e9


def test_in_turns_only_one_rank_takes_a_step(kinds: Journal) -> None:
    """What ranks say were their own steps makes up the trace."""
    own: dict[int, list[int]] = {}
    for event in kinds.events:
        if (event["event"], event.get("name")) == ("trace", "in-turns"):
            own.setdefault(event["index"], []).append(event["own_steps"])
            steps = event["steps"]

    assert [sum(parts) for parts in own.values()] == [steps, steps]
    assert all(min(parts) >= 1 for parts in own.values())


def test_a_rank_that_hangs_is_killed_and_the_rest_is_run(tmp_path: Path) -> None:
    """What ran before is kept, what comes after runs on fresh ranks."""
    outcome, journal = swept(
        tmp_path, training("before"), drill("hang", rank=0), training("after"), stall_seconds=6.0
    )

    assert outcome == "all done"
    assert [run.config.name for run in journal.runs] == ["before", "before", "after", "after"]
    assert journal.skipped["hang"].startswith("lost touch")
