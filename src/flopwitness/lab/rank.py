"""One rank of a sweep: ``python -m flopwitness.lab.rank``, its plan as one JSON line on standard input.

Every decision (go on, skip, how many steps) is rank 0's and told to all, or follows from what all know: no
rank ever waits in a collective that another will not enter.
"""

import gc
import json
import math
import os
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Any

import torch

from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.environment import environment
from flopwitness.lab.events import Reporter
from flopwitness.lab.group import Group
from flopwitness.lab.preheat import preheat
from flopwitness.lab.settings import Settings
from flopwitness.lab.tempo import Tempo, preheat_seconds, trace_seconds
from flopwitness.lab.truth import step_truth
from flopwitness.lab.workloads.kinds import Workload, build

FAILED = 3
"""Exit status of a rank that met an error which the others cannot know of."""

TIMED_SECONDS = 0.3
"""How long the steps are watched that say how long a step takes."""

MAX_TIMED_STEPS = 20

BUILD_SECONDS = 5.0
"""Allowance for building and warming up, when rank 0 asks whether one more configuration fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How long things take; see ``flopwitness.lab.sweep.Plan``, whose fields these are."""

    traces: int
    trace_seconds: float
    gap_seconds: float
    idle_seconds: float
    warmup_steps: int
    deadline_monotonic: float

    def configuration_seconds(self, config: WorkloadConfig) -> float:
        """Return roughly what a configuration takes, the idle time before it included."""
        traces = self.traces * (trace_seconds(config, self.trace_seconds) + self.gap_seconds)
        return self.idle_seconds + BUILD_SECONDS + preheat_seconds(config) + traces


class Rank:
    """Runs configurations one after the other and reports."""

    def __init__(self, group: Group, reporter: Reporter, *, device: torch.device, rhythm: Rhythm) -> None:
        self.group, self.reporter, self.device, self.rhythm = group, reporter, device, rhythm
        self.idle_until = 0.0

    def sweep(self, configurations: list[WorkloadConfig]) -> str:
        """Run what fits into the time; return why it ended."""
        for config in configurations:
            left = self.rhythm.deadline_monotonic - time.monotonic()
            if self.group.told(left - self.rhythm.configuration_seconds(config)) < 0:
                return "time is spent"
            self._run(config)
        return "all done"

    def _run(self, config: WorkloadConfig) -> None:
        # Built after the rest, not in it: building loads the GPU and would end the idle time.
        self._rest()
        start_ns = time.time_ns()
        self.reporter.say("building", name=config.name)
        settings, problem, workload = None, "", None
        try:
            settings = Settings.of(config)
            workload = build(settings, self.device)
        except torch.AcceleratorError:  # the device's context is lost: only a new process can go on
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the other ranks must hear of it
            problem = _one_line(error)
        if self._agreed(config, problem) and settings is not None and workload is not None:
            self._measure(config, settings, workload, start_ns=start_ns)
        del workload
        self._clean()

    def _measure(
        self, config: WorkloadConfig, settings: Settings, workload: Workload, *, start_ns: int
    ) -> None:
        problem, truth = "", None
        try:
            # The optimizer's memory and the largest activations are taken here, where failing is harmless.
            truth = step_truth(settings, workload.rehearse())
            self._synchronise()
        except torch.AcceleratorError:
            raise
        except Exception as error:  # noqa: BLE001
            problem = _one_line(error)
        if not self._agreed(config, problem) or truth is None:
            self.idle_until = time.monotonic() + self.rhythm.idle_seconds
            return
        workload.join()
        tempo = Tempo(settings, self.group, self._synchronise)
        step_seconds, n_warm = self._warm_up(workload, works=tempo.works)
        self.reporter.say(
            "warmup",
            name=config.name,
            start_ns=start_ns,
            stop_ns=time.time_ns(),
            # The counted step is one of them; it ran without the other ranks.
            steps=n_warm + 1,
            own_steps=n_warm + 1 if tempo.works else 1,
            step_seconds=step_seconds,
            truth=truth.plain(),
            n_parameters=workload.n_parameters,
        )
        preheat(settings, self.device)
        n_steps = tempo.n_steps(self.rhythm.trace_seconds, step_seconds=step_seconds)
        for index in range(self.rhythm.traces):
            time.sleep(self.rhythm.gap_seconds)
            self._trace(config, workload, tempo, index=index, n_steps=n_steps)
        self.idle_until = time.monotonic() + self.rhythm.idle_seconds
        self.reporter.say("finished", name=config.name, memory_bytes=self._memory_bytes())

    def _warm_up(self, workload: Workload, *, works: bool) -> tuple[float, int]:
        """Return the length of a step as rank 0 saw it, and how many steps were run by ranks that work."""
        step = workload.step if works else _idle
        for _ in range(self.rhythm.warmup_steps):
            self._synchronise()
            start = time.monotonic()
            step()
            self._synchronise()
        seen = self.group.told(time.monotonic() - start)
        n_timed = min(MAX_TIMED_STEPS, math.ceil(TIMED_SECONDS / seen))
        start = time.monotonic()
        for _ in range(n_timed):
            step()
        self._synchronise()
        step_seconds = self.group.told((time.monotonic() - start) / n_timed)
        return step_seconds, self.rhythm.warmup_steps + n_timed

    def _trace(
        self, config: WorkloadConfig, workload: Workload, tempo: Tempo, *, index: int, n_steps: int
    ) -> None:
        self._synchronise()
        self.group.meet()
        start_ns = time.time_ns()
        n_own = tempo.walk(workload.step, n_steps=n_steps)
        self._synchronise()
        stop_ns = time.time_ns()
        self.reporter.say(
            "trace",
            name=config.name,
            index=index,
            start_ns=start_ns,
            stop_ns=stop_ns,
            steps=n_steps,
            own_steps=n_own,
        )

    def _agreed(self, config: WorkloadConfig, problem: str) -> bool:
        """Say whether all ranks can go on; where not, each says what it knows."""
        if self.group.all_well(well=not problem):
            return True
        self.reporter.say("skipped", name=config.name, reason=problem or "another rank could not")
        return False

    def _rest(self) -> None:
        time.sleep(max(0.0, self.idle_until - time.monotonic()))
        self.group.meet()

    def _synchronise(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _memory_bytes(self) -> int:
        return torch.cuda.max_memory_allocated(self.device) if self.device.type == "cuda" else 0

    def _clean(self) -> None:
        gc.collect()
        if "torch._dynamo" in sys.modules:  # compiled code holds on to weights
            torch._dynamo.reset()  # noqa: SLF001
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)


def _idle() -> None:
    """Take no step: another rank works."""


def main() -> None:
    """Read the plan, join the others, run."""
    plan: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    reporter = Reporter(plan["events_descriptor"], plan["rank"])
    try:
        reason = _run_plan(plan, reporter)
    except Exception as error:  # noqa: BLE001  the parent must hear of it before this process goes
        traceback.print_exception(error)
        sys.stderr.flush()
        reporter.say("failed", reason=_one_line(error))
        # No tidy end: another rank may be waiting in a collective, and so would this one.
        os._exit(FAILED)
    reporter.say("done", reason=reason)
    os._exit(0)


def _run_plan(plan: dict[str, Any], reporter: Reporter) -> str:
    rank = plan["rank"]
    is_cuda = plan["device"] == "cuda"
    device = torch.device("cuda", rank) if is_cuda else torch.device("cpu")
    if is_cuda:
        torch.cuda.set_device(device)
    torch.manual_seed(rank)
    group = Group(rank, plan["n_ranks"], device=device, rendezvous=plan["rendezvous"])
    reporter.say("ready", environment=environment(device))
    configurations = [WorkloadConfig(**fields) for fields in plan["configurations"]]
    return Rank(group, reporter, device=device, rhythm=Rhythm(**plan["rhythm"])).sweep(configurations)


def _leave_with_parent() -> None:
    """End when standard input does: a killed parent takes its ranks along."""
    sys.stdin.read()
    os._exit(FAILED)


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


if __name__ == "__main__":
    main()
