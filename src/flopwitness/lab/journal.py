"""What a sweep has measured so far: events of ranks become runs of known FLOP."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.lab.events import Event

WARMUP = "warmup"
"""Kind and family of the runs that warm-up steps are."""


class Journal:
    """Gathers the events of all ranks.

    Parameters
    ----------
    configurations : sequence of WorkloadConfig
        What may run, by name.
    n_ranks : int
        How many ranks must report a trace before it counts.
    say : callable
        Takes one line of progress.

    Attributes
    ----------
    runs, warmups : list of Run
        What was measured, and what ran before to get warm, each over all GPUs.
    skipped : dict
        Configurations that could not run, and why.
    finished : dict
        Configurations of which every trace was taken, and what is known of them.
    environments : dict
        Software and device of each rank.
    events : list
        Everything that was said.
    """

    def __init__(
        self,
        configurations: Sequence[WorkloadConfig],
        *,
        n_ranks: int,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.by_name = {config.name: config for config in configurations}
        self.n_ranks, self.say = n_ranks, say
        self.runs: list[Run] = []
        self.warmups: list[Run] = []
        self.skipped: dict[str, str] = {}
        self.finished: dict[str, dict[str, Any]] = {}
        self.environments: dict[str, Any] = {}
        self.events: list[Event] = []
        self.current: WorkloadConfig | None = None
        self.last_words = ""
        self._warm: dict[str, Event] = {}
        self._halves: dict[tuple[str, str, int], list[Event]] = defaultdict(list)

    def left(self, configurations: Sequence[WorkloadConfig]) -> list[WorkloadConfig]:
        """Return the configurations that are neither finished nor skipped."""
        settled = self.finished.keys() | self.skipped.keys()
        return [config for config in configurations if config.name not in settled]

    def note(self, event: Event) -> None:
        """Take in one event."""
        self.events.append(event)
        takers: Mapping[str, Callable[[Event], None]] = {
            "ready": self._ready,
            "building": self._building,
            "warmup": self._warmup,
            "trace": self._trace,
            "finished": self._finished,
            "skipped": self._skipped,
            "failed": self._failed,
        }
        if (take := takers.get(str(event["event"]))) is not None:
            take(event)

    def give_up_current(self, reason: str) -> None:
        """Skip what was running when ranks were lost; traces that were taken of it stay."""
        if self.current is not None and self.current.name not in self.finished:
            self._skip(self.current.name, reason)
        self.current, self.last_words = None, ""
        self._halves.clear()

    def _ready(self, event: Event) -> None:
        self.environments[f"rank{event['rank']}"] = event["environment"]

    def _building(self, event: Event) -> None:
        self.current = self.by_name[event["name"]]

    def _warmup(self, event: Event) -> None:
        if event["rank"] == 0:
            self._warm[event["name"]] = event
        if (run := self._whole(event)) is not None:
            parameters = dict(run.config.parameters) | {"kind": WARMUP}
            config = WorkloadConfig(f"{run.config.name}-warmup", WARMUP, parameters)
            self.warmups.append(replace(run, config=config))

    def _trace(self, event: Event) -> None:
        if (run := self._whole(event)) is not None:
            self.runs.append(run)

    def _finished(self, event: Event) -> None:
        if event["rank"] != 0:
            return
        name = event["name"]
        warm = self._warm[name]
        self.finished[name] = {
            "step_seconds": warm["step_seconds"],
            "memory_bytes": event["memory_bytes"],
            "n_parameters": warm["n_parameters"],
            "truth": warm["truth"],
        }
        flop_per_second = (warm["truth"]["executed"] or 0) / warm["step_seconds"]
        self.say(
            f"{len(self.finished)}/{len(self.by_name)} {name}: {warm['step_seconds'] * 1e3:.1f} ms a step, "
            f"{flop_per_second / 1e12:.0f} TFLOP/s a GPU, {event['memory_bytes'] / 2**30:.1f} GiB"
            f"{' - ' + warm['truth']['problem'] if warm['truth']['problem'] else ''}"
        )

    def _skipped(self, event: Event) -> None:
        reason = str(event["reason"])
        if event["name"] not in self.skipped or "another rank" in self.skipped[event["name"]]:
            self._skip(event["name"], reason)

    def _failed(self, event: Event) -> None:
        self.last_words = f": {event['reason']}"

    def _skip(self, name: str, reason: str) -> None:
        self.skipped[name] = reason
        self.say(f"skipped {name}: {reason}")

    def _whole(self, event: Event) -> Run | None:
        """Return the run that all ranks' reports make together, or None while some are missing."""
        name = event["name"]
        halves = self._halves[event["event"], name, event.get("index", 0)]
        halves.append(event)
        if len(halves) < self.n_ranks or len({half["steps"] for half in halves}) > 1:
            return None
        truth = halves[0]["truth"] if "truth" in halves[0] else self._warm[name]["truth"]
        config = self.by_name[name]
        parameters = dict(config.parameters) | {
            "steps": event["steps"],
            "n_gpus": self.n_ranks,
            "params": self._warm[name]["n_parameters"],
        }
        # Where ranks take turns, each has taken some of the steps only.
        times = sum(half.get("own_steps", half["steps"]) for half in halves)
        return Run(
            replace(config, parameters=parameters),
            min(half["start_ns"] for half in halves),
            max(half["stop_ns"] for half in halves),
            GroundTruth(_total(truth["algorithmic"], times), _total(truth["executed"], times)),
            event.get("index", 0),
        )


def _total(step_flop: int | None, times: int) -> float | None:
    return None if step_flop is None else float(step_flop * times)
