"""What ran in a capture: a list of runs with hyper-parameters, times and counted FLOP."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig
from flopwitness.telemetry.readers.cells import LAST_SECOND
from flopwitness.telemetry.readers.delimited import shown
from flopwitness.telemetry.readers.source import read_source

Fields = Mapping[str, object]
"""One object of the list; fractions are ``Decimal``, so that times keep every digit."""

ExecutedFlop = Callable[[Mapping[str, int | float | str | bool]], float | None]
"""Hyper-parameters to executed FLOP over all GPUs and steps of the run; None where it is unknown."""

RESULTS = frozenset(
    {
        "name",
        "family",
        "error",
        "t_start",
        "t_end",
        "flops_per_step_per_gpu",
        "total_tflop",
        "executed_tflop",
        "step_s",
        "mem_gib",
    }
)
"""Fields that say what came out, or who it was; every other field is a hyper-parameter."""

FLOP_PER_TERAFLOP = 10**12
AGREEMENT_RATIO = 1e-6
"""How far the two statements of the algorithmic FLOP of a run may lie apart."""


def read_runs(
    path: Path, *, executed_flop: ExecutedFlop | None = None
) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """Read a list of runs (plain or gzip JSON).

    Parameters
    ----------
    path : Path
        A JSON list of objects with ``name``, ``t_start`` and ``t_end`` (epoch seconds, UTC) and, where
        known, ``family``, ``total_tflop``, ``executed_tflop`` and
        ``flops_per_step_per_gpu`` x ``steps`` x ``n_gpus``.
    executed_flop : callable or None
        Fills in the executed FLOP where the file has none.

    Returns
    -------
    runs : tuple of Run
        In time order; a repeated name counts up ``trace_index``.
    skipped : tuple of str
        One sentence for each run that failed or has no times.

    Raises
    ------
    BadInputError
        When the text is not such a list, a field has the wrong type or range, or the two
        statements of algorithmic FLOP differ.
    """
    source = read_source(Path(path))
    if source.is_cut:
        raise BadInputError(source.path, "", expected="a whole gzip file", got="one without an end")
    used: list[Run] = []
    skipped: list[str] = []
    for number, fields in enumerate(_parse(source.path, source.data)):
        entry = _Entry(source.path, number, fields)
        if reason := entry.reason_to_skip():
            skipped.append(f"run {entry.name!r}: {reason}")
        else:
            used.append(entry.run(executed_flop))
    return _numbered(sorted(used, key=lambda run: run.start_ns)), tuple(skipped)


def _parse(path: str, data: bytes) -> list[Fields]:
    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not JSON")

    try:
        runs = json.loads(data, parse_float=Decimal, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise BadInputError(path, "", expected="JSON", got=shown(error)) from error
    if not isinstance(runs, list):
        raise BadInputError(path, "", expected="a list of runs", got=f"a {type(runs).__name__}")
    for number, fields in enumerate(runs):
        if not isinstance(fields, dict):
            raise BadInputError(path, f"run {number}", expected="an object", got=shown(fields))
    return runs


def _numbered(runs: list[Run]) -> tuple[Run, ...]:
    seen: Counter[str] = Counter()
    numbered: list[Run] = []
    for run in runs:
        numbered.append(replace(run, trace_index=seen[run.config.name]))
        seen[run.config.name] += 1
    return tuple(numbered)


class _Entry:
    """One object of the list, and where it stands for messages."""

    def __init__(self, path: str, number: int, fields: Fields) -> None:
        self._path, self._number, self._fields = path, number, fields
        self.name = self._text("name")

    def reason_to_skip(self) -> str:
        """Return why the run cannot be used; empty where it can."""
        if (error := self._fields.get("error")) is not None:
            return f"it failed ({shown(error)})"
        lacking = [name for name in ("t_start", "t_end") if self._fields.get(name) is None]
        return f"it has no {' and no '.join(lacking)}" if lacking else ""

    def run(self, executed_flop: ExecutedFlop | None) -> Run:
        """Return the run, its repetition not yet counted."""
        config = WorkloadConfig(self.name, self._text("family", default="unknown"), self._parameters())
        executed = self._terms("executed_tflop", FLOP_PER_TERAFLOP)
        if executed is None and executed_flop is not None:
            executed = executed_flop(config.parameters)
        try:
            truth = GroundTruth(self._algorithmic_flop(), executed)
            return Run(config, self._nanoseconds("t_start"), self._nanoseconds("t_end"), truth)
        except InvalidNounError as error:
            where = f"run {self.name!r}"
            raise BadInputError(self._path, where, expected="a run", got=str(error)) from error

    def _bad(self, field: str, *, expected: str) -> BadInputError:
        name = self._fields.get("name", self._number)
        got = shown(self._fields[field]) if field in self._fields else "none"
        return BadInputError(self._path, f"run {name!r}, field {field!r}", expected=expected, got=got)

    def _text(self, field: str, *, default: str = "") -> str:
        value = self._fields.get(field, default)
        if not isinstance(value, str) or not value:
            raise self._bad(field, expected="a text")
        return value

    def _number_or_none(self, field: str) -> int | Decimal | None:
        value = self._fields.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not 0 < value < 10**30:
            raise self._bad(field, expected="a positive number")
        return value

    def _nanoseconds(self, field: str) -> int:
        seconds = self._number_or_none(field)
        if seconds is None or seconds >= LAST_SECOND:
            raise self._bad(field, expected="seconds since 1970")
        return round(Decimal(seconds) * 10**9)

    def _terms(self, field: str, *factors: int | str) -> float | None:
        """Return a field times numbers or other fields, exact until the end; None where one is missing."""
        values = [self._number_or_none(field)]
        values += [self._number_or_none(factor) if isinstance(factor, str) else factor for factor in factors]
        known = [value for value in values if value is not None]
        return float(math.prod(known)) if len(known) == len(values) else None

    def _algorithmic_flop(self) -> float | None:
        counted = self._terms("flops_per_step_per_gpu", "steps", "n_gpus")
        stated = self._terms("total_tflop", FLOP_PER_TERAFLOP)
        if counted is None or stated is None:
            return stated if counted is None else counted
        if abs(stated - counted) > AGREEMENT_RATIO * counted:
            raise self._bad("total_tflop", expected=f"{counted / FLOP_PER_TERAFLOP} from steps and GPUs")
        return counted

    def _parameters(self) -> dict[str, int | float | str | bool]:
        parameters: dict[str, int | float | str | bool] = {}
        for name, value in self._fields.items():
            if name in RESULTS or value is None:
                continue
            if isinstance(value, Decimal):
                value = float(value)  # noqa: PLW2901
            if not isinstance(value, int | float | str) or value in {math.inf, -math.inf}:
                raise self._bad(name, expected="a number, a text, true or false")
            parameters[name] = value
        return parameters
