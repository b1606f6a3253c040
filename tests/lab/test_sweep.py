"""The parent's side of a sweep, with ranks that are played; test_launch.py has real ones."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.events import Event
from flopwitness.lab.journal import Journal
from flopwitness.lab.sweep import Plan, Sweep

TRUTH = {"algorithmic": 100, "executed": 80, "problem": ""}
A, B = (WorkloadConfig(name, "family", {"kind": "train", "d_model": 8}) for name in "ab")

Script = Callable[[str], list[Event]]


def ready() -> list[Event]:
    """Return what two ranks say first."""
    return [{"event": "ready", "rank": rank, "environment": {}} for rank in (0, 1)]


def done(reason: str = "all done") -> list[Event]:
    """Return what two ranks say last."""
    return [{"event": "done", "rank": rank, "reason": reason} for rank in (0, 1)]


def begun(name: str) -> list[Event]:
    """Return a configuration up to its first trace."""
    return [
        event
        for rank in (0, 1)
        for event in (
            {"event": "building", "rank": rank, "name": name},
            {
                "event": "warmup",
                "rank": rank,
                "name": name,
                "start_ns": 10 + rank,
                "stop_ns": 20 + rank,
                "steps": 4,
                "step_seconds": 0.5,
                "truth": TRUTH,
                "n_parameters": 7,
            },
        )
    ]


def traced(name: str, *, index: int = 0, ranks: tuple[int, ...] = (0, 1), steps: int = 3) -> list[Event]:
    """Return one trace as ranks report it."""
    return [
        {
            "event": "trace",
            "rank": rank,
            "name": name,
            "index": index,
            "start_ns": 30 + rank,
            "stop_ns": 40 + rank,
            "steps": steps,
        }
        for rank in ranks
    ]


def ended(name: str) -> list[Event]:
    """Return the end of a configuration."""
    return [{"event": "finished", "rank": rank, "name": name, "memory_bytes": 5} for rank in (0, 1)]


def whole(name: str) -> list[Event]:
    """Return a configuration of one trace, from beginning to end."""
    return [*begun(name), *traced(name), *ended(name)]


class PlayedRanks:
    """Says what is written; then its casualties show, or silence reigns."""

    def __init__(self, script: list[Event], casualties: dict[int, int]) -> None:
        self.script, self.fallen = list(script), casualties
        self.n_ranks, self.was_ended = 2, False

    def next_event(self, timeout_seconds: float) -> Event | None:  # noqa: ARG002
        """Return the next line of the script."""
        return self.script.pop(0) if self.script else None

    @property
    def casualties(self) -> dict[int, int]:
        """Return who fell."""
        return self.fallen

    @property
    def all_ended(self) -> bool:
        """Nobody ends by itself."""
        return False

    def end(self) -> None:
        """Remember it."""
        self.was_ended = True


class Stage:
    """Launches played ranks, one script after the other, and remembers what each was to run."""

    def __init__(self, *scripts: tuple[list[Event], dict[int, int]]) -> None:
        self.scripts = list(scripts)
        self.asked: list[list[str]] = []
        self.launched: list[PlayedRanks] = []

    def __call__(self, plan: Mapping[str, object], n_ranks: int, *, logs: Path) -> PlayedRanks:  # noqa: ARG002
        """Play the next script."""
        self.asked.append([config["name"] for config in plan["configurations"]])
        self.launched.append(PlayedRanks(*self.scripts.pop(0)))
        return self.launched[-1]


def swept(stage: Stage, **wanted: float) -> tuple[str, Journal]:
    """Run A and B on a stage; return why it ended, and the journal."""
    plan = Plan(configurations=(A, B), device="cpu", **wanted)
    journal = Journal(plan.configurations, n_ranks=2)
    sweep = Sweep(plan, journal, logs=Path())
    sweep.launch = stage
    return sweep.run(), journal


def names(journal: Journal) -> list[str]:
    """Return the names of all runs."""
    return [run.config.name for run in journal.runs]


def test_a_run_spans_all_ranks_and_counts_all_gpus():
    """Truth = FLOP of a step x steps x GPUs; the stretch is from the first start to the last stop."""
    script = [
        *ready(),
        *whole("a"),
        *whole("b"),
        *done(),
    ]

    outcome, journal = swept(Stage((script, {})))

    run = journal.runs[0]
    assert outcome == "all done"
    assert (run.start_ns, run.stop_ns) == (30, 41)
    assert (run.truth.algorithmic_flop, run.truth.executed_flop) == (600.0, 480.0)
    assert dict(run.config.parameters) == {
        "kind": "train",
        "d_model": 8,
        "steps": 3,
        "n_gpus": 2,
        "params": 7,
    }


def test_warm_up_is_a_run_of_its_own_kind():
    """Everything that ran is counted."""
    _, journal = swept(Stage(([*ready(), *whole("a"), *done()], {})))

    warmup = journal.warmups[0]
    assert (warmup.config.family, warmup.config.parameters["kind"]) == ("warmup", "warmup")
    assert warmup.truth.executed_flop == 4 * 2 * 80


def test_a_step_that_one_rank_took_alone_counts_once():
    """Where ranks take turns, each says how many steps were its own, warm-up included."""
    script = [*ready(), *begun("a"), *traced("a"), *done()]
    for event, n_own in zip((one for one in script if "steps" in one), (4, 1, 3, 0), strict=True):
        event["own_steps"] = n_own

    _, journal = swept(Stage((script, {})))

    assert journal.warmups[0].truth.executed_flop == (4 + 1) * 80
    assert journal.runs[0].truth.executed_flop == 3 * 80
    assert journal.runs[0].config.parameters["steps"] == 3


def test_ranks_may_be_silent_while_they_are_told_to_rest():
    """Pauses, sleeps and preheating come on top of what a stall may take."""
    resting = replace(A, parameters={"pauses": 2, "pause_seconds": 6.0, "preheat_seconds": 4.0})
    plan = Plan(configurations=(resting,), trace_seconds=2.0, stall_seconds=50.0)
    journal = Journal(plan.configurations, n_ranks=2)
    sweep = Sweep(plan, journal, logs=Path())
    sweep._is_ready = True

    assert sweep._patience() == 50.0
    journal.note({"event": "building", "rank": 0, "name": "a"})
    assert sweep._patience() == 50.0 + 2 * 6.0 + 4.0


def test_a_trace_that_one_rank_did_not_finish_is_no_run():
    """Nor is one whose ranks disagree about the number of steps."""
    disagreed = [*traced("a", index=1, ranks=(0,)), *traced("a", index=1, ranks=(1,), steps=4)]
    script = [*ready(), *begun("a"), *traced("a", ranks=(0,)), *disagreed, *done()]

    _, journal = swept(Stage((script, {})))

    assert journal.runs == []


def test_a_lost_rank_costs_its_configuration_and_fresh_ranks_go_on():
    """Traces taken before stay."""
    first = [*ready(), *begun("a"), *traced("a")]
    stage = Stage((first, {1: 9}), ([*ready(), *whole("b"), *done()], {}))

    outcome, journal = swept(stage)

    assert outcome == "all done"
    assert stage.asked == [["a", "b"], ["b"]]
    assert names(journal) == ["a", "b"]
    assert journal.skipped == {"a": "lost rank 1 (status 9)"}
    assert stage.launched[0].was_ended


def test_silent_ranks_are_given_up():
    """The other configuration still runs."""
    stage = Stage(([*ready(), *begun("a")], {}), ([*ready(), *whole("b"), *done()], {}))

    _, journal = swept(stage, stall_seconds=0.05)

    assert journal.skipped["a"].startswith("lost touch")
    assert names(journal) == ["b"]


def test_at_the_deadline_ranks_are_killed_and_what_ran_is_kept():
    """A hang costs no more than the budget."""
    stage = Stage(([*ready(), *begun("a"), *traced("a")], {}))

    outcome, journal = swept(stage, started_monotonic=time.monotonic() - 1000)

    assert outcome == "time is up, ranks were killed"
    assert names(journal) == ["a"]
    assert stage.launched[0].was_ended


def test_ranks_that_never_get_ready_are_not_tried_for_ever():
    """Three launches without a run are enough."""
    stage = Stage(*[([], {0: 1})] * 3)

    outcome, journal = swept(stage)

    assert outcome.startswith("gave up after 3 launches")
    assert journal.skipped == {}


def test_the_reason_of_the_rank_that_knows_is_kept():
    """The others only know that somebody could not."""
    words = [
        {"event": "skipped", "rank": rank, "name": "a", "reason": reason}
        for rank, reason in enumerate(("another rank could not", "out of memory", "another rank could not"))
    ]

    _, journal = swept(Stage(([*ready(), *words, *whole("b"), *done()], {})))

    assert journal.skipped == {"a": "out of memory"}


@pytest.mark.parametrize("wanted", [{"configurations": (A, A)}, {"configurations": (A,), "traces": 0}])
def test_a_plan_that_cannot_be_run_is_refused(wanted: dict[str, object]) -> None:
    """Names tell configurations apart, and there is something to do."""
    with pytest.raises(InvalidNounError):
        Plan(**wanted)
