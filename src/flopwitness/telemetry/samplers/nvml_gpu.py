"""One GPU behind NVML: which of its signals answer, and one reading of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isnan
from typing import Any

from flopwitness.core.device import Device
from flopwitness.core.trace import NANOSECONDS_PER_SECOND, Trace
from flopwitness.telemetry.samplers.gpm import GpmMeter, gpm_supported
from flopwitness.telemetry.samplers.nvml_api import (
    CODE_WORDS,
    SUCCESS,
    GpuLostError,
    Nvml,
    called,
    checked,
    code_of,
    words_of,
)
from flopwitness.telemetry.samplers.nvml_signals import FIELDS, QUERIES, Cadence, Query, Signal, Tier
from flopwitness.telemetry.samplers.sampled import one_sample

NAN = float("nan")
BUSY_ABOVE_RATIO = 1e-4
"""SM activity above this is work; an idle H200 reads exactly 0."""

VALUE_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Member of ``nvmlValue_t`` for each ``nvmlValueType_t``, in its order from 0."""


@dataclass(slots=True)
class Answered:
    """What a GPU was found to answer.

    Attributes
    ----------
    fields, queries : tuple
        What is worth asking again.
    refused : dict of str to str
        Channels that it does not give, with the reason.
    """

    fields: tuple[Signal, ...]
    queries: tuple[Query, ...]
    refused: dict[str, str]


class NvmlGpu:
    """Read one GPU; called by one thread at a time.

    Parameters
    ----------
    nvml : Nvml
        The library, initialised.
    device : Device
        Whose handle is asked for by UUID.
    clock_ns : callable
        UTC nanoseconds.
    cadence : Cadence
        How often the slow and the costly signals are read.

    Attributes
    ----------
    channels : tuple of str
        What it gives, after ``probe``.
    refused : dict of str to str
        What it does not give, and why.
    """

    def __init__(self, nvml: Nvml, device: Device, *, clock_ns: Callable[[], int], cadence: Cadence) -> None:
        self.device = device
        self._nvml = nvml
        self._clock_ns = clock_ns
        self._cadence = cadence
        self._handle: Any = None
        self._gpm: GpmMeter | None = None
        self._asked = Answered(FIELDS, QUERIES, {})
        self.channels: tuple[str, ...] = ()
        self._read_ns: dict[Tier, int] = {}
        self._was_busy: bool | None = None
        self._edge = False
        self._last_ns = 0
        self._lost = False
        self._started = False

    @property
    def has_gpm(self) -> bool:
        """Whether the activities come from GPM."""
        return self._gpm is not None

    @property
    def refused(self) -> dict[str, str]:
        """Channels that this GPU does not give, with the reason."""
        return self._asked.refused

    def start(self) -> None:
        """Find the GPU and take the baseline that ``probe`` needs, some 0.1 s before it.

        Raises
        ------
        GpuLostError
            When the GPU is gone; ``read`` tries again.
        """
        self._find()
        if self._gpm is None and gpm_supported(self._nvml, self._handle):
            self._gpm = GpmMeter(self._nvml)
        if self._gpm is not None:
            self._gpm.start(self._handle)
        self._started = True

    def probe(self) -> None:
        """Ask for everything once; keep what answers or may answer later, forget what never will.

        Raises
        ------
        GpuLostError
            When the GPU is gone; ``read`` tries again.
        """
        codes = self._field_codes(FIELDS)
        fields = tuple(field for field in FIELDS if codes[field.channel] not in CODE_WORDS)
        queries = []
        given = {field.channel for field in fields}
        for query in QUERIES:
            if not given.issuperset(query.channels):
                code, _ = called(self._nvml, query.function, self._handle, *query.arguments)
                codes.update(dict.fromkeys(query.channels, code))
                if code not in CODE_WORDS:
                    queries.append(query)
                    given.update(query.channels)
        if self._gpm is not None:
            codes.update(self._gpm.codes(self._handle))
            kept = tuple(signal for signal in self._gpm.signals if codes[signal.channel] not in CODE_WORDS)
            self._gpm.ask_for(kept)
            self._gpm.forget()
            given.update(signal.channel for signal in kept)
        self.channels = tuple(name for name in codes if name in given)
        refused = {name: words_of(code) for name, code in codes.items() if name not in given}
        self._asked = Answered(fields, tuple(queries), refused)

    def read(self) -> Trace | str:
        """Return one sample, or why there is none; a GPU that came back is asked like any other."""
        try:
            if self._lost:
                self._find()
            if not self.channels:
                self._probe_late()
            trace = self._sample()
        except GpuLostError as error:
            self._lost = True
            if self._gpm is not None:
                self._gpm.forget()
            return str(error)
        self._lost = False
        return trace

    def close(self) -> None:
        """Free what was allocated; may be called twice."""
        if self._gpm is not None:
            self._gpm.close()

    def _probe_late(self) -> None:
        """Probe a GPU that was lost when the others were probed, in two rounds."""
        if not self._started:
            self.start()
            raise GpuLostError("back, and probed in the next round")
        self.probe()

    def _find(self) -> None:
        try:
            self._handle = self._nvml.nvmlDeviceGetHandleByUUID(self.device.uuid)
        except self._nvml.NVMLError as error:
            raise GpuLostError(str(error)) from None

    def _sample(self) -> Trace:
        now_ns = max(self._clock_ns(), self._last_ns + 1)
        due = {tier for tier in Tier if self._is_due(tier, now_ns)}
        values = dict.fromkeys(self.channels, NAN)
        if self._gpm is not None:
            self._gpm.read(self._handle, values, costly=Tier.COSTLY in due)
        self._read_queries(values, due)
        self._read_fields(values, due)
        if all(map(isnan, values.values())):
            raise GpuLostError("no signal was answered")
        self._read_ns.update(dict.fromkeys(due, now_ns))
        self._note_edge(values, answered_costly=Tier.COSTLY in due)
        self._last_ns = now_ns
        return one_sample(self.device, now_ns, values)

    def _is_due(self, tier: Tier, now_ns: int) -> bool:
        if tier not in self._read_ns:
            return True
        seconds = self._cadence.seconds(tier)
        if self._edge:
            seconds = min(seconds, self._cadence.edge_seconds)
        return now_ns - self._read_ns[tier] >= seconds * NANOSECONDS_PER_SECOND

    def _note_edge(self, values: dict[str, float], *, answered_costly: bool) -> None:
        """Remember that the device went from idle to busy or back, until the counters were read."""
        witness = "sm_active_ratio" if "sm_active_ratio" in values else "gpu_util_ratio"
        activity = values.get(witness, NAN)
        if not isnan(activity):
            busy = activity > BUSY_ABOVE_RATIO
            self._edge |= self._was_busy is not None and busy is not self._was_busy
            self._was_busy = busy
        self._edge &= not answered_costly

    def _read_queries(self, values: dict[str, float], due: set[Tier]) -> None:
        for query in self._asked.queries:
            if query.tier in due:
                code, answer = called(self._nvml, query.function, self._handle, *query.arguments)
                if code == SUCCESS:
                    values.update(_in_base_units(query, answer))

    def _read_fields(self, values: dict[str, float], due: set[Tier]) -> None:
        wanted = tuple(field for field in self._asked.fields if field.tier in due)
        if not wanted:
            return
        answers = self._answers(wanted)
        if answers is not None:
            for field, answer in zip(wanted, answers, strict=True):
                if checked(answer.nvmlReturn) == SUCCESS:
                    values[field.channel] = _value(answer) * field.factor

    def _field_codes(self, fields: tuple[Signal, ...]) -> dict[str, int]:
        try:
            answers = self._nvml.nvmlDeviceGetFieldValues(self._handle, _pairs(fields))
        except self._nvml.NVMLError as error:
            return {field.channel: checked(code_of(error)) for field in fields}
        return {
            field.channel: checked(answer.nvmlReturn) for field, answer in zip(fields, answers, strict=True)
        }

    def _answers(self, fields: tuple[Signal, ...]) -> Any:
        code, answers = called(self._nvml, "nvmlDeviceGetFieldValues", self._handle, _pairs(fields))
        return answers if code == SUCCESS else None


def _pairs(fields: Iterable[Signal]) -> list[tuple[int, int]]:
    return [(field.number, field.scope) for field in fields]


def _value(answer: Any) -> float:
    """Return the member of the value union that its type names; the others hold the same bits misread."""
    kind = answer.valueType
    return float(getattr(answer.value, VALUE_MEMBERS[kind])) if kind < len(VALUE_MEMBERS) else NAN


def _in_base_units(query: Query, answer: Any) -> dict[str, float]:
    numbers = [getattr(answer, member) for member in query.members] or [answer]
    return {name: number * query.factor for name, number in zip(query.channels, numbers, strict=True)}
