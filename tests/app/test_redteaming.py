"""From runs to scored attacks: who is compared with whom, by which calibration, at which cost."""

from dataclasses import replace
from pathlib import Path

import pytest

from flopwitness.app.examples import logged_session
from flopwitness.app.labwork import OTHER_RUNS, write_runs
from flopwitness.app.opening import open_dataset
from flopwitness.app.redteaming import BENIGN, materials_of, open_attacked, scored_attacks, trials_of
from flopwitness.core.errors import BadInputError
from flopwitness.core.workload import GroundTruth, Target
from flopwitness.estimate.features.row import session_features
from flopwitness.redteam.catalogue import ATTACKS
from flopwitness.redteam.summary import Scoring
from redteam.attacked import NODE, attacked, write_attacked
from redteam.calibrations import calibration_of

BATCH, FP8 = ATTACKS["batch"], ATTACKS["fp8"]
FACTORS = {"128": 1.5, "16": 1.0, "64": 1.25}


def scored(*names: str, factors: dict[str, float] = FACTORS, **given: object) -> Scoring:
    """Score attacks made of the same real runs, their truths scaled by known factors."""
    materials = [
        one
        for name in names
        for one in materials_of(
            attacked(ATTACKS[name], factors if name == "batch" else dict.fromkeys(("third", "all"), 1.1))
        )
    ]
    settings = {"calibration_without": lambda _: calibration_of(), "target": Target.EXECUTED} | given
    return scored_attacks(materials, ATTACKS, **settings)


def test_a_truth_that_grows_unseen_is_hidden_and_the_twin_tells_what_was_benign():
    """Error (1 + e) / factor - 1, whatever e the estimator has on the real runs; strengths in their order."""
    found = [one for one in scored("batch").effects if one.method == "pipe-cycles"]

    benign = found[0].twin_error_ratio
    assert [one.strength for one in found] == ["16", "64", "128"]
    assert found[0].movement_ratio == pytest.approx(0, abs=1e-12)
    for effect, factor in zip(found, (1.0, 1.25, 1.5), strict=True):
        assert effect.n_traces == 3
        assert effect.has_same_gpus
        assert effect.signed_error_ratio == pytest.approx((1 + benign) / factor - 1)


def test_cost_is_of_the_work_that_was_done():
    """Half as much work again in the same time and energy costs two thirds."""
    strongest = scored("batch").effects[-1]

    assert strongest.cost.gpu_time_ratio == pytest.approx(1 / 1.5)
    assert strongest.cost.energy_ratio == pytest.approx(1 / 1.5)


def test_energy_is_that_of_the_whole_board_and_time_that_of_all_gpus():
    """Idle power is part of the bill, so that a poisoned idle baseline changes no cost."""
    node = open_dataset(NODE)

    first = materials_of(node)[0]

    run = first.run
    free = dict.fromkeys(first.gpus, 0.0)
    whole = session_features(logged_session(node.recording, run), free).values["net_energy_joules"]
    assert first.spending.joules == pytest.approx(whole)
    assert whole > 1.05 * first.features.values["net_energy_joules"]
    assert first.spending.gpu_seconds == pytest.approx(2 * (run.stop_ns - run.start_ns) / 1e9)
    assert first.spending.executed_flop == run.truth.executed_flop
    assert first.gpus == tuple(sorted(trace.device.uuid for trace in node.recording.traces))


def test_each_attack_is_judged_by_the_calibration_that_did_not_see_it():
    """Its twin by the same one, or the distance would mix two calibrations."""
    asked: list[str] = []

    def calibration_without(attack: str) -> object:
        asked.append(attack)
        return calibration_of(worth=2.0 if attack == "fp8" else 1.0)

    found = scored("batch", "fp8", calibration_without=calibration_without)

    twins = {one.attack: one.twin_error_ratio for one in found.effects if one.method == "linear-power"}
    assert sorted(asked) == [BENIGN, "batch", "fp8"]
    assert twins["batch"] > -0.9
    assert 1 + twins["fp8"] == pytest.approx(2 * (1 + twins["batch"]))


def test_the_band_is_of_benign_runs_or_of_the_twins():
    """What is told from honest scatter depends on it, so the number of runs is kept."""
    node = materials_of(open_dataset(NODE))

    own, given = scored("batch"), scored("batch", benign=node)

    assert own.n_benign == 3
    assert given.n_benign == len(node)
    low, high = given.bands["pipe-cycles"]
    assert low <= high
    assert given.effects == own.effects


def test_what_is_no_attack_is_left_out_and_said():
    """Neither forgotten nor scored as one, though a benign family may be called as an attack is."""
    node = materials_of(open_dataset(NODE))
    family = "heads"
    n_family = sum(one.run.config.family == family for one in node)
    batch = materials_of(attacked(BATCH, {"64": 1.0}))

    found = scored_attacks(
        [*batch, *node], ATTACKS, calibration_without=lambda _: calibration_of(), target=Target.EXECUTED
    )

    assert n_family > 0
    assert [attack.name for attack in found.attacks] == ["batch"]
    assert f"{n_family} runs of family {family}: no setting of the catalogue" in found.left_out


def test_runs_without_a_truth_are_left_out_and_no_attack_at_all_is_refused():
    """Of an unknown truth there is no error."""
    dataset = attacked(BATCH, {"64": 1.0})
    blind = replace(
        dataset, runs=tuple(replace(run, truth=GroundTruth(algorithmic_flop=1e15)) for run in dataset.runs)
    )

    with pytest.raises(BadInputError, match="runs of attacks with executed FLOP known"):
        scored_attacks(
            materials_of(blind),
            ATTACKS,
            calibration_without=lambda _: calibration_of(),
            target=Target.EXECUTED,
        )


def test_a_trial_carries_what_its_name_says():
    """The strength is what a name adds to the attack's; a twin has none."""
    own, *_ = materials_of(attacked(FP8, {"two-thirds": 1.0}))
    found = {
        one.run.config.name: trials_of([one], calibration_of(), Target.EXECUTED, attack="fp8")[0].strength
        for one in materials_of(attacked(FP8, {"two-thirds": 1.0}))
    }

    assert found["fp8-two-thirds"] == "two-thirds"
    assert trials_of([own], calibration_of(), Target.EXECUTED)[0].strength == ""


def test_runs_that_the_gate_set_aside_are_scored(tmp_path: Path):
    """Throttling lowers utilisation; leaving such runs out would leave out the attack. Warm-ups stay out."""
    dataset = attacked(BATCH, {"64": 1.0})
    folder = write_attacked(tmp_path / "attacked", dataset)
    kept, aside = dataset.runs[:2], dataset.runs[2:5]
    warm = replace(dataset.runs[5], config=replace(dataset.runs[5].config, family="warmup"))
    write_runs(folder, kept, others=(*aside, warm), skipped=())

    found = open_attacked(folder, chip="H200-SXM")

    assert (folder / OTHER_RUNS).exists()
    assert found.runs == dataset.runs[:5]
