"""Boards through NVML (nvidia-ml-py): the part that sets things. Imported only where something is to be set.

Never run this on boards that others share; see ``flopwitness.lab.capping``.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from flopwitness.lab.capping import CappingError, ClockRange, PowerLimit

NO_PERMISSION = 4
"""``NVML_ERROR_NO_PERMISSION``."""

WATTS_PER_MILLIWATT = 1e-3
HERTZ_PER_MEGAHERTZ = 1e6


class NvmlBoards:
    """Every board of this machine that NVML shows.

    Parameters
    ----------
    nvml : module or None
        ``pynvml``, or what stands in for it; imported where None.

    Raises
    ------
    CappingError
        When nvidia-ml-py is missing or the driver does not answer.
    """

    def __init__(self, nvml: Any = None) -> None:
        self._nvml = _imported() if nvml is None else nvml
        self._asked("NVML", self._nvml.nvmlInit)
        self._handles = {self._uuid(handle): handle for handle in self._all_handles()}

    def uuids(self) -> tuple[str, ...]:
        """Return the boards."""
        return tuple(self._handles)

    def power_limit(self, uuid: str) -> PowerLimit:
        """Return the present limit and the allowed range."""
        handle = self._handle(uuid)
        now = self._asked(uuid, lambda: self._nvml.nvmlDeviceGetPowerManagementLimit(handle))
        low, high = self._asked(uuid, lambda: self._nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle))
        return PowerLimit(*(milliwatts * WATTS_PER_MILLIWATT for milliwatts in (now, low, high)))

    def set_power_limit(self, uuid: str, watts: float) -> None:
        """Set the limit, to the milliwatt."""
        milliwatts = round(watts / WATTS_PER_MILLIWATT)
        handle = self._handle(uuid)
        self._asked(uuid, lambda: self._nvml.nvmlDeviceSetPowerManagementLimit(handle, milliwatts))

    def clock_range(self, uuid: str) -> ClockRange:
        """Return the lowest and the highest SM clock, at the highest memory clock."""
        handle, nvml = self._handle(uuid), self._nvml
        memory = max(self._asked(uuid, lambda: nvml.nvmlDeviceGetSupportedMemoryClocks(handle)), default=0)
        known = self._asked(uuid, lambda: nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, memory))
        if not known:
            raise CappingError(f"{uuid}: the driver names no SM clock that could be set")
        return ClockRange(min(known) * HERTZ_PER_MEGAHERTZ, max(known) * HERTZ_PER_MEGAHERTZ)

    def lock_clock(self, uuid: str, hertz: float) -> None:
        """Hold the SM clock, to the megahertz."""
        megahertz, handle = round(hertz / HERTZ_PER_MEGAHERTZ), self._handle(uuid)
        self._asked(uuid, lambda: self._nvml.nvmlDeviceSetGpuLockedClocks(handle, megahertz, megahertz))

    def unlock_clock(self, uuid: str) -> None:
        """Let the clock run again."""
        handle = self._handle(uuid)
        self._asked(uuid, lambda: self._nvml.nvmlDeviceResetGpuLockedClocks(handle))

    def _handle(self, uuid: str) -> Any:
        if uuid not in self._handles:
            raise CappingError(f"{uuid}: no such board on this machine")
        return self._handles[uuid]

    def _all_handles(self) -> list[Any]:
        count = self._asked("NVML", self._nvml.nvmlDeviceGetCount)
        return [
            self._asked("NVML", partial(self._nvml.nvmlDeviceGetHandleByIndex, index))
            for index in range(count)
        ]

    def _uuid(self, handle: Any) -> str:
        uuid = self._asked("NVML", lambda: self._nvml.nvmlDeviceGetUUID(handle))
        return uuid.decode() if isinstance(uuid, bytes) else str(uuid)

    def _asked(self, who: str, question: Callable[[], Any]) -> Any:
        """Return the answer; a refusal is one line."""
        try:
            return question()
        except self._nvml.NVMLError as error:
            if getattr(error, "value", None) == NO_PERMISSION:
                raise CappingError(f"{who}: power limits and clocks are set by root alone") from None
            raise CappingError(f"{who}: {error}") from None


def _imported() -> Any:
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        raise CappingError("nvidia-ml-py is missing: pip install 'flopwitness[nvml]'") from None
