"""Coverage-guided fuzzing of what turns bytes into a format and its samples; the test suite does not need it.

``python benchmarks/fuzz_atheris.py [--minutes N] [--found FOLDER] [CORPUS ...]`` starts from the samples of
all formats and keeps inputs that reach new code in the first corpus. The first input that breaks a law in a
new way is written to a file and named on standard error, and the search goes on. Options with one hyphen go
to libFuzzer. Needs ``pip install atheris``.
"""

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

import atheris

# Samples have one home, the tests of each format.
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

with atheris.instrument_imports(include=["flopwitness.telemetry.readers"]):
    from flopwitness.core.errors import BadInputError
    from flopwitness.telemetry.readers import files
    from flopwitness.telemetry.readers.inputs import Input
    from fuzz.laws import crash, limited, of_answer
    from fuzz.samples import samples

SECONDS_PER_MINUTE = 60
ASKED = {sample.form.name: sample.asked for sample in samples()}


class Search:
    """Reads inputs as whatever they are; keeps one for each way in which a law breaks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: set[str] = set()

    def one_input(self, data: bytes) -> None:
        """Try one input."""
        broken = broken_by(data)
        if not broken or broken in self._known:
            return
        self._known.add(broken)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"found-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        sys.stderr.write(f"{broken}: {path}\n")


def broken_by(data: bytes) -> str:
    """Return the law that an input breaks; empty where it breaks none."""
    reader = files.FileReader(Input.of_bytes(data))
    try:
        with limited():
            reader.asked = ASKED[reader.format.name]
            return next(of_answer(reader.recording if reader.format.parse else reader.summary), "")
    except BadInputError as error:
        return "a refusal has more than one line" if "\n" in str(error) else ""
    except Exception as error:  # noqa: BLE001  what comes out is the finding
        return crash(error)


def main() -> None:
    """Run for some minutes."""
    parser = argparse.ArgumentParser(description=__doc__, prefix_chars="-")
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "flopwitness-found")
    options, words = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        for sample in samples():
            (Path(name) / f"{sample.form.name}-{sample.name}").write_bytes(sample.data)
        limits = [f"-max_total_time={options.minutes * SECONDS_PER_MINUTE}", "-max_len=8192", "-timeout=60"]
        atheris.Setup([sys.argv[0], *limits, *words, name], Search(options.found).one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
