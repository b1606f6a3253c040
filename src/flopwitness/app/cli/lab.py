"""``flopwitness lab``: run workloads of known FLOP under the sampler."""

import signal
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli.options import RecordingPath
from flopwitness.app.cli.output import talk
from flopwitness.app.labattach import attach as attached
from flopwitness.app.labchoice import beyond, one_of_plan, only, read_configuration, settled_names, without
from flopwitness.app.labwork import LiveSampler, Outcome, sweep_into
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.plans import named_plan
from flopwitness.lab.sweep import Plan

app = typer.Typer(help="Run workloads of known FLOP under the sampler; needs PyTorch.", no_args_is_help=True)

INTERVAL_SECONDS = 0.1
NO_RUN = 3
"""Exit status of a sweep without a single run: nothing can be concluded."""

Output = Annotated[
    Path, typer.Option("--output", help="Dataset folder to write; must hold none.", show_default=False)
]
PlanName = Annotated[
    str,
    typer.Option(
        "--plan",
        help="benign, extra, inference, non-ai, attacks(-second), formats or tiny; several with commas.",
    ),
]
ConfigPath = Annotated[
    Path | None, typer.Option("--config", help="A JSON object of hyper-parameters; instead of --plan.")
]
Name = Annotated[str, typer.Option("--name", help="Name of the run; with --plan, which one of it to run.")]
Traces = Annotated[int, typer.Option("--traces", help="Repetitions of each configuration.", min=1)]
Seconds = Annotated[float, typer.Option("--seconds", help="Active time of each repetition.", min=0.01)]
Gap = Annotated[float, typer.Option("--gap", help="Seconds of rest between repetitions.", min=0.0)]
Idle = Annotated[float, typer.Option("--idle", help="Seconds of rest between configurations.", min=0.0)]
Budget = Annotated[
    float, typer.Option("--budget-seconds", help="When all must be over and written.", min=20.0)
]
Gpus = Annotated[
    int, typer.Option("--gpus", help="Processes, one a GPU; 0 for all GPUs (2 on a CPU).", min=0)
]
Where = Annotated[str, typer.Option("--device", help="cuda or cpu.")]
Stall = Annotated[
    float, typer.Option("--stall-seconds", help="Silence after which ranks are given up.", min=1.0)
]
Gate = Annotated[
    bool | None,
    typer.Option(
        "--gate/--no-gate",
        help="Whether runs under 80 % utilisation are dropped; by default not where the plan is attacks.",
    ),
]
Only = Annotated[
    str, typer.Option("--only", help="Families or names of the plan to run, joined by commas; else all.")
]
Sampled = Annotated[
    bool,
    typer.Option("--sample/--no-sample", help="Whether to sample here; not where a daemon holds the GPUs."),
]
SkipDone = Annotated[
    list[Path] | None,
    typer.Option(
        "--skip-done", help="Folder of an earlier sweep, whose configurations are left out; repeatable."
    ),
]


@app.command()
def run(
    output: Output,
    config: ConfigPath = None,
    plan: PlanName = "tiny",
    name: Name = "",
    traces: Traces = 1,
    seconds: Seconds = 10.0,
    gap: Gap = 0.4,
    idle: Idle = 0.0,
    gpus: Gpus = 0,
    device: Where = "cuda",
    budget_seconds: Budget = 540.0,
    stall_seconds: Stall = 50.0,
    sample: Sampled = True,
    gate: Gate = None,
) -> int:
    """Run one configuration, from a file or out of a plan, and write a dataset folder."""
    started = time.monotonic()
    if config is not None:
        chosen = read_configuration(config, name=name or config.stem)
    else:
        chosen = one_of_plan(plan, name)
    sampler, n_gpus = sampler_of(device, gpus, sample=sample)
    rhythm = Rhythm(traces, seconds, gap, idle, budget_seconds, stall_seconds)
    wanted = rhythm.plan((chosen,), device, n_gpus, started=started)
    wanted = replace(wanted, gate=_gates(gate, plan if config is None else ""))
    return swept(output, wanted, sampler)


@app.command()
def sweep(
    output: Output,
    plan: PlanName = "benign",
    traces: Traces = 5,
    seconds: Seconds = 2.0,
    gap: Gap = 0.4,
    idle: Idle = 6.0,
    gpus: Gpus = 0,
    device: Where = "cuda",
    budget_seconds: Budget = 540.0,
    stall_seconds: Stall = 50.0,
    sample: Sampled = True,
    gate: Gate = None,
    only_these: Only = "",
    skip_done: SkipDone = None,
) -> int:
    """Run a plan, as far as the time allows, and write a dataset folder; go on later with --skip-done."""
    started = time.monotonic()
    listed = [one for part in plan.split(",") for one in named_plan(part.strip())]
    chosen = without(only(listed, only_these), settled_names(skip_done or ()))
    sampler, n_gpus = sampler_of(device, gpus, sample=sample)
    left_out = beyond(chosen, n_gpus)
    rhythm = Rhythm(traces, seconds, gap, idle, budget_seconds, stall_seconds)
    wanted = rhythm.plan(without(chosen, left_out), device, n_gpus, started=started)
    return swept(output, replace(wanted, gate=_gates(gate, plan), left_out=left_out), sampler)


@app.command()
def attach(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Dataset folder of the sweep.")],
    recording: RecordingPath,
) -> int:
    """Give a sweep that ran with --no-sample the samples that watch or record took beside it."""
    outcome = attached(folder, recording)
    talk().print(_sentence(outcome, folder), markup=False, soft_wrap=True)
    return 0 if outcome.n_runs else NO_RUN


@dataclass(frozen=True, slots=True)
class Rhythm:
    """What both ways to run say about time, as the options name it."""

    traces: int
    seconds: float
    gap: float
    idle: float
    budget_seconds: float
    stall_seconds: float

    def plan(
        self, configurations: tuple[WorkloadConfig, ...], device: str, n_ranks: int, *, started: float
    ) -> Plan:
        """Return the plan; ranks may be silent for three traces at least."""
        return Plan(
            configurations=configurations,
            device=device,
            n_ranks=n_ranks,
            traces=self.traces,
            trace_seconds=self.seconds,
            gap_seconds=self.gap,
            idle_seconds=self.idle,
            budget_seconds=self.budget_seconds,
            stall_seconds=max(self.stall_seconds, 3 * self.seconds),
            started_monotonic=started,
        )


def sampler_of(device: str, n_gpus: int, *, sample: bool) -> tuple[LiveSampler, int]:
    """Return the best sampler of this machine, and how many processes to start.

    Raises
    ------
    BadInputError
        When the device is none, PyTorch is missing, or nobody says how many GPUs there are.
    """
    if device not in ("cuda", "cpu"):
        raise BadInputError("--device", "", expected="cuda or cpu", got=device)
    if find_spec("torch") is None:
        raise BadInputError("lab", "", expected="PyTorch: pip install 'flopwitness[lab]'", got="none")
    if device == "cpu":
        return NoSampler(), n_gpus or 2
    if not sample:
        if not n_gpus:
            raise BadInputError("--gpus", "", expected="a number beside --no-sample", got="none")
        return NoSampler(), n_gpus
    from flopwitness.app.sampling import best_sampler  # noqa: PLC0415  needs a driver
    from flopwitness.telemetry.samplers.nvml_signals import Cadence  # noqa: PLC0415

    every_round = Cadence(slow_seconds=0, costly_seconds=0)  # the lab has cores to spare; a dataset has not
    sampler = best_sampler(interval_seconds=INTERVAL_SECONDS, cadence=every_round)
    return sampler, n_gpus or len(sampler.devices)


class NoSampler:
    """Where nobody samples: no samples. The lab's ground truth is kept all the same."""

    source, driver = "none", ""

    def sample(self) -> tuple[()]:
        """Return nothing."""
        return ()

    def close(self) -> None:
        """Do nothing."""


def _gates(wanted: bool | None, plan: str) -> bool:
    """Say whether runs that leave GPUs idle are dropped: attacks do so on purpose."""
    return "attacks" not in plan if wanted is None else wanted


def swept(output: Path, wanted: Plan, sampler: LiveSampler) -> int:
    """Run a plan into a folder, say how it goes, and return the exit status."""
    console = talk()

    def say(line: str) -> None:
        elapsed = time.monotonic() - wanted.started_monotonic
        console.print(f"{elapsed:6.1f} s  {line}", markup=False, soft_wrap=True)

    say(f"{len(wanted.configurations)} configurations on {wanted.n_ranks} {wanted.device} ranks")
    if wanted.left_out:
        say(f"left out, since they need more GPUs: {', '.join(wanted.left_out)}")
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        outcome = sweep_into(output, wanted, sampler, interval_seconds=INTERVAL_SECONDS, say=say)
    finally:
        signal.signal(signal.SIGTERM, before)
    say(_sentence(outcome, output))
    return 0 if outcome.n_runs or not wanted.configurations else NO_RUN


def _sentence(outcome: Outcome, output: Path) -> str:
    return (
        f"{outcome.reason}: {outcome.n_runs} runs in {output}, {outcome.n_dropped} dropped, "
        f"{outcome.n_skipped} configurations skipped"
    )


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
