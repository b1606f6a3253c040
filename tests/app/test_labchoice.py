"""What the lab is to run."""

import json
from pathlib import Path

import pytest

from flopwitness.app.labchoice import (
    TOO_FEW_GPUS,
    beyond,
    one_of_plan,
    only,
    read_configuration,
    settled_names,
    without,
)
from flopwitness.core.errors import BadInputError
from flopwitness.lab.plans import named_plan


def test_a_configuration_is_found_by_its_name():
    """Or it is the first where none is asked for."""
    assert one_of_plan("tiny", "tiny-2").name == "tiny-2"
    assert one_of_plan("tiny", "").name == "tiny-1"


def test_a_name_that_is_not_in_the_plan_is_refused():
    """Those that are there are listed."""
    with pytest.raises(BadInputError, match="one of tiny-1, tiny-2, tiny-3, got 'tiny-9'"):
        one_of_plan("tiny", "tiny-9")


@pytest.mark.parametrize("content", [{"d_model": 64}, {"parameters": {"d_model": 64}}])
def test_a_file_holds_hyper_parameters(tmp_path: Path, content: dict[str, object]) -> None:
    """Alone, or beside a family."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(content))

    config = read_configuration(path, name="mine")

    assert (config.name, config.family, dict(config.parameters)) == ("mine", "own", {"d_model": 64})


@pytest.mark.parametrize("text", ["[1]", "{", '{"parameters": 3}'])
def test_a_file_without_hyper_parameters_is_refused(tmp_path: Path, text: str) -> None:
    """One line that names the file."""
    path = tmp_path / "mine.json"
    path.write_text(text)

    with pytest.raises(BadInputError, match=r"mine\.json: expected"):
        read_configuration(path, name="mine")


def test_what_is_done_is_left_out_in_order():
    """The rest keeps the plan's balance."""
    left = without(named_plan("tiny"), {"tiny-2"})

    assert [config.name for config in left] == ["tiny-1", "tiny-3"]


def test_families_and_names_are_picked_out_of_a_plan():
    """In the order of the plan; everything where nobody picks."""
    plan = named_plan("attacks")

    picked = only(plan, "heads-64, split")

    assert [config.name for config in picked] == ["split-1", "split-2", "heads-64", "split-3"]
    assert only(plan, "") == plan


def test_what_a_plan_does_not_have_cannot_be_picked():
    """Its families are listed."""
    with pytest.raises(BadInputError, match="names, or of width-depth, got heads"):
        only(named_plan("tiny"), "tiny-1,heads")


def test_what_needs_more_gpus_is_left_out_and_may_run_elsewhere(tmp_path: Path) -> None:
    """A later sweep does not take it for settled."""
    left_out = beyond(named_plan("attacks"), 1)
    skipped = left_out | {"fp8-all": "no memory"}
    content = {"format": "flopwitness-sweep", "version": 1, "finished": {}, "skipped": skipped}
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "sweep.json").write_text(json.dumps(content))

    assert left_out["half-b8"] == f"{TOO_FEW_GPUS} 2, there are 1"
    assert {name.rsplit("-", 1)[0] for name in left_out} == {"half", "handover", "local-steps", "decoy-links"}
    assert beyond(named_plan("attacks"), 2) == {}
    assert settled_names([tmp_path]) == {"fp8-all"}


def test_a_folder_without_a_sweep_is_refused(tmp_path: Path) -> None:
    """Else a typing error would run everything again."""
    with pytest.raises(BadInputError, match=r"sweep\.json"):
        settled_names([tmp_path])
