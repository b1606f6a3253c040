"""Run attacks beside their twins: workloads in one sweep, settings of the boards each in one of its own."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from flopwitness.app.labwork import EVENTS, SWEEP, SWEEP_KIND, SWEEP_VERSION
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.capping import Note, Setting
from flopwitness.redteam.attack import Attack, Strength
from flopwitness.storage.documents import read_document

SETTINGS_LOG = "settings.jsonl"
"""Beside the words of the ranks: what was set on which board and when."""

Sweep = Callable[[Path, Sequence[WorkloadConfig]], int]
"""Runs configurations into a folder and returns an exit status."""

Hold = Callable[..., AbstractContextManager[None]]
"""Holds a setting while it is entered, such as ``flopwitness.lab.capping.capped`` of some boards."""


def chosen_attacks(
    names: Iterable[str], attacks: Mapping[str, Attack], *, n_gpus: int | None
) -> tuple[Attack, ...]:
    """Return the attacks of these names; ``n_gpus`` is None where nobody counted the GPUs yet.

    Raises
    ------
    BadInputError
        When a name is of no attack, or one needs more GPUs than there are.
    """
    found = []
    for name in dict.fromkeys(names):
        if name not in attacks:
            raise BadInputError("--attack", "", expected=f"one of {', '.join(attacks)}", got=repr(name))
        if n_gpus is not None and attacks[name].n_gpus_required > n_gpus:
            needed = attacks[name].n_gpus_required
            raise BadInputError(f"attack {name}", "", expected=f"{needed} GPUs or more", got=str(n_gpus))
        found.append(attacks[name])
    return tuple(found)


def on_boards(chosen: Sequence[Attack]) -> Attack | None:
    """Return the attack that changes settings of the boards, or None where workloads alone are attacked.

    Raises
    ------
    BadInputError
        When it is not alone: each setting is a sweep of its own.
    """
    found = [attack for attack in chosen if not attack.runnable]
    if found and len(chosen) > 1:
        raise BadInputError("--attack", "", expected=f"{found[0].name} alone", got=f"{len(chosen)} attacks")
    return found[0] if found else None


def workload_configurations(attacks: Iterable[Attack]) -> tuple[WorkloadConfig, ...]:
    """Return what the workload attacks run: each twin once and first, then every strength."""
    runnable = [attack for attack in attacks if attack.runnable]
    twins = {attack.twin.name: attack.twin for attack in runnable}
    return (*twins.values(), *(config for attack in runnable for config in attack.configurations))


def run_with_settings(attack: Attack, output: Path, *, sweep: Sweep, hold: Hold) -> int:
    """Run a twin as the boards are, then once under each setting; return the worst exit status.

    Each goes into a folder of its own under ``output``, with the settings in ``events/settings.jsonl``. What
    was set is restored after each run, however it ends.

    Parameters
    ----------
    attack : Attack
        One that changes settings of the boards.
    output : Path
        Folder of the datasets.
    sweep : callable
        Runs configurations into a folder.
    hold : callable
        Takes a setting and, as ``note``, what takes its events.
    """
    statuses = [sweep(output / attack.twin.name, [attack.twin])]
    for strength in attack.strengths:
        name = attack.name_of(strength)
        config = WorkloadConfig(name, attack.name, attack.twin.parameters)
        with _noted(output / name) as note, hold(setting_of(strength), note=note):
            statuses.append(sweep(output / name, [config]))
    return max(statuses)


def refuse_to_go_on(folder: Path) -> None:
    """Raise ``KeyboardInterrupt`` where a folder's sweep was interrupted: it kept its runs and returned."""
    content = read_document(folder / EVENTS / SWEEP, kind=SWEEP_KIND, version=SWEEP_VERSION)
    if content["ended"] == "interrupted":
        raise KeyboardInterrupt


def setting_of(strength: Strength) -> Setting:
    """Return the setting of the boards that a strength names.

    Examples
    --------
    >>> setting_of(Strength("300w", {"power_limit_watts": 300})).words
    'power limit 300 W'
    """
    return Setting(**{name: float(value) for name, value in strength.changes.items()})


@contextmanager
def _noted(folder: Path) -> Iterator[Note]:
    """Return what appends events to a folder's log of settings, each forced out at once."""
    place = folder / EVENTS
    place.mkdir(parents=True, exist_ok=True)
    with (place / SETTINGS_LOG).open("a", encoding="utf-8") as out:

        def note(event: Mapping[str, object]) -> None:
            out.write(json.dumps(event) + "\n")
            out.flush()

        yield note
