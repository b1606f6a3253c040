"""Recordings in a folder."""

from pathlib import Path

from contracts.store import StoreContract, example
from flopwitness.storage.recording_folder import RecordingFolder


class TestRecordingFolder(StoreContract):
    """The folder keeps every promise of a store."""

    opening = "from flopwitness.storage.recording_folder import RecordingFolder as make"

    def make_store(self, folder: Path) -> RecordingFolder:
        """Use the folder as it is."""
        return RecordingFolder(folder)

    def test_other_files_are_passed_over(self, tmp_path: Path):
        """Only what can be read is listed: no foreign, cut or hidden file."""
        store = self.make_store(tmp_path)
        store.write("good", example())
        data = (tmp_path / "good.parquet").read_bytes()
        (tmp_path / "cut.parquet").write_bytes(data[:-40])
        (tmp_path / "foreign.parquet").write_bytes(b"PAR1PAR1")
        (tmp_path / ".good.parquet.0.tmp").write_bytes(data)
        (tmp_path / "note.txt").write_text("x")

        assert store.names() == ("good",)
