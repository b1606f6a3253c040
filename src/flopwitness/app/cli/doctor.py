"""``flopwitness doctor``: what this machine offers, what that allows and what to do about the rest."""

from typing import Annotated

import typer

from flopwitness.app.cli.options import AsJson
from flopwitness.app.cli.output import data, print_json, print_table
from flopwitness.app.doctoring import Diagnosis, GpuState, diagnose
from flopwitness.app.sampling import openers
from flopwitness.telemetry.samplers.nvml_signals import Cadence

ExporterUrl = Annotated[
    str | None,
    typer.Option("--exporter", help="Address of a dcgm-exporter, such as http://node:9400/metrics."),
]
Seconds = Annotated[float, typer.Option("--seconds", help="How long to sample.", min=1.5)]
Interval = Annotated[float, typer.Option("--interval", help="Seconds between two samples.", min=0.01)]

LOOK = Cadence(slow_seconds=1.0, costly_seconds=1.0)
"""Costly signals too are asked each second here, so that a short look shows whether they answer."""


def run(
    json: AsJson = False, exporter: ExporterUrl = None, seconds: Seconds = 2.0, interval: Interval = 0.1
) -> None:
    """Say which GPUs, signals and rates this machine offers, and which estimators they allow."""
    sources = openers(interval_seconds=interval, cadence=LOOK, exporter_url=exporter)
    found = diagnose(sources, seconds=seconds, interval_seconds=interval)
    if json:
        print_json(diagnosis_object(found))
    else:
        _print(found)


def diagnosis_object(found: Diagnosis) -> dict[str, object]:
    """Return a diagnosis as JSON values."""
    return {
        "source": found.source or None,
        "driver": found.driver or None,
        "sources": [
            {"name": state.name, "usable": state.usable, "reason": state.reason, "remedy": state.remedy}
            for state in found.sources
        ],
        "gpus": [_gpu_object(gpu) for gpu in found.gpus],
        "lost": dict(found.lost),
        "advice": list(found.advice),
    }


def _gpu_object(gpu: GpuState) -> dict[str, object]:
    return {
        "uuid": gpu.device.uuid,
        "chip": gpu.device.chip,
        "host": gpu.device.host,
        "rate_hertz": gpu.rate_hertz,
        "channels": dict(gpu.rates_hertz),
        "refused": dict(gpu.refused),
        "methods": {name: {"usable": not lack, "missing": list(lack)} for name, lack in gpu.methods.items()},
    }


def _print(found: Diagnosis) -> None:
    print_table(
        "Sources",
        ("source", "usable", "why not"),
        [(state.name, "yes" if state.usable else "no", state.reason or "-") for state in found.sources],
    )
    if found.gpus:
        title = f"GPUs by {found.source}" + (f", driver {found.driver}" if found.driver else "")
        rows = [
            (gpu.device.uuid, gpu.device.chip, f"{gpu.rate_hertz:.1f}", found.lost.get(gpu.device.uuid, "-"))
            for gpu in found.gpus
        ]
        print_table(title, ("GPU", "chip", "rate (Hz)", "lost"), rows)
        print_table("Signals", ("channel", "GPU", "rate (Hz)", "refused"), _signal_rows(found))
        print_table("Estimators", ("estimator", "GPU", "usable", "missing"), _method_rows(found))
    for line in found.advice:
        data().print(line, markup=False)


def _signal_rows(found: Diagnosis) -> list[tuple[str, str, str, str]]:
    given = [
        (name, gpu.device.uuid, f"{rate:.1f}", "-")
        for gpu in found.gpus
        for name, rate in gpu.rates_hertz.items()
    ]
    refused = [
        (name, gpu.device.uuid, "-", reason) for gpu in found.gpus for name, reason in gpu.refused.items()
    ]
    return given + refused


def _method_rows(found: Diagnosis) -> list[tuple[str, str, str, str]]:
    return [
        (name, gpu.device.uuid, "no" if lack else "yes", ", ".join(lack) or "-")
        for gpu in found.gpus
        for name, lack in gpu.methods.items()
    ]
