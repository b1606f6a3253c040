"""Where generated inputs come from: the sample files of every format's own tests, and no others."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from contracts.format import FormatContract
from flopwitness.telemetry.readers.asked import Asked
from flopwitness.telemetry.readers.reading import Format
from source_tree import TESTS

FORMAT_TESTS = TESTS / "telemetry" / "readers" / "formats"


@dataclass(frozen=True, slots=True)
class Sample:
    """A small file of a format, and what a user adds to it."""

    name: str
    form: Format
    data: bytes
    asked: Asked
    is_binary: bool


@cache
def samples() -> tuple[Sample, ...]:
    """Return the samples of all formats, by format and test class."""
    found = [
        sample for path in sorted(FORMAT_TESTS.glob("test_*.py")) for sample in _of_module(_loaded(path))
    ]
    return tuple(sorted(found, key=lambda sample: (sample.form.name, sample.name)))


def samples_of(form_name: str) -> tuple[Sample, ...]:
    """Return the samples of one format."""
    return tuple(sample for sample in samples() if sample.form.name == form_name)


def _of_module(module: ModuleType) -> Iterator[Sample]:
    for name, each in vars(module).items():
        is_class = isinstance(each, type) and issubclass(each, FormatContract) and hasattr(each, "sample")
        if is_class and each.__module__ == module.__name__:
            yield Sample(name, each.form, each.sample, each.asked, each.is_binary)


def _loaded(path: Path) -> ModuleType:
    name = f"fuzzed_{path.stem}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
