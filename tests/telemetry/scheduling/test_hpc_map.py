"""dcgm-exporter's map: files named by index, a job a line; everything else in the folder is passed over."""

import os
from pathlib import Path

from flopwitness.telemetry.scheduling.hpc_map import Holding, holdings, uuid_at


def test_each_line_is_a_job_that_holds_the_gpu(tmp_path: Path):
    """A slice's file speaks of its GPU; blank lines and repeated ids count once."""
    (tmp_path / "0").write_text("17\n18\n\n17\n", encoding="utf-8")
    (tmp_path / "1.3").write_text("19\n", encoding="utf-8")
    for name in ("0", "1.3"):
        os.utime(tmp_path / name, ns=(5, 5))

    assert holdings(tmp_path) == (Holding("17", 0, 5), Holding("18", 0, 5), Holding("19", 1, 5))


def test_other_files_are_passed_over(tmp_path: Path):
    """Half-written ones are hidden, the journal has a name; a folder is no file."""
    for name in (".0.tmp", "jobs.jsonl", "0x", "1.", "-1", "12345"):
        (tmp_path / name).write_text("17\n", encoding="utf-8")
    (tmp_path / "2").mkdir()

    assert holdings(tmp_path) == ()


def test_a_folder_that_is_gone_says_nothing(tmp_path: Path):
    """It is not an error: it may come back."""
    assert holdings(tmp_path / "none") == ()


def test_an_index_is_a_place_in_pci_order():
    """Where that is not known far enough, it names nobody."""
    assert uuid_at(1, ("GPU-a", "GPU-b")) == "GPU-b"
    assert uuid_at(2, ("GPU-a", "GPU-b")) is None
    assert uuid_at(0, ()) is None
