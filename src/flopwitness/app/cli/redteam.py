"""``flopwitness redteam``: attack the estimators, score the attacks, put boards back."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from flopwitness.app.cli import lab
from flopwitness.app.cli.options import AsJson, CalibrationPath, Chip, DatasetPaths, Force, Seed
from flopwitness.app.cli.output import print_json, talk
from flopwitness.app.opening import DEFAULT_CHIP
from flopwitness.core.workload import Target, WorkloadConfig
from flopwitness.lab.capping import STATE, capped, restored

app = typer.Typer(help="Attack the estimators and score the attacks.", no_args_is_help=True)

AttackNames = Annotated[
    list[str],
    typer.Option(
        "--attack", help="Name of an attack; repeatable. 'redteam list' has them.", show_default=False
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Set the boards without asking.")]
StatePath = Annotated[Path, typer.Option("--state", help="Where the note of what was set lies.")]
Folder = Annotated[
    Path, typer.Option("--output", help="Dataset folder to write; must hold none.", show_default=False)
]
CountedAs = Annotated[Target, typer.Option("--target", help="Which FLOP to count.")]
Benign = Annotated[
    list[Path] | None,
    typer.Option("--benign", help="Dataset of the benign band; repeatable. The twins where not given."),
]
Without = Annotated[
    Path | None,
    typer.Option(
        "--without",
        help="Folder of calibrations each fitted without one attack, named <attack>.json: that attack is "
        "judged by it.",
    ),
]


class TwinSet(StrEnum):
    """Which benign runs attacks were made of; the keys of ``ATTACK_SETS``."""

    FIRST = "first"
    SECOND = "second"


Twins = Annotated[
    TwinSet,
    typer.Option("--twins", help="Which twins the attacks were run on: of plan attacks, or attacks-second."),
]
Report = Annotated[Path | None, typer.Option("--report", help="HTML page to write.")]


@app.command(name="list")
def list_attacks(json: AsJson = False) -> None:
    """List the attacks: on workloads, on settings of the boards, and on recorded telemetry."""
    from flopwitness.app.cli.redteam_tables import list_objects, print_list  # noqa: PLC0415

    if json:
        print_json({"attacks": list_objects()})
    else:
        print_list()


@app.command()
def run(
    attack: AttackNames,
    output: Folder,
    traces: lab.Traces = 3,
    seconds: lab.Seconds = 2.0,
    gap: lab.Gap = 0.4,
    idle: lab.Idle = 6.0,
    gpus: lab.Gpus = 0,
    device: lab.Where = "cuda",
    budget_seconds: lab.Budget = 540.0,
    stall_seconds: lab.Stall = 50.0,
    sample: lab.Sampled = True,
    yes: Yes = False,
    state: StatePath = STATE,
) -> int:
    """Run attacks, each beside its benign twin; settings of the boards one at a time, and restored."""
    from flopwitness.app import redteaming_run as attacking  # noqa: PLC0415
    from flopwitness.redteam.catalogue import ATTACKS  # noqa: PLC0415

    chosen = attacking.chosen_attacks(attack, ATTACKS, n_gpus=gpus or None)
    on_boards = attacking.on_boards(chosen)
    rhythm = lab.Rhythm(traces, seconds, gap, idle, budget_seconds, stall_seconds)

    def sweep(folder: Path, configurations: Sequence[WorkloadConfig]) -> int:
        sampler, n_gpus = lab.sampler_of(device, gpus, sample=sample)
        attacking.chosen_attacks(attack, ATTACKS, n_gpus=n_gpus)
        plan = rhythm.plan(tuple(configurations), device, n_gpus, started=time.monotonic())
        plan = replace(plan, gate=False)  # an attack may leave its GPUs idle: that is what is measured
        status = lab.swept(folder, plan, sampler)
        attacking.refuse_to_go_on(folder)
        return status

    if on_boards is None:
        return sweep(output, attacking.workload_configurations(chosen))
    from flopwitness.lab.capping_nvml import NvmlBoards  # noqa: PLC0415  needs a driver

    hold = partial(capped, NvmlBoards(), confirm=_confirm(yes=yes), state=state)
    return attacking.run_with_settings(on_boards, output, sweep=sweep, hold=hold)


@app.command()
def restore(state: StatePath = STATE) -> None:
    """Put boards back as a run found them that was killed before it could."""
    from flopwitness.lab.capping_nvml import NvmlBoards  # noqa: PLC0415  needs a driver

    if not state.exists():
        talk().print("nothing is set", markup=False)
        return
    number = restored(NvmlBoards(), note=lambda _: None, state=state)
    talk().print(f"{number} boards restored", markup=False)


@app.command()
def score(
    datasets: DatasetPaths,
    calibration: CalibrationPath = None,
    target: CountedAs = Target.EXECUTED,
    twins: Twins = TwinSet.FIRST,
    benign: Benign = None,
    without: Without = None,
    report: Report = None,
    seed: Seed = 0,
    chip: Chip = DEFAULT_CHIP,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Score attack runs by a calibration that was frozen before: effect, bounds and cost of each attack."""
    from flopwitness.app.cli.redteam_tables import print_scoring, scoring_object  # noqa: PLC0415
    from flopwitness.app.redteaming_score import Asked, gathered, write_report  # noqa: PLC0415
    from flopwitness.storage.atomic import refuse_taken  # noqa: PLC0415

    if report is not None and not force:
        refuse_taken(report)  # before the work, not after
    content = gathered(
        Asked(
            datasets=tuple(datasets),
            benign=tuple(benign or ()),
            calibration=calibration,
            without=without,
            target=target,
            twins=twins.value,
            chip=chip,
            seed=seed,
        )
    )
    if report is not None:
        write_report(report, content, replace=force)
        talk().print(f"wrote {report}", markup=False)
    if json:
        print_json(scoring_object(content))
    else:
        print_scoring(content)


def _confirm(*, yes: bool) -> Callable[[str], bool]:
    """Return what asks a person to type yes; the answer is given where ``--yes`` was."""

    def confirm(sentence: str) -> bool:
        talk().print(sentence, markup=False, soft_wrap=True)
        return yes or typer.prompt("type yes to set it", default="no", err=True).strip() == "yes"

    return confirm
