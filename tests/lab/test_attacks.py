"""Every attack runs, at its greatest strength, on two real ranks, in a shape for a processor."""

import pytest

pytest.importorskip("torch")
from flopwitness.lab.journal import Journal
from flopwitness.lab.sweep import Plan, run_sweep
from flopwitness.redteam.catalogue import ATTACKS
from small_attacks import small

STRONGEST = tuple(small(attack.configurations[-1]) for attack in ATTACKS.values() if attack.runnable)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """Sweep over the strongest of each attack."""
    plan = Plan(
        configurations=STRONGEST,
        device="cpu",
        traces=1,
        trace_seconds=0.02,
        gap_seconds=0.0,
        idle_seconds=0.0,
        warmup_steps=1,
        budget_seconds=500.0,
    )
    journal = Journal(STRONGEST, n_ranks=2)
    assert run_sweep(plan, journal, logs=tmp_path_factory.mktemp("logs")) == "all done"
    return journal


def test_every_attack_can_be_run(journal: Journal) -> None:
    """None is skipped, and each leaves a run."""
    assert journal.skipped == {}
    assert [run.config.name for run in journal.runs] == [config.name for config in STRONGEST]


def test_every_attack_has_a_truth_that_the_closed_form_confirms(journal: Journal) -> None:
    """Else nobody could say by how much it fools a witness."""
    truths = {name: found["truth"] for name, found in journal.finished.items()}

    assert [truth["problem"] for truth in truths.values()] == [""] * len(STRONGEST)
    assert all(truth["counted"] == truth["expected"] for truth in truths.values())


def test_only_what_takes_turns_counts_a_step_once(journal: Journal) -> None:
    """Of all others each rank takes every step."""
    for run in journal.runs:
        steps, turns = int(run.config.parameters["steps"]), run.config.parameters.get("turns", 0)
        truth = journal.finished[run.config.name]["truth"]

        assert run.truth.executed_flop == truth["executed"] * steps * (1 if turns else 2)
