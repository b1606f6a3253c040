"""``flopwitness redteam``: what each command prints, writes and refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flopwitness.app.cli.redteam import TwinSet, app
from flopwitness.core.errors import BadInputError
from flopwitness.redteam.catalogue import ATTACK_SETS, ATTACKS
from flopwitness.redteam.tampering.catalogue import TAMPERINGS
from redteam.attacked import attacked, write_attacked
from redteam.calibrations import write_calibration_of


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset with a twin and two strengths of known effect."""
    folder = tmp_path_factory.mktemp("attacked") / "batch"
    return write_attacked(folder, attacked(ATTACKS["batch"], {"16": 1.0, "128": 1.5}))


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a calibration file of known constants."""
    return write_calibration_of(tmp_path_factory.mktemp("frozen") / "frozen.json")


def ran(*arguments: str | Path) -> str:
    """Run a command that must succeed; return its standard output."""
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert (result.exit_code, result.exception) == (0, None), result.output
    return result.stdout


def test_list_names_every_attack_of_all_three_sides() -> None:
    """Workloads, settings of the boards (which say that they need root), recorded telemetry."""
    (listed,) = [json.loads(line)["attacks"] for line in ran("list", "--json").splitlines()]

    sides = {one["name"]: one["side"] for one in listed}
    assert list(sides) == [*ATTACKS, *TAMPERINGS]
    assert {sides["split"], sides["power-cap"], sides["replay"]} == {"workload", "settings", "telemetry"}
    assert {one["name"] for one in listed if one["needs_root"]} == {"power-cap", "clock-lock"}
    assert all(one["rationale"] and one["strengths"] for one in listed)


def test_the_table_says_that_settings_were_never_run_here() -> None:
    """Nobody must take them for measured."""
    table = " ".join(ran("list").split())

    assert "power-cap" in table
    assert "they were never run on the boards that the datasets are of" in table


def test_score_tells_effect_bounds_and_cost_of_each_setting(batch: Path, frozen: Path) -> None:
    """One JSON object; the strongest setting hides a third of what the twin shows."""
    (line,) = ran("score", batch, "--calibration", frozen, "--json").splitlines()

    found = json.loads(line)
    effects = {(one["strength"], one["method"]): one for one in found["effects"]}
    weak, strong = effects["16", "pipe-cycles"], effects["128", "pipe-cycles"]
    assert found["target"] == "executed"
    assert found["calibrated_on"] == ["elsewhere"]
    assert weak["movement_ratio"] == pytest.approx(0, abs=1e-12)
    assert 1 + strong["signed_error_ratio"] == pytest.approx((1 + weak["signed_error_ratio"]) / 1.5)
    assert strong["gpu_time_ratio"] == pytest.approx(1 / 1.5)
    assert strong["is_in_budget"]
    (cheapest,) = [
        one for one in found["cheapest"] if (one["method"], one["figure"]) == ("pipe-cycles", "point")
    ]
    assert cheapest["in_budget"]["configuration"] == "batch-128"
    (summary,) = [one for one in found["summaries"] if one["method"] == "pipe-cycles"]
    assert (summary["worst"], summary["n_configurations"], summary["n_runs"]) == ("batch-128", 2, 6)


def test_algorithmic_flop_are_another_question(batch: Path, frozen: Path) -> None:
    """Attention in full counts more than was executed, so the same estimate hides more."""
    by_target = {}
    for target in ("executed", "algorithmic"):
        line = ran("score", batch, "--calibration", frozen, "--json", "--target", target)
        by_target[target] = json.loads(line)["effects"][0]["signed_error_ratio"]

    assert by_target["algorithmic"] < by_target["executed"]


def test_an_attack_is_judged_by_the_calibration_that_left_it_out(
    batch: Path, frozen: Path, tmp_path: Path
) -> None:
    """From a folder, by its name; the output says so."""
    write_calibration_of(tmp_path / "batch.json", worth=2.0)

    plain, apart = (
        json.loads(ran("score", batch, "--calibration", frozen, "--json", *more))
        for more in ((), ("--without", tmp_path))
    )

    assert (plain["left_out_in_turn"], apart["left_out_in_turn"]) == ([], ["batch"])
    first, other = (
        next(one for one in found["effects"] if one["method"] == "linear-power") for found in (plain, apart)
    )
    assert 1 + other["signed_error_ratio"] == pytest.approx(2 * (1 + first["signed_error_ratio"]))


def test_tables_name_the_cheapest_attack_and_every_setting(batch: Path, frozen: Path) -> None:
    """For people: the answer first, then families, then settings."""
    shown = " ".join(ran("score", batch, "--calibration", frozen).split())

    assert "The attack of least GPU time that hides 10 %" in shown
    assert "linear-power by attack family" in shown
    assert "Every setting against pipe-cycles, executed FLOP" in shown


def test_the_report_is_one_page_and_overwrites_only_by_force(
    batch: Path, frozen: Path, tmp_path: Path
) -> None:
    """Refused before the work."""
    pytest.importorskip("matplotlib")
    page = tmp_path / "redteam.html"
    ran("score", batch, "--calibration", frozen, "--report", page)

    again = CliRunner().invoke(
        app, ["score", str(batch), "--calibration", str(frozen), "--report", str(page)]
    )
    ran("score", batch, "--calibration", frozen, "--report", page, "--force")

    assert "Training compute under attack" in page.read_text()
    assert isinstance(again.exception, BadInputError)


@pytest.mark.parametrize(
    "arguments",
    ["--attack magic", "--attack power-cap --attack fp8", "--attack decoy-links --gpus 1", ""],
)
def test_run_refuses_before_anything_starts(tmp_path: Path, arguments: str) -> None:
    """Unknown attacks, settings beside other attacks, too few GPUs, no attack at all."""
    refused = CliRunner().invoke(app, f"run {arguments} --output {tmp_path / 'out'} --device cpu")

    assert refused.exit_code != 0
    assert list(tmp_path.iterdir()) == []


def test_restore_without_a_note_has_nothing_to_do(tmp_path: Path) -> None:
    """It needs neither a driver nor root then."""
    result = CliRunner().invoke(app, ["restore", "--state", str(tmp_path / "boards.json")])

    assert (result.exit_code, result.stderr) == (0, "nothing is set\n")


def test_the_sets_of_twins_are_those_of_the_catalogue():
    """What the option offers is what can be scored."""
    assert [one.value for one in TwinSet] == list(ATTACK_SETS)
