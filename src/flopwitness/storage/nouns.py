"""Nouns to plain values and back; what comes back is checked by the nouns themselves."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from flopwitness.core.device import Device
from flopwitness.core.errors import BadInputError, InvalidNounError
from flopwitness.core.finding import Finding, Severity
from flopwitness.core.recording import Provenance
from flopwitness.core.workload import GroundTruth, Run, WorkloadConfig

Noun = TypeVar("Noun")


def rebuilt(source: str, where: str, make: Callable[[], Noun]) -> Noun:
    """Make a noun of stored values; ``BadInputError`` where they do not make one."""
    try:
        return make()
    except (KeyError, TypeError, ValueError, AttributeError, InvalidNounError) as error:
        got = f"{type(error).__name__}: {error}"
        raise BadInputError(source, where, expected="the fields of this format", got=got) from error


def provenance_from(fields: dict[str, Any]) -> Provenance:
    """Return a provenance from its plain fields."""
    interval = fields["interval_seconds"]
    texts = {name: _text(value) for name, value in fields.items() if name != "interval_seconds"}
    return Provenance(**texts, interval_seconds=None if interval is None else _number(interval))


def device_from(fields: dict[str, Any]) -> Device:
    """Return a device from the plain fields ``uuid``, ``chip`` and ``host``."""
    return Device(_text(fields["uuid"]), chip=_text(fields["chip"]), host=_text(fields["host"]))


def finding_to(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain fields."""
    return asdict(finding) | {
        "severity": finding.severity.value,
        "start_ns": None if finding.start_ns is None else int(finding.start_ns),
        "stop_ns": None if finding.stop_ns is None else int(finding.stop_ns),
    }


def finding_from(fields: dict[str, Any]) -> Finding:
    """Return a finding from its plain fields."""
    return Finding(
        code=_text(fields["code"]),
        message=_text(fields["message"]),
        severity=Severity(fields["severity"]),
        subject=_text(fields["subject"]),
        start_ns=None if fields["start_ns"] is None else _integer(fields["start_ns"]),
        stop_ns=None if fields["stop_ns"] is None else _integer(fields["stop_ns"]),
    )


def run_to(run: Run) -> dict[str, Any]:
    """Return a run as plain fields."""
    return {
        "config": {
            "name": run.config.name,
            "family": run.config.family,
            "parameters": dict(run.config.parameters),
        },
        "start_ns": int(run.start_ns),
        "stop_ns": int(run.stop_ns),
        "algorithmic_flop": run.truth.algorithmic_flop,
        "executed_flop": run.truth.executed_flop,
        "trace_index": run.trace_index,
    }


def run_from(fields: dict[str, Any]) -> Run:
    """Return a run from its plain fields."""
    config = fields["config"]
    return Run(
        config=WorkloadConfig(_text(config["name"]), _text(config["family"]), _parameters(config)),
        start_ns=_integer(fields["start_ns"]),
        stop_ns=_integer(fields["stop_ns"]),
        truth=GroundTruth(_flop(fields["algorithmic_flop"]), _flop(fields["executed_flop"])),
        trace_index=_integer(fields["trace_index"]),
    )


def _parameters(config: dict[str, Any]) -> dict[str, int | float | str | bool]:
    parameters: dict[str, int | float | str | bool] = dict(config["parameters"])
    for name, value in parameters.items():
        if not isinstance(value, int | float | str):
            raise TypeError(f"parameter {name!r} is a {type(value).__name__}")
    return parameters


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _flop(value: object) -> float | None:
    return None if value is None else _number(value)
