# ruff: noqa: N802, D102  names and meanings are those of NVML
"""Boards through NVML: units, and refusals in one line, on a stand-in for ``pynvml``."""

from dataclasses import dataclass, field

import pytest

from contracts.boards import BoardsContract
from flopwitness.lab.capping_nvml import NvmlBoards

NO_PERMISSION, LOST = 4, 15


class FakeNvmlError(Exception):
    """Carries the ``nvmlReturn_t``, as ``NVMLError`` does."""

    def __init__(self, value: int) -> None:
        self.value = value
        super().__init__({LOST: "GPU is lost"}.get(value, "Insufficient Permissions"))


@dataclass
class FakeNvml:
    """The functions of ``pynvml`` that set boards, in its units: milliwatts and megahertz."""

    is_root: bool = True
    lost: set[int] = field(default_factory=set)
    limits: dict[int, int] = field(default_factory=lambda: {0: 700_000, 1: 700_000})
    locks: dict[int, tuple[int, int]] = field(default_factory=dict)
    NVMLError: type[Exception] = FakeNvmlError

    def nvmlInit(self) -> None: ...

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str | bytes:
        return (f"GPU-{handle}", f"GPU-{handle}".encode())[handle]

    def nvmlDeviceGetPowerManagementLimit(self, handle: int) -> int:
        return self.limits[self._alive(handle)]

    def nvmlDeviceGetPowerManagementLimitConstraints(self, handle: int) -> list[int]:
        return [200_000, 700_000 + 0 * self._alive(handle)]

    def nvmlDeviceSetPowerManagementLimit(self, handle: int, limit: int) -> None:
        self.limits[self._root(handle)] = limit

    def nvmlDeviceGetSupportedMemoryClocks(self, handle: int) -> list[int]:
        return [1593 + 0 * self._alive(handle), 3201]

    def nvmlDeviceGetSupportedGraphicsClocks(self, handle: int, memory: int) -> list[int]:
        return [1980, 345 + 0 * self._alive(handle)] if memory == 3201 else [600]

    def nvmlDeviceSetGpuLockedClocks(self, handle: int, low: int, high: int) -> None:
        self.locks[self._root(handle)] = low, high

    def nvmlDeviceResetGpuLockedClocks(self, handle: int) -> None:
        self.locks.pop(self._root(handle), None)

    def _alive(self, handle: int) -> int:
        if handle in self.lost:
            raise FakeNvmlError(LOST)
        return handle

    def _root(self, handle: int) -> int:
        if not self.is_root:
            raise FakeNvmlError(NO_PERMISSION)
        return self._alive(handle)


class TestNvmlBoards(BoardsContract):
    """The contract, through NVML's names."""

    def make_boards(self) -> NvmlBoards:
        """Return boards of root."""
        return NvmlBoards(FakeNvml())

    def make_boards_of_others(self) -> NvmlBoards:
        """Return boards of somebody else."""
        return NvmlBoards(FakeNvml(is_root=False))


def test_units_are_watts_and_hertz_outside_and_nvmls_inside() -> None:
    """Milliwatts and megahertz, whole ones; the clock range is that of the highest memory clock."""
    nvml = FakeNvml()
    boards = NvmlBoards(nvml)

    boards.set_power_limit("GPU-1", 312.5)
    boards.lock_clock("GPU-0", 1.2e9)

    assert nvml.limits == {0: 700_000, 1: 312_500}
    assert nvml.locks == {0: (1200, 1200)}
    assert boards.power_limit("GPU-1") == pytest.approx((312.5, 200.0, 700.0))
    assert boards.clock_range("GPU-0") == pytest.approx((345e6, 1.98e9))


def test_a_lost_board_is_said_in_nvmls_words() -> None:
    """Not a traceback."""
    boards = NvmlBoards(FakeNvml(lost={0}))

    with pytest.raises(Exception, match=r"^GPU-0: GPU is lost$"):
        boards.power_limit("GPU-0")
