"""Open what a user names: a file or folder is recognised by its content, never by its name."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from flopwitness.app.faults import OWN_SAMPLES, is_own_parquet, require_sound
from flopwitness.app.truth import with_executed_truth
from flopwitness.core.dataset import Dataset
from flopwitness.core.errors import BadInputError
from flopwitness.core.recording import Recording
from flopwitness.core.trace import Trace
from flopwitness.core.workload import Run
from flopwitness.estimate.calibration import Calibration
from flopwitness.physics.chips import chip_named
from flopwitness.storage.atomic import reason
from flopwitness.storage.calibrations import read_calibration_payload
from flopwitness.storage.datasets import read_dataset, read_dataset_runs
from flopwitness.storage.recordings import read_recording
from flopwitness.storage.segments import is_unsealed, read_segments
from flopwitness.telemetry.readers.asked import NOTHING_ASKED, Asked
from flopwitness.telemetry.readers.runs_json import read_runs

CSV_SAMPLES = ("samples.csv", "samples.csv.gz")
DEFAULT_CHIP = "H200-SXM"
"""What recordings of our CSV format are of where nobody says otherwise; the format does not name the chip."""

SHIPPED = Path(__file__).parent / "calibrations"


def open_dataset(path: Path, *, chip: str = DEFAULT_CHIP) -> Dataset:
    """Open a dataset folder, ours or a recorder's, and fill in the executed truth where it can be derived.

    Raises
    ------
    BadInputError
        When it is no such folder, or something in it cannot be used.
    """
    if not _is_folder(path, "a dataset folder"):
        raise BadInputError(
            str(path), "", expected="a dataset folder", got="a file" if path.exists() else "nothing"
        )
    if (path / OWN_SAMPLES).exists():
        return require_sound(path, with_executed_truth(read_dataset(path)))
    if any((path / name).exists() for name in CSV_SAMPLES):
        from flopwitness.telemetry.readers.folder import read_dataset_folder  # noqa: PLC0415  slow, seldom

        found = read_dataset_folder(path, chip=chip_named(chip).name)
        return require_sound(path, with_executed_truth(found))
    raise BadInputError(
        str(path),
        "",
        expected=f"a folder with {OWN_SAMPLES} or {' or '.join(CSV_SAMPLES)}, and runs.json",
        got="neither",
    )


def open_recording(path: Path, *, chip: str | None = None, asked: Asked = NOTHING_ASKED) -> Recording:
    """Open a recording: our Parquet, a recorder's CSV, a folder with either, or a file of any known format.

    Parameters
    ----------
    path : Path
        What the user named; gzip is read as it is.
    chip : str or None
        Chip of GPUs that the file does not name; of our own CSV ``DEFAULT_CHIP`` where None.
    asked : Asked
        What else the user adds to it.

    Raises
    ------
    BadInputError
        When there is nothing, or nothing that can be used.
    """
    if _is_folder(path, "a recording, or a folder with one"):
        if is_unsealed(path):  # a recorder is at work there, or was killed
            return read_segments(path)
        found = [path / name for name in (OWN_SAMPLES, *CSV_SAMPLES) if (path / name).exists()]
        if not found:
            raise BadInputError(
                str(path), "", expected="a recording, or a folder with one", got="a folder without samples"
            )
        return _named(open_recording(found[0], chip=chip, asked=asked), path.resolve().name)
    if is_own_parquet(path):
        return read_recording(path)
    from flopwitness.app.importing import open_foreign  # noqa: PLC0415  slow, seldom

    named = asked.chip if chip is None else chip_named(chip).name
    return open_foreign(path, replace(asked, chip=named), own_chip=named or DEFAULT_CHIP)


def open_calibration(path: Path) -> Calibration:
    """Open a calibration file.

    Raises
    ------
    BadInputError
        When it is no calibration.
    CalibrationMismatchError
        When it is of another version, or for features or methods that this version does not have.
    """
    return Calibration.from_payload(read_calibration_payload(path))


def shipped_calibration(chips: Iterable[str]) -> Calibration:
    """Return the calibration that is shipped for the chip of a recording.

    Raises
    ------
    BadInputError
        When there is none, or the recording is of several chips.
    """
    names = sorted(set(chips))
    path = SHIPPED / f"{names[0].lower()}.json"
    if len(names) != 1 or not path.exists():
        raise BadInputError(
            "calibration",
            "",
            expected=f"one chip that a calibration is shipped for ({', '.join(shipped_chips())})",
            got=f"{', '.join(names)}; make one with 'flopwitness calibrate' and name it with --calibration",
        )
    return open_calibration(path)


def calibration_at_hand(chips: Iterable[str]) -> Calibration | None:
    """Return the calibration that is shipped for the chip of a recording; None where there is none."""
    names = set(chips)
    is_shipped = len(names) == 1 and {name.upper() for name in names} <= set(shipped_chips())
    return shipped_calibration(names) if is_shipped else None


def shipped_chips() -> tuple[str, ...]:
    """Return the chips that a calibration is shipped for."""
    return tuple(sorted(path.stem.upper() for path in SHIPPED.glob("*.json")))


def bundled_datasets() -> Path:
    """Return the folder of the datasets that come with the project: in the package, or beside its sources.

    Raises
    ------
    BadInputError
        When neither is there.
    """
    places = (Path(__file__).parent / "datasets", Path(__file__).parents[3] / "datasets")
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise BadInputError("bundled datasets", "", expected=f"a folder {places[1]}", got="none")
    return found


def _is_folder(path: Path, expected: str) -> bool:
    """Say whether a path is a folder; one that may not be looked at is a bad input, not a bug."""
    try:
        return path.is_dir()
    except OSError as error:
        raise BadInputError(str(path), "", expected=expected, got=reason(error)) from None


def _named(recording: Recording, name: str) -> Recording:
    """Call a recorder's file after its folder, and its devices with it where their UUIDs were inferred."""
    if recording.name == name or not any(finding.code == "uuid-inferred" for finding in recording.findings):
        return recording
    old = f"{recording.name}:"
    traces = tuple(
        Trace(
            replace(trace.device, uuid=f"{name}:{trace.device.uuid.removeprefix(old)}"),
            trace.time_ns,
            trace.channels,
        )
        for trace in recording.traces
    )
    return replace(recording, name=name, traces=traces)


def open_runs(path: Path) -> tuple[Run, ...]:
    """Open a list of runs: a dataset's ``runs.json`` (an object) or a recorder's (a list)."""
    try:
        with path.open("rb") as file:
            is_list = file.read(64).lstrip()[:1] in (b"[", b"\x1f")
    except OSError as error:
        raise BadInputError(str(path), "", expected="a readable list of runs", got=reason(error)) from None
    return (read_runs(path) if is_list else read_dataset_runs(path))[0]
