"""Drive ranks through a list of configurations and keep what they measured, whatever happens to them.

A rank that dies or falls silent costs its configuration: the others are killed, and fresh ranks go on with
the rest. Every finished trace is handed on at once.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from flopwitness.core.errors import InvalidNounError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.events import Event
from flopwitness.lab.journal import Journal
from flopwitness.lab.launch import Ranks
from flopwitness.lab.tempo import preheat_seconds, trace_seconds

POLL_SECONDS = 0.2
RANK_MARGIN_SECONDS = 12.0
"""How long before the parent's deadline ranks begin nothing new."""

KILL_MARGIN_SECONDS = 4.0
"""How long before its deadline the parent ends the ranks: what is left is for writing."""

START_SECONDS = 90.0
"""How long ranks may take to import, meet and say that they are ready."""

MAX_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run and at which rhythm.

    Attributes
    ----------
    configurations : tuple of WorkloadConfig
        In this order; no name twice.
    device : str
        ``cuda`` or ``cpu``.
    n_ranks : int
        Processes, one a device.
    traces : int
        Repetitions of each configuration, its network built once.
    trace_seconds : float
        Active time that step counts aim at.
    gap_seconds, idle_seconds : float
        Rest between traces, and at least that long between configurations.
    warmup_steps : int
        Steps before any is timed, >= 1.
    budget_seconds : float
        When the whole must be over, counted from ``started_monotonic``.
    stall_seconds, compile_seconds : float
        How long ranks may be silent, in general and where they compile; longer than any trace, rests apart.
    gate : bool
        Whether runs that leave a GPU idle are listed apart, unused.
    left_out : mapping
        Configurations that were not taken into the plan since they cannot run here, by name, and why.
    """

    configurations: tuple[WorkloadConfig, ...]
    device: str = "cuda"
    n_ranks: int = 2
    traces: int = 5
    trace_seconds: float = 2.0
    gap_seconds: float = 0.4
    idle_seconds: float = 6.0
    warmup_steps: int = 2
    budget_seconds: float = 540.0
    stall_seconds: float = 50.0
    compile_seconds: float = 150.0
    gate: bool = True
    left_out: Mapping[str, str] = field(default_factory=dict)
    started_monotonic: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Refuse what could not be told apart or timed."""
        names = [config.name for config in self.configurations]
        if len(set(names)) < len(names):
            raise InvalidNounError(f"configurations share a name: {sorted(names)}")
        if min(self.n_ranks, self.traces, self.warmup_steps) < 1 or self.trace_seconds <= 0:
            raise InvalidNounError("a sweep needs at least one rank, trace and warm-up step, and some time")

    @property
    def deadline_monotonic(self) -> float:
        """When the budget is spent."""
        return self.started_monotonic + self.budget_seconds

    def for_ranks(self, configurations: Sequence[WorkloadConfig]) -> dict[str, object]:
        """Return what ranks must know, as JSON values."""
        return {
            "device": self.device,
            "configurations": [asdict(config) for config in configurations],
            "rhythm": {
                "traces": self.traces,
                "trace_seconds": self.trace_seconds,
                "gap_seconds": self.gap_seconds,
                "idle_seconds": self.idle_seconds,
                "warmup_steps": self.warmup_steps,
                "deadline_monotonic": self.deadline_monotonic - RANK_MARGIN_SECONDS,
            },
        }


class Launched(Protocol):
    """Ranks that run; see ``flopwitness.lab.launch.Ranks``."""

    n_ranks: int

    def next_event(self, timeout_seconds: float) -> Event | None:
        """Return the next event, or None where none came in time."""
        ...

    @property
    def casualties(self) -> dict[int, int]:
        """Ranks that failed, and their exit status."""
        ...

    @property
    def all_ended(self) -> bool:
        """Whether no rank runs any more."""
        ...

    def end(self) -> None:
        """Kill what still runs."""
        ...


class Sweep:
    """One go through a plan.

    Parameters
    ----------
    plan : Plan
        What to run.
    journal : Journal
        Where the outcome is gathered.
    logs : Path
        Folder for what ranks print.
    look : callable
        Called a few times a second, so that whoever keeps the outcome can write it.
    """

    launch: Callable[..., Launched] = Ranks
    """Starts the ranks."""

    def __init__(
        self, plan: Plan, journal: Journal, *, logs: Path, look: Callable[[], None] = lambda: None
    ) -> None:
        self.plan, self.journal, self.logs, self.look = plan, journal, logs, look
        self._heard_monotonic = 0.0
        self._is_ready = False

    def run(self) -> str:
        """Run everything that fits; return why it ended."""
        n_failed = 0
        while left := self.journal.left(self.plan.configurations):
            n_before = len(self.journal.runs)
            outcome = self._one_launch(left)
            if not outcome.startswith("lost"):
                return outcome
            n_failed = 0 if len(self.journal.runs) > n_before else n_failed + 1
            if n_failed == MAX_FAILURES_IN_A_ROW:
                return f"gave up after {n_failed} launches without a run: {outcome}"
        return "all done"

    def _one_launch(self, configurations: Sequence[WorkloadConfig]) -> str:
        ranks = self.launch(self.plan.for_ranks(configurations), self.plan.n_ranks, logs=self.logs)
        self._heard_monotonic, self._is_ready = time.monotonic(), False
        try:
            outcome = self._watch(ranks)
        finally:
            ranks.end()
            while (event := ranks.next_event(0.01)) is not None:
                self.journal.note(event)
        if outcome.startswith("lost"):
            self.journal.give_up_current(outcome)
        self.look()
        return outcome

    def _watch(self, ranks: Launched) -> str:
        """Hear the ranks until they are done, one is lost, or time is up; return which."""
        n_done, reason = 0, ""
        while n_done < ranks.n_ranks:
            event = ranks.next_event(POLL_SECONDS)
            if event is not None:
                self._heard_monotonic, self._is_ready = time.monotonic(), True
                self.journal.note(event)
                n_done += event["event"] == "done"
                reason = str(event.get("reason", reason))
            # Asked only when no event waits: a rank's last words are heard before its end is seen.
            elif problem := self._problem(ranks):
                return problem
            self.look()
        return reason

    def _problem(self, ranks: Launched) -> str:
        """Say what is wrong; empty where nothing is."""
        now = time.monotonic()
        if now > self.plan.deadline_monotonic - KILL_MARGIN_SECONDS:
            return "time is up, ranks were killed"
        if casualties := ranks.casualties:
            who = ", ".join(f"rank {rank} (status {status})" for rank, status in casualties.items())
            return f"lost {who}{self.journal.last_words}"
        if ranks.all_ended:
            return "lost every rank without a word"
        silent_seconds = now - self._heard_monotonic
        if silent_seconds > self._patience():
            return f"lost touch: no rank spoke for {silent_seconds:.0f} s"
        return ""

    def _patience(self) -> float:
        if not self._is_ready:
            return START_SECONDS
        config = self.journal.current
        if config is None:
            return self.plan.stall_seconds
        compiles = bool(config.parameters.get("compile"))
        rests = trace_seconds(config, self.plan.trace_seconds) - self.plan.trace_seconds
        patience = self.plan.compile_seconds if compiles else self.plan.stall_seconds
        return patience + rests + preheat_seconds(config)


def run_sweep(plan: Plan, journal: Journal, *, logs: Path, look: Callable[[], None] = lambda: None) -> str:
    """Go through a plan; return why it ended, such as ``"all done"`` or ``"time is spent"``."""
    return Sweep(plan, journal, logs=logs, look=look).run()
