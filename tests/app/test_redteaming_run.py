"""What is run of an attack: twins first, board settings one at a time, each undone and written down."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from flopwitness.app.labwork import EVENTS, SWEEP, SWEEP_KIND, SWEEP_VERSION
from flopwitness.app.redteaming_run import (
    SETTINGS_LOG,
    chosen_attacks,
    refuse_to_go_on,
    run_with_settings,
    setting_of,
    workload_configurations,
)
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import WorkloadConfig
from flopwitness.lab.capping import CappingError, capped
from flopwitness.redteam.attack import Attack, Strength
from flopwitness.redteam.catalogue import ATTACKS
from flopwitness.storage.documents import write_document
from lab.boards import DEFAULT_WATTS, FakeBoards

CAP = Attack(
    name="cap",
    rationale="Less power for longer.",
    twin=ATTACKS["power-cap"].twin,
    strengths=(Strength("300w", {"power_limit_watts": 300}), Strength("250w", {"power_limit_watts": 250})),
    runnable=False,
)


def test_twins_run_first_and_once():
    """Two attacks beside the same twin need it once."""
    chosen = chosen_attacks(["fp8", "lora", "fp8"], ATTACKS, n_gpus=1)

    names = [config.name for config in workload_configurations(chosen)]

    assert names[0] == ATTACKS["fp8"].twin.name
    assert names[1:] == [config.name for name in ("fp8", "lora") for config in ATTACKS[name].configurations]


def test_an_unknown_attack_and_too_few_gpus_are_refused():
    """The line names what there is, and what it needs."""
    needy = next(attack for attack in ATTACKS.values() if attack.n_gpus_required == 2)

    with pytest.raises(BadInputError, match=r"expected one of split.*got 'magic'"):
        chosen_attacks(["magic"], ATTACKS, n_gpus=8)
    with pytest.raises(BadInputError, match="expected 2 GPUs or more, got 1"):
        chosen_attacks([needy.name], ATTACKS, n_gpus=1)


def test_every_attack_on_settings_names_a_setting():
    """What the catalogue writes, the boards understand."""
    settings = [
        setting_of(strength).words
        for attack in ATTACKS.values()
        if not attack.runnable
        for strength in attack.strengths
    ]

    assert "power limit 300 W" in settings
    assert "SM clock 1200 MHz" in settings


def test_each_setting_holds_for_its_own_run_alone(tmp_path: Path):
    """The twin runs as the boards are; a log beside each run says what was set and restored."""
    boards, seen = FakeBoards(), []

    def sweep(folder: Path, configurations: Sequence[WorkloadConfig]) -> int:
        (config,) = configurations
        seen.append((folder.name, config.name, config.family, boards.power_limit("GPU-a").watts))
        return 0

    hold = partial(capped, boards, confirm=lambda _: True, state=tmp_path / "boards.json")
    status = run_with_settings(CAP, tmp_path / "out", sweep=sweep, hold=hold)

    twin = CAP.twin.name
    assert status == 0
    assert seen == [
        (twin, twin, "twin", DEFAULT_WATTS),
        ("cap-300w", "cap-300w", "cap", 300.0),
        ("cap-250w", "cap-250w", "cap", 250.0),
    ]
    lines = (tmp_path / "out" / "cap-250w" / EVENTS / SETTINGS_LOG).read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["set", "set", "restored", "restored"]
    assert boards.power_limit("GPU-a").watts == DEFAULT_WATTS


def test_a_no_ends_it_and_the_worst_status_counts(tmp_path: Path):
    """Nothing further is set; a run that measured nothing shows in the status."""
    boards = FakeBoards()
    hold = partial(capped, boards, confirm=lambda _: False, state=tmp_path / "boards.json")

    with pytest.raises(CappingError, match="not confirmed"):
        run_with_settings(CAP, tmp_path / "no", sweep=lambda *_: 0, hold=hold)

    agreed = partial(capped, boards, confirm=lambda _: True, state=tmp_path / "boards.json")
    assert run_with_settings(CAP, tmp_path / "yes", sweep=lambda *_: 3, hold=agreed) == 3


@pytest.mark.parametrize("ended", ["finished", "interrupted"])
def test_an_interrupted_sweep_starts_no_other(tmp_path: Path, ended: str):
    """A sweep keeps its runs on Ctrl-C and returns; the next setting must not begin."""
    (tmp_path / EVENTS).mkdir()
    write_document(
        tmp_path / EVENTS / SWEEP, {"format": SWEEP_KIND, "version": SWEEP_VERSION, "ended": ended}
    )

    if ended == "finished":
        refuse_to_go_on(tmp_path)
    else:
        with pytest.raises(KeyboardInterrupt):
            refuse_to_go_on(tmp_path)
