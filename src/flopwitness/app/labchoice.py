"""Which configurations the lab is to run: of a plan, of a file, less what earlier sweeps have done."""

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from flopwitness.app.labwork import EVENTS, SWEEP, SWEEP_KIND, SWEEP_VERSION
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.plans import named_plan
from flopwitness.redteam.catalogue import attack_of
from flopwitness.storage.atomic import reason
from flopwitness.storage.documents import read_document

TOO_FEW_GPUS = "GPUs needed:"
"""How the reason begins for which a configuration is left out here, and might run elsewhere."""


def settled_names(folders: Iterable[Path]) -> frozenset[str]:
    """Return the configurations that earlier sweeps finished, or found that they cannot run.

    Raises
    ------
    BadInputError
        When a folder holds no sweep.
    """
    names: set[str] = set()
    for folder in folders:
        content = read_document(folder / EVENTS / SWEEP, kind=SWEEP_KIND, version=SWEEP_VERSION)
        skipped: dict[str, str] = content["skipped"]
        names |= content["finished"].keys()
        # A machine with more GPUs may run what this one could not.
        names |= {name for name, why in skipped.items() if not why.startswith(TOO_FEW_GPUS)}
    return frozenset(names)


def only(configurations: Sequence[WorkloadConfig], wanted: str) -> tuple[WorkloadConfig, ...]:
    """Return the configurations of these families or names, joined by commas; all where it is empty.

    Raises
    ------
    BadInputError
        When the plan knows one of them neither as a family nor as a name.
    """
    names = {part.strip() for part in wanted.split(",")} - {""}
    known = {one.name for one in configurations} | {one.family for one in configurations}
    if unknown := sorted(names - known):
        families = ", ".join(dict.fromkeys(one.family for one in configurations))
        raise BadInputError("--only", "", expected=f"names, or of {families}", got=", ".join(unknown))
    return tuple(one for one in configurations if not names or names & {one.name, one.family})


def beyond(configurations: Iterable[WorkloadConfig], n_gpus: int) -> dict[str, str]:
    """Return the configurations that need more GPUs than there are, by name, and why each is left out."""
    found = {one.name: attack_of(one.name) for one in configurations}
    needed = {name: pair[0].n_gpus_required for name, pair in found.items() if pair is not None}
    return {
        name: f"{TOO_FEW_GPUS} {n_needed}, there are {n_gpus}"
        for name, n_needed in needed.items()
        if n_needed > n_gpus
    }


def without(configurations: Iterable[WorkloadConfig], names: Collection[str]) -> tuple[WorkloadConfig, ...]:
    """Return the configurations that are not among the names, in their order."""
    return tuple(config for config in configurations if config.name not in names)


def one_of_plan(plan: str, name: str) -> WorkloadConfig:
    """Return a configuration of a plan by its name, or the first where the name is empty.

    Raises
    ------
    BadInputError
        When there is no such plan, or none of that name in it.
    """
    listed = named_plan(plan)
    found = next((config for config in listed if name in ("", config.name)), None)
    if found is None:
        names = ", ".join(config.name for config in listed)
        raise BadInputError(f"plan {plan}", "", expected=f"one of {names}", got=repr(name))
    return found


def read_configuration(path: Path, *, name: str) -> WorkloadConfig:
    """Read one configuration: a JSON object of hyper-parameters, or one with ``parameters`` and ``family``.

    Raises
    ------
    BadInputError
        When it is none.
    """
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInputError(str(path), "", expected="a readable file", got=reason(error)) from error
    except ValueError as error:
        raise BadInputError(str(path), "", expected="JSON", got=str(error)) from error
    parameters = content.get("parameters", content) if isinstance(content, dict) else None
    if not isinstance(parameters, dict):
        raise BadInputError(str(path), "", expected="an object of hyper-parameters", got=repr(content)[:60])
    family = content.get("family", "own") if parameters is not content else "own"
    return WorkloadConfig(name, str(family), parameters)
