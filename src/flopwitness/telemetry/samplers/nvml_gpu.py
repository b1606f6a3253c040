"""One GPU behind NVML: which of its signals answer, and one reading of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
from flopwitness.telemetry.samplers.nvml_rows import Layout, Reading
from flopwitness.telemetry.samplers.nvml_signals import (
    FIELDS,
    QUERIES,
    Cadence,
    Query,
    Signal,
    Tier,
    paced,
)

NAN = float("nan")
NO_ANSWER = "no signal was answered"
BUSY_ABOVE_PERCENT = 0.01
"""SM activity above this is work; an idle H200 reads exactly 0."""

OCCUPANCY, UTILISATION = "sm_active_ratio", "gpu_util_ratio"
"""The first of these that a GPU gives tells idle from busy."""

FAST_TIERS = frozenset({Tier.EACH, Tier.POLLED})
SLOW_TIERS = frozenset({Tier.SLOW, Tier.COSTLY})
"""What is asked before it is known whether the counters are wanted, and what after."""

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
    device : Device
        Whose samples these are.
    """

    def __init__(self, nvml: Nvml, device: Device, *, clock_ns: Callable[[], int], cadence: Cadence) -> None:
        self.device = device
        self._nvml = nvml
        self._clock_ns = clock_ns
        self._cadence = cadence
        self._handle: Any = None
        self._gpm: GpmMeter | None = None
        self._asked = Answered(FIELDS, QUERIES, {})
        self._lay_out(())
        self._read_ns: list[int | None] = [None] * len(Tier)
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
    def channels(self) -> tuple[str, ...]:
        """What it gives; empty before ``probe``."""
        return self._layout.channels

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
        refused = {name: words_of(code) for name, code in codes.items() if name not in given}
        self._asked = Answered(paced(fields, given), tuple(queries), refused)
        self._lay_out(tuple(name for name in codes if name in given))

    def read(self) -> Trace | str:
        """Return one sample, or why there is none."""
        reading = self.take()
        if isinstance(reading, str):
            return reading
        trace = self.trace([reading])
        return trace if len(trace) else NO_ANSWER

    def take(self) -> Reading | str:
        """Return a sample as it came, or why there is none; a GPU that came back is asked like any other."""
        try:
            if self._lost:
                self._find()
            if not self.channels:
                self._probe_late()
            reading = self._sample()
        except GpuLostError as error:
            self._lost = True
            if self._gpm is not None:
                self._gpm.forget()
            return str(error)
        self._lost = False
        return reading

    def trace(self, readings: Sequence[Reading]) -> Trace:
        """Return what ``take`` gave, oldest first, as a Trace; a sample of blanks is left out."""
        return self._layout.trace(self.device, readings)

    def close(self) -> None:
        """Free what was allocated; may be called twice."""
        if self._gpm is not None:
            self._gpm.close()

    def _lay_out(self, channels: tuple[str, ...]) -> None:
        """Fix once where each channel stands, so that a round need not look."""
        self._layout = Layout(channels, self._gpm)
        fields = self._asked.fields
        self._wanted = [tuple(field for field in fields if field.tier <= due) for due in Tier]

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

    def _sample(self) -> Reading:
        now_ns = max(self._clock_ns(), self._last_ns + 1)
        numbers: list[tuple[int, float]] = []
        due = max(tier for tier in Tier if self._is_due(tier, now_ns))
        answers = self._gpm.read(self._handle, costly=due is Tier.COSTLY) if self._gpm is not None else b""
        busy = self._occupied(answers)
        if busy is None:  # utilisation stands in
            due = max(due, Tier.POLLED)
        self._read_queries(numbers, FAST_TIERS, due)
        if self._asks_counters(self._utilised(numbers) if busy is None else busy, now_ns):
            due = Tier.COSTLY
        self._read_queries(numbers, SLOW_TIERS, due)
        self._read_fields(numbers, due)
        if not answers and not numbers:
            raise GpuLostError(NO_ANSWER)
        self._read_ns[: due + 1] = [now_ns] * (due + 1)
        self._edge &= due is not Tier.COSTLY
        self._last_ns = now_ns
        return Reading(now_ns, answers, numbers)

    def _is_due(self, tier: Tier, now_ns: int) -> bool:
        read_ns = self._read_ns[tier]
        return read_ns is None or now_ns - read_ns >= self._cadence.seconds(tier) * NANOSECONDS_PER_SECOND

    def _occupied(self, answers: bytes) -> bool | None:
        """Say whether an SM held work; None where any activity was not answered."""
        percent = self._gpm.glance(answers).get(OCCUPANCY) if self._gpm is not None else None
        return None if percent is None else percent > BUSY_ABOVE_PERCENT

    def _utilised(self, numbers: list[tuple[int, float]]) -> bool | None:
        if OCCUPANCY in self._layout.places:
            return None  # of the two witnesses one is believed, or each change of witness would be an edge
        place = self._layout.places.get(UTILISATION)
        return next((value > 0 for at, value in numbers if at == place), None)

    def _asks_counters(self, busy: bool | None, now_ns: int) -> bool:
        """Say whether the device went from idle to busy or back, and the counters were not read since."""
        if busy is not None:
            self._edge |= self._was_busy is not None and busy is not self._was_busy
            self._was_busy = busy
        read_ns = self._read_ns[Tier.COSTLY]
        rested = read_ns is None or now_ns - read_ns >= self._cadence.edge_seconds * NANOSECONDS_PER_SECOND
        return self._edge and rested

    def _read_queries(self, numbers: list[tuple[int, float]], tiers: frozenset[Tier], due: Tier) -> None:
        for query in self._asked.queries:
            if query.tier in tiers and query.tier <= due:
                code, answer = called(self._nvml, query.function, self._handle, *query.arguments)
                if code == SUCCESS:
                    values = [getattr(answer, member) for member in query.members] or [answer]
                    for name, value in zip(query.channels, values, strict=True):
                        numbers.append((self._layout.places[name], value * query.factor))

    def _read_fields(self, numbers: list[tuple[int, float]], due: Tier) -> None:
        wanted = self._wanted[due]
        answers = self._answers(wanted) if wanted else None
        if answers is not None:
            for field, answer in zip(wanted, answers, strict=True):
                if checked(answer.nvmlReturn) == SUCCESS:
                    numbers.append((self._layout.places[field.channel], _value(answer) * field.factor))

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
