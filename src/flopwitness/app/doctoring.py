"""What a machine offers for witnessing: sources, signals, rates really reached, and what that allows."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from flopwitness.app.capabilities import advice_of, allowed_methods
from flopwitness.app.sampling import LiveSampler, Openers
from flopwitness.core.device import Device
from flopwitness.core.errors import FlopWitnessError
from flopwitness.telemetry.samplers.sampled import SourceUnavailableError


@dataclass(frozen=True, slots=True)
class SourceState:
    """Whether a source can be used; the reason and a remedy where it cannot."""

    name: str
    usable: bool
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class GpuState:
    """What one GPU was seen to give.

    Attributes
    ----------
    device : Device
        Which one.
    rates_hertz : mapping of str to float
        How often each channel was answered, by name; 0 where it never was.
    refused : mapping of str to str
        Channels that the source does not give, with the reason.
    methods : mapping of str to tuple of str
        Estimators by name, each with the channels that it still misses; none missing means usable.
    """

    device: Device
    rates_hertz: Mapping[str, float]
    refused: Mapping[str, str]
    methods: Mapping[str, tuple[str, ...]]

    @property
    def rate_hertz(self) -> float:
        """How often the GPU answered with its most frequent channel."""
        return max(self.rates_hertz.values(), default=0.0)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found on this machine; ``source`` is empty where nothing can be sampled."""

    sources: tuple[SourceState, ...]
    source: str = ""
    driver: str = ""
    gpus: tuple[GpuState, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)

    @property
    def advice(self) -> tuple[str, ...]:
        """What a person can do about what is missing, one sentence each."""
        if not self.source:
            remedies = [f"{state.name}: {state.remedy}" for state in self.sources if state.remedy]
            return ("No GPU can be sampled here; recordings can still be read and estimated.", *remedies)
        lost = [f"{uuid} does not answer: {reason}." for uuid, reason in self.lost.items()]
        found = [
            line for gpu in self.gpus for line in advice_of(gpu.device.chip, gpu.rates_hertz, gpu.refused)
        ]
        return tuple(dict.fromkeys([*lost, *found]))


def diagnose(
    sources: Openers,
    *,
    seconds: float = 2.0,
    interval_seconds: float = 0.1,
    sleep: Callable[[float], None] = time.sleep,
) -> Diagnosis:
    """Try every source, sample the best one for a while and say what came.

    Parameters
    ----------
    sources : mapping of str to callable
        What opens each source, the best first.
    seconds : float
        How long to sample, > 0.
    interval_seconds : float
        Time between two rounds, > 0.
    sleep : callable
        Waits some seconds.
    """
    states = []
    chosen: Diagnosis | None = None
    for name, open_source in sources.items():
        try:
            sampler = open_source()
        except SourceUnavailableError as error:
            states.append(SourceState(name, usable=False, reason=error.reason, remedy=error.remedy))
            continue
        except FlopWitnessError as error:
            states.append(SourceState(name, usable=False, reason=str(error)))
            continue
        states.append(SourceState(name, usable=True))
        try:
            if chosen is None:
                n_rounds = max(2, round(seconds / interval_seconds))
                chosen = _sampled(sampler, n_rounds, interval_seconds=interval_seconds, sleep=sleep)
        finally:
            sampler.close()
    found = chosen or Diagnosis(())
    return Diagnosis(tuple(states), found.source, found.driver, found.gpus, found.lost)


def _sampled(
    sampler: LiveSampler, n_rounds: int, *, interval_seconds: float, sleep: Callable[[float], None]
) -> Diagnosis:
    answered: dict[str, Counter[str]] = {device.uuid: Counter() for device in sampler.devices}
    start = time.monotonic()
    for tick in range(1, n_rounds + 1):
        sleep(max(start + tick * interval_seconds - time.monotonic(), 0.0))
        for trace in sampler.sample():
            found = answered.setdefault(trace.device.uuid, Counter())
            found.update({name: int(np.isfinite(column).sum()) for name, column in trace.channels.items()})
    elapsed_seconds = max(time.monotonic() - start, 1e-9)
    refused: Mapping[str, Mapping[str, str]] = getattr(sampler, "refused", {})
    gpus = tuple(
        _gpu(device, answered[device.uuid], elapsed_seconds, refused.get(device.uuid, {}))
        for device in sampler.devices
    )
    return Diagnosis((), sampler.source, sampler.driver, gpus, dict(sampler.lost))


def _gpu(
    device: Device, answered: Mapping[str, int], elapsed_seconds: float, refused: Mapping[str, str]
) -> GpuState:
    rates = {name: count / elapsed_seconds for name, count in answered.items()}
    offered = frozenset(name for name, rate in rates.items() if rate > 0)
    return GpuState(device, rates, refused, allowed_methods(device.chip, offered))
